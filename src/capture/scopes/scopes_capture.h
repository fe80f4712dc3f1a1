/*
 * scopes_capture.h - what a process counted becomes part of the recording
 *
 * The same sets, spans and series that libinferom writes itself when it is alone (docs/formats/inferom.md, "Scopes"), from the
 * numbers in the memory it shares. What is open counts as far as it has come; a phase that is open is a span until now.
 *
 *     scopes_capture_events(...);   // a few times a second: phases, requests and readings that are new
 *     scopes_capture_table(...);    // now and then: what was counted so far, in place of what was written before
 *     scopes_capture(...);          // once, at the end: events that are left, and the table for the last time
 *
 * Threads: one at a time. Fails: never; numbers that make no sense count as none.
 */
#pragma once
#include "capture/scopes/scopes_clock.h"
#include "capture/scopes/scopes_memory.h"
#include "model/capture_writer.h"

void scopes_capture_events(struct scopes_memory *m, struct seen_process *p, const struct scopes_clock *clock, uint64_t now_ns,
                           struct capture_writer *into);
void scopes_capture(struct scopes_memory *m, struct seen_process *p, const struct scopes_clock *clock, uint64_t now_ns,
                    struct capture_writer *into);

/* Another number when something was counted: then the table is another one. */
uint64_t scopes_capture_numbers(const struct scopes_memory *m, const struct seen_process *p);

/* Returns how many bytes of the file it took. */
uint64_t scopes_capture_table(struct scopes_memory *m, struct seen_process *p, const struct scopes_clock *clock, uint64_t now_ns,
                              struct capture_writer *into);

/* Rows of names for who writes about the same process. */
process_id scopes_process_row(struct builder *names, const struct seen_process *p);
frame_id scopes_frame(struct builder *names, const struct seen_process *p, uint32_t site);
