/*
 * columns.h - samples and readings while they are being collected; for the builder only
 *
 * A column that would hold nothing (no times, one context) is never made: a
 * folded file with a million lines costs twelve bytes a line, not thirty-two.
 */
#pragma once
#include "model/profile.h"

struct columns {
    size_t n, cap, n_measures;
    uint64_t *time_ns;    /* NULL until a sample has one */
    context_id *contexts; /* NULL until one is not 0 */
    stack_id *stacks;
    int64_t *values[MEASURES_MOST];
    uint64_t latest_ns;
    bool out_of_order;
    uint32_t *row_of; /* by stack, 0: none, else row + 1; NULL unless samples are added up */
    size_t row_of_cap;
};

struct reading_column {
    struct reading *rows;
    size_t n, cap;
};

void columns_init(struct columns *c, size_t n_measures);
void columns_done(struct columns *c);
void columns_add(struct columns *c, uint64_t time_ns, context_id context, stack_id stack, const int64_t *values);
void columns_add_up(struct columns *c, stack_id stack, const int64_t *values); /* to the row of this stack */
bool columns_times_ten(struct columns *c, size_t measure); /* false: a value does not fit any more */
void columns_sort(struct columns *c);                      /* by time; those without come last, in their order */
void columns_give(struct columns *c, struct sample_set *to);

void readings_sort(struct reading_column *c);
void spans_sort(struct span *rows, size_t n); /* row 0 stays; parents and links follow */
