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
#include "hot.h"

#include <string.h>

/* Where the stack of the caller of this function ends. */
#define CALLERS_STACK() ((uintptr_t)__builtin_dwarf_cfa())
#define NOT_THE_FRAMES_OWN ((uintptr_t)1) /* of where a stack ended: seen from a function that the scope's own called */

/* Numbers of the epoch before last count as nothing. */
void node_restart(struct node *n)
{
    struct scopes_node *w = n->w;
    PUT(w->timed, 0);
    PUT(w->last, 0);
    PUT(w->skipped, 0);
    PUT(w->left, 0);
    PUT(w->cut, 0);
    PUT(w->left_out, 0);
    PUT(w->total, 0);
    PUT(w->least, UINT64_MAX);
    PUT(w->most, 0);
    PUT_REAL(w->squares, 0);
    PUT(w->middle, 0);
    PUT(w->allocations, 0);
    PUT(w->bytes, 0);
    n->look_at = 1; /* the first call is looked at: its length becomes the middle */
    n->stride = 1;
    PUT(n->skip, 0);
    for (size_t i = 0; i < OCTAVES; i++)
        for (size_t k = 0; n->octaves[i] && k < STEPS; k++)
            PUT(n->octaves[i]->counts[k], 0);
    PUT_LINK(w->epoch, GET(epoch));
    n->epoch = GET(epoch);
}

bool node_make_octave(struct node *n, uint64_t ticks)
{
    size_t octave = 60 - (size_t)__builtin_clzll(ticks | 8);
    struct block *b = mine();
    if (b->busy)
        return false;
    b->busy = 1;
    struct scopes_buckets *steps = item_new(b, SCOPES_BUCKETS, sizeof *steps);
    if (steps) {
        steps->node = n->number;
        steps->octave = (uint32_t)octave;
        item_done(b);
        PUT_LINK(n->octaves[octave], steps);
    }
    b->busy = 0;
    return steps;
}

/*
 * A scope shorter than two microseconds would cost more than one percent: then one call in so many is timed, at random, so that
 * the two clock readings are a hundredth of what they measure. Every call is still counted.
 */
void node_choose_stride(struct node *n)
{
    n->look_at = n->w->timed + 256;
    records_learn();
    if (n->site->kind == SITE_PHASE)
        return; /* between two phases there is one reading, whatever they are */
    if (GET(timing_stride)) {
        n->stride = GET(timing_stride);
        return;
    }
    double mean = (double)n->w->total / (double)n->w->timed, stride = 2 * ticks_cost() / (0.01 * (mean + 1));
    n->stride = stride <= 1 ? 1 : stride >= STRIDE_MOST ? STRIDE_MOST : (uint32_t)(stride + 0.999);
}

/* Out. */

/* Everything that a timed call may be. */
static void end_timed(struct block *b, struct node *n, uint64_t ticks)
{
    struct scopes_node *w = n->w;
    uint64_t nowhere = 0, *bucket = w->timed ? bucket_for(n, w->last) : &nowhere;
    if ((int64_t)ticks < 0)
        ticks = 0; /* the clocks of two processors were a little apart */
    if (ticks > LONGEST)
        ticks = LONGEST;
    if (!bucket && node_make_octave(n, w->last))
        bucket = bucket_for(n, w->last);
    if (!w->timed)
        PUT(w->middle, (int64_t)ticks);
    add_length(w, ticks, bucket ? bucket : &nowhere);
    choose_skip(b, n);
    if (w->timed >= n->look_at)
        node_choose_stride(n);
}

/* One that the parent of this process counts, or whose call is left out. */
static void end_special(struct block *b, const struct open *o, struct node *n)
{
    if (b->muted_by != o)
        return;
    b->muted_by = NULL;
    PUT(n->w->left_out, n->w->left_out + 1);
}

