/*
 * profile.h - a capture file in the making: what profile.c and profile_events.c share
 *
 * Owns: its rows, until the file is written.
 */
#pragma once
#include "capture_file.h"
#include "results.h"

enum { SLICE = 1 << 14, MEASURES = 5, FRAME_SCOPE = 4, SPAN_REQUEST = 1, SPAN_PHASE = 2 }; /* SLICE: rows of a chunk */
enum { UNIT_COUNT, UNIT_NS, UNIT_BYTES, UNIT_OTHER };

struct sample {
    uint32_t stack, context;
    int64_t values[MEASURES];
};

struct samples {
    struct sample *rows;
    size_t n, cap;
};

struct saving {
    struct capture c;
    const struct results *r;
    uint32_t process;
    uint32_t *stacks; /* by path */
    struct samples scopes, times, calls;
    uint32_t key_least, key_most, key_mean, key_deviation, key_cut, key_left_out, key_from, key_to, key_phase, key_request, unit_ps;
    uint32_t key_allocations, key_allocated, unit_bytes;
    bool failed;
};

/* profile.c */
uint32_t profile_thread(struct saving *s, const struct block *b);

/* profile_events.c */
void profile_spans(struct saving *s);  /* phases and requests */
void profile_series(struct saving *s); /* counters and gauges */
