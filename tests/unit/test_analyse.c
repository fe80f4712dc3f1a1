#include "analyse/by_thread.h"
#include "analyse/call_tree.h"
#include "analyse/top.h"
#include "analyse/wait_times.h"
#include "check.h"
#include "model/builder.h"

/* main > eval > apply > eval > matmul is the case that breaks adding totals at every appearance. */
static const struct {
    const char *path[6];
    int32_t tid;
    int64_t value;
} rows[] = {
    {{"main", "eval", "apply", "eval", "matmul"}, 1, 10},
    {{"main", "eval"}, 1, 3},
    {{"main"}, 1, 1},
    {{"worker", "matmul"}, 2, 6},
    {{"worker"}, 2, 0},
};

static struct profile *small_run(void)
{
    struct builder *b = builder_new();
    static const struct measure_spec count = {.name = {"samples", 7}, .unit = UNIT_COUNT};
    set_id set = builder_set(b, VIEW("samples"), &count, 1);
    process_id proc = builder_process(b, 1, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        stack_id at = STACK_ROOT;
        for (size_t f = 0; f < 6 && rows[i].path[f]; f++)
            at = builder_push(b, at, builder_frame_named(b, view_of(rows[i].path[f])));
        context_id c = builder_context(b, builder_thread(b, proc, rows[i].tid), LABELS_NONE);
        builder_sample(b, set, TIME_NONE, c, at, &rows[i].value);
    }
    struct profile *p = NULL;
    struct err e = {0};
    CHECK(builder_finish(b, &p, &e));
    return p;
}

static const char *name(const struct profile *p, func_id f) { return profile_string(p, profile_function(p, f)->name).at; }

static void check_top(const struct profile *p, const struct sample_set *set)
{
    static const struct {
        const char *name;
        int64_t self, total;
    } want[] = {{"matmul", 16, 16}, {"eval", 3, 13}, {"main", 1, 14}, {"apply", 0, 10}, {"worker", 0, 6}};
    own(top) struct top t = top_of(p, set, 0, NULL, 0);
    top_sort(&t, p, TOP_BY_SELF);
    CHECK_EQ(t.whole, 20);
    CHECK_EQ(t.n, 5);
    int64_t selfs = 0;
    for (size_t i = 0; i < t.n; i++) {
        CHECK_STR(name(p, t.rows[i].function), want[i].name);
        CHECK_EQ(t.rows[i].self, want[i].self);
        CHECK_EQ(t.rows[i].total, want[i].total);
        selfs += t.rows[i].self;
    }
    CHECK_EQ(selfs, t.whole);
    top_sort(&t, p, TOP_BY_TOTAL);
    CHECK_STR(name(p, t.rows[1].function), "main");
    top_sort(&t, p, TOP_BY_NAME);
    CHECK_STR(name(p, t.rows[0].function), "apply");
}

/* In every tree, each node is its own value and those of its children, to the last one. */
static void check_sums(const struct call_tree *t)
{
    for (size_t i = 0; i < t->n; i++) {
        int64_t sum = t->nodes[i].self;
        for (uint32_t c = 0; c < t->nodes[i].n_children; c++)
            sum += t->nodes[call_tree_child(t, &t->nodes[i], c)].total;
        CHECK_EQ(sum, t->nodes[i].total);
    }
    CHECK_EQ(t->nodes[0].total, 20);
}

static void check_trees(const struct profile *p, const struct sample_set *set)
{
    own(call_tree) struct call_tree down = call_tree_of(p, set, 0, false);
    check_sums(&down);
    const struct call_node *main_node = &down.nodes[call_tree_child(&down, &down.nodes[0], 0)];
    CHECK_STR(name(p, main_node->function), "main");
    CHECK_EQ(main_node->total, 14);

    own(call_tree) struct call_tree up = call_tree_of(p, set, 0, true);
    check_sums(&up);
    const struct call_node *matmul = &up.nodes[call_tree_child(&up, &up.nodes[0], 0)];
    CHECK_STR(name(p, matmul->function), "matmul");
    CHECK_EQ(matmul->total, 16);
    CHECK_EQ(matmul->n_children, 2); /* eval 10, worker 6 */
    CHECK_EQ(up.nodes[call_tree_child(&up, matmul, 0)].total, 10);
}

