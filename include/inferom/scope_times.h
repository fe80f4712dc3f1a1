/*
 * scope_times.h - from what was counted of each path to what it took: the same answer inside a program and outside
 *
 * A path is a way to get to a scope on one thread; callers come before their callees. Lengths that were not timed are as long
 * as those that were, on average. A path is as long as it was measured to be, and what is inside it never longer: so
 * self times of a tree add up to its total, always.
 *
 * Threads: pure. Fails: never.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SCOPE_NO_CALLER UINT32_MAX

/* Of timed calls. */
struct scope_spread {
    double mean, squares; /* squares of distances from the mean, added up */
};

/* What was added up is distances from some length in their midst: so nothing cancels. */
static inline struct scope_spread scope_spread_of(uint64_t timed, uint64_t total, int64_t middle, double squares)
{
    struct scope_spread s = {0};
    if (!timed)
        return s;
    s.mean = (double)total / (double)timed;
    double off = s.mean - (double)middle, left = squares - (double)timed * off * off;
    s.squares = left > 0 ? left : 0;
    return s;
}

/* How calls are timed, in words; stride 0: as many as are cheap. */
static inline void scope_timing_text(char *out, size_t size, uint32_t stride)
{
    if (stride > 1)
        snprintf(out, size, "one call in %u", stride);
    else
        snprintf(out, size, "%s", stride ? "every call" : "adaptive");
}

struct scope_time {
    uint32_t caller;      /* a row before this one, or SCOPE_NO_CALLER */
    bool is_partly_known; /* open, left by longjmp, entered before a fork: needs at least what was inside */
    double total;         /* in: as measured; out: as it is */
    double self;          /* out */
    double inside;        /* of what it called, before they had to share */
};

/*
 * From the leaves to the roots: what each path needs. One that was measured needs what was measured. Then back again: where
 * those inside are estimates that are too large together, they share what there is.
 */
static inline void scope_times_share(struct scope_time *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rows[i].inside = 0;
    for (size_t i = n; i-- > 0;) {
        struct scope_time *r = &rows[i];
        if (r->is_partly_known && r->inside > r->total)
            r->total = r->inside;
        if (r->caller != SCOPE_NO_CALLER)
            rows[r->caller].inside += r->total;
    }
    for (size_t i = 0; i < n; i++) {
        struct scope_time *r = &rows[i];
        const struct scope_time *around = r->caller == SCOPE_NO_CALLER ? NULL : &rows[r->caller];
        if (around && around->inside > around->total)
            r->total *= around->total / around->inside;
        r->self = r->total > r->inside ? r->total - r->inside : 0;
    }
}
