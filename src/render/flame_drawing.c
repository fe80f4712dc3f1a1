#include "render/flame_drawing.h"
#include "base/mem.h"
#include "render/names.h"

#include <math.h>

/* The tree. */

/* Of the common tree of two profiles, with the widths that were asked for. */
static struct call_tree difference_tree(const struct flame_page *page)
{
    const struct call_tree *from = &page->difference->tree;
    struct call_tree t = {.n = from->n, .cap = from->n};
    t.nodes = mem_resize(NULL, t.n * sizeof *t.nodes);
    memcpy(t.nodes, from->nodes, t.n * sizeof *t.nodes);
    for (size_t i = 0; i < t.n && page->layout == FLAME_AFTER; i++) {
        t.nodes[i].self = page->difference->self[i].after.value;
        t.nodes[i].total = page->difference->total[i].after.value;
    }
    call_tree_link(&t);
    call_tree_sort(&t, page->difference->p, page->order == CALL_BY_NAME ? CALL_BY_NAME : CALL_BY_WEIGHT);
    return t;
}

static struct call_tree tree_of(const struct flame_page *page, size_t *out_left_out)
{
    *out_left_out = 0;
    if (page->difference)
        return difference_tree(page);
    if (page->order == CALL_BY_TIME)
        return call_tree_in_time(page->p, page->set, page->measure);
    int64_t least = flame_least(page->set->measures[page->measure].total, page->min_share);
    struct call_tree t = call_tree_above(page->p, page->set, page->measure, page->inverted, least, out_left_out);
    if (page->order == CALL_BY_NAME)
        call_tree_sort(&t, page->p, CALL_BY_NAME);
    return t;
}

void flame_drawing_init(struct flame_drawing *d, const struct flame_page *page)
{
    *d = (struct flame_drawing){.page = page};
    d->p = page->difference ? page->difference->p : page->p;
    d->measure = page->difference ? page->difference->measure : page->set->measures[page->measure];
    d->tree = tree_of(page, &d->left_out);
    d->layout = flame_layout_of(&d->tree, page->min_share, page->max_frames);
    d->left_out += d->layout.left_out;
    if (!page->difference && page->scheme == FLAME_MODULE)
        d->modules = flame_modules_of(d->p, &d->tree);
}

void flame_drawing_done(struct flame_drawing *d)
{
    call_tree_done(&d->tree);
    flame_layout_done(&d->layout);
    flame_modules_done(&d->modules);
}

/* Names and colours. */

struct view flame_name(const struct flame_drawing *d, uint32_t node, char room[])
{
    return node ? name_of_function(d->p, d->tree.nodes[node].function, room) : VIEW("all");
}

enum change flame_presence(const struct flame_drawing *d, uint32_t node)
{
    enum change is = d->page->difference ? d->page->difference->total[node].is : CHANGE_SAME;
    return is == CHANGE_NEW || is == CHANGE_GONE ? is : CHANGE_SAME;
}

/* The change that a frame is coloured for. */
static struct changed shown_change(const struct flame_drawing *d, uint32_t node)
{
    const struct difference *diff = d->page->difference;
    bool is_of_total = d->page->diff_of == FLAME_DIFF_TOTAL ||
                       (d->page->diff_of == FLAME_DIFF_CAUSE && diff->cause[node] == diff->total[node].is);
    struct changed c = is_of_total ? diff->total[node] : diff->self[node];
    if (d->page->diff_of == FLAME_DIFF_CAUSE)
        c.is = diff->cause[node];
    if (flame_presence(d, node) != CHANGE_SAME)
        c.is = flame_presence(d, node);
    return c;
}

/* How strong: the change as a part of all that the frame has, on the side where it has more. */
static colour change_fill(const struct flame_drawing *d, uint32_t node)
{
    const struct difference *diff = d->page->difference;
    struct changed c = shown_change(d, node);
    const struct changed *all = &diff->total[node];
    double most = diff->by == DIFFERENCE_BY_SHARE ? difference_share(diff, all)
                                                  : fmax(fabs((double)all->before.value), fabs((double)all->after.value));
    double part = most > 0 ? fabs(difference_amount(diff, &c)) / most : 0;
    return flame_by_change(d->page->diff_colours, c.is, part);
}

colour flame_fill(const struct flame_drawing *d, uint32_t node)
{
    const struct call_node *n = &d->tree.nodes[node];
    if (!node)
        return FLAME_NEUTRAL;
    if (d->page->difference)
        return change_fill(d, node);
    switch (d->page->scheme) {
    case FLAME_MODULE: return flame_modules_colour(&d->modules, d->p, n->function);
    case FLAME_KIND: return flame_by_kind(n->kind);
    default: return flame_by_share(d->page->scheme, (double)n->total / (double)d->tree.nodes[0].total);
    }
}
