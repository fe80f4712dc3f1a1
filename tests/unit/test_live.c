#include "analyse/by_thread.h"
#include "analyse/live.h"
#include "analyse/top.h"
#include "check.h"

#include <math.h>

#define S UINT64_C(1000000000)

struct bed {
    struct capture_writer *capture;
    struct live live;
    set_id cpu, other;
    context_id context;
    stack_id stacks[2];
    series_id use, cores;
};

static void bed_init(struct bed *b)
{
    struct err e = {0};
    *b = (struct bed){0};
    CHECK(capture_open(&b->capture, NULL, 0, &e));
    struct builder *n = capture_names(b->capture);
    struct measure_spec ns = {VIEW("cpu"), UNIT_NS};
    b->other = builder_set(n, VIEW("off-cpu"), &ns, 1);
    b->cpu = builder_set(n, VIEW("cpu"), &ns, 1);
    b->context = builder_context(n, builder_thread(n, builder_process(n, 7, 0), 8), LABELS_NONE);
    b->stacks[0] = builder_push(n, STACK_ROOT, builder_frame_named(n, VIEW("old")));
    b->stacks[1] = builder_push(n, STACK_ROOT, builder_frame_named(n, VIEW("new")));
    struct label labels[] = {{.key = builder_string(n, VIEW("pid")), .number = 7},
                             {.key = builder_string(n, VIEW("process")), .text = builder_string(n, VIEW("burner"))}};
    b->use = builder_series(n, VIEW("cpu use"), UNIT_OTHER, VIEW("%"), builder_labels(n, labels, 2));
    b->cores = builder_series(n, VIEW("core use"), UNIT_OTHER, VIEW("%"), LABELS_NONE);
    live_init(&b->live, b->capture, 10 * S, 100 * S);
}

static void bed_done(struct bed *b)
{
    live_done(&b->live);
    capture_writer_free(b->capture);
}
DEFINE_OWN_IN_PLACE(bed, struct bed)

static void sample(struct bed *b, uint64_t time_ns, unsigned stack, int64_t value)
{
    capture_sample(b->capture, b->cpu, time_ns, b->context, b->stacks[stack], &value);
}

static void check_window(void)
{
    own(bed) struct bed b;
    bed_init(&b);
    CHECK_EQ(live_set(&b.live).n, 0);
    CHECK_EQ(live_length_ns(&b.live, 103 * S), 3 * S);
    for (uint64_t t = 0; t < 20; t++)
        sample(&b, (100 + t) * S, t >= 10, 5);
    int64_t waited = 1000;
    capture_sample(b.capture, b.other, 119 * S, b.context, b.stacks[0], &waited);

    live_tick(&b.live, 120 * S);
    struct sample_set set = live_set(&b.live);
    CHECK_EQ(set.n, 10);
    CHECK_EQ(set.measures[0].total, 50);
    CHECK_EQ(live_length_ns(&b.live, 120 * S), 10 * S);
    own(top) struct top top = top_of(live_names(&b.live), &set, 0, NULL, 0);
    CHECK_EQ(top.n, 1);
    CHECK_STR(profile_string(live_names(&b.live), profile_function(live_names(&b.live), top.rows[0].function)->name).at, "new");
    own(by_thread) struct by_thread threads = by_thread_of(live_names(&b.live), &set, 0);
    CHECK_EQ(threads.n, 1);
    CHECK_EQ(threads.rows[0].total, 50);
}

