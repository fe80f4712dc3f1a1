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

/* Lengths by size: sixteen buckets for each doubling. NULL: no length of this octave was put away yet. */
static inline uint64_t *bucket_for(const struct node *n, uint64_t ticks)
{
    unsigned top = 63 - (unsigned)__builtin_clzll(ticks | 8), octave = top - 3;
    if (RARELY(octave >= OCTAVES))
        return NULL;
    uint64_t *steps = n->octaves[octave];
    return steps ? &steps[ticks >> (octave ? octave - 1 : 0) & (STEPS - 1)] : NULL;
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
static inline void add_length(struct block *b, struct node *n, uint64_t ticks, uint64_t *bucket)
{
    PUT(n->last, ticks);
    double away = (double)((int64_t)ticks - n->middle);
    PUT(n->timed, n->timed + 1);
    PUT(n->total, n->total + ticks);
    PUT_REAL(n->squares, n->squares + away * away);
    if (RARELY(ticks < n->least))
        PUT(n->least, ticks);
    if (RARELY(ticks > n->most))
        PUT(n->most, ticks);
    PUT(*bucket, *bucket + 1);
    if (n->stride > 1)
        PUT(n->skip, skips(b, n->stride));
}

/*
 * A signal handler may have scopes, too, and come between any two of these instructions. Then it uses the list from
 * `top` on, and leaves `top` and `node` as they were or as they will be; so the order of the stores matters, to the
 * compiler if not to the processor.
 */
#define IN_THIS_ORDER() __atomic_signal_fence(__ATOMIC_SEQ_CST)

static inline void pop(struct block *b, struct open *o)
{
    struct node *around = o[-1].node;
    b->top = o - 1;
    IN_THIS_ORDER(); /* a handler puts back the node of `top` */
    PUT(b->node, around);
}

/* Scopes follow each other in loops: norm, attention, norm, feed-forward, and again. */
static inline struct node *likely_child(const struct node *around) { return around->last_child->then; }

static inline bool is_child(const struct node *n, const struct node *around, const inferom_site *site)
{
    return n->site == site && n->parent == around;
}

static inline struct open *push(struct block *b, const inferom_scope *scope, struct node *n, uintptr_t stack)
{
    struct open *o = b->top + 1; /* there is room: no node is deeper than the list is long */
    do {
        o->scope = scope;
        o->node = n;
        o->stack = stack;
        IN_THIS_ORDER();
        b->top = o;
        IN_THIS_ORDER();
    } while (RARELY(o->scope != scope || o->node != n)); /* a handler had the same place a moment ago */
    n->parent->last_child = n;
    PUT(b->node, n);
    return o;
}

/* Ends the innermost scope, if there is nothing unusual about it. False: nothing was done. */
static inline __attribute__((always_inline)) bool end_usual(struct block *b, struct open *o, uint64_t now)
{
    struct node *n = o->node;
    uint64_t ticks = now - o->began, *bucket = bucket_for(n, n->last);
    if (RARELY(n->epoch != GET(epoch) || ticks > LONGEST || !bucket || n->timed + 1 >= n->look_at))
        return false;
    add_length(b, n, ticks, bucket);
    pop(b, o);
    return true;
}
