/*
 * hot.h - the few instructions between two readings of the clock
 *
 * A scope costs two readings; everything else hides in their shadow as long as it is short. So what usually happens is
 * inline and calls nothing: a function on this path that calls another, however seldom, saves registers every time. Whatever is
 * rare goes to a function of its own, from the start.
 */
#pragma once
#include "client.h"

/* Rare; scope.c. */
void node_restart(struct node *n);        /* an epoch began: its numbers are zero */
void node_choose_stride(struct node *n);  /* how often to time it, from how long it is */
bool node_make_octave(struct node *n, uint64_t ticks);

static inline struct node *fresh(struct node *n)
{
    if (RARELY(n->epoch != GET(epoch)))
        node_restart(n);
    return n;
}

/*
 * Lengths by size: sixteen buckets for each doubling. NULL: no length of this octave was put away yet. The octave is how far the
 * length is shifted until it is less than 32, and one more when there are still sixteen steps below it: no branch.
 */
static inline uint64_t *bucket_for(const struct node *n, uint64_t ticks)
{
    unsigned shift = 63 - (unsigned)__builtin_clzll(ticks | STEPS) - 4;
    uint64_t steps = ticks >> shift, octave = shift + (steps >> 4);
    if (RARELY(octave >= OCTAVES))
        return NULL;
    struct scopes_buckets *of = n->octaves[octave];
    return of ? &of->counts[steps & (STEPS - 1)] : NULL;
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

/*
 * One more timed call. The bucket is where the length of the one before belongs: finding it takes longer than all the
 * rest, and a length that is known already does not have to wait for the clock. So the last one is always still to come.
 */
static inline void add_length(struct scopes_node *w, uint64_t ticks, uint64_t *bucket)
{
    double away = (double)((int64_t)ticks - w->middle);
    PUT(w->last, ticks);
    PUT(w->timed, w->timed + 1);
    PUT(w->total, w->total + ticks);
    PUT_REAL(w->squares, w->squares + away * away);
    if (RARELY(ticks < w->least))
        PUT(w->least, ticks);
    if (RARELY(ticks > w->most))
        PUT(w->most, ticks);
    PUT(*bucket, *bucket + 1);
}

/* What the thread allocated since somebody was last charged is the innermost scope's. An agent that does not count says nothing. */
static inline void charge(struct block *b, struct scopes_node *w)
{
    const struct inferom_heap_counters *heap = b->heap;
    if (!heap)
        return;
    uint64_t allocations = GET(heap->allocations), size = GET(heap->bytes);
    if (allocations == b->heap_allocations)
        return;
    PUT(w->allocations, w->allocations + (allocations - b->heap_allocations));
    PUT(w->bytes, w->bytes + (size - b->heap_bytes));
    b->heap_allocations = allocations;
    b->heap_bytes = size;
    if (!GET(process->memory_is_told))
        PUT(process->memory_is_told, 1);
}

static inline struct memory memory_now(const struct block *b)
{
    const struct inferom_heap_counters *heap = b->heap;
    struct memory m = b->told_memory;
    if (heap) {
        m.allocations += GET(heap->allocations);
        m.bytes += GET(heap->bytes);
    }
    return m;
}

/*
 * A signal handler may have scopes, too, and come between any two of these instructions. Then it uses the list from
 * `top` on, and leaves `top` and `node` as they were or as they will be; so the order of the stores matters, to the
 * compiler if not to the processor.
 */
#define IN_THIS_ORDER() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/*
 * How many of the next calls are counted only. Some may be left from the last time: a call that had to be looked at came between.
 * Those to come are told first and counted behind: who reads in between, the count before what is left, sees too few calls, never
 * one that was not made.
 */
static inline void choose_skip(struct block *b, struct node *n)
{
    if (n->stride < 2)
        return;
    uint32_t skip = skips(b, n->stride);
    PUT(*n->left, skip);
    IN_THIS_ORDER();
    PUT(n->w->skipped, n->w->skipped - n->skip + skip);
    PUT(n->skip, skip);
}

static inline void pop(struct block *b, struct open *o)
{
    struct node *around = o[-1].node, *n = o->node;
    b->top = o - 1;
    IN_THIS_ORDER(); /* a handler puts back the node of `top` */
    PUT(b->node, around);
    IN_THIS_ORDER();
    b->leaf = n;
    b->expected = b->heap ? &nobody : n->then; /* who allocates is asked at every end */
}

/* For others to see: since when the innermost scope is open. One that is not timed is not seen. */
static inline void show_begin(struct block *b, struct open *o, const struct node *n, uint64_t began)
{
    struct scopes_thread *w = b->w;
    o->began = began;
    PUT(w->began[n->depth], began);
    PUT_LINK(w->now, n->number);
}

/* A call that is not timed was counted when so many were decided on; one less is to come. */
static inline void skip_one(struct node *n, uint32_t skip)
{
    PUT(n->skip, skip - 1);
    PUT(*n->left, skip - 1);
}

static inline void show_no_begin(struct block *b, struct open *o, const struct node *n)
{
    o->began = SCOPES_NOT_TIMED;
    PUT(b->w->began[n->depth], SCOPES_NOT_TIMED);
}

static inline void show_end(struct block *b, const struct open *o) { PUT_LINK(b->w->now, o[-1].node->number); }

/* Scopes follow each other in loops: norm, attention, norm, feed-forward, and again. */
static inline struct node *last_child(const struct block *b, const struct node *around)
{
    return b->expected != &nobody ? b->leaf : around->last_child;
}

static inline bool is_child(const struct node *n, const struct node *around, const inferom_site *site)
{
    return n->site == site && n->parent == around;
}

/* Most often it is so already; and a store that is not needed would make the next look wait for it. */
static inline void follow(struct node *around, struct node *n)
{
    if (around->last_child != n)
        around->last_child = n;
}

static inline struct open *push(struct block *b, const inferom_scope *scope, struct node *n, uintptr_t stack)
{
    struct open *o = b->top + 1; /* there is room: no node is deeper than the list is long */
    b->expected = &nobody;
    do {
        o->scope = scope;
        o->node = n;
        o->stack = stack;
        IN_THIS_ORDER();
        b->top = o;
        IN_THIS_ORDER();
    } while (RARELY(o->scope != scope || o->node != n)); /* a handler had the same place a moment ago */
    follow(n->parent, n);
    PUT(b->node, n);
    IN_THIS_ORDER();
    b->expected = &nobody; /* once more: a handler may have expected somebody who is no child of this one */
    return o;
}

/*
 * Most calls that are not timed are of scopes with no other scope in them. Such a call is not put into the list of open ones: it
 * is remembered here, forgotten when it ends, and put into the list after all when something happens inside it. A
 * handler that comes in between leaves nothing here, or makes a row of it; so we look again.
 */
static inline void leaf_set(struct block *b, const inferom_scope *scope, struct node *n, uintptr_t stack)
{
    do {
        b->leaf = n;
        b->leaf_stack = stack;
        IN_THIS_ORDER();
        b->leaf_scope = scope;
        IN_THIS_ORDER();
    } while (RARELY(b->leaf != n));
}

static inline void event_done(struct block *b)
{
    uint64_t n = b->w->events + 1;
    b->next_event = n % EVENT_BLOCK ? b->next_event + 1 : NULL;
    PUT_LINK(b->w->events, n);
}

/* Counts a call, if there is nothing unusual about it. False: nothing was done. The bucket: of the call before. */
static inline __attribute__((always_inline)) bool add_usual(struct block *b, struct node *n, uint64_t ticks, uint64_t *bucket)
{
    if (RARELY(ticks > LONGEST || !bucket || n->w->timed + 1 >= n->look_at || n->epoch != GET(epoch)))
        return false;
    charge(b, n->w);
    add_length(n->w, ticks, bucket);
    return true;
}

/* Ends the innermost scope, if there is nothing unusual about it. False: nothing was done. */
static inline __attribute__((always_inline)) bool end_usual(struct block *b, struct open *o, uint64_t now, uint64_t *bucket)
{
    if (!add_usual(b, o->node, now - o->began, bucket))
        return false;
    choose_skip(b, o->node);
    show_end(b, o);
    pop(b, o);
    return true;
}
