/*
 * methods.h - functions, each with all that a profile knows about it
 *
 * Self and total of the measure that was asked for, as in top.h; beside them, where somebody
 * counted, how often a function was called and what it allocated:
 *
 *     sampled        self, total, samples; nobody counted calls
 *     traced         self, total, calls: a set with a measure "calls", as files of cProfile have
 *     with scopes    calls, shortest and longest of the functions that scopes are named after
 *     with heap      bytes and allocations, from the samples of memory
 *
 * What nobody counted is METHOD_UNKNOWN, not zero.
 *
 * Owns: its rows.
 */
#pragma once
#include "analyse/top.h"

#define METHOD_UNKNOWN INT64_C(-1)

struct method {
    func_id function;
    enum frame_kind kind;
    int64_t self, total;
    int64_t samples;            /* that ended in it */
    int64_t calls;
    int64_t least_ns, most_ns;  /* of one call */
    int64_t bytes, bytes_total; /* allocated by itself; by it and what it called */
    int64_t allocations;        /* by itself */
};

struct methods {
    struct method *rows; /* every function that occurs, in order of id */
    size_t n;
    int64_t whole;       /* of the measure; of bytes, or METHOD_UNKNOWN */
    int64_t bytes_whole;
    bool has_calls, has_bytes, has_extremes;
    const struct sample_set *heap; /* where bytes come from; NULL: nobody recorded any */
    size_t heap_measure;
};

struct methods methods_of(const struct profile *p, const struct sample_set *set, size_t measure);
void methods_done(struct methods *m);
DEFINE_OWN_IN_PLACE(methods, struct methods)

/* Indexes of rows, best first, without those that have nothing of it; equal ones by name. The caller's to free. */
enum method_order { METHODS_BY_SELF, METHODS_BY_TOTAL, METHODS_BY_NAME, METHODS_BY_BYTES, METHODS_BY_CALLS, METHOD_ORDER_COUNT };
size_t *methods_ranked(const struct methods *m, const struct profile *p, enum method_order order, size_t *out_n);
