/*
 * slice.h - how much of the stack each sample should bring
 *
 * A large slice costs the target: the kernel copies it while the thread stands still. A
 * small one cuts deep stacks. So the first samples come with as much as the ring has room
 * for and show what is needed, then the smallest slice that has four times as much is taken, and
 * a program that goes deeper later gets the next larger one:
 *
 *     first samples        then                       when stacks are cut
 *     62 KiB ────────────► 4, 16 or 62 KiB ─────────► the next larger, and no way back
 *
 *     struct slice s = slice_first(ring_bytes);
 *     slice_needed(&s, slice_of(walk));       while slice_is_learning()
 *     slice_saw(&s, is_cut);                  for every sample
 *
 * Both say true when s.now has become another size. Owns nothing.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SLICE_COUNT = 3 };
extern const uint32_t slice_bytes[SLICE_COUNT]; /* smallest first */

struct slice {
    size_t now;     /* which of the sizes */
    size_t deepest; /* size that the stacks seen so far need */
    uint32_t learned;
    uint32_t looked, cut; /* of the last samples */
};

/* The largest of which the ring takes a good number. */
struct slice slice_first(size_t ring_bytes);

bool slice_is_learning(const struct slice *s);
bool slice_needed(struct slice *s, size_t size); /* a stack fits a quarter of this size; SLICE_COUNT - 1: or not */
bool slice_saw(struct slice *s, bool is_cut);
