/*
 * Places for threads. A thread takes one at its first allocation and keeps it until it ends; what it counts is there for
 * the recorder to read at any time. The next thread in the same place goes on with the counters of the last: they
 * only grow, and the recorder reads differences.
 *
 * Place 0 is shared, under a lock: by threads that come when all places are taken, and by those whose
 * thread-local storage is being taken down.
 *
 * The locks are held for the length of a copy. Whoever waits does so for a bounded time, half a second at most, and then does
 * without. A lock whose holder is not inside any hook was left behind by longjmp(): it is taken over.
 */
#include "agent.h"
#include "common/bare_calls.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>

enum { FRESH_FIRST = 256, SPINS = 32, YIELDS = 32, NAPS = 2500 };

__thread struct thread me __attribute__((tls_model("initial-exec")));

/* What belongs to a place and is nobody's business outside. */
static struct place {
    uint64_t *rows;
    uint64_t rows_mask;
} places[HEAP_THREADS_MOST];

static _Atomic uint32_t shared_lock;
static pthread_key_t key;
static bool has_key;

/* Locks. */

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool try_lock(_Atomic uint32_t *lock, uint32_t *out_holder)
{
    *out_holder = 0;
    return atomic_compare_exchange_strong_explicit(lock, out_holder, me.number + 1, memory_order_acquire, memory_order_relaxed);
}

/* Somebody else's, who is in no hook: that one is gone from there for good. Or our own, from before a longjmp(). */
static bool take_over(_Atomic uint32_t *lock, uint32_t holder)
{
    bool is_left = holder == me.number + 1 || holder > HEAP_THREADS_MOST ||
                   !atomic_load_explicit(&thread_at(holder - 1)->inside, memory_order_acquire);
    if (!holder || !is_left || !atomic_compare_exchange_strong(lock, &holder, me.number + 1))
        return false;
    count_up(&area()->stolen_locks, 1);
    return true;
}

/* Others may need the processor before the holder gets it. */
static void nap(int round)
{
    struct __kernel_timespec t = {.tv_nsec = 200000};
    if (round < YIELDS)
        bare_call(SYS_sched_yield, 0, 0, 0, 0);
    else
        bare_call(SYS_nanosleep, (long)&t, 0, 0, 0);
}

COLD static bool lock_wait(_Atomic uint32_t *lock)
{
    uint32_t holder;
    for (int i = 0; i < YIELDS + NAPS; i++, nap(i)) {
        for (int k = 0; k < SPINS; k++, relax())
            if (try_lock(lock, &holder))
                return true;
        if (i % 64 == 63 && take_over(lock, holder))
            return true;
    }
    return false;
}

bool lock_take(_Atomic uint32_t *lock)
{
    uint32_t holder;
    if (me.counts)
        atomic_store_explicit(&me.counts->inside, 1, memory_order_relaxed);
    return try_lock(lock, &holder) || lock_wait(lock);
}

void lock_give(_Atomic uint32_t *lock)
{
    atomic_store_explicit(lock, 0, memory_order_release);
    if (me.counts)
        atomic_store_explicit(&me.counts->inside, 0, memory_order_relaxed);
}

/* Places. */

static bool claim(uint32_t i, enum heap_thread_state from)
{
    uint32_t state = from;
    return atomic_compare_exchange_strong(&thread_at(i)->state, &state, HEAP_THREAD_LIVE);
}

static uint32_t claim_fresh(uint32_t most)
{
    uint32_t n = atomic_load_explicit(&area()->threads, memory_order_relaxed);
    while (n < most)
        if (atomic_compare_exchange_weak(&area()->threads, &n, n + 1) && claim(n, HEAP_THREAD_NEW))
            return n;
    return 0;
}

