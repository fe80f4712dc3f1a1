/* What spans say about samples of their thread. */
#include "check.h"
#include "model/builder.h"
#include "model/filter.h"
#include "model/span_labels.h"

static labels_id label(struct builder *b, const char *key, const char *text)
{
    struct label l = {.key = builder_string(b, view_of(key)), .text = builder_string(b, view_of(text))};
    return builder_labels(b, &l, 1);
}

static void span(struct builder *b, thread_id t, enum span_kind kind, uint64_t from, uint64_t to, labels_id labels)
{
    builder_span(b, (struct span){.start_ns = from, .length_ns = to == TIME_NONE ? TIME_NONE : to - from, .thread = t, .labels = labels,
                                  .kind = kind});
}

/* Two threads; on the first two phases with a hole between them, one request that never ends. */
static struct profile *sample_profile(void)
{
    struct builder *b = builder_new();
    process_id process = builder_process(b, 1, 0);
    thread_id one = builder_thread(b, process, 1), two = builder_thread(b, process, 2);
    span(b, one, SPAN_PHASE, 100, 200, label(b, "phase", "prefill"));
    span(b, one, SPAN_PHASE, 300, 400, label(b, "phase", "decode"));
    span(b, one, SPAN_REQUEST, 150, TIME_NONE, label(b, "request", "r-1"));
    span(b, one, SPAN_SCOPE, 0, 1000, label(b, "phase", "not a phase"));
    span(b, two, SPAN_PHASE, 0, 1000, label(b, "phase", "decode"));
    set_id cpu = builder_set(b, VIEW("cpu"), &(struct measure_spec){VIEW("cpu"), UNIT_NS, {0}, 0}, 1);
    stack_id stack = builder_push(b, STACK_ROOT, builder_frame_named(b, VIEW("main")));
    context_id first = builder_context(b, one, LABELS_NONE), second = builder_context(b, two, LABELS_NONE);
    context_id said = builder_context(b, one, label(b, "phase", "tokenize")); /* its own word counts more */
    static const uint64_t times[] = {50, 100, 199, 200, 350, 399, 400};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        builder_sample(b, cpu, times[i], first, stack, &(int64_t){1});
    builder_sample(b, cpu, 350, second, stack, &(int64_t){1});
    builder_sample(b, cpu, 350, said, stack, &(int64_t){1});
    builder_sample(b, cpu, TIME_NONE, first, stack, &(int64_t){1});
    struct profile *p = NULL;
    CHECK(builder_finish(b, &p, NULL));
    return p;
}

static size_t passing(const struct profile *p, struct filter f)
{
    own(profile) struct profile *part = NULL;
    CHECK(profile_filtered(p, &f, &part, NULL));
    return profile_set(part, (set_id){0})->n;
}

/* Counters that are read now and then: when says nothing, the scopes that a row knows do. */
static void check_readings(void)
{
    static const struct {
        const char *path, *phase;
        uint64_t read_at;
    } rows[] = {{"prefill", "prefill", 350}, {"serve > decode > attention", "decode", 150}, {"decode > prefill", "prefill", 350}, {"serve", "", 350}, {NULL, "", 150}};
    struct builder *b = builder_new();
    thread_id one = builder_thread(b, builder_process(b, 1, 0), 1);
    span(b, one, SPAN_PHASE, 100, 200, label(b, "phase", "prefill"));
    span(b, one, SPAN_PHASE, 300, 400, label(b, "phase", "decode"));
    span(b, one, SPAN_REQUEST, 100, 400, label(b, "request", "r-1"));
    set_id heap = builder_set(b, VIEW("heap"), &(struct measure_spec){VIEW("alloc_space"), UNIT_BYTES, {0}, 0}, 1);
    stack_id stack = builder_push(b, STACK_ROOT, builder_frame_named(b, VIEW("main")));
    labels_id labels[sizeof rows / sizeof *rows];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        labels[i] = rows[i].path ? label(b, "scope path", rows[i].path) : LABELS_NONE;
        builder_sample(b, heap, rows[i].read_at, builder_context(b, one, labels[i]), stack, &(int64_t){1});
    }
    own(profile) struct profile *p = NULL;
    CHECK(builder_finish(b, &p, NULL));
    own(span_labels) struct span_labels *s = span_labels_new(p);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(view_same(span_labels_phase(s, p, labels[i]), view_of(rows[i].phase)));
    CHECK_EQ(passing(p, (struct filter){.phases = (const char *const[]){"prefill", NULL}}), 2);
    CHECK_EQ(passing(p, (struct filter){.phases = (const char *const[]){"decode", NULL}}), 1);
    CHECK_EQ(passing(p, (struct filter){.phases = (const char *const[]){"*", NULL}}), 3); /* those in none are in none */
    CHECK_EQ(passing(p, (struct filter){.requests = (const char *const[]){"r-1", NULL}}), 0);
}

int main(void)
{
    own(profile) struct profile *p = sample_profile();
    CHECK_EQ(passing(p, (struct filter){.phases = (const char *const[]){"prefill", NULL}}), 2);
    CHECK_EQ(passing(p, (struct filter){.phases = (const char *const[]){"decode", NULL}}), 3);
    CHECK_EQ(passing(p, (struct filter){.phases = (const char *const[]){"tokenize", NULL}}), 1);
    CHECK_EQ(passing(p, (struct filter){.phases = (const char *const[]){"not a phase", NULL}}), 0);
    CHECK_EQ(passing(p, (struct filter){.requests = (const char *const[]){"r-1", NULL}}), 6);
    CHECK_EQ(passing(p, (struct filter){.requests = (const char *const[]){"r-1", NULL}, .phases = (const char *const[]){"decode", NULL}}), 2);
    CHECK_EQ(passing(p, (struct filter){.threads = (const char *const[]){"2", NULL}, .phases = (const char *const[]){"decode", NULL}}), 1);
    check_readings();
    own(span_labels) struct span_labels *s = span_labels_new(p);
    CHECK(s && !span_labels_at(s, SPAN_PHASE, (thread_id){1}, TIME_NONE).i && !span_labels_at(s, SPAN_SCOPE, (thread_id){1}, 100).i);
    return CHECK_DONE();
}
