/*
 * name_ranges.h - pieces of code with a name each, and which one an address belongs to
 *
 * Whoever collects pieces does not mind that they overlap; each has a priority, and making
 * the ranges decides once, for every address, which of them is seen:
 *
 *     memmove    1  [------------)
 *     erms_tail  2         [--)
 *     becomes       [memmove|erms|memmove)
 *
 * Looking up is then one bisection over rows that do not overlap.
 *
 * Owns:     its rows; names are borrowed.
 * Threads:  read-only once made.
 */
#pragma once
#include "base/own.h"
#include "base/view.h"
#include <stdint.h>

struct name_range {
    uint64_t start, end; /* nothing is at `end` any more */
    const char *name;
    uint32_t name_bytes;
    uint32_t priority; /* the highest is seen; no two are equal */
};

struct name_ranges {
    struct name_range *rows; /* sorted, not overlapping */
    size_t n;
};

struct name_ranges name_ranges_make(struct name_range *pieces, size_t n); /* sorts the pieces */
void name_ranges_done(struct name_ranges *r);
DEFINE_OWN_IN_PLACE(name_ranges, struct name_ranges)

/* Puts `newer` over `r`: where both know a name, the newer one is seen. */
void name_ranges_cover(struct name_ranges *r, const struct name_ranges *newer);

struct view name_ranges_at(const struct name_ranges *r, uint64_t address); /* empty: nothing covers it */

static inline size_t name_ranges_bytes(const struct name_ranges *r) { return r->n * sizeof *r->rows; }
