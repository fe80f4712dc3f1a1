#include "analyse/methods.h"
#include "analyse/sampling.h"
#include "analyse/scopes.h"
#include "base/mem.h"

/* Of each function, what the samples that ended in it have of a measure; NULL: one each. The caller's to free. */
static int64_t *leaf_sums(const struct profile *p, const struct sample_set *set, const int64_t *values)
{
    int64_t *sums = mem_new(profile_functions(p) * sizeof *sums);
    for (size_t i = 0; i < set->n; i++) {
        const struct stack *s = profile_stack(p, set->stacks[i]);
        sums[profile_frame(p, s->frame)->function.i] += values ? values[i] : 1;
    }
    return sums;
}

static void add_samples(struct methods *m, const struct profile *p, const struct sample_set *set)
{
    if (samples_taken(p, set) < 0)
        return;
    size_t counted = measure_named(p, set, VIEW("samples"));
    bool is_counted = counted < set->n_measures && !set->measures[counted].decimals;
    own(free) int64_t *sums = leaf_sums(p, set, is_counted ? set->values[counted] : NULL);
    for (size_t i = 0; i < m->n; i++)
        m->rows[i].samples = sums[m->rows[i].function.i];
}

static void add_calls(struct methods *m, const struct profile *p, const struct sample_set *set)
{
    size_t calls = measure_named(p, set, VIEW("calls"));
    if (calls == set->n_measures)
        return;
    own(free) int64_t *sums = leaf_sums(p, set, set->values[calls]);
    m->has_calls = true;
    for (size_t i = 0; i < m->n; i++)
        m->rows[i].calls = sums[m->rows[i].function.i];
}

/* A scope that the program named after one of its functions. */
static void add_scopes(struct methods *m, const struct profile *p)
{
    own(scopes) struct scopes s = scopes_of(p);
    for (size_t i = 0; s.n && i < m->n; i++) {
        const struct scope_stats *scope = scopes_named(&s, profile_function(p, m->rows[i].function)->name);
        if (!scope || (m->rows[i].calls != METHOD_UNKNOWN && m->rows[i].calls != scope->calls))
            continue; /* another counter's */
        m->has_calls = m->has_extremes = true;
        m->rows[i].calls = scope->calls;
        m->rows[i].least_ns = scope->least_ns;
        m->rows[i].most_ns = scope->most_ns;
    }
}

/* What was allocated. What is left of it (inuse_space) is another question. */
static bool find_heap(const struct profile *p, struct methods *m)
{
    static const char *const best_first[] = {"alloc_space", "allocated", "alloc_bytes", NULL};
    for (const char *const *name = best_first; *name; name++)
        for (uint32_t i = 0; i < profile_sets(p); i++) {
            const struct sample_set *set = profile_set(p, (set_id){i});
            m->heap_measure = measure_named(p, set, view_of(*name));
            if (set->n && m->heap_measure < set->n_measures && set->measures[m->heap_measure].unit == UNIT_BYTES) {
                m->heap = set;
                return true;
            }
        }
    return false;
}

static size_t objects_measure(const struct profile *p, const struct methods *m)
{
    size_t objects = measure_named(p, m->heap, VIEW("alloc_objects"));
    return objects < m->heap->n_measures ? objects : measure_named(p, m->heap, VIEW("allocations"));
}

static void add_bytes(struct methods *m, const struct profile *p)
{
    m->bytes_whole = METHOD_UNKNOWN;
    if (!find_heap(p, m))
        return;
    m->has_bytes = true;
    m->bytes_whole = m->heap->measures[m->heap_measure].total;
    own(top) struct top heap = top_of(p, m->heap, m->heap_measure, NULL, 0);
    size_t objects = objects_measure(p, m);
    own(free) int64_t *counts = objects < m->heap->n_measures ? leaf_sums(p, m->heap, m->heap->values[objects]) : NULL;
    for (size_t i = 0, k = 0; k < heap.n; k++) { /* both in order of id */
        while (i < m->n && m->rows[i].function.i < heap.rows[k].function.i)
            i++;
        if (i == m->n || m->rows[i].function.i != heap.rows[k].function.i)
            continue;
        m->rows[i].bytes = heap.rows[k].self;
        m->rows[i].bytes_total = heap.rows[k].total;
        m->rows[i].allocations = counts ? counts[heap.rows[k].function.i] : METHOD_UNKNOWN;
    }
}

