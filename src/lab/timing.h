/*
 * timing.h - how long a call takes, and how sure that is
 *
 * A call is repeated in samples. A sample is as many calls as take `sample_ns` together, so that reading the clock
 * (some hundred nanoseconds) does not matter; how many that are is found out while warming up. What runs during
 * warm-up is in no statistic. A figure is always of exactly the calls that were timed: `calls` counts them, and the
 * times of the samples add up to theirs.
 *
 *     struct timing t;
 *     if (!timing_of(&t, &(struct timing_plan){.samples = 15, .sample_ns = 2000000, .warm_up_ns = 20000000}, call, arg, e))
 *         return false;                                   // ERR_INTERRUPTED
 *     double gflops = flops_of_one_call / t.median_ns;
 *
 * Work of one thread is timed by its CPU clock: on a busy machine what others do in between does not count. Work of
 * several threads is timed by the clock on the wall, since one of them waits for the others. Both are kept.
 */
#pragma once
#include "base/err.h"
#include <signal.h>
#include <stdint.h>

struct timing_plan {
    unsigned samples; /* from 1 to TIMING_SAMPLES_MOST */
    uint64_t sample_ns, warm_up_ns;
    bool on_the_wall;                  /* else by the CPU clock of the calling thread, */
    uint64_t (*clock_ns)(void *arg);   /* or by this one, where it is not NULL: it is given the argument of the call */
    const volatile sig_atomic_t *stop; /* may be NULL */
};
enum { TIMING_SAMPLES_MOST = 10000 };

/* Times of one call, in nanoseconds. */
struct timing {
    double median_ns, p90_ns, least_ns, most_ns, mean_ns, deviation_ns; /* deviation: of the samples; NAN for one */
    double wall_ns;        /* median by the clock on the wall, whatever the figures above are by */
    unsigned samples;
    uint64_t calls_a_sample;
    uint64_t calls, warm_up_calls;
    double total_ns;       /* of all calls that were timed */
    uint64_t begun_ns, timed_from_ns, ended_ns; /* CLOCK_MONOTONIC: warm-up, first sample, end */
    struct timing_sample *rows; /* in order of time */
};

struct timing_sample {
    uint64_t at_ns, wall_ns; /* CLOCK_MONOTONIC: when it began, how long it took */
    double ns;               /* of one call, by the clock of the plan */
};

void timing_done(struct timing *t);

typedef void (*timing_call)(void *arg);
bool timing_of(struct timing *out, const struct timing_plan *p, timing_call call, void *arg, struct err *e) MUST_CHECK;

/* Sorts; fills in the six figures of one call from so many samples. */
void timing_figures(struct timing *t, double *sorted, unsigned n);
