#include "render/flame_layout.h"
#include "base/mem.h"

#include <math.h>

int64_t flame_least(int64_t whole, double min_share)
{
    double least = ceil((double)whole * min_share * (1 - 1e-12)); /* 0.1 % of 1000 is 1, whatever 0.001 is in binary */
    return least < 1 ? 1 : least > 9e18 ? INT64_MAX : (int64_t)least;
}

static int widest_first(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return (a < b) - (a > b);
}

/*
 * What a box must have at least, so that no more than `most` have it. Where many are equally wide, the
 * deep ones go, level by level: taking them from one end would make that end look idle.
 */
struct bound {
    int64_t least;
    uint32_t depth; /* of those that have exactly the least, only the ones above this level */
};

/* The first level of equally wide ones that does not fit any more. */
static uint32_t level_that_fits(const struct call_tree *t, int64_t width, size_t room)
{
    own(free) uint32_t *depth = mem_new(t->n * sizeof *depth);
    own(free) size_t *at_depth = mem_new((t->n + 1) * sizeof *at_depth);
    for (size_t i = 1; i < t->n; i++) {
        depth[i] = depth[t->nodes[i].parent] + 1;
        at_depth[depth[i]] += t->nodes[i].total == width;
    }
    uint32_t level = 0;
    while (level < t->n && at_depth[level] <= room)
        room -= at_depth[level++];
    return level;
}

static struct bound bound_of(const struct call_tree *t, int64_t least, size_t most)
{
    own(free) int64_t *totals = mem_new(t->n * sizeof *totals);
    size_t n = 0;
    for (size_t i = 1; i < t->n; i++)
        if (t->nodes[i].total >= least)
            totals[n++] = t->nodes[i].total;
    if (!most || n <= most)
        return (struct bound){.least = least, .depth = UINT32_MAX};
    qsort(totals, n, sizeof *totals, widest_first);
    size_t room = 0;
    for (size_t i = most; i > 0 && totals[i - 1] == totals[most - 1]; i--)
        room++;
    return (struct bound){.least = totals[most - 1], .depth = level_that_fits(t, totals[most - 1], room)};
}

static void add_box(struct flame_layout *l, size_t *cap, struct flame_box box)
{
    GROW(l->boxes, *cap, l->n + 1);
    l->boxes[l->n++] = box;
    l->deepest = box.depth > l->deepest ? box.depth : l->deepest;
}

struct pending {
    struct flame_box *rows; /* boxes still to come; the next one is the last */
    size_t n, cap;
};

/* Put down from right to left, so that they are taken from left to right. */
static void add_callees(struct pending *todo, const struct call_tree *t, const struct flame_box *caller)
{
    const struct call_node *node = &t->nodes[caller->node];
    double whole = (double)t->nodes[0].total, at = caller->at;
    GROW(todo->rows, todo->cap, todo->n + node->n_children);
    struct flame_box *end = todo->rows + todo->n + node->n_children;
    for (uint32_t c = 0; c < node->n_children; c++) {
        uint32_t child = call_tree_child(t, node, c);
        double wide = (double)t->nodes[child].total / whole;
        *--end = (struct flame_box){.node = child, .depth = caller->depth + 1, .at = at, .wide = wide};
        at += wide;
    }
    todo->n += node->n_children;
}

struct flame_layout flame_layout_of(const struct call_tree *t, double min_share, size_t max_frames)
{
    struct flame_layout l = {0};
    size_t cap = 0;
    struct bound bound = bound_of(t, flame_least(t->nodes[0].total, min_share), max_frames ? max_frames - 1 : 0);
    struct pending todo = {0};
    GROW(todo.rows, todo.cap, 1);
    todo.rows[todo.n++] = (struct flame_box){.wide = 1};
    while (todo.n) {
        struct flame_box box = todo.rows[--todo.n];
        int64_t total = t->nodes[box.node].total;
        if (box.node && (total < bound.least || (total == bound.least && box.depth >= bound.depth)))
            continue;
        add_box(&l, &cap, box);
        if (t->nodes[0].total > 0)
            add_callees(&todo, t, &box);
    }
    free(todo.rows);
    l.left_out = t->n - l.n;
    return l;
}

void flame_layout_done(struct flame_layout *l)
{
    free(l->boxes);
    *l = (struct flame_layout){0};
}
