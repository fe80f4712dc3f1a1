/*
 * remote_thread.h - a thread of somebody else's process that is asked to call a function for us
 *
 * Like a signal that the process never asked for: the thread stands still for a moment, goes
 * through a function of its own libraries, and goes on where it was, with every register, its mask
 * of signals and errno as they were. A system call it was waiting in begins again as if nothing
 * had been.
 *
 *     own(remote_thread) struct remote_thread t;
 *     if (!remote_thread_stop(&t, pid, tid, e)) ...
 *     if (is_good_moment(&t) && remote_thread_call(&t, &call, e)) ...
 *     // goes on by itself when t is done
 *
 * What the function returns to is a signal frame with all of that in it, so if we are killed in
 * the middle, the thread finishes the call and comes back alone. (A wait with a time limit may then
 * take longer, and errno may have changed.)
 *
 * Owns:     the right to trace this thread, until done.
 * Threads:  the one that stopped it. When that one ends, the kernel lets go of the thread.
 * Fails:    gone, stopped by somebody, traced already, not ours, or not to be stopped in time.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include <stdint.h>
#include <sys/types.h>

#if defined(__x86_64__)
#include <sys/user.h>
#else
struct user_regs_struct {
    uint64_t none;
};
#endif

enum { REMOTE_FLOATS_MOST = 16384 };

struct remote_thread {
    pid_t pid, tid;
    bool is_stopped;
    struct user_regs_struct registers; /* as they were */
    uint64_t mask;                     /* of blocked signals */
    _Alignas(64) uint8_t floats[REMOTE_FLOATS_MOST]; /* vector registers and their rounding */
    size_t n_floats;
};

bool remote_thread_stop(struct remote_thread *t, pid_t pid, pid_t tid, struct err *e) MUST_CHECK;
void remote_thread_done(struct remote_thread *t); /* it goes on */
DEFINE_OWN_IN_PLACE(remote_thread, struct remote_thread)

/* A function with up to two arguments. Bytes, if any, are put on the stack, and their address takes the place of the argument. */
struct remote_call {
    uint64_t function, return_to; /* return_to: code that does rt_sigreturn, and nothing else */
    uint64_t arguments[2];
    const void *bytes[2]; /* NULL: the number is the argument */
    size_t n_bytes[2];
    void *back;           /* what is in bytes[1] afterwards, as many; NULL: nobody asks */
    uint64_t errno_at;    /* restored afterwards; 0: nowhere */
};

bool remote_thread_call(struct remote_thread *t, const struct remote_call *call, struct err *e) MUST_CHECK;

bool remote_read(pid_t pid, uint64_t at, void *out, size_t n);
bool remote_write(pid_t pid, uint64_t at, const void *bytes, size_t n);

/* Registers as the unwinder counts them (unwind.h). */
void remote_thread_registers(const struct remote_thread *t, uint64_t out_by_number[33]);
