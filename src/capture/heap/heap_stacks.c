#include "capture/heap/heap_stacks.h"
#include "base/mem.h"
#include "unwind/unwind_table.h"

/* What a file costs that some line of maps names, besides its path; and how many maps are paid for at a time. */
enum { FILE_BYTES = 160, MAPS_STEP = 64 };

/* What was found behind a slice, and the stack in the profile once its names were asked for. */
struct heap_known {
    uint64_t *more;
    uint32_t n_more;
    uint8_t end; /* enum unwind_end of the slice */
    bool has_slice, is_named, was_named; /* under the names of now; under any */
    stack_id stack;
};

void heap_stacks_init(struct heap_stacks *hs, const struct heap_stacks_place *at)
{
    *hs = (struct heap_stacks){.process = {.pid = at->pid}, .shared = at->shared, .index = at->index, .area = at->area,
                               .purse = at->purse, .frames = at->frames};
}

void heap_stacks_done(struct heap_stacks *hs)
{
    for (size_t i = 0; i < hs->known_cap; i++)
        free(hs->known[i].more);
    free(hs->known);
    space_done(&hs->process.space);
    stack_rest_done(&hs->rest);
    jit_symbols_free(hs->process.jit);
    *hs = (struct heap_stacks){0};
}

/* NULL: there is no room for it. */
static struct heap_known *known_at(struct heap_stacks *hs, uint32_t number)
{
    size_t before = hs->known_cap, cap = before ? before : 256;
    while (cap <= number)
        cap *= 2;
    if (cap > before && !heap_purse_take(hs->purse, (cap - before) * sizeof *hs->known))
        return number < before ? &hs->known[number] : NULL;
    if (cap > before) {
        hs->known = mem_resize(hs->known, cap * sizeof *hs->known);
        memset(hs->known + before, 0, (cap - before) * sizeof *hs->known);
        hs->known_cap = cap;
    }
    return &hs->known[number];
}

/* Maps. */

/* Adding one may make two more of one that was there. */
static bool pays_for_map(struct heap_stacks *hs)
{
    size_t bytes = sizeof *hs->process.space.maps + sizeof *hs->process.space.walk;
    if (hs->process.space.n + 3 <= hs->maps_paid)
        return true;
    if (!heap_purse_take(hs->purse, MAPS_STEP * bytes))
        return false;
    hs->maps_paid += MAPS_STEP;
    return true;
}

/* A file that nobody knew before is known from then on, whoever comes and goes. */
void heap_stacks_map(struct heap_stacks *hs, struct code_files *files, struct view line, bool is_first)
{
    struct map_news m;
    if (is_first)
        space_clear(&hs->process.space);
    if (!maps_line_parse(line, &m))
        return;
    size_t bytes = FILE_BYTES + m.path.n, known = code_files_known(files);
    if (!pays_for_map(hs) || !heap_purse_take(hs->purse, bytes)) {
        hs->lost_lines++;
        return;
    }
    space_news(&hs->process.space, files, &m);
    if (code_files_known(files) > known)
        heap_purse_keep(hs->purse, bytes);
    else
        heap_purse_give(hs->purse, bytes);
}

static bool read_again(struct heap_stacks *hs, struct code_files *files, uint64_t now_ns)
{
    struct task_process *p = &hs->process;
    if (p->maps_read_ns && now_ns - p->maps_read_ns < TASK_READ_AGAIN_NS)
        return false;
    p->maps_read_ns = now_ns;
    return space_read(&p->space, files, "/proc", p->pid, NULL);
}

void heap_stacks_unloaded(struct heap_stacks *hs, struct code_files *files)
{
    if (!space_read(&hs->process.space, files, "/proc", hs->process.pid, NULL))
        space_clear(&hs->process.space);
}

/* Rules. */

static bool fits(int64_t offset, int64_t most) { return offset % 8 == 0 && offset / 8 < most && offset / 8 >= -most; }

/* As one word, if it can be said in one; HEAP_RULE_STOP where the agent need not try. */
static uint64_t packed(const struct unwind_rule *r, struct unwind_arch_registers regs)
{
    if (r->how == CFA_END)
        return heap_rule_pack(HEAP_RULE_END, 0, 0, 0);
    bool is_plain = (r->how == CFA_REGISTER && (r->reg == regs.sp || r->reg == regs.fp)) ||
                    (r->how == CFA_MEMORY && r->reg == regs.fp && r->add == 0);
    bool keeps_fp = r->fp.how == SAVED_SAME;
#ifdef __x86_64__
    is_plain &= r->ra.offset == -8;
#endif
    if (!is_plain || r->ra.how != SAVED_AT_CFA || r->is_exact || !(keeps_fp || r->fp.how == SAVED_AT_CFA) ||
        !fits(r->offset, 1 << 27) || !fits(r->ra.offset, 1 << 13) || !fits(r->fp.offset, 1 << 13))
        return heap_rule_pack(HEAP_RULE_STOP, 0, 0, 0);
    enum heap_rule_kind kind = r->how == CFA_MEMORY ? HEAP_RULE_MEMORY : r->reg == regs.sp ? HEAP_RULE_SP : HEAP_RULE_FP;
    return heap_rule_pack(kind, r->offset, r->ra.offset, keeps_fp ? r->ra.offset : r->fp.offset);
}

