/*
 * arena.h - memory that dies together
 *
 * Small pieces are cut from large blocks and freed all at once. Pieces never
 * move, so pointers into an arena stay good until arena_done().
 */
#pragma once
#include "base/own.h"
#include "base/view.h"
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *newest;
    size_t held_bytes; /* of all blocks, for those who account for memory */
};

void *arena_new(struct arena *a, size_t bytes);          /* aligned for anything, not zeroed */
char *arena_text(struct arena *a, struct view text);     /* a NUL-terminated copy */
void arena_done(struct arena *a);

DEFINE_OWN_IN_PLACE(arena, struct arena)
