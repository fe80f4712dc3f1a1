/*
 * report_pictures.c - flame graph and call graph of a report, with limits that suit a page
 *
 * Who wants other limits, colours or a difference asks `inferom flame` and `inferom graph`.
 */
#include "model/counted_calls.h"
#include "render/flame_svg.h"
#include "render/graph_dot.h"
#include "render/graphviz.h"
#include "render/report_parts.h"

enum { FLAME_WIDTH = 1108, FLAME_FRAMES = 1500, GRAPH_NODES = 200, GRAPH_EDGES = 1000, DOT_BYTES = 64 << 20 };

bool report_has_stacks(const struct findings *f)
{
    struct counted_calls counted;
    return f->hot.n > 0 && f->methods.whole > 0 && !(counted_calls_of(f->r->p, &counted) && counted.functions == f->r->set);
}

bool report_flame(const struct findings *f, struct sink *out, struct err *e)
{
    const struct report *r = f->r;
    struct flame_page page = {
        .source = {.path = r->source, .p = r->p, .set = r->set, .measure = r->measure}, .p = r->p, .set = r->set,
        .measure = r->measure, .filtered = r->filtered, .scheme = FLAME_HOT, .icicle = true, .width = FLAME_WIDTH,
        .min_share = 0.002, .max_frames = FLAME_FRAMES,
    };
    return flame_svg_write(&page, out, e);
}

bool report_graph_dot(const struct findings *f, struct sink *out, struct err *e)
{
    (void)e;
    const struct report *r = f->r;
    struct graph_limits limits = {.node_share = 0.005, .edge_share = 0.001, .most_nodes = GRAPH_NODES, .most_edges = GRAPH_EDGES};
    own(graph_cut) struct graph_cut cut = graph_cut_of(&f->graph, r->p, &limits);
    struct graph_picture picture = {.p = r->p, .g = &f->graph, .c = &cut, .measure = f->measure, .source = r->source, .colour = GRAPH_BY_TOTAL};
    graph_dot(&picture, out);
    return true;
}

bool report_graph_svg(const struct findings *f, struct sink *out, struct err *e)
{
    own(buf) struct buf dot;
    buf_init(&dot, DOT_BYTES);
    struct sink to;
    sink_to_buf(&to, &dot);
    return report_graph_dot(f, &to, e) && sink_flush(&to, e) && graphviz_draw(buf_view(&dot), "svg", out, e);
}
