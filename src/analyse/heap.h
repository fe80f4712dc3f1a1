/*
 * heap.h - where memory went: allocated, live, live at the peak, by function path
 *
 * Rows of the sample set "heap" are changes: of one stack, what was allocated and what was freed since the last time it was
 * written. Added up over all rows they are the whole run, up to a moment they are the state at that moment. Here they are
 * added up by function path (a node of the call tree), by thread, and altogether:
 *
 *     allocated    alloc_objects, alloc_space     everything that was ever asked for
 *     live         inuse_objects, inuse_space     of it, what was not freed until the end
 *     at the peak  peak_objects, peak_space       of it, what was live when most was
 *     temporary    temporary                      freed by the thread that asked, with at most one other allocation in between
 *
 * The counters of the recorder (facts) are exact in every mode; in sampled mode the rows are estimates, unbiased, and each
 * carries its variance. Files of other profilers with measures of these names are heaps as well; what they do not tell is
 * HEAP_UNKNOWN, not zero.
 *
 *     own(heap) struct heap h;
 *     if (heap_of(&h, p, false)) ...
 *
 * Owns: its rows and the tree. The profile is borrowed.
 */
#pragma once
#include "analyse/call_tree.h"

#define HEAP_UNKNOWN INT64_MIN

enum heap_measure {
    HEAP_ALLOCS, HEAP_BYTES, HEAP_LIVE, HEAP_LIVE_BYTES, HEAP_PEAK, HEAP_PEAK_BYTES, HEAP_TEMPORARY, HEAP_SAMPLES,
    HEAP_MEASURES
};

struct heap_sums {
    int64_t of[HEAP_MEASURES]; /* HEAP_UNKNOWN where the profile has no such measure */
    double variance;           /* of HEAP_BYTES, bytes squared; 0: exact */
};

struct heap_row {
    uint32_t node; /* of the tree: where the path ends */
    struct heap_sums sums;
};

struct heap_thread {
    thread_id thread;
    struct heap_sums sums;
};

/* What the recorder counted itself; HEAP_UNKNOWN: it did not say, or the profile is a part of the file. */
struct heap_counters {
    int64_t allocations, frees, allocated_bytes, freed_bytes, live_bytes, live_blocks, peak_bytes, peak_time_ns;
    int64_t unknown_frees, unseen;
};

struct heap {
    const struct profile *p;
    const struct sample_set *set;
    size_t measures[HEAP_MEASURES]; /* where in the set; set->n_measures: nowhere */

    struct call_tree tree;
    uint32_t *node_of; /* by stack id */
    struct heap_row *rows; /* paths that something was allocated at, in order of node */
    size_t n;
    struct heap_thread *threads; /* most bytes first */
    size_t n_threads;
    struct heap_sums whole;

    struct heap_counters counted;
    struct view mode, allocator, note; /* "" where nobody said */
    int64_t period;                    /* bytes between two samples, in the middle; 0: exact or unknown */
    bool is_sampled;                   /* rows are estimates */
    bool knows_requests;               /* of what is live, whom it was made for (set "heap.left") */
};

/* The samples of memory: those called "heap", else the first that have bytes of allocations; NULL: none. */
const struct sample_set *heap_set(const struct profile *p);

/* Every allocation was recorded: a difference of two such heaps is one, not chance. */
bool heap_is_exact(const struct profile *p, const struct sample_set *set);

/* False: there is none. A filtered profile is a part of a file, and the counters are of all of it. */
bool heap_of(struct heap *h, const struct profile *p, bool filtered);
void heap_done(struct heap *h);
DEFINE_OWN_IN_PLACE(heap, struct heap)

bool heap_has(const struct heap *h, enum heap_measure m);
int64_t heap_value(const struct heap *h, enum heap_measure m, size_t sample); /* 0 where there is no such measure */
int64_t heap_sum(int64_t a, int64_t b); /* stops at the ends of 64 bits: a file may say anything */

/* Adding up: begin with nothing, then sample after sample. */
void heap_sums_init(struct heap_sums *s, const struct heap *h);
void heap_sums_add(struct heap_sums *s, const struct heap *h, size_t sample);

/* The first time at or after t at which rows were written: then the state is known. TIME_NONE: none were. */
uint64_t heap_known_at(const struct heap *h, uint64_t t);
uint64_t heap_known_before(const struct heap *h, uint64_t t); /* when it was last read before that; 0: never */

/* One standard error of a row's bytes; of its live or peak bytes, as if the blocks of a path were alike; NAN: unknown. */
double heap_error(const struct heap_sums *s, enum heap_measure m);
double heap_mean_size(const struct heap_sums *s); /* of an allocation; NAN */

/* Indexes of rows with more than nothing of a measure, most first; equal ones by bytes, then by path. The caller's to free. */
size_t *heap_ranked(const struct heap *h, enum heap_measure by, size_t *out_n);

/* The functions of a path, the allocating one first; returns how many, of which at most `most` are written. */
size_t heap_path(const struct call_tree *t, uint32_t node, func_id *out, size_t most);
