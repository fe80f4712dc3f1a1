#include "analyse/graph_changes.h"
#include "base/mem.h"

struct gathering {
    const struct difference *d;
    struct graph_changes *into;
};

/* Room for row i; new rows are empty. */
static struct changed *row(struct changed **rows, size_t *cap, size_t *n, size_t i)
{
    *rows = mem_grow(*rows, cap, i + 1, sizeof **rows);
    for (; *n <= i; ++*n)
        (*rows)[*n] = (struct changed){0};
    return &(*rows)[i];
}

static void add(struct changed *to, const struct changed *more)
{
    amount_add(&to->before, &more->before);
    amount_add(&to->after, &more->after);
}

static void gather(void *self, const struct graph_visit *v)
{
    struct gathering *g = self;
    struct graph_changes *c = g->into;
    size_t n_self = c->n_nodes;
    add(row(&c->self, &c->cap_self, &n_self, v->node), &g->d->self[v->tree_node]);
    struct changed *total = row(&c->total, &c->cap_total, &c->n_nodes, v->node);
    if (v->pays_node)
        add(total, &g->d->total[v->tree_node]);
    if (v->edge == GRAPH_NO_EDGE)
        return;
    struct changed *edge = row(&c->edges, &c->cap_edges, &c->n_edges, v->edge);
    if (v->pays_edge)
        add(edge, &g->d->total[v->tree_node]);
}

struct call_graph graph_of_difference(const struct difference *d, struct graph_changes *out)
{
    *out = (struct graph_changes){0};
    struct gathering g = {d, out};
    struct call_graph graph = call_graph_of_tree(d->p, &d->tree, gather, &g);
    difference_judge(d, out->self, out->n_nodes);
    difference_judge(d, out->total, out->n_nodes);
    difference_judge(d, out->edges, out->n_edges);
    return graph;
}

void graph_changes_done(struct graph_changes *c)
{
    free(c->self);
    free(c->total);
    free(c->edges);
    *c = (struct graph_changes){0};
}
