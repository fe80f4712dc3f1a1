#include "check.h"
#include "model/builder.h"
#include "model/weights.h"

static stack_id path(struct builder *b, const char *const *names)
{
    stack_id at = STACK_ROOT;
    for (; *names; names++)
        at = builder_push(b, at, builder_frame_named(b, view_of(*names)));
    return at;
}
#define PATH(b, ...) path(b, (const char *const[]){__VA_ARGS__, NULL})

static const struct measure_spec ns = {.name = {"cpu", 3}, .unit = UNIT_NS};

static struct profile *finished(struct builder *b)
{
    struct profile *p = NULL;
    struct err e = {0};
    CHECK(builder_finish(b, &p, &e));
    CHECK_STR(e.text, "");
    return p;
}

static void check_sums(void)
{
    struct builder *b = builder_new();
    set_id cpu = builder_set(b, VIEW("cpu"), &ns, 1);
    stack_id matmul = PATH(b, "main", "decode", "matmul");
    stack_id decode = PATH(b, "main", "decode");
    stack_id again = PATH(b, "main", "decode", "main", "decode");
    int64_t v[] = {9, 1, 5};
    builder_sample(b, cpu, TIME_NONE, CONTEXT_NONE, matmul, &v[0]);
    builder_sample(b, cpu, TIME_NONE, CONTEXT_NONE, decode, &v[1]);
    builder_sample(b, cpu, TIME_NONE, CONTEXT_NONE, again, &v[2]);
    own(profile) struct profile *p = finished(b);

    const struct sample_set *s = profile_set(p, cpu);
    CHECK_EQ(s->n, 3);
    CHECK_EQ(s->measures[0].total, 15);
    CHECK(!s->time_ns && !s->contexts);
    own(weights) struct weights w = weights_of(p, s, 0);
    CHECK_EQ(w.self[decode.i], 1);
    CHECK_EQ(w.total[decode.i], 15);
    CHECK_EQ(w.total[matmul.i], 9);
    CHECK_EQ(w.total[STACK_ROOT.i], 15);
    CHECK_EQ(profile_frames(p), 4); /* none, main, decode, matmul: recursion makes stacks, not frames */
}

/* A million samples of three stacks take the room of three, and the sums are those of the million. */
static void check_adding_up(void)
{
    enum { SAMPLES = 1000000, STACKS = 3 };
    struct builder *b = builder_new();
    set_id cpu = builder_set(b, VIEW("cpu"), &ns, 1);
    stack_id stacks[STACKS] = {PATH(b, "main", "decode"), PATH(b, "main"), PATH(b, "main", "decode", "matmul")};
    context_id who = builder_context(b, builder_thread(b, builder_process(b, 7, 0), 8), LABELS_NONE);
    builder_add_up(b);
    for (int64_t i = 1; i <= SAMPLES; i++)
        builder_sample(b, cpu, (uint64_t)i, who, stacks[i % STACKS], &i);
    own(profile) struct profile *p = finished(b);
    const struct sample_set *s = profile_set(p, cpu);
    CHECK_EQ(s->n, STACKS);
    CHECK(!s->time_ns && !s->contexts);
    CHECK_EQ(s->measures[0].total, INT64_C(500000500000));
    own(weights) struct weights w = weights_of(p, s, 0);
    CHECK_EQ(w.self[stacks[0].i], INT64_C(166666833333)); /* 3 + 6 + ... + 999 999 */
    CHECK_EQ(w.self[stacks[1].i], INT64_C(166667166667)); /* 1 + 4 + ... + 1 000 000 */
    CHECK(profile_held_bytes(p) < 16384);
}

static void check_whole_stacks(void)
{
    struct builder *b = builder_new();
    frame_id f[5];
    char name[2] = "a";
    for (size_t i = 0; i < 5; i++, name[0]++)
        f[i] = builder_frame_named(b, view_of(name));
    stack_id abc = builder_stack(b, (frame_id[]){f[0], f[1], f[2]}, 3);
    stack_id abd = builder_stack(b, (frame_id[]){f[0], f[1], f[3]}, 3);
    stack_id ab = builder_stack(b, (frame_id[]){f[0], f[1]}, 2);
    CHECK_EQ(builder_stack(b, (frame_id[]){f[0], f[1], f[2]}, 3).i, abc.i);
    CHECK_EQ(PATH(b, "a", "b", "c").i, abc.i);
    CHECK_EQ(PATH(b, "a", "b", "d").i, abd.i);
    CHECK_EQ(PATH(b, "a", "b").i, ab.i);
    CHECK_EQ(builder_stack(b, NULL, 0).i, STACK_ROOT.i);
    own(profile) struct profile *p = finished(b);
    CHECK_EQ(profile_stacks(p), 5);
}

