/*
 * span_memory.h - what was allocated from the beginning to the end of a span
 *
 * Spans of phases and requests carry labels "allocations" and "allocated" (bytes) where the heap was recorded beside them, or the
 * program told the library itself: differences of counters, so exact in every mode. A thread's own: what others did for the
 * same request is in their spans.
 *
 *     struct span_memory m;
 *     if (span_memory_of(&m, p, span)) ...
 */
#pragma once
#include "model/profile.h"

struct span_memory {
    int64_t allocations, bytes;
};

bool span_memory_of(struct span_memory *m, const struct profile *p, const struct span *s); /* false: nobody counted */

/*
 * How many tokens a run made: its spans of that kind; where there are none, what its counter "tokens" came to (of several processes, each
 * by itself, the largest). 0: nobody said.
 */
uint64_t tokens_of_run(const struct profile *p);
