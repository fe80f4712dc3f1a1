#include "model/builder_inside.h"

static struct idmap *const *every_map(struct builder *b, struct idmap *out[13])
{
    struct idmap *all[13] = {&b->mappings, &b->functions, &b->frames, &b->stacks, &b->processes,
                             &b->threads, &b->label_sets, &b->contexts, &b->sets, &b->series,
                             &b->facts, &b->losses, NULL};
    memcpy(out, all, sizeof all);
    return out;
}

/* Life. */

static void first_rows(struct builder *b)
{
    builder_mapping(b, (struct mapping){0});
    builder_function(b, (struct function){0});
    builder_frame(b, (struct frame){0});
    APPEND(b, stacks, ((struct stack){0}));
    builder_process(b, 0, 0);
    builder_thread(b, PROCESS_NONE, 0);
    builder_labels(b, NULL, 0);
    builder_context(b, THREAD_NONE, LABELS_NONE);
    APPEND(b, spans, ((struct span){0}));
}

struct builder *builder_new(void)
{
    struct builder *b = mem_new(sizeof *b);
    b->p = mem_new(sizeof *b->p);
    b->p->start_ns = b->p->end_ns = TIME_NONE;
    intern_init(&b->p->strings);
    struct idmap *maps[13];
    for (struct idmap *const *m = every_map(b, maps); *m; m++)
        idmap_init(*m);
    stack_memo_init(&b->whole_stacks, b->stacks.secret);
    first_rows(b);
    return b;
}

void builder_free(struct builder *b)
{
    if (!b)
        return;
    struct idmap *maps[13];
    for (struct idmap *const *m = every_map(b, maps); *m; m++)
        idmap_done(*m);
    stack_memo_done(&b->whole_stacks);
    for (size_t i = 0; i < b->columns.n; i++)
        columns_done(&b->columns.rows[i]);
    for (size_t i = 0; i < b->readings.n; i++)
        free(b->readings.rows[i].rows);
    free(b->columns.rows);
    free(b->readings.rows);
    free(b->named_frames.rows);
    free(b->last_path.rows);
    profile_free(b->p);
    free(b);
}

/* Names. */

str_id builder_string(struct builder *b, struct view text)
{
    if (b->p->strings.n >= UINT32_MAX - 1) {
        b->too_many = "strings";
        return STR_EMPTY;
    }
    return (str_id){intern(&b->p->strings, text)};
}

static bool same_mapping(const void *rows, uint32_t i, const void *key)
{
    const struct mapping *a = (const struct mapping *)rows + i, *m = key;
    return a->path.i == m->path.i && a->build_id.i == m->build_id.i && a->start == m->start &&
           a->limit == m->limit && a->offset == m->offset;
}

mapping_id builder_mapping(struct builder *b, struct mapping m)
{
    uint64_t key[] = {(uint64_t)m.path.i << 32 | m.build_id.i, m.start, m.limit, m.offset};
    return (mapping_id){INTERN(b, mappings, mappings, same_mapping, key, m)};
}

static bool same_function(const void *rows, uint32_t i, const void *key)
{
    const struct function *a = (const struct function *)rows + i, *f = key;
    return a->name.i == f->name.i && a->file.i == f->file.i && a->line == f->line && a->mapping.i == f->mapping.i;
}

func_id builder_function(struct builder *b, struct function f)
{
    uint32_t key[] = {f.name.i, f.file.i, f.line, f.mapping.i};
    return (func_id){INTERN(b, functions, functions, same_function, key, f)};
}

static bool same_frame(const void *rows, uint32_t i, const void *key)
{
    const struct frame *a = (const struct frame *)rows + i, *f = key;
    return a->function.i == f->function.i && a->line == f->line && a->address == f->address && a->kind == f->kind;
}

frame_id builder_frame(struct builder *b, struct frame f)
{
    uint64_t key[] = {(uint64_t)f.function.i << 32 | f.line, f.address, (uint64_t)f.kind};
    return (frame_id){INTERN(b, frames, frames, same_frame, key, f)};
}

frame_id builder_frame_named(struct builder *b, struct view name)
{
    str_id s = builder_string(b, name);
    size_t had = b->named_frames.cap;
    if (s.i >= had) {
        GROW(b->named_frames.rows, b->named_frames.cap, (size_t)s.i + 1);
        memset(b->named_frames.rows + had, 0, (b->named_frames.cap - had) * sizeof *b->named_frames.rows);
    }
    frame_id *known = &b->named_frames.rows[s.i];
    if (!known->i)
        *known = builder_frame(b, (struct frame){.function = builder_function(b, (struct function){.name = s})});
    return *known;
}

/* Stacks. */

static bool same_stack(const void *rows, uint32_t i, const void *key)
{
    const struct stack *a = (const struct stack *)rows + i, *s = key;
    return a->caller.i == s->caller.i && a->frame.i == s->frame.i;
}

/*
 * A stack's first callee is most often the row behind it, because stacks come in
 * whole and their rows are made one after the other. That row is in the cache
 * already; the map is not. (Half the time to read a folded file was spent here.)
 */
static bool is_next_row(const struct builder *b, const struct stack *s)
{
    return s->caller.i + 1 < b->p->stacks.n && same_stack(b->p->stacks.rows, s->caller.i + 1, s);
}

