/*
 * heap_mapped.h - what a program mapped itself, by call: files, anonymous memory, weights
 *
 * The set "mappings" has changes, like a heap's: + when mmap was called there, - when it was unmapped, with labels
 * map_kind, path and weights. They are never part of the heap: model weights are mapped files, and a heap that has them
 * in its totals says nothing about either.
 *
 * Owns: its rows and the tree.
 */
#pragma once
#include "analyse/call_tree.h"

struct heap_mapped_row {
    uint32_t node; /* of the tree: where the call was made; 0: not known */
    str_id kind, path;
    bool is_weights;
    int64_t mapped_bytes; /* all that was ever mapped there */
    int64_t live_bytes, live_count; /* and not unmapped until the end */
};

struct heap_mapped {
    struct call_tree tree;
    struct heap_mapped_row *rows; /* most live bytes first, then most mapped */
    size_t n, cap;
};

/* False: nobody recorded any. */
bool heap_mapped_of(struct heap_mapped *m, const struct profile *p);
void heap_mapped_done(struct heap_mapped *m);
DEFINE_OWN_IN_PLACE(heap_mapped, struct heap_mapped)
