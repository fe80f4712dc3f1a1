#include "lab/team.h"
#include "check.h"

#include <stdatomic.h>

enum { JOBS = 400, ROUNDS = 100, MOST = 7 };

struct tally {
    struct team *team;
    atomic_uint calls[MOST];
    atomic_uint wrong;
    unsigned value[MOST]; /* plain: what the barrier and the end of a job must make visible */
};

static void count_me(void *arg, unsigned worker, unsigned workers)
{
    struct tally *t = arg;
    atomic_fetch_add(&t->calls[worker], 1);
    if (worker >= workers)
        atomic_fetch_add(&t->wrong, 1);
    t->value[worker]++;
}

static void check_every_worker_once_per_job(unsigned workers)
{
    own(team) struct team *team = NULL;
    struct err e = {0};
    static struct tally t;
    t = (struct tally){0};
    CHECK(team_new(&team, workers, &e));
    CHECK_EQ(team_size(team), workers);
    for (unsigned job = 0; job < JOBS; job++) {
        team_run(team, count_me, &t);
        for (unsigned w = 0; w < workers; w++)
            if (t.value[w] != job + 1)
                t.wrong++;
    }
    CHECK_EQ(t.wrong, 0);
    for (unsigned w = 0; w < MOST; w++)
        CHECK_EQ(t.calls[w], w < workers ? JOBS : 0);
}

/* Each writes its place, waits, and reads its neighbour's. */
static void pass_round(void *arg, unsigned worker, unsigned workers)
{
    struct tally *t = arg;
    for (unsigned round = 1; round <= ROUNDS; round++) {
        t->value[worker] = round;
        team_barrier(t->team);
        if (t->value[(worker + 1) % workers] != round)
            atomic_fetch_add(&t->wrong, 1);
        team_barrier(t->team);
    }
}

static void check_barrier(unsigned workers)
{
    own(team) struct team *team = NULL;
    struct err e = {0};
    static struct tally t;
    t = (struct tally){0};
    CHECK(team_new(&team, workers, &e));
    t.team = team;
    team_run(team, pass_round, &t);
    CHECK_EQ(t.wrong, 0);
}

/* Shares follow each other without a gap, end at the end, and are cut at the grain. */
static void check_shares(size_t n, size_t grain, unsigned workers)
{
    size_t at = 0, least = n, most = 0;
    for (unsigned w = 0; w < workers; w++) {
        struct share s = team_share(n, grain, w, workers);
        CHECK_EQ(s.from, at);
        CHECK(s.to >= s.from);
        CHECK(s.to == n || s.to % grain == 0);
        at = s.to;
        least = s.to - s.from < least ? s.to - s.from : least;
        most = s.to - s.from > most ? s.to - s.from : most;
    }
    CHECK_EQ(at, n);
    CHECK(most - least < 2 * grain);
}

int main(void)
{
    struct team *none = NULL;
    struct err e = {0};
    CHECK(!team_new(&none, 0, &e));
    CHECK_STR(e.text, "0 threads; there can be 1 to 1024");
    CHECK(!team_new(&none, TEAM_MOST + 1, &e));
    for (unsigned workers = 1; workers <= MOST; workers += 2) {
        check_every_worker_once_per_job(workers);
        check_barrier(workers);
    }
    static const size_t lengths[] = {0, 1, 31, 32, 33, 1000, 4096};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (unsigned workers = 1; workers <= MOST; workers++) {
            check_shares(lengths[i], 1, workers);
            check_shares(lengths[i], 32, workers);
        }
    CHECK(team_processors() >= 1);
    return CHECK_DONE();
}
