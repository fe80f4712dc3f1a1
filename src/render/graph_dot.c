/*
 * Everything a reader sees is written as text first, control characters made
 * visible, and then quoted for DOT: labels there know escapes of their own (\N, \n)
 * and the entities of HTML, so backslashes and ampersands are spelled out. Labels
 * are never HTML-like.
 */
#include "render/graph_dot.h"
#include "base/text.h"
#include "render/graph_colours.h"
#include "render/graph_names.h"

#include <math.h>

#define NAME_COLUMNS 44     /* of a name in a node; the tooltip has more of it */
#define TOOLTIP_COLUMNS 2000
/* Between a thick edge and what is written beside it. Lines end at the right, since some viewers drop blanks at the left. */
#define NARROW_GAP "\u2002\u2009"
#define LABEL_ROOM ((size_t)64 << 10)

const char *const graph_colour_names[GRAPH_COLOUR_COUNT + 1] = {
    [GRAPH_BY_TOTAL] = "total", [GRAPH_BY_SELF] = "self", [GRAPH_BY_MODULE] = "module", [GRAPH_PLAIN] = "none",
};

/* Quoting. */

static void quote_text(struct sink *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        switch (text[i]) {
        case '"':  sink_puts(out, "\\\""); break;
        case '\\': sink_puts(out, "\\\\"); break;
        case '&':  sink_puts(out, "&amp;"); break;
        default:   sink_char(out, text[i]); break;
        }
}

/* A name inside quotes. */
static void put_name(struct sink *out, struct view name, size_t columns)
{
    own(buf) struct buf shown;
    struct sink s;
    buf_init(&shown, LABEL_ROOM);
    sink_to_buf(&s, &shown);
    text_safe(&s, name, columns);
    if (sink_flush(&s, NULL))
        quote_text(out, shown.data, shown.len);
}

