/*
 * scopes_labels.h - what a sample is labelled with: the scope its thread was in
 *
 *     scope = "attention"                          the innermost one
 *     scope path = "serve > decode > attention"    all of them (model/scope_path.h)
 *
 * Owns: its memory of who is who. Threads: one at a time.
 */
#pragma once
#include "capture/scopes/scopes_clock.h"
#include "capture/scopes/scopes_memory.h"
#include "model/builder.h"

struct scopes_labels;

struct scopes_labels *scopes_labels_new(struct builder *names);
void scopes_labels_free(struct scopes_labels *l);
void scopes_labels_forget(struct scopes_labels *l, struct builder *names); /* processes or names are no longer what they were */

labels_id scopes_labels_at(struct scopes_labels *l, const struct scopes_memory *m, const struct scopes_clock *clock,
                           thread_id thread, uint64_t time_ns); /* labels 0: in none */
struct seen_process *scopes_labels_process(struct scopes_labels *l, const struct scopes_memory *m, thread_id thread); /* NULL: not known */
labels_id scopes_labels_of(struct scopes_labels *l, const struct scopes_memory *m, thread_id thread, uint32_t node); /* 0: not known */
