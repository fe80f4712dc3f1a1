/*
 * slice.h - how much of the stack each sample should bring
 *
 * A large slice costs the target: the kernel copies it while the thread stands still. A
 * small one cuts deep stacks. So the first samples come with as much as the ring has room
 * for and show what is needed, then the smallest slice that has twice as much is taken. How a
 * program starts is often deeper than how it goes on, so one sample in a few is looked at from
 * then on. When stacks are cut it begins anew, and the slice that was too small is not taken again:
 *
 *     first samples ──────► what is needed ──────► less, when less is needed
 *     62 KiB                2, 4, 16 or 62 KiB         │
 *        ^─────────────────── stacks are cut ──────────┘
 *
 *     struct slice s = slice_first(ring_bytes);
 *     if (slice_wants_look(&s))               for every sample
 *         slice_needed(&s, slice_of(walk));
 *     slice_saw(&s, is_cut);                  for every sample
 *
 * Both say true when s.now has become another size. Owns nothing.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SLICE_COUNT = 4 };
extern const uint32_t slice_bytes[SLICE_COUNT]; /* smallest first */

struct slice {
    size_t now;     /* which of the sizes */
    size_t first;   /* where learning begins */
    size_t least;   /* smaller ones have cut stacks */
    size_t deepest; /* size that the stacks looked at need */
    uint32_t looks;      /* at samples since the size was last thought about */
    uint32_t until_look; /* samples to pass by */
    bool has_settled;    /* once thought about */
    uint32_t looked, cut; /* of the last samples */
};

/* The largest of which the ring takes a good number. */
struct slice slice_first(size_t ring_bytes);

bool slice_wants_look(struct slice *s); /* at the sample that has come */
bool slice_needed(struct slice *s, size_t size); /* a stack fits half of this size; SLICE_COUNT - 1: or not */
bool slice_saw(struct slice *s, bool is_cut);
