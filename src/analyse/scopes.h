/*
 * scopes.h - the scopes a program named itself: how often, how long, within which
 *
 * From what libinferom counted (the sets "scopes", "scope times" and "calls"; docs/formats/inferom.md), or where a profile
 * has spans of scopes instead, from those. Time inside a scope of the same name counts once in the total:
 *
 *     decode [ attention [ decode ] ]      two calls of decode, the total is that of the outer one
 *
 * Self is the time outside of the scopes within it; selfs of one thread add up to the time it
 * was in any scope. A scope that never ended is counted as a call and has no length.
 *
 * Owns: its rows.
 */
#pragma once
#include "analyse/top.h"
#include "model/profile.h"

struct scope_stats {
    str_id name;
    int64_t calls, open; /* open: those that never ended */
    int64_t timed;       /* of the calls, those whose length was measured */
    int64_t cut;         /* left by longjmp: their length is not known */
    int64_t left_out;    /* warm-up; not among the calls */
    int64_t self_ns, total_ns;
    int64_t least_ns, most_ns; /* of one that was measured; -1: none was */
    double mean_ns, deviation_ns;   /* of those; NAN: not known */
    double p50_ns, p90_ns, p99_ns;  /* within 3.2 % */
    int64_t allocations, bytes;     /* by itself; -1: nobody told */
};

/* How often one called the other. */
struct scope_pair {
    str_id caller, callee; /* caller "": none, a thread began with it */
    int64_t calls;
};

struct scopes {
    struct scope_stats *rows; /* most called first, then by name */
    size_t n, cap;
    struct scope_pair *pairs; /* most calls first, then by name */
    size_t n_pairs, cap_pairs;
};

struct scopes scopes_of(const struct profile *p);
void scopes_done(struct scopes *s);
DEFINE_OWN_IN_PLACE(scopes, struct scopes)

const struct scope_stats *scopes_named(const struct scopes *s, str_id name); /* NULL: none */
void scopes_sort(struct scopes *s, const struct profile *p, enum top_order order);

/* The set that libinferom's counts are in; NULL: there is none. */
const struct sample_set *scopes_counted(const struct profile *p);

/* scopes_counted.c: fills the rows from that set. For scopes_of(). */
void scopes_from_counts(const struct profile *p, const struct sample_set *set, struct scopes *into);
struct scope_stats *scopes_row(struct scopes *s, uint32_t *row_by_name, str_id name);
