/*
 * wait_peek.h - what a sleeping thread is doing, seen from outside
 *
 * A thread that was asleep before we came, or that we may not be told about when it falls
 * asleep, can still be looked at while it sleeps: /proc says in which system call it is,
 * where in the kernel it waits, and where its stack is. The thread is not stopped and does
 * not notice.
 *
 * Of the registers only two are known, the stack pointer and the place in the code. That is
 * enough for code built without frame pointers; a frame that is found by its frame pointer
 * ends the walk, unless a called function has saved it.
 *
 * Owns: the stack's bytes, in place. Threads: any. Fails: says false: it is running, it has
 * ended, or we may not look.
 */
#pragma once
#include "capture/cpu/processes.h"
#include "capture/cpu/wait_class.h"

enum { PEEK_STACK_BYTES = 32 << 10 };

struct wait_peek {
    struct raw_sample raw; /* its stack leads into `bytes` */
    enum wait_class is;    /* WAIT_UNKNOWN: /proc did not say */
    uint8_t bytes[PEEK_STACK_BYTES];
};

bool wait_peek(struct wait_peek *out, const char *proc, int32_t pid, int32_t tid) MUST_CHECK; /* raw.time_ns: when */

bool wait_is_asleep(const char *proc, int32_t pid, int32_t tid); /* false: it runs, could run, or is not there */
