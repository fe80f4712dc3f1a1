/*
 * top.h - which functions the measured time (or memory, or anything) went to
 *
 *     self    what was measured while the function itself was on top of the stack
 *     total   what was measured while it was anywhere on the stack
 *
 * Self values add up to the whole. Totals do not, and nobody should add them: a
 * caller's total contains its callees'.
 *
 * A profile of counted calls has no stacks; the total of a function is then what
 * its profiler measured as cumulative.
 *
 * Owns: its rows.
 */
#pragma once
#include "model/profile.h"

struct hot {
    func_id function;
    enum frame_kind kind;
    int64_t self, total;
};

struct top {
    struct hot *rows; /* every function that occurs, in order of id */
    size_t n;
    int64_t whole; /* what the shares are shares of */
};

enum top_order { TOP_BY_SELF, TOP_BY_TOTAL, TOP_BY_NAME, TOP_ORDER_COUNT };

/* Of these samples of the set (by index), or of all when `which` is NULL. */
struct top top_of(const struct profile *p, const struct sample_set *set, size_t measure, const size_t *which, size_t n);
void top_sort(struct top *t, const struct profile *p, enum top_order order);
void top_done(struct top *t);
DEFINE_OWN_IN_PLACE(top, struct top)
