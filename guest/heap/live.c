/*
 * Blocks that are in use, by address: 256 shards, each an open table under a lock of its own that doubles when it is
 * three quarters full. The hash has a secret of its own in every process, so no pattern of addresses is a bad one.
 *
 * A shard that grows moves to its place on the next level, in the same file, and gives the old pages back. When
 * there are no more levels the block is not kept, and counted.
 *
 * In front is a filter of small counters: where most blocks are not recorded, it says at the cost of one load that this
 * one was not. A counter that is full stays full.
 */
#include "agent.h"
#include "sampler/bare_calls.h"

#include <sys/mman.h>

enum { FILTER = 1 << 16 };

static _Atomic uint8_t filter[FILTER];

static struct heap_shard *shard_at(uint32_t i)
{
    return (struct heap_shard *)(void *)(agent.area + HEAP_SHARDS_AT + i * sizeof(struct heap_shard));
}

static struct heap_block *blocks_of(uint32_t shard, uint32_t level)
{
    return (struct heap_block *)(void *)(agent.area + heap_live_at(shard, level));
}

static uint64_t hash_of(uint64_t address) { return mix(agent.seed, address >> 3); }
static uint32_t shard_of(uint64_t hash) { return (uint32_t)(hash >> 56); }
static uint64_t place_of(uint64_t hash, uint64_t mask) { return hash >> 16 & mask; }
static _Atomic uint8_t *filter_of(uint64_t hash) { return &filter[hash & (FILTER - 1)]; }

static void filter_add(uint64_t hash)
{
    _Atomic uint8_t *f = filter_of(hash);
    uint8_t n = atomic_load_explicit(f, memory_order_relaxed);
    while (n < UINT8_MAX && !atomic_compare_exchange_weak_explicit(f, &n, (uint8_t)(n + 1), memory_order_relaxed, memory_order_relaxed))
        ;
}

static void filter_remove(uint64_t hash)
{
    _Atomic uint8_t *f = filter_of(hash);
    uint8_t n = atomic_load_explicit(f, memory_order_relaxed);
    while (n && n < UINT8_MAX &&
           !atomic_compare_exchange_weak_explicit(f, &n, (uint8_t)(n - 1), memory_order_relaxed, memory_order_relaxed))
        ;
}

static uint64_t mask_of(uint32_t level) { return ((uint64_t)HEAP_LEVEL_FIRST << level) - 1; }

/* One that has the same address was freed behind our back: it makes room. Its address is 0 if there was none. */
static struct heap_block put(struct heap_block *blocks, uint64_t mask, const struct heap_block *b)
{
    uint64_t i = place_of(hash_of(b->address), mask);
    while (blocks[i].address && blocks[i].address != b->address)
        i = (i + 1) & mask;
    struct heap_block before = blocks[i];
    blocks[i] = *b;
    return before;
}

COLD static bool grow(struct heap_shard *s, uint32_t shard, uint32_t level)
{
    if (level + 1 >= agent.levels)
        return false;
    struct heap_block *old = blocks_of(shard, level), *fresh = blocks_of(shard, level + 1);
    uint64_t entries = mask_of(level) + 1;
    for (uint64_t i = 0; i < entries; i++)
        if (old[i].address)
            put(fresh, mask_of(level + 1), &old[i]);
    atomic_store_explicit(&s->level, level + 1, memory_order_release);
    if (entries * sizeof *old >= 4096)
        bare_call(SYS_madvise, (long)old, (long)(entries * sizeof *old), MADV_REMOVE, 0);
    return true;
}

static bool put_in_shard(struct heap_shard *s, uint32_t shard, const struct heap_block *b, struct heap_block *out_before)
{
    uint32_t level = atomic_load_explicit(&s->level, memory_order_relaxed);
    if (level >= agent.levels)
        return false;
    if (unlikely(s->used * UINT64_C(4) >= (mask_of(level) + 1) * 3)) {
        if (!grow(s, shard, level) && s->used + 8 > mask_of(level))
            return false;
        level = atomic_load_explicit(&s->level, memory_order_relaxed);
    }
    *out_before = put(blocks_of(shard, level), mask_of(level), b);
    s->used += !out_before->address;
    return true;
}

bool live_put(const struct heap_block *b, struct heap_block *out_before)
{
    out_before->address = 0;
    uint64_t hash = hash_of(b->address);
    uint32_t shard = shard_of(hash);
    struct heap_shard *s = shard_at(shard);
    if (!lock_take(&s->lock))
        return false;
    bool ok = put_in_shard(s, shard, b, out_before);
    lock_give(&s->lock);
    if (ok && agent.mode != HEAP_EXACT && !out_before->address)
        filter_add(hash);
    return ok;
}

/* Those behind move up, so that no gap parts anyone from the place its hash says. */
static void close_gap(struct heap_block *blocks, uint64_t mask, uint64_t gap)
{
    for (uint64_t i = (gap + 1) & mask; blocks[i].address; i = (i + 1) & mask) {
        uint64_t home = place_of(hash_of(blocks[i].address), mask);
        if (((i - home) & mask) < ((i - gap) & mask))
            continue;
        blocks[gap] = blocks[i];
        gap = i;
    }
    blocks[gap].address = 0;
}

static bool take_from_shard(struct heap_shard *s, uint32_t shard, uint64_t hash, uint64_t address, struct heap_block *out)
{
    uint32_t level = atomic_load_explicit(&s->level, memory_order_relaxed);
    if (level >= agent.levels)
        return false;
    struct heap_block *blocks = blocks_of(shard, level);
    uint64_t mask = mask_of(level), i = place_of(hash, mask);
    while (blocks[i].address && blocks[i].address != address)
        i = (i + 1) & mask;
    if (!blocks[i].address)
        return false;
    *out = blocks[i];
    close_gap(blocks, mask, i);
    s->used -= s->used > 0;
    return true;
}

bool live_take(uint64_t address, struct heap_block *out)
{
    uint64_t hash = hash_of(address);
    if (agent.mode != HEAP_EXACT && likely(!atomic_load_explicit(filter_of(hash), memory_order_relaxed)))
        return false;
    uint32_t shard = shard_of(hash);
    struct heap_shard *s = shard_at(shard);
    if (!lock_take(&s->lock)) {
        count_up(&area()->unseen, 1);
        return false;
    }
    bool is_there = take_from_shard(s, shard, hash, address, out);
    lock_give(&s->lock);
    if (is_there && agent.mode != HEAP_EXACT)
        filter_remove(hash);
    return is_there;
}

void live_forget(void)
{
    for (size_t i = 0; i < FILTER; i++)
        atomic_store_explicit(&filter[i], 0, memory_order_relaxed);
}
