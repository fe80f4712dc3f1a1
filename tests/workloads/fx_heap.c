/*
 * fx-heap: 10,000 allocations of which everything is known.
 *
 *     leaky    1,000 blocks of 4,096 bytes, never freed
 *     hold     3,000 blocks of 2,048 bytes, all at once, then freed: the peak is when the last of them is there
 *     churn    6,000 blocks of   512 bytes, each freed before the next: temporary
 *
 * Of those held, the last two count as temporary as well: when they are freed, at most one other was allocated since.
 *
 * Nothing else in the program allocates: what it prints goes through a buffer of its own.
 *
 * --times N repeats hold and churn (the leak stays as it is), --threads N does all of it on each of N threads at once.
 */
#include "truth.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAKS = 1000, LEAK_BYTES = 4096, HELD = 3000, HELD_BYTES = 2048, CHURNED = 6000, CHURN_BYTES = 512, THREADS_MOST = 64 };

static void *volatile kept; /* somebody might look at it: no allocation can be left out */

static KEPT void leaky(void)
{
    for (int i = 0; i < LEAKS; i++) {
        kept = malloc(LEAK_BYTES);
        STAY();
    }
}

static KEPT void hold(void **blocks)
{
    for (int i = 0; i < HELD; i++) {
        blocks[i] = malloc(HELD_BYTES);
        STAY();
    }
}

static KEPT void let_go(void **blocks)
{
    for (int i = 0; i < HELD; i++)
        free(blocks[i]);
}

static KEPT void churn(void)
{
    for (int i = 0; i < CHURNED; i++) {
        void *p = malloc(CHURN_BYTES);
        kept = p;
        free(p);
    }
}

static uint64_t times = 1;

static KEPT void *run(void *arg)
{
    static __thread void *blocks[HELD];
    leaky();
    for (uint64_t i = 0; i < times; i++) {
        hold(blocks);
        let_go(blocks);
        churn();
    }
    STAY();
    return arg;
}

static void run_on_threads(uint64_t n)
{
    pthread_t threads[THREADS_MOST];
    for (uint64_t i = 0; i < n; i++) {
        int error = pthread_create(&threads[i], NULL, run, NULL);
        if (error)
            die("starting a thread", error);
    }
    for (uint64_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

/* The most memory this process ever had, without an allocation. */
static uint64_t peak_rss_kib(void)
{
    char text[4096];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *line = strstr(text, "VmHWM:");
    return line ? strtoull(line + 6, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
    static char buffer[8192];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    uint64_t start_ns = wall_now_ns();
    double repeats = 1, threads = 0;
    const struct setting settings[] = {
        {"times", "N", "repeat what is freed again so often", &repeats, 1, 1e6, .is_whole = true},
        {"threads", "N", "on each of so many threads; 0: on the first", &threads, 0, THREADS_MOST, .is_whole = true},
    };
    settings_read(settings, 2, "makes allocations of which everything is known", argc, argv);
    times = (uint64_t)repeats;
    uint64_t n = (uint64_t)threads, each = n ? n : 1;
    if (n)
        run_on_threads(n);
    else
        run(NULL);

    printf("{\"fixture\": \"fx-heap\", \"pid\": %d, \"wall_ns\": %" PRIu64 ", \"allocations\": %" PRIu64 ", \"frees\": %" PRIu64
           ", \"allocated_bytes\": %" PRIu64 ", \"live_blocks\": %" PRIu64 ", \"live_bytes\": %" PRIu64 ", \"peak_bytes\": %" PRIu64
           ", \"temporary\": %" PRIu64 ", \"peak_rss_kib\": %" PRIu64 "}\n",
           (int)getpid(), wall_now_ns() - start_ns, each * (LEAKS + times * (HELD + CHURNED)), each * times * (HELD + CHURNED),
           each * (LEAKS * LEAK_BYTES + times * (HELD * HELD_BYTES + CHURNED * CHURN_BYTES)), each * LEAKS,
           each * LEAKS * LEAK_BYTES, each * (LEAKS * LEAK_BYTES + HELD * HELD_BYTES), each * times * (CHURNED + 2), peak_rss_kib());
    return truth_told();
}
