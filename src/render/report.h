/*
 * report.h - what a profile says, on a screen or as JSON
 *
 * A report opens with what was measured and what was lost, then shows the views
 * that were asked for.
 */
#pragma once
#include "analyse/top.h"
#include "render/table.h"

struct findings;  /* findings.h */
struct heap_view; /* heap_view.h */

/* A threshold: the self values of all functions that match, together, are at most this share of the whole. */
struct report_limit {
    const char *pattern;
    double share; /* 0..1 */
};

struct report {
    const char *source; /* the file the profile came from */
    const struct profile *p;
    const struct sample_set *set;
    size_t measure;

    enum top_order order;
    size_t most_rows;  /* of a table; 0: all */
    int64_t min_total; /* functions and nodes below this are left out; 0: as small as is readable */
    size_t most_depth; /* of a tree; 0: no limit */
    bool top, tree, inverted, threads, waits, scopes, memory;
    struct table_style style;

    /* For documents (report_formats.h). */
    int64_t generated_s; /* wall clock of whoever asks */
    bool deep;           /* everything there is, not only what matters most */
    bool enhanced;       /* Markdown in the other shape that SmallMind's tools know */
    bool filtered;       /* the profile is a part of the file */
    uint64_t tokens;     /* that the run made; 0: nobody said */
    const struct report_limit *limits;
    size_t n_limits;

    const struct heap_view *heap; /* what there is to say about memory; NULL: nothing */
    bool heap_only;               /* and nothing else is asked for */
    bool no_leaks;                /* a threshold: there must be none but the suppressed ones */
};

/* When and how long, as far as the profile says: "2026-01-23T01:45:00Z"; NAN. */
bool report_start(const struct report *r, const char *format, char out[40]);
double report_length_ns(const struct report *r);

void report_print(const struct report *r, struct sink *out);
void report_top(const struct report *r, struct sink *out);                     /* the table of functions alone */
void report_tree(const struct report *r, bool inverted, struct sink *out);     /* a tree alone */
void report_top_json(const struct report *r, struct json_writer *w); /* its rows, as an array inside a larger answer */
void report_json(const struct findings *f, struct sink *out);
