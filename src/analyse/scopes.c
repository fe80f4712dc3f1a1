#include "analyse/scopes.h"
#include "analyse/sampling.h"
#include "base/mem.h"

#include <math.h>

struct scope_stats *scopes_row(struct scopes *s, uint32_t *row_by_name, str_id name)
{
    if (!row_by_name[name.i]) {
        GROW(s->rows, s->cap, s->n + 1);
        s->rows[s->n] = (struct scope_stats){.name = name, .least_ns = -1, .most_ns = -1, .mean_ns = NAN, .deviation_ns = NAN,
                                             .p50_ns = NAN, .p90_ns = NAN, .p99_ns = NAN, .allocations = -1, .bytes = -1};
        row_by_name[name.i] = (uint32_t)++s->n;
    }
    return &s->rows[row_by_name[name.i] - 1];
}

/* Inside another one of its name: that one's length has this one's in it. Ids of parents may be any, so count the steps. */
static bool is_inner(const struct profile *p, const struct span *s)
{
    size_t most = 4096; /* deeper than any program; a hostile file could be made to take for ever */
    for (span_id up = s->parent; up.i && most--; up = profile_span(p, up)->parent)
        if (profile_span(p, up)->name.i == s->name.i && profile_span(p, up)->kind == SPAN_SCOPE)
            return true;
    return false;
}

static void count(struct scope_stats *row, const struct profile *p, const struct span *s)
{
    row->calls++;
    if (s->length_ns == TIME_NONE) {
        row->open++;
        return;
    }
    int64_t ns = (int64_t)s->length_ns;
    double before = row->timed ? row->mean_ns : 0;
    row->timed++;
    row->mean_ns = before + ((double)ns - before) / (double)row->timed;
    row->self_ns += ns;
    row->total_ns += is_inner(p, s) ? 0 : ns;
    row->least_ns = row->least_ns < 0 || ns < row->least_ns ? ns : row->least_ns;
    row->most_ns = ns > row->most_ns ? ns : row->most_ns;
}

static int most_called_first(const void *pa, const void *pb, void *profile)
{
    const struct scope_stats *a = pa, *b = pb;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    return view_compare(profile_string(profile, a->name), profile_string(profile, b->name));
}

const struct sample_set *scopes_counted(const struct profile *p)
{
    const struct sample_set *set = set_named(p, VIEW("scopes"));
    bool is_one = set && measure_named(p, set, VIEW("self")) < set->n_measures && measure_named(p, set, VIEW("calls")) < set->n_measures &&
                  measure_named(p, set, VIEW("timed calls")) < set->n_measures;
    return is_one ? set : NULL;
}

static struct scopes from_spans(const struct profile *p)
{
    struct scopes all = {0};
    own(free) uint32_t *row_by_name = mem_new(profile_strings(p) * sizeof *row_by_name);
    for (uint32_t i = 1; i <= profile_spans(p); i++) {
        const struct span *s = profile_span(p, (span_id){i});
        if (s->kind != SPAN_SCOPE)
            continue;
        count(scopes_row(&all, row_by_name, s->name), p, s);
        const struct span *outer = s->parent.i ? profile_span(p, s->parent) : NULL;
        if (outer && outer->kind == SPAN_SCOPE && outer->length_ns != TIME_NONE && s->length_ns != TIME_NONE)
            scopes_row(&all, row_by_name, outer->name)->self_ns -= (int64_t)s->length_ns;
    }
    return all;
}

static int most_calls_first(const void *pa, const void *pb, void *profile)
{
    const struct scope_pair *a = pa, *b = pb;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    int callees = view_compare(profile_string(profile, a->callee), profile_string(profile, b->callee));
    return callees ? callees : view_compare(profile_string(profile, a->caller), profile_string(profile, b->caller));
}

struct scopes scopes_of(const struct profile *p)
{
    const struct sample_set *counted = scopes_counted(p);
    struct scopes all = {0};
    if (counted)
        scopes_from_counts(p, counted, &all);
    else
        all = from_spans(p);
    if (all.n)
        qsort_r(all.rows, all.n, sizeof *all.rows, most_called_first, (void *)p);
    if (all.n_pairs)
        qsort_r(all.pairs, all.n_pairs, sizeof *all.pairs, most_calls_first, (void *)p);
    return all;
}

static int by_self(const void *pa, const void *pb, void *profile)
{
    const struct scope_stats *a = pa, *b = pb;
    return a->self_ns != b->self_ns ? (a->self_ns < b->self_ns ? 1 : -1) : most_called_first(pa, pb, profile);
}

static int by_total(const void *pa, const void *pb, void *profile)
{
    const struct scope_stats *a = pa, *b = pb;
    return a->total_ns != b->total_ns ? (a->total_ns < b->total_ns ? 1 : -1) : most_called_first(pa, pb, profile);
}

static int by_name(const void *pa, const void *pb, void *profile)
{
    const struct scope_stats *a = pa, *b = pb;
    return view_compare(profile_string(profile, a->name), profile_string(profile, b->name));
}

void scopes_sort(struct scopes *s, const struct profile *p, enum top_order order)
{
    static int (*const orders[TOP_ORDER_COUNT])(const void *, const void *, void *) = {
        [TOP_BY_SELF] = by_self, [TOP_BY_TOTAL] = by_total, [TOP_BY_NAME] = by_name,
    };
    if (s->n)
        qsort_r(s->rows, s->n, sizeof *s->rows, orders[order], (void *)p);
}

void scopes_done(struct scopes *s)
{
    free(s->rows);
    free(s->pairs);
}

const struct scope_stats *scopes_named(const struct scopes *s, str_id name)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->rows[i].name.i == name.i)
            return &s->rows[i];
    return NULL;
}
