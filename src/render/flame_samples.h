/*
 * flame_samples.h - the samples of one side of a flame graph, as columns
 *
 * Where samples have times, each is a row, in order of time; elsewhere, and where
 * there are more than FLAME_TIMED_MOST, rows of the same node and context are one.
 */
#pragma once
#include "render/flame_columns.h"
#include "render/flame_tree.h"
#include "render/flame_who.h"

enum { FLAME_TIMED_MOST = 4000000 };

struct flame_sample {
    uint32_t node, context;
    uint64_t value, count;
    uint64_t time_ns; /* since the first; where there are times */
};

struct flame_samples {
    struct flame_sample *rows;
    size_t n;
    size_t timed; /* rows with a time; the others, if any, come last */
    uint64_t time_unit_ns;
    uint64_t value_sum, count_sum, unresolved_sum;
    uint64_t common_value; /* of all rows; 0: they differ */
    bool count_is_value;   /* count = value / 10^decimals */
    bool count_is_periods; /* count = value / period */
    int64_t period;
};

struct flame_samples flame_samples_of(const struct flame_side *side, const struct flame_tree *tree, size_t side_number,
                                      const struct flame_who *who);
void flame_samples_done(struct flame_samples *s);
DEFINE_OWN_IN_PLACE(flame_samples, struct flame_samples)

uint64_t flame_samples_divisor(const struct flame_samples *s, uint64_t so_far); /* the gcd of all values */

/* side0_node, side0_context, side0_value, side0_count, side0_time: those that say something. */
void flame_samples_columns(const struct flame_samples *s, size_t side_number, uint64_t scale, struct flame_columns *to);
