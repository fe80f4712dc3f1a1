/*
 * perf_ring.h - the memory into which the kernel writes records for us
 *
 *     page │ ── data, a power of two of bytes ──────────── │
 *            ... tail ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒ head ...
 *                     what is ours to read
 *
 * A record may lie across the end; perf_ring_peek() then hands out a copy in one
 * piece. What has been read is given back at once, so that a slow reader of one
 * record does not cost the kernel the room of all before it.
 *
 * Owns:     the map. Threads: one reader; the kernel writes.
 * Fails:    perf_ring_open(): locked memory is limited (kernel.perf_event_mlock_kb).
 */
#pragma once
#include "base/err.h"
#include "base/view.h"
#include <stdint.h>

struct perf_event_mmap_page;

struct perf_ring {
    struct perf_event_mmap_page *page; /* NULL: not open */
    const char *data;
    size_t bytes; /* of data */
    uint64_t head, tail;
    uint64_t damaged; /* times the kernel's lengths made no sense, and what was there was passed over */
    uint64_t *whole;  /* room for a record that lies across the end */
};

int perf_ring_open(struct perf_ring *r, int fd, size_t data_bytes); /* 0, or the errno of the refusal */
void perf_ring_over(struct perf_ring *r, const char *data, size_t bytes, uint64_t tail, uint64_t head); /* no kernel: for tests */
void perf_ring_close(struct perf_ring *r);

/* Looks how far the kernel has come; the records until there can be read. */
void perf_ring_look(struct perf_ring *r);

/* The next record, 8-byte aligned, good until perf_ring_pass(). False: nothing more until the next look. */
bool perf_ring_peek(struct perf_ring *r, struct view *out);
void perf_ring_pass(struct perf_ring *r);
