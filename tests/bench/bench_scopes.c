/*
 * What a scope costs, beside the clock it has to read twice:
 *
 *     bench_scopes [ROUNDS [THREADS]]
 *
 * Every way is a loop over a call that does nothing else, taking turns with the others; what is printed is the
 * least of the turns, in nanoseconds of this thread's CPU time for one call, without the loop and the call itself.
 */
#include "inferom.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TURNS = 9 };
static unsigned long rounds = 1000000;

#define KEPT __attribute__((noinline))
#define STAY() __asm__ volatile("" ::: "memory")

static KEPT void bare(void) { STAY(); }

static KEPT void clock_read(void)
{
#if defined(__x86_64__)
    unsigned low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
#elif defined(__aarch64__)
    unsigned long v;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
#endif
    STAY();
}

static KEPT void scoped(void)
{
    INFEROM_SCOPE("empty");
    STAY();
}

static KEPT void nested(void)
{
    INFEROM_SCOPE("outer");
    {
        INFEROM_SCOPE("middle");
        {
            INFEROM_SCOPE("inner");
            STAY();
        }
    }
}

static KEPT void phase(void)
{
    INFEROM_PHASE("phase");
    STAY();
}

static KEPT void begin_end(void)
{
    uint64_t s = inferom_begin("by name");
    STAY();
    inferom_end(s);
}

static KEPT void counted(void)
{
    INFEROM_COUNT("things", 1);
    STAY();
}

/* Twenty microseconds of work, more or less. */
static KEPT void kernel(void)
{
    INFEROM_SCOPE("kernel");
    for (unsigned long x = 1, i = 0; i < 14000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        __asm__ volatile("" : "+r"(x));
    }
}

/* A loop for each, so that nothing but the call is in it: through one pointer for all, the processor guesses wrong where it goes, and that is measured. */
#define LOOP(what)                                \
    static KEPT void many_##what(unsigned long n) \
    {                                             \
        for (unsigned long i = 0; i < n; i++)     \
            what();                               \
    }
LOOP(bare)
LOOP(clock_read)
LOOP(scoped)
LOOP(nested)
LOOP(phase)
LOOP(begin_end)
LOOP(counted)
LOOP(kernel)

enum { BARE, CLOCK, OFF, ON, NESTED, PHASE, PHASE_KEPT, BEGIN_END, COUNTED, KERNEL_OFF, KERNEL_ON, WAYS };

static const struct way {
    const char *name;
    void (*run)(unsigned long n);
    bool is_on;
    double parts;
    unsigned long slower; /* so many times fewer rounds */
} ways[WAYS] = {
    [BARE] = {"call", many_bare, false, 1},
    [CLOCK] = {"clock", many_clock_read, false, 1},
    [OFF] = {"off", many_scoped, false, 1},
    [ON] = {"on", many_scoped, true, 1},
    [NESTED] = {"nested", many_nested, true, 3},
    [PHASE] = {"phase", many_phase, true, 1},
    [PHASE_KEPT] = {"phase_kept", many_phase, true, 1, 4}, /* not more than there is room for: each is written down */
    [BEGIN_END] = {"begin_end", many_begin_end, true, 1},
    [COUNTED] = {"counter", many_counted, true, 1},
    [KERNEL_OFF] = {"kernel_off", many_kernel, false, 1, 1000},
    [KERNEL_ON] = {"kernel_on", many_kernel, true, 1, 1000},
};

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double turn(const struct way *w)
{
    unsigned long n = rounds / (w->slower ? w->slower : 1) + 1;
    double from = cpu_ns();
    w->run(n);
    return (cpu_ns() - from) / (double)n;
}

struct worker {
    pthread_t thread;
    double least[WAYS];
};

static pthread_barrier_t all_here;

static void *work(void *arg)
{
    struct worker *w = arg;
    for (size_t k = 0; k < WAYS; k++)
        w->least[k] = 1e9;
    for (int t = 0; t < TURNS; t++)
        for (size_t k = 0; k < WAYS; k++) {
            pthread_barrier_wait(&all_here);
            if (!ways[k].run)
                continue;
            inferom_enable(ways[k].is_on);
            if (k == PHASE_KEPT)
                inferom_reset();
            pthread_barrier_wait(&all_here);
            double ns = turn(&ways[k]);
            if (k == PHASE || k == PHASE_KEPT)
                inferom_phase(NULL);
            w->least[k] = ns < w->least[k] ? ns : w->least[k];
        }
    return NULL;
}

int main(int argc, char **argv)
{
    size_t threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    struct worker workers[64] = {0};
    if (argc > 1)
        rounds = strtoul(argv[1], NULL, 10);
    if (!rounds || !threads || threads > 64)
        return 2;
    pthread_barrier_init(&all_here, NULL, (unsigned)threads);
    for (size_t i = 0; i < threads; i++)
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 1;
    for (size_t i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    printf("{");
    for (size_t k = 0; k < WAYS; k++) {
        double sum = 0;
        for (size_t i = 0; i < threads; i++)
            sum += workers[i].least[k] - workers[i].least[BARE];
        if (ways[k].run)
            printf("%s\"%s\": %.3f", k ? ", " : "", ways[k].name, k == BARE ? workers[0].least[BARE] : sum / (double)threads / ways[k].parts);
    }
    printf("}\n");
    return 0;
}
