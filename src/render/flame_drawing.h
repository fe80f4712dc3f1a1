/*
 * flame_drawing.h - a flame graph worked out: its tree, its boxes, what each says and which colour it has
 *
 * Owns: the tree and the boxes. The page is borrowed.
 */
#pragma once
#include "render/flame_layout.h"
#include "render/flame_modules.h"
#include "render/flame_page.h"
#include "base/sink.h"

struct flame_drawing {
    const struct flame_page *page;
    const struct profile *p; /* whose functions the nodes have */
    struct measure measure;
    struct call_tree tree;
    struct flame_layout layout;
    struct flame_modules modules; /* where colours are by module */
    size_t left_out; /* frames that are not drawn */
};

void flame_drawing_init(struct flame_drawing *d, const struct flame_page *page);
void flame_drawing_done(struct flame_drawing *d);
DEFINE_OWN_IN_PLACE(flame_drawing, struct flame_drawing)

struct view flame_name(const struct flame_drawing *d, uint32_t node, char room[]); /* NAME_ROOM of it; the root is "all" */
colour flame_fill(const struct flame_drawing *d, uint32_t node);
enum change flame_presence(const struct flame_drawing *d, uint32_t node); /* CHANGE_NEW, CHANGE_GONE or CHANGE_SAME */

/* The lines of a tool-tip, as markup: the name; total and self with samples and percent; the place. */
void flame_title(const struct flame_drawing *d, uint32_t node, struct sink *out);
