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

/* What a box must have at least, so that no more than `most` have it; and how many may have exactly that. */
struct bound {
    int64_t least;
    size_t ties;
};

static struct bound bound_of(const struct call_tree *t, int64_t least, size_t most)
{
    own(free) int64_t *totals = mem_new(t->n * sizeof *totals);
    size_t n = 0;
    for (size_t i = 1; i < t->n; i++)
        if (t->nodes[i].total >= least)
            totals[n++] = t->nodes[i].total;
    if (!most || n < most)
        return (struct bound){.least = least, .ties = SIZE_MAX};
    qsort(totals, n, sizeof *totals, widest_first);
    struct bound b = {.least = totals[most - 1]};
    for (size_t i = most; i > 0 && totals[i - 1] == b.least; i--)
        b.ties++;
    return b;
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
        bool is_tie = box.node && total == bound.least;
        if (box.node && (total < bound.least || (is_tie && !bound.ties)))
            continue;
        bound.ties -= is_tie && bound.ties != SIZE_MAX;
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
