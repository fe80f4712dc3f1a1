#include "analyse/top.h"
#include "base/mem.h"
#include "model/counted_calls.h"

struct stack_value {
    stack_id stack;
    int64_t value;
};

struct stack_values {
    struct stack_value *rows;
    size_t n;
};

/* Many samples end at the same stack: add those up first, so that each stack is walked once. */
static struct stack_values by_stack(const struct profile *p, const struct sample_set *set, size_t measure,
                                    const size_t *which, size_t n)
{
    own(free) uint32_t *row_of = mem_new(profile_stacks(p) * sizeof *row_of); /* row + 1 */
    struct stack_values v = {0};
    size_t cap = 0;
    for (size_t k = 0; k < n; k++) {
        size_t i = which ? which[k] : k;
        uint32_t *row = &row_of[set->stacks[i].i];
        if (!*row) {
            GROW(v.rows, cap, v.n + 1);
            v.rows[v.n] = (struct stack_value){.stack = set->stacks[i]};
            *row = (uint32_t)++v.n;
        }
        v.rows[*row - 1].value += set->values[measure][i];
    }
    return v;
}

/*
 * Total time of a function is the time during which it was anywhere on the
 * stack. With recursion it appears more than once:
 *
 *     main > eval > apply > eval > matmul        one sample, 10 ms
 *
 * eval was on the stack for 10 ms, not 20; adding at every appearance would let
 * totals exceed the run. So a function is paid the first time we meet it on the
 * way to the root. `paid_by[f]` remembers which stack paid f last (they count
 * from 1, so 0 is nobody): cheaper than clearing a set for every stack.
 */
static void pay(struct hot *by_function, uint32_t *paid_by, const struct profile *p,
                struct stack_value v, uint32_t payer)
{
    for (stack_id s = v.stack; s.i != STACK_ROOT.i; s = profile_stack(p, s)->caller) {
        const struct frame *f = profile_frame(p, profile_stack(p, s)->frame);
        struct hot *hot = &by_function[f->function.i];
        if (s.i == v.stack.i)
            hot->self += v.value;
        if (paid_by[f->function.i] == payer)
            continue;
        paid_by[f->function.i] = payer;
        hot->kind = f->kind;
        hot->total += v.value;
    }
}

/* Where calls were counted there are no stacks, but the totals are known: they were measured. */
static void take_cumulative(struct hot *by_function, const struct profile *p, const struct sample_set *set,
                            const size_t *which, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t i = which ? which[k] : k;
        if (set->stacks[i].i == STACK_ROOT.i)
            continue;
        struct hot *hot = &by_function[profile_frame(p, profile_stack(p, set->stacks[i])->frame)->function.i];
        hot->total += set->values[COUNTED_CUMULATIVE][i] - set->values[COUNTED_SELF][i];
    }
}

static bool has_cumulative(const struct profile *p, const struct sample_set *set, size_t measure)
{
    struct counted_calls counted;
    return measure == COUNTED_SELF && counted_calls_of(p, &counted) && counted.functions == set;
}

struct top top_of(const struct profile *p, const struct sample_set *set, size_t measure, const size_t *which, size_t n)
{
    struct stack_values values = by_stack(p, set, measure, which, which ? n : set->n);
    size_t n_functions = profile_functions(p);
    own(free) uint32_t *paid_by = mem_new(n_functions * sizeof *paid_by);
    struct top t = {.rows = mem_new(n_functions * sizeof *t.rows)};
    for (size_t i = 0; i < values.n; i++) {
        pay(t.rows, paid_by, p, values.rows[i], (uint32_t)i + 1);
        t.whole += values.rows[i].value;
    }
    free(values.rows);
    if (has_cumulative(p, set, measure))
        take_cumulative(t.rows, p, set, which, which ? n : set->n);
    for (uint32_t f = 0; f < n_functions; f++) {
        if (!paid_by[f])
            continue;
        struct hot row = t.rows[f];
        row.function = (func_id){f};
        t.rows[t.n++] = row;
    }
    return t;
}

struct order {
    const struct profile *p;
    enum top_order by;
};

static int by_name(const struct profile *p, func_id a, func_id b)
{
    const struct function *fa = profile_function(p, a), *fb = profile_function(p, b);
    int order = view_compare(profile_string(p, fa->name), profile_string(p, fb->name));
    return order ? order : (a.i > b.i) - (a.i < b.i);
}

/* Heaviest first; equal weights fall back to the name and then the id, so the same profile prints the same bytes. */
static int compare(const void *pa, const void *pb, void *pc)
{
    const struct hot *a = pa, *b = pb;
    const struct order *o = pc;
    int64_t first[2] = {o->by == TOP_BY_TOTAL ? a->total : a->self, o->by == TOP_BY_TOTAL ? b->total : b->self};
    int64_t second[2] = {o->by == TOP_BY_TOTAL ? a->self : a->total, o->by == TOP_BY_TOTAL ? b->self : b->total};
    if (o->by != TOP_BY_NAME && first[0] != first[1])
        return first[0] < first[1] ? 1 : -1;
    if (o->by != TOP_BY_NAME && second[0] != second[1])
        return second[0] < second[1] ? 1 : -1;
    return by_name(o->p, a->function, b->function);
}

void top_sort(struct top *t, const struct profile *p, enum top_order order)
{
    struct order o = {p, order};
    qsort_r(t->rows, t->n, sizeof *t->rows, compare, &o);
}

void top_done(struct top *t)
{
    free(t->rows);
    *t = (struct top){0};
}
