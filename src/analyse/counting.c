#include "analyse/counting.h"

#include <math.h>

static const int64_t *column(const struct profile *p, const struct sample_set *set, const char *name)
{
    for (size_t m = 0; m < set->n_measures; m++)
        if (view_same(profile_string(p, set->measures[m].name), view_of(name)))
            return set->values[m];
    return NULL;
}

/* Samples of a heap are of allocations; what is live, or was at the peak, has only its part of them. */
static void take_part(struct counting *c, const struct profile *p, const struct sample_set *set, size_t measure)
{
    struct view name = profile_string(p, set->measures[measure].name);
    c->of = column(p, set, "alloc_objects");
    if (c->of && view_starts(name, VIEW("inuse_")))
        c->part = column(p, set, "inuse_objects");
    else if (c->of && view_starts(name, VIEW("peak_")))
        c->part = column(p, set, "peak_objects");
}

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
        take_part(&c, p, set, measure);
    }
    return c;
}

int64_t counting_at(const struct counting *c, size_t row, int64_t value)
{
    if (!value)
        return 0;
    double n = c->period ? (double)value / (double)c->period : c->told ? (double)c->told[row] / c->unit : 1;
    if (c->part && c->of[row] > 0)
        n *= (double)c->part[row] / (double)c->of[row];
    n = fabs(n);
    return n < 1 ? 1 : n > 1e15 ? (int64_t)1e15 : (int64_t)llround(n);
}
