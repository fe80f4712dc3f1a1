/*
 * scopes_text.h - the scopes of a program, on a screen, in documents or as JSON
 *
 * Three tables: the scopes with their calls and lengths, who called whom how often, and the program's own counters
 * and gauges. Nothing where there is nothing.
 */
#pragma once
#include "analyse/scopes.h"
#include "render/table.h"

void scopes_print(const struct profile *p, enum top_order order, size_t most_rows, const struct table_style *style, struct sink *out);
void scopes_markdown(const struct profile *p, enum top_order order, size_t most_rows, struct sink *out);
void scopes_html(const struct profile *p, enum top_order order, size_t most_rows, struct sink *out);
void scopes_json(const struct profile *p, enum top_order order, struct json_writer *w); /* "scopes", "scope_calls", "metrics" */

/* Numbers that were read again and again: of the host, or a program's own. The caller's to free. */
struct table *series_table(const struct profile *p);
