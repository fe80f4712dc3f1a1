/*
 * results.h - the trees of all threads, added up
 *
 * A path is a way to get to a scope on one thread; callers come before their callees. Lengths that were not timed are
 * as long as those that were, on average. A path is as long as it was measured to be, and what is inside it never
 * longer: so self times of a tree add up to its total, always.
 *
 *     struct results r;
 *     int error = results_take(&r);            // a negative errno: no memory
 *     ...
 *     results_free(&r);
 *
 * Threads: holds the lock against inferom_reset() from take to free.
 */
#pragma once
#include "client.h"

#define NO_CALLER UINT32_MAX

struct path {
    inferom_site *site; /* the first of its name */
    struct block *thread;
    struct node *node;
    uint32_t caller;    /* a path; NO_CALLER */
    bool is_inner;      /* a caller, or a caller's caller, is the same scope */
    uint64_t calls, timed, cut, left_out;
    uint64_t timed_total, least, most, last; /* ticks */
    double total, self;                /* ticks */
    double mean, squares;              /* of timed calls: ticks, and squares of distances from it */
    uint64_t allocations, bytes;       /* by itself */
};

struct results {
    struct path *paths;
    size_t n, cap;
    uint32_t epoch;
    struct ticks_scale scale;
    uint64_t now, lost_scopes, lost_events, misused;
    size_t threads;
};

int results_take(struct results *r);
void results_free(struct results *r);

/* How many timed calls of a path fell into a bucket. */
uint64_t bucket_of(const struct path *p, size_t octave, size_t step);

/* One row for each scope that was called or left out; the caller's to free. */
inferom_row *rows_of(const struct results *r, enum inferom_order order, size_t *out_n); /* NULL: no memory */
