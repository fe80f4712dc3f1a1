#include "base/base64.h"
#include "check.h"
#include "model/builder.h"
#include "render/flame_columns.h"
#include "render/flame_data.h"
#include "render/flame_samples.h"
#include "render/flame_tree.h"
#include "render/flame_who.h"

/* Letters. */

static void check_base64(void)
{
    static const struct {
        const char *plain, *letters;
    } rows[] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe\xfd", "//79"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        own(buf) struct buf b;
        buf_init(&b, 1000);
        struct sink out, bytes;
        struct base64 letters;
        struct err e = {0};
        sink_to_buf(&out, &b);
        base64_to(&letters, &bytes, &out);
        sink_puts(&bytes, rows[i].plain);
        CHECK(base64_end(&letters, &bytes, &e));
        CHECK(sink_flush(&out, &e));
        CHECK_STR(b.data, rows[i].letters);
    }
}

/* A profile with threads, phases and times whose truth is in this table. */

static const struct {
    const char *path[5];
    int32_t tid;
    const char *phase;
    uint64_t time_ns;
    int64_t value;
} rows[] = {
    {{"main", "prefill", "matmul"}, 1, "prefill", 1000, 30},
    {{"main", "decode", "matmul"}, 1, "decode", 2000, 40},
    {{"main", "decode"}, 1, "decode", 3000, 10},
    {{"worker", "matmul"}, 2, NULL, 5000, 20},
    {{"worker", "<script>"}, 2, NULL, 6000, -5}, /* cannot be drawn */
};
enum { ROWS = sizeof rows / sizeof *rows };

static context_id context_of(struct builder *b, size_t i)
{
    process_id proc = builder_process(b, 7, 0);
    thread_id thread = builder_thread(b, proc, rows[i].tid);
    builder_name_process(b, proc, VIEW("server"));
    builder_name_thread(b, thread, rows[i].tid == 1 ? VIEW("main") : VIEW("worker"));
    if (!rows[i].phase)
        return builder_context(b, thread, LABELS_NONE);
    struct label phase = {.key = builder_string(b, VIEW("phase")), .text = builder_string(b, view_of(rows[i].phase))};
    return builder_context(b, thread, builder_labels(b, &phase, 1));
}

static struct profile *small_run(bool with_times)
{
    struct builder *b = builder_new();
    static const struct measure_spec ns = {.name = {"cpu", 3}, .unit = UNIT_NS};
    set_id set = builder_set(b, VIEW("cpu"), &ns, 1);
    builder_show(b, set, 0, 10);
    for (size_t i = 0; i < ROWS; i++) {
        stack_id at = STACK_ROOT;
        for (size_t f = 0; f < 5 && rows[i].path[f]; f++)
            at = builder_push(b, at, builder_frame_named(b, view_of(rows[i].path[f])));
        builder_sample(b, set, with_times ? rows[i].time_ns : TIME_NONE, context_of(b, i), at, &rows[i].value);
    }
    struct profile *p = NULL;
    struct err e = {0};
    CHECK(builder_finish(b, &p, &e));
    return p;
}

static struct flame_side side_of(const struct profile *p)
{
    return (struct flame_side){"run", p, profile_set(p, (set_id){0}), 0};
}

static const char *function_name(const struct flame_tree *t, size_t node)
{
    return profile_string(t->names, profile_function(t->names, t->functions[t->function[node]])->name).at;
}

/* Depth first, the heaviest first; nothing of what weighs nothing. */
static void check_tree(void)
{
    static const struct {
        const char *name;
        uint32_t rise;
    } want[] = {{"main", 0}, {"decode", 0}, {"matmul", 0}, {"prefill", 2}, {"matmul", 0}, {"worker", 3}, {"matmul", 0}};
    own(profile) struct profile *p = small_run(false);
    struct flame_side side = side_of(p);
    own(flame_tree) struct flame_tree t;
    struct err e = {0};
    CHECK(flame_tree_of(&side, 1, &t, &e));
    CHECK_EQ(t.n, 8);
    for (size_t i = 0; i < t.n - 1; i++) {
        CHECK_STR(function_name(&t, i), want[i].name);
        CHECK_EQ(t.rise[i], want[i].rise);
    }
    CHECK_EQ(t.n_functions, 6); /* nobody's, main, decode, matmul, prefill, worker */
}

