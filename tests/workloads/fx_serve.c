/*
 * fx-serve: a server that runs when somebody comes to look at its heap, and does its sums right meanwhile.
 *
 * Every thread goes through rounds: it allocates, writes, checks what it wrote, frees, and keeps one block of
 * 4,096 bytes in every `--keep-every` rounds, from keep(). It waits in between in one of many ways: asleep until a
 * moment, in poll() with a limit, for a byte in a pipe, or not at all. What a wait says is checked: none may end
 * early, or with an error. Wide registers, errno and the rounding mode are checked, too.
 *
 * Ends after `--seconds`, or when its input does, and prints what it did. Status 1: something was not as it should be.
 */
#include "truth.h"

#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MOST = 64, BLOCK = 4096, KEPT_MOST = 1 << 20, PLUGGED_MOST = 1 << 16 };
static void *plugged[PLUGGED_MOST];

static uint64_t end_ns;
static uint64_t plug_ns;
static double keep_every = 16, busy = 0, plug_after = 0;

struct worker {
    pthread_t thread;
    unsigned number;
    uint64_t rounds, allocations, frees, kept, wrong, plugged;
    void **blocks;
    int pipe[2];
};

static KEPT void *keep(void)
{
    char *p = malloc(BLOCK);
    if (p)
        memset(p, 1, BLOCK);
    STAY();
    return p;
}

static KEPT uint64_t churn(struct worker *w)
{
    uint64_t wrong = 0;
    for (size_t i = 1; i <= 8; i++) {
        size_t n = i * 37 + w->number;
        unsigned char *p = malloc(n);
        w->allocations++;
        if (!p)
            return wrong + 1;
        memset(p, (int)(n & 0xff), n);
        for (size_t k = 0; k < n; k++)
            wrong += p[k] != (n & 0xff);
        p = realloc(p, 2 * n);
        w->allocations++;
        w->frees += 2;
        wrong += !p || p[n - 1] != (n & 0xff);
        free(p);
    }
    STAY();
    return wrong;
}

/* None of these may end early, or say anything but that the time is up. */
static uint64_t wait_somehow(struct worker *w)
{
    uint64_t begun_ns = wall_now_ns(), ask_ns = 2000000, wrong = 0;
    struct timespec t = {.tv_nsec = (long)ask_ns};
    struct pollfd p = {.fd = w->pipe[0], .events = POLLIN};
    char byte = 'x';
    errno = 77;
    switch (w->rounds % 4) {
    case 0: wrong += nanosleep(&t, NULL) != 0; break;
    case 1: wrong += poll(&p, 1, 2) != 0; break;
    case 2: wrong += clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL) != 0; break;
    default:
        wrong += write(w->pipe[1], &byte, 1) != 1 || read(w->pipe[0], &byte, 1) != 1 || byte != 'x';
        ask_ns = 0;
    }
    wrong += errno != 77 || wall_now_ns() - begun_ns < ask_ns;
    return wrong;
}

/* A sum that is only right if no register was touched. */
static KEPT uint64_t reckon(unsigned number)
{
    volatile double start = 1.0 + number;
    double a = start, b = start * 2, c = start * 3, d = start * 4, sum = 0;
    uint64_t x = number + 1;
    for (int i = 0; i < 20000; i++) {
        a += 1, b += 2, c += 3, d += 4;
        x = x * UINT64_C(6364136223846793005) + 1;
        sum += a + b + c + d;
    }
    double want = 10.0 * (1.0 + number) * 20000 + 10.0 * 20000.0 * 20001.0 / 2;
    STAY();
    return (uint64_t)(sum != want) + (uint64_t)(x == 0);
}

/* The first thread loads a library when its time has come, and calls it in every round from then on. */
static void plug(struct worker *w)
{
    static void *(*keep_in_plug)(void);
    static bool is_loaded;
    if (w->number || plug_after <= 0 || wall_now_ns() < plug_ns)
        return;
    if (!is_loaded) {
        char path[4096];
        ssize_t n = readlink("/proc/self/exe", path, sizeof path - 32);
        path[n > 0 ? n : 0] = '\0';
        char *slash = strrchr(path, '/');
        strcpy(slash ? slash + 1 : path, "libfx-plug.so"); /* NOLINT: there is room */
        void *library = dlopen(path, RTLD_NOW);
        void *found = library ? dlsym(library, "plug_keep") : NULL;
        memcpy(&keep_in_plug, &found, sizeof found);
        is_loaded = true;
        w->wrong += !found;
    }
    if (keep_in_plug && w->plugged < PLUGGED_MOST)
        plugged[w->plugged++] = keep_in_plug();
}

static void *serve(void *self)
{
    struct worker *w = self;
    fesetround(w->number % 2 ? FE_UPWARD : FE_TONEAREST);
    int rounding = fegetround();
    while (wall_now_ns() < end_ns) {
        w->wrong += churn(w);
        if (w->rounds % (uint64_t)keep_every == 0 && w->kept < KEPT_MOST / THREADS_MOST) {
            w->blocks[w->kept] = keep();
            w->allocations++;
            w->kept++;
        }
        plug(w);
        w->wrong += busy > 0 ? reckon(w->number) : wait_somehow(w);
        w->wrong += fegetround() != rounding;
        w->rounds++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    double seconds = 2, threads = 2;
    const struct setting settings[] = {
        {"seconds", "S", "wall seconds", &seconds, 0.01, 86400, false},
        {"threads", "N", "that serve", &threads, 1, THREADS_MOST, true},
        {"keep-every", "N", "rounds", &keep_every, 1, 1e9, true},
        {"plug-after", "S", "load a library that allocates", &plug_after, 0, 86400, false},
        {"busy", "1", "reckon instead of waiting", &busy, 0, 1, true},
    };
    settings_read(settings, 5, "allocates, waits and checks itself", argc, argv);
    static struct worker workers[THREADS_MOST];
    uint64_t rounds = 0, allocations = 0, frees = 0, kept = 0, wrong = 0;
    plug_ns = wall_now_ns() + (uint64_t)(plug_after * 1e9);
    end_ns = wall_now_ns() + (uint64_t)(seconds * 1e9);
    for (unsigned i = 0; i < (unsigned)threads; i++) {
        workers[i].number = i;
        workers[i].blocks = calloc(KEPT_MOST / THREADS_MOST, sizeof(void *));
        if (pipe(workers[i].pipe) < 0 || !workers[i].blocks || pthread_create(&workers[i].thread, NULL, serve, &workers[i]) != 0)
            die("starting a thread", errno);
    }
    for (unsigned i = 0; i < (unsigned)threads; i++) {
        pthread_join(workers[i].thread, NULL);
        rounds += workers[i].rounds, allocations += workers[i].allocations, frees += workers[i].frees;
        kept += workers[i].kept, wrong += workers[i].wrong;
    }
    printf("{\"fixture\": \"fx-serve\", \"pid\": %d, \"rounds\": %" PRIu64 ", \"allocations\": %" PRIu64 ", \"frees\": %" PRIu64
           ", \"kept\": %" PRIu64 ", \"kept_bytes\": %" PRIu64 ", \"plugged\": %" PRIu64 ", \"wrong\": %" PRIu64 "}\n",
           (int)getpid(), rounds, allocations, frees, kept, kept * BLOCK, workers[0].plugged, wrong);
    return wrong ? 1 : truth_told();
}
