/*
 * stream_clocks.h - how long a thread ran since its last sample
 *
 * With every sample the kernel tells how long that event's clock has been running: it
 * ticks only while the thread runs on that CPU, and each copy of an event that a thread
 * inherited has its own. The difference to the sample before, from the same copy, is
 * what the sample stands for.
 *
 *     timer due ──────── due ──────────────────────────── late ──── due
 *     sample     1 ms         1 ms                                5.2 ms      0.8 ms
 *
 * A period for every sample would be wrong in just the cases that matter on a virtual
 * machine: when the host takes the CPU away the timer comes late and its missed ticks are
 * dropped, while the thread's own CPU clock, by which the time is judged, ran on.
 *
 * Owns: its table, of bounded size. When it is full all is forgotten, and the next sample
 * of each copy counts one period; what is missed by that shows as unsampled time.
 */
#pragma once
#include "base/own.h"
#include <stdbool.h>
#include <stdint.h>

struct stream_clock {
    uint64_t stream; /* 0: free */
    uint64_t value;
};

struct stream_clocks {
    struct stream_clock *slots;
    size_t n, used;
    bool has_forgotten;
};

enum { STREAM_CLOCKS_MOST = 1 << 18 };

void stream_clocks_done(struct stream_clocks *c);
int64_t stream_clocks_step(struct stream_clocks *c, uint64_t stream, uint64_t value_ns, uint64_t period_ns);
