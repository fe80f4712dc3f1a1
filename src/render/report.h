/*
 * report.h - what a profile says, on a screen or as JSON
 *
 * A report opens with what was measured and what was lost, then shows the views
 * that were asked for.
 */
#pragma once
#include "analyse/top.h"
#include "render/table.h"

struct report {
    const char *source; /* the file the profile came from */
    const struct profile *p;
    const struct sample_set *set;
    size_t measure;

    enum top_order order;
    size_t most_rows;  /* of a table; 0: all */
    int64_t min_total; /* functions and nodes below this are left out; 0: as small as is readable */
    size_t most_depth; /* of a tree; 0: no limit */
    bool top, tree, inverted, threads, waits;
    struct table_style style;
};

void report_print(const struct report *r, struct sink *out);
void report_top(const struct report *r, struct sink *out);                     /* the table of functions alone */
void report_top_json(const struct report *r, struct json_writer *w); /* its rows, as an array inside a larger answer */
void report_json(const struct report *r, struct sink *out);
