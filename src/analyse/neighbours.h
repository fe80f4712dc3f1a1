/*
 * neighbours.h - who called a function, and whom it called, with what it cost
 *
 *     caller    what was measured while this caller had called the function directly
 *     callee    what was measured while the function had called this one directly
 *
 * Several functions are asked about in one pass. With recursion a pair stands on a stack more
 * than once and counts once; the callers of a recursive function can therefore add up to more
 * than its total, as totals can.
 *
 * Owns: its rows.
 */
#pragma once
#include "model/profile.h"

struct neighbour {
    func_id function;
    int64_t value;
};

struct neighbours {
    func_id function;
    int64_t entry;                       /* with no caller: a thread began with it */
    int64_t alone;                       /* with no callee: its own */
    struct neighbour *callers, *callees; /* largest first */
    size_t n_callers, n_callees;
};

struct values {
    const struct sample_set *set;
    size_t measure;
};

/* rows[i] is about functions[i], over all the values together. Of the same function twice, the second has nothing. */
struct neighbours *neighbours_of(const struct profile *p, const struct values *values, size_t n_values,
                                 const func_id *functions, size_t n);
void neighbours_free_all(struct neighbours *rows, size_t n);
