/* What is counted is what was timed: a call that counts itself, on a clock that is ours to check. */
#include "lab/timing.h"
#include "numbers.h"

struct counted {
    uint64_t calls;
    volatile double sink;
};

static void count_me(void *arg)
{
    struct counted *c = arg;
    c->calls++;
    for (int i = 0; i < 200; i++)
        c->sink += i;
}

/* Every call was either warm-up or timed, and none else was made; the samples add up to the total. */
static void check_counts(bool on_the_wall)
{
    struct counted c = {0};
    struct timing t;
    struct err e = {0};
    struct timing_plan p = {.samples = 9, .sample_ns = 200000, .warm_up_ns = 1000000, .on_the_wall = on_the_wall};
    CHECK(timing_of(&t, &p, count_me, &c, &e));
    CHECK_EQ(t.samples, 9);
    CHECK_EQ(t.calls, 9 * t.calls_a_sample);
    CHECK_EQ(t.calls + t.warm_up_calls, c.calls);
    CHECK(t.warm_up_calls > 0);
    double total = 0;
    for (unsigned i = 0; i < t.samples; i++)
        total += t.rows[i].ns * (double)t.calls_a_sample;
    CHECK_NUMBER(t.total_ns, total, 1e-9, 1, "total of the samples");
    CHECK(t.least_ns <= t.median_ns && t.median_ns <= t.p90_ns && t.p90_ns <= t.most_ns);
    CHECK(t.begun_ns <= t.timed_from_ns && t.timed_from_ns <= t.rows[0].at_ns && t.rows[8].at_ns + t.rows[8].wall_ns <= t.ended_ns);
    timing_done(&t);
}

static void check_figures(void)
{
    double samples[] = {5, 1, 4, 2, 3};
    struct timing t = {0};
    timing_figures(&t, samples, 5);
    CHECK_NUMBER(t.median_ns, 3, 0, 0, "median");
    CHECK_NUMBER(t.p90_ns, 4.6, 1e-12, 0, "90th percentile, on the line between two samples");
    CHECK_NUMBER(t.least_ns, 1, 0, 0, "least");
    CHECK_NUMBER(t.most_ns, 5, 0, 0, "most");
    CHECK_NUMBER(t.mean_ns, 3, 1e-12, 0, "mean");
    CHECK_NUMBER(t.deviation_ns, sqrt(2.5), 1e-12, 0, "deviation");
    double one[] = {7};
    timing_figures(&t, one, 1);
    CHECK_NUMBER(t.median_ns, 7, 0, 0, "of one");
    CHECK_NUMBER(t.p90_ns, 7, 0, 0, "of one");
    CHECK(isnan(t.deviation_ns));
}

static volatile sig_atomic_t stop;

static void count_and_stop(void *arg)
{
    count_me(arg);
    stop = ((struct counted *)arg)->calls > 100;
}

static void check_interrupted(void)
{
    struct counted c = {0};
    struct timing t;
    struct err e = {0};
    struct timing_plan p = {.samples = 1000, .sample_ns = 20000, .warm_up_ns = 1000, .stop = &stop};
    CHECK(!timing_of(&t, &p, count_and_stop, &c, &e));
    CHECK_EQ(e.kind, ERR_INTERRUPTED);
}

int main(void)
{
    check_counts(false);
    check_counts(true);
    check_figures();
    check_interrupted();
    return CHECK_DONE();
}
