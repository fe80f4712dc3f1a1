/*
 * What an allocation and a free change. The thread's own counters always; if the allocation is recorded, the row of its
 * stack, the table of blocks, and the sum of what is live.
 *
 * The peak, without stopping anybody: when the sum passes the highest so far, the area's epoch is counted up. A row keeps what was
 * live in it at the last epoch it knows; whoever changes a row that knows an older one first notes down what is
 * live there, which is what was live at the peak. So the state at the peak is in the rows at any time, for a
 * comparison with each change.
 *
 * The sum is exact while one thread allocates. When there are more, each keeps up to HEAP_QUANTUM to itself before it
 * adds it, and a new peak is one that is HEAP_PEAK_STEP higher: the peak is then right to
 * HEAP_QUANTUM for each other thread, and its moment accordingly.
 */
#include "agent.h"

enum { SERIALS = 1 << 21 };

static inline void add_live(int64_t bytes)
{
    struct heap_area *a = area();
    me.delta += bytes;
    int64_t sum = atomic_load_explicit(&a->live_bytes, memory_order_relaxed) + me.delta;
    bool is_alone = atomic_load_explicit(&a->threads, memory_order_relaxed) <= 2;
    if (unlikely(me.delta > HEAP_QUANTUM || me.delta < -HEAP_QUANTUM)) {
        atomic_fetch_add_explicit(&a->live_bytes, me.delta, memory_order_relaxed);
        me.delta = 0;
    }
    if (sum <= atomic_load_explicit(&a->peak_bytes, memory_order_relaxed) + (is_alone ? 0 : HEAP_PEAK_STEP))
        return;
    atomic_store_explicit(&a->peak_bytes, sum, memory_order_relaxed);
    atomic_store_explicit(&a->peak_tick, tick_now(), memory_order_relaxed);
    atomic_fetch_add_explicit(&a->epoch, 1, memory_order_release);
}

static inline void know_peak(struct heap_row *r)
{
    uint32_t epoch = atomic_load_explicit(&area()->epoch, memory_order_acquire);
    if (likely(r->epoch == epoch))
        return;
    r->peak_256 = r->live_256;
    r->peak_bytes = r->live_bytes;
    r->epoch = epoch;
}

static inline uint32_t class_above(uint64_t size) /* K of (2^(K-1), 2^K] */
{
    uint32_t k = size <= 1 ? 0 : 64 - (uint32_t)__builtin_clzll(size - 1);
    return k < HEAP_CLASSES ? k : HEAP_CLASSES - 1;
}

static inline uint32_t class_below(uint64_t ns) /* K of [2^K, 2^(K+1)) */
{
    uint32_t k = ns ? 63 - (uint32_t)__builtin_clzll(ns) : 0;
    return k < HEAP_CLASSES ? k : HEAP_CLASSES - 1;
}

static inline uint64_t weighed(uint64_t size, uint64_t weight_256) { return weight_256 == HEAP_WHOLE ? size : size * weight_256 / HEAP_WHOLE; }

static void record(void *p, uint64_t size, uint64_t weight_256, bool is_sample, const struct here *from)
{
    struct walk w;
    live_expect((uint64_t)p);
    walk_from(from, &w);
    uint32_t number = row_number(w.hash, &w);
    __builtin_prefetch(row_at(number), 1); /* needed behind the next two */
    struct heap_block b = {
        .address = (uint64_t)p,
        .size = (size & HEAP_BLOCK_SIZE) | (is_sample ? HEAP_BLOCK_SAMPLED : 0),
        .tick = tick_now(),
        .row = number,
        .thread = me.number & (HEAP_THREADS_MOST - 1),
        .serial = me.counts->allocations & (SERIALS - 1),
    };
    if (unlikely(!number || !live_put(&b))) {
        count_up(&area()->unseen, 1);
        count_up(&area()->unseen_bytes, size);
        return;
    }
    struct heap_row *r = row_at(number);
    int64_t bytes = (int64_t)weighed(size, weight_256);
    know_peak(r);
    r->objects_256 += weight_256;
    r->bytes += (uint64_t)bytes;
    r->live_256 += (int64_t)weight_256;
    r->live_bytes += bytes;
    r->samples++;
    if (is_sample)
        rest_at(number)->variance += sampling_variance(size);
    struct heap_class *c = &me.counts->sizes[class_above(size)];
    c->objects_256 += weight_256;
    c->bytes += (uint64_t)bytes;
    add_live(bytes);
}

