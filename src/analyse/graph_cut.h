/*
 * graph_cut.h - the part of a call graph that a picture has room for
 *
 * A node stays when its total is at least a share of the whole; an edge when its value
 * is, and both its ends stay. Of those, the heaviest are kept up to a number. Since
 * the order is the same whatever the share is, asking for smaller nodes adds nodes and
 * never takes one away.
 *
 * Edges of which only the calls are known have no share; they stay with their ends.
 *
 * Cycles are sets of two or more nodes of which each calls the others, directly or
 * through the rest of the set (strongly connected components), in the part that
 * stays. A function that calls itself needs no mark: its edge shows it.
 *
 * Owns: its lists.
 */
#pragma once
#include "analyse/call_graph.h"

struct graph_limits {
    double node_share, edge_share; /* 0..1 */
    size_t most_nodes, most_edges; /* 0: no limit */
    bool (*keep)(const void *self, const struct profile *p, func_id function); /* NULL: all */
    const void *self;
};

struct graph_cut {
    uint32_t *nodes, *edges; /* rows of the graph, heaviest first */
    size_t n_nodes, n_edges;
    uint32_t *place;  /* by node of the graph: where in `nodes`, + 1; 0: cut off */
    uint32_t *cycle;  /* by place in `nodes`: 1, 2, ... in the order of their heaviest nodes; 0: in none */
    size_t n_cycles;
    size_t small_nodes, many_nodes; /* cut off because they are too small; because there were too many */
};

struct graph_cut graph_cut_of(const struct call_graph *g, const struct profile *p, const struct graph_limits *limits);
void graph_cut_done(struct graph_cut *c);
DEFINE_OWN_IN_PLACE(graph_cut, struct graph_cut)

/* Fills c->cycle and c->n_cycles; part of graph_cut_of(). */
void graph_cut_find_cycles(const struct call_graph *g, struct graph_cut *c);
