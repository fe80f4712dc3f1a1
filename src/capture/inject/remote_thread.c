#include "capture/inject/remote_thread.h"
#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

bool remote_read(pid_t pid, uint64_t at, void *out, size_t n)
{
    struct iovec here = {out, n}, there = {(void *)(uintptr_t)at, n}; /* NOLINT(performance-no-int-to-ptr): an address of another process */
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

bool remote_write(pid_t pid, uint64_t at, const void *bytes, size_t n)
{
    struct iovec here = {(void *)(uintptr_t)bytes, n}, there = {(void *)(uintptr_t)at, n}; /* NOLINT(performance-no-int-to-ptr) */
    return process_vm_writev(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

#if defined(__x86_64__)

#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif
#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK 0x420a
#define PTRACE_SETSIGMASK 0x420b
#endif

#define STOP_NS UINT64_C(300000000)   /* so long we wait for a thread to stand still */
#define CALL_NS UINT64_C(10000000000) /* and for a function to return; then it is left to finish alone */

enum { RED_ZONE = 128, CALL_SIGRETURN = 15, NT_XSTATE = 0x202, BYTES_MOST = 4096 };

/* Errors of a system call that was interrupted, as the kernel keeps them to itself. */
enum { RESTART_SYS = 512, RESTART_BLOCK = 516 };

/* What is behind SIGTRAP in the status of a stop. */
enum stop_kind { STOP_GONE, STOP_LATE, STOP_ASKED, STOP_GROUP, STOP_CALL, STOP_SIGNAL };

static enum stop_kind kind_of(int status, int *out_signal)
{
    *out_signal = WSTOPSIG(status);
    if (!WIFSTOPPED(status))
        return STOP_GONE;
    if (status >> 16 == PTRACE_EVENT_STOP)
        return *out_signal == SIGTRAP ? STOP_ASKED : STOP_GROUP;
    return *out_signal == (SIGTRAP | 0x80) ? STOP_CALL : STOP_SIGNAL;
}

/* Never for longer than this: a thread may hang in the kernel. */
static enum stop_kind wait_for_stop(pid_t tid, uint64_t most_ns, int *out_signal)
{
    uint64_t begun_ns = clock_monotonic_ns();
    for (;;) {
        int status;
        pid_t got = waitpid(tid, &status, __WALL | WNOHANG);
        if (got == tid)
            return kind_of(status, out_signal);
        if (got < 0 && errno != EINTR)
            return STOP_GONE;
        if (clock_monotonic_ns() - begun_ns > most_ns)
            return STOP_LATE;
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
}

/* Stands still because we asked. Signals that come first are delivered. */
static enum stop_kind interrupt(pid_t tid, bool is_standing)
{
    int signal;
    if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0 || (is_standing && ptrace(PTRACE_CONT, tid, 0, 0) < 0))
        return STOP_GONE;
    for (;;) {
        enum stop_kind kind = wait_for_stop(tid, STOP_NS, &signal);
        if (kind != STOP_SIGNAL && kind != STOP_CALL)
            return kind;
        if (ptrace(PTRACE_CONT, tid, 0, (long)(kind == STOP_SIGNAL ? signal : 0)) < 0)
            return STOP_GONE;
    }
}

static bool refused(pid_t tid, struct err *e)
{
    bool is_denied = errno == EPERM || errno == EACCES;
    err_os(e, "tracing thread %d", (int)tid);
    return is_denied && err_hint(e, "somebody else traces it, it is another user's, or kernel.yama.ptrace_scope is above 0; root may");
}

static bool read_all(struct remote_thread *t)
{
    struct iovec io = {t->floats, sizeof t->floats};
    if (ptrace(PTRACE_GETREGS, t->tid, 0, &t->registers) < 0 || ptrace(PTRACE_GETSIGMASK, t->tid, sizeof t->mask, &t->mask) < 0 ||
        ptrace(PTRACE_GETREGSET, t->tid, (long)NT_XSTATE, &io) < 0)
        return false;
    t->n_floats = io.iov_len;
    return t->n_floats >= 576; /* the least there can be */
}

bool remote_thread_stop(struct remote_thread *t, pid_t pid, pid_t tid, struct err *e)
{
    *t = (struct remote_thread){.pid = pid, .tid = tid};
    if (ptrace(PTRACE_SEIZE, tid, 0, (long)PTRACE_O_TRACESYSGOOD) < 0)
        return refused(tid, e);
    enum stop_kind kind = interrupt(tid, false);
    t->is_stopped = kind == STOP_ASKED || kind == STOP_GROUP;
    if (kind == STOP_GROUP) {
        remote_thread_done(t);
        return err_set(e, ERR_UNSUPPORTED, "process %d is stopped", (int)pid);
    }
    if (kind != STOP_ASKED)
        return err_set(e, ERR_NOT_FOUND, "thread %d %s", (int)tid, kind == STOP_LATE ? "does not stand still" : "has ended");
    if (!read_all(t)) {
        remote_thread_done(t);
        return err_os(e, "reading the registers of thread %d", (int)tid);
    }
    return true;
}

void remote_thread_done(struct remote_thread *t)
{
    if (t->is_stopped)
        ptrace(PTRACE_DETACH, t->tid, 0, 0);
    t->is_stopped = false;
}

/* A system call that was interrupted begins again. A wait with a limit waits for all of it once more, which is better than too short. */
static struct user_regs_struct alone(const struct user_regs_struct *r)
{
    struct user_regs_struct s = *r;
    long long result = (long long)r->rax;
    if ((long long)r->orig_rax >= 0 && result <= -RESTART_SYS && result >= -RESTART_BLOCK) {
        s.rax = r->orig_rax;
        s.rip -= 2; /* the instruction itself */
    }
    s.orig_rax = (unsigned long long)-1;
    return s;
}

/* The frame. */

struct frame {
    uint64_t return_to;
    struct {
        uint64_t flags, link;
        stack_t alternative;
        uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
        uint16_t cs, gs, fs, ss;
        uint64_t err, trap, old_mask, cr2, floats, reserved[8];
        uint64_t mask;
    } context;
};
_Static_assert(sizeof(struct frame) == 8 + 304, "as the kernel reads it");

/* In a frame the vector registers carry their own size and two marks; arch/x86/include/uapi/asm/sigcontext.h */
static bool write_floats(const struct remote_thread *t, uint64_t at)
{
    enum { SOFTWARE_AT = 464 };
    static const uint32_t end_mark = 0x46505845;
    struct {
        uint32_t magic, extended_bytes;
        uint64_t features;
        uint32_t state_bytes, none[7];
    } software = {.magic = 0x46505853, .extended_bytes = (uint32_t)t->n_floats + 4, .state_bytes = (uint32_t)t->n_floats};
    _Static_assert(sizeof software == 48, "as the kernel reads it");
    memcpy(&software.features, t->floats + SOFTWARE_AT, sizeof software.features); /* all that this machine has */
    return remote_write(t->pid, at, t->floats, t->n_floats) && remote_write(t->pid, at + SOFTWARE_AT, &software, sizeof software) &&
           remote_write(t->pid, at + t->n_floats, &end_mark, sizeof end_mark);
}

static struct frame frame_of(const struct remote_thread *t, uint64_t return_to, uint64_t floats_at)
{
    struct user_regs_struct r = alone(&t->registers);
    struct frame f = {.return_to = return_to};
    f.context.flags = 1 | 2 | 4; /* the state is there; segments are as they are written */
    f.context.alternative.ss_flags = 0x40000000; /* makes no sense: what the thread has stays */
    f.context.r8 = r.r8, f.context.r9 = r.r9, f.context.r10 = r.r10, f.context.r11 = r.r11;
    f.context.r12 = r.r12, f.context.r13 = r.r13, f.context.r14 = r.r14, f.context.r15 = r.r15;
    f.context.rdi = r.rdi, f.context.rsi = r.rsi, f.context.rbp = r.rbp, f.context.rbx = r.rbx;
    f.context.rdx = r.rdx, f.context.rax = r.rax, f.context.rcx = r.rcx, f.context.rsp = r.rsp;
    f.context.rip = r.rip, f.context.eflags = r.eflags;
    f.context.cs = (uint16_t)r.cs, f.context.ss = (uint16_t)r.ss;
    f.context.floats = floats_at;
    f.context.mask = t->mask;
    return f;
}

/* Everything the call needs on the thread's own stack, below what it may be using. Where the call begins: */
static bool build(const struct remote_thread *t, const struct remote_call *call, struct user_regs_struct *out)
{
    uint64_t at = t->registers.rsp - RED_ZONE, arguments[2] = {call->arguments[0], call->arguments[1]};
    for (size_t i = 0; i < 2; i++) {
        if (!call->bytes[i])
            continue;
        arguments[i] = at = (at - call->n_bytes[i]) & ~UINT64_C(63);
        if (call->n_bytes[i] > BYTES_MOST || !remote_write(t->pid, at, call->bytes[i], call->n_bytes[i]))
            return false;
    }
    uint64_t floats_at = (at - t->n_floats - 4) & ~UINT64_C(63);
    struct frame f = frame_of(t, call->return_to, floats_at);
    uint64_t frame_at = ((floats_at - sizeof f) & ~UINT64_C(15)) - 8; /* aligned as behind a call */
    *out = alone(&t->registers);
    out->rip = call->function;
    out->rsp = frame_at;
    out->rdi = arguments[0];
    out->rsi = arguments[1];
    out->rax = 0;
    out->eflags &= ~UINT64_C(0x500); /* strings go up; no single steps */
    return write_floats(t, floats_at) && remote_write(t->pid, frame_at, &f, sizeof f);
}

/* Runs until the frame is about to be used. */
static bool run(const struct remote_thread *t, struct err *e)
{
    uint64_t begun_ns = clock_monotonic_ns();
    bool is_entry = false;
    for (;;) {
        int signal;
        struct user_regs_struct r;
        if (ptrace(PTRACE_SYSCALL, t->tid, 0, 0) < 0)
            return err_os(e, "letting thread %d run", (int)t->tid);
        enum stop_kind kind = wait_for_stop(t->tid, CALL_NS, &signal);
        if (kind == STOP_GONE || kind == STOP_LATE || clock_monotonic_ns() - begun_ns > CALL_NS)
            return err_set(e, ERR_NOT_FOUND, "thread %d %s", (int)t->tid, kind == STOP_GONE ? "ended meanwhile" : "did not come back in time");
        if (kind == STOP_SIGNAL && (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP))
            return err_set(e, ERR_UNSUPPORTED, "the function we called in thread %d failed with signal %d", (int)t->tid, signal);
        if (kind != STOP_CALL) /* somebody stops the whole process: that has to wait a little */
            continue;
        is_entry = !is_entry;
        if (is_entry && ptrace(PTRACE_GETREGS, t->tid, 0, &r) == 0 && r.orig_rax == CALL_SIGRETURN)
            return true;
    }
}

/*
 * Back as it was. First as if we did not exist; then, in a stop that the kernel follows with its own restart of
 * interrupted calls, exactly.
 */
static bool put_back(struct remote_thread *t, struct err *e)
{
    struct user_regs_struct safe = alone(&t->registers);
    struct iovec io = {t->floats, t->n_floats};
    if (ptrace(PTRACE_SETREGS, t->tid, 0, &safe) < 0 || ptrace(PTRACE_SETREGSET, t->tid, (long)NT_XSTATE, &io) < 0 ||
        ptrace(PTRACE_SETSIGMASK, t->tid, sizeof t->mask, &t->mask) < 0)
        return err_os(e, "thread %d", (int)t->tid);
    enum stop_kind kind = interrupt(t->tid, true);
    t->is_stopped = kind == STOP_ASKED || kind == STOP_GROUP;
    if (!t->is_stopped || ptrace(PTRACE_SETREGS, t->tid, 0, &t->registers) < 0)
        return err_set(e, ERR_NOT_FOUND, "thread %d ended meanwhile", (int)t->tid);
    return true;
}

bool remote_thread_call(struct remote_thread *t, const struct remote_call *call, struct err *e)
{
    struct user_regs_struct r;
    uint64_t all_signals = UINT64_MAX;
    int32_t error = 0;
    if (call->errno_at && !remote_read(t->pid, call->errno_at, &error, sizeof error))
        return err_os(e, "reading errno of thread %d", (int)t->tid);
    if (!build(t, call, &r) || ptrace(PTRACE_SETSIGMASK, t->tid, sizeof all_signals, &all_signals) < 0 ||
        ptrace(PTRACE_SETREGS, t->tid, 0, &r) < 0)
        return err_os(e, "preparing a call in thread %d", (int)t->tid); /* detached, it goes on as it was */
    struct err why = {0};
    bool ok = run(t, &why);
    if (!ok && why.kind == ERR_NOT_FOUND) {
        t->is_stopped = false; /* it comes back alone, or it is gone */
        return err_set(e, why.kind, "%s", why.text);
    }
    if (ok && call->back)
        ok = remote_read(t->pid, r.rsi, call->back, call->n_bytes[1]) || err_os(&why, "reading the answer of thread %d", (int)t->tid);
    if (call->errno_at)
        remote_write(t->pid, call->errno_at, &error, sizeof error);
    bool is_back = put_back(t, ok ? &why : NULL);
    return (ok && is_back) || err_set(e, why.kind, "%s", why.text);
}

void remote_thread_registers(const struct remote_thread *t, uint64_t out[33])
{
    const struct user_regs_struct *r = &t->registers;
    const uint64_t by_number[17] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
                                    r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip};
    memset(out, 0, 33 * sizeof *out);
    memcpy(out, by_number, sizeof by_number);
}

#else

bool remote_thread_stop(struct remote_thread *t, pid_t pid, pid_t tid, struct err *e)
{
    *t = (struct remote_thread){.pid = pid, .tid = tid};
    return err_set(e, ERR_UNSUPPORTED, "putting the heap agent into a running process is possible on x86-64 only");
}

void remote_thread_done(struct remote_thread *t) { (void)t; }

bool remote_thread_call(struct remote_thread *t, const struct remote_call *call, struct err *e)
{
    (void)t, (void)call;
    return err_set(e, ERR_UNSUPPORTED, "not on this machine");
}

void remote_thread_registers(const struct remote_thread *t, uint64_t out[33])
{
    (void)t;
    memset(out, 0, 33 * sizeof *out);
}

#endif
