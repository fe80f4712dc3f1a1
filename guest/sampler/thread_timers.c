/*
 * A timer for each thread, on the CPU clock of that thread: it stands still while the
 * thread sleeps, so a target that waits in poll() or nanosleep() is not woken by us.
 *
 *     pthread_create(f, x) ──> real pthread_create(begin, row)
 *                                 begin: arm; then jump to f(x)
 *     the thread ends, by return, pthread_exit() or cancellation ──> our key's destructor: disarm
 *
 * `begin` leaves by a tail call, so that no frame of ours is on the thread's stack.
 */
#include "common/bare_calls.h"
#include "sampler.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

struct sampler sampler;
struct local locals[WIRE_SLOTS_MOST];

/* The kernel's struct sigevent; libc's names for its parts differ from version to version. */
struct timer_event {
    union sigval value;
    int signal, notify;
    int tid;
    int rest[11];
};
static_assert(sizeof(struct timer_event) == 64, "as large as the kernel's");

static clockid_t thread_clock(uint32_t tid) { return ((~(clockid_t)tid) << 3) | 6; /* per thread, by the scheduler */ }

/* Threads that live shorter than a period are met too, as often as they deserve: the first tick comes at random. */
static uint64_t first_tick_ns(uint32_t tid)
{
    uint64_t x = (bare_clock_ns(CLOCK_MONOTONIC) ^ tid) * UINT64_C(0x9e3779b97f4a7c15);
    return 1 + (x >> 20) % sampler.period_ns;
}

bool timer_arm(uint32_t i, uint32_t tid)
{
    struct timer_event event = {
        .value.sival_ptr = &locals[i],
        .signal = sampler.signal,
        .notify = SIGEV_THREAD_ID,
        .tid = (int)tid,
    };
    int timer = -1;
    if (bare_call(SYS_timer_create, thread_clock(tid), (long)&event, (long)&timer, 0) < 0) {
        sampler_trouble(WIRE_NO_TIMER);
        return false;
    }
    locals[i].timer = timer;
    uint64_t first_ns = first_tick_ns(tid);
    struct __kernel_itimerspec when = {
        .it_interval = {(long long)(sampler.period_ns / 1000000000u), (long long)(sampler.period_ns % 1000000000u)},
        .it_value = {(long long)(first_ns / 1000000000u), (long long)(first_ns % 1000000000u)},
    };
    if (bare_call(SYS_timer_settime, timer, 0, (long)&when, 0) == 0)
        return true;
    timer_disarm(i);
    sampler_trouble(WIRE_NO_TIMER);
    return false;
}

void timer_disarm(uint32_t i)
{
    int timer = locals[i].timer;
    locals[i].timer = -1;
    if (timer >= 0)
        bare_call(SYS_timer_delete, timer, 0, 0, 0);
}

void thread_begin(uintptr_t stack_end, enum wire_origin origin, uint32_t parent_pid)
{
    uint32_t i, tid = (uint32_t)bare_call(SYS_gettid, 0, 0, 0, 0);
    if (atomic_load_explicit(&sampler.region->phase, memory_order_relaxed) == WIRE_STOP || !slot_take(tid, &i))
        return;
    struct wire_slot *s = &sampler.slot[i];
    s->origin = origin;
    s->parent_pid = parent_pid;
    s->began_ns = bare_clock_ns(CLOCK_MONOTONIC);
    s->cpu_began_ns = bare_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    atomic_store_explicit(&s->cpu_ns, s->cpu_began_ns, memory_order_relaxed);
    memset(s->name, 0, sizeof s->name);
    locals[i].stack_end = stack_end;
    if (origin == WIRE_BY_EXEC)
        maps_tell(i);
    pthread_setspecific(sampler.key, (void *)(uintptr_t)(i + 1)); /* NOLINT: a number, carried as a pointer */
    atomic_store_explicit(&s->state, WIRE_LIVE, memory_order_release);
    signal_unblock();
    timer_arm(i, tid);
}

void thread_end(void *key_value)
{
    uint32_t i = (uint32_t)(uintptr_t)key_value - 1;
    struct wire_slot *s = &sampler.slot[i];
    if (i >= sampler.slots || s->pid != sampler.pid)
        return; /* of the parent, before fork() */
    timer_disarm(i);
    prctl(PR_GET_NAME, s->name);
    atomic_store_explicit(&s->cpu_ns, bare_clock_ns(CLOCK_THREAD_CPUTIME_ID), memory_order_relaxed);
    atomic_store_explicit(&s->state, WIRE_ENDED, memory_order_release);
}

/* What a new thread is to do, on its way there. More than these at once start unsampled; the recorder finds them. */
static struct start {
    _Atomic bool is_taken;
    void *(*run)(void *);
    void *arg;
} starts[256];

static struct start *start_take(void *(*run)(void *), void *arg)
{
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        bool is_taken = false;
        if (!atomic_compare_exchange_strong_explicit(&starts[i].is_taken, &is_taken, true, memory_order_acquire,
                                                     memory_order_relaxed))
            continue;
        starts[i].run = run;
        starts[i].arg = arg;
        return &starts[i];
    }
    return NULL;
}

static void start_give(struct start *s) { atomic_store_explicit(&s->is_taken, false, memory_order_release); }

/* Above a thread's first function are a few hundred bytes of libc's, then what belongs to no stack. */
__attribute__((noinline)) static void begin_here(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), owner = (uintptr_t)pthread_self();
    uintptr_t end = here + 2048;
    thread_begin(owner > here && owner < end ? owner : end, WIRE_BY_THREAD, 0);
}

static void *begin(void *row)
{
    struct start *s = row;
    void *(*run)(void *) = s->run;
    void *arg = s->arg;
    start_give(s);
    begin_here();
    return run(arg);
}

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static create_function *_Atomic real_create;

void timer_resolve(void)
{
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    create_function *f;
    memcpy(&f, &found, sizeof f);
    atomic_store(&real_create, f);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's header has reserved names */
__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                                                          void *arg)
{
    if (!atomic_load(&real_create))
        timer_resolve(); /* a library that starts threads before our constructor ran */
    create_function *real = atomic_load(&real_create);
    struct start *s = sampler.is_on ? start_take(run, arg) : NULL;
    if (!s)
        return real(thread, how, run, arg);
    int bad = real(thread, how, begin, s);
    if (bad)
        start_give(s);
    return bad;
}
