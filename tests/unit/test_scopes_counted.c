/* Scopes that a program counted: rows of one name become one, with means and deviations of all. */
#include "analyse/call_graph.h"
#include "analyse/scopes.h"
#include "check.h"
#include "model/builder.h"

#include <math.h>

struct maker {
    struct builder *b;
    set_id scopes, times;
    stack_id decode, inner; /* decode; decode > attention > decode */
};

static labels_id labels(struct builder *b, const char *const *keys, const int64_t *numbers, size_t n)
{
    struct label l[8];
    for (size_t i = 0; i < n; i++)
        l[i] = (struct label){.key = builder_string(b, view_of(keys[i])), .number = numbers[i], .unit = builder_string(b, VIEW("ps"))};
    return builder_labels(b, l, n);
}

static struct maker maker_new(void)
{
    static const struct measure_spec scopes[] = {
        {.name = {"self", 4}, .unit = UNIT_NS}, {.name = {"calls", 5}, .unit = UNIT_COUNT}, {.name = {"timed calls", 11}, .unit = UNIT_COUNT},
    };
    struct maker m = {.b = builder_new()};
    m.scopes = builder_set(m.b, VIEW("scopes"), scopes, 3);
    m.times = builder_set(m.b, VIEW("scope times"), scopes + 1, 1);
    frame_id decode = builder_frame_named(m.b, VIEW("decode"));
    m.decode = builder_push(m.b, STACK_ROOT, decode);
    m.inner = builder_push(m.b, builder_push(m.b, m.decode, builder_frame_named(m.b, VIEW("attention"))), decode);
    return m;
}

/* A path on a thread, its lengths in picoseconds. */
static void path(struct maker *m, int32_t tid, stack_id stack, const int64_t values[3], const int64_t lengths[4])
{
    static const char *const keys[] = {"shortest", "longest", "mean", "deviation"};
    thread_id t = builder_thread(m->b, builder_process(m->b, 1, 0), tid);
    builder_sample(m->b, m->scopes, TIME_NONE, builder_context(m->b, t, labels(m->b, keys, lengths, 4)), stack, values);
}

static void bucket(struct maker *m, stack_id stack, int64_t from, int64_t to, int64_t calls)
{
    static const char *const keys[] = {"from", "to"};
    labels_id l = labels(m->b, keys, (const int64_t[]){from, to}, 2);
    builder_sample(m->b, m->times, TIME_NONE, builder_context(m->b, THREAD_NONE, l), stack, &calls);
}

static struct profile *finish(struct maker *m)
{
    struct profile *p = NULL;
    CHECK(builder_finish(m->b, &p, NULL));
    return p;
}

/* Two calls of 10 and 30 ns on one thread, two of 50 and 70 on another: mean 40, deviation the square root of 500. */
static void test_together(void)
{
    struct maker m = maker_new();
    path(&m, 1, m.decode, (const int64_t[]){40, 2, 2}, (const int64_t[]){10000, 30000, 20000, 10000});
    path(&m, 2, m.decode, (const int64_t[]){100, 2, 2}, (const int64_t[]){50000, 70000, 60000, 10000});
    path(&m, 2, m.inner, (const int64_t[]){20, 4, 0}, (const int64_t[]){0, 0, 0, 0}); /* none was timed */
    bucket(&m, m.decode, 10000, 12000, 1);
    bucket(&m, m.decode, 28000, 32000, 1);
    bucket(&m, m.decode, 50000, 52000, 1);
    bucket(&m, m.decode, 70000, 80000, 1);
    own(profile) struct profile *p = finish(&m);
    own(scopes) struct scopes s = scopes_of(p);
    CHECK_EQ(s.n, 2); /* attention is still open: it has a total and no call */
    CHECK_EQ(s.rows[0].calls, 8);
    CHECK_EQ(s.rows[0].timed, 4);
    CHECK_EQ(s.rows[0].self_ns, 160);
    CHECK_EQ(s.rows[0].total_ns, 160); /* the one within itself counts once */
    CHECK_EQ(s.rows[0].least_ns, 10);
    CHECK_EQ(s.rows[0].most_ns, 70);
    CHECK(fabs(s.rows[0].mean_ns - 40) < 1e-9 && fabs(s.rows[0].deviation_ns - sqrt(500)) < 1e-9);
    CHECK(s.rows[0].p50_ns == 30 && s.rows[0].p90_ns == 70 && s.rows[0].p99_ns == 70);
    CHECK_EQ(s.rows[0].bytes, -1);
    CHECK_EQ(s.n_pairs, 2);
    own(call_graph) struct call_graph g = call_graph_of(p, scopes_counted(p), 0);
    for (size_t i = 0; i < g.n_nodes; i++)
        if (view_same(profile_string(p, profile_function(p, g.nodes[i].function)->name), VIEW("decode")))
            CHECK_EQ(g.nodes[i].calls, 8);
}

/* A file may say anything; the sums stay numbers. */
static void test_nonsense(void)
{
    struct maker m = maker_new();
    path(&m, 1, m.decode, (const int64_t[]){-5, -1, INT64_MAX}, (const int64_t[]){INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN});
    path(&m, 2, m.decode, (const int64_t[]){INT64_MAX, 3, -7}, (const int64_t[]){-1, INT64_MIN, 0, INT64_MAX});
    static const char *const keys[] = {"cut", "left out"};
    labels_id l = labels(m.b, keys, (const int64_t[]){INT64_MAX, INT64_MIN}, 2);
    builder_sample(m.b, m.scopes, TIME_NONE, builder_context(m.b, THREAD_NONE, l), m.inner, (const int64_t[]){0, 0, 0});
    builder_sample(m.b, m.scopes, TIME_NONE, CONTEXT_NONE, STACK_ROOT, (const int64_t[]){0, 1, 1});
    bucket(&m, m.decode, INT64_MIN, INT64_MAX, 1);
    bucket(&m, m.decode, 0, INT64_MAX, INT64_MAX - 5);
    own(profile) struct profile *p = finish(&m);
    own(scopes) struct scopes s = scopes_of(p);
    CHECK_EQ(s.n, 2); /* attention is still open: it has a total and no call */
    CHECK_EQ(s.rows[0].cut, 0);
    CHECK_EQ(s.rows[0].left_out, 0);
}

int main(void)
{
    test_together();
    test_nonsense();
    return CHECK_DONE();
}
