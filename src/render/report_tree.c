/*
 * report_tree.c - the call tree of the page: each function folds away what it called
 *
 * Numbers stand in columns of their own in front of the name, so that depth moves only the name. What
 * is too small to be shown is counted where it would have stood, as in the text.
 */
#include "analyse/call_tree.h"
#include "base/text.h"
#include "render/names.h"
#include "render/report_parts.h"

#define SMALLEST 0.005 /* of the whole */
#define OPEN 0.10      /* larger ones are open to begin with */

enum { DEEPEST = 120, NAME_COLUMNS = 200 }; /* browsers stop at some 500 elements inside each other */

struct page_tree {
    const struct findings *f;
    const struct call_tree *t;
    int64_t least;
    struct sink *out;
};

static void put_numbers(const struct page_tree *p, const struct call_node *n, unsigned level)
{
    char total[32], room[NAME_ROOM];
    double share = finding_share(p->f, n->total);
    value_text(total, p->f->measure, n->total);
    sink_printf(p->out, "<span class=\"part\" style=\"--part:%.2f%%\"><span>%s</span><span>%.1f %%</span></span><span class=\"n\">%.1f %%</span>"
                "<span class=\"who\" style=\"--level:%u\"><code>", 100 * fmin(1, fmax(0, share)), total, 100 * share,
                100 * finding_share(p->f, n->self), level);
    text_markup(p->out, name_of_function(p->f->r->p, n->function, room), NAME_COLUMNS);
    sink_puts(p->out, "</code></span>");
}

static bool is_shown(const struct page_tree *p, uint32_t node, unsigned level)
{
    return llabs(p->t->nodes[node].total) >= p->least && level < DEEPEST;
}

static void put_small(const struct page_tree *p, const struct call_node *n, unsigned level)
{
    size_t count = 0;
    int64_t total = 0;
    for (uint32_t i = 0; i < n->n_children; i++) {
        uint32_t child = call_tree_child(p->t, n, i);
        if (is_shown(p, child, level))
            continue;
        count++;
        total += p->t->nodes[child].total;
    }
    if (count)
        sink_printf(p->out, "<div class=\"leaf more\"><span></span><span></span><span class=\"who\" style=\"--level:%u\">%zu more, %.1f %%"
                    "</span></div>\n", level, count, 100 * finding_share(p->f, total));
}

static void put_children(const struct page_tree *p, const struct call_node *n, unsigned level);

/* Goes down by calling itself: at most DEEPEST times. */
static void put_node(const struct page_tree *p, const struct call_node *n, unsigned level)
{
    if (!n->n_children) {
        sink_puts(p->out, "<div class=\"leaf\">");
        put_numbers(p, n, level);
        sink_puts(p->out, "</div>\n");
        return;
    }
    sink_printf(p->out, "<details%s><summary>", finding_share(p->f, n->total) >= OPEN ? " open" : "");
    put_numbers(p, n, level);
    sink_puts(p->out, "</summary>\n");
    put_children(p, n, level + 1);
    sink_puts(p->out, "</details>\n");
}

static void put_children(const struct page_tree *p, const struct call_node *n, unsigned level)
{
    for (uint32_t i = 0; i < n->n_children; i++) {
        uint32_t child = call_tree_child(p->t, n, i);
        if (is_shown(p, child, level))
            put_node(p, &p->t->nodes[child], level);
    }
    put_small(p, n, level);
}

void report_html_tree(const struct findings *f, struct sink *out)
{
    own(call_tree) struct call_tree t = call_tree_of(f->r->p, f->r->set, f->r->measure, false);
    struct page_tree p = {f, &t, (int64_t)((double)f->methods.whole * SMALLEST), out};
    if (f->r->min_total)
        p.least = f->r->min_total;
    if (!p.least)
        p.least = 1;
    sink_puts(out, "<p class=\"lead\">From the first function of each thread down. What is below half a percent is only counted.</p>\n"
                   "<div class=\"scroll\"><div class=\"tree\">\n<div class=\"leaf head\"><span class=\"n\">Total</span><span class=\"n\">Self</span>"
                   "<span class=\"who\" style=\"--level:0\">Function</span></div>\n");
    put_children(&p, &t.nodes[0], 0);
    sink_puts(out, "</div></div>\n");
}
