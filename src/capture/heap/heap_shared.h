/*
 * heap_shared.h - the recorder's end of the memory it shares with heap agents in targets
 *
 * The layout is in include/inferom/heap_wire.h. What is in there was written by a program we know nothing about. So every
 * value is read once, into memory of our own, and checked against what is possible; sizes are the ones the
 * memory was made with. Nobody can make us read outside of it, wait, or loop.
 *
 *     own(heap_shared) struct heap_shared *s = NULL;
 *     if (!heap_shared_new(&s, &plan, e)) ...
 *     for (uint32_t i = 0; i < HEAP_PROCESSES; i++)
 *         if (heap_shared_process(s, i, &p)) ... heap_shared_area(s, i) ...
 *     heap_shared_release(s, i);                    // the process is gone and all is read
 *
 * Owns:     the memory and its descriptor; areas are mapped when they are first asked for.
 * Threads:  one at a time.
 * Fails:    heap_shared_new(): the system has no such memory for us.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "capture/shared_memory.h"
#include "inferom/heap_wire.h"
#include <stdbool.h>
#include <sys/types.h>

struct heap_shared_plan {
    enum heap_mode mode;
    uint64_t period_bytes, calm_per_s;
    uint32_t most_depth;
    bool wants_blocks;
};

struct heap_shared;

bool heap_shared_new(struct heap_shared **out, const struct heap_shared_plan *plan, struct err *e) MUST_CHECK;
void heap_shared_free(struct heap_shared *s); /* NULL is fine; tells agents to stop */
DEFINE_OWN(heap_shared, struct heap_shared *)

void heap_shared_stop(struct heap_shared *s); /* agents leave off, within some thousand allocations */
int heap_shared_fd(const struct heap_shared *s);
uint64_t heap_shared_trouble(const struct heap_shared *s, enum heap_trouble t);

/* One process that has taken an area, as it says. */
struct heap_claim {
    int32_t pid, parent_pid;
    enum heap_origin origin;
    uint64_t began_ns, began_tick;
};

bool heap_shared_process(const struct heap_shared *s, uint32_t i, struct heap_claim *out); /* false: nobody, or it makes no sense */
uint8_t *heap_shared_area(struct heap_shared *s, uint32_t i);                              /* NULL: no room for it here */
void heap_shared_release(struct heap_shared *s, uint32_t i);
void heap_shared_punch(struct heap_shared *s, uint32_t i, uint64_t at, uint64_t bytes); /* of an area: all zero again */

/*
 * Pages of an area that nobody wrote to do not exist, and who looks makes them: a target that says its tables are full would have us fill
 * the machine's memory with zeros. So we ask first.
 */
bool heap_shared_stretch(const struct heap_shared *s, uint32_t i, uint64_t at, uint64_t end, uint64_t *out_from, uint64_t *out_to);
bool heap_shared_is_there(const struct heap_shared *s, uint32_t i, uint64_t at, uint64_t bytes);

/* Items of a table, those that may have been written: for (uint32_t k; (k = heap_items_next(&all)) < n;). */
struct heap_items {
    const struct heap_shared *shared;
    uint32_t area;
    uint64_t at, stride;
    uint32_t next, there_until, n;
};
uint32_t heap_items_next(struct heap_items *all); /* n: there are no more */

/* The clock of blocks, in nanoseconds of CLOCK_MONOTONIC, as well as it is known by now. */
uint64_t heap_shared_ns(const struct heap_shared *s, uint64_t tick);
void heap_shared_tick(struct heap_shared *s); /* look at both clocks once more */
bool heap_shared_counts_ticks(const struct heap_shared *s); /* of the processor's counter; else the clock is CLOCK_MONOTONIC itself */
uint64_t heap_shared_period(const struct heap_shared *s);   /* bytes between two samples */
