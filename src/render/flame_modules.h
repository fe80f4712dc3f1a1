/*
 * flame_modules.h - the modules of a flame graph, heaviest first, each with a colour
 *
 * A module has the same colour in most pictures, since its name chooses; but the heavy
 * ones choose first and never share, so two large neighbours can be told apart.
 *
 * Owns: its rows. Names are the profile's.
 */
#pragma once
#include "analyse/call_tree.h"
#include "render/flame_colours.h"

struct flame_module {
    struct view name; /* last part of the path; "" when it is not known */
    int64_t self;     /* of the nodes of the tree */
    colour is;
};

struct flame_modules {
    struct flame_module *rows;
    size_t n;
    uint32_t *row_of; /* by mapping id */
};

struct flame_modules flame_modules_of(const struct profile *p, const struct call_tree *t);
void flame_modules_done(struct flame_modules *m);
colour flame_modules_colour(const struct flame_modules *m, const struct profile *p, func_id f);
