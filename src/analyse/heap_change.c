#include "analyse/heap_change.h"
#include "analyse/function_union.h"
#include "base/mem.h"

/* Only measures that both have can be compared. Peaks are of different moments, and samples are no amount. */
static size_t common_measures(const struct heap *a, const struct heap *b, struct measure_spec specs[HEAP_MEASURES],
                              enum heap_measure which[HEAP_MEASURES])
{
    size_t n = 0;
    for (int m = HEAP_ALLOCS; m <= HEAP_LIVE_BYTES; m++) {
        enum heap_measure is = (enum heap_measure)m;
        if (!heap_has(a, is) || !heap_has(b, is) || b->set->measures[b->measures[m]].decimals || a->set->measures[a->measures[m]].decimals)
            continue;
        const struct measure *from = &b->set->measures[b->measures[m]];
        which[n] = is;
        specs[n++] = (struct measure_spec){.name = profile_string(b->p, from->name), .unit = from->unit,
                                           .unit_name = profile_string(b->p, from->unit_name)};
    }
    return n;
}

static void add_rows(struct builder *to, set_id set, const struct heap *h, const stack_id *stacks, const enum heap_measure *which,
                     size_t n, int sign)
{
    int64_t values[HEAP_MEASURES];
    for (size_t i = 0; i < h->set->n; i++) {
        for (size_t k = 0; k < n; k++) {
            int64_t v = heap_value(h, which[k], i);
            values[k] = sign > 0 ? v : v == INT64_MIN ? INT64_MAX : -v;
        }
        builder_sample(to, set, TIME_NONE, CONTEXT_NONE, stacks[h->set->stacks[i].i], values);
    }
}

static bool change_of(const struct heap *before, const struct heap *after, struct profile **out, struct err *e)
{
    struct measure_spec specs[HEAP_MEASURES];
    enum heap_measure which[HEAP_MEASURES];
    size_t n = common_measures(before, after, specs, which);
    if (!n)
        return err_set(e, ERR_USAGE, "the two heaps have no value in common");
    own(builder) struct builder *b = builder_new();
    builder_add_up(b);
    own(function_union) struct function_union u;
    function_union_init(&u, b);
    own(free) stack_id *after_stacks = function_union_stacks(&u, after->p);
    own(free) stack_id *before_stacks = function_union_stacks(&u, before->p);
    set_id set = builder_set(b, VIEW("heap"), specs, n);
    for (size_t i = 0; i < n; i++)
        if (which[i] == HEAP_BYTES)
            builder_show(b, set, i, 0);
    add_rows(b, set, after, after_stacks, which, n, 1);
    add_rows(b, set, before, before_stacks, which, n, -1);
    return builder_finish(take(b), out, e);
}

bool heap_change_of(const struct profile *before, const struct profile *after, struct profile **out, struct err *e)
{
    own(heap) struct heap a = {0}, b = {0};
    if (!heap_of(&a, before, true) || !heap_of(&b, after, true))
        return err_set(e, ERR_USAGE, "there are no allocations in it");
    return change_of(&a, &b, out, e);
}

static bool has_changed(const struct heap_sums *s)
{
    for (int m = HEAP_ALLOCS; m <= HEAP_LIVE_BYTES; m++)
        if (s->of[m] && s->of[m] != HEAP_UNKNOWN)
            return true;
    return false;
}

static int most_more_first(const void *pa, const void *pb, void *context)
{
    const struct heap *h = *(const struct heap *const *)context;
    const struct heap_row *a = &h->rows[*(const size_t *)pa], *b = &h->rows[*(const size_t *)pb];
    static const enum heap_measure by[] = {HEAP_LIVE_BYTES, HEAP_BYTES, HEAP_ALLOCS};
    for (size_t k = 0; k < sizeof by / sizeof *by; k++)
        if (a->sums.of[by[k]] != b->sums.of[by[k]])
            return a->sums.of[by[k]] < b->sums.of[by[k]] ? 1 : -1;
    return (a->node > b->node) - (a->node < b->node);
}

size_t *heap_changed_rows(const struct heap *h, size_t *out_n)
{
    size_t *list = mem_new((h->n + 1) * sizeof *list), n = 0;
    for (size_t i = 0; i < h->n; i++)
        if (has_changed(&h->rows[i].sums))
            list[n++] = i;
    qsort_r(list, n, sizeof *list, most_more_first, &h);
    *out_n = n;
    return list;
}
