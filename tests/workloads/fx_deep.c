/*
 * fx-deep: `deep` calls itself until it stands on the stack --depth times, and
 * the innermost one burns in `deep_leaf`:
 *
 *     deep_run > deep > deep > ... > deep > deep_leaf
 *                └────── depth ──────────┘
 *
 * It runs on a thread of its own, "fx-deep", because the main thread's stack is
 * as large as the user's limits and a thread's is as large as we ask.
 */
#include "truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* A frame of `deep` takes 32 or 48 bytes at -O2 and may take more under other flags. */
static const size_t frame_most_bytes = 256, stack_spare_bytes = 1 << 20;

struct descent {
    struct burner burner;
    uint64_t depth, budget_ns;
    uintptr_t top, bottom; /* addresses on the stack, above the first `deep` and in the last */
};

static KEPT void deep_leaf(uint64_t rounds) { BURN(rounds, 0xe); }

static KEPT void deep(struct descent *d, uint64_t depth)
{
    if (depth > 1) {
        deep(d, depth - 1);
        STAY();
        return;
    }
    char here;
    d->bottom = (uintptr_t)&here;
    while (burner_begin(&d->burner)) {
        deep_leaf(d->burner.rounds);
        burner_end(&d->burner);
    }
}

static void *deep_run(void *arg)
{
    struct descent *d = arg;
    int error = pthread_setname_np(pthread_self(), "fx-deep");
    if (error)
        die("naming the thread", error);

    char here;
    d->top = (uintptr_t)&here;
    burner_init(&d->burner, &(struct burn){"deep_leaf", deep_leaf, 1.0}, 1, d->budget_ns);
    deep(d, d->depth);
    burner_done(&d->burner);
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t start_ns = wall_now_ns();
    double seconds = 2, depth = 200;
    const struct setting settings[] = {
        {"seconds", "S", "CPU seconds in deep_leaf", &seconds, 0.01, 86400},
        {"depth", "N", "how often deep stands on the stack", &depth, 1, 1e6, .is_whole = true},
    };
    settings_read(settings, 2, "burns at the bottom of a deep recursion", argc, argv);

    struct descent d = {.depth = (uint64_t)depth, .budget_ns = (uint64_t)(seconds * 1e9)};
    pthread_attr_t attributes;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);
    if (!error)
        error = pthread_attr_setstacksize(&attributes, stack_spare_bytes + d.depth * frame_most_bytes);
    if (!error)
        error = pthread_create(&thread, &attributes, deep_run, &d);
    if (!error)
        error = pthread_join(thread, NULL);
    if (error)
        die("running the thread", error);

    printf("{\"fixture\": \"fx-deep\", \"pid\": %d, \"wall_ns\": %" PRIu64 ", \"depth\": %" PRIu64
           ", \"stack_bytes\": %" PRIuPTR ", \"cpu_ns\": %" PRIu64 ", \"threads\": [",
           (int)getpid(), wall_now_ns() - start_ns, d.depth, d.top - d.bottom, d.burner.burns[0].cpu_ns);
    burner_print(&d.burner);
    printf("]}\n");
    return truth_told();
}
