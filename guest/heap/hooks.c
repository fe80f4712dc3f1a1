/*
 * The functions of the allocator, each the same: the real one does the work, and we write down what happened.
 *
 * A block is taken out of our table before it is really freed: between the two, another thread may get the same
 * address. For the same reason realloc() is a free before the real call, and an allocation behind it; when it
 * fails, the block is put back.
 *
 * What was allocated before the real functions were known is in early.c's pool, and recognised by its address.
 */
#include "agent.h"
#include "inferom/heap_counters.h"
#include "operators.h"
#include "real.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the headers of libc have reserved names */

__attribute__((noinline)) static void record(void *p, size_t size, const struct here *from)
{
    if (!enter(from->sp))
        return;
    track_allocation(p, size, from);
    leave();
}

static inline bool is_inside(void) { return unlikely(me.guard || !me.counts); }

static inline __attribute__((always_inline)) void note(void *p, size_t size, const struct here *from)
{
    if (p && agent_is_on() && (is_inside() || !is_only_counted(size)))
        record(p, size, from);
}

/* True: there was a block, and it can be put back. */
__attribute__((noinline)) static bool unrecord(void *p, uint64_t sp, struct heap_block *out)
{
    if (!enter(sp))
        return false;
    bool is_known = track_free(p, out);
    leave();
    return is_known;
}

static inline __attribute__((always_inline)) bool note_free(void *p, uint64_t sp, struct heap_block *out)
{
    return agent_is_on() && (is_inside() || !is_only_freed((uint64_t)p)) && unrecord(p, sp, out);
}

static void note_kept(const struct heap_block *b, uint64_t sp)
{
    if (!agent_is_on() || !enter(sp))
        return;
    track_again(b);
    leave();
}

static inline bool is_ready(void) { return likely(real.malloc) || (real_find() && real.malloc); }

EXPORT void *malloc(size_t n)
{
    struct here from = HERE();
    if (!is_ready())
        return early_new(n, 0);
    void *p = real.malloc(n);
    note(p, n, &from);
    return p;
}

EXPORT void *calloc(size_t count, size_t size)
{
    struct here from = HERE();
    if (!is_ready()) {
        size_t all;
        return __builtin_mul_overflow(count, size, &all) ? NULL : early_new(all, 0); /* never used before: zero */
    }
    void *p = real.calloc(count, size);
    note(p, count * size, &from);
    return p;
}

EXPORT void free(void *p)
{
    struct heap_block b;
    if (!p || early_has(p) || !is_ready())
        return;
    note_free(p, (uint64_t)__builtin_dwarf_cfa(), &b);
    real.free(p);
}

static void *realloc_early(void *p, size_t n)
{
    void *fresh = is_ready() ? real.malloc(n) : early_new(n, 0);
    size_t old = early_size(p);
    if (fresh)
        memcpy(fresh, p, old < n ? old : n);
    return fresh;
}

static void *realloc_from(void *old, size_t n, const struct here *from)
{
    struct heap_block b;
    if (old && early_has(old)) {
        void *fresh = realloc_early(old, n);
        if (!early_has(fresh))
            note(fresh, n, from);
        return fresh;
    }
    if (!is_ready())
        return early_new(n, 0);
    bool is_known = old && note_free(old, from->sp, &b);
    void *p = real.realloc(old, n);
    if (p)
        note(p, n, from);
    else if (is_known && n)
        note_kept(&b, from->sp);
    return p;
}

EXPORT void *realloc(void *old, size_t n)
{
    struct here from = HERE();
    return realloc_from(old, n, &from);
}

EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
    struct here from = HERE();
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc_from(old, all, &from);
}

EXPORT int posix_memalign(void **out, size_t align, size_t n)
{
    struct here from = HERE();
    if (!is_ready() || !real.posix_memalign) {
        *out = early_new(n, align);
        return *out ? 0 : ENOMEM;
    }
    int bad = real.posix_memalign(out, align, n);
    if (!bad)
        note(*out, n, &from);
    return bad;
}

/* The three that take an alignment and return a block, and the two that align to a page. */
typedef void *aligned_function(size_t, size_t);

static void *aligned_from(aligned_function *f, size_t align, size_t n, const struct here *from)
{
    if (!f) {
        errno = ENOMEM;
        return NULL;
    }
    void *p = f(align, n);
    note(p, n, from);
    return p;
}

EXPORT void *aligned_alloc(size_t align, size_t n)
{
    struct here from = HERE();
    return is_ready() ? aligned_from(real.aligned_alloc, align, n, &from) : early_new(n, align);
}

EXPORT void *memalign(size_t align, size_t n)
{
    struct here from = HERE();
    return is_ready() ? aligned_from(real.memalign, align, n, &from) : early_new(n, align);
}

EXPORT void *valloc(size_t n)
{
    struct here from = HERE();
    void *p = is_ready() && real.valloc ? real.valloc(n) : early_new(n, 4096);
    if (!early_has(p))
        note(p, n, &from);
    return p;
}

EXPORT void *pvalloc(size_t n)
{
    struct here from = HERE();
    void *p = is_ready() && real.pvalloc ? real.pvalloc(n) : early_new((n + 4095) & ~(size_t)4095, 4096);
    if (!early_has(p))
        note(p, n, &from);
    return p;
}

EXPORT size_t malloc_usable_size(void *p)
{
    if (!p)
        return 0;
    if (early_has(p) || !is_ready() || !real.malloc_usable_size)
        return early_has(p) ? early_size(p) : 0;
    return real.malloc_usable_size(p);
}

/* Other names of free(): an old one, and those of C23. */
void cfree(void *p);
void free_sized(void *p, size_t n);
void free_aligned_sized(void *p, size_t align, size_t n);

static void free_from(void *p, uint64_t sp)
{
    struct heap_block b;
    if (!p || early_has(p) || !is_ready())
        return;
    note_free(p, sp, &b);
    real.free(p);
}

EXPORT void cfree(void *p) { free_from(p, (uint64_t)__builtin_dwarf_cfa()); }
EXPORT void free_sized(void *p, size_t n)
{
    (void)n;
    free_from(p, (uint64_t)__builtin_dwarf_cfa());
}
EXPORT void free_aligned_sized(void *p, size_t align, size_t n)
{
    (void)align;
    (void)n;
    free_from(p, (uint64_t)__builtin_dwarf_cfa());
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

EXPORT void inferom_heap_allocated(void *p, size_t size, uint64_t pc, uint64_t sp, uint64_t fp)
{
    note(p, size, &(struct here){pc, sp, fp});
}

EXPORT void inferom_heap_freed(void *p, uint64_t sp)
{
    struct heap_block b;
    note_free(p, sp, &b);
}

static_assert(offsetof(struct heap_thread, freed_bytes) - offsetof(struct heap_thread, allocations) ==
                  offsetof(struct inferom_heap_counters, freed_bytes),
              "the counters of a thread are what others may read");

EXPORT const struct inferom_heap_counters *inferom_heap_counters(void)
{
    static const struct inferom_heap_counters none;
    bool is_there = me.counts || (agent_is_on() && !me.guard && thread_take());
    if (!is_there || me.number == 0)
        return &none;
    return (const struct inferom_heap_counters *)(const void *)&me.counts->allocations;
}

EXPORT void inferom_heap_look_away(void)
{
    if (!me.guard)
        me.guard = GUARD_OURS;
}

EXPORT void inferom_heap_look_again(void)
{
    if (me.guard == GUARD_OURS)
        me.guard = 0;
}
