/*
 * heap_groups.h - allocations by what they were for: scope, phase or request; and how large and how old blocks were
 *
 * A row knows what its allocation was for where the recorder did: labels scope, phase and request of its context. Rows
 * without such a label belong to no group; their sum is kept as `rest`. Where the program's own scopes, phases and requests counted what
 * was allocated in them (libinferom asks the heap's agent), allocations and bytes are theirs: exact, in every mode. A
 * phase or a request has with it all that was allocated in scopes inside it. What is live of a request's own is known from the set "heap.left".
 *
 * Owns: its rows.
 */
#pragma once
#include "analyse/heap.h"

struct heap_group {
    str_id text; /* what the label says; or its number, where it is one */
    int64_t number;
    thread_id thread; /* 0 when threads are not told apart */
    struct heap_sums sums;
    uint32_t met;  /* which of all was met first: spans come in order of time */
    int64_t times; /* how often it ran: calls of a scope, spans of a phase or request; HEAP_UNKNOWN: nobody counted */
};

struct heap_groups {
    struct heap_group *rows; /* most bytes first; of equals who was met first */
    size_t n, cap;
    struct heap_sums rest;
};

struct heap_groups heap_groups_of(const struct heap *h, struct view label, bool by_thread);
void heap_groups_done(struct heap_groups *g);
DEFINE_OWN_IN_PLACE(heap_groups, struct heap_groups)

/* Histograms: sets "heap.sizes" and "heap.lifetimes", by powers of two. */
enum { HEAP_CLASSES = 64 };

struct heap_class {
    int64_t objects, bytes;
};

struct heap_classes {
    struct heap_class rows[HEAP_CLASSES]; /* by class */
    unsigned first, last;                 /* that have something */
    struct heap_class whole;
};

/* Sizes of class K are above 2^(K-1) and at most 2^K bytes. False: there are none. */
bool heap_sizes_of(struct heap_classes *c, const struct profile *p);
/* Blocks that were freed lived from 2^K until below 2^(K+1) ns. */
bool heap_lifetimes_of(struct heap_classes *c, const struct profile *p);
