/*
 * fx-wait: every kind of waiting, each in a function and a thread of its own, and how long it really was.
 *
 *     sleeper   nap()        sleeps
 *     holder    hold()       sleeps with the mutex in hand, so that ...
 *     locker    lock_wait()  ... this one waits for the mutex
 *     writer    nap()        sleeps, then writes a byte, so that ...
 *     reader    pipe_wait()  ... this one waits for the byte
 *     poller    poll_wait()  waits for a descriptor that never has anything
 *     faulter   fault_wait() touches pages of a file that are on the disk and not in memory
 *     burner    burn()       never waits by itself; shares one CPU with its twin, so that each
 *     twin      burn()       is off the CPU half of the time, and would rather not be
 *
 * Each thread measures the wall time inside its waits, and its whole life from the moment it was
 * asked for: what is neither waited nor CPU time was spent waiting for a CPU. How many faults had to read from the disk
 * is the kernel's count: none, where temporary files live in memory.
 */
#include "truth.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct waiter {
    const char *name, *class, *function;
    void (*round)(struct waiter *w);
    pthread_t thread;
    pid_t tid;
    uint64_t start_ns, wait_ns, cpu_ns, wall_ns;
    uint64_t disk_faults;
};

enum { PAGES = 16, FILE_PAGES = 1024, PAGE_BYTES = 4096 };
static int file = -1;
static char *file_map;

static const long nap_ns = 7000000;
static uint64_t end_ns;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipe_ends[2], quiet_ends[2];

static KEPT void nap(void)
{
    struct timespec t = {.tv_nsec = nap_ns};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
        ;
    STAY();
}

static KEPT void hold(void)
{
    pthread_mutex_lock(&mutex);
    nap();
    pthread_mutex_unlock(&mutex);
    STAY();
}

static KEPT void lock_wait(void)
{
    pthread_mutex_lock(&mutex);
    STAY();
}

static KEPT void pipe_wait(void)
{
    char byte;
    if (read(pipe_ends[0], &byte, 1) < 0)
        die("reading from a pipe", errno);
    STAY();
}

static KEPT void poll_wait(void)
{
    struct pollfd p = {.fd = quiet_ends[0], .events = POLLIN};
    if (poll(&p, 1, (int)(nap_ns / 1000000)) < 0 && errno != EINTR)
        die("polling", errno);
    STAY();
}

/* One page in many, so that the kernel does not read the next one ahead. */
static KEPT void fault_wait(void)
{
    for (size_t i = 0; i < PAGES; i++)
        (void)*(volatile char *)(file_map + i * (FILE_PAGES / PAGES) * PAGE_BYTES);
    STAY();
}

static KEPT void burn(void) { BURN(1000000, 0x7); }

/* Rounds: one wait each, timed. */

static void timed(struct waiter *w, void (*wait)(void))
{
    uint64_t start_ns = wall_now_ns();
    wait();
    w->wait_ns += wall_now_ns() - start_ns;
}

/* Not a wait that is asked about: it keeps a thread from spinning. */
static KEPT void pause_for(long ns)
{
    struct timespec t = {.tv_nsec = ns};
    nanosleep(&t, NULL);
    STAY();
}

static void sleep_round(struct waiter *w) { timed(w, nap); }
static void poll_round(struct waiter *w) { timed(w, poll_wait); }
static void pipe_round(struct waiter *w) { timed(w, pipe_wait); }

/* A mutex is not fair: without the pause the holder would have it again before the other one is awake. */
static void hold_round(struct waiter *w)
{
    timed(w, hold);
    pause_for(200000);
}

static void lock_round(struct waiter *w)
{
    timed(w, lock_wait);
    pthread_mutex_unlock(&mutex);
    pause_for(2000000);
}

static void write_round(struct waiter *w)
{
    timed(w, nap);
    if (write(pipe_ends[1], "", 1) != 1)
        die("writing to a pipe", errno);
}

/* A page that is mapped stays in memory, so it is first given back, then forgotten. */
static void fault_round(struct waiter *w)
{
    if (madvise(file_map, (size_t)FILE_PAGES * PAGE_BYTES, MADV_DONTNEED) < 0)
        die("giving pages back", errno);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    timed(w, fault_wait);
    pause_for(2000000);
}

static void burn_round(struct waiter *w)
{
    (void)w;
    burn();
}

