/*
 * flame_tree.h - the tree of a flame graph, of one profile or of two, in the order it is drawn
 *
 * Depth first, the heaviest child first, without the nodes nothing was measured at.
 * Node 0 is the root; function 0 is nobody's. The functions are those the tree has.
 *
 * Owns: its tables, and the profile that the names of two are joined in.
 */
#pragma once
#include "base/err.h"
#include "model/profile.h"

enum { FLAME_SIDES_MOST = 2 };

/* One recording: some samples of a profile and one of their values. */
struct flame_side {
    const char *label; /* how the page calls it; a file name */
    const struct profile *p;
    const struct sample_set *set;
    size_t measure;
};

struct flame_tree {
    struct profile *joined;      /* NULL when there is one side */
    const struct profile *names; /* the ids of functions below mean this one */
    size_t n;                    /* nodes, with the root */
    uint32_t *rise;              /* by node but the root (n - 1 of them): levels up from the node before it, then one down */
    uint32_t *function;          /* by node but the root: row of functions */
    func_id *functions;
    enum frame_kind *kinds;      /* by row of functions */
    bool *is_system;             /* by row of functions */
    size_t n_functions;
    uint32_t *node_of[FLAME_SIDES_MOST]; /* by stack id of that side's profile */
};

/* Measured at nothing but this: what is below zero cannot be drawn and counts as nothing. */
static inline int64_t flame_value(const struct flame_side *s, size_t row)
{
    int64_t value = s->set->values[s->measure][row];
    return value > 0 ? value : 0;
}

bool flame_tree_of(const struct flame_side *sides, size_t n_sides, struct flame_tree *out, struct err *e) MUST_CHECK;
void flame_tree_done(struct flame_tree *t);
DEFINE_OWN_IN_PLACE(flame_tree, struct flame_tree)
