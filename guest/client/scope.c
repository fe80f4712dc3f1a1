/*
 * In and out of a scope: what runs inside other people's loops. Reading the clock twice is what a
 * scope costs; the rest of this hides in its shadow, as long as it stays this short.
 *
 * A scope that is left by longjmp() never says goodbye. It is missed in three ways:
 *
 *   an outer scope ends, and it is not the innermost one: what is inside it was jumped over;
 *   a new one begins on a part of the stack where the innermost cannot be any more;
 *   inferom_after_longjmp() says so.
 *
 * Such a call is counted. How long it took nobody knows, so it is not timed.
 */
#include "client.h"

#include <string.h>

#define NOT_THE_FRAMES_OWN ((uintptr_t)1) /* of where a stack ended: seen from a function that the scope's own called */

/* Numbers of the epoch before last count as nothing. */
static void node_restart(struct node *n, uint32_t now)
{
    PUT(n->timed, 0);
    PUT(n->skipped, 0);
    PUT(n->cut, 0);
    PUT(n->left_out, 0);
    PUT(n->total, 0);
    PUT(n->least, UINT64_MAX);
    PUT(n->most, 0);
    PUT_REAL(n->squares, 0);
    PUT(n->middle, 0);
    PUT(n->allocations, 0);
    PUT(n->bytes, 0);
    n->look_at = 256;
    n->stride = 1;
    n->skip = 0;
    for (size_t i = 0; i < OCTAVES; i++)
        for (size_t k = 0; n->octaves[i] && k < STEPS; k++)
            PUT(n->octaves[i][k], 0);
    PUT_LINK(n->epoch, now);
}

static inline struct node *fresh(struct node *n)
{
    uint32_t now = GET(epoch);
    if (RARELY(n->epoch != now))
        node_restart(n, now);
    return n;
}

/* Lengths by size: sixteen buckets for each doubling. */
static __attribute__((noinline)) uint64_t *octave_make(struct node *n, size_t octave)
{
    if (mine->busy)
        return NULL;
    mine->busy = 1;
    uint64_t *steps = block_memory(mine, STEPS * sizeof *steps);
    if (steps)
        PUT_LINK(n->octaves[octave], steps);
    mine->busy = 0;
    return steps;
}

static inline void put_in_bucket(struct node *n, uint64_t ticks)
{
    unsigned top = 63 - (unsigned)__builtin_clzll(ticks | 8);
    size_t octave = top - 3, step = ticks >> (octave ? octave - 1 : 0) & (STEPS - 1);
    if (RARELY(octave >= OCTAVES)) {
        octave = OCTAVES - 1;
        step = STEPS - 1;
    }
    uint64_t *steps = n->octaves[octave];
    if (RARELY(!steps) && !(steps = octave_make(n, octave)))
        return;
    PUT(steps[step], steps[step] + 1);
}

/*
 * A scope shorter than two microseconds would cost more than one percent: then one call in so many is timed, at random, so that
 * the two clock readings are a hundredth of what they measure. Every call is still counted.
 */
static __attribute__((noinline)) void choose_stride(struct node *n)
{
    n->look_at = n->timed + 256;
    if (!GET(timing_is_adaptive))
        return;
    double mean = (double)n->total / (double)n->timed, stride = 2 * ticks_cost() / (0.01 * (mean + 1));
    n->stride = stride <= 1 ? 1 : stride >= STRIDE_MOST ? STRIDE_MOST : (uint32_t)(stride + 0.999);
}

/* Between nothing and twice the stride, evenly: a loop with a rhythm of its own is not met always at the same beat. */
static inline uint32_t skips(struct block *b, uint32_t stride)
{
    uint32_t x = b->random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    b->random = x;
    return (uint32_t)((uint64_t)x * (2 * stride - 1) >> 32);
}

static inline void add_length(struct block *b, struct node *n, uint64_t ticks)
{
    if (RARELY((int64_t)ticks < 0))
        ticks = 0; /* the clocks of two processors were a little apart */
    uint64_t timed = n->timed + 1;
    if (RARELY(timed == 1))
        PUT(n->middle, (int64_t)ticks);
    double away = (double)((int64_t)ticks - n->middle);
    PUT(n->timed, timed);
    PUT(n->total, n->total + ticks);
    PUT_REAL(n->squares, n->squares + away * away);
    if (RARELY(ticks < n->least))
        PUT(n->least, ticks);
    if (RARELY(ticks > n->most))
        PUT(n->most, ticks);
    put_in_bucket(n, ticks);
    if (RARELY(timed >= n->look_at))
        choose_stride(n);
    if (RARELY(n->stride > 1))
        n->skip = skips(b, n->stride);
}

