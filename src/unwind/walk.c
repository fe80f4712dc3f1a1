#include "unwind/frame_guess.h"
#include "unwind/unwind_table.h"

/*
 * One step, from a frame to its caller:
 *
 *     pc ──> map ──> rule ──> CFA ──> return address, fp, base ──> the caller's pc, sp, fp, base
 *
 * Every step but one through a signal frame moves the stack pointer up, so a walk ends
 * even without its bound. Which registers still have the values of the frame we stand in
 * is kept as a set: all of them in the frame that was interrupted, four in those above.
 */
#define MOST_FRAME_BYTES (INT64_C(1) << 30) /* a frame larger than this is a number gone wrong */
#define ADDRESS_BITS 48                     /* arm64 signs return addresses in the bits above */

const char *const unwind_end_names[UNWIND_END_COUNT + 1] = {
    [UNWIND_COMPLETE] = "complete", [UNWIND_CUT] = "cut",       [UNWIND_TOO_DEEP] = "too deep",
    [UNWIND_NO_RULE] = "no rule",   [UNWIND_BROKEN] = "broken", [UNWIND_GUESSED] = "guessed",
};

struct walk {
    const struct unwind_space *space;
    const struct unwind_stack *stack;
    const struct unwind_map *map; /* of the frame before: most callers are its neighbours */
    struct unwind_arch_registers regs;
    uint64_t at[33];
    uint64_t known;  /* bit r: at[r] is valid */
    bool is_exact;   /* pc is where it was interrupted, not a return address */
    bool is_guessed; /* some frame was found without a rule */
    bool is_elsewhere; /* a signal was handled on a stack of its own, and we have only that */
    enum unwind_end why;
};

static bool stop(struct walk *w, enum unwind_end why)
{
    w->why = why == UNWIND_COMPLETE && w->is_guessed ? UNWIND_GUESSED : why;
    return false;
}

static bool is_known(const struct walk *w, uint8_t reg) { return w->known >> reg & 1; }

static bool load(const struct unwind_stack *s, uint64_t address, uint64_t *out)
{
    uint64_t offset = address - s->start;
    if (offset >= s->n || s->n - offset < sizeof *out)
        return false;
    memcpy(out, s->bytes + offset, sizeof *out);
    return true;
}

/* What it means that an address on the stack cannot be read. */
static bool stop_unread(struct walk *w, uint64_t address)
{
    bool beyond = address >= w->stack->start && address - w->stack->start < (uint64_t)MOST_FRAME_BYTES;
    return stop(w, beyond || w->is_elsewhere ? UNWIND_CUT : UNWIND_BROKEN);
}

static const struct unwind_map *map_at(const struct unwind_space *space, const struct unwind_map *last, uint64_t address)
{
    if (last && address >= last->start && address < last->end)
        return last;
    size_t lo = 0, hi = space->n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        const struct unwind_map *m = &space->maps[middle];
        if (address < m->start)
            hi = middle;
        else if (address >= m->end)
            lo = middle + 1;
        else
            return m;
    }
    return NULL;
}

/* In place of a caller that we walk into: a return address, with four registers. */
static bool enter(struct walk *w, uint64_t pc, uint64_t sp)
{
    w->at[w->regs.pc] = pc;
    w->at[w->regs.sp] = sp;
    w->is_exact = false;
    return pc != 0 || stop(w, UNWIND_COMPLETE);
}

/* A return address that can be believed: behind a call, in code that is mapped. */
static bool is_plausible_return(const struct walk *w, uint64_t ra)
{
    const struct unwind_map *m = ra ? map_at(w->space, NULL, ra - 1) : NULL;
    return m && (!m->table || frame_follows_call(m->table, ra - m->bias));
}

/* A caller with rules of its own may use rbp for anything: then it need not look like a frame pointer. The call must be in sight. */
static bool has_rule(const struct walk *w, uint64_t ra)
{
    const struct unwind_map *m = ra ? map_at(w->space, NULL, ra - 1) : NULL;
    return m && m->table && frame_sees_text(m->table, ra - m->bias) && unwind_table_at(m->table, ra - 1 - m->bias)->how != CFA_NONE;
}

