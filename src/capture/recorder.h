/*
 * recorder.h - one recording, from the first sample to the closed file
 *
 * The recorder owns the file, the target and the sources, and runs the loop that
 * brings them together. It does not know what a source measures.
 *
 *     own(recorder) struct recorder *r = NULL;
 *     if (!recorder_open(&r, &plan, "run.inferom", e) || !recorder_run(r, &until, e))
 *         ...
 *     recorder_close(r, e)          // the file is complete; the target may go on
 *     target_wait(recorder_target(r))
 *
 * When the target ends, for whatever reason, what there is is saved. When writing fails
 * the recording ends, the target goes on undisturbed.
 *
 * Owns:     file, sources, target (recorder_target() lends the launched one).
 * Threads:  one at a time.
 * Fails:    before the target runs: nothing is left behind. Later: the file keeps what it has.
 */
#pragma once
#include "base/own.h"
#include "capture/cpu/waits.h"
#include "capture/heap/heap_result.h"
#include "capture/source.h"
#include "capture/target.h"
#include "model/capture_writer.h"
#include <signal.h>

struct recorder;

/* Without a path nothing is written: capture_watch() says who sees the samples. */
bool recorder_open(struct recorder **out, const struct plan *p, const char *path, struct err *e) MUST_CHECK;
void recorder_free(struct recorder *r); /* NULL is fine */
DEFINE_OWN(recorder, struct recorder *)

/* Until when; whichever comes first, or until the target has ended. */
struct recorder_until {
    uint64_t duration_ns;              /* from the first measurement; 0: no limit */
    const volatile sig_atomic_t *stop; /* becomes non-zero when the user has had enough */
    bool (*turned)(void *self);        /* after every drain, several times a second; false: enough; NULL: nobody asks */
    void *self;
};

enum recorder_end { RECORDER_TARGET_ENDED, RECORDER_DURATION, RECORDER_STOPPED, RECORDER_FAILED, RECORDER_END_COUNT };

bool recorder_run(struct recorder *r, const struct recorder_until *until, struct err *e) MUST_CHECK;
bool recorder_close(struct recorder *r, struct err *e) MUST_CHECK;

/* For sources. */
struct capture_writer *recorder_capture(struct recorder *r);

/* For a source that makes many names in one go: when they are far too many the capture begins again, as it does between drains. Every
   id that the caller has is void then. */
void recorder_bound_names(struct recorder *r);
void recorder_watch(struct recorder *r, int fd); /* drain when it is readable; until it hangs up */

/* Processes that belong to the target and are alive: those it began with, and children that an engine has heard of. */
void recorder_add_process(struct recorder *r, int32_t pid);
void recorder_remove_process(struct recorder *r, int32_t pid);
const int32_t *recorder_processes(const struct recorder *r, size_t *out_n);

/* What came of it. A source that samples the CPU fills its part in stop(). */
struct recording {
    uint64_t start_ns, end_ns; /* of the measuring */
    enum recorder_end end;
    const char *engine;        /* name of the source that sampled the CPU; NULL: none */
    char engine_note[160];     /* what it could not see, and what would help; "" */
    int64_t cpu_ns;            /* of the target while it was watched; -1: unknown */
    uint64_t samples, lost, unsampled;
    uint64_t with_stack, complete, guessed, truncated; /* user stacks; those that reach a thread's start; of these, with guesses */
    size_t processes, threads;
    bool has_waits, has_wait_stacks; /* time off the CPU was recorded; with the stack of every wait */
    struct waits_count waits;
    struct heap_result heap;
};

struct recording *recorder_result(struct recorder *r);
void recording_count(struct recording *out, const struct processes_count *c); /* what an engine's processes came to */
struct target *recorder_target(struct recorder *r); /* the launched one; NULL: none was */
