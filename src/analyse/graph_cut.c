#include "analyse/graph_cut.h"
#include "base/mem.h"

struct order {
    const struct call_graph *g;
    const struct profile *p;
};

static int by_name(const struct profile *p, func_id a, func_id b)
{
    const struct function *fa = profile_function(p, a), *fb = profile_function(p, b);
    int order = view_compare(profile_string(p, fa->name), profile_string(p, fb->name));
    return order ? order : (a.i > b.i) - (a.i < b.i);
}

/* By total, then self, then name: the same profile draws the same picture. */
static int heavier_node(const void *pa, const void *pb, void *po)
{
    const struct order *o = po;
    const struct graph_node *a = &o->g->nodes[*(const uint32_t *)pa], *b = &o->g->nodes[*(const uint32_t *)pb];
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    if (a->self != b->self)
        return a->self < b->self ? 1 : -1;
    return by_name(o->p, a->function, b->function);
}

static int heavier_edge(const void *pa, const void *pb, void *po)
{
    const struct order *o = po;
    const struct graph_edge *a = &o->g->edges[*(const uint32_t *)pa], *b = &o->g->edges[*(const uint32_t *)pb];
    if (a->value != b->value)
        return a->value < b->value ? 1 : -1;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    int callers = by_name(o->p, o->g->nodes[a->caller].function, o->g->nodes[b->caller].function);
    return callers ? callers : by_name(o->p, o->g->nodes[a->callee].function, o->g->nodes[b->callee].function);
}

/* Two numbers below 2^53 divide exactly enough; what is not below a share is not cut. */
static bool is_below(int64_t value, int64_t whole, double share)
{
    return whole > 0 && (double)value / (double)whole < share;
}

static void cut_nodes(struct graph_cut *c, const struct order *o, const struct graph_limits *l)
{
    const struct call_graph *g = o->g;
    c->nodes = mem_new((g->n_nodes + 1) * sizeof *c->nodes);
    c->place = mem_new((g->n_nodes + 1) * sizeof *c->place);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        if (l->keep && !l->keep(l->self, o->p, g->nodes[i].function))
            continue;
        if (is_below(g->nodes[i].total, g->whole_total, l->node_share))
            c->small_nodes++;
        else
            c->nodes[c->n_nodes++] = i;
    }
    qsort_r(c->nodes, c->n_nodes, sizeof *c->nodes, heavier_node, (void *)(uintptr_t)o);
    if (l->most_nodes && c->n_nodes > l->most_nodes) {
        c->many_nodes = c->n_nodes - l->most_nodes;
        c->n_nodes = l->most_nodes;
    }
    for (uint32_t k = 0; k < c->n_nodes; k++)
        c->place[c->nodes[k]] = k + 1;
}

static void cut_edges(struct graph_cut *c, const struct order *o, const struct graph_limits *l)
{
    const struct call_graph *g = o->g;
    c->edges = mem_new((g->n_edges + 1) * sizeof *c->edges);
    for (uint32_t i = 0; i < g->n_edges; i++) {
        const struct graph_edge *e = &g->edges[i];
        bool is_small = e->has_value && is_below(e->value, g->whole_total, l->edge_share);
        if (!is_small && c->place[e->caller] && c->place[e->callee])
            c->edges[c->n_edges++] = i;
    }
    qsort_r(c->edges, c->n_edges, sizeof *c->edges, heavier_edge, (void *)(uintptr_t)o);
    if (l->most_edges && c->n_edges > l->most_edges)
        c->n_edges = l->most_edges;
}

struct graph_cut graph_cut_of(const struct call_graph *g, const struct profile *p, const struct graph_limits *limits)
{
    struct graph_cut c = {0};
    struct order o = {g, p};
    cut_nodes(&c, &o, limits);
    cut_edges(&c, &o, limits);
    graph_cut_find_cycles(g, &c);
    return c;
}

void graph_cut_done(struct graph_cut *c)
{
    free(c->nodes);
    free(c->edges);
    free(c->place);
    free(c->cycle);
    *c = (struct graph_cut){0};
}
