/*
 * call_graph.h - functions and who called whom, each function once
 *
 *     main ──90──> decode ──70──> matmul
 *       └───10──> sample ──10───────^           matmul is one node, called from two places
 *
 * A node has what a table of functions has:
 *
 *     self    measured while the function itself was on top of the stack
 *     total   measured while it was anywhere on the stack; recursion counts once
 *
 * An edge has what was measured while its caller called its callee, directly, anywhere
 * on the stack. A sample counts once per edge, however often the edge is on its stack:
 *
 *     main > eval > apply > eval > apply > matmul       eval > apply is paid once
 *
 * All of it comes from whole stacks, so nothing is estimated: a callee that is cheap
 * for one caller and dear for another is shown as that.
 *
 * A profile of counted calls (counted_calls.h) has no stacks but is a call graph
 * already; its numbers are taken as they are. Then calls are known too, also of a
 * function to itself. So they are for a program's scopes (scopes.h), which have both.
 *
 * Owns: its rows. Never recurses, however deep a stack is.
 */
#pragma once
#include "analyse/call_tree.h"

#define CALLS_UNKNOWN (-1)
#define GRAPH_NO_EDGE UINT32_MAX

struct graph_node {
    func_id function;
    enum frame_kind kind;
    int64_t self, total;
    int64_t calls; /* CALLS_UNKNOWN: nobody counted */
};

struct graph_edge {
    uint32_t caller, callee; /* nodes */
    int64_t value;
    bool has_value; /* false: only the calls are known */
    int64_t calls;
};

struct call_graph {
    struct graph_node *nodes;
    struct graph_edge *edges;
    size_t n_nodes, n_edges, cap_nodes, cap_edges;
    int64_t whole;       /* what self is a share of */
    int64_t whole_total; /* what totals are shares of: the whole, or the largest total where that is measured apart */
    bool counts_samples; /* calls are samples: from a profiler that counts those instead */
};

struct call_graph call_graph_of(const struct profile *p, const struct sample_set *set, size_t measure);
void call_graph_done(struct call_graph *g);
DEFINE_OWN_IN_PLACE(call_graph, struct call_graph)

/*
 * The same from a tree, for who has one with more beside its nodes. `visit` (or NULL) is told of every node of the
 * tree: which node and edge of the graph it belongs to, and whether it is the first of them on its path, so that
 * what it has in total is theirs.
 */
struct graph_visit {
    uint32_t tree_node, node, edge; /* edge: GRAPH_NO_EDGE at the root */
    bool pays_node, pays_edge;
};
typedef void (*graph_visitor)(void *self, const struct graph_visit *v);
struct call_graph call_graph_of_tree(const struct profile *p, const struct call_tree *t, graph_visitor visit, void *self);
