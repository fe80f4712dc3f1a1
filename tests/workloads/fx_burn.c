/*
 * fx-burn: the main thread spends 60, 30 and 10 % of its CPU time in burn_a,
 * burn_b and burn_c; a second thread, "fx-worker", spends all of its own in
 * burn_w for as long as the main thread burns.
 */
#include "truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

struct worker {
    struct burner burner;
    pthread_barrier_t start; /* both threads burn, or neither: two cores read 200 % from the first slice */
    atomic_bool is_over;
};

static KEPT void burn_w(uint64_t rounds) { BURN(rounds, 0xd); }

/* A budget of years: the worker ends when it is told to. */
static void *worker_run(void *arg)
{
    struct worker *w = arg;
    int error = pthread_setname_np(pthread_self(), "fx-worker");
    if (error)
        die("naming the worker", error);

    burner_init(&w->burner, &(struct burn){"burn_w", burn_w, 1.0}, 1, UINT64_MAX / BUDGET_GROWTH_MOST);
    pthread_barrier_wait(&w->start);
    while (!atomic_load(&w->is_over) && burner_begin(&w->burner)) {
        burn_w(w->burner.rounds);
        burner_end(&w->burner);
    }
    burner_done(&w->burner);
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t start_ns = wall_now_ns();
    double seconds = 2;
    const struct setting settings[] = {
        {"seconds", "S", "CPU seconds of the main thread, or a little more to keep the shares exact", &seconds, 0.01, 86400},
    };
    settings_read(settings, 1, "burns 60/30/10 % on the main thread, 100 % on a worker", argc, argv);

    struct worker worker = {0};
    pthread_t thread;
    int error = pthread_barrier_init(&worker.start, NULL, 2);
    if (!error)
        error = pthread_create(&thread, NULL, worker_run, &worker);
    if (error)
        die("starting the worker", error);
    pthread_barrier_wait(&worker.start);

    struct burner b;
    burner_init(&b, mix, MIX_COUNT, (uint64_t)(seconds * 1e9));
    for (const struct burn *f; (f = burner_begin(&b)) != NULL; burner_end(&b))
        f->run(b.rounds);

    atomic_store(&worker.is_over, true);
    error = pthread_join(thread, NULL);
    if (error)
        die("waiting for the worker", error);
    burner_done(&b);

    printf("{\"fixture\": \"fx-burn\", \"pid\": %d, \"wall_ns\": %" PRIu64 ", \"threads\": [", (int)getpid(),
           wall_now_ns() - start_ns);
    burner_print(&b);
    printf(", ");
    burner_print(&worker.burner);
    printf("]}\n");
    return truth_told();
}