static double share_of(int64_t value, int64_t whole)
{
    double share = whole > 0 ? (double)value / (double)whole : 0;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* Nodes. */

static void put_node_numbers(const struct graph_picture *d, uint32_t node, struct sink *out)
{
    const struct graph_node *n = &d->g->nodes[node];
    char total[GRAPH_WORD_ROOM], self[GRAPH_WORD_ROOM], calls[GRAPH_WORD_ROOM];
    if (d->changes) {
        graph_change_text(total, d->difference, &d->changes->total[node]);
        sink_printf(out, "\\n%s", total);
        if (!d->changes->self[node].before.value && !d->changes->self[node].after.value)
            return;
        graph_change_text(self, d->difference, &d->changes->self[node]);
        sink_printf(out, "\\nself %s", self);
        return;
    }
    graph_share_text(total, n->total, d->g->whole_total);
    graph_share_text(self, n->self, d->g->whole);
    graph_calls_text(calls, d->g, n->calls);
    sink_printf(out, "\\n%s   self %s%s%s", total, self, calls[0] ? "\\n" : "", calls);
}

static void put_node_lines(const struct graph_picture *d, uint32_t node, uint32_t cycle, struct sink *out)
{
    char room[NAME_ROOM];
    func_id f = d->g->nodes[node].function;
    put_name(out, name_of_function(d->p, f, room), NAME_COLUMNS);
    struct view place = graph_place(d->p, f, room);
    if (place.n) {
        sink_puts(out, "\\n");
        put_name(out, place, NAME_COLUMNS);
    }
    put_node_numbers(d, node, out);
    if (cycle)
        sink_printf(out, "\\ncycle %u", cycle);
}

static void put_node_tooltip(const struct graph_picture *d, const struct graph_node *n, struct sink *out)
{
    char room[NAME_ROOM], total[32], self[32], calls[GRAPH_WORD_ROOM];
    put_name(out, name_of_function(d->p, n->function, room), TOOLTIP_COLUMNS);
    struct view place = name_of_place(d->p, n->function, room);
    if (!place.n)
        place = profile_string(d->p, profile_mapping(d->p, profile_function(d->p, n->function)->mapping)->path);
    if (place.n) {
        sink_puts(out, "\\n");
        put_name(out, place, TOOLTIP_COLUMNS);
    }
    if (d->changes)
        return; /* the box says both sides */
    value_text(total, d->measure, n->total);
    value_text(self, d->measure, n->self);
    graph_calls_text(calls, d->g, n->calls);
    sink_printf(out, "\\ntotal %s, self %s%s%s", total, self, calls[0] ? ", " : "", calls);
}

static struct node_colours colours_of(const struct graph_picture *d, uint32_t node)
{
    const struct graph_node *n = &d->g->nodes[node];
    if (d->changes)
        return colours_of_change(graph_change(d->difference, d->colour == GRAPH_BY_SELF ? &d->changes->self[node]
                                                                                        : &d->changes->total[node]));
    struct view module = name_of_module(d->p, n->function);
    struct view file = profile_string(d->p, profile_function(d->p, n->function)->file);
    switch (d->colour) {
    case GRAPH_BY_SELF:   return colours_of_share(share_of(n->self, d->g->whole));
    case GRAPH_BY_MODULE: return colours_of_name(module.n ? module : file);
    case GRAPH_PLAIN:     return colours_plain();
    default:              return colours_of_share(share_of(n->total, d->g->whole_total));
    }
}

static void put_node(const struct graph_picture *d, uint32_t place, struct sink *out)
{
    uint32_t node = d->c->nodes[place], cycle = d->c->cycle[place];
    const struct graph_node *n = &d->g->nodes[node];
    struct node_colours c = colours_of(d, node);
    double size = 10 + 8 * sqrt(share_of(n->self, d->g->whole));
    sink_printf(out, "    n%u [label=\"", place);
    put_node_lines(d, node, cycle, out);
    sink_printf(out, "\", fontsize=%.1f, fillcolor=\"%s\", color=\"%s\", fontcolor=\"%s\"%s, tooltip=\"", size, c.fill,
                cycle ? "#7a4fb5" : c.border, c.text, cycle ? ", penwidth=1.6" : "");
    put_node_tooltip(d, n, out);
    sink_puts(out, "\"];\n");
}

/* Edges. */

static void put_edge_lines(const struct graph_picture *d, const struct graph_edge *e, struct sink *out)
{
    char share[GRAPH_WORD_ROOM] = "", calls[GRAPH_WORD_ROOM];
    if (d->changes)
        graph_change_text(share, d->difference, &d->changes->edges[e - d->g->edges]);
    else if (e->has_value)
        graph_share_text(share, e->value, d->g->whole_total);
    graph_calls_text(calls, d->g, e->calls);
    const char *lines[] = {share, calls};
    for (int i = 0; i < 2; i++)
        if (lines[i][0])
            sink_printf(out, NARROW_GAP "%s\\r", lines[i]);
}

static void put_edge_tooltip(const struct graph_picture *d, const struct graph_edge *e, struct sink *out)
{
    char room[NAME_ROOM], value[32];
    put_name(out, name_of_function(d->p, d->g->nodes[e->caller].function, room), TOOLTIP_COLUMNS / 4);
    sink_puts(out, " \u2192 ");
    put_name(out, name_of_function(d->p, d->g->nodes[e->callee].function, room), TOOLTIP_COLUMNS / 4);
    if (!e->has_value || d->changes)
        return;
    value_text(value, d->measure, e->value);
    sink_printf(out, "\\n%s", value);
}

static void put_edge(const struct graph_picture *d, const struct graph_edge *e, struct sink *out)
{
    double share = e->has_value ? share_of(e->value, d->g->whole_total) : 0;
    char colour[COLOUR_ROOM];
    if (d->changes)
        colour_of_edge_change(colour, graph_change(d->difference, &d->changes->edges[e - d->g->edges]));
    else
        colour_of_edge(colour, d->colour == GRAPH_PLAIN ? 0 : share);
    sink_printf(out, "    n%u -> n%u [label=\"", d->c->place[e->caller] - 1, d->c->place[e->callee] - 1);
    put_edge_lines(d, e, out);
    sink_printf(out, "\", penwidth=%.2f, arrowsize=%.2f, weight=%d, color=\"%s\", tooltip=\"", 0.7 + 4.3 * share,
                0.5 + 0.35 * share, 1 + (int)(60 * share), colour);
    put_edge_tooltip(d, e, out);
    sink_puts(out, "\"];\n");
}

/* The whole. */

/* The sizes of both sides, or of the one. */
static void print_extent(const struct graph_picture *d, struct sink *out)
{
    if (d->changes) {
        graph_wholes(d->difference, out);
        graph_counts(d->g, d->c, out);
    } else {
        graph_extent(d->p, d->g, d->c, d->measure, out);
    }
    if (!d->kept)
        return;
    sink_puts(out, ", kept: ");
    text_safe(out, view_of(d->kept), 60);
}

static void print_sources(const struct graph_picture *d, bool whole_paths, struct sink *out)
{
    struct view before = view_of(d->source), after = view_of(d->after ? d->after : "");
    text_safe(out, whole_paths ? before : view_last_part(before), 200);
    if (!after.n)
        return;
    sink_puts(out, " \u2192 ");
    text_safe(out, whole_paths ? after : view_last_part(after), 200);
}

void graph_title(const struct graph_picture *d, struct sink *out)
{
    print_sources(d, true, out);
    sink_puts(out, ": ");
    print_extent(d, out);
}

static void put_title(const struct graph_picture *d, struct sink *out)
{
    for (int line = 0; line < 2; line++) {
        own(buf) struct buf text;
        struct sink s;
        buf_init(&text, LABEL_ROOM);
        sink_to_buf(&s, &text);
        if (line)
            print_extent(d, &s);
        else
            print_sources(d, false, &s);
        if (sink_flush(&s, NULL))
            quote_text(out, text.data, text.len);
        sink_puts(out, "\\l");
    }
}

/* Remarks for who opens the file in an editor; a name cannot end the line. */
static void put_remarks(const struct graph_picture *d, struct sink *out)
{
    sink_puts(out, "// The call graph of ");
    print_sources(d, true, out);
    sink_puts(out, "\n// ");
    print_extent(d, out);
    sink_char(out, '\n');
}

void graph_dot(const struct graph_picture *d, struct sink *out)
{
    put_remarks(d, out);
    sink_puts(out, "digraph calls {\n"
                   "    graph [rankdir=TB, nodesep=0.3, ranksep=0.45, bgcolor=\"#ffffff\", pad=0.25, charset=\"UTF-8\",\n"
                   "           fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, fontcolor=\"#57606a\", labelloc=t, labeljust=l,\n"
                   "           tooltip=\" \", label=\"");
    put_title(d, out);
    sink_puts(out, "\"];\n"
                   "    node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica,Arial,sans-serif\", penwidth=0.8, margin=\"0.13,0.07\", height=0.2];\n"
                   "    edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=8.5, fontcolor=\"#57606a\"];\n");
    for (uint32_t k = 0; k < d->c->n_nodes; k++)
        put_node(d, k, out);
    for (size_t k = 0; k < d->c->n_edges; k++)
        put_edge(d, &d->g->edges[d->c->edges[k]], out);
    sink_puts(out, "}\n");
}
