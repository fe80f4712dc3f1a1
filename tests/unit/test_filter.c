#include "check.h"
#include "model/builder.h"
#include "model/filter.h"
#include "model/weights.h"

/*
 * One small run:                      module      thread   phase     ms   at
 *     main > decode > matmul          app         main     decode    70   10
 *     main > decode > memcpy          libc.so.6   main     decode    10   20
 *     main > tokenize                 app         main     tokenize  15   30
 *     start_thread > worker           libc, app   pool-1   -          5   40
 */
static const struct {
    const char *path[4];
    const char *modules[4];
    const char *thread, *phase;
    int64_t value;
    uint64_t at;
} rows[] = {
    {{"main", "decode", "matmul"}, {"/opt/app", "/opt/app", "/opt/app"}, "main", "decode", 70, 10},
    {{"main", "decode", "memcpy"}, {"/opt/app", "/opt/app", "/lib/libc.so.6"}, "main", "decode", 10, 20},
    {{"main", "tokenize"}, {"/opt/app", "/opt/app"}, "main", "tokenize", 15, 30},
    {{"start_thread", "worker"}, {"/lib/libc.so.6", "/opt/app"}, "pool-1", NULL, 5, 40},
};

static frame_id frame(struct builder *b, const char *name, const char *module)
{
    mapping_id m = builder_mapping(b, (struct mapping){.path = builder_string(b, view_of(module))});
    func_id f = builder_function(b, (struct function){.name = builder_string(b, view_of(name)), .mapping = m});
    return builder_frame(b, (struct frame){.function = f});
}

static struct profile *small_run(void)
{
    struct builder *b = builder_new();
    static const struct measure_spec ms = {.name = {"cpu", 3}, .unit = UNIT_NS};
    set_id cpu = builder_set(b, VIEW("cpu"), &ms, 1);
    process_id app = builder_process(b, 100, 0);
    builder_name_process(b, app, VIEW("app"));
    series_id rss = builder_series(b, VIEW("rss"), UNIT_BYTES, VIEW(""), LABELS_NONE);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        stack_id at = STACK_ROOT;
        for (size_t f = 0; f < 4 && rows[i].path[f]; f++)
            at = builder_push(b, at, frame(b, rows[i].path[f], rows[i].modules[f]));
        thread_id t = builder_thread(b, app, rows[i].thread[0] == 'm' ? 100 : 101);
        builder_name_thread(b, t, view_of(rows[i].thread));
        struct label phase = {.key = builder_string(b, VIEW("phase")), .text = builder_string(b, view_of(rows[i].phase))};
        struct label request = {.key = builder_string(b, VIEW("request")), .number = (int64_t)i + 1};
        labels_id labels = rows[i].phase ? builder_labels(b, (struct label[]){phase, request}, 2) : LABELS_NONE;
        builder_sample(b, cpu, rows[i].at, builder_context(b, t, labels), at, &rows[i].value);
        builder_span(b, (struct span){.start_ns = rows[i].at, .length_ns = 5, .thread = t, .labels = labels});
        builder_reading(b, rss, rows[i].at, 1);
    }
    builder_lost(b, cpu, VIEW("ring"), 3);
    builder_fact(b, VIEW("command"), VIEW("app"));
    builder_clock(b, 0, 50, 1000);
    struct profile *p = NULL;
    struct err e = {0};
    CHECK(builder_finish(b, &p, &e));
    return p;
}

#define LIST_OF(...) ((const char *const[]){__VA_ARGS__, NULL})

static int64_t total(const struct profile *p) { return profile_set(p, (set_id){0})->measures[0].total; }

static struct profile *filtered(const struct profile *p, struct filter f)
{
    struct profile *out = NULL;
    struct err e = {0};
    CHECK(profile_filtered(p, &f, &out, &e));
    return out;
}

