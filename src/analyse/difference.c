#include "analyse/difference.h"
#include "analyse/counting.h"
#include "analyse/function_union.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>

#define WHOLE_SHARE 1e15 /* by share: the width of one side's whole */

const char *const change_words[CHANGE_COUNT + 1] = {
    [CHANGE_SAME] = "same", [CHANGE_MORE] = "more", [CHANGE_LESS] = "less",
    [CHANGE_NEW] = "new",   [CHANGE_GONE] = "gone",
};

void amount_add(struct amount *to, const struct amount *more)
{
    to->value += more->value;
    to->samples += more->samples;
    to->squares += more->squares;
}

/* What is compared must be comparable. */

static struct view measure_name(struct difference_side s) { return profile_string(s.p, s.set->measures[s.measure].name); }

static struct view unit_of(struct difference_side s)
{
    const struct measure *m = &s.set->measures[s.measure];
    struct view own_word = profile_string(s.p, m->unit_name);
    return m->unit == UNIT_OTHER && own_word.n ? own_word : view_of(unit_names[m->unit]);
}

static bool comparable(struct difference_side before, struct difference_side after, struct err *e)
{
    struct view b = unit_of(before), a = unit_of(after);
    if (view_same(b, a))
        return true;
    struct view nb = measure_name(before), na = measure_name(after);
    return err_set(e, ERR_USAGE, "%.*s in %.*s cannot be compared with %.*s in %.*s", (int)(nb.n < 60 ? nb.n : 60), nb.at,
                   (int)(b.n < 20 ? b.n : 20), b.at, (int)(na.n < 60 ? na.n : 60), na.at, (int)(a.n < 20 ? a.n : 20), a.at);
}

/* One id space. */

struct joining {
    struct builder *b;
    set_id sets[2];
};

static set_id new_set(struct builder *b, struct view name, struct difference_side like)
{
    const struct measure *m = &like.set->measures[like.measure];
    struct measure_spec specs[2] = {{.name = measure_name(like), .unit = m->unit,
                                     .unit_name = profile_string(like.p, m->unit_name), .decimals = m->decimals},
                                    {.name = VIEW("samples"), .unit = UNIT_COUNT}};
    return builder_set(b, name, specs, 2);
}

static void add_side(struct builder *b, set_id to, struct difference_side side, const stack_id *stacks)
{
    struct counting c = counting_of(side.p, side.set, side.measure);
    for (size_t i = 0; i < side.set->n; i++) {
        int64_t value = side.set->values[side.measure][i];
        int64_t values[2] = {value, counting_at(&c, i, value)};
        if (value)
            builder_sample(b, to, TIME_NONE, CONTEXT_NONE, stacks[side.set->stacks[i].i], values);
    }
}

/* The newer side first: of two lines of a function, today's is the useful one. */
static void join(struct joining *j, struct difference_side before, struct difference_side after)
{
    own(function_union) struct function_union u;
    function_union_init(&u, j->b);
    own(free) stack_id *after_stacks = function_union_stacks(&u, after.p);
    own(free) stack_id *before_stacks = function_union_stacks(&u, before.p);
    j->sets[0] = new_set(j->b, VIEW("before"), before);
    j->sets[1] = new_set(j->b, VIEW("after"), after);
    add_side(j->b, j->sets[0], before, before_stacks);
    add_side(j->b, j->sets[1], after, after_stacks);
    unsigned d0 = before.set->measures[before.measure].decimals, d1 = after.set->measures[after.measure].decimals;
    builder_set_decimals(j->b, j->sets[0], 0, d0 > d1 ? d0 : d1);
    builder_set_decimals(j->b, j->sets[1], 0, d0 > d1 ? d0 : d1);
}

/* By stack id: what ends there. */
static struct amount *amounts_of(const struct profile *p, const struct sample_set *set)
{
    struct amount *at = mem_new(profile_stacks(p) * sizeof *at);
    for (size_t i = 0; i < set->n; i++) {
        double value = (double)set->values[0][i], n = (double)set->values[1][i];
        amount_add(&at[set->stacks[i].i],
                   &(struct amount){set->values[0][i], (uint64_t)set->values[1][i], value * value / n});
    }
    return at;
}

/* The tree. */

static double larger(double a, double b) { return fabs(a) > fabs(b) ? fabs(a) : fabs(b); }

