/*
 * Blocks that are in use, by address. There is no lock: a place in the table of all belongs to whoever changed its address from nothing to BUSY; and
 * since an address is in use once at a time, and freed once, nobody else is after the same one.
 *
 *     own, of thread 7  [ . A . . B . ... ]     4096 places; a block is within 8 of where its hash says
 *     level 0           [ . . C . . . . ... ]   of all threads: 4096 places
 *     level 1           [ . . . . D . . . . . . . . . . ... ]     four times as many, for those that found no place
 *     ...
 *
 * A page of the heap belongs to the thread that first got a block in it. What that thread allocates there goes into its own table, where no
 * other processor writes; who frees a block asks whose the page is. Everything else is in the table of all. The
 * levels grow, no block ever moves, and nobody waits for anybody. The hash has a secret of its own in every process, so no
 * pattern of addresses is a bad one. When there is no place on any level the block is not kept, and counted.
 *
 * In front is a filter of small counters: where most blocks are not recorded, it says at the cost of one load that this
 * one was not. A counter that is full stays full.
 */
#include "agent.h"

_Atomic uint8_t live_filter[HEAP_FILTER];

static _Atomic uint16_t owners[1 << 16]; /* of pages, by a hash of their number: 1 + a thread's; once said it stays */

static uint64_t hash_of(uint64_t address) { return mix(agent.seed, address >> 3); }

static struct heap_block *place_at(uint32_t level, uint64_t i)
{
    struct heap_block *first = (struct heap_block *)(void *)(agent.area + HEAP_LIVE_LEVEL_AT(level));
    return &first[i & (HEAP_LEVEL_BLOCKS(level) - 1)];
}

static struct heap_block *own_at(uint32_t thread, uint64_t i)
{
    struct heap_block *first = (struct heap_block *)(void *)(agent.area + HEAP_OWN_AT + thread * HEAP_OWN_BYTES);
    return &first[i & (HEAP_OWN_BLOCKS - 1)];
}

/* Pages side by side are side by side here, 32 to a line of the cache. */
static _Atomic uint16_t *owner_of(uint64_t address)
{
    uint64_t line = (address >> 17) * UINT64_C(0x9e3779b97f4a7c15) >> 53;
    return &owners[line << 5 | (address >> 12 & 31)];
}

/* Whose page is it? Ours, if it was nobody's. */
static bool is_my_page(uint64_t address)
{
    _Atomic uint16_t *owner = owner_of(address);
    uint16_t is = atomic_load_explicit(owner, memory_order_relaxed), mine = (uint16_t)(me.number + 1);
    return is == mine || (is == 0 && atomic_compare_exchange_strong(owner, &is, mine));
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

/* The place, if it is free and nobody else was quicker. */
static struct heap_block *claim(struct heap_block *b)
{
    uint64_t at = atomic_load_explicit(&b->address, memory_order_relaxed);
    bool is_free = at <= HEAP_BLOCK_FREED && atomic_compare_exchange_strong_explicit(&b->address, &at, HEAP_BLOCK_BUSY,
                                                                                    memory_order_acquire, memory_order_relaxed);
    return is_free ? b : NULL;
}

/* Nobody else puts anything here; others only take blocks out. So a place that is free stays so, and is ours without a word. */
static struct heap_block *claim_own(uint64_t hash)
{
    for (uint32_t i = 0; i < HEAP_BLOCK_PROBES; i++) {
        struct heap_block *b = own_at(me.number, (hash >> 16) + i);
        if (atomic_load_explicit(&b->address, memory_order_acquire) <= HEAP_BLOCK_FREED)
            return b;
    }
    return NULL;
}

/* On the first level that has a place. A new level is in use before anybody looks for the block. */
COLD static struct heap_block *claim_any(uint64_t hash)
{
    struct heap_block *b = NULL;
    for (uint32_t level = 0; !b && level < agent.levels; level++) {
        uint32_t used = atomic_load_explicit(&area()->levels, memory_order_relaxed);
        while (used <= level && !atomic_compare_exchange_weak(&area()->levels, &used, level + 1))
            ;
        for (uint32_t i = 0; !b && i < HEAP_BLOCK_PROBES; i++)
            b = claim(place_at(level, (hash >> 16) + i));
    }
    return b;
}

void live_expect(uint64_t address) { __builtin_prefetch(own_at(me.number, hash_of(address) >> 16), 1); }

bool live_put(const struct heap_block *b)
{
    uint64_t address = atomic_load_explicit(&b->address, memory_order_relaxed), hash = hash_of(address);
    struct heap_block *to = is_my_page(address) ? claim_own(hash) : NULL;
    if (!to)
        to = claim_any(hash);
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

enum found { FOUND, NOT_HERE, NOT_NEAR };

static inline enum found take(struct heap_block *b, uint64_t address, struct heap_block *out)
{
    uint64_t at = atomic_load_explicit(&b->address, memory_order_acquire);
    if (at != address)
        return at == HEAP_BLOCK_NEVER ? NOT_NEAR : NOT_HERE;
    *out = *b;
    atomic_store_explicit(&b->address, HEAP_BLOCK_FREED, memory_order_release); /* a block is freed once: nobody else is after it */
    return FOUND;
}

static bool take_own(uint64_t hash, uint64_t address, struct heap_block *out)
{
    uint32_t owner = atomic_load_explicit(owner_of(address), memory_order_relaxed);
    enum found found = owner ? NOT_HERE : NOT_NEAR;
    for (uint32_t i = 0; found == NOT_HERE && i < HEAP_BLOCK_PROBES; i++)
        found = take(own_at(owner - 1, (hash >> 16) + i), address, out);
    return found == FOUND;
}

static bool take_any(uint64_t hash, uint64_t address, struct heap_block *out)
{
    uint32_t levels = atomic_load_explicit(&area()->levels, memory_order_relaxed);
    for (uint32_t level = 0; level < levels && level < agent.levels; level++) {
        enum found found = NOT_HERE;
        for (uint32_t i = 0; found == NOT_HERE && i < HEAP_BLOCK_PROBES; i++)
            found = take(place_at(level, (hash >> 16) + i), address, out);
        if (found == FOUND)
            return true;
    }
    return false;
}

bool live_take(uint64_t address, struct heap_block *out)
{
    uint64_t hash = hash_of(address);
    if (!take_own(hash, address, out) && !take_any(hash, address, out))
        return false;
    if (agent.mode != HEAP_EXACT)
        filter_remove(address);
    return true;
}

void live_forget(void)
{
    for (size_t i = 0; i < HEAP_FILTER; i++)
        atomic_store_explicit(&live_filter[i], 0, memory_order_relaxed);
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        atomic_store_explicit(&owners[i], 0, memory_order_relaxed);
}
