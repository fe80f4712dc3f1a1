#include "analyse/sampling.h"

#include <math.h>

#define Z_99 2.5758293035489004 /* a normal value lies within so many deviations, 99 times in 100 */

size_t measure_named(const struct profile *p, const struct sample_set *set, struct view name)
{
    size_t m = 0;
    while (m < set->n_measures && !view_same(profile_string(p, set->measures[m].name), name))
        m++;
    return m;
}

const struct sample_set *set_named(const struct profile *p, struct view name)
{
    for (uint32_t i = 0; i < profile_sets(p); i++) {
        const struct sample_set *set = profile_set(p, (set_id){i});
        if (set->n && view_same(profile_string(p, set->name), name))
            return set;
    }
    return NULL;
}

static size_t counting_measure(const struct profile *p, const struct sample_set *set)
{
    size_t m = measure_named(p, set, VIEW("samples"));
    return m < set->n_measures && !set->measures[m].decimals ? m : set->n_measures;
}

int64_t samples_taken(const struct profile *p, const struct sample_set *set)
{
    size_t m = counting_measure(p, set);
    if (m < set->n_measures)
        return set->measures[m].total;
    return set->time_ns ? (int64_t)set->n : -1;
}

bool samples_lost(const struct profile *p, const struct sample_set *set, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < profile_losses(p); i++) {
        const struct loss *l = profile_loss(p, i);
        if (profile_set(p, l->set) == set && __builtin_add_overflow(*out, l->count, out))
            *out = UINT64_MAX;
    }
    return *out || profile_fact_named(p, VIEW("engine")); /* who recorded would have counted */
}

double samples_behind(const struct profile *p, const struct sample_set *set, size_t measure)
{
    size_t m = counting_measure(p, set);
    if (m < set->n_measures)
        return (double)set->measures[m].total;
    if (!set->time_ns || !view_same(profile_string(p, set->name), VIEW("cpu")))
        return NAN; /* waits and allocations are not looked at by the clock */
    double sum = 0, squares = 0;
    for (size_t i = 0; i < set->n; i++) {
        double w = (double)set->values[measure][i];
        sum += w;
        squares += w * w;
    }
    return squares > 0 ? sum * sum / squares : NAN;
}

struct interval share_interval(double share, double samples)
{
    if (isnan(share) || isnan(samples) || samples <= 0)
        return (struct interval){NAN, NAN};
    double z2 = Z_99 * Z_99, middle = (share + z2 / (2 * samples)) / (1 + z2 / samples);
    double half = Z_99 / (1 + z2 / samples) * sqrt(fmax(0, share * (1 - share)) / samples + z2 / (4 * samples * samples));
    return (struct interval){fmax(0, middle - half), fmin(1, middle + half)};
}