static void check_threads(const struct profile *p, const struct sample_set *set)
{
    own(by_thread) struct by_thread t = by_thread_of(p, set, 0);
    CHECK_EQ(t.n, 2);
    CHECK_EQ(t.rows[0].total, 14);
    CHECK_EQ(t.rows[1].total, 6);
    CHECK_EQ(t.rows[1].n, 2);
    own(top) struct top worker = top_of(p, set, 0, t.rows[1].samples, t.rows[1].n);
    CHECK_EQ(worker.whole, 6);
    CHECK_EQ(worker.n, 2);
}

/* Two threads; the first runs 3 and waits 7 for two things, the second waits 2 and nobody said what for. */
static struct profile *waiting_run(void)
{
    struct builder *b = builder_new();
    struct measure_spec on = {VIEW("cpu"), UNIT_NS}, off = {VIEW("off-cpu"), UNIT_NS};
    set_id cpu = builder_set(b, VIEW("cpu"), &on, 1), waits = builder_set(b, VIEW("off-cpu"), &off, 1);
    process_id process = builder_process(b, 7, 0);
    thread_id one = builder_thread(b, process, 7), two = builder_thread(b, process, 8);
    stack_id stack = builder_push(b, STACK_ROOT, builder_frame_named(b, VIEW("main")));
    const struct {
        const char *wait;
        thread_id thread;
        int64_t ns;
    } waited[] = {{"lock", one, 1}, {"sleep", one, 4}, {"lock", one, 2}, {NULL, two, 2}};
    builder_sample(b, cpu, 1, builder_context(b, one, LABELS_NONE), stack, &(int64_t){3});
    for (size_t i = 0; i < sizeof waited / sizeof *waited; i++) {
        struct label l = {.key = builder_string(b, VIEW("wait")), .text = builder_string(b, view_of(waited[i].wait))};
        labels_id labels = waited[i].wait ? builder_labels(b, &l, 1) : LABELS_NONE;
        builder_sample(b, waits, i + 2, builder_context(b, waited[i].thread, labels), stack, &waited[i].ns);
    }
    struct profile *p = NULL;
    struct err e = {0};
    CHECK(builder_finish(b, &p, &e));
    return p;
}

static void check_waits(void)
{
    own(profile) struct profile *p = waiting_run();
    own(wait_times) struct wait_times w;
    CHECK(wait_times_of(p, &w));
    CHECK_EQ(w.on_ns, 3);
    CHECK_EQ(w.off_ns, 9);
    CHECK_EQ(w.n_waits, 3);
    CHECK_STR(w.waits[0].wait.at, "sleep");
    CHECK_STR(w.waits[1].wait.at, "lock");
    CHECK_EQ(w.waits[1].ns, 3);
    CHECK_EQ(w.waits[1].samples, 2);
    CHECK_STR(w.waits[2].wait.at, "unknown");
    CHECK_EQ(w.n_threads, 2);
    CHECK_EQ(w.threads[0].on_ns, 3);
    CHECK_EQ(w.threads[0].off_ns, 7);
    CHECK_STR(w.threads[0].most.at, "sleep");
    CHECK_EQ(w.threads[0].most_ns, 4);
    CHECK_EQ(w.threads[1].off_ns, 2);
    CHECK(wait_times_thread(&w, w.threads[1].thread) == &w.threads[1]);
    CHECK(!wait_times_thread(&w, THREAD_NONE));
}

static void check_no_waits(const struct profile *p)
{
    own(wait_times) struct wait_times w;
    CHECK(!wait_times_of(p, &w));
    CHECK_EQ(w.n_threads, 0);
}

int main(void)
{
    own(profile) struct profile *p = small_run();
    const struct sample_set *set = profile_set(p, (set_id){0});
    check_top(p, set);
    check_trees(p, set);
    check_threads(p, set);
    check_waits();
    check_no_waits(p);
    return CHECK_DONE();
}