static void end_innermost(struct block *b, uint64_t now)
{
    struct open *o = b->top;
    struct node *n = fresh(o->node);
    bool is_phase = !o->scope && o->is_phase && o->began < BEGAN_SPECIAL;
    if (!now && (is_phase || (o->began && o->began < BEGAN_SPECIAL)))
        now = ticks_now();
    charge(b, n->w);
    if (o->began >= BEGAN_SPECIAL) {
        end_special(b, o, n);
    } else if (o->began) {
        end_timed(b, n, now - o->began);
        record_call(b, n, o->began, now - o->began);
    }
    if (is_phase)
        phase_ended(b, o, now);
    show_end(b, o);
    pop(b, o);
}

/* The innermost one was jumped over. One that is on no stack was not: it ends with what is around it. */
static void cut_innermost(struct block *b)
{
    struct open *o = b->top;
    struct node *n = fresh(o->node);
    if (!o->scope) {
        end_innermost(b, 0);
        return;
    }
    charge(b, n->w);
    if (o->began >= BEGAN_SPECIAL) {
        end_special(b, o, n);
    } else {
        PUT(n->w->cut, n->w->cut + 1);
        if (!o->began && n->w->skipped)
            PUT(n->w->skipped, n->w->skipped - 1); /* counted already */
    }
    show_end(b, o);
    pop(b, o);
}

/* It was there all the time. */
void leaf_settle(struct block *b)
{
    if (!b->leaf_scope)
        return;
    struct open *o = push(b, b->leaf_scope, b->leaf, b->leaf_stack);
    show_no_begin(b, o, o->node);
    b->leaf_scope = NULL;
}

void scope_close(struct block *b, struct open *o, uint64_t now)
{
    while (b->top > o)
        cut_innermost(b);
    end_innermost(b, now);
}

/* It is somewhere in the list, or it ended on another thread, or twice. */
static __attribute__((noinline)) void leave_unusual(inferom_scope *scope)
{
    struct block *b = mine();
    if (!b)
        return;
    leaf_settle(b);
    struct open *o = b->top;
    while (o != b->open && o->scope != scope)
        o--;
    if (o != b->open)
        scope_close(b, o, 0);
    else
        PUT(b->w->misused, b->w->misused + 1);
}

/* The clock was read already, for a call that is not like the others: its first, a longer one than all before. */
static __attribute__((noinline)) void leave_at(uint64_t now) { end_innermost(mine(), now); }

static __attribute__((noinline)) void leave_timed(struct block *b, struct open *o)
{
    struct node *n = o->node;
    uint64_t began = o->began, *bucket = bucket_for(n, n->w->last), now = ticks_counter();
    if (RARELY(!end_usual(b, o, now, bucket)))
        leave_at(now);
    else if (RARELY(now - began >= record_least))
        record_call(b, n, began, now - began);
}

/* From the cheapest to the dearest; each tests what the next may rely on, and calls it as the last thing it does. */
void inferom_leave(inferom_scope *scope)
{
    struct block *b = my_block;
    const inferom_scope *leaf = b->leaf_scope;
    if (leaf == scope) {
        b->expected = b->leaf->then;
        IN_THIS_ORDER();
        b->leaf_scope = NULL;
        return;
    }
    struct open *o = b->top;
    if (RARELY(leaf || o->scope != scope || o->began >= BEGAN_SPECIAL || !ticks_are_tsc)) {
        leave_unusual(scope);
    } else if (o->began) {
        leave_timed(b, o);
    } else {
        charge(b, o->node->w);
        pop(b, o);
    }
}

void scopes_end_all(struct block *b)
{
    leaf_settle(b);
    while (b->top != b->open)
        end_innermost(b, 0);
}

/* The child goes on inside of scopes that the parent counts: they stay open, and are nothing when they end. */
void scopes_forget(struct block *b)
{
    leaf_settle(b);
    for (struct open *o = b->top; o != b->open; o--) {
        o->began = BEGAN_IN_PARENT;
        o->stack = o->scope ? o->stack : ON_NO_STACK;
        PUT(b->w->began[o - b->open], BEGAN_IN_PARENT);
    }
    if (b->muted_by)
        PUT(b->node, b->top->node);
    b->muted_by = NULL;
}