static bool enter_guessed(struct walk *w, uint64_t ra, uint64_t sp, uint64_t fp)
{
    w->is_guessed = true;
    w->at[w->regs.fp] = fp;
    w->known = UINT64_C(1) << w->regs.fp | UINT64_C(1) << w->regs.sp;
    return enter(w, ra, sp);
}

/*
 * Code without rules that has just been entered, or never touches its stack: the return
 * address is where the call put it. Believed only if we can see that call. (Here the stack
 * pointer is exact; arm64 calls leave nothing on the stack.)
 */
static bool has_return_on_top(const struct walk *w, uint64_t *out)
{
    if (!w->is_exact || w->space->arch != UNWIND_X86_64 || !load(w->stack, w->at[w->regs.sp], out) || !*out)
        return false;
    const struct unwind_map *m = map_at(w->space, NULL, *out - 1);
    return m && m->table && frame_sees_text(m->table, *out - m->bias) && is_plausible_return(w, *out);
}

/*
 * Code without rules. If it keeps frame pointers there is a pair at fp: the caller's fp
 * and the return address. It is believed when it lies on the stack in front of us, leads
 * further up or into code with rules, and returns behind a call. A zero marks the outermost frame by convention
 * (the dynamic linker's first instructions are such code).
 */
static bool step_by_guess(struct walk *w)
{
    uint64_t fp = w->at[w->regs.fp], sp = w->at[w->regs.sp], caller_fp, ra;
    if (!is_known(w, w->regs.fp))
        return stop(w, UNWIND_NO_RULE);
    if (has_return_on_top(w, &ra))
        return enter_guessed(w, ra, sp + 8, fp);
    if (fp == 0) {
        w->is_guessed = true;
        return stop(w, UNWIND_COMPLETE);
    }
    if (fp % 8 || fp < sp || !load(w->stack, fp, &caller_fp) || !load(w->stack, fp + 8, &ra))
        return stop(w, UNWIND_NO_RULE);
    if (w->space->arch == UNWIND_ARM64)
        ra &= (UINT64_C(1) << ADDRESS_BITS) - 1;
    bool leads_up = !caller_fp || caller_fp > fp || has_rule(w, ra);
    if (!leads_up || (ra && !is_plausible_return(w, ra)))
        return stop(w, UNWIND_NO_RULE);
    return enter_guessed(w, ra, fp + 16, caller_fp);
}

/*
 * Where the kernel put the registers of what it interrupted, from the context on:
 * x86-64 has r8..r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip at 40; arm64, whose
 * context follows 128 bytes of siginfo, x0..x30, sp, pc at 312.
 */
static bool step_through_signal(struct walk *w, const struct unwind_rule *rule)
{
    static const uint8_t x86[] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16};
    bool is_arm = w->space->arch == UNWIND_ARM64;
    uint64_t first = w->at[w->regs.sp] + (uint64_t)(int64_t)rule->offset + (is_arm ? 312 : 40);
    for (uint8_t i = 0; i < w->regs.count; i++)
        if (!load(w->stack, first + 8 * i, &w->at[is_arm ? i : x86[i]]))
            return stop_unread(w, first + 8 * i);
    w->known = ~UINT64_C(0);
    w->is_exact = true;
    w->is_elsewhere = w->at[w->regs.sp] - w->stack->start > w->stack->n;
    return true;
}

static bool find_cfa(struct walk *w, const struct unwind_rule *r, uint64_t *out)
{
    if (!is_known(w, r->reg))
        return stop(w, UNWIND_NO_RULE);
    uint64_t cfa = w->at[r->reg] + (uint64_t)(int64_t)r->offset;
    if (r->how == CFA_MEMORY) {
        uint64_t place = cfa;
        if (!load(w->stack, place, &cfa))
            return stop_unread(w, place);
        cfa += (uint64_t)(int64_t)r->add;
    }
    if (r->how == CFA_PLT)
        cfa += (w->at[w->regs.pc] & 15) >= (uint64_t)(int64_t)r->add ? 8 : 0;
    *out = cfa;
    return true;
}

/*
 * Where a register of the caller was put. Behind the pop in an epilogue the tables still
 * name the place, which is below the stack pointer then and not among our bytes: the
 * register has its value back.
 */