/* However long it goes on, and however fast, there is a bound. */
static void check_bound(void)
{
    own(bed) struct bed b;
    bed_init(&b);
    for (uint64_t i = 0; i < 3 * (uint64_t)LIVE_SAMPLES_MOST; i++)
        sample(&b, 100 * S + i, 0, 1);
    CHECK_EQ(b.live.cap, LIVE_SAMPLES_MOST);
    struct sample_set set = live_set(&b.live);
    CHECK(set.n >= LIVE_SAMPLES_MOST / 2 && set.n <= LIVE_SAMPLES_MOST);
    CHECK_EQ(set.time_ns[set.n - 1], 100 * S + 3 * (uint64_t)LIVE_SAMPLES_MOST - 1);
    CHECK_EQ(set.time_ns[0], set.time_ns[set.n - 1] - set.n + 1);

    own(bed) struct bed calm;
    bed_init(&calm);
    for (uint64_t i = 0; i < 100000; i++) {
        sample(&calm, 100 * S + i * S / 10, 0, 1);
        live_tick(&calm.live, 100 * S + i * S / 10);
    }
    CHECK_EQ(calm.live.cap, LIVE_SAMPLES_LEAST);
    CHECK_EQ(live_set(&calm.live).n, 101);
}

static void check_processes(void)
{
    own(bed) struct bed b;
    bed_init(&b);
    capture_reading(b.capture, b.use, 101 * S, 100);
    capture_reading(b.capture, b.use, 102 * S, 50);
    capture_reading(b.capture, b.use, 102 * S, NAN);
    capture_reading(b.capture, b.cores, 102 * S, 99);
    live_tick(&b.live, 103 * S);
    CHECK_EQ(b.live.n_processes, 1);
    CHECK_EQ(b.live.processes[0].pid, 7);
    CHECK_STR(profile_string(live_names(&b.live), b.live.processes[0].name).at, "burner");
    CHECK(b.live.processes[0].cpu_ratio == 0.75 && isnan(b.live.processes[0].rss_bytes));
    live_tick(&b.live, 105 * S);
    CHECK_EQ(b.live.n_processes, 0); /* nothing was heard of it: it has ended */
    capture_lost(b.capture, b.cpu, VIEW("full"), 3);
    CHECK_EQ(b.live.lost, 3);
}

/* The names are forgotten, those in the window live on; and however many there were, no more than those are held. */
static void check_beginning_again(void)
{
    own(bed) struct bed b;
    bed_init(&b);
    for (unsigned i = 0; i < 100000; i++) {
        char name[32];
        int n = snprintf(name, sizeof name, "passing %u", i);
        builder_frame_named(capture_names(b.capture), (struct view){name, (size_t)n});
    }
    sample(&b, 101 * S, 0, 3);
    sample(&b, 115 * S, 1, 5);
    capture_reading(b.capture, b.use, 115 * S, 100);
    live_tick(&b.live, 116 * S);
    size_t before = capture_names_bytes(b.capture);
    CHECK(capture_begin_again(b.capture));
    CHECK(capture_names_bytes(b.capture) < before / 100);
    const struct profile *p = live_names(&b.live);
    struct sample_set set = live_set(&b.live);
    CHECK_EQ(set.n, 1);
    own(top) struct top top = top_of(p, &set, 0, NULL, 0);
    CHECK_EQ(top.n, 1);
    CHECK_EQ(top.rows[0].self, 5);
    CHECK_STR(profile_string(p, profile_function(p, top.rows[0].function)->name).at, "new");
    CHECK_EQ(profile_thread(p, profile_context(p, set.contexts[0])->thread)->tid, 8);
    CHECK_STR(profile_string(p, b.live.processes[0].name).at, "burner");
    CHECK_EQ(profile_stacks(p), 2); /* the root, and the one in the window */
}

static void check_pause(void)
{
    own(bed) struct bed b;
    bed_init(&b);
    sample(&b, 101 * S, 0, 1);
    live_pause(&b.live, true, 102 * S);
    sample(&b, 103 * S, 1, 1);
    live_tick(&b.live, 200 * S);
    CHECK_EQ(live_set(&b.live).n, 1); /* what was there stays to be looked at */
    live_pause(&b.live, false, 200 * S);
    CHECK_EQ(live_set(&b.live).n, 0);
    sample(&b, 201 * S, 1, 1);
    CHECK_EQ(live_set(&b.live).n, 1);
    CHECK_EQ(live_length_ns(&b.live, 202 * S), 2 * S);
}

int main(void)
{
    check_window();
    check_bound();
    check_processes();
    check_beginning_again();
    check_pause();
    return CHECK_DONE();
}