static inline void pop(struct block *b, const inferom_scope *scope)
{
    PUT(b->node, scope->outer->node);
    b->scope = scope->outer;
}

/* `mine` was forgotten by a fork, or its call is left out. */
static __attribute__((noinline)) bool leaves_unseen(struct block *b, inferom_scope *scope)
{
    struct node *n = scope->node;
    if (b->muted_by == scope) {
        b->muted_by = NULL;
        fresh(n);
        PUT(n->left_out, n->left_out + 1);
        return true;
    }
    return scope->began == BEGAN_IN_PARENT;
}

static inline void end_innermost(struct block *b, inferom_scope *scope, uint64_t now)
{
    struct node *n = fresh(scope->node);
    if (RARELY(scope->began >= BEGAN_SPECIAL) && leaves_unseen(b, scope))
        ;
    else if (scope->began)
        add_length(b, n, (now ? now : ticks_now()) - scope->began);
    else
        PUT(n->skipped, n->skipped + 1);
    pop(b, scope);
}

/* The innermost one was jumped over. */
static void cut_innermost(struct block *b)
{
    inferom_scope *s = b->scope;
    if (begun_is_one(b, s)) {
        begun_popped(b, s, 0);
        return;
    }
    struct node *n = fresh(s->node);
    if (!(s->began >= BEGAN_SPECIAL && leaves_unseen(b, s)))
        PUT(n->cut, n->cut + 1);
    pop(b, s);
}

static bool is_open(const struct block *b, const inferom_scope *scope)
{
    const inferom_scope *s = b->scope;
    while (s != scope && s != &b->outermost)
        s = s->outer;
    return s == scope;
}

/* Not the innermost: what is inside was jumped over, unless this is a phase, which ends with whatever is around it. */
static __attribute__((noinline)) bool leave_crossed(struct block *b, inferom_scope *scope)
{
    if (!b || !is_open(b, scope)) {
        if (b)
            PUT(b->misused, b->misused + 1); /* ended on another thread, or twice */
        return false;
    }
    while (b->scope != scope)
        cut_innermost(b);
    return true;
}

void scope_leave_at(struct block *b, inferom_scope *scope, uint64_t now)
{
    if (RARELY(!b || b->scope != scope) && !leave_crossed(b, scope))
        return;
    end_innermost(b, scope, now);
}

void inferom_leave(inferom_scope *scope) { scope_leave_at(mine, scope, 0); }

void scopes_end_all(struct block *b)
{
    while (b->scope != &b->outermost) {
        inferom_scope *s = b->scope;
        if (begun_is_one(b, s))
            begun_popped(b, s, 0);
        else
            end_innermost(b, s, 0);
    }
}

/* The child goes on inside of scopes that the parent counts: they stay open, and are nothing when they end. */
void scopes_forget(struct block *b)
{
    for (inferom_scope *s = b->scope; s != &b->outermost; s = s->outer)
        s->began = BEGAN_IN_PARENT;
    b->muted_by = NULL;
}

/* In. */

static struct node *child_make(struct block *b, struct node *parent, inferom_site *site)
{
    struct node *n = block_memory(b, sizeof *n);
    if (!n)
        return NULL;
    n->site = site;
    n->parent = parent;
    n->is_warming = 1;
    node_restart(n, GET(epoch));
    n->next = parent->children;
    PUT_LINK(parent->children, n);
    return n;
}

static __attribute__((noinline)) struct node *child_find(struct block *b, struct node *parent, inferom_site *site)
{
    for (struct node *n = parent->children; n; n = n->next)
        if (n->site == site)
            return parent->hint = n;
    if (b->busy)
        return NULL; /* a signal handler that came in the middle of this */
    b->busy = 1;
    site_register(site, SITE_SCOPE);
    struct node *n = child_make(b, parent, site);
    b->busy = 0;
    if (n)
        parent->hint = n;
    return n;
}

/*
 * Can the innermost scope still be there, when a new one begins at `scope` and the stack ends at `stack`?
 *
 *     older frames
 *     ├── f: has the innermost one; its stack ended at innermost->stack when it began
 *     └── g: called by f, so that all of its variables are below that; or f itself, whose stack ends where it did
 *
 * An array of variable length moves the end of f's own stack: a lower end in the same function is no sign. Where the
 * end was not f's own but that of a constructor that f called, variables of g may lie above it: then only what is above
 * the innermost scope itself is a sign.
 */
