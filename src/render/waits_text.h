/*
 * waits_text.h - time on and off the CPU, on a screen or as JSON
 */
#pragma once
#include "analyse/wait_times.h"
#include "render/table.h"

/* Two tables: what was waited for, and the life of each thread, so many at most (0: all). Nothing when there are no waits. */
void waits_print(const struct profile *p, size_t most_threads, const struct table_style *style, struct sink *out);
void waits_markdown(const struct profile *p, size_t most_threads, struct sink *out); /* the same in documents */
void waits_html(const struct profile *p, size_t most_threads, struct sink *out);
bool waits_are_there(const struct profile *p);
void waits_json(const struct profile *p, struct json_writer *w); /* "waits" and "thread_times", inside a larger answer */

void waits_print_life(const struct wait_thread *t, struct sink *out); /* "; on CPU 1 s + off 2 s = 3 s" */
