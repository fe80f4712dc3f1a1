/*
 * live.h - the last seconds of a recording that is still going on
 *
 * Looks on while a capture grows, and keeps what is younger than the window:
 *
 *     forgotten ──│── samples of the last `window_ns` ──│ now
 *
 * What it keeps has the shape of a sample set over the names of the capture, so every
 * question that can be asked of a profile can be asked of it:
 *
 *     struct live l;
 *     live_init(&l, capture, window_ns, now_ns);
 *     ...
 *     live_tick(&l, now_ns);                       // every few seconds
 *     struct sample_set cpu = live_set(&l);
 *     top_of(live_names(&l), &cpu, 0, NULL, 0);
 *
 * CPU use of processes comes from the series "cpu use", and is the mean since the last tick.
 *
 * Owns:     its rows. The capture is borrowed, and must not outlive this: it calls us.
 * Threads:  the one that writes the capture.
 */
#pragma once
#include "model/capture_writer.h"

/* Samples kept at most; of more, the oldest go early. */
enum { LIVE_SAMPLES_LEAST = 1 << 10, LIVE_SAMPLES_MOST = 1 << 20 };

struct live_process {
    int32_t pid;
    str_id name;
    double cpu_ratio; /* of one core, between the last two ticks; NAN: not known yet */
    double rss_bytes, anon_bytes, file_bytes, shared_bytes; /* for whoever can ask the system; NAN */
    double sum;       /* of readings since the last tick */
    size_t n;
};

struct live {
    struct capture_writer *capture;
    uint64_t window_ns, since_ns; /* nothing before `since_ns` was seen */
    bool is_paused;

    uint64_t *time_ns;
    context_id *contexts;
    stack_id *stacks;
    int64_t *values;
    size_t first, n, cap; /* rows first .. n are in the window */
    uint64_t lost;        /* since the beginning */

    struct live_process *processes;
    size_t n_processes, cap_processes;
};

void live_init(struct live *l, struct capture_writer *w, uint64_t window_ns, uint64_t now_ns);
void live_done(struct live *l);
DEFINE_OWN_IN_PLACE(live, struct live)

void live_tick(struct live *l, uint64_t now_ns);
void live_pause(struct live *l, bool is_paused, uint64_t now_ns); /* what comes meanwhile is not kept; then it starts anew */

const struct profile *live_names(const struct live *l);
struct sample_set live_set(const struct live *l); /* borrows; good until the next sample */
uint64_t live_length_ns(const struct live *l, uint64_t now_ns); /* of the window, as far as there was anything to see */
