/*
 * Scopes as libinferom counted them: a sample per path and thread. Rows of one name are added up; means and deviations
 * are put together as those of groups are, and percentiles come from the buckets of all of them.
 */
#include "analyse/sampling.h"
#include "analyse/scopes.h"
#include "base/mem.h"

#include <math.h>

struct adding {
    const struct profile *p;
    const struct sample_set *set;
    struct scopes *into;
    uint32_t *row_by_name;
    double *squares; /* by row: of the distances from the mean */
    size_t cap_squares;
};

static str_id leaf_name(const struct profile *p, stack_id stack)
{
    return profile_function(p, profile_frame(p, profile_stack(p, stack)->frame)->function)->name;
}

/* A label's number; `otherwise` when there is none. */
static int64_t number_of(const struct profile *p, const struct sample_set *set, size_t i, struct view key, int64_t otherwise)
{
    const struct label *l = set->contexts ? profile_label(p, profile_context(p, set->contexts[i])->labels, key) : NULL;
    return l ? l->number : otherwise;
}

/* Counts in labels come from the file as they are; no program makes a million times a million. */
static int64_t count_of(const struct adding *a, size_t i, struct view key)
{
    int64_t n = number_of(a->p, a->set, i, key, 0);
    return n < 0 || n > INT64_C(1) << 40 ? 0 : n;
}

static int64_t measure_at(const struct adding *a, size_t i, struct view name, int64_t otherwise)
{
    size_t m = measure_named(a->p, a->set, name);
    return m < a->set->n_measures ? a->set->values[m][i] : otherwise;
}

static int64_t sum_known(int64_t sum, int64_t more) { return more < 0 ? sum : (sum < 0 ? 0 : sum) + more; }

/* Nothing in a file is believed: a deviation or a mean may be anything, and the sums only have to stay numbers. */
static void add_lengths(struct adding *a, struct scope_stats *row, size_t i, int64_t timed)
{
    int64_t least = number_of(a->p, a->set, i, VIEW("shortest"), -1), most = number_of(a->p, a->set, i, VIEW("longest"), -1);
    if (timed <= 0 || least < 0 || most < 0)
        return;
    double mean = (double)number_of(a->p, a->set, i, VIEW("mean"), 0) / 1e3;
    double deviation = (double)number_of(a->p, a->set, i, VIEW("deviation"), 0) / 1e3;
    double n = (double)row->timed, more = (double)timed, away = row->timed ? mean - row->mean_ns : 0;
    double *squares = &a->squares[row - a->into->rows];
    *squares += deviation * deviation * more + away * away * n * more / (n + more);
    row->mean_ns = row->timed ? row->mean_ns + away * more / (n + more) : mean;
    row->least_ns = row->least_ns < 0 || least / 1000 < row->least_ns ? least / 1000 : row->least_ns;
    row->most_ns = most / 1000 > row->most_ns ? most / 1000 : row->most_ns;
    row->timed += timed;
    row->deviation_ns = sqrt(*squares / (double)row->timed);
}

static void add_sample(struct adding *a, size_t i)
{
    if (a->set->stacks[i].i == STACK_ROOT.i)
        return; /* hidden */
    struct scope_stats *row = scopes_row(a->into, a->row_by_name, leaf_name(a->p, a->set->stacks[i]));
    size_t was = a->cap_squares;
    GROW(a->squares, a->cap_squares, a->into->n);
    for (; was < a->cap_squares; was++)
        a->squares[was] = 0;
    row->calls += measure_at(a, i, VIEW("calls"), 0);
    row->self_ns += measure_at(a, i, VIEW("self"), 0);
    row->cut += count_of(a, i, VIEW("cut"));
    row->left_out += count_of(a, i, VIEW("left out"));
    row->allocations = sum_known(row->allocations, measure_at(a, i, VIEW("allocations"), -1));
    row->bytes = sum_known(row->bytes, measure_at(a, i, VIEW("allocated"), -1));
    add_lengths(a, row, i, measure_at(a, i, VIEW("timed calls"), 0));
}

/* Totals: what functions have in total, by name; a scope within itself counts once there. */
static void add_totals(struct adding *a)
{
    own(top) struct top top = top_of(a->p, a->set, measure_named(a->p, a->set, VIEW("self")), NULL, 0);
    for (size_t i = 0; i < top.n; i++)
        scopes_row(a->into, a->row_by_name, profile_function(a->p, top.rows[i].function)->name)->total_ns += top.rows[i].total;
}

