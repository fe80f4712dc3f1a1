/*
 * Rows of a thread: a map of its own, from the hash of a stack and the scope it was in to the number of its row. Nobody else looks into it, so there is no
 * lock; it grows by doubling, in memory of our own. The new map is whole before it is used: a signal handler that
 * comes between finds the old one.
 */
#include "agent.h"
#include "inferom/heap_counters.h"
#include "common/bare_calls.h"

#include <sys/mman.h>

enum { FIRST_ENTRIES = 256 };

static void *fresh_memory(uint64_t bytes)
{
#if defined(__x86_64__)
    register long r10 __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS;
    register long r8 __asm__("r8") = -1;
    register long r9 __asm__("r9") = 0;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_mmap), "D"(0), "S"(bytes), "d"(PROT_READ | PROT_WRITE), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
#else
    register long x8 __asm__("x8") = SYS_mmap;
    register long x0 __asm__("x0") = 0;
    register long x1 __asm__("x1") = (long)bytes;
    register long x2 __asm__("x2") = PROT_READ | PROT_WRITE;
    register long x3 __asm__("x3") = MAP_PRIVATE | MAP_ANONYMOUS;
    register long x4 __asm__("x4") = -1;
    register long x5 __asm__("x5") = 0;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    long result = x0;
#endif
    return result < 0 && result > -4096 ? NULL : (void *)result; /* NOLINT: an address */
}

/*
 * An entry is one word, so that the map stays in a near cache: the number of the row below, above it what it leaves of the hash. The bits it
 * takes away say where the entry is, so that two stacks are never one by chance; its row has them, for when the map grows.
 */
static bool is_of(uint64_t entry, uint64_t hash) { return (entry ^ hash) < HEAP_ROWS_MOST; }
static uint32_t row_of(uint64_t entry) { return (uint32_t)entry & (HEAP_ROWS_MOST - 1); }

static void put(uint64_t *map, uint64_t mask, uint64_t hash_low, uint64_t entry)
{
    uint64_t i = hash_low & mask;
    while (map[i])
        i = (i + 1) & mask;
    map[i] = entry;
}

/* The number of entries is behind the last one. */
static uint64_t *count_of(uint64_t *map, uint64_t mask) { return &map[mask + 1]; }

COLD static bool grow(void)
{
    uint64_t old_mask = me.rows_mask, entries = me.rows ? 2 * (old_mask + 1) : FIRST_ENTRIES;
    uint64_t *map = fresh_memory((entries + 1) * sizeof *map), *old = me.rows;
    if (!map)
        return false;
    for (uint64_t i = 0; old && i <= old_mask; i++)
        if (old[i])
            put(map, entries - 1, rest_at(row_of(old[i]))->hash_low, old[i]);
    if (old)
        *count_of(map, entries - 1) = *count_of(old, old_mask);
    me.rows = NULL;
    __asm__ volatile("" ::: "memory");
    me.rows_mask = entries - 1;
    me.rows = map;
    if (old)
        bare_call(SYS_munmap, (long)old, (long)((old_mask + 2) * sizeof *old), 0, 0);
    return true;
}

static uint32_t (*scope_here)(void); /* libinferom's, when it is in this process */

EXPORT void inferom_heap_scope(uint32_t (*here)(void)) { scope_here = here; }

COLD static uint32_t make(uint64_t hash, const struct walk *w, uint32_t scope)
{
    uint32_t stack = stack_number(w);
    uint32_t row = atomic_fetch_add_explicit(&area()->rows, 1, memory_order_relaxed);
    if (row >= HEAP_ROWS_MOST) {
        atomic_store_explicit(&area()->rows, HEAP_ROWS_MOST, memory_order_relaxed);
        return 0;
    }
    struct heap_row_rest *r = rest_at(row);
    r->thread = me.number;
    r->stack = stack;
    r->scope = scope;
    r->hash_low = (uint32_t)hash;
    if (!me.rows || 4 * *count_of(me.rows, me.rows_mask) > 3 * me.rows_mask)
        if (!grow() && !me.rows)
            return row;
    if (*count_of(me.rows, me.rows_mask) + 2 > me.rows_mask)
        return row; /* no memory for a larger map: this stack gets a row each time */
    ++*count_of(me.rows, me.rows_mask);
    put(me.rows, me.rows_mask, hash, (hash & ~(uint64_t)(HEAP_ROWS_MOST - 1)) | row);
    return row;
}

uint32_t row_number(uint64_t hash, const struct walk *w)
{
    uint32_t scope = scope_here ? scope_here() : 0;
    hash = mix(hash, scope);
    if (likely(me.rows != NULL))
        for (uint64_t i = hash & me.rows_mask; me.rows[i]; i = (i + 1) & me.rows_mask)
            if (likely(is_of(me.rows[i], hash)))
                return row_of(me.rows[i]);
    return make(hash, w, scope);
}
