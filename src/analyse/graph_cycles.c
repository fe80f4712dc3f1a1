/*
 * Tarjan's strongly connected components with a path of our own instead of the
 * program's stack: a graph as deep as it is large takes memory, not a crash.
 *
 *     order[v]   when v was met, from 1; 0: not yet
 *     low[v]     the earliest node that v reaches and that is not settled
 *
 * A node whose low is its own order is where its component was entered: everything
 * met since and not yet settled belongs to it.
 */
#include "analyse/graph_cut.h"
#include "base/mem.h"

struct step {
    uint32_t node, next; /* next: of its callees */
};

struct search {
    uint32_t *first, *callees; /* callees[first[v] .. first[v + 1]) */
    uint32_t *order, *low, *open, *component;
    bool *is_open;
    struct step *path;
    size_t depth, n_open;
    uint32_t met, n_components;
};

/* Counting sort of the edges by caller; nodes are places in the cut. */
static void list_callees(struct search *s, const struct call_graph *g, const struct graph_cut *c)
{
    s->first = mem_new((c->n_nodes + 2) * sizeof *s->first);
    s->callees = mem_new((c->n_edges + 1) * sizeof *s->callees);
    for (size_t i = 0; i < c->n_edges; i++)
        s->first[c->place[g->edges[c->edges[i]].caller] + 1]++;
    for (size_t v = 0; v <= c->n_nodes; v++)
        s->first[v + 1] += s->first[v];
    for (size_t i = 0; i < c->n_edges; i++) {
        const struct graph_edge *e = &g->edges[c->edges[i]];
        s->callees[s->first[c->place[e->caller]]++] = c->place[e->callee] - 1;
    }
}

static void meet(struct search *s, uint32_t v)
{
    s->order[v] = s->low[v] = ++s->met;
    s->open[s->n_open++] = v;
    s->is_open[v] = true;
    s->path[s->depth++] = (struct step){v, s->first[v]};
}

static void settle(struct search *s, uint32_t entered)
{
    uint32_t v;
    s->n_components++;
    do {
        v = s->open[--s->n_open];
        s->is_open[v] = false;
        s->component[v] = s->n_components;
    } while (v != entered);
}

static void lower(struct search *s, uint32_t v, uint32_t to)
{
    if (to < s->low[v])
        s->low[v] = to;
}

static void search_from(struct search *s, uint32_t start)
{
    meet(s, start);
    while (s->depth) {
        struct step *at = &s->path[s->depth - 1];
        uint32_t v = at->node;
        if (at->next < s->first[v + 1]) {
            uint32_t callee = s->callees[at->next++];
            if (!s->order[callee])
                meet(s, callee);
            else if (s->is_open[callee])
                lower(s, v, s->order[callee]);
            continue;
        }
        if (s->low[v] == s->order[v])
            settle(s, v);
        s->depth--;
        if (s->depth)
            lower(s, s->path[s->depth - 1].node, s->low[v]);
    }
}

/* Components of one node are no cycles. The others are numbered as one meets them, heaviest node first. */
static void number_cycles(const struct search *s, struct graph_cut *c)
{
    own(free) uint32_t *size = mem_new((s->n_components + 1) * sizeof *size);
    own(free) uint32_t *number = mem_new((s->n_components + 1) * sizeof *number);
    for (size_t v = 0; v < c->n_nodes; v++)
        size[s->component[v]]++;
    for (size_t v = 0; v < c->n_nodes; v++) {
        uint32_t of = s->component[v];
        if (size[of] < 2)
            continue;
        if (!number[of])
            number[of] = (uint32_t)++c->n_cycles;
        c->cycle[v] = number[of];
    }
}

void graph_cut_find_cycles(const struct call_graph *g, struct graph_cut *c)
{
    size_t n = c->n_nodes + 1;
    struct search s = {.order = mem_new(n * sizeof *s.order), .low = mem_new(n * sizeof *s.low),
                       .open = mem_new(n * sizeof *s.open), .component = mem_new(n * sizeof *s.component),
                       .is_open = mem_new(n * sizeof *s.is_open), .path = mem_new(n * sizeof *s.path)};
    list_callees(&s, g, c);
    for (uint32_t v = 0; v < c->n_nodes; v++)
        if (!s.order[v])
            search_from(&s, v);
    c->cycle = mem_new(n * sizeof *c->cycle);
    c->n_cycles = 0;
    number_cycles(&s, c);
    void *const all[] = {s.first, s.callees, s.order, s.low, s.open, s.component, s.is_open, s.path};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}
