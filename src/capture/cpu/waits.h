/*
 * waits.h - time off the CPU: how long, where in the code, and what for
 *
 * An engine passes on what the kernel tells: a thread left a CPU, with or without its
 * stack, and came back. Out of that come samples of the set "off-cpu", in nanoseconds,
 * each with the stack of the wait and a label that says what the thread waited for:
 *
 *     stack, out ──────────── in          one wait, one sample: its start, its whole length
 *     out ───── piece ─── piece ── in     a long one, in pieces of a second: a file that is
 *                                         cut off, or a report of a part, has them too
 *     out in out in out in out in         short ones: every WAIT_WHOLE_NS of them, added up,
 *                    ▲        ▲           the one at that point is a sample for all
 *
 * Short waits are thus sampled in the way CPU time is, by a clock that only runs while the
 * thread waits: their sum is exact, their stacks are right on average, and a program that
 * switches all the time costs no more than one that waits as long at once.
 *
 * A thread that was asleep before we came, or whose stack the kernel does not give us, is
 * looked at from outside while it sleeps (wait_peek.h). What nobody saw gets the stack of the
 * thread's last sample on the CPU, under a leaf that says so.
 *
 * Owns:     its threads and copies of their last stacks. Writer and processes are borrowed.
 * Threads:  one at a time.
 * Fails:    never; what is missing is counted.
 */
#pragma once
#include "capture/cpu/processes.h"
#include "capture/cpu/switches.h"

#define WAIT_WHOLE_NS UINT64_C(100000)       /* waits of this length and more are samples of their own */
#define WAIT_PIECE_NS UINT64_C(1000000000)   /* what is longer is written down in pieces */
#define WAIT_LOOK_NS UINT64_C(20000000)      /* what has no stack is looked at from outside, so often */

struct waits;

struct waits_plan {
    struct capture_writer *into;
    struct processes *ps;
    const char *proc;          /* "/proc" */
    bool want_kernel_frames;   /* in the stacks; the class of a wait is taken from them in any case */
};

struct waits *waits_new(const struct waits_plan *plan);
void waits_free(struct waits *w); /* NULL is fine */
DEFINE_OWN(waits, struct waits *)

/* Who: there before us, or born now and waiting for its first CPU. */
void waits_found(struct waits *w, int32_t pid, int32_t tid, uint64_t now_ns);
void waits_born(struct waits *w, int32_t pid, int32_t tid, uint64_t now_ns);
void waits_exit(struct waits *w, int32_t tid, uint64_t now_ns);

/* Until then threads are followed and nothing is counted. */
void waits_begin(struct waits *w, uint64_t now_ns);
bool waits_have_begun(const struct waits *w);

/* In order of time. The stack comes just before the switch it belongs to; raw->weight is of no matter. */
void waits_stack(struct waits *w, const struct raw_sample *raw);
void waits_out(struct waits *w, int32_t pid, int32_t tid, uint64_t now_ns, bool is_preempted);
void waits_in(struct waits *w, int32_t pid, int32_t tid, uint64_t now_ns);

/* There will be no stacks: the kernel does not let us have them. */
void waits_rely_on_looks(struct waits *w);

/* Something of that was lost: switches, and then times are in doubt; or only stacks. */
void waits_lost_switches(struct waits *w, uint64_t count);
void waits_lost_stacks(struct waits *w, uint64_t count);

/* Everything before `now_ns` has been told. A few times a second, and once at the end. */
void waits_tick(struct waits *w, uint64_t now_ns);
void waits_end(struct waits *w, uint64_t now_ns);

/* The capture has begun again with no names; see processes_begin_again(), which comes first. */
void waits_begin_again(struct waits *w);

struct waits_count {
    uint64_t waits, samples;
    struct switches_sum sum;      /* of all threads */
    uint64_t stackless_ns;        /* waiting time whose stack nobody knows */
    uint64_t lost_stacks, lost_switches;
};

set_id waits_set(const struct waits *w);
struct waits_count waits_counts(const struct waits *w);