static bool recover(struct walk *w, const struct saved *s, uint8_t own, uint64_t cfa, uint64_t *out)
{
    uint64_t place = 0;
    *out = w->at[own];
    switch (s->how) {
    case SAVED_SAME: return is_known(w, own);
    case SAVED_IN_REGISTER: *out = w->at[s->reg]; return is_known(w, s->reg);
    case SAVED_AT_CFA: place = cfa + (uint64_t)(int64_t)s->offset; break;
    case SAVED_AT_REGISTER: place = w->at[s->reg] + (uint64_t)(int64_t)s->offset; break;
    default: return false;
    }
    if (s->how == SAVED_AT_REGISTER && !is_known(w, s->reg))
        return false;
    return load(w->stack, place, out) || (place < w->at[w->regs.sp] && is_known(w, own));
}

static bool find_return(struct walk *w, const struct unwind_rule *r, uint64_t cfa, uint64_t *out)
{
    if (r->ra.how == SAVED_AT_CFA) {
        uint64_t place = cfa + (uint64_t)(int64_t)r->ra.offset;
        if (!load(w->stack, place, out))
            return stop_unread(w, place);
    } else if (!recover(w, &r->ra, w->regs.ra, cfa, out)) {
        return stop(w, UNWIND_BROKEN);
    }
    if (w->space->arch == UNWIND_ARM64)
        *out &= (UINT64_C(1) << ADDRESS_BITS) - 1;
    return true;
}

/* A return address in lr needs no stack: such a frame may be empty. */
static bool is_upward(const struct walk *w, const struct unwind_rule *r, uint64_t cfa)
{
    int64_t up = (int64_t)(cfa - w->at[w->regs.sp]);
    return r->is_exact || (up <= MOST_FRAME_BYTES && (up > 0 || (up == 0 && r->ra.how == SAVED_IN_REGISTER)));
}

static bool step_by_rule(struct walk *w, const struct unwind_rule *r)
{
    uint64_t cfa = 0, ra = 0, fp, base;
    if (!find_cfa(w, r, &cfa))
        return false;
    if (!is_upward(w, r, cfa))
        return stop(w, UNWIND_BROKEN);
    if (!find_return(w, r, cfa, &ra))
        return false;
    uint64_t known = UINT64_C(1) << w->regs.sp;
    known |= (uint64_t)recover(w, &r->fp, w->regs.fp, cfa, &fp) << w->regs.fp;
    known |= (uint64_t)recover(w, &r->base, w->regs.base, cfa, &base) << w->regs.base;
    w->at[w->regs.fp] = fp;
    w->at[w->regs.base] = base;
    w->known = known;
    bool go_on = enter(w, ra, cfa);
    w->is_exact = r->is_exact;
    return go_on;
}

static bool step(struct walk *w)
{
    uint64_t pc = w->at[w->regs.pc] - !w->is_exact;
    w->map = map_at(w->space, w->map, pc);
    if (!w->map)
        return stop(w, UNWIND_NO_RULE);
    if (!w->map->table)
        return step_by_guess(w);
    const struct unwind_rule *r = unwind_table_at(w->map->table, pc - w->map->bias);
    switch (r->how) {
    case CFA_NONE: return step_by_guess(w);
    case CFA_END: return stop(w, UNWIND_COMPLETE);
    case CFA_SIGNAL: return step_through_signal(w, r);
    default: return step_by_rule(w, r);
    }
}

size_t unwind_walk(const struct unwind_space *space, const struct unwind_registers *r, const struct unwind_stack *stack,
                   uint64_t *out_addresses, size_t most, enum unwind_end *out_why)
{
    struct walk w = {.space = space, .stack = stack, .regs = unwind_registers_of(space->arch),
                     .known = ~UINT64_C(0), .is_exact = true, .why = UNWIND_TOO_DEEP};
    memcpy(w.at, r->at, sizeof w.at);
    size_t n = 0;
    while (n < most) {
        out_addresses[n] = w.at[w.regs.pc] + (n && w.is_exact);
        n++;
        if (!step(&w))
            break;
    }
    *out_why = w.why;
    return n;
}