static uint64_t rule_for(const struct heap_stacks *hs, uint64_t return_address, bool is_last, enum unwind_end end)
{
    const struct address_space *space = &hs->process.space;
    const struct code_map *m = space_at(space, return_address - 1);
    const struct unwind_map *w = m ? &space->walk[m - space->maps] : NULL;
    struct unwind_space walk = space_walk(space);
    const struct unwind_rule *r = w && w->table ? unwind_table_at(w->table, return_address - 1 - w->bias) : NULL;
    if (r && r->how != CFA_NONE)
        return packed(r, unwind_registers_of(walk.arch));
    if (is_last)
        return heap_rule_pack(end == UNWIND_GUESSED || end == UNWIND_COMPLETE ? HEAP_RULE_END : HEAP_RULE_STOP, 0, 0, 0);
    return heap_rule_pack(HEAP_RULE_FP, 16, -8, -16); /* found by its frame pointer: so will the next one be */
}

/* Into the agent's table. A full neighbourhood loses the one that was there first. */
static void publish(struct heap_stacks *hs, uint64_t return_address, uint64_t rule)
{
    struct heap_rule *rules = (struct heap_rule *)(void *)(hs->area + HEAP_RULES_AT);
    uint32_t first = heap_rule_slot(return_address);
    struct heap_rule *to = &rules[first];
    for (uint32_t i = 0; i < HEAP_RULE_PROBES; i++) {
        struct heap_rule *r = &rules[(first + i) & (HEAP_RULES - 1)];
        uint64_t at = atomic_load_explicit(&r->address, memory_order_relaxed);
        if (at && at != return_address)
            continue;
        to = r;
        break;
    }
    if (atomic_load_explicit(&to->address, memory_order_relaxed) != return_address)
        atomic_store_explicit(&to->address, UINT64_MAX, memory_order_relaxed);
    atomic_store_explicit(&to->rule, rule, memory_order_release);
    atomic_store_explicit(&to->address, return_address, memory_order_release);
    hs->rules++;
}

/* Slices. */

static bool learn(struct heap_stacks *hs, struct code_files *files, const uint64_t *addresses, size_t n, uint64_t now_ns)
{
    bool is_news = false;
    struct task_process *p = &hs->process;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = addresses[i] - (i > 0);
        is_news |= space_ready(&p->space, files, p->pid, at);
        if (!space_at(&p->space, at) && read_again(hs, files, now_ns))
            is_news |= space_ready(&p->space, files, p->pid, at);
    }
    return is_news;
}

static struct unwind_registers registers_of(const struct heap_slice *s)
{
#ifdef __aarch64__
    struct unwind_arch_registers names = unwind_registers_of(UNWIND_ARM64);
#else
    struct unwind_arch_registers names = unwind_registers_of(UNWIND_X86_64);
#endif
    struct unwind_registers r = {0};
    r.at[names.sp] = s->sp;
    r.at[names.fp] = s->fp;
    r.at[names.pc] = s->pc - 1; /* the unwinder takes the first as it is, and ours is a return address */
    return r;
}

static size_t walk(struct heap_stacks *hs, struct code_files *files, const struct heap_slice *s, const struct unwind_stack *stack,
                   uint64_t addresses[DEPTH_MOST], enum unwind_end *out_end, uint64_t now_ns)
{
    struct unwind_registers registers = registers_of(s);
    size_t n;
    do {
        struct unwind_space space = space_walk(&hs->process.space);
        n = unwind_walk(&space, &registers, stack, addresses, DEPTH_MOST, out_end);
    } while (learn(hs, files, addresses, n, now_ns));
    return n;
}

void heap_stacks_slice(struct heap_stacks *hs, struct code_files *files, const struct heap_slice *s, const uint8_t *stack,
                       uint64_t now_ns)
{
    uint64_t addresses[DEPTH_MOST];
    if (s->stack == 0 || s->stack >= HEAP_STACKS_MOST)
        return;
    struct unwind_stack bytes = {.start = s->sp, .bytes = stack, .n = s->bytes};
    enum unwind_end end;
    size_t n = walk(hs, files, s, &bytes, addresses, &end, now_ns);
    while (end == UNWIND_CUT && stack_rest_read(&hs->rest, hs->process.pid, &bytes, &bytes))
        n = walk(hs, files, s, &bytes, addresses, &end, now_ns);
    hs->slices++;
    hs->ends[end]++;
    for (size_t i = 0; i < n && !(i + 1 == n && end == UNWIND_CUT); i++) {
        uint64_t return_address = i ? addresses[i] : s->pc;
        publish(hs, return_address, rule_for(hs, return_address, i + 1 == n, end));
    }
    struct heap_known *k = known_at(hs, s->stack);
    if (n == 0 || (k && k->has_slice))
        return;
    if (!k || !heap_purse_take(hs->purse, n * sizeof *k->more)) {
        hs->lost_slices++;
        return;
    }
    k->has_slice = true;
    k->end = (uint8_t)end;
    k->n_more = (uint32_t)(n - 1);
    k->more = mem_new((n ? n : 1) * sizeof *k->more);
    memcpy(k->more, addresses + 1, (n - 1) * sizeof *k->more);
}

