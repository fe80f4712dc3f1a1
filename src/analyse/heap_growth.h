/*
 * heap_growth.h - live memory over time, altogether and path by path
 *
 * The state at a moment is the sum of all changes up to it. Rows were written now and then (about once a second), so
 * that often one knows; a series of the recorder that was read more often is preferred for the whole.
 *
 * Owns: its rows.
 */
#pragma once
#include "analyse/heap.h"

enum { GROWTH_MARKS = 4 }; /* a quarter, half, three quarters and the end of the time */

struct heap_moment {
    uint64_t time_ns;
    int64_t live_bytes;
};

struct heap_grown {
    size_t row; /* of the heap */
    int64_t live_bytes[GROWTH_MARKS];
};

struct heap_growth {
    struct heap_moment *moments; /* in order of time */
    size_t n;
    struct heap_grown *rows; /* paths that have more at the end than after the first quarter; most growth first */
    size_t n_rows;
    uint64_t marks_ns[GROWTH_MARKS];
};

/* False: the samples have no times. */
bool heap_growth_of(struct heap_growth *g, const struct heap *h);
void heap_growth_done(struct heap_growth *g);
DEFINE_OWN_IN_PLACE(heap_growth, struct heap_growth)

int64_t heap_grew(const struct heap_grown *g); /* from the first mark to the last */
