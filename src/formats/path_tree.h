/*
 * path_tree.h - paths of small numbers, each distinct one known by a row
 *
 *     row 0         the empty path
 *     row r         the path of `before`, then `step`; before < r
 *
 * The same shape as the stacks of a profile, for numbers that are not frames
 * yet, or no longer: the frame indices of a file whose names come last.
 */
#pragma once
#include "base/idmap.h"
#include "base/own.h"

struct path_step {
    uint32_t before, step;
};

struct path_tree {
    struct path_step *rows;
    size_t n, cap;
    struct idmap map;
    bool full; /* 2^32 rows were not enough; the row returned then is 0 */
};

void path_tree_init(struct path_tree *t);
void path_tree_done(struct path_tree *t);
DEFINE_OWN_IN_PLACE(path_tree, struct path_tree)

uint32_t path_tree_push(struct path_tree *t, uint32_t before, uint32_t step);