static void *live(void *self)
{
    struct waiter *w = self;
    pthread_setname_np(pthread_self(), w->name);
    w->tid = gettid();
    while (wall_now_ns() < end_ns)
        w->round(w);
    if (w->round == write_round && write(pipe_ends[1], "", 1) != 1) /* whoever still waits may end as well */
        die("writing to a pipe", errno);
    struct rusage used;
    if (getrusage(RUSAGE_THREAD, &used) == 0)
        w->disk_faults = (uint64_t)used.ru_majflt;
    w->cpu_ns = cpu_now_ns();
    w->wall_ns = wall_now_ns() - w->start_ns;
    return NULL;
}

static void start(struct waiter *w, int cpu)
{
    pthread_attr_t a;
    pthread_attr_init(&a);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    if (cpu >= 0)
        pthread_attr_setaffinity_np(&a, sizeof one, &one);
    w->start_ns = wall_now_ns();
    int error = pthread_create(&w->thread, &a, live, w);
    if (error)
        die("starting a thread", error);
    pthread_attr_destroy(&a);
}

static int first_cpu(void)
{
    cpu_set_t ours;
    if (sched_getaffinity(0, sizeof ours, &ours) < 0)
        die("asking which CPUs are ours", errno);
    int cpu = 0;
    while (!CPU_ISSET((size_t)cpu, &ours))
        cpu++;
    return cpu;
}

static void make_file(void)
{
    char path[] = "/tmp/fx-wait-XXXXXX";
    static const char page[PAGE_BYTES] = "page";
    file = mkostemp(path, O_CLOEXEC);
    if (file < 0)
        die("making a file", errno);
    unlink(path);
    for (size_t i = 0; i < FILE_PAGES; i++)
        if (write(file, page, sizeof page) != sizeof page)
            die("writing a file", errno);
    if (fsync(file) < 0)
        die("writing a file", errno);
    void *at = mmap(NULL, (size_t)FILE_PAGES * PAGE_BYTES, PROT_READ, MAP_SHARED, file, 0);
    if (at == MAP_FAILED || madvise(at, (size_t)FILE_PAGES * PAGE_BYTES, MADV_RANDOM) < 0)
        die("mapping a file", errno);
    file_map = at;
}

int main(int argc, char **argv)
{
    double seconds = 1;
    const struct setting settings[] = {{"seconds", "S", "wall seconds", &seconds, 0.01, 86400}};
    settings_read(settings, 1, "waits for everything one can wait for", argc, argv);
    struct waiter waiters[] = {
        {"sleeper", "sleep", "nap", sleep_round},
        {"holder", "sleep", "hold", hold_round},
        {"locker", "lock", "lock_wait", lock_round},
        {"writer", "sleep", "nap", write_round},
        {"reader", "pipe", "pipe_wait", pipe_round},
        {"poller", "poll", "poll_wait", poll_round},
        {"faulter", "page fault", "fault_wait", fault_round},
        {"burner", "waiting for a CPU", "burn", burn_round},
        {"twin", "waiting for a CPU", "burn", burn_round},
    };
    enum { WAITERS = sizeof waiters / sizeof *waiters };
    if (pipe(pipe_ends) < 0 || pipe(quiet_ends) < 0)
        die("making a pipe", errno);
    make_file();
    end_ns = wall_now_ns() + (uint64_t)(seconds * 1e9);
    for (size_t i = 0; i < WAITERS; i++)
        start(&waiters[i], waiters[i].round == burn_round ? first_cpu() : -1);
    for (size_t i = 0; i < WAITERS; i++)
        pthread_join(waiters[i].thread, NULL);

    printf("{\"fixture\": \"fx-wait\", \"pid\": %d, \"threads\": [", (int)getpid());
    for (size_t i = 0; i < WAITERS; i++) {
        const struct waiter *w = &waiters[i];
        uint64_t rest_ns = w->wall_ns > w->cpu_ns ? w->wall_ns - w->cpu_ns : 0;
        printf("%s{\"tid\": %d, \"name\": \"%s\", \"class\": \"%s\", \"function\": \"%s\", \"wait_ns\": %" PRIu64
               ", \"off_ns\": %" PRIu64 ", \"cpu_ns\": %" PRIu64 ", \"wall_ns\": %" PRIu64 ", \"disk_faults\": %" PRIu64 "}",
               i ? ", " : "", (int)w->tid, w->name, w->class, w->function, w->round == burn_round ? rest_ns : w->wait_ns, rest_ns,
               w->cpu_ns, w->wall_ns, w->disk_faults);
    }
    printf("]}\n");
    return truth_told();
}
