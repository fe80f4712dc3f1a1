/*
 * call_tree.h - who called whom, and what it cost, function by function
 *
 *     top-down    main 100 > decode 90 > matmul 70
 *     inverted    matmul 70 < decode 70 < main 70      where the time is, then who asked for it
 *
 * The stacks of a profile tell apart two lines of the same function; a call tree
 * does not. In both trees
 *
 *     total = self + the totals of the children,  exactly
 *
 * where self of the inverted tree is what ends there: nobody called further.
 *
 * Node 0 is the root and has no function. Children come heaviest first.
 * Owns: its nodes.
 */
#pragma once
#include "model/profile.h"

struct call_node {
    uint32_t parent;
    func_id function;
    enum frame_kind kind;
    int64_t self, total;
    uint32_t first_child, n_children; /* nodes.[first_child ...), see call_tree_child() */
};

struct call_tree {
    struct call_node *nodes;
    uint32_t *children;
    size_t n, cap;
};

struct call_tree call_tree_of(const struct profile *p, const struct sample_set *set, size_t measure, bool inverted);
/* The same, and by stack id the node at which its samples ended; 0 for an inverted tree where there were none. To be freed. */
struct call_tree call_tree_with_ends(const struct profile *p, const struct sample_set *set, size_t measure, bool inverted,
                                     uint32_t **out_ends);
void call_tree_done(struct call_tree *t);
DEFINE_OWN_IN_PLACE(call_tree, struct call_tree)

static inline uint32_t call_tree_child(const struct call_tree *t, const struct call_node *n, uint32_t i)
{
    return t->children[n->first_child + i];
}