stack_id builder_push(struct builder *b, stack_id caller, frame_id frame)
{
    assert(caller.i < b->p->stacks.n && frame.i < b->p->frames.n);
    struct stack row = {.caller = caller, .frame = frame};
    if (is_next_row(b, &row))
        return (stack_id){caller.i + 1};
    /* A callee of the newest row becomes the row behind it, where it is always found as above: the map need not know it. */
    if (caller.i + 1 == b->p->stacks.n)
        return (stack_id){APPEND(b, stacks, row)};
    uint64_t h = idmap_hash_pair(&b->stacks, caller.i, frame.i);
    uint32_t found = idmap_find(&b->stacks, h, same_stack, b->p->stacks.rows, &row);
    if (found == IDMAP_NONE) {
        found = APPEND(b, stacks, row);
        idmap_add(&b->stacks, h, found);
    }
    return (stack_id){found};
}

static size_t shared_with_last(const struct builder *b, const frame_id *frames, size_t n)
{
    size_t most = n < b->last_path.n ? n : b->last_path.n;
    size_t shared = 0;
    while (shared < most && b->last_path.rows[shared].frame.i == frames[shared].i)
        shared++;
    return shared;
}

static stack_id push_all(struct builder *b, const frame_id *frames, size_t n)
{
    size_t i = shared_with_last(b, frames, n);
    stack_id at = i ? b->last_path.rows[i - 1].stack : STACK_ROOT;
    GROW(b->last_path.rows, b->last_path.cap, n);
    for (; i < n; i++) {
        at = builder_push(b, at, frames[i]);
        b->last_path.rows[i] = (struct path_step){.frame = frames[i], .stack = at};
    }
    b->last_path.n = n;
    return at;
}

stack_id builder_stack(struct builder *b, const frame_id *root_first, size_t n)
{
    if (!n)
        return STACK_ROOT;
    struct stack_key key = stack_memo_key(&b->whole_stacks, root_first, n);
    stack_id found = stack_memo_find(&b->whole_stacks, key);
    if (found.i == STACK_ROOT.i) {
        found = push_all(b, root_first, n);
        stack_memo_add(&b->whole_stacks, key, found);
    }
    return found;
}
size_t builder_held_bytes(const struct builder *b)
{
    const struct idmap *maps[] = {&b->mappings, &b->functions, &b->frames, &b->stacks, &b->processes, &b->threads, &b->label_sets,
                                  &b->contexts, &b->sets, &b->series, &b->facts, &b->losses, &b->p->strings.map};
    size_t bytes = profile_held_bytes(b->p) + stack_memo_bytes(&b->whole_stacks) + b->named_frames.cap * sizeof *b->named_frames.rows;
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        bytes += (maps[i]->mask + 1) * sizeof *maps[i]->slots;
    return bytes;
}

const struct profile *builder_view(const struct builder *b) { return b->p; }

/* Finishing. */

static bool totals_hold(const struct builder *b, struct err *e)
{
    if (b->too_many)
        return err_set(e, ERR_LIMIT, "more than 4 294 967 294 different %s", b->too_many);
    if (b->overflowed)
        return err_set(e, ERR_LIMIT, "the values of '%s' add up past 2^63", b->overflowed);
    return true;
}

static void widen_range(struct profile *p, uint64_t from_ns, uint64_t to_ns)
{
    if (from_ns != TIME_NONE && (p->start_ns == TIME_NONE || from_ns < p->start_ns))
        p->start_ns = from_ns;
    if (to_ns != TIME_NONE && (p->end_ns == TIME_NONE || to_ns > p->end_ns))
        p->end_ns = to_ns;
}

static void finish_samples(struct builder *b)
{
    for (size_t i = 0; i < b->columns.n; i++) {
        struct columns *c = &b->columns.rows[i];
        columns_sort(c);
        columns_give(c, &b->p->sets.rows[i]);
        struct sample_set *s = &b->p->sets.rows[i];
        size_t timed = s->n;
        while (s->time_ns && timed && s->time_ns[timed - 1] == TIME_NONE)
            timed--;
        if (s->time_ns && timed)
            widen_range(b->p, s->time_ns[0], s->time_ns[timed - 1]);
    }
}

static void finish_readings(struct builder *b)
{
    for (size_t i = 0; i < b->readings.n; i++) {
        struct reading_column *c = &b->readings.rows[i];
        readings_sort(c);
        b->p->series.rows[i].readings = c->rows;
        b->p->series.rows[i].n = c->n;
        if (c->n)
            widen_range(b->p, c->rows[0].time_ns, c->rows[c->n - 1].time_ns);
        *c = (struct reading_column){0};
    }
}

static void finish_spans(struct builder *b)
{
    struct profile *p = b->p;
    spans_sort(p->spans.rows, p->spans.n);
    for (size_t i = 1; i < p->spans.n; i++) {
        const struct span *s = &p->spans.rows[i];
        uint64_t end_ns = s->start_ns + s->length_ns;
        widen_range(p, s->start_ns, end_ns < s->start_ns ? TIME_NONE : end_ns);
    }
}

bool builder_finish(struct builder *b, struct profile **out, struct err *e)
{
    bool whole = totals_hold(b, e);
    if (whole) {
        finish_samples(b);
        finish_readings(b);
        finish_spans(b);
        idmap_done(&b->p->strings.map);
        *out = take(b->p);
    }
    builder_free(b);
    return whole;
}
