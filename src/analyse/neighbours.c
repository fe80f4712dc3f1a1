#include "analyse/neighbours.h"
#include "base/mem.h"

static int largest_first(const void *pa, const void *pb)
{
    const struct neighbour *a = pa, *b = pb;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    if (a->value != b->value)
        return a->value < b->value ? 1 : -1;
    return (a->function.i > b->function.i) - (a->function.i < b->function.i);
}

static struct neighbour *around(const struct call_graph *g, func_id function, bool callers, size_t *out_n)
{
    struct neighbour *list = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < g->n_edges; i++) {
        const struct graph_edge *e = &g->edges[i];
        uint32_t here = callers ? e->callee : e->caller, there = callers ? e->caller : e->callee;
        if (g->nodes[here].function.i != function.i || (!e->value && e->calls <= 0))
            continue;
        GROW(list, cap, n + 1);
        list[n++] = (struct neighbour){g->nodes[there].function, e->value, e->calls};
    }
    if (n)
        qsort(list, n, sizeof *list, largest_first);
    *out_n = n;
    return list;
}

struct neighbours *neighbours_of(const struct call_graph *g, const func_id *functions, size_t n)
{
    struct neighbours *rows = mem_new((n + 1) * sizeof *rows);
    for (size_t i = 0; i < n; i++) {
        rows[i].function = functions[i];
        rows[i].callers = around(g, functions[i], true, &rows[i].n_callers);
        rows[i].callees = around(g, functions[i], false, &rows[i].n_callees);
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
