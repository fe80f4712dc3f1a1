/*
 * timer_engine.h - the parts of the engine that samples by timers inside the target
 *
 *     target, with our sampler in it ── shared memory ── visit ── processes ── capture file
 *                                                          │
 *                                        timer_watch: who is still there, what it is
 *                                        called, which thread nobody sampled so far
 *
 * timer_engine.c is the source of the recorder and turns what samplers wrote into raw
 * samples; timer_watch.c looks after the threads once a second, from outside.
 *
 * Threads: one at a time.
 */
#pragma once
#include "capture/cpu/processes.h"
#include "capture/cpu/sampler_region.h"
#include "capture/source.h"
#include <sys/types.h>

/* What we remember of the thread in a slot, beside what the region knows. */
struct timer_thread {
    bool is_ignored; /* not what it claims to be, or not asked for */
    bool is_trusted; /* its process has our memory mapped, or is a child of one that has */
    bool is_named;
    uint64_t heard_ns; /* of its last sample; 0: none so far */
    uint32_t stack_bytes;
};

enum { STRANGERS_MOST = 64 };

struct timer_engine {
    struct plan plan;
    struct recorder *into;
    struct sampler_region *region;
    struct processes *ps;
    struct timer_thread *threads; /* by slot */
    int32_t launched;
    int pace_fd; /* a timer that asks for more visits while a ring fills quickly */
    bool is_hurried;
    uint64_t start_ns, now_ns, watched_ns;
    uint64_t others_ns; /* CPU time of children the recorder had before the target */
    uint64_t tick_ns, steps, steps_ns; /* steps: from one sample of a thread to its next */
    dev_t device; /* of the shared memory, as maps spell it */
    ino_t inode;
    struct {
        int32_t pid, tid;
    } strangers[STRANGERS_MOST]; /* threads in /proc that nobody samples; seen once so far */
    size_t n_strangers;
    uint64_t strangers_armed, refused; /* refused: processes that are not who they say */
};

/* Has this process our memory mapped? True also when it is gone: then it can do no harm. */
bool timer_watch_trusts(const struct timer_engine *te, const struct sampler_thread *t);

/* After every visit; does most of its work once a second. */
void timer_watch(struct timer_engine *te);

/* What the thread is called now, and its CPU time, from /proc. */
void timer_watch_name(struct timer_engine *te, const struct sampler_thread *t);
void timer_watch_cpu(struct timer_engine *te, const struct sampler_thread *t);
