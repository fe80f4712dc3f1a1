/*
 * memory_text.h - the memory of processes as it was seen from outside: for eyes, in documents, as JSON
 *
 * A table of processes, one of what they had mapped, and what was found. In a page there is a
 * picture of anonymous memory, files and shared memory over time (memory_chart.h).
 */
#pragma once
#include "analyse/weights_twice.h"
#include "render/table.h"

bool memory_is_there(const struct profile *p);

void memory_print(const struct profile *p, size_t most_rows, const struct table_style *style, struct sink *out);
void memory_markdown(const struct profile *p, size_t most_rows, struct sink *out);
void memory_html(const struct profile *p, size_t most_rows, struct sink *out);
void memory_json(const struct profile *p, struct json_writer *w); /* a key and its value, with every reading */

/* "model.gguf is in memory twice: ...", with the evidence and the condition under which it is wrong. Nothing in it moves a cursor. */
enum { MEMORY_FINDINGS_MOST = 4, MEMORY_FINDING_TEXT = 720 };
void memory_finding_text(const struct weights_twice *w, char out[MEMORY_FINDING_TEXT]);
void memory_print_findings(const struct profile *p, struct sink *out); /* a line each; mostly none */
