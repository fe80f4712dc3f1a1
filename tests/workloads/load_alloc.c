/*
 * load-alloc [THREADS] [PAIRS]: a program that does little but allocate.
 *
 * Every thread keeps a window of 1,024 blocks and replaces one of them again and again: one malloc() and one free() make a pair. Four of five blocks have
 * less than 272 bytes, a few in a thousand have up to 128 KiB. Each pair is made at the end of 5 to 20 calls through eight
 * functions, on some three thousand different ways.
 *
 * It prints what it used by its own clock: {"pairs": ..., "cpu_ns": ..., "bytes": ...}
 */
#include "truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WINDOW = 1024, THREADS_MOST = 64, DEPTH_LEAST = 3, DEPTHS = 16, WAYS = 256 };

struct worker {
    uint64_t random, pairs, bytes;
    void *window[WINDOW];
    pthread_t thread;
};

static uint64_t next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

static size_t size_of(uint64_t r)
{
    uint64_t kind = r % 1000;
    r /= 1000;
    if (kind < 800)
        return 16 + r % 256;
    if (kind < 976)
        return 256 + r % 4096;
    if (kind < 998)
        return 4096 + r % 32768;
    return 65536 + r % 65536;
}

static KEPT void replace(struct worker *w, uint64_t r)
{
    void **slot = &w->window[r >> 20 & (WINDOW - 1)];
    size_t n = size_of(r >> 32);
    free(*slot);
    char *p = malloc(n);
    if (p)
        *(volatile char *)p = 1;
    *slot = p;
    w->bytes += n;
}

/* Each calls one of two others, as a bit of the way says. */
typedef void step_function(struct worker *, uint64_t, unsigned);
static KEPT step_function step_0, step_1, step_2, step_3, step_4, step_5, step_6, step_7;

#define STEP(name, left, right)                                 \
    static KEPT void name(struct worker *w, uint64_t r, unsigned depth) \
    {                                                           \
        if (depth == 0)                                         \
            replace(w, r);                                      \
        else if (r >> (depth & 7) & 1)                          \
            left(w, r, depth - 1);                              \
        else                                                    \
            right(w, r, depth - 1);                             \
        STAY();                                                 \
    }
STEP(step_0, step_1, step_2)
STEP(step_1, step_3, step_4)
STEP(step_2, step_5, step_6)
STEP(step_3, step_7, step_0)
STEP(step_4, step_1, step_5)
STEP(step_5, step_2, step_7)
STEP(step_6, step_3, step_0)
STEP(step_7, step_4, step_6)

static void *work(void *arg)
{
    struct worker *w = arg;
    for (uint64_t i = 0; i < w->pairs; i++) {
        uint64_t r = next(&w->random);
        step_0(w, r, DEPTH_LEAST + (unsigned)(r >> 10) % DEPTHS);
    }
    for (size_t i = 0; i < WINDOW; i++)
        free(w->window[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS_MOST];
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 4, pairs = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000, bytes = 0;
    if (n == 0 || n > THREADS_MOST)
        return 2;
    for (uint64_t i = 0; i < n; i++) {
        workers[i].random = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
        workers[i].pairs = pairs;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            die("starting a thread", 0);
    }
    for (uint64_t i = 0; i < n; i++) {
        pthread_join(workers[i].thread, NULL);
        bytes += workers[i].bytes;
    }
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    printf("{\"pairs\": %" PRIu64 ", \"cpu_ns\": %" PRIu64 ", \"bytes\": %" PRIu64 "}\n", n * pairs,
           (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec, bytes);
    return truth_told();
}