static int64_t width_of(const struct difference *d, const struct amount *before, const struct amount *after)
{
    double b = (double)before->value, a = (double)after->value;
    if (d->by == DIFFERENCE_BY_VALUE)
        return (int64_t)larger(b, a);
    b = d->whole.before.value ? b / (double)d->whole.before.value : 0;
    a = d->whole.after.value ? a / (double)d->whole.after.value : 0;
    return (int64_t)llround(WHOLE_SHARE * larger(b, a));
}

/* The widths as a set of samples of their own, so that the tree is made as every call tree is. */
static uint32_t *grow_tree(struct difference *d, const struct amount *before, const struct amount *after, bool inverted)
{
    size_t n = profile_stacks(d->p);
    own(free) int64_t *widths = mem_new(n * sizeof *widths);
    own(free) stack_id *stacks = mem_new(n * sizeof *stacks);
    for (uint32_t s = 0; s < n; s++) {
        widths[s] = width_of(d, &before[s], &after[s]);
        stacks[s] = (stack_id){s};
    }
    struct sample_set both = {.n_measures = 1, .n = n, .stacks = stacks, .values = {widths}};
    uint32_t *ends = NULL;
    d->tree = call_tree_with_ends(d->p, &both, 0, inverted, &ends);
    return ends;
}

static void add_to_nodes(struct difference *d, const struct amount *before, const struct amount *after, const uint32_t *ends)
{
    for (size_t s = 0; s < profile_stacks(d->p); s++) {
        amount_add(&d->self[ends[s]].before, &before[s]);
        amount_add(&d->self[ends[s]].after, &after[s]);
    }
    memcpy(d->total, d->self, d->tree.n * sizeof *d->total);
    for (size_t i = d->tree.n - 1; i > 0; i--) {
        amount_add(&d->total[d->tree.nodes[i].parent].before, &d->total[i].before);
        amount_add(&d->total[d->tree.nodes[i].parent].after, &d->total[i].after);
    }
}

/* Noise. */

static double part(const struct amount *a, const struct amount *whole)
{
    return whole->value ? (double)a->value / (double)whole->value : 0;
}

double difference_amount(const struct difference *d, const struct changed *c)
{
    return d->by == DIFFERENCE_BY_VALUE ? (double)c->after.value - (double)c->before.value
                                        : part(&c->after, &d->whole.after) - part(&c->before, &d->whole.before);
}

double difference_share(const struct difference *d, const struct changed *c)
{
    return larger(part(&c->before, &d->whole.before), part(&c->after, &d->whole.after));
}

/* A sum of samples scatters by its squares; a share less so, since its samples are in the whole too. */
static double scatter(const struct difference *d, const struct amount *a, const struct amount *whole)
{
    if (d->by == DIFFERENCE_BY_VALUE)
        return a->squares;
    double p = part(a, whole), all = (double)whole->value;
    return all != 0 ? (a->squares * (1 - 2 * p) + p * p * whole->squares) / (all * all) : 0;
}

/* What one sample is worth, of those that the two sides have. */
static double one_sample(const struct difference *d, const struct changed *c)
{
    double b = (double)c->before.value, a = (double)c->after.value, squares_b = c->before.squares, squares_a = c->after.squares;
    if (d->by == DIFFERENCE_BY_SHARE) {
        double all_b = (double)d->whole.before.value, all_a = (double)d->whole.after.value;
        b = all_b != 0 ? b / all_b : 0;
        a = all_a != 0 ? a / all_a : 0;
        squares_b = all_b != 0 ? squares_b / (all_b * all_b) : 0;
        squares_a = all_a != 0 ? squares_a / (all_a * all_a) : 0;
    }
    double sum = fabs(b) + fabs(a);
    return sum > 0 ? (squares_b + squares_a) / sum : 0;
}

/* How likely chance alone makes a difference this large or larger. */
static double chance_of(const struct difference *d, const struct changed *c)
{
    double variance = scatter(d, &c->before, &d->whole.before) + scatter(d, &c->after, &d->whole.after);
    double seen = fabs(difference_amount(d, c)) - one_sample(d, c);
    if (seen <= 0 || variance <= 0)
        return 1;
    return erfc(seen / sqrt(2 * variance));
}