/* In. */

bool node_tell(struct block *b, struct node *n)
{
    struct scopes_node *w = item_new(b, SCOPES_NODE, sizeof *w);
    if (!w)
        return false;
    n->number = ++b->nodes;
    w->number = n->number;
    w->caller = n->parent->number;
    w->site = site_number(n->site);
    n->w = w;
    n->left = &w->left;
    memset(n->octaves, 0, sizeof n->octaves);
    node_restart(n);
    item_done(b);
    return true;
}

static struct node *child_make(struct block *b, struct node *parent, inferom_site *site)
{
    bool is_too_much = parent->depth >= DEPTH_MOST || b->nodes >= NODES_MOST;
    struct node *n = is_too_much ? NULL : block_memory(b, sizeof *n);
    if (!n)
        return NULL;
    n->depth = parent->depth + 1;
    n->site = site;
    n->parent = parent;
    n->last_child = &nobody;
    n->then = n;
    if (!node_tell(b, n))
        return NULL;
    n->is_warming = ticks_are_tsc ? WARMING : WARMING | SLOW_CLOCK;
    __atomic_fetch_or(&parent->is_warming, HAS_CHILDREN, __ATOMIC_RELAXED);
    n->next = parent->children;
    PUT_LINK(parent->children, n);
    return n;
}

static struct node *child_add(struct block *b, struct node *parent, inferom_site *site)
{
    if (b->busy)
        return NULL; /* a signal handler that came in the middle of this */
    b->busy = 1;
    site_register(site, SITE_SCOPE);
    struct node *n = child_make(b, parent, site);
    b->busy = 0;
    return n;
}

