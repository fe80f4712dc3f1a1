/*
 * flame_page.h - what a flame graph is to show, before anybody draws it
 *
 * The verb fills it from what was asked for; the writers of SVG and HTML read it. The
 * profile has already been narrowed and reshaped (threads as roots, recursion merged).
 *
 *     struct flame_page page = {.source = {.path = "run.inferom", ...}, .p = p, .set = set, .measure = m, ...};
 *     flame_svg_write(&page, sink, e);
 *
 * Borrows everything.
 */
#pragma once
#include "analyse/call_tree.h"
#include "analyse/difference.h"
#include "analyse/reshape.h"
#include "render/flame_colours.h"

enum flame_theme { FLAME_AUTO, FLAME_LIGHT, FLAME_DARK, FLAME_THEME_COUNT };
enum flame_diff_layout { FLAME_UNION, FLAME_AFTER, FLAME_DIFF_LAYOUT_COUNT };
enum flame_diff_of { FLAME_DIFF_CAUSE, FLAME_DIFF_SELF, FLAME_DIFF_TOTAL, FLAME_DIFF_OF_COUNT };

/* Where something came from: for what is said about it. The profile is as it was read, before it was reshaped, and as it is drawn. */
struct flame_source {
    const char *path;
    const struct profile *p, *drawn;
    const struct sample_set *set, *drawn_set;
    size_t measure; /* in both */
};

struct flame_page {
    const char *title; /* NULL: made from the sources */
    struct flame_source source;

    /* What is drawn. */
    const struct profile *p;
    const struct sample_set *set;
    size_t measure;
    bool filtered; /* a part of what the file has */

    enum flame_scheme scheme;
    enum flame_theme theme;
    enum call_order order;
    bool inverted;     /* merged from the leaves */
    bool icicle;       /* roots at the top */
    bool merge_recursion; /* these two have happened in p, not in the sources */
    enum root_by by;
    unsigned width;    /* of the picture, in pixels */
    double min_share;  /* frames narrower than this part of the whole are not drawn; 0..1 */
    size_t max_frames; /* the widest are drawn */

    /* Two profiles: `source` is then the one after, and what is drawn is the difference. */
    const struct difference *difference; /* NULL: one profile; p, set and measure are then not looked at */
    struct flame_source before;
    enum flame_diff_layout layout;
    enum flame_diff_of diff_of; /* what the colours speak of */
    enum flame_diff_colours diff_colours;
};
