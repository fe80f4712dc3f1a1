/*
 * timing_stats.h - a line per turn of a chat, as the original chat program wrote them
 *
 * Tab-separated; the first field says what a line is, a header names the columns once:
 *
 *     TIMING_STATS_HEADER  row_index  timestamp_iso                timestamp_unix     prompt_tokens  ...
 *     TIMING_STATS         1          2026-01-28T14:01:42.499803Z  1769630502.499803  114            ...
 *
 * What nobody knows is None. Readers go by the header: columns have come and gone.
 */
#pragma once
#include "base/sink.h"
#include <stdint.h>

struct timing_row {
    uint64_t index;             /* from 1 */
    uint64_t ended_ns;          /* of the turn: nanoseconds since 1970, UTC */
    uint64_t prompt_tokens;     /* the whole conversation so far */
    uint64_t cached_tokens;     /* of them, those that were evaluated in turns before */
    uint64_t generated_tokens;
    double prefill_s, elapsed_s; /* elapsed: prefill and answer */
    double since_last_start_s;  /* from the start of the turn before to this one's; NAN: the first */
    uint64_t context;           /* tokens there is room for */
};

void timing_stats_header(struct sink *out);
void timing_stats_row(struct sink *out, const struct timing_row *r);
