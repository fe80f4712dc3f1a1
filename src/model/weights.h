/*
 * weights.h - how much of a measure each stack carries
 *
 *     self[s]    in samples that end exactly at stack s
 *     total[s]   in s and everything called from it
 *
 * Sums of a tree, so recursion counts nothing twice: total[root] is the whole.
 * And the same tree seen from above: the callees of each stack.
 */
#pragma once
#include "model/profile.h"

struct weights {
    int64_t *self, *total; /* by stack id */
};

struct weights weights_of(const struct profile *p, const struct sample_set *set, size_t measure);
void weights_done(struct weights *w);
DEFINE_OWN_IN_PLACE(weights, struct weights)

/* The callees of stack s: children.list[children.first[s] .. children.first[s + 1]), in order of id. */
struct children {
    uint32_t *first, *list;
};

struct children children_of(const struct profile *p);
void children_done(struct children *c);
DEFINE_OWN_IN_PLACE(children, struct children)
