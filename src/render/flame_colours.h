/*
 * flame_colours.h - what colour a frame has, and what the colour means
 *
 * Four schemes colour by share of the whole (hot, cold, rainbow, monochrome), and so does
 * one that is safe for colour-blind eyes; two say whose code it is (module, kind). In a
 * difference the colour is the change.
 *
 * Colours are 0xRRGGBB.
 */
#pragma once
#include "analyse/difference.h"

typedef uint32_t colour;

enum flame_scheme {
    FLAME_HOT, FLAME_COLD, FLAME_RAINBOW, FLAME_MONOCHROME, FLAME_SAFE, FLAME_MODULE, FLAME_KIND,
    FLAME_SCHEME_AUTO, /* what suits whoever draws it; has no colours itself */
    FLAME_SCHEME_COUNT
};
extern const char *const flame_scheme_names[FLAME_SCHEME_COUNT + 1]; /* ends with NULL */

enum flame_diff_colours { FLAME_BLUE_ORANGE, FLAME_RED_GREEN, FLAME_DIFF_COLOURS_COUNT };
extern const char *const flame_diff_colour_names[FLAME_DIFF_COLOURS_COUNT + 1];

#define FLAME_NEUTRAL 0xd9d9d9 /* "all", threads and processes; in a difference, what is inside noise */

colour flame_by_share(enum flame_scheme s, double share);

/* Colours for things that only have a name. A name has a favourite; who is asked earlier gets his own. */
enum { FLAME_PALETTE = 16 };
size_t flame_favourite(struct view name); /* below FLAME_PALETTE, on every machine the same */
colour flame_palette(size_t i);           /* any number */

colour flame_by_kind(enum frame_kind kind);

/* How much something changed, as a part of what it was or is: 0..1. The lightest is for the least. */
colour flame_by_change(enum flame_diff_colours c, enum change is, double part);

colour flame_text_on(colour fill); /* black or white, whichever is easier to read there */

/* Where the colours of the schemes by share change, for a legend that is the same for all: 0.01, 0.02, ... */
extern const double flame_share_steps[];
extern const size_t flame_share_step_count;
