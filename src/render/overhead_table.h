/*
 * overhead_table.h - what our own measuring costs, on a screen or as JSON
 */
#pragma once
#include "analyse/verdict.h"
#include "render/table.h"

/* One way to measure, compared with not measuring. */
struct overhead_row {
    const char *engine; /* NULL: not measured, compared with itself: the noise of this machine */
    uint64_t rate_hz;
    bool with_heap;     /* allocations too */
    struct verdict cpu, wall;    /* ratios with/without */
    double recorder_share;       /* CPU use of the recorder, of one core, while the load runs */
    double recorder_fixed_ns;    /* CPU time to begin and to end; UNKNOWN: it is in the share */
    double recorder_peak_bytes;
    double samples_per_cpu_s;
};

struct overhead_answer {
    const char *load; /* what ran: a sentence's object */
    double load_cpu_ns;   /* of one run without recording */
    double tolerance;
    bool has_wall;        /* the load is a command whose wall time somebody waits for */
    const struct overhead_row *rows;
    size_t n;
};

void overhead_print(const struct overhead_answer *a, const struct table_style *style, struct sink *out);
void overhead_json(const struct overhead_answer *a, struct sink *out);