static struct node *child_find(struct block *b, struct node *parent, inferom_site *site)
{
    struct node *n = parent->children;
    while (n && n->site != site)
        n = n->next;
    if (!n)
        n = child_add(b, parent, site);
    struct node *last = last_child(b, parent);
    if (n && last != &nobody)
        last->then = n;
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
static bool is_gone(const struct block *b, const inferom_scope *scope, const inferom_site *site, uintptr_t stack)
{
    const struct open *innermost = b->top;
    uintptr_t here = (uintptr_t)scope, there = (uintptr_t)innermost->scope, their_stack = innermost->stack & ~NOT_THE_FRAMES_OWN;
    if (!there || here == there)
        return there;
    bool is_exact = !((stack | innermost->stack) & NOT_THE_FRAMES_OWN);
    stack &= ~NOT_THE_FRAMES_OWN;
    if (here < (is_exact ? their_stack : there) || stack == their_stack)
        return false;
    if (here < b->stack_low || here >= b->stack_high || there < b->stack_low || there >= b->stack_high)
        return false; /* one of them is on a stack of its own */
    return stack > their_stack || innermost->node->site->function != site->function;
}

/* The first calls of a scope may not count, and nothing inside them. */
static void open_warming(struct block *b, struct open *o, uint64_t now)
{
    if (site_takes_warmup(o->node->site)) {
        b->muted_by = o;
        PUT(b->node, &nobody); /* whose children nobody enters the usual way */
        show_begin(b, o, o->node, BEGAN_MUTED);
        return;
    }
    __atomic_fetch_and(&o->node->is_warming, ~(uint32_t)WARMING, __ATOMIC_RELAXED);
    show_begin(b, o, o->node, now ? now : ticks_now());
}

struct open *scope_open(struct block *b, const inferom_scope *scope, inferom_site *site, uintptr_t stack, uint64_t now)
{
    leaf_settle(b);
    struct node *parent = b->node, *n = last_child(b, parent)->then;
    if (b->muted_by)
        return NULL;
    if (!is_child(n, parent, site) && !(n = child_find(b, parent, site))) {
        PUT(b->w->lost_scopes, b->w->lost_scopes + 1);
        return NULL;
    }
    charge(b, fresh(parent)->w);
    struct open *o = push(b, scope, fresh(n), stack);
    if (GET(n->is_warming) & WARMING) {
        open_warming(b, o, now);
    } else if (n->skip && !now) {
        skip_one(n, n->skip);
        show_no_begin(b, o, n);
    } else {
        show_begin(b, o, n, now ? now : ticks_now());
    }
    return o;
}

static inline bool may_be_gone(const struct open *innermost, const inferom_scope *scope, uintptr_t stack)
{
    return (uintptr_t)scope >= innermost->stack &&
           ((stack ^ innermost->stack) > NOT_THE_FRAMES_OWN || scope == innermost->scope);
}

static __attribute__((noinline)) void enter_unusual(inferom_scope *scope, inferom_site *site, uintptr_t stack)
{
    struct block *b = block_of_this_thread();
    scope->node = NULL;
    if (!b)
        return;
    leaf_settle(b);
    while (b->top != b->open && may_be_gone(b->top, scope, stack) && is_gone(b, scope, site, stack))
        cut_innermost(b);
    scope->node = scope_open(b, scope, site, stack, 0);
}

static __attribute__((noinline)) void enter_timed(inferom_scope *scope, struct block *b, struct node *n, uintptr_t stack)
{
    charge(b, b->node->w);
    struct open *o = push(b, scope, n, stack);
    scope->node = o;
    show_begin(b, o, n, ticks_counter());
}

static __attribute__((noinline)) void enter_skipped(inferom_scope *scope, struct block *b, struct node *n, uintptr_t stack)
{
    charge(b, b->node->w);
    struct open *o = push(b, scope, n, stack);
    scope->node = o;
    show_no_begin(b, o, n);
}

static inline __attribute__((always_inline)) void enter(inferom_scope *scope, inferom_site *site, uintptr_t stack)
{
    struct block *b = my_block;
    struct node *around = b->node, *n = last_child(b, around)->then;
    uint32_t skip = GET(n->skip);
    if (RARELY(!is_child(n, around, site) || GET(n->is_warming) & (WARMING | SLOW_CLOCK) || n->epoch != GET(epoch) || b->leaf_scope ||
               may_be_gone(b->top, scope, stack))) {
        enter_unusual(scope, site, stack);
        return;
    }
    if (!skip) {
        enter_timed(scope, b, n, stack);
        return;
    }
    skip_one(n, skip);
    if (!GET(n->is_warming) && !b->heap) {
        scope->node = b; /* something ends here */
        follow(around, n);
        leaf_set(b, scope, n, stack);
    } else {
        enter_skipped(scope, b, n, stack);
    }
}

void inferom_enter(inferom_scope *scope, inferom_site *site) { enter(scope, site, CALLERS_STACK() | NOT_THE_FRAMES_OWN); }
void inferom_enter_here(inferom_scope *scope, inferom_site *site) { enter(scope, site, CALLERS_STACK()); }

void inferom_after_longjmp(void)
{
    struct block *b = mine();
    uintptr_t stack = CALLERS_STACK();
    if (b)
        leaf_settle(b);
    while (b && b->top->scope && (uintptr_t)b->top->scope < stack && (uintptr_t)b->top->scope >= b->stack_low)
        cut_innermost(b);
}

void inferom_allocated(size_t bytes)
{
    struct block *b = GET(inferom_is_on) ? block_of_this_thread() : NULL;
    if (!b || b->muted_by)
        return;
    if (RARELY(!GET(process->memory_is_told)))
        PUT(process->memory_is_told, 1);
    struct scopes_node *w = fresh(innermost(b))->w;
    PUT(w->allocations, w->allocations + 1);
    PUT(w->bytes, w->bytes + bytes);
    b->knows_memory = 1;
    b->told_memory.allocations++;
    b->told_memory.bytes += bytes;
}

uint32_t inferom_scope_here(void) { return innermost(my_block)->number; }
