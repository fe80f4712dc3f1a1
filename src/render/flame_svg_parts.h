/*
 * flame_svg_parts.h - the parts of the picture around the boxes; for flame_svg.c only
 */
#pragma once
#include "render/flame_drawing.h"

enum { FLAME_MARGIN = 10, FLAME_PITCH = 16, FLAME_BOX = 15, FLAME_LETTER_WIDTH_PERCENT = 61, FLAME_FONT = 11 };

void svg_number(struct sink *out, double n); /* to a two-thousandth of its size, and no more digits than that */
void svg_style(struct sink *out, enum flame_theme theme);

void svg_title(const struct flame_drawing *d, struct sink *out, size_t columns); /* what stands on top, as markup */
unsigned svg_head_height(const struct flame_drawing *d);
void svg_head(const struct flame_drawing *d, struct sink *out);

enum { FLAME_FOOT_HEIGHT = 58 };
void svg_foot(const struct flame_drawing *d, double top, struct sink *out);
