/*
 * overhead_runs.h - the same command, alone and recorded
 *
 * The recorder is a process of its own, as it is for a user: this program again, told
 * to record. What it takes is what the kernel says about that process, less what the
 * command took.
 */
#pragma once
#include "base/own.h"
#include "bench/timed_run.h"

struct recorded_run {
    double command_cpu_ns, wall_ns;
    double recorder_cpu_ns, recorder_peak_bytes;
    double samples;
};

/* Where recordings go until they have been looked at. */
struct scratch {
    char folder[256], file[280];
};

bool scratch_make(struct scratch *s, struct err *e) MUST_CHECK;
void scratch_done(struct scratch *s);
DEFINE_OWN_IN_PLACE(scratch, struct scratch)

struct recording_way {
    const char *engine;
    uint64_t rate_hz;
    bool with_heap; /* allocations as well */
};

bool run_recorded(struct recorded_run *out, const struct scratch *s, const struct recording_way *way, char *const *command,
                  const volatile sig_atomic_t *stop, struct err *e) MUST_CHECK;