/* Percentiles. */

struct bucket {
    uint32_t row;
    double middle_ns;
    int64_t calls;
};

static int by_row_and_length(const void *pa, const void *pb)
{
    const struct bucket *a = pa, *b = pb;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->middle_ns > b->middle_ns) - (a->middle_ns < b->middle_ns);
}

static double at_share(const struct bucket *b, size_t n, double share, const struct scope_stats *row)
{
    int64_t all = 0, seen = 0;
    for (size_t i = 0; i < n; i++)
        all += b[i].calls;
    double wanted = ceil(share * (double)all);
    for (size_t i = 0; i < n; i++) {
        seen += b[i].calls;
        if ((double)seen >= wanted)
            return fmin(fmax(b[i].middle_ns, (double)row->least_ns), (double)row->most_ns);
    }
    return NAN;
}

static void add_percentiles(struct adding *a)
{
    const struct sample_set *set = set_named(a->p, VIEW("scope times"));
    size_t calls = set ? measure_named(a->p, set, VIEW("calls")) : 0, n = 0;
    if (!set || calls == set->n_measures)
        return;
    own(free) struct bucket *list = mem_new((set->n + 1) * sizeof *list);
    for (size_t i = 0; i < set->n; i++) {
        uint32_t row = set->stacks[i].i == STACK_ROOT.i ? 0 : a->row_by_name[leaf_name(a->p, set->stacks[i]).i];
        int64_t from = number_of(a->p, set, i, VIEW("from"), -1), to = number_of(a->p, set, i, VIEW("to"), -1);
        if (row && from >= 0 && to >= from && set->values[calls][i] > 0)
            list[n++] = (struct bucket){row - 1, ((double)from + (double)to) / 2e3, set->values[calls][i]};
    }
    qsort(list, n, sizeof *list, by_row_and_length);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && list[end].row == list[i].row; end++)
            ;
        struct scope_stats *row = &a->into->rows[list[i].row];
        row->p50_ns = at_share(list + i, end - i, 0.50, row);
        row->p90_ns = at_share(list + i, end - i, 0.90, row);
        row->p99_ns = at_share(list + i, end - i, 0.99, row);
    }
}

/* Pairs. */

static int by_names(const void *pa, const void *pb)
{
    const struct scope_pair *a = pa, *b = pb;
    if (a->callee.i != b->callee.i)
        return a->callee.i < b->callee.i ? -1 : 1;
    return (a->caller.i > b->caller.i) - (a->caller.i < b->caller.i);
}

static void one_of_each(struct scopes *s)
{
    size_t n = 0;
    qsort(s->pairs, s->n_pairs, sizeof *s->pairs, by_names);
    for (size_t i = 0; i < s->n_pairs; i++)
        if (n && !by_names(&s->pairs[n - 1], &s->pairs[i]))
            s->pairs[n - 1].calls += s->pairs[i].calls;
        else
            s->pairs[n++] = s->pairs[i];
    s->n_pairs = n;
}

/* The caller of a call is the frame below its own, in the set of the scopes themselves. */
static void add_pairs(struct adding *a)
{
    struct scopes *s = a->into;
    size_t calls = measure_named(a->p, a->set, VIEW("calls"));
    for (size_t i = 0; i < a->set->n; i++) {
        stack_id stack = a->set->stacks[i];
        if (stack.i == STACK_ROOT.i || a->set->values[calls][i] <= 0)
            continue;
        struct scope_pair pair = {.callee = leaf_name(a->p, stack), .calls = a->set->values[calls][i]};
        stack_id below = profile_stack(a->p, stack)->caller;
        if (below.i != STACK_ROOT.i)
            pair.caller = leaf_name(a->p, below);
        GROW(s->pairs, s->cap_pairs, s->n_pairs + 1);
        s->pairs[s->n_pairs++] = pair;
    }
    if (s->n_pairs)
        one_of_each(s);
}

void scopes_from_counts(const struct profile *p, const struct sample_set *set, struct scopes *into)
{
    own(free) uint32_t *row_by_name = mem_new(profile_strings(p) * sizeof *row_by_name);
    struct adding a = {.p = p, .set = set, .into = into, .row_by_name = row_by_name};
    for (size_t i = 0; i < set->n; i++)
        add_sample(&a, i);
    add_totals(&a);
    add_percentiles(&a);
    add_pairs(&a);
    free(a.squares);
}
