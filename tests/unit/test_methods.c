/*
 * test_methods.c - what a report rests on: functions with calls and bytes, scopes, neighbours, intervals, quality
 */
#include "analyse/methods.h"
#include "analyse/neighbours.h"
#include "analyse/quality.h"
#include "analyse/sampling.h"
#include "analyse/scopes.h"
#include "check.h"
#include "model/builder.h"

#include <math.h>

static const char *name(const struct profile *p, func_id f) { return profile_string(p, profile_function(p, f)->name).at; }

static stack_id stack_of(struct builder *b, const char *path)
{
    stack_id at = STACK_ROOT;
    while (*path) {
        size_t n = strcspn(path, ";");
        at = builder_push(b, at, builder_frame_named(b, (struct view){path, n}));
        path += n + (path[n] == ';');
    }
    return at;
}

static const struct method *method(const struct methods *m, const struct profile *p, const char *wanted)
{
    for (size_t i = 0; i < m->n; i++)
        if (!strcmp(name(p, m->rows[i].function), wanted))
            return &m->rows[i];
    printf("no method %s\n", wanted);
    check_failures++;
    return &m->rows[0];
}

static struct profile *finish(struct builder *b)
{
    struct profile *p = NULL;
    struct err e = {0};
    CHECK(builder_finish(b, &p, &e));
    return p;
}

/* Samples of the CPU, allocations and scopes, in one profile: 10 + 6 + 4 ms, 3 MB, and decode three times. */
static struct profile *rich_run(void)
{
    struct builder *b = builder_new();
    struct measure_spec cpu = {VIEW("cpu"), UNIT_NS};
    struct measure_spec heap[2] = {{VIEW("alloc_objects"), UNIT_COUNT}, {VIEW("alloc_space"), UNIT_BYTES}};
    set_id on = builder_set(b, VIEW("cpu"), &cpu, 1), of = builder_set(b, VIEW("heap"), heap, 2);
    static const struct {
        const char *path;
        int64_t ms;
    } samples[] = {{"main;decode;matmul", 10}, {"main;decode", 6}, {"[truncated];sample", 3}, {"main;[libx.so+0x12]", 1}};
    for (uint64_t i = 0; i < 4; i++) {
        int64_t ns = samples[i].ms * 1000000;
        builder_sample(b, on, i, CONTEXT_NONE, stack_of(b, samples[i].path), &ns);
    }
    builder_sample(b, of, 10, CONTEXT_NONE, stack_of(b, "main;decode"), (int64_t[]){2, 2000000});
    builder_sample(b, of, 11, CONTEXT_NONE, stack_of(b, "main;load"), (int64_t[]){1, 1000000});
    str_id decode = builder_string(b, VIEW("decode")), attend = builder_string(b, VIEW("attend"));
    span_id outer = builder_span(b, (struct span){.start_ns = 100, .length_ns = 50, .name = decode, .kind = SPAN_SCOPE});
    span_id middle = builder_span(b, (struct span){.start_ns = 110, .length_ns = 30, .name = attend, .parent = outer, .kind = SPAN_SCOPE});
    builder_span(b, (struct span){.start_ns = 115, .length_ns = 10, .name = decode, .parent = middle, .kind = SPAN_SCOPE});
    builder_span(b, (struct span){.start_ns = 200, .length_ns = TIME_NONE, .name = decode, .kind = SPAN_SCOPE});
    builder_span(b, (struct span){.start_ns = 200, .length_ns = 7, .name = decode, .kind = SPAN_REQUEST});
    builder_lost(b, on, VIEW("the ring was full"), 1);
    builder_lost(b, of, VIEW("of another set"), 100);
    return finish(b);
}

static void check_rich(void)
{
    own(profile) struct profile *p = rich_run();
    const struct sample_set *cpu = set_named(p, VIEW("cpu"));
    own(methods) struct methods m = methods_of(p, cpu, 0);
    CHECK_EQ(m.whole, 20000000);
    CHECK_EQ(m.bytes_whole, 3000000);
    CHECK(m.has_calls && m.has_bytes && m.has_extremes);
    const struct method *decode = method(&m, p, "decode"), *load = method(&m, p, "load"), *matmul = method(&m, p, "matmul");
    CHECK_EQ(decode->self, 6000000);
    CHECK_EQ(decode->total, 16000000);
    CHECK_EQ(decode->samples, 1);
    CHECK_EQ(decode->calls, 3);
    CHECK_EQ(decode->least_ns, 10);
    CHECK_EQ(decode->most_ns, 50);
    CHECK_EQ(decode->bytes, 2000000);
    CHECK_EQ(decode->allocations, 2);
    CHECK_EQ(method(&m, p, "main")->bytes_total, 3000000);
    CHECK_EQ(load->total, 0); /* it only allocated */
    CHECK_EQ(load->bytes, 1000000);
    CHECK_EQ(matmul->calls, METHOD_UNKNOWN); /* not zero */
    CHECK_EQ(matmul->bytes, METHOD_UNKNOWN);

    size_t n;
    own(free) size_t *by_self = methods_ranked(&m, p, METHODS_BY_SELF, &n);
    CHECK_EQ(n, 6); /* without load, which took no time */
    CHECK_STR(name(p, m.rows[by_self[0]].function), "matmul");
    own(free) size_t *by_bytes = methods_ranked(&m, p, METHODS_BY_BYTES, &n);
    CHECK_EQ(n, 3);
    CHECK_STR(name(p, m.rows[by_bytes[0]].function), "main");
    own(free) size_t *by_calls = methods_ranked(&m, p, METHODS_BY_CALLS, &n);
    CHECK_EQ(n, 1);
    CHECK_STR(name(p, m.rows[by_calls[0]].function), "decode");
}

