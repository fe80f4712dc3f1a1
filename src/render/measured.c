#include "render/measured.h"

#include <math.h>

static bool counts_samples(const struct profile *p, const struct measure *m)
{
    return view_same(profile_string(p, m->name), VIEW("samples"));
}

double measured_samples_in(const struct profile *p, const struct sample_set *set, size_t measure, int64_t value)
{
    const struct measure *m = &set->measures[measure];
    if (counts_samples(p, m))
        return (double)value / pow(10, m->decimals);
    if (measure == set->shown && set->period > 0)
        return round((double)value / (double)set->period);
    return NAN;
}

double measured_rate_hz(const struct sample_set *set, size_t measure)
{
    bool at_a_rate = measure == set->shown && set->period > 0 && set->measures[measure].unit == UNIT_NS;
    return at_a_rate ? 1e9 / (double)set->period : NAN;
}
