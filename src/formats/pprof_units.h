/*
 * pprof_units.h - what the unit words of pprof mean to us, and back
 *
 * Times become nanoseconds and sizes bytes; every other word is kept. A measure
 * with decimals is written in a unit of its own, "1e-3 count", so that the
 * whole numbers of the file still add up; reading understands it.
 */
#pragma once
#include "base/buf.h"
#include "model/profile.h"

struct pprof_unit {
    enum unit unit;
    int64_t factor; /* what one of them is in ours */
    unsigned decimals;
    struct view name; /* for what is neither time nor size; "" for plain counts */
};

struct pprof_unit pprof_unit_of(struct view word);
void pprof_unit_word(struct buf *out, const struct profile *p, const struct measure *m);
