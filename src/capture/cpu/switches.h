/*
 * switches.h - one thread's life in two colours: on a CPU, and off it
 *
 * The kernel tells when a thread leaves a CPU and when it comes back. Between any two
 * moments the thread was either running or waiting, so its whole life adds up:
 *
 *     born      out        in           out  in              end
 *      │ running │ waiting │ running     │ w. │ running       │
 *      └──────────────── running + waiting + unknown ─────────┘
 *
 * Records can be lost. An interval in which some were, or whose two ends do not fit
 * together (in and in again), is neither running nor waiting: it is unknown, and counted
 * as that. CPUs do not agree on the time to the last nanosecond: a moment before the one
 * we are at counts as the same one.
 *
 * Times come from the caller. Nothing here allocates or asks the system.
 *
 * Threads: one at a time. Fails: never.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum switches_state { SWITCHES_RUNNING, SWITCHES_WAITING };

struct switches_sum {
    uint64_t running_ns, waiting_ns, unknown_ns;
};

struct switches {
    enum switches_state is;
    bool is_preempted; /* waiting, but only for a CPU */
    uint64_t since_ns;
    uint64_t losses; /* how many records had been lost by then, as the caller counts */
    struct switches_sum sum;
};

/* One wait, or a piece of one. */
struct wait {
    uint64_t start_ns, length_ns;
    bool is_preempted;
};

void switches_begin(struct switches *s, enum switches_state is, bool is_preempted, uint64_t now_ns, uint64_t losses);

/* It leaves the CPU; preempted: it would rather have stayed. */
void switches_out(struct switches *s, bool is_preempted, uint64_t now_ns, uint64_t losses);

/* It is on a CPU again. True: a wait has ended, and *out is all of it that no switches_cut() gave out before. */
bool switches_in(struct switches *s, uint64_t now_ns, uint64_t losses, struct wait *out);

/* Everything up to now is settled; what goes on, begins anew. True: it waits, and *out is the part until now. */
bool switches_cut(struct switches *s, uint64_t now_ns, uint64_t losses, struct wait *out);
