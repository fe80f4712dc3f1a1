/*
 * perf_backlog.h - takes records out of the kernel's rings as soon as they come, so that there is room for more
 *
 * Walking a stack and finding names takes twenty times as long as copying it, and among 256 busy
 * threads whoever wants to run gets his two hundred and fifty-seventh part. So copying is the
 * work of a thread of its own, which does nothing else and is seldom made to wait:
 *
 *     kernel ── ring ──┐
 *     kernel ── ring ──┼── thread: copies ── segments, one list for each ring ── reader: walks, names, writes
 *     kernel ── ring ──┘
 *
 * A sample is as long in its ring as the slice of the stack that was asked for; the copy has only
 * the bytes that are there, so the backlog of a second takes a few megabytes. When the reader is
 * BACKLOG_MOST behind, records stay where they are; if the ring is full then, the kernel counts what
 * it could not write.
 *
 * A pull takes what is in all rings. perf_backlog_look() tells when the last one began that is
 * done: everything from before that moment can be read, so records can be put in order up to there.
 *
 *     own(perf_backlog) struct perf_backlog *b = perf_backlog_new(rings, n);
 *     perf_backlog_look(b);                                   // pulls itself while there is no thread
 *     for (; perf_backlog_peek(b, ring, &bytes); perf_backlog_pass(b, ring)) ...
 *     perf_backlog_start(b, fds, n_fds);
 *     ...
 *     perf_backlog_stop(b);                                   // then look again, and read to the end
 *
 * Owns:     its thread and copies; rings are borrowed, and its own between start and stop.
 * Threads:  one reader beside its own.
 * Fails:    where no thread can be had, the reader pulls.
 */
#pragma once
#include "base/own.h"
#include "capture/cpu/perf_record.h"
#include "capture/cpu/perf_ring.h"

#define BACKLOG_MOST ((size_t)16 << 20)

struct perf_backlog;

struct perf_backlog_ring {
    struct perf_ring *ring;
    const struct perf_layout *layout; /* of its samples */
};

struct perf_backlog *perf_backlog_new(const struct perf_backlog_ring *rings, size_t n);
void perf_backlog_free(struct perf_backlog *b); /* NULL is fine; stops */
DEFINE_OWN(perf_backlog, struct perf_backlog *)

void perf_backlog_start(struct perf_backlog *b, const int *fds, size_t n_fds); /* readable when a ring has much */
void perf_backlog_stop(struct perf_backlog *b);

uint64_t perf_backlog_look(struct perf_backlog *b); /* the moment, CLOCK_MONOTONIC */

/* The next record of a ring, 8-byte aligned, good until perf_backlog_pass(). False: nothing more until the next look. */
bool perf_backlog_peek(struct perf_backlog *b, size_t ring, struct view *out);
void perf_backlog_pass(struct perf_backlog *b, size_t ring);
