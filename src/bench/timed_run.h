/*
 * timed_run.h - run a command to its end and say what it took
 *
 *     struct timed_run run;
 *     if (!timed_run(&run, command, &output, stop, e)) ...
 *
 * The command has no input; what it prints on standard output is kept in a buffer, or
 * thrown away; what it says on standard error is thrown away. It gets a process group of its own, so that
 * Ctrl-C is ours to answer: when `stop` is raised, the group is ended.
 *
 * Owns:     nothing that stays. Threads: one at a time.
 * Fails:    the command cannot be started, was stopped (ERR_INTERRUPTED), or ends badly.
 */
#pragma once
#include "base/buf.h"
#include <signal.h>

struct timed_run {
    uint64_t wall_ns;
    uint64_t cpu_ns; /* user and system, of the command and of those it waited for */
};

/* output NULL: thrown away. */
bool timed_run(struct timed_run *out, char *const *command, struct buf *output, const volatile sig_atomic_t *stop,
               struct err *e) MUST_CHECK;