static uint32_t claim_ended(void)
{
    static _Atomic uint32_t next;
    uint32_t n = atomic_load_explicit(&area()->threads, memory_order_relaxed);
    uint32_t from = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    for (uint32_t k = 1; k < n && n <= HEAP_THREADS_MOST; k++) {
        uint32_t i = 1 + (from + k) % (n - 1);
        if (claim(i, HEAP_THREAD_ENDED))
            return i;
    }
    return 0;
}

bool thread_take(void)
{
    if (me.has_ended || !agent.area)
        return false;
    uint32_t i = claim_fresh(FRESH_FIRST);
    if (!i && !(i = claim_ended()))
        i = claim_fresh(HEAP_THREADS_MOST);
    if (!i)
        return false;
    me.number = i;
    me.counts = thread_at(i);
    me.counts->tid = (uint32_t)bare_call(SYS_gettid, 0, 0, 0, 0);
    me.rows = places[i].rows;
    me.rows_mask = places[i].rows_mask;
    me.guard = GUARD_OURS; /* what follows may allocate, and is not the target's */
    sampling_begin();
    if (has_key)
        pthread_setspecific(key, &me);
    me.guard = 0;
    return true;
}

static void thread_end(void *mine)
{
    struct thread *t = mine;
    if (t != &me || !me.counts || me.number == 0)
        return;
    me.guard = GUARD_OURS;
    bare_call(SYS_prctl, PR_GET_NAME, (long)me.counts->name, 0, 0);
    if (me.delta)
        atomic_fetch_add(&area()->live_bytes, me.delta);
    me.delta = 0;
    places[me.number] = (struct place){me.rows, me.rows_mask};
    struct heap_thread *place = me.counts;
    me.has_ended = true;
    me.counts = NULL;
    me.number = 0;
    me.rows = NULL;
    atomic_store_explicit(&place->state, HEAP_THREAD_ENDED, memory_order_release);
    me.guard = 0;
}

bool thread_key_make(void) { return has_key = has_key || pthread_key_create(&key, thread_end) == 0; }

void threads_forget(void)
{
    for (uint32_t i = 0; i < HEAP_THREADS_MOST; i++)
        places[i] = (struct place){0};
    atomic_store(&shared_lock, 0);
    me = (struct thread){.has_ended = me.has_ended};
}

/* Entering. */

static bool enter_shared(void)
{
    uint32_t holder = 0;
    bool ok = false;
    for (int i = 0; !ok && i < YIELDS + NAPS; i++, holder = 0) {
        ok = atomic_compare_exchange_strong(&shared_lock, &holder, 1);
        if (!ok)
            nap(i);
    }
    if (!ok)
        return false;
    me.counts = thread_at(0);
    me.number = 0;
    me.rows = places[0].rows;
    me.rows_mask = places[0].rows_mask;
    return true;
}

void leave_shared(void)
{
    places[0] = (struct place){me.rows, me.rows_mask};
    if (me.delta)
        atomic_fetch_add(&area()->live_bytes, me.delta);
    me.delta = 0;
    me.counts = NULL;
    atomic_store_explicit(&shared_lock, 0, memory_order_release);
}

/* Is the hook that set the guard still there? A call from further out on the same stack says that it is not. */
static bool is_left_behind(uint64_t sp)
{
    return me.guard != GUARD_OURS && sp >= me.guard && sp >= me.stack_low && sp < me.stack_end && me.guard >= me.stack_low;
}

static bool enter_slowly(uint64_t sp)
{
    if (!agent.area)
        return false;
    if (me.guard && !is_left_behind(sp)) {
        count_up(&area()->unseen, me.guard != GUARD_OURS);
        return false;
    }
    me.guard = 0;
    if (me.counts || thread_take() || enter_shared())
        return true;
    count_up(&area()->unseen, 1);
    return false;
}

/* errno is kept: who takes a place calls functions of libc. */
COLD bool enter_slow(uint64_t sp)
{
    int error = errno;
    bool ok = enter_slowly(sp);
    errno = error;
    return ok;
}
