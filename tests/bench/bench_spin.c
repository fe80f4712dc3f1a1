/*
 * bench_spin - two threads that do nothing but work, and count it
 *
 * Each has a stack of a dozen frames and spins in registers for so many seconds of its own CPU time:
 * what others do to memory and caches does not show. Prints work and CPU time of both as JSON; the
 * cost of being sampled is how much less work a CPU second holds.
 *
 *     bench_spin SECONDS [turns]
 *
 * With "turns" it spins so long for each line of input, and prints what it did so far behind each.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 2, DEPTH = 10, CHUNK = 20000 };

struct spinner {
    pthread_t thread;
    uint64_t budget_ns, cpu_ns, chunks;
};

static pthread_barrier_t begin, end;
static bool is_over;

static uint64_t cpu_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void spin(void)
{
    uint64_t x = 88172645463325252;
    for (int i = 0; i < CHUNK; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        __asm__ volatile("" : "+r"(x));
    }
}

static void spin_for(struct spinner *s)
{
    uint64_t start = cpu_now_ns(), used;
    for (; (used = cpu_now_ns() - start) < s->budget_ns; s->chunks++)
        spin();
    s->cpu_ns += used;
}

__attribute__((noinline)) static void descend(int depth, struct spinner *s)
{
    if (depth) {
        descend(depth - 1, s);
    } else {
        for (pthread_barrier_wait(&begin); !is_over; pthread_barrier_wait(&begin)) {
            spin_for(s);
            pthread_barrier_wait(&end);
        }
    }
    __asm__ volatile("" ::: "memory");
}

static void *run(void *self)
{
    descend(DEPTH, self);
    return NULL;
}

static bool has_turn(void)
{
    int c;
    while ((c = getchar()) != EOF && c != '\n')
        ;
    return c == '\n';
}

static void turn(const struct spinner *all)
{
    uint64_t chunks = 0, cpu_ns = 0;
    pthread_barrier_wait(&begin);
    pthread_barrier_wait(&end);
    for (int i = 0; i < THREADS; i++) {
        chunks += all[i].chunks;
        cpu_ns += all[i].cpu_ns;
    }
    printf("{\"chunks\": %" PRIu64 ", \"cpu_ns\": %" PRIu64 "}\n", chunks, cpu_ns);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct spinner all[THREADS] = {0};
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
    pthread_barrier_init(&begin, NULL, THREADS + 1);
    pthread_barrier_init(&end, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        all[i].budget_ns = (uint64_t)(seconds * 1e9);
        if (pthread_create(&all[i].thread, NULL, run, &all[i]))
            return 1;
    }
    if (argc > 2)
        while (has_turn())
            turn(all);
    else
        turn(all);
    is_over = true;
    pthread_barrier_wait(&begin);
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i].thread, NULL);
    return 0;
}