/* Functions that only allocated are rows, too: those of both sets, in order of id. */
static size_t join(struct top *a, const struct top *b)
{
    struct hot *rows = mem_new((a->n + b->n + 1) * sizeof *rows);
    size_t n = 0, i = 0, k = 0;
    while (i < a->n || k < b->n) {
        bool is_new = i == a->n || (k < b->n && b->rows[k].function.i < a->rows[i].function.i);
        if (is_new) {
            rows[n++] = (struct hot){.function = b->rows[k].function, .kind = b->rows[k].kind};
            k++;
            continue;
        }
        k += k < b->n && b->rows[k].function.i == a->rows[i].function.i;
        rows[n++] = a->rows[i++];
    }
    free(a->rows);
    a->rows = rows;
    return a->n = n;
}

static void start_rows(struct methods *m, const struct profile *p, const struct sample_set *set, size_t measure)
{
    own(top) struct top top = top_of(p, set, measure, NULL, 0);
    struct methods heap = {0};
    if (find_heap(p, &heap) && heap.heap != set) {
        own(top) struct top allocators = top_of(p, heap.heap, heap.heap_measure, NULL, 0);
        join(&top, &allocators);
    }
    m->whole = top.whole;
    m->n = top.n;
    m->rows = mem_new((top.n + 1) * sizeof *m->rows);
    for (size_t i = 0; i < top.n; i++) {
        const struct hot *h = &top.rows[i];
        m->rows[i] = (struct method){.function = h->function, .kind = h->kind, .self = h->self, .total = h->total,
                                     .samples = METHOD_UNKNOWN, .calls = METHOD_UNKNOWN, .least_ns = METHOD_UNKNOWN,
                                     .most_ns = METHOD_UNKNOWN, .bytes = METHOD_UNKNOWN, .bytes_total = METHOD_UNKNOWN,
                                     .allocations = METHOD_UNKNOWN};
    }
}

struct methods methods_of(const struct profile *p, const struct sample_set *set, size_t measure)
{
    struct methods m = {0};
    start_rows(&m, p, set, measure);
    add_samples(&m, p, set);
    add_calls(&m, p, set);
    add_scopes(&m, p);
    add_bytes(&m, p);
    return m;
}

void methods_done(struct methods *m) { free(m->rows); }

/* Ranking. */

struct ranking {
    const struct methods *m;
    const struct profile *p;
    enum method_order order;
};

static int64_t key_of(const struct method *row, enum method_order order)
{
    switch (order) {
    case METHODS_BY_SELF: return row->self;
    case METHODS_BY_TOTAL: return row->total;
    case METHODS_BY_BYTES: return row->bytes_total;
    case METHODS_BY_CALLS: return row->calls;
    default: return 0;
    }
}

/* Largest first; among equals the larger total (or self), then the name, then the id: the same order as in top.h. */
static int compare_rows(const void *pa, const void *pb, void *context)
{
    const struct ranking *r = context;
    const struct method *a = &r->m->rows[*(const size_t *)pa], *b = &r->m->rows[*(const size_t *)pb];
    int64_t ka = key_of(a, r->order), kb = key_of(b, r->order);
    if (ka != kb)
        return ka < kb ? 1 : -1;
    int64_t sa = r->order == METHODS_BY_TOTAL ? a->self : a->total, sb = r->order == METHODS_BY_TOTAL ? b->self : b->total;
    if (sa != sb && r->order != METHODS_BY_NAME)
        return sa < sb ? 1 : -1;
    int names = view_compare(profile_string(r->p, profile_function(r->p, a->function)->name),
                             profile_string(r->p, profile_function(r->p, b->function)->name));
    return names ? names : (a->function.i > b->function.i) - (a->function.i < b->function.i);
}

static bool is_ranked(const struct method *row, enum method_order order)
{
    if (order == METHODS_BY_BYTES)
        return row->bytes_total > 0;
    if (order == METHODS_BY_CALLS)
        return row->calls > 0;
    return row->self || row->total;
}

size_t *methods_ranked(const struct methods *m, const struct profile *p, enum method_order order, size_t *out_n)
{
    size_t *list = mem_new((m->n + 1) * sizeof *list), n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (is_ranked(&m->rows[i], order))
            list[n++] = i;
    struct ranking r = {m, p, order};
    qsort_r(list, n, sizeof *list, compare_rows, &r);
    *out_n = n;
    return list;
}
