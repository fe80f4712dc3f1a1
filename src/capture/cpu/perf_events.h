/*
 * perf_events.h - the kernel's events on the threads we watch, and the rings they write to
 *
 * For every watched thread and every CPU there is one event that tells the news (maps,
 * names, forks, ends) and one sampling event for each size of stack slice, of which
 * one at a time is switched on:
 *
 *     thread × CPU:   news │ sampling, 2 KiB │ 4 KiB │ 16 KiB │ 62 KiB
 *                     └──── all into the ring of that CPU ────┘
 *
 * An event cannot change its slice once it is open, and its copies in threads that
 * were born since cannot be exchanged without missing some; switching between events
 * that are all there reaches every copy with one call. Which size is right, slice.h says.
 *
 * When waits are wanted, the news also tell of every switch from and to a CPU, and where
 * the kernel allows it a further event takes the stack at each switch from a CPU. Those
 * stacks may be many; they go into a second ring, so that they cannot push anything else out:
 *
 *     thread × CPU:   stack at each switch ── the ring of that CPU for waits
 *
 * Events are inherited by threads and processes that watched ones make. The kernel
 * allows that together with a ring only for events bound to one CPU, hence the matrix.
 *
 * Owns:     descriptors and rings. Threads: one at a time.
 * Fails:    opening: refused, no such event, too many descriptors.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "capture/cpu/perf_record.h"
#include "capture/cpu/perf_ring.h"
#include "capture/cpu/slice.h"
#include "capture/host/host.h"

enum perf_event_choice { PERF_EVENT_CPU_CLOCK, PERF_EVENT_CYCLES, PERF_EVENT_INSTRUCTIONS, PERF_EVENT_CACHE_MISSES, PERF_EVENT_COUNT };
extern const char *const perf_event_names[PERF_EVENT_COUNT + 1]; /* as a person types them; ends with NULL */

struct perf_wish {
    const struct host *host;
    enum perf_event_choice event;
    uint64_t rate_hz;
    bool want_kernel;   /* as far as we are allowed */
    bool want_children; /* and not only new threads */
    bool want_waits;    /* switches, with stacks as far as we are allowed */
};

struct perf_cpu {
    int number;
    struct perf_ring ring;
    int news_fd; /* whose ring it is; -1 before the first thread was added */
    struct perf_ring wait_ring;
    int wait_fd; /* the same for that one; -1: there is none */
};

struct perf_events {
    struct perf_wish wish;
    struct perf_layout layout;
    bool has_kernel;   /* samples taken in the kernel are among ours */
    bool has_build_id; /* the kernel puts build ids into news of maps */
    bool keeps_children_out; /* else whoever reads the records has to */
    bool has_wait_stacks;    /* the stack is taken when a thread leaves a CPU */
    uint64_t period_ns; /* of the CPU clock; 0 for events that are counted */
    struct perf_cpu *cpus;
    size_t n_cpus;
    int *sampling; /* descriptors: SLICE_COUNT for each thread and CPU, smallest slice first */
    size_t n_sampling, sampling_cap;
    int *news;
    size_t n_news, news_cap;
    int *waits; /* one for each thread and CPU, where there are any */
    size_t n_waits, waits_cap;
    struct slice slice; /* whose size is switched on */
    bool is_on;
    size_t ring_bytes;
};

bool perf_events_open(struct perf_events *pe, const struct perf_wish *w, struct err *e) MUST_CHECK; /* opens nothing yet */
void perf_events_close(struct perf_events *pe);

/*
 * Watches one thread. With `at_exec` sampling begins when it starts another program, and not
 * before. *out_is_gone, without an error: the thread has ended. The first one decides how much is
 * allowed (kernel, build ids) and makes the rings.
 */
bool perf_events_add(struct perf_events *pe, int32_t tid, bool at_exec, bool *out_is_gone, struct err *e) MUST_CHECK;

void perf_events_on(struct perf_events *pe);
void perf_events_off(struct perf_events *pe);

/* What a sample's stack says about the slice: which size would have had twice what it needed, and that it was cut. */
void perf_events_needed(struct perf_events *pe, size_t size);
void perf_events_saw(struct perf_events *pe, bool is_cut);
size_t perf_events_stack_bytes(const struct perf_events *pe);

/* What the sampling events counted, all threads and CPUs together: CPU time, or counts of the event. */
uint64_t perf_events_counted(const struct perf_events *pe);