static void check_selecting(const struct profile *p)
{
    const struct {
        const char *what;
        struct filter f;
        int64_t total;
        size_t spans;
    } cases[] = {
        {"nothing asked", {0}, 100, 4},
        {"a thread by name", {.threads = LIST_OF("pool-1")}, 5, 1},
        {"a thread by pattern", {.threads = LIST_OF("pool-*")}, 5, 1},
        {"a thread by number", {.threads = LIST_OF("100")}, 95, 3},
        {"two threads", {.threads = LIST_OF("main", "pool-1")}, 100, 4},
        {"no such thread", {.threads = LIST_OF("x")}, 0, 0},
        {"a process by name", {.processes = LIST_OF("app")}, 100, 4},
        {"a process by number", {.processes = LIST_OF("7")}, 0, 0},
        {"a phase", {.phases = LIST_OF("decode")}, 80, 2},
        {"a request by number", {.requests = LIST_OF("3")}, 15, 1},
        {"a time range", {.from_ns = 20, .to_ns = 40}, 25, 2},
        {"an open time range", {.from_ns = 30}, 20, 2},
        {"include a function", {.include = LIST_OF("decode")}, 80, 4},
        {"exclude a function", {.exclude = LIST_OF("decode")}, 20, 4},
        {"include a module", {.include = LIST_OF("libc*")}, 15, 4},
        {"exclude a module", {.exclude = LIST_OF("libc*")}, 85, 4},
        {"include a module's path", {.include = LIST_OF("/lib/*")}, 15, 4},
        {"include, then exclude", {.include = LIST_OF("main"), .exclude = LIST_OF("tokenize")}, 80, 4},
        {"hide keeps the total", {.hide = LIST_OF("decode", "mat*")}, 100, 4},
        {"hide all", {.hide = LIST_OF("*")}, 100, 4},
        {"hide the system", {.hide_system = true}, 100, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        printf("%s\n", cases[i].what);
        own(profile) struct profile *q = filtered(p, cases[i].f);
        CHECK_EQ(total(q), cases[i].total);
        CHECK_EQ(profile_spans(q), cases[i].spans);
        CHECK_EQ(profile_losses(q), 1);
        CHECK_EQ(filter_is_empty(&cases[i].f), i == 0);
    }
}

/* Self value of the only stack that ends in this function; -1 when none does. */
static int64_t self_of(const struct profile *p, const char *name)
{
    own(weights) struct weights w = weights_of(p, profile_set(p, (set_id){0}), 0);
    for (uint32_t s = 1; s < profile_stacks(p); s++)
        if (w.self[s] && view_same(profile_frame_name(p, profile_stack(p, (stack_id){s})->frame), view_of(name)))
            return w.self[s];
    return -1;
}

static void check_hiding(const struct profile *p)
{
    own(profile) struct profile *without_libc = filtered(p, (struct filter){.hide_system = true});
    CHECK_EQ(self_of(without_libc, "decode"), 10); /* memcpy's time */
    CHECK_EQ(self_of(without_libc, "worker"), 5);
    CHECK_EQ(self_of(without_libc, "memcpy"), -1);
    for (uint32_t f = 1; f < profile_frames(without_libc); f++)
        CHECK(!frame_is_system(without_libc, (frame_id){f}));

    own(profile) struct profile *nothing = filtered(p, (struct filter){.hide = LIST_OF("*")});
    CHECK_EQ(self_of(nothing, "[hidden]"), 100);
}

static void check_time(const struct profile *p)
{
    own(profile) struct profile *late = filtered(p, (struct filter){.from_ns = 20, .to_ns = 40});
    const struct series *s = profile_series(late, (series_id){0});
    CHECK_EQ(s->n, 2);
    CHECK_EQ(s->readings[0].time_ns, 20);
    CHECK_EQ(profile_wall_offset_ns(late), 1000);
}

int main(void)
{
    own(profile) struct profile *p = small_run();
    check_selecting(p);
    check_hiding(p);
    check_time(p);
    return CHECK_DONE();
}
