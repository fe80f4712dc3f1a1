#include "analyse/neighbours.h"
#include "base/mem.h"
#include "model/weights.h"

/* A pair of functions: its value so far, and which stack paid it last. */
struct pair {
    int64_t value;
    uint32_t payer;
};

struct board {
    const struct profile *p;
    size_t n_functions;
    uint32_t *asked;               /* by function: its row + 1; 0: nobody asked */
    struct pair *callers, *callees; /* row * n_functions + function; function 0: nobody */
    uint32_t payer;                /* this stack of this set */
};

static void pay(struct pair *to, int64_t value, uint32_t payer)
{
    if (to->payer == payer)
        return;
    to->payer = payer;
    to->value += value;
}

static func_id function_at(const struct profile *p, stack_id s)
{
    return s.i == STACK_ROOT.i ? (func_id){0} : profile_frame(p, profile_stack(p, s)->frame)->function;
}

static void pay_stack(struct board *b, stack_id leaf, int64_t value)
{
    func_id callee = {0};
    b->payer++;
    for (stack_id s = leaf; s.i != STACK_ROOT.i;) {
        func_id f = function_at(b->p, s);
        stack_id up = profile_stack(b->p, s)->caller;
        if (b->asked[f.i]) {
            size_t at = (size_t)(b->asked[f.i] - 1) * b->n_functions;
            pay(&b->callers[at + function_at(b->p, up).i], value, b->payer);
            pay(&b->callees[at + callee.i], value, b->payer);
        }
        callee = f;
        s = up;
    }
}

static int largest_first(const void *pa, const void *pb)
{
    const struct neighbour *a = pa, *b = pb;
    if (a->value != b->value)
        return a->value < b->value ? 1 : -1;
    return (a->function.i > b->function.i) - (a->function.i < b->function.i);
}

static struct neighbour *collect(const struct pair *pairs, size_t n_functions, size_t *out_n)
{
    struct neighbour *list = NULL;
    size_t n = 0, cap = 0;
    for (uint32_t f = 1; f < n_functions; f++) {
        if (!pairs[f].value)
            continue;
        GROW(list, cap, n + 1);
        list[n++] = (struct neighbour){{f}, pairs[f].value};
    }
    if (n)
        qsort(list, n, sizeof *list, largest_first);
    *out_n = n;
    return list;
}

static void pay_set(struct board *b, const struct values *v)
{
    own(weights) struct weights w = weights_of(b->p, v->set, v->measure);
    for (uint32_t s = 1; s < profile_stacks(b->p); s++)
        if (w.self[s])
            pay_stack(b, (stack_id){s}, w.self[s]);
}

struct neighbours *neighbours_of(const struct profile *p, const struct values *values, size_t n_values,
                                 const func_id *functions, size_t n)
{
    size_t wide = profile_functions(p);
    own(free) uint32_t *asked = mem_new(wide * sizeof *asked);
    own(free) struct pair *callers = mem_new((n * wide + 1) * sizeof *callers);
    own(free) struct pair *callees = mem_new((n * wide + 1) * sizeof *callees);
    struct board b = {p, wide, asked, callers, callees, 0};
    for (size_t i = n; i-- > 0;)
        asked[functions[i].i] = (uint32_t)i + 1;
    for (size_t v = 0; v < n_values; v++)
        pay_set(&b, &values[v]);

    struct neighbours *rows = mem_new((n + 1) * sizeof *rows);
    for (size_t i = 0; i < n; i++) {
        rows[i] = (struct neighbours){.function = functions[i], .entry = callers[i * wide].value, .alone = callees[i * wide].value};
        rows[i].callers = collect(callers + i * wide, wide, &rows[i].n_callers);
        rows[i].callees = collect(callees + i * wide, wide, &rows[i].n_callees);
    }
    return rows;
}

void neighbours_free_all(struct neighbours *rows, size_t n)
{
    for (size_t i = 0; rows && i < n; i++) {
        free(rows[i].callers);
        free(rows[i].callees);
    }
    free(rows);
}
