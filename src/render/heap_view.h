/*
 * heap_view.h - what a heap recording says: in text, Markdown, HTML, JSON and CSV, from one set of findings
 *
 *     own(heap_view) struct heap_view v;
 *     if (heap_view_of(&v, p, &look))
 *         heap_print(&v, &style, out);
 *
 * Every tool means something else by peak, leak and temporary; ours are printed with the numbers.
 *
 * Owns: what was found. Profile, suppressions and look are borrowed.
 */
#pragma once
#include "analyse/heap_growth.h"
#include "analyse/heap_leaks.h"
#include "render/table.h"

struct json_writer;

/* Which part of it. */
enum heap_parts {
    HEAP_SHORT,  /* summary, leaks, peak and hot spots: a section of a larger report */
    HEAP_ALL,
    HEAP_LEAKS,  /* the leaks alone */
    HEAP_CHANGE, /* what changed between two moments or recordings; the profile is that change */
};

struct heap_look {
    enum heap_parts parts;
    size_t most_rows; /* of a table for eyes; 0: all */
    bool filtered;    /* the profile is a part of the file: the recorder's counters are of more */
    bool growing_only; /* leaks of grade A */
    uint64_t tokens;   /* that the run made; 0: nobody said */
    const struct leak_suppressions *known; /* NULL: none */
    const char *change; /* HEAP_CHANGE: "from 1 s to 2 s", in words */
};

struct heap_view {
    struct heap_look look;
    struct heap heap;
    struct heap_leaks leaks;
    struct heap_growth growth;
    bool has_leaks, has_growth; /* else the profile does not say */
    uint64_t tokens;            /* that the run made: who asks says so, or the program did; 0: nobody */
};

/* False: there are no allocations in the profile. */
bool heap_view_of(struct heap_view *v, const struct profile *p, const struct heap_look *look);
void heap_view_done(struct heap_view *v);
DEFINE_OWN_IN_PLACE(heap_view, struct heap_view)

void heap_print(const struct heap_view *v, const struct table_style *style, struct sink *out);
void heap_markdown(const struct heap_view *v, struct sink *out); /* sections of level 3 */
void heap_html(const struct heap_view *v, struct sink *out);     /* inside a section of the page */
void heap_json(const struct heap_view *v, struct json_writer *w); /* the key "heap" of a larger answer */
void heap_csv(const struct heap_view *v, struct sink *out);       /* hot spots, or leaks, or changes: one row for each path */

/* Leaks that nobody suppressed, of the grades looked at. */
struct leak_sum heap_leaked(const struct heap_view *v);

/*
 * What a recording says about memory at its end, besides its counters: the paths that allocated most, and what leaked.
 * Nothing without a heap.
 */
void heap_summary_print(const struct profile *p, const struct table_style *style, struct sink *out);
void heap_summary_json(const struct profile *p, struct json_writer *w); /* the key "heap" */

/* heap_chart.c: live bytes over time, as SVG that follows the colours of the page. */
void heap_chart_svg(const struct heap_view *v, struct sink *out);

/* heap_blocks.c: every recorded block of the profile (record --heap-blocks): address, size, stack, freed, time. */
bool heap_blocks_are_there(const struct profile *p);
void heap_blocks_csv(const struct profile *p, struct sink *out);
void heap_blocks_json(const struct profile *p, struct sink *out);
