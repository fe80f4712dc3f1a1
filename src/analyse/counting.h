/*
 * counting.h - how many samples a row of a sample set stands for
 *
 * A row may be many samples: a folded line with 142 behind it, or one of a pprof
 * file whose first value counts them. Where nothing says so, a row is one.
 */
#pragma once
#include "model/profile.h"

struct counting {
    int64_t period;      /* 0: rows do not come at a period */
    const int64_t *told; /* by row: a measure that says so itself; or NULL */
    double unit;         /* of what is told */
    const int64_t *part, *of; /* only this part of them has the measure: live blocks of all that were allocated; or NULL */
};

struct counting counting_of(const struct profile *p, const struct sample_set *set, size_t measure);
int64_t counting_at(const struct counting *c, size_t row, int64_t value);
