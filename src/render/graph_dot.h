/*
 * graph_dot.h - a call graph as DOT, for Graphviz and everything that reads it
 *
 *     n0 [label="decode\nmodel.c:120\n45.20 %  self 3.10 %\n1 234×", ...];
 *     n0 -> n4 [label="42.10 %\n617×", penwidth=2.4, ...];
 *
 * A node says its function, where it is from, its share in total and by itself, and how
 * often it was called, where that is known. An edge says its share and its calls. The
 * larger the type of a node, the more it took itself; the thicker an edge, the more
 * went along it. Everything else a reader may want is in the tooltips of the SVG.
 *
 * Of two profiles, nodes and edges say what they had before and after, and their colour
 * is the change: orange more, blue less, grey where it may as well be chance.
 *
 * Names come from other people's programs: they are text here, whatever is in them.
 */
#pragma once
#include "analyse/graph_changes.h"
#include "analyse/graph_cut.h"
#include "base/sink.h"

enum graph_colour { GRAPH_BY_TOTAL, GRAPH_BY_SELF, GRAPH_BY_MODULE, GRAPH_PLAIN, GRAPH_COLOUR_COUNT };
extern const char *const graph_colour_names[GRAPH_COLOUR_COUNT + 1]; /* "total", "self", ...; ends with NULL */

struct graph_picture {
    const struct profile *p;
    const struct call_graph *g;
    const struct graph_cut *c;
    const struct measure *measure;
    const char *source; /* for the title */
    const char *kept;   /* what --keep was given, for the title; NULL: nothing */
    enum graph_colour colour;

    /* Of two profiles: p and g are the common ones of the difference. NULL: of one. */
    const struct difference *difference;
    const struct graph_changes *changes;
    const char *after; /* the other source */
};

void graph_title(const struct graph_picture *d, struct sink *out); /* one line: what is shown, and how much of it */
void graph_dot(const struct graph_picture *d, struct sink *out);