static int ascending(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

/* Benjamini and Hochberg: the largest chance[k] that is at most (k + 1) / n of what is allowed. Sorts. */
static double bound_of(double *chances, size_t n)
{
    static const double allowed = 0.01;
    double bound = -1;
    qsort(chances, n, sizeof *chances, ascending);
    for (size_t k = 0; k < n; k++)
        if (chances[k] <= allowed * (double)(k + 1) / (double)n)
            bound = chances[k];
    return bound;
}

static enum change direction(const struct difference *d, const struct changed *c)
{
    if (!c->before.samples)
        return CHANGE_NEW;
    if (!c->after.samples)
        return CHANGE_GONE;
    return difference_amount(d, c) > 0 ? CHANGE_MORE : CHANGE_LESS;
}

static bool has_enough(const struct changed *c) { return c->before.samples + c->after.samples >= DIFFERENCE_SAMPLES; }

/* Nothing is left to chance where everything was counted. */
static void judge_exactly(const struct difference *d, struct changed *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool differs = fabs(difference_amount(d, &rows[i])) > (d->by == DIFFERENCE_BY_VALUE ? 0 : 1e-12);
        rows[i].is = differs ? direction(d, &rows[i]) : CHANGE_SAME;
    }
}

void difference_judge(const struct difference *d, struct changed *rows, size_t n)
{
    if (d->is_exact) {
        judge_exactly(d, rows, n);
        return;
    }
    own(free) double *chances = mem_new(n * sizeof *chances);
    size_t asked = 0;
    for (size_t i = 0; i < n; i++)
        if (has_enough(&rows[i]))
            chances[asked++] = chance_of(d, &rows[i]);
    double bound = bound_of(chances, asked);
    for (size_t i = 0; i < n; i++)
        rows[i].is = has_enough(&rows[i]) && chance_of(d, &rows[i]) <= bound ? direction(d, &rows[i]) : CHANGE_SAME;
}

/* A node that was there, and now also ends there, is not new. */
static void judge_nodes(struct difference *d)
{
    difference_judge(d, d->total, d->tree.n);
    difference_judge(d, d->self, d->tree.n);
    for (size_t i = 0; i < d->tree.n; i++) {
        if (d->self[i].is == CHANGE_NEW && d->total[i].before.samples)
            d->self[i].is = CHANGE_MORE;
        if (d->self[i].is == CHANGE_GONE && d->total[i].after.samples)
            d->self[i].is = CHANGE_LESS;
    }
}

static void find_causes(struct difference *d)
{
    own(free) bool *explained = mem_new(d->tree.n); /* by a callee */
    d->cause = mem_new(d->tree.n * sizeof *d->cause);
    for (size_t i = d->tree.n - 1; i > 0; i--) {
        bool is_in_total = d->total[i].is != CHANGE_SAME && !explained[i];
        d->cause[i] = is_in_total ? d->total[i].is : d->self[i].is;
        explained[d->tree.nodes[i].parent] |= d->total[i].is != CHANGE_SAME || d->self[i].is != CHANGE_SAME;
    }
}

/* All of it. */

static void take_names(struct difference *d, const struct joining *j)
{
    d->before = profile_set(d->p, j->sets[0]);
    d->after = profile_set(d->p, j->sets[1]);
    d->measure = d->after->measures[0];
}

bool difference_of(struct difference_side before, struct difference_side after, enum difference_by by, bool inverted,
                   struct difference *out, struct err *e)
{
    *out = (struct difference){.by = by, .is_exact = before.is_exact && after.is_exact};
    if (!comparable(before, after, e))
        return false;
    struct joining j = {.b = builder_new()};
    join(&j, before, after);
    if (!builder_finish(j.b, &out->p, e))
        return false;
    take_names(out, &j);
    own(free) struct amount *had = amounts_of(out->p, out->before);
    own(free) struct amount *has = amounts_of(out->p, out->after);
    for (size_t s = 0; s < profile_stacks(out->p); s++) {
        amount_add(&out->whole.before, &had[s]);
        amount_add(&out->whole.after, &has[s]);
    }
    own(free) uint32_t *ends = grow_tree(out, had, has, inverted);
    out->self = mem_new(out->tree.n * sizeof *out->self);
    out->total = mem_new(out->tree.n * sizeof *out->total);
    add_to_nodes(out, had, has, ends);
    judge_nodes(out);
    find_causes(out);
    return true;
}

void difference_done(struct difference *d)
{
    call_tree_done(&d->tree);
    free(d->self);
    free(d->total);
    free(d->cause);
    profile_free(d->p);
    *d = (struct difference){0};
}
