/*
 * scopes.h - the scopes a program named itself: how often, how long, within which
 *
 * From the spans of a profile. Time inside a scope of the same name counts once in the total:
 *
 *     decode [ attention [ decode ] ]      two calls of decode, the total is that of the outer one
 *
 * Self is the time outside of the scopes within it; selfs of one thread add up to the time it
 * was in any scope. A scope that never ended is counted as a call and has no length.
 *
 * Owns: its rows.
 */
#pragma once
#include "model/profile.h"

struct scope_stats {
    str_id name;
    int64_t calls, open; /* open: those that never ended */
    int64_t self_ns, total_ns;
    int64_t least_ns, most_ns; /* of one that ended; -1: none did */
};

struct scopes {
    struct scope_stats *rows; /* most called first, then by name */
    size_t n, cap;
};

struct scopes scopes_of(const struct profile *p);
void scopes_done(struct scopes *s);
DEFINE_OWN_IN_PLACE(scopes, struct scopes)

const struct scope_stats *scopes_named(const struct scopes *s, str_id name); /* NULL: none */
