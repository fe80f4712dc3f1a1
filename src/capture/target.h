/*
 * target.h - the program that is measured: started by us, or running already
 *
 * A launched program is a child that stands still between fork and exec until the
 * sources have taken their places:
 *
 *     fork ── waits at the gate ── target_go() ── exec ── its own program
 *
 * It is a child like any a shell starts: our process group, terminal, descriptors 0 to 2,
 * signals as we found them. Nothing of ours is open in it.
 *
 * A program that was running already is never stopped, signalled or traced.
 *
 * Owns:     descriptors; the child, until it has been waited for.
 * Threads:  one at a time.
 * Fails:    no such program or process, not allowed.
 */
#pragma once
#include "base/err.h"
#include "capture/environment.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct target {
    pid_t pid;
    int gate_fd, said_fd; /* of a launched one, until it runs; -1 */
    int ended_fd;         /* readable when it has ended; -1: this kernel cannot say so */
    bool is_ours;         /* launched */
    bool has_ended;
    int wait_status;      /* of ours, when it has ended */
    uint64_t cpu_ns;      /* that ours and its children took, when it has ended */
};

/* is_quiet: it has no input, and what it prints is thrown away. */
bool target_launch(struct target *t, char *const *command, const struct environment *env, bool is_quiet,
                   struct err *e) MUST_CHECK;
bool target_go(struct target *t, const char *name, struct err *e) MUST_CHECK; /* false: it could not be executed; no child is left */
bool target_find(struct target *t, int32_t pid, struct err *e) MUST_CHECK;
void target_done(struct target *t); /* a child that still waits at the gate is ended; one that runs is left alone */

bool target_has_ended(struct target *t); /* looks; never waits */

/*
 * Waits until our child has ended. Every SIGINT, SIGTERM or SIGHUP that comes meanwhile asks it to
 * end: the first politely (SIGTERM), the next not (SIGKILL). target_hold_signals() keeps those
 * that come before the waiting begins.
 */
void target_hold_signals(void);
void target_wait(struct target *t);

int target_exit_status(const struct target *t); /* as a shell says it: 128 + signal when one ended it */
