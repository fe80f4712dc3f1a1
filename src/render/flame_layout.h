/*
 * flame_layout.h - which boxes a flame graph has, and where
 *
 * A box stands on its caller's and is as wide as its total:
 *
 *     [ decode            ][ load ]·····       ····· what main did itself, and callees
 *     [ main                           ]             too narrow to be drawn
 *     [ all                                  ]
 *
 * Narrow ones are left out, and of what remains the widest are kept. A callee is never
 * wider than its caller, so whoever is kept has a caller that is kept.
 *
 * Owns: its boxes.
 */
#pragma once
#include "analyse/call_tree.h"

struct flame_box {
    uint32_t node;   /* of the tree */
    uint32_t depth;  /* 0: the root, which is everything */
    double at, wide; /* parts of the whole, 0..1 */
};

struct flame_layout {
    struct flame_box *boxes; /* callers before callees, from left to right */
    size_t n;
    uint32_t deepest;
    size_t left_out; /* nodes of the tree without a box */
};

/* max_frames 0: any number. */
struct flame_layout flame_layout_of(const struct call_tree *t, double min_share, size_t max_frames);
void flame_layout_done(struct flame_layout *l);
DEFINE_OWN_IN_PLACE(flame_layout, struct flame_layout)

/* The least total that is drawn at this share of the whole; for who makes the tree. */
int64_t flame_least(int64_t whole, double min_share);
