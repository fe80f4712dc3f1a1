/*
 * heap_counters.h - what a thread has allocated so far, counted by the heap agent
 *
 * libinferom_heap.so, when it is in a process, counts the allocations of every thread. Who wants
 * them (a scope, at its beginning and at its end) refers to the function weakly and subtracts:
 *
 *     if (inferom_heap_counters) {
 *         const struct inferom_heap_counters *now = inferom_heap_counters();
 *         ...now->bytes - before.bytes...
 *     }
 *
 * The pointer stays good as long as the thread lives; only that thread writes there. Counts are
 * exact in every mode, also when only samples of the stacks are kept.
 *
 * Threads: any; each gets its own. Fails: never; a thread that has none yet gets zeros.
 */
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct inferom_heap_counters {
    uint64_t allocations; /* malloc and its relatives; realloc that moves or grows is one, and a free */
    uint64_t bytes;       /* asked for */
    uint64_t frees;
    uint64_t freed_bytes; /* of blocks whose size is known: all in exact mode, as glibc gives them in the others */
};

const struct inferom_heap_counters *inferom_heap_counters(void) __attribute__((weak));

/*
 * The other way round: libinferom says how to ask for the innermost scope of the calling thread (inferom_scope_here()), and
 * allocations are kept apart by it. NULL: there is nobody to ask any more.
 */
void inferom_heap_scope(uint32_t (*here)(void)) __attribute__((weak));

/* What the calling thread allocates and maps between the two is ours and not the program's: nobody counts it. */
void inferom_heap_look_away(void) __attribute__((weak));
void inferom_heap_look_again(void) __attribute__((weak));

#ifdef __cplusplus
}
#endif
