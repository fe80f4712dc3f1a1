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

static void put(struct row_entry *map, uint64_t mask, struct row_entry e)
{
    uint64_t i = e.hash & mask;
    while (map[i].hash)
        i = (i + 1) & mask;
    map[i] = e;
}

/* The number of entries is in the last one, which is never used for another: its place is behind the mask. */
static struct row_entry *count_of(struct row_entry *map, uint64_t mask) { return &map[mask + 1]; }

COLD static bool grow(void)
{
    uint64_t old_mask = me.rows_mask, entries = me.rows ? 2 * (old_mask + 1) : FIRST_ENTRIES;
    struct row_entry *map = fresh_memory((entries + 1) * sizeof *map), *old = me.rows;
    if (!map)
        return false;
    for (uint64_t i = 0; old && i <= old_mask; i++)
        if (old[i].hash)
            put(map, entries - 1, old[i]);
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
    if (!me.rows || 4 * (uint64_t)count_of(me.rows, me.rows_mask)->row > 3 * me.rows_mask)
        if (!grow() && !me.rows)
            return row;
    if (count_of(me.rows, me.rows_mask)->row + 2 > me.rows_mask)
        return row; /* no memory for a larger map: this stack gets a row each time */
    count_of(me.rows, me.rows_mask)->row++;
    put(me.rows, me.rows_mask, (struct row_entry){.hash = hash, .row = row});
    return row;
}

uint32_t row_number(uint64_t hash, const struct walk *w)
{
    uint32_t scope = scope_here ? scope_here() : 0;
    hash ^= scope * UINT64_C(0x9e3779b97f4a7c15);
    hash |= !hash;
    if (likely(me.rows != NULL))
        for (uint64_t i = hash & me.rows_mask; me.rows[i].hash; i = (i + 1) & me.rows_mask)
            if (likely(me.rows[i].hash == hash))
                return me.rows[i].row;
    return make(hash, w, scope);
}
