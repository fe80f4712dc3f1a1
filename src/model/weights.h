/*
 * weights.h - how much of a measure each stack carries
 *
 *     self[s]    in samples that end exactly at stack s
 *     total[s]   in s and everything called from it
 *
 * Sums of a tree, so recursion counts nothing twice: total[root] is the whole.
 */
#pragma once
#include "model/profile.h"

struct weights {
    int64_t *self, *total; /* by stack id */
};

/* Of changes with a minus a part may be more than 64 bits hold although the whole is not: then it wraps, and the whole is right. */
static inline int64_t weights_sum(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

struct weights weights_of(const struct profile *p, const struct sample_set *set, size_t measure);
void weights_done(struct weights *w);
DEFINE_OWN_IN_PLACE(weights, struct weights)
