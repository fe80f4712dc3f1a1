#include "analyse/counting.h"

#include <math.h>

struct counting counting_of(const struct profile *p, const struct sample_set *set, size_t measure)
{
    struct counting c = {.unit = 1};
    if (measure == set->shown && set->period > 0) {
        c.period = set->period;
        return c;
    }
    for (size_t m = 0; m < set->n_measures; m++) {
        const struct measure *is = &set->measures[m];
        if (!view_same(profile_string(p, is->name), VIEW("samples")))
            continue;
        c.told = set->values[m];
        c.unit = pow(10, is->decimals);
    }
    return c;
}

int64_t counting_at(const struct counting *c, size_t row, int64_t value)
{
    if (!value)
        return 0;
    double n = c->period ? (double)value / (double)c->period : c->told ? (double)c->told[row] / c->unit : 1;
    n = fabs(n);
    return n < 1 ? 1 : n > 1e15 ? (int64_t)1e15 : (int64_t)llround(n);
}
