/*
 * neighbours.h - of a call graph, those around a few functions: who called them, and whom they called
 *
 * Owns: its rows.
 */
#pragma once
#include "analyse/call_graph.h"

struct neighbour {
    func_id function;
    int64_t value, calls; /* of the edge; as in call_graph.h */
};

struct neighbours {
    func_id function;
    struct neighbour *callers, *callees; /* most calls first where they are known, else largest value first */
    size_t n_callers, n_callees;
};

/* rows[i] is about functions[i]. The caller's to free. */
struct neighbours *neighbours_of(const struct call_graph *g, const func_id *functions, size_t n);
void neighbours_free_all(struct neighbours *rows, size_t n);
