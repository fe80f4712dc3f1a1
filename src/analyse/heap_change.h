/*
 * heap_change.h - what became of memory from one recording to another
 *
 * Rows of a heap are changes, so the difference of two heaps is a heap again: the rows of the second, and those of the first
 * with their signs turned. What is in both goes away; paths are the same by name, as in difference.h. (The difference of two
 * moments of one recording needs nothing new: it is the rows in between, which a filter by time gives.)
 */
#pragma once
#include "analyse/heap.h"
#include "base/err.h"

/* A profile with nothing but that heap. Fails when one has none, or values add up past 2^63. */
bool heap_change_of(const struct profile *before, const struct profile *after, struct profile **out, struct err *e) MUST_CHECK;

/* Indexes of rows that changed, what became more first, what became less last; then by what was allocated. To be freed. */
size_t *heap_changed_rows(const struct heap *h, size_t *out_n);
