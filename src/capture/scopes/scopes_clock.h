/*
 * scopes_clock.h - from ticks of the processor's counter to nanoseconds, and back
 *
 * libinferom writes down ticks. Both clocks are read together, once a second; in between they run evenly. So a clock
 * that is being set right by the network is followed, and nothing has to be measured beforehand.
 *
 * Owns: its pairs. Threads: one at a time. Fails: never; without such a counter it answers what it was asked.
 */
#pragma once
#include "base/own.h"
#include <stddef.h>
#include <stdint.h>

struct tick_pair {
    uint64_t tick, ns; /* the same moment */
};

struct scopes_clock {
    struct tick_pair *pairs; /* in order */
    size_t n, cap;
};

void scopes_clock_read(struct scopes_clock *c, uint64_t now_ns);        /* as often as you like; keeps one a second */
void scopes_clock_add(struct scopes_clock *c, struct tick_pair pair);   /* what that comes to */
uint64_t scopes_clock_ns(const struct scopes_clock *c, uint64_t tick);
uint64_t scopes_clock_tick(const struct scopes_clock *c, uint64_t ns);
double scopes_clock_ns_per_tick(const struct scopes_clock *c);          /* over all of it */
void scopes_clock_done(struct scopes_clock *c);
DEFINE_OWN_IN_PLACE(scopes_clock, struct scopes_clock)
