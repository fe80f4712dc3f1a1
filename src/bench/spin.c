#include "bench/spin.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

/* Never inlined and never cloned: every call is a frame of its own. */
#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif

/* Frames above ours: what the C library runs a thread in, and run() below. */
enum { ROUNDS_OF_A_UNIT = 1000, FRAMES_ABOVE = 3 };

static KEPT void work(uint64_t units)
{
    uint64_t x = units | 1;
    for (uint64_t rounds = units * ROUNDS_OF_A_UNIT; rounds > 0; rounds--) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        __asm__ volatile("" : "+r"(x));
    }
}

static KEPT void descend(unsigned depth, uint64_t units)
{
    if (depth)
        descend(depth - 1, units);
    else
        work(units);
    __asm__ volatile("" ::: "memory"); /* something is left to do, so the call is no jump */
}

static void *run(void *units)
{
    descend(SPIN_FRAMES - FRAMES_ABOVE - 2, *(const uint64_t *)units);
    return NULL;
}

bool spin(uint64_t units, struct err *e)
{
    pthread_t threads[SPIN_THREADS];
    int started = 0, failed = 0;
    while (started < SPIN_THREADS && !(failed = pthread_create(&threads[started], NULL, run, &units)))
        started++;
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    errno = failed;
    return !failed || err_os(e, "starting a thread");
}

static uint64_t cpu_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Long enough that the clock's own cost and grain do not matter. */
uint64_t spin_units(uint64_t cpu_ns)
{
    enum { LONG_ENOUGH_NS = 20000000 };
    uint64_t units = 64, took;
    do {
        units *= 2;
        uint64_t start = cpu_now_ns();
        work(units);
        took = cpu_now_ns() - start;
    } while (took < LONG_ENOUGH_NS);
    double wanted = (double)units * (double)cpu_ns / (double)took;
    return wanted < 1 ? 1 : (uint64_t)wanted;
}