static void check_time_order(void)
{
    struct builder *b = builder_new();
    set_id cpu = builder_set(b, VIEW("cpu"), &ns, 1);
    thread_id t = builder_thread(b, builder_process(b, 7, 0), 8);
    context_id on_t = builder_context(b, t, LABELS_NONE);
    stack_id s = PATH(b, "f");
    int64_t v[] = {1, 2, 3, 4};
    builder_sample(b, cpu, TIME_NONE, CONTEXT_NONE, s, &v[0]);
    builder_sample(b, cpu, 30, on_t, s, &v[1]);
    builder_sample(b, cpu, 10, CONTEXT_NONE, s, &v[2]);
    builder_sample(b, cpu, 30, CONTEXT_NONE, s, &v[3]);
    span_id inner = builder_span(b, (struct span){.start_ns = 20, .length_ns = 5});
    span_id outer = builder_span(b, (struct span){.start_ns = 20, .length_ns = 9});
    builder_span_relate(b, inner, outer, (span_id){0});
    series_id rss = builder_series(b, VIEW("rss"), UNIT_BYTES, VIEW(""), LABELS_NONE);
    builder_reading(b, rss, 50, 2);
    builder_reading(b, rss, 40, 1);
    own(profile) struct profile *p = finished(b);

    const struct sample_set *set = profile_set(p, cpu);
    static const int64_t want[] = {3, 2, 4, 1};
    for (size_t i = 0; i < 4; i++)
        CHECK_EQ(set->values[0][i], want[i]);
    CHECK_EQ(set->contexts[1].i, on_t.i);
    CHECK(set->time_ns[3] == TIME_NONE);
    CHECK_EQ(profile_spans(p), 2);
    CHECK_EQ(profile_span(p, (span_id){1})->length_ns, 9);
    CHECK_EQ(profile_span(p, (span_id){2})->parent.i, 1);
    CHECK(profile_series(p, rss)->readings[0].value == 1);
    CHECK_EQ(profile_start_ns(p), 10);
    CHECK_EQ(profile_end_ns(p), 50);
}

static void check_names_and_labels(void)
{
    struct builder *b = builder_new();
    CHECK_EQ(builder_string(b, VIEW("")).i, 0);
    str_id with_nul = builder_string(b, VIEW("a\0b"));
    CHECK(with_nul.i != builder_string(b, VIEW("a")).i);
    struct label request = {.key = builder_string(b, VIEW("request")), .text = builder_string(b, VIEW("42"))};
    struct label tokens = {.key = builder_string(b, VIEW("tokens")), .number = 7};
    labels_id one = builder_labels(b, (struct label[]){request, tokens}, 2);
    labels_id same = builder_labels(b, (struct label[]){tokens, request}, 2);
    CHECK_EQ(one.i, same.i);
    CHECK(one.i != builder_labels(b, &request, 1).i);
    process_id proc = builder_process(b, 100, 5);
    CHECK_EQ(builder_process(b, 100, 5).i, proc.i);
    CHECK(builder_process(b, 100, 6).i != proc.i); /* the same number, born later: another process */
    builder_name_process(b, proc, VIEW("llama-server"));
    builder_fact(b, VIEW("machine.cpu"), VIEW("first"));
    builder_fact(b, VIEW("machine.cpu"), VIEW("second"));
    set_id cpu = builder_set(b, VIEW("cpu"), &ns, 1);
    builder_lost(b, cpu, VIEW("ring full"), 3);
    builder_lost(b, cpu, VIEW("ring full"), 4);
    builder_lost(b, cpu, VIEW("other"), 0);
    own(profile) struct profile *p = finished(b);

    CHECK_EQ(profile_string(p, with_nul).n, 3);
    CHECK_STR(profile_string(p, profile_label(p, one, VIEW("request"))->text).at, "42");
    CHECK_EQ(profile_label(p, one, VIEW("tokens"))->number, 7);
    CHECK(!profile_label(p, one, VIEW("phase")));
    CHECK_STR(profile_string(p, profile_process(p, proc)->name).at, "llama-server");
    CHECK_EQ(profile_facts(p), 1);
    CHECK_STR(profile_string(p, profile_fact_named(p, VIEW("machine.cpu"))->value).at, "second");
    CHECK(!profile_fact_named(p, VIEW("nothing")));
    CHECK_EQ(profile_losses(p), 1);
    CHECK_EQ(profile_loss(p, 0)->count, 7);
    CHECK(profile_held_bytes(p) > 1000);
}

