#include "lab/roof.h"

#include <math.h>
#include <string.h>

const struct roof_row *roof_find(const struct roof *r, const char *kind, const char *what, unsigned threads)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct roof_row *row = &r->rows[i];
        if (!strcmp(row->kind, kind) && !strcmp(row->what, what) && row->threads == threads)
            return row;
    }
    return NULL;
}

double roof_value(const struct roof *r, const char *kind, const char *what, unsigned threads)
{
    const struct roof_row *row = roof_find(r, kind, what, threads > 1 ? r->threads : 1);
    return row ? row->f.median : NAN;
}

/* The steps on both sides of a working set; NULL where there is none. */
static void steps_around(const struct roof *r, double bytes, const struct roof_row **below, const struct roof_row **above)
{
    *below = *above = NULL;
    for (size_t i = 0; i < r->n; i++) {
        const struct roof_row *row = &r->rows[i];
        if (strcmp(row->kind, "cache") != 0)
            continue;
        if ((double)row->bytes <= bytes && (!*below || row->bytes > (*below)->bytes))
            *below = row;
        if ((double)row->bytes >= bytes && (!*above || row->bytes < (*above)->bytes))
            *above = row;
    }
}

/* Caches of a core are there once per thread, and the set is shared out. Between two steps: in proportion to the size's logarithm. */
double roof_bandwidth(const struct roof *r, const char *beyond, uint64_t working_set, unsigned threads)
{
    const struct roof_row *below, *above;
    double bytes = (double)working_set / (threads ? threads : 1);
    steps_around(r, bytes, &below, &above);
    if (!above)
        return roof_value(r, "memory", beyond, threads);
    if (!below || below == above)
        return above->f.median * threads;
    double way = log(bytes / (double)below->bytes) / log((double)above->bytes / (double)below->bytes);
    return (below->f.median + way * (above->f.median - below->f.median)) * threads;
}

struct limit roof_limit(const struct roof *r, const struct work *w)
{
    double compute_ns = w->flops / roof_value(r, "peak", w->level, w->threads) * 1e9;
    double memory_ns = w->bytes / roof_bandwidth(r, w->beyond, w->working_set, w->threads) * 1e9;
    if (isnan(compute_ns) || isnan(memory_ns))
        return (struct limit){NAN, ""};
    return compute_ns > memory_ns ? (struct limit){compute_ns, "compute"} : (struct limit){memory_ns, "memory"};
}
