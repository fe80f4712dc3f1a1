/*
 * wait_times.h - time on and off the CPU: by thread, and by what was waited for
 *
 * A profile recorded with waits has two sets, "cpu" and "off-cpu"; every sample of the
 * second has a label "wait". For each thread on + off is the time it was there.
 *
 * Owns: its rows.
 */
#pragma once
#include "model/profile.h"

struct wait_share {
    struct view wait; /* "lock"; "unknown" where samples have no such label */
    int64_t ns;
    size_t samples;
};

struct wait_thread {
    thread_id thread;
    int64_t on_ns, off_ns;
    struct view most; /* what it waited for most, and how long */
    int64_t most_ns;
};

struct wait_times {
    struct wait_share *waits; /* longest first */
    size_t n_waits;
    struct wait_thread *threads; /* longest life first */
    size_t n_threads;
    int64_t on_ns, off_ns; /* of all threads */
};

/* False: the profile has no off-CPU time. */
bool wait_times_of(const struct profile *p, struct wait_times *out);
void wait_times_done(struct wait_times *w);
DEFINE_OWN_IN_PLACE(wait_times, struct wait_times)

const struct wait_thread *wait_times_thread(const struct wait_times *w, thread_id id); /* NULL: it has neither */
