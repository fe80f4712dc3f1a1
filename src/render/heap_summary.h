/*
 * heap_summary.h - memory in a few lines
 */
#pragma once
#include "render/heap_view.h"

enum { HEAP_LINES_MOST = 12 };

struct heap_lines {
    struct heap_line {
        const char *title;
        char text[400];
    } rows[HEAP_LINES_MOST];
    size_t n;
};

/* Allocated, freed, live, peak, temporary, per token, how it was recorded; only what is known. */
void heap_lines_of(const struct heap_view *v, struct heap_lines *out);
void heap_lines_json(const struct heap_view *v, struct json_writer *w); /* the same numbers, as members of an object */
