/*
 * counted_calls.h - profiles that know how often each function was called
 *
 * A tracing profiler such as Python's cProfile keeps no stacks. It keeps one row
 * per function and one per pair of caller and callee, each with counts and times:
 *
 *     fib        528 calls, 1 of them primitive (not recursive), self 90 us, cumulative 90 us
 *     main > fib   1 call,  ...
 *     fib > fib  527 calls, ...
 *
 * What is known and nothing else goes into a profile, in two sample sets:
 *
 *     "functions"   a sample per function; its stack is the one frame
 *     "calls"       a sample per pair; its stack is the caller and the callee
 *
 * with these measures, where the source has them:
 *
 *     calls, primitive calls, self (ns), cumulative (ns)
 *
 * Self times of "functions" add up to the whole, so a table of functions is exact.
 * The pairs repeat the same time seen along the edges: the two sets are two views
 * of one truth and are never added up, which is why they are two sets. Views that
 * want real stacks (a flame graph) see stacks of one frame: nobody recorded more.
 *
 * A sampling profiler that writes the same table counts samples instead of calls:
 * "stack samples" (while the function was on the stack) and "samples" (on top).
 */
#pragma once
#include "model/builder.h"

enum counted { COUNTED_CALLS, COUNTED_PRIMITIVE, COUNTED_SELF, COUNTED_CUMULATIVE, COUNTED_COUNT };

/* The sets and measures of the two kinds, for readers. One measure of "calls" alone when `only_counts`. */
set_id counted_functions_set(struct builder *b, bool is_sampled);
set_id counted_calls_set(struct builder *b, bool is_sampled, bool only_counts);

/* What a profile has of it. */
struct counted_calls {
    const struct sample_set *functions;
    bool is_sampled;
};

/* False: the profile does not count calls; it has stacks, or nothing. */
bool counted_calls_of(const struct profile *p, struct counted_calls *out);

/* Is this one of the sets of pairs? There are two where some pairs have times and others have not. */
bool counted_is_calls(const struct profile *p, const struct sample_set *set, const struct counted_calls *of);

/* A pair: false for what is none (its stack has not two frames, after frames were hidden). */
bool counted_pair(const struct profile *p, stack_id stack, frame_id *out_caller, frame_id *out_callee);
