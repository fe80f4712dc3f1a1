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
 * Node 0 is the root and has no function. Children come heaviest first, unless sorted otherwise.
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

enum call_order { CALL_BY_WEIGHT, CALL_BY_NAME, CALL_BY_TIME, CALL_ORDER_COUNT };

struct call_tree {
    struct call_node *nodes;
    uint32_t *children;
    size_t n, cap;
};

struct call_tree call_tree_of(const struct profile *p, const struct sample_set *set, size_t measure, bool inverted);
/* The same, and by stack id the node at which its samples ended; 0 for an inverted tree where there were none. To be freed. */
struct call_tree call_tree_with_ends(const struct profile *p, const struct sample_set *set, size_t measure, bool inverted,
                                     uint32_t **out_ends);

/*
 * Only nodes with at least `least` in total, which is far quicker where most have less. Those left out are
 * counted (of an inverted tree only the ones that stand on a node that is there); what they have stays in the
 * totals of their callers and in nobody's self.
 */
struct call_tree call_tree_above(const struct profile *p, const struct sample_set *set, size_t measure, bool inverted,
                                 int64_t least, size_t *out_left_out);

/*
 * What was measured in order of time, thread by thread: a function that is called again after another one
 * has a node again. Of samples without times, in the order they are in.
 */
struct call_tree call_tree_in_time(const struct profile *p, const struct sample_set *set, size_t measure);

/* Children by weight or name; by time is as call_tree_in_time() made them, and changes nothing. */
void call_tree_sort(struct call_tree *t, const struct profile *p, enum call_order order);

/* For who makes nodes, parents before children: totals from self values; the children of each, in order of id. */
void call_tree_add_up(struct call_tree *t);
void call_tree_link(struct call_tree *t);
void call_tree_done(struct call_tree *t);
DEFINE_OWN_IN_PLACE(call_tree, struct call_tree)

static inline uint32_t call_tree_child(const struct call_tree *t, const struct call_node *n, uint32_t i)
{
    return t->children[n->first_child + i];
}
