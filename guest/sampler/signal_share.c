/*
 * One signal is ours: the first of a few real-time signals, which hardly anybody
 * uses, that has no handler when the program starts. A program may still come to
 * want it, usually without knowing: by resetting or blocking all there are. Left
 * alone, the first would let our next tick kill it and the second would hide the
 * thread. So of the calls that change a disposition or a mask, our signal's part is
 * kept apart:
 *
 *     sigaction(ours, act)   is remembered, and told back when asked for; signals of
 *                            that number which are not ours are passed on to it
 *     sigprocmask(all)       blocks all but ours
 *
 * Everything about other signals goes straight through.
 */
#include "common/bare_calls.h"
#include "sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef int action_function(int, const struct sigaction *, struct sigaction *);
typedef int mask_function(int, const sigset_t *, sigset_t *);
typedef void (*signal_function(int, void (*)(int)))(int);

static action_function *real_action;
static mask_function *real_mask, *real_thread_mask;
static signal_function *real_signal;

static const struct {
    void *slot;
    const char *name;
} calls[] = {
    {&real_action, "sigaction"},
    {&real_mask, "sigprocmask"},
    {&real_thread_mask, "pthread_sigmask"},
    {&real_signal, "signal"},
};

/* On first use, which may be before our constructor; after that, never again. */
static void resolve(void)
{
    static _Atomic bool is_done;
    if (atomic_load_explicit(&is_done, memory_order_acquire))
        return;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *found = dlsym(RTLD_NEXT, calls[i].name);
        memcpy(calls[i].slot, &found, sizeof found);
    }
    atomic_store_explicit(&is_done, true, memory_order_release);
}

/*
 * What the program wants to happen on our signal's number. Rows are used in turn and
 * never change while they are the current one, so that a handler on another thread
 * reads whole rows without a lock.
 */
static struct sigaction wishes[16];
static _Atomic uint32_t wish;

static struct sigaction wish_now(void) { return wishes[atomic_load_explicit(&wish, memory_order_acquire) % 16]; }

static void wish_set(const struct sigaction *a)
{
    uint32_t next = atomic_load_explicit(&wish, memory_order_relaxed) + 1;
    wishes[next % 16] = *a;
    atomic_store_explicit(&wish, next, memory_order_release);
}

bool signal_choose(void)
{
    resolve();
    struct sigaction ours = {.sa_sigaction = tick, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&ours.sa_mask);
    for (int number = SIGRTMAX - 7; number >= SIGRTMIN + 8; number--) {
        struct sigaction now;
        if (real_action(number, NULL, &now) < 0 || now.sa_handler != SIG_DFL)
            continue;
        sampler.signal = number;
        return real_action(number, &ours, NULL) == 0;
    }
    sampler_trouble(WIRE_NO_SIGNAL);
    return false;
}

void signal_unblock(void)
{
    uint64_t set = UINT64_C(1) << (sampler.signal - 1);
    bare_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, sizeof set);
}

/* Nobody wanted it: what happens then is the kernel's to do, and it needs to be asked again. */
static void die_of(int number)
{
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } by_default = {.handler = SIG_DFL};
    bare_call(SYS_rt_sigaction, number, (long)&by_default, 0, 8);
    bare_call(SYS_tgkill, (long)sampler.pid, bare_call(SYS_gettid, 0, 0, 0, 0), number, 0);
}

void signal_pass_on(int number, siginfo_t *info, void *context)
{
    struct sigaction a = wish_now();
    if (a.sa_flags & SA_SIGINFO)
        a.sa_sigaction(number, info, context);
    else if (a.sa_handler == SIG_DFL)
        die_of(number);
    else if (a.sa_handler != SIG_IGN)
        a.sa_handler(number);
}

static bool is_ours(int number) { return sampler.is_on && number == sampler.signal; }

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the headers of libc have reserved names */
EXPORT int sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
    resolve();
    if (!is_ours(number))
        return real_action(number, act, old);
    struct sigaction before = wish_now();
    if (act)
        wish_set(act);
    if (old)
        *old = before;
    return 0;
}

EXPORT void (*signal(int number, void (*handler)(int)))(int)
{
    resolve();
    if (!is_ours(number))
        return real_signal(number, handler);
    struct sigaction before = wish_now();
    wish_set(&(struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART});
    return before.sa_handler;
}

/* The set without our signal; the caller's own when it is not in there. */
static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *room)
{
    if (!set || !sampler.is_on || how == SIG_UNBLOCK || sigismember(set, sampler.signal) != 1)
        return set;
    *room = *set;
    sigdelset(room, sampler.signal);
    return room;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    resolve();
    sigset_t room;
    return real_mask(how, without_ours(how, set, &room), old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    resolve();
    sigset_t room;
    return real_thread_mask(how, without_ours(how, set, &room), old);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