/* Names. */

static void add_step(struct heap_stacks *hs, struct stack_names *naming, uint64_t return_address, struct step *out)
{
    struct address_space *space = &hs->process.space;
    space_ready(space, naming->files, hs->process.pid, return_address - 1);
    const struct code_map *m = space_at(space, return_address - 1);
    if (m && m->file.i) {
        *out = (struct step){.address = space_virtual(space, m, return_address - 1), .file = m->file};
        return;
    }
    struct view name = task_jit_name(&hs->process, "/proc", return_address - 1, 0);
    struct view module = name.n ? VIEW("[jit]") : (struct view){0};
    *out = (struct step){.frame = stack_names_frame(naming, name.n ? name : VIEW("[unknown]"), module, FRAME_NATIVE)};
}

static enum unwind_end end_of(const struct heap_stack *s, const struct heap_known *k)
{
    switch (s->end) {
    case HEAP_WALK_COMPLETE: return UNWIND_COMPLETE;
    case HEAP_WALK_DEEP: return UNWIND_TOO_DEEP;
    case HEAP_WALK_SLICE: return k->has_slice ? (enum unwind_end)k->end : UNWIND_CUT;
    default: return UNWIND_NO_RULE;
    }
}

/* A stack the agent has written down, as it is now; false: it makes no sense, or is not there yet. */
static bool read_stack(const struct heap_stacks *hs, uint32_t number, struct heap_stack *out)
{
    uint64_t at = HEAP_STACKS_AT + number * sizeof *out;
    if (number == 0 || number >= HEAP_STACKS_MOST || !heap_shared_is_there(hs->shared, hs->index, at, sizeof *out))
        return false;
    shared_memory_copy(out, hs->area + at, sizeof *out);
    return out->n > 0 && out->n <= HEAP_DEPTH_MOST && out->frames_at < HEAP_FRAMES_MOST &&
           out->n <= HEAP_FRAMES_MOST - out->frames_at && out->end < HEAP_WALK_END_COUNT &&
           heap_shared_is_there(hs->shared, hs->index, HEAP_FRAMES_AT + out->frames_at * sizeof(uint64_t), out->n * sizeof(uint64_t));
}

bool heap_stacks_is_ripe(const struct heap_stacks *hs, uint32_t number)
{
    struct heap_stack s;
    bool has_slice = number < hs->known_cap && hs->known[number].has_slice;
    return hs->process.space.n && read_stack(hs, number, &s) && (s.end != HEAP_WALK_SLICE || has_slice);
}

stack_id heap_stacks_beyond(struct stack_names *naming)
{
    frame_id all = stack_names_frame(naming, VIEW("[stacks beyond the limit]"), (struct view){0}, FRAME_NATIVE);
    return builder_push(naming->names, STACK_ROOT, all);
}

stack_id heap_stacks_find(struct heap_stacks *hs, struct stack_names *naming, uint32_t number, bool *out_is_new)
{
    struct heap_stack s;
    *out_is_new = false;
    if (number < hs->known_cap && hs->known[number].is_named)
        return hs->known[number].stack;
    if (!read_stack(hs, number, &s)) {
        hs->unresolved++;
        return STACK_ROOT;
    }
    struct heap_known *k = known_at(hs, number);
    if (!k || (!k->was_named && !heap_purse_take(hs->frames, s.n + k->n_more)))
        return heap_stacks_beyond(naming);
    uint64_t frames[HEAP_DEPTH_MOST];
    struct step steps[HEAP_DEPTH_MOST + DEPTH_MOST];
    size_t n = 0;
    shared_memory_copy(frames, hs->area + HEAP_FRAMES_AT + s.frames_at * sizeof *frames, s.n * sizeof *frames);
    for (uint32_t i = 0; i < s.n; i++)
        add_step(hs, naming, frames[i], &steps[n++]);
    for (uint32_t i = 0; s.end == HEAP_WALK_SLICE && i < k->n_more; i++)
        add_step(hs, naming, k->more[i], &steps[n++]);
    enum unwind_end end = end_of(&s, k);
    k->stack = stack_names_stack(naming, steps, n, &end);
    k->was_named = true;
    k->is_named = true;
    *out_is_new = true;
    return k->stack;
}

void heap_stacks_begin_again(struct heap_stacks *hs)
{
    for (size_t i = 0; i < hs->known_cap; i++)
        hs->known[i].is_named = false;
}