void track_allocation(void *p, size_t size, const struct here *from)
{
    struct heap_thread *t = me.counts;
    uint64_t weight_256 = HEAP_WHOLE;
    t->bytes += size;
    if (unlikely(++t->allocations % HEAP_WINDOW == 0))
        sampling_window();
    bool is_sampling = me.is_sampling;
    if (is_sampling && likely(!sampling_takes(size, &weight_256)))
        return;
    if (is_sampling)
        t->samples++;
    else
        t->exact_allocations++;
    record(p, size, weight_256, is_sampling, from);
}

static void free_by_other(struct heap_row_rest *r, uint64_t weight_256, int64_t bytes)
{
    uint64_t epoch = atomic_load_explicit(&area()->epoch, memory_order_acquire);
    uint64_t known = atomic_load_explicit(&r->freed_epoch, memory_order_relaxed);
    if (known != epoch && atomic_compare_exchange_strong(&r->freed_epoch, &known, epoch)) {
        r->peak_freed_256 = atomic_load_explicit(&r->freed_256, memory_order_relaxed);
        r->peak_freed_bytes = atomic_load_explicit(&r->freed_bytes, memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&r->freed_256, (int64_t)weight_256, memory_order_relaxed);
    atomic_fetch_add_explicit(&r->freed_bytes, bytes, memory_order_relaxed);
}

static void unrecord(const struct heap_block *b)
{
    struct heap_row *r = row_at(b->row);
    __builtin_prefetch(r, 1);
    struct heap_thread *t = me.counts;
    uint64_t size = b->size & HEAP_BLOCK_SIZE, now = tick_now();
    uint64_t weight_256 = b->size & HEAP_BLOCK_SAMPLED ? sampling_weight_256(size) : HEAP_WHOLE;
    int64_t bytes = (int64_t)weighed(size, weight_256);
    uint64_t ns = (uint64_t)((unsigned __int128)(now - b->tick) * agent.ns_per_tick_32 >> 32);
    struct heap_class *c = &t->lifetimes[class_below(now > b->tick ? ns : 0)];
    c->objects_256 += weight_256;
    c->bytes += (uint64_t)bytes;
    if (likely(b->thread == me.number)) {
        know_peak(r);
        r->live_256 -= (int64_t)weight_256;
        r->live_bytes -= bytes;
        if (((t->allocations - b->serial) & (SERIALS - 1)) <= 1)
            r->temporary_256 += weight_256;
    } else {
        free_by_other(rest_at(b->row), weight_256, bytes);
    }
    add_live(-bytes);
    if (unlikely(agent.wants_blocks))
        blocks_write(&(struct heap_freed){.block = *b, .freed_tick = now});
}

bool track_free(void *p, struct heap_block *out)
{
    struct heap_thread *t = me.counts;
    t->frees++;
    if (!live_take((uint64_t)p, out)) {
        if (agent.mode == HEAP_EXACT)
            count_up(&area()->unknown_frees, 1);
        return false;
    }
    t->freed_bytes += out->size & HEAP_BLOCK_SIZE;
    unrecord(out);
    return true;
}

/* As if it had never been freed; it is the same block at the same place, still from the stack that made it. */
void track_again(const struct heap_block *b)
{
    struct heap_thread *t = me.counts;
    uint64_t size = b->size & HEAP_BLOCK_SIZE;
    uint64_t weight_256 = b->size & HEAP_BLOCK_SAMPLED ? sampling_weight_256(size) : HEAP_WHOLE;
    int64_t bytes = (int64_t)weighed(size, weight_256);
    t->frees--;
    t->freed_bytes -= size;
    if (!live_put(b))
        return;
    free_by_other(rest_at(b->row), -weight_256, -bytes);
    add_live(bytes);
}