static void check_overflow(void)
{
    struct builder *b = builder_new();
    set_id cpu = builder_set(b, VIEW("cpu"), &ns, 1);
    int64_t large = INT64_MAX, one = 1;
    builder_sample(b, cpu, TIME_NONE, CONTEXT_NONE, STACK_ROOT, &large);
    builder_sample(b, cpu, TIME_NONE, CONTEXT_NONE, STACK_ROOT, &one);
    struct profile *p = NULL;
    struct err e = {0};
    CHECK(!builder_finish(b, &p, &e));
    CHECK_EQ(e.kind, ERR_LIMIT);
    CHECK_STR(e.text, "the values of 'cpu' add up past 2^63");
    CHECK(!p);
}

static void check_decimals(void)
{
    struct builder *b = builder_new();
    static const struct measure_spec count = {.name = {"samples", 7}, .unit = UNIT_COUNT};
    set_id set = builder_set(b, VIEW("samples"), &count, 1);
    int64_t v = 3;
    builder_sample(b, set, TIME_NONE, CONTEXT_NONE, STACK_ROOT, &v);
    builder_set_decimals(b, set, 0, 2);
    v = 50;
    builder_sample(b, set, TIME_NONE, CONTEXT_NONE, STACK_ROOT, &v);
    own(profile) struct profile *p = finished(b);
    CHECK_EQ(profile_set(p, set)->measures[0].total, 350);
    CHECK_EQ(profile_set(p, set)->measures[0].decimals, 2);
    CHECK_EQ(profile_set(p, set)->values[0][0], 300);
}

static struct profile *small_run(int64_t value, uint64_t time_ns, int64_t wall_ns, unsigned decimals)
{
    struct builder *b = builder_new();
    struct measure_spec m = {.name = VIEW("cpu"), .unit = UNIT_COUNT, .decimals = decimals};
    set_id cpu = builder_set(b, VIEW("cpu"), &m, 1);
    builder_show(b, cpu, 0, 1000);
    thread_id t = builder_thread(b, builder_process(b, 1, 0), 2);
    builder_name_thread(b, t, VIEW("worker"));
    struct label l = {.key = builder_string(b, VIEW("phase")), .text = builder_string(b, VIEW("decode"))};
    context_id c = builder_context(b, t, builder_labels(b, &l, 1));
    builder_sample(b, cpu, time_ns, c, PATH(b, "main", "decode"), &value);
    span_id s = builder_span(b, (struct span){.start_ns = time_ns, .length_ns = 1, .thread = t});
    builder_span(b, (struct span){.start_ns = time_ns + 2, .length_ns = 1, .link = s});
    series_id r = builder_series(b, VIEW("rss"), UNIT_BYTES, VIEW(""), LABELS_NONE);
    builder_reading(b, r, time_ns, 4096);
    builder_fact(b, VIEW("command"), VIEW("x"));
    builder_lost(b, cpu, VIEW("ring"), 1);
    builder_damage(b, VIEW("a hole"));
    builder_clock(b, time_ns, time_ns + 10, wall_ns);
    return finished(b);
}

static void check_merge(void)
{
    own(profile) struct profile *first = small_run(3, 1000, 500, 0);
    own(profile) struct profile *second = small_run(45, 100, 5000, 1); /* 4.5, on another clock */
    struct builder *b = builder_new();
    builder_merge(b, first);
    builder_merge(b, second);
    own(profile) struct profile *p = finished(b);

    const struct sample_set *s = profile_set(p, (set_id){0});
    CHECK_EQ(profile_sets(p), 1);
    CHECK_EQ(s->n, 2);
    CHECK_EQ(s->measures[0].total, 75); /* 3 + 4.5, with one decimal */
    CHECK_EQ(s->time_ns[0], 1000);
    CHECK_EQ(s->time_ns[1], 100 + 5000 - 500);
    CHECK_EQ(s->stacks[0].i, s->stacks[1].i);
    CHECK_EQ(s->contexts[0].i, s->contexts[1].i);
    CHECK_EQ(s->period, 1000);
    CHECK_EQ(profile_spans(p), 4);
    CHECK_EQ(profile_span(p, (span_id){2})->link.i, 1);
    CHECK_EQ(profile_span(p, (span_id){4})->link.i, 3);
    CHECK_EQ(profile_series(p, (series_id){0})->n, 2);
    CHECK_EQ(profile_loss(p, 0)->count, 2);
    CHECK_EQ(profile_damages(p), 2);
    CHECK_EQ(profile_start_ns(p), 1000);
    CHECK_EQ(profile_end_ns(p), 4610);
    CHECK_EQ(profile_wall_offset_ns(p), 500);
}

int main(void)
{
    check_sums();
    check_adding_up();
    check_whole_stacks();
    check_time_order();
    check_names_and_labels();
    check_overflow();
    check_decimals();
    check_merge();
    return CHECK_DONE();
}
