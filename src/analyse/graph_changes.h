/*
 * graph_changes.h - two profiles as one call graph: what became more, less, new or gone
 *
 * The common tree of a difference (difference.h), walked as call_graph.h walks any tree:
 * nodes and edges of both sides are there, each with what it had before and what it has
 * after, and the judgement whether that is more than noise. The graph's own numbers are
 * those of the tree: widths in which both sides have room, for thresholds and for the
 * thickness of edges.
 *
 * Owns: the rows. By node and by edge of the graph.
 */
#pragma once
#include "analyse/call_graph.h"
#include "analyse/difference.h"

struct graph_changes {
    struct changed *self, *total, *edges;
    size_t n_nodes, n_edges, cap_self, cap_total, cap_edges;
};

struct call_graph graph_of_difference(const struct difference *d, struct graph_changes *out);
void graph_changes_done(struct graph_changes *c);
DEFINE_OWN_IN_PLACE(graph_changes, struct graph_changes)
