#include "lab/team.h"
#include "base/mem.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>

enum { LOOKS = 4000 }; /* before sleeping: some microseconds */

struct team_member {
    struct team *team;
    pthread_t thread;
    unsigned worker;
};

/*
 * `job_number` counts jobs; workers wait for it to move. `running` counts the workers that are not yet done with
 * the job. `arrived` and `turn` make the barrier: the last one to arrive moves the turn. They lie on lines of
 * their own, since everybody looks at them.
 */
struct team {
    _Alignas(64) atomic_uint job_number;
    _Alignas(64) atomic_uint running;
    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint turn;
    _Alignas(64) team_job job; /* NULL: go home */
    void *arg;
    unsigned workers, started;
    struct team_member *members; /* row 0 is the caller's and has no thread */
};

static inline void look_again(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* Returns the value, once it is no longer `old`. */
static unsigned wait_for_change(atomic_uint *at, unsigned old)
{
    for (;;) {
        for (int i = 0; i < LOOKS; i++) {
            unsigned now = atomic_load_explicit(at, memory_order_acquire);
            if (now != old)
                return now;
            look_again();
        }
        syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, old, NULL, NULL, 0);
    }
}

static void wake_all(atomic_uint *at) { syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0); }

static void *member_main(void *arg)
{
    const struct team_member *m = arg;
    struct team *t = m->team;
    unsigned seen = 0;
    for (;;) {
        seen = wait_for_change(&t->job_number, seen);
        if (!t->job)
            return NULL;
        t->job(t->arg, m->worker, t->workers);
        if (atomic_fetch_sub_explicit(&t->running, 1, memory_order_acq_rel) == 1)
            wake_all(&t->running);
    }
}

static void begin_job(struct team *t, team_job job, void *arg)
{
    t->job = job;
    t->arg = arg;
    atomic_store_explicit(&t->running, t->workers - 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&t->job_number, 1, memory_order_release);
    wake_all(&t->job_number);
}

void team_run(struct team *t, team_job job, void *arg)
{
    if (t->workers > 1)
        begin_job(t, job, arg);
    job(arg, 0, t->workers);
    if (t->workers == 1)
        return;
    for (unsigned left; (left = atomic_load_explicit(&t->running, memory_order_acquire)) != 0;)
        wait_for_change(&t->running, left);
}

void team_barrier(struct team *t)
{
    if (t->workers == 1)
        return;
    unsigned turn = atomic_load_explicit(&t->turn, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&t->arrived, 1, memory_order_acq_rel) + 1 < t->workers) {
        wait_for_change(&t->turn, turn);
        return;
    }
    atomic_store_explicit(&t->arrived, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&t->turn, 1, memory_order_release);
    wake_all(&t->turn);
}

static struct team *team_room(unsigned workers)
{
    struct team *t = aligned_alloc(64, sizeof *t);
    if (!t)
        return NULL;
    memset(t, 0, sizeof *t);
    t->workers = workers;
    t->started = 1;
    t->members = mem_new(workers * sizeof *t->members);
    return t;
}

bool team_new(struct team **out, unsigned workers, struct err *e)
{
    if (workers < 1 || workers > TEAM_MOST)
        return err_set(e, ERR_USAGE, "%u threads; there can be 1 to %d", workers, TEAM_MOST);
    own(team) struct team *t = team_room(workers);
    if (!t)
        return err_os(e, "a team of %u threads", workers);
    for (unsigned i = 1; i < workers; i++) {
        t->members[i] = (struct team_member){.team = t, .worker = i};
        int failed = pthread_create(&t->members[i].thread, NULL, member_main, &t->members[i]);
        if (failed) {
            errno = failed;
            return err_os(e, "thread %u of %u", i + 1, workers);
        }
        t->started++;
    }
    *out = take(t);
    return true;
}

void team_free(struct team *t)
{
    if (!t)
        return;
    begin_job(t, NULL, NULL);
    for (unsigned i = 1; i < t->started; i++)
        pthread_join(t->members[i].thread, NULL);
    free(t->members);
    free(t);
}

unsigned team_size(const struct team *t) { return t->workers; }

unsigned team_processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return n < 1 ? 1 : n > TEAM_MOST ? TEAM_MOST : (unsigned)n;
}

struct share team_share(size_t n, size_t grain, unsigned worker, unsigned workers)
{
    size_t grains = (n + grain - 1) / grain;
    size_t each = grains / workers, more = grains % workers;
    size_t first = worker * each + (worker < more ? worker : more);
    size_t from = first * grain, to = (first + each + (worker < more)) * grain;
    return (struct share){from < n ? from : n, to < n ? to : n};
}
