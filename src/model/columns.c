#include "model/columns.h"
#include "base/mem.h"

#define FIRST_ROWS 64

void columns_init(struct columns *c, size_t n_measures) { *c = (struct columns){.n_measures = n_measures}; }

void columns_done(struct columns *c)
{
    free(c->time_ns);
    free(c->contexts);
    free(c->stacks);
    free(c->row_of);
    for (size_t m = 0; m < c->n_measures; m++)
        free(c->values[m]);
    *c = (struct columns){0};
}

static void widen(struct columns *c)
{
    size_t cap = c->cap ? c->cap * 2 : FIRST_ROWS;
    c->stacks = mem_resize(c->stacks, cap * sizeof *c->stacks);
    if (c->time_ns)
        c->time_ns = mem_resize(c->time_ns, cap * sizeof *c->time_ns);
    if (c->contexts)
        c->contexts = mem_resize(c->contexts, cap * sizeof *c->contexts);
    for (size_t m = 0; m < c->n_measures; m++)
        c->values[m] = mem_resize(c->values[m], cap * sizeof *c->values[m]);
    c->cap = cap;
}

static void begin_times(struct columns *c)
{
    c->time_ns = mem_resize(NULL, c->cap * sizeof *c->time_ns);
    for (size_t i = 0; i < c->n; i++)
        c->time_ns[i] = TIME_NONE;
    c->out_of_order = c->n > 0; /* those without a time belong behind */
}

void columns_add(struct columns *c, uint64_t time_ns, context_id context, stack_id stack, const int64_t *values)
{
    if (c->n == c->cap)
        widen(c);
    if (!c->time_ns && time_ns != TIME_NONE)
        begin_times(c);
    if (!c->contexts && context.i)
        c->contexts = mem_new(c->cap * sizeof *c->contexts);
    if (c->time_ns) {
        c->out_of_order |= time_ns < c->latest_ns;
        c->latest_ns = time_ns;
        c->time_ns[c->n] = time_ns;
    }
    if (c->contexts)
        c->contexts[c->n] = context;
    c->stacks[c->n] = stack;
    for (size_t m = 0; m < c->n_measures; m++)
        c->values[m][c->n] = values[m];
    c->n++;
}

static uint32_t *row_of(struct columns *c, stack_id stack)
{
    size_t had = c->row_of_cap;
    GROW(c->row_of, c->row_of_cap, (size_t)stack.i + 1);
    if (c->row_of_cap > had)
        memset(c->row_of + had, 0, (c->row_of_cap - had) * sizeof *c->row_of);
    return &c->row_of[stack.i];
}

/* A sum that does not fit is noticed by the builder, whose total of all rows does not either. */
void columns_add_up(struct columns *c, stack_id stack, const int64_t *values)
{
    uint32_t *row = row_of(c, stack);
    if (!*row) {
        columns_add(c, TIME_NONE, (context_id){0}, stack, values);
        *row = (uint32_t)c->n;
        return;
    }
    for (size_t m = 0; m < c->n_measures; m++)
        c->values[m][*row - 1] = (int64_t)((uint64_t)c->values[m][*row - 1] + (uint64_t)values[m]);
}

bool columns_times_ten(struct columns *c, size_t measure)
{
    bool fits = true;
    for (size_t i = 0; i < c->n; i++)
        fits &= !__builtin_mul_overflow(c->values[measure][i], INT64_C(10), &c->values[measure][i]);
    return fits;
}

/* Sorting. A key remembers where its row stood, so equal times keep their order. */

struct key {
    uint64_t time_ns;
    size_t row;
};

static int by_time(const void *pa, const void *pb)
{
    const struct key *a = pa, *b = pb;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

#define PERMUTE(column, keys, n)                                          \
    do {                                                                  \
        if (column) {                                                     \
            __typeof__(column) sorted_ = mem_resize(NULL, (n) * sizeof *sorted_); \
            for (size_t i_ = 0; i_ < (n); i_++)                           \
                sorted_[i_] = (column)[(keys)[i_].row];                   \
            free(column);                                                 \
            (column) = sorted_;                                           \
        }                                                                 \
    } while (0)

void columns_sort(struct columns *c)
{
    if (!c->out_of_order)
        return;
    own(free) struct key *keys = mem_resize(NULL, c->n * sizeof *keys);
    for (size_t i = 0; i < c->n; i++)
        keys[i] = (struct key){c->time_ns[i], i};
    qsort(keys, c->n, sizeof *keys, by_time);
    PERMUTE(c->time_ns, keys, c->n);
    PERMUTE(c->contexts, keys, c->n);
    PERMUTE(c->stacks, keys, c->n);
    for (size_t m = 0; m < c->n_measures; m++)
        PERMUTE(c->values[m], keys, c->n);
    c->cap = c->n;
    c->out_of_order = false;
}

void columns_give(struct columns *c, struct sample_set *to)
{
    to->n = c->n;
    to->time_ns = c->time_ns;
    to->contexts = c->contexts;
    to->stacks = c->stacks;
    for (size_t m = 0; m < c->n_measures; m++)
        to->values[m] = c->values[m];
    free(c->row_of);
    *c = (struct columns){0};
}

static int readings_by_time(const void *pa, const void *pb)
{
    const struct reading *a = pa, *b = pb;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

void readings_sort(struct reading_column *c)
{
    bool in_order = true;
    for (size_t i = 1; in_order && i < c->n; i++)
        in_order = c->rows[i - 1].time_ns <= c->rows[i].time_ns;
    if (!in_order)
        qsort(c->rows, c->n, sizeof *c->rows, readings_by_time);
}

/*
 * Spans by their beginning; of two that begin together the longer one is the
 * outer one and comes first. Then everybody is told the new numbers.
 */
static int by_beginning(const void *pa, const void *pb, void *rows)
{
    const struct span *spans = rows;
    uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
    const struct span *a = &spans[ia], *b = &spans[ib];
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->length_ns != b->length_ns)
        return a->length_ns > b->length_ns ? -1 : 1;
    return (ia > ib) - (ia < ib);
}

void spans_sort(struct span *rows, size_t n)
{
    own(free) uint32_t *order = mem_resize(NULL, n * sizeof *order);
    own(free) uint32_t *now_at = mem_resize(NULL, n * sizeof *now_at);
    own(free) struct span *old = mem_resize(NULL, n * sizeof *old);
    memcpy(old, rows, n * sizeof *old);
    bool in_order = true;
    for (size_t i = 0; i < n; i++) {
        order[i] = (uint32_t)i;
        in_order &= i < 2 || by_beginning(&order[i - 1], &order[i], old) < 0;
    }
    if (in_order)
        return;
    qsort_r(order + 1, n - 1, sizeof *order, by_beginning, old);
    for (size_t i = 0; i < n; i++)
        now_at[order[i]] = (uint32_t)i;
    for (size_t i = 1; i < n; i++) {
        rows[i] = old[order[i]];
        rows[i].parent.i = now_at[rows[i].parent.i];
        rows[i].link.i = now_at[rows[i].link.i];
    }
}