static void check_samples(bool with_times)
{
    own(profile) struct profile *p = small_run(with_times);
    struct flame_side side = side_of(p);
    own(flame_tree) struct flame_tree t;
    struct err e = {0};
    CHECK(flame_tree_of(&side, 1, &t, &e));
    own(flame_who) struct flame_who who;
    flame_who_of(&side, 1, &who);
    CHECK_EQ(who.n_threads, 2);
    CHECK_EQ(who.n_processes, 1);
    CHECK_EQ(who.phases.n, 3); /* nothing, prefill, decode */
    CHECK_EQ(who.threads[0].tid, 1);
    own(flame_samples) struct flame_samples s = flame_samples_of(&side, &t, 0, &who);
    CHECK_EQ(s.n, 4);
    CHECK_EQ(s.value_sum, 100);
    CHECK_EQ(s.count_sum, 10);
    CHECK(s.count_is_periods);
    CHECK_EQ(s.common_value, 0);
    CHECK_EQ(flame_samples_divisor(&s, 0), 10);
    CHECK_EQ(s.timed, with_times ? 4 : 0);
    /* In order of time, or of nodes. */
    static const uint32_t in_time[] = {5, 3, 2, 7}, in_tree[] = {2, 3, 5, 7};
    for (size_t i = 0; i < s.n; i++)
        CHECK_EQ(s.rows[i].node, (with_times ? in_time : in_tree)[i]);
    if (with_times)
        CHECK_EQ(s.rows[3].time_ns, 4000);
}

/* What ends in code without a name: none at all, or one made of its address. */
static void check_unresolved(void)
{
    static const struct {
        const char *leaf;
        int64_t value;
    } ends[] = {{"[libfoo.so+0x1230]", 3}, {"[unknown]", 2}, {"", 1}, {"[idle]", 50}, {"operator[]+0x1", 40}};
    struct builder *b = builder_new();
    static const struct measure_spec count = {.name = {"samples", 7}, .unit = UNIT_COUNT};
    set_id set = builder_set(b, VIEW("samples"), &count, 1);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        stack_id at = builder_push(b, STACK_ROOT, builder_frame_named(b, VIEW("main")));
        builder_sample(b, set, TIME_NONE, CONTEXT_NONE, builder_push(b, at, builder_frame_named(b, view_of(ends[i].leaf))), &ends[i].value);
    }
    own(profile) struct profile *p = NULL;
    struct err e = {0};
    CHECK(builder_finish(b, &p, &e));
    struct flame_side side = side_of(p);
    own(flame_tree) struct flame_tree t;
    CHECK(flame_tree_of(&side, 1, &t, &e));
    own(flame_who) struct flame_who who;
    flame_who_of(&side, 1, &who);
    own(flame_samples) struct flame_samples s = flame_samples_of(&side, &t, 0, &who);
    CHECK_EQ(s.unresolved_sum, 6);
    CHECK_EQ(s.value_sum, 96);
    CHECK(s.count_is_value);
}

/* Two profiles are one tree; a side that has nothing at a node says nothing about it. */
static void check_two_sides(void)
{
    own(profile) struct profile *a = small_run(false);
    own(profile) struct profile *b = small_run(true);
    struct flame_side sides[2] = {side_of(a), side_of(b)};
    own(flame_tree) struct flame_tree t;
    struct err e = {0};
    CHECK(flame_tree_of(sides, 2, &t, &e));
    CHECK_EQ(t.n, 8);
    own(flame_who) struct flame_who who;
    flame_who_of(sides, 2, &who);
    CHECK_EQ(who.n_threads, 2); /* the same names are the same threads */
    CHECK_EQ(who.threads[0].tid, 0);
}

/* Columns are as narrow as they can be, and begin at multiples of eight. */
static void check_columns(void)
{
    own(flame_columns) struct flame_columns c = {.n = 0};
    flame_column_numbers(&c, "a", (const uint32_t[]){1, 255}, 2);
    flame_column_numbers(&c, "b", (const uint32_t[]){1, 256}, 2);
    flame_column_large(&c, "c", (const uint64_t[]){1, UINT32_MAX}, 2);
    flame_column_large(&c, "d", (const uint64_t[]){1, (uint64_t)1 << 40}, 2);
    static const char *const types[] = {"u8", "u16", "u32", "f64"};
    for (size_t i = 0; i < 4; i++)
        CHECK_STR(c.rows[i].type, types[i]);
    own(buf) struct buf b;
    buf_init(&b, 1000);
    struct sink out;
    struct err e = {0};
    sink_to_buf(&out, &b);
    flame_columns_write(&c, &out);
    CHECK(sink_flush(&out, &e));
    CHECK_EQ(b.len, 8 + 8 + 8 + 16);
}

static void check_whole(void)
{
    own(profile) struct profile *p = small_run(true);
    own(buf) struct buf b;
    buf_init(&b, 100000);
    struct sink out;
    struct err e = {0};
    sink_to_buf(&out, &b);
    struct flame_input input = {.title = "a\x1b</script>", .before = side_of(p), .view = "invert=1"};
    CHECK(flame_data_write(&input, &out, &e));
    CHECK(sink_flush(&out, &e));
    CHECK(!memcmp(b.data, "INMF\1\0\0\0", 8));
    CHECK(memmem(b.data, b.len, "all\nmain\ndecode\nmatmul\nprefill\nworker", 38) != NULL);
    CHECK(memmem(b.data, b.len, "\x1b", 1) == NULL);
    CHECK_EQ(b.len % 8, 0);
}

int main(void)
{
    check_base64();
    check_columns();
    check_tree();
    check_samples(false);
    check_samples(true);
    check_unresolved();
    check_two_sides();
    check_whole();
    return CHECK_DONE();
}