static bool is_gone(const struct block *b, const inferom_scope *innermost, const inferom_scope *scope, const inferom_site *site,
                    uintptr_t stack)
{
    uintptr_t here = (uintptr_t)scope, there = (uintptr_t)innermost, their_stack = innermost->stack & ~NOT_THE_FRAMES_OWN;
    if (here == there)
        return true;
    bool is_exact = !((stack | innermost->stack) & NOT_THE_FRAMES_OWN);
    stack &= ~NOT_THE_FRAMES_OWN;
    if (here < (is_exact ? their_stack : there) || stack == their_stack)
        return false;
    if (here < b->stack_low || here >= b->stack_high || there < b->stack_low || there >= b->stack_high)
        return false; /* one of them is on a stack of its own */
    const struct node *n = innermost->node;
    return stack > their_stack || n->site->function != site->function;
}

static __attribute__((noinline)) void cut_what_is_gone(struct block *b, const inferom_scope *scope, const inferom_site *site,
                                                       uintptr_t stack)
{
    while (b->scope != &b->outermost && is_gone(b, b->scope, scope, site, stack))
        cut_innermost(b);
}

/* The first calls of a scope may not count, and nothing inside them. */
static __attribute__((noinline)) void enter_warming(struct block *b, struct node *n, inferom_scope *scope)
{
    if (site_takes_warmup(n->site)) {
        b->muted_by = scope;
        scope->began = BEGAN_MUTED;
        return;
    }
    PUT(n->is_warming, 0);
    scope->began = ticks_now();
}

static inline __attribute__((always_inline)) void open_scope(struct block *b, inferom_scope *scope, inferom_site *site,
                                                             uintptr_t stack, uint64_t now)
{
    struct node *parent = b->node, *n = parent->hint;
    if (RARELY(!n || n->site != site) && !(n = child_find(b, parent, site))) {
        PUT(b->lost_scopes, b->lost_scopes + 1);
        scope->node = NULL;
        return;
    }
    scope->node = n;
    scope->outer = b->scope;
    scope->stack = stack;
    b->scope = scope;
    PUT(b->node, n);
    if (RARELY(GET(n->is_warming)))
        enter_warming(b, n, scope);
    else if (now)
        scope->began = now;
    else if (n->skip) {
        n->skip--;
        scope->began = 0;
    } else
        scope->began = ticks_now();
}

void scope_enter_as(struct block *b, inferom_scope *scope, inferom_site *site, uint64_t now)
{
    open_scope(b, scope, site, UINTPTR_MAX, now);
}

static inline __attribute__((always_inline)) void enter(inferom_scope *scope, inferom_site *site, uintptr_t stack)
{
    struct block *b = mine;
    if (RARELY(!b) && !(b = block_of_this_thread())) {
        scope->node = NULL;
        return;
    }
    const inferom_scope *outer = b->scope;
    if (RARELY((uintptr_t)scope >= outer->stack && ((stack ^ outer->stack) > NOT_THE_FRAMES_OWN || scope == outer)))
        cut_what_is_gone(b, scope, site, stack);
    if (RARELY(b->muted_by != NULL)) {
        scope->node = NULL;
        return;
    }
    open_scope(b, scope, site, stack, 0);
}

void inferom_enter(inferom_scope *scope, inferom_site *site)
{
    enter(scope, site, (uintptr_t)__builtin_frame_address(0) | NOT_THE_FRAMES_OWN);
}

void inferom_enter_here(inferom_scope *scope, inferom_site *site)
{
    enter(scope, site, (uintptr_t)__builtin_frame_address(0));
}

void inferom_after_longjmp(void)
{
    struct block *b = mine;
    uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    while (b && b->scope != &b->outermost && (uintptr_t)b->scope < stack && (uintptr_t)b->scope >= b->stack_low)
        cut_innermost(b);
}

void inferom_allocated(size_t bytes)
{
    struct block *b = GET(inferom_is_on) ? block_of_this_thread() : NULL;
    if (!b || b->muted_by)
        return;
    if (RARELY(!GET(memory_is_told)))
        PUT(memory_is_told, 1);
    struct node *n = fresh(b->node);
    PUT(n->allocations, n->allocations + 1);
    PUT(n->bytes, n->bytes + bytes);
}
