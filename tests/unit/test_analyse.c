#include "analyse/by_thread.h"
#include "analyse/call_tree.h"
#include "analyse/top.h"
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

int main(void)
{
    own(profile) struct profile *p = small_run();
    const struct sample_set *set = profile_set(p, (set_id){0});
    check_top(p, set);
    check_trees(p, set);
    check_threads(p, set);
    return CHECK_DONE();
}
