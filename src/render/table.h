/*
 * table.h - an answer with rows, printed for whoever asked
 *
 * An analysis fills a table; how it looks is decided here. Numbers keep their
 * unit until the last moment: nanoseconds inside, "1.3 ms" only for eyes.
 *
 *     static const struct column columns[] = {
 *         {"Self",     "self_ns",  COLUMN_NS},
 *         {"Function", "function", COLUMN_TEXT},
 *     };
 *     own(table) struct table *t = table_new(columns, 2);
 *     table_number(t, 1500000);
 *     table_text(t, VIEW("matmul"));
 *     table_print(t, &style, out);
 *
 * Owns: its cells; texts are copied.
 */
#pragma once
#include "base/sink.h"
#include <math.h>
#include <stdbool.h>

#define UNKNOWN NAN /* nobody told us; not the same as zero */

enum column_kind {
    COLUMN_TEXT,
    COLUMN_CODE,  /* a text that is a name in a program */
    COLUMN_COUNT, /* 1 234 */
    COLUMN_NS,    /* 1.25 ms */
    COLUMN_BYTES, /* 1.5 MiB */
    COLUMN_SHARE, /* 0..1, shown as 12.3 % */
    COLUMN_ID,    /* 1234: a number that is a name */
    COLUMN_REAL,  /* 0.25, 1.5e+09: whatever was measured */
    COLUMN_FIXED, /* 0.250: with `decimals` digits, whatever its size */
    COLUMN_KIND_COUNT
};

struct column {
    const char *title;     /* "Self time" */
    const char *key;       /* "self_ns", the JSON and CSV name */
    enum column_kind kind; /* how to scale and align it for people */
    unsigned decimals;     /* COLUMN_COUNT: the numbers are stored times 10^decimals; COLUMN_FIXED: digits shown */
};

struct table_style {
    unsigned width; /* columns of the terminal; texts give way; 0: no limit */
    bool colour;    /* the head in bold */
};

struct json_writer;
struct table;

struct table *table_new(const struct column *columns, size_t n);
void table_free(struct table *t);
DEFINE_OWN(table, struct table *)

/* Cells go in row by row, left to right. */
void table_text(struct table *t, struct view text);
void table_number(struct table *t, double n); /* UNKNOWN: "-" for eyes, null for machines */

size_t table_rows(const struct table *t);
void table_print(const struct table *t, const struct table_style *s, struct sink *out); /* for eyes */
void table_json(const struct table *t, struct json_writer *w); /* an array of objects, inside a larger answer */

/* In documents: table_markup.c. Names longer than a line are cut in Markdown and HTML, never in CSV. */
void table_markdown(const struct table *t, struct sink *out);
void table_html(const struct table *t, const char *id, struct sink *out); /* heads of columns are buttons for report_page's script */
void table_csv(const struct table *t, struct sink *out);                  /* numbers as they are, shares as ratios; unknown is empty */
void table_csv_rows(const struct table *t, struct sink *out);             /* without the head: for what is written in pieces */

/* Cell by cell, for them. */
size_t table_width(const struct table *t);
const struct column *table_column(const struct table *t, size_t column);
struct view table_shown(const struct table *t, size_t row, size_t column, char room[32]); /* as for eyes */
double table_value(const struct table *t, size_t row, size_t column);                     /* of a number */
bool column_is_text(const struct column *c);