static void check_quality(void)
{
    own(profile) struct profile *p = rich_run();
    struct quality q = quality_of(p, set_named(p, VIEW("cpu")), 0);
    CHECK_EQ(q.whole, 20000000);
    CHECK_EQ(q.cut, 3000000);
    CHECK_EQ(q.unnamed, 1000000);
    CHECK_EQ(q.lost, 1);
    CHECK_EQ(q.taken, 4);
    CHECK_EQ(llround(1e6 * quality_lost_share(&q)), 200000);
}

static void check_scopes(void)
{
    own(profile) struct profile *p = rich_run();
    own(scopes) struct scopes s = scopes_of(p);
    CHECK_EQ(s.n, 2);
    CHECK_STR(profile_string(p, s.rows[0].name).at, "decode");
    CHECK_EQ(s.rows[0].calls, 3);
    CHECK_EQ(s.rows[0].open, 1);
    CHECK_EQ(s.rows[0].total_ns, 50);      /* the inner one is in the outer one */
    CHECK_EQ(s.rows[0].self_ns, 20 + 10);  /* 50 without the 30 of attend, and the inner 10 */
    CHECK_EQ(s.rows[1].self_ns, 20);       /* 30 without the 10 within */
    CHECK_EQ(s.rows[1].total_ns, 30);
}

static void check_neighbours(void)
{
    own(profile) struct profile *p = rich_run();
    const struct sample_set *cpu = set_named(p, VIEW("cpu"));
    own(methods) struct methods m = methods_of(p, cpu, 0);
    own(call_graph) struct call_graph g = call_graph_of(p, cpu, 0);
    func_id asked[2] = {method(&m, p, "decode")->function, method(&m, p, "sample")->function};
    struct neighbours *rows = neighbours_of(&g, asked, 2);
    CHECK_EQ(rows[0].n_callers, 1);
    CHECK_STR(name(p, rows[0].callers[0].function), "main");
    CHECK_EQ(rows[0].callers[0].value, 16000000);
    CHECK_EQ(rows[0].callers[0].calls, CALLS_UNKNOWN);
    CHECK_EQ(rows[0].n_callees, 1);
    CHECK_EQ(rows[0].callees[0].value, 10000000);
    CHECK_EQ(rows[1].n_callees, 0);
    neighbours_free_all(rows, 2);
}

/* Against the roots of the score equation, worked out apart: |p - k/n| = z sqrt(p (1 - p) / n). */
static void check_intervals(void)
{
    static const double z = 2.5758293035489004;
    static const struct {
        double share, n;
    } rows[] = {{0.5, 100}, {0.01, 1000}, {0.25, 40}, {0.9, 1e6}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct interval v = share_interval(rows[i].share, rows[i].n);
        double ends[2] = {v.low, v.high};
        for (size_t k = 0; k < 2; k++)
            CHECK(fabs(fabs(ends[k] - rows[i].share) - z * sqrt(ends[k] * (1 - ends[k]) / rows[i].n)) < 1e-9);
        CHECK(v.low < rows[i].share && rows[i].share < v.high);
    }
    CHECK(share_interval(0, 100).low == 0);  /* none seen: not impossible */
    CHECK(share_interval(0, 100).high > 0.05);
    CHECK(share_interval(1, 100).high == 1);
    CHECK(isnan(share_interval(0.5, NAN).low));
    CHECK(isnan(share_interval(0.5, 0).low));
}

static void check_samples_behind(void)
{
    own(profile) struct profile *p = rich_run();
    const struct sample_set *cpu = set_named(p, VIEW("cpu"));
    CHECK(fabs(samples_behind(p, cpu, 0) - 400.0 / 146.0) < 1e-9); /* (10+6+3+1)^2 / (100+36+9+1) */
    CHECK(isnan(samples_behind(p, set_named(p, VIEW("heap")), 1)));
    CHECK(set_named(p, VIEW("gpu")) == NULL);
    CHECK_EQ(measure_named(p, cpu, VIEW("bytes")), 1);
}

int main(void)
{
    check_rich();
    check_quality();
    check_scopes();
    check_neighbours();
    check_intervals();
    check_samples_behind();
    return CHECK_DONE();
}
