/*
 * fx-sleep: 30 % of wall time on CPU inside `work`, 70 % off it inside `rest`.
 *
 * After each slice of work it rests until the moment at which everything worked
 * so far is 30 % of everything elapsed. That moment is absolute, so a rest that
 * was too long, or a slice that had to wait for a core, makes the next rest
 * shorter and no error adds up:
 *
 *     start ─ work ──── rest ──── work ──── rest ────┤ start + on / 0.3
 *
 * It holds while the machine has 30 % of a core to give; below that rest_ns
 * goes to nothing, and preempted_ns says where the time went.
 */
#include "truth.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double on_ratio = 0.3;

/* A last rest that ended late by more than this part of the work is worth another slice. */
static const double behind_most_ratio = 0.01;

static KEPT void work(uint64_t rounds) { BURN(rounds, 0xf); }

/* Signals may come, from a profiler's timers for one; the moment stays the same. */
static KEPT void rest(uint64_t until_ns)
{
    struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S), .tv_nsec = (long)(until_ns % NS_PER_S)};
    int error;
    while ((error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL)) == EINTR)
        ;
    if (error)
        die("sleeping", error);
}

int main(int argc, char **argv)
{
    double seconds = 2;
    const struct setting settings[] = {
        {"seconds", "S", "wall seconds on a machine with a core to spare", &seconds, 0.01, 86400},
    };
    settings_read(settings, 1, "sleeps 70 % of the time", argc, argv);

    struct burner b;
    burner_init(&b, &(struct burn){"work", work, 1.0}, 1, (uint64_t)(seconds * on_ratio * 1e9));
    uint64_t on_ns = 0, rest_ns = 0, wall_ns = 0, start_cpu_ns = cpu_now_ns(), start_ns = wall_now_ns();
    while (burner_begin(&b)) {
        work(b.rounds);
        burner_end(&b);

        uint64_t until_ns = start_ns + (uint64_t)((double)(cpu_now_ns() - start_cpu_ns) / on_ratio);
        uint64_t now_ns = wall_now_ns();
        if (now_ns < until_ns) {
            rest(until_ns);
            rest_ns += wall_now_ns() - now_ns;
        }
        on_ns = cpu_now_ns() - start_cpu_ns;
        wall_ns = wall_now_ns() - start_ns;

        double behind_ns = on_ratio * (double)wall_ns - (double)on_ns;
        if (behind_ns > (double)b.budget_ns * behind_most_ratio)
            burner_extend(&b, (double)b.spent_ns + behind_ns);
    }
    burner_done(&b);

    uint64_t off_ns = wall_ns > on_ns ? wall_ns - on_ns : 0;
    printf("{\"fixture\": \"fx-sleep\", \"pid\": %d, \"wall_ns\": %" PRIu64 ", \"on_ns\": %" PRIu64
           ", \"off_ns\": %" PRIu64 ", \"rest_ns\": %" PRIu64 ", \"preempted_ns\": %" PRIu64 ", \"threads\": [",
           (int)getpid(), wall_ns, on_ns, off_ns, rest_ns, off_ns > rest_ns ? off_ns - rest_ns : 0);
    burner_print(&b);
    printf("]}\n");
    return truth_told();
}
