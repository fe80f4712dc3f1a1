/*
 * intern.h - each distinct text once, known by a small number
 *
 * Number 0 is the empty text. Numbers are given in the order of first sight and
 * stay good; so do the views, until intern_done(). One writer at a time.
 */
#pragma once
#include "base/arena.h"
#include "base/idmap.h"

struct interner {
    struct arena texts;
    struct view *rows;
    size_t n, cap;
    struct idmap map;
};

void intern_init(struct interner *in);
void intern_done(struct interner *in);
uint32_t intern(struct interner *in, struct view text);
