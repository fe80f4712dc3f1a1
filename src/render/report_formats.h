/*
 * report_formats.h - the documents a report can be
 *
 *     const struct report_format *as = report_format_for_path("run.md");
 *     if (!as->write(&findings, out, e)) ...
 *
 * One file per document, one row in report_formats.c. All of them are written from the same
 * findings, so a number is the same in each.
 */
#pragma once
#include "render/findings.h"

struct report_format {
    const char *name;     /* "md" */
    const char *suffixes; /* ".md .markdown"; the first is the usual one */
    const char *what;     /* one line */
    bool (*write)(const struct findings *f, struct sink *out, struct err *e); /* false: this profile has not what it takes */
    enum report_needs { NEEDS_REPORT, NEEDS_FINDINGS, NEEDS_HIERARCHY } needs; /* of the findings: nothing, all but the last, all */
    bool (*suits)(const struct findings *f); /* is it worth writing when nobody asked for it by name? NULL: always */
};

const struct report_format *report_format_at(size_t i); /* NULL past the end */
const struct report_format *report_format_for_path(const char *path); /* by its suffix; NULL: none has it */

void report_markdown(const struct findings *f, struct sink *out);
void report_enhanced(const struct findings *f, struct sink *out); /* Markdown as SmallMind's comparator reads it */
void report_html(const struct findings *f, struct sink *out);
void report_csv(const struct findings *f, struct sink *out);
void report_junit(const struct findings *f, struct sink *out);

/* The documented keys of the JSON report, inside a larger answer. */
void report_contract_json(const struct findings *f, struct json_writer *w);
