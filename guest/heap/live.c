/*
 * Blocks that are in use, by address. There is no lock: a place belongs to whoever changed its address from nothing to BUSY, and from an address
 * to FREED; since an address is in use once at a time, nobody else is after the same one.
 *
 *     level 0   [ . . A . B C . ... ]     4096 places; a block is within 8 of where its hash says
 *     level 1   [ . . . . D . . . . . . . . . . ... ]     four times as many, for those that found no place
 *     ...
 *
 * The levels grow, no block ever moves, and nobody waits for anybody. What found no place on the first level is on the second; a program with few
 * blocks touches few pages. The hash has a secret of its own in every process, so no pattern of addresses is a bad
 * one. When there is no place on any level the block is not kept, and counted.
 *
 * In front is a filter of small counters: where most blocks are not recorded, it says at the cost of one load that this
 * one was not. A counter that is full stays full.
 */
#include "agent.h"

_Atomic uint8_t live_filter[HEAP_FILTER];

static uint64_t hash_of(uint64_t address) { return mix(agent.seed, address >> 3); }

static struct heap_block *place_at(uint32_t level, uint64_t i)
{
    struct heap_block *first = (struct heap_block *)(void *)(agent.area + HEAP_LIVE_LEVEL_AT(level));
    return &first[i & (HEAP_LEVEL_BLOCKS(level) - 1)];
}

static void filter_add(uint64_t address)
{
    _Atomic uint8_t *f = live_filter_of(address);
    uint8_t n = atomic_load_explicit(f, memory_order_relaxed);
    while (n < UINT8_MAX && !atomic_compare_exchange_weak_explicit(f, &n, (uint8_t)(n + 1), memory_order_relaxed, memory_order_relaxed))
        ;
}

static void filter_remove(uint64_t address)
{
    _Atomic uint8_t *f = live_filter_of(address);
    uint8_t n = atomic_load_explicit(f, memory_order_relaxed);
    while (n && n < UINT8_MAX &&
           !atomic_compare_exchange_weak_explicit(f, &n, (uint8_t)(n - 1), memory_order_relaxed, memory_order_relaxed))
        ;
}

static struct heap_block *claim(uint32_t level, uint64_t hash)
{
    for (uint32_t i = 0; i < HEAP_BLOCK_PROBES; i++) {
        struct heap_block *b = place_at(level, (hash >> 16) + i);
        uint64_t at = atomic_load_explicit(&b->address, memory_order_relaxed);
        if (at <= HEAP_BLOCK_FREED &&
            atomic_compare_exchange_strong_explicit(&b->address, &at, HEAP_BLOCK_BUSY, memory_order_acquire, memory_order_relaxed))
            return b;
    }
    return NULL;
}

/* On the first level that has a place. A new level is in use before anybody looks for the block. */
static struct heap_block *claim_any(uint64_t hash)
{
    struct heap_block *b = claim(0, hash);
    for (uint32_t level = 1; unlikely(!b) && level < agent.levels; level++) {
        uint32_t used = atomic_load_explicit(&area()->levels, memory_order_relaxed);
        while (used <= level && !atomic_compare_exchange_weak(&area()->levels, &used, level + 1))
            ;
        b = claim(level, hash);
    }
    return b;
}

void live_expect(uint64_t address) { __builtin_prefetch(place_at(0, hash_of(address) >> 16), 1); }

bool live_put(const struct heap_block *b)
{
    uint64_t address = atomic_load_explicit(&b->address, memory_order_relaxed), hash = hash_of(address);
    struct heap_block *to = claim_any(hash);
    if (unlikely(!to))
        return false;
    to->size = b->size;
    to->tick = b->tick;
    to->row = b->row;
    to->thread = b->thread;
    to->serial = b->serial;
    atomic_store_explicit(&to->address, address, memory_order_release);
    if (agent.mode != HEAP_EXACT)
        filter_add(address);
    return true;
}

static bool take(uint32_t level, uint64_t hash, uint64_t address, struct heap_block *out)
{
    for (uint32_t i = 0; i < HEAP_BLOCK_PROBES; i++) {
        struct heap_block *b = place_at(level, (hash >> 16) + i);
        uint64_t at = atomic_load_explicit(&b->address, memory_order_acquire);
        if (at == HEAP_BLOCK_NEVER)
            return false;
        if (at != address)
            continue;
        *out = *b;
        return atomic_compare_exchange_strong_explicit(&b->address, &at, HEAP_BLOCK_FREED, memory_order_release, memory_order_relaxed);
    }
    return false;
}

bool live_take(uint64_t address, struct heap_block *out)
{
    uint64_t hash = hash_of(address);
    bool is_there = take(0, hash, address, out);
    uint32_t levels = atomic_load_explicit(&area()->levels, memory_order_relaxed);
    for (uint32_t level = 1; !is_there && level < levels && level < agent.levels; level++)
        is_there = take(level, hash, address, out);
    if (is_there && agent.mode != HEAP_EXACT)
        filter_remove(address);
    return is_there;
}

void live_forget(void)
{
    for (size_t i = 0; i < HEAP_FILTER; i++)
        atomic_store_explicit(&live_filter[i], 0, memory_order_relaxed);
}
