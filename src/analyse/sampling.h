/*
 * sampling.h - how many samples stand behind a number, and how sure they make us
 *
 * A sampled share is an estimate: of n moments, k were spent in the function. Asked again,
 * the same program would give another k. The interval says between which bounds the true
 * share lies, 99 times in 100 (Wilson's score interval of a binomial share).
 *
 * Where samples weigh differently, n is the number of equal samples that would scatter as much:
 * the square of the sum over the sum of the squares.
 */
#pragma once
#include "model/profile.h"

struct interval {
    double low, high; /* of a share, 0..1; NAN: nobody knows */
};

struct interval share_interval(double share, double samples); /* NAN for either gives NAN */

/* How often somebody looked; -1 when the profile only knows sums. */
int64_t samples_taken(const struct profile *p, const struct sample_set *set);

/* How many of them are not here, all reasons together; false where nobody would have said so: in a file of stacks alone. */
bool samples_lost(const struct profile *p, const struct sample_set *set, uint64_t *out);

/* Equal samples behind the shares of this measure; NAN where it was not sampled, or does not say how. */
double samples_behind(const struct profile *p, const struct sample_set *set, size_t measure);

/* Looking up by name: the measure (n_measures: none), the set (NULL: none, or it is empty). */
size_t measure_named(const struct profile *p, const struct sample_set *set, struct view name);
const struct sample_set *set_named(const struct profile *p, struct view name);
