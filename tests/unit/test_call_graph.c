/*
 * Random stacks whose answer is also found the slow way: every sample looked at on its
 * own, every pair of nodes asked whether one reaches the other.
 */
#include "analyse/graph_changes.h"
#include "analyse/graph_cut.h"
#include "base/mem.h"
#include "check.h"
#include "model/counted_calls.h"

enum { FUNCTIONS = 12, DEPTH = 9, SAMPLES = 60 };

struct plain {
    int stacks[SAMPLES][DEPTH];
    int depth[SAMPLES];
    int64_t values[SAMPLES];
};

static uint64_t seed = 1;

static unsigned below(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static void make_plain(struct plain *x)
{
    unsigned functions = 2 + below(FUNCTIONS - 1);
    for (int i = 0; i < SAMPLES; i++) {
        x->depth[i] = 1 + (int)below(DEPTH);
        for (int d = 0; d < x->depth[i]; d++)
            x->stacks[i][d] = (int)below(functions);
        x->values[i] = 1 + below(100);
    }
}

/* Two lines for each function: a graph does not tell them apart. */
static struct profile *profile_of(const struct plain *x)
{
    static const struct measure_spec spec = {.name = {"samples", 7}};
    struct builder *b = builder_new();
    set_id set = builder_set(b, VIEW("samples"), &spec, 1);
    for (int i = 0; i < SAMPLES; i++) {
        stack_id s = STACK_ROOT;
        for (int d = 0; d < x->depth[i]; d++) {
            char name[2] = {(char)('a' + x->stacks[i][d]), '\0'};
            func_id f = builder_function(b, (struct function){.name = builder_string(b, view_of(name))});
            s = builder_push(b, s, builder_frame(b, (struct frame){.function = f, .line = 1 + below(2)}));
        }
        builder_sample(b, set, TIME_NONE, CONTEXT_NONE, s, &x->values[i]);
    }
    struct profile *p = NULL;
    CHECK(builder_finish(b, &p, NULL));
    return p;
}

static int letter(const struct profile *p, const struct call_graph *g, uint32_t node)
{
    return profile_string(p, profile_function(p, g->nodes[node].function)->name).at[0] - 'a';
}

static bool calls(const struct plain *x, int sample, int caller, int callee)
{
    for (int d = 1; d < x->depth[sample]; d++)
        if (x->stacks[sample][d - 1] == caller && x->stacks[sample][d] == callee)
            return true;
    return false;
}

static bool is_on(const struct plain *x, int sample, int function)
{
    for (int d = 0; d < x->depth[sample]; d++)
        if (x->stacks[sample][d] == function)
            return true;
    return false;
}

static int64_t total_of(const struct plain *x, int f)
{
    int64_t total = 0;
    for (int i = 0; i < SAMPLES; i++)
        total += is_on(x, i, f) ? x->values[i] : 0;
    return total;
}

static int64_t edge_of(const struct plain *x, int a, int b)
{
    int64_t total = 0;
    for (int i = 0; i < SAMPLES; i++)
        total += calls(x, i, a, b) ? x->values[i] : 0;
    return total;
}

static void check_nodes(const struct plain *x, const struct profile *p, const struct call_graph *g)
{
    int64_t whole = 0;
    for (uint32_t n = 0; n < g->n_nodes; n++) {
        int f = letter(p, g, n);
        int64_t self = 0;
        for (int i = 0; i < SAMPLES; i++)
            self += x->stacks[i][x->depth[i] - 1] == f ? x->values[i] : 0;
        CHECK_EQ(g->nodes[n].self, self);
        CHECK_EQ(g->nodes[n].total, total_of(x, f));
        CHECK_EQ(g->nodes[n].calls, CALLS_UNKNOWN);
        whole += self;
    }
    CHECK_EQ(g->whole, whole);
}

static void check_edges(const struct plain *x, const struct profile *p, const struct call_graph *g)
{
    size_t there = 0;
    for (int a = 0; a < FUNCTIONS; a++)
        for (int b = 0; b < FUNCTIONS; b++) {
            int64_t value = edge_of(x, a, b), got = 0;
            for (uint32_t k = 0; k < g->n_edges; k++)
                if (letter(p, g, g->edges[k].caller) == a && letter(p, g, g->edges[k].callee) == b)
                    got += g->edges[k].value;
            CHECK_EQ(got, value);
            there += value > 0;
        }
    CHECK_EQ(g->n_edges, there);
}

/* Who reaches whom, by trying all paths. */
static void check_cycles(const struct call_graph *g, const struct graph_cut *c)
{
    bool reaches[FUNCTIONS][FUNCTIONS] = {0};
    for (size_t i = 0; i < c->n_edges; i++)
        reaches[c->place[g->edges[c->edges[i]].caller] - 1][c->place[g->edges[c->edges[i]].callee] - 1] = true;
    for (size_t k = 0; k < c->n_nodes; k++)
        for (size_t a = 0; a < c->n_nodes; a++)
            for (size_t b = 0; b < c->n_nodes; b++)
                reaches[a][b] |= reaches[a][k] && reaches[k][b];
    for (size_t a = 0; a < c->n_nodes; a++) {
        bool is_in_one = false;
        for (size_t b = 0; b < c->n_nodes; b++) {
            bool together = a != b && reaches[a][b] && reaches[b][a];
            is_in_one |= together;
            if (together)
                CHECK_EQ(c->cycle[a], c->cycle[b]);
            else if (a != b && c->cycle[a])
                CHECK(c->cycle[a] != c->cycle[b]);
        }
        CHECK_EQ(c->cycle[a] > 0, is_in_one);
    }
}

static bool has_node(const struct graph_cut *c, uint32_t node) { return c->place[node] > 0; }

/* What is shown passes; what is heavier than something shown is shown; less is asked, nothing goes. */
static void check_cut(const struct profile *p, const struct call_graph *g, double share, size_t most)
{
    struct graph_limits l = {.node_share = share, .edge_share = share / 5, .most_nodes = most};
    struct graph_limits lower = {.node_share = share / 2, .edge_share = share / 10, .most_nodes = most};
    own(graph_cut) struct graph_cut c = graph_cut_of(g, p, &l);
    own(graph_cut) struct graph_cut more = graph_cut_of(g, p, &lower);
    CHECK(!most || c.n_nodes <= most);
    CHECK_EQ(c.n_nodes + c.small_nodes + c.many_nodes, g->n_nodes);
    for (uint32_t n = 0; n < g->n_nodes; n++) {
        if (has_node(&c, n))
            CHECK((double)g->nodes[n].total >= share * (double)g->whole && has_node(&more, n));
        else if (c.n_nodes && !most)
            CHECK((double)g->nodes[n].total < share * (double)g->whole);
    }
    for (size_t i = 1; i < c.n_nodes; i++)
        CHECK(g->nodes[c.nodes[i - 1]].total >= g->nodes[c.nodes[i]].total);
    for (size_t i = 0; i < c.n_edges; i++)
        CHECK((double)g->edges[c.edges[i]].value >= share / 5 * (double)g->whole);
    check_cycles(g, &c);
    check_cycles(g, &more);
}

static void check_random(void)
{
    struct plain x;
    make_plain(&x);
    own(profile) struct profile *p = profile_of(&x);
    own(call_graph) struct call_graph g = call_graph_of(p, profile_set(p, (set_id){0}), 0);
    check_nodes(&x, p, &g);
    check_edges(&x, p, &g);
    check_cut(p, &g, 0, 0);
    check_cut(p, &g, 0.1 * below(10), below(FUNCTIONS));
}

/* Both sides of every node and edge are what each profile has on its own. */
static void check_difference(void)
{
    struct plain x[2];
    make_plain(&x[0]);
    make_plain(&x[1]);
    own(profile) struct profile *before = profile_of(&x[0]);
    own(profile) struct profile *after = profile_of(&x[1]);
    own(difference) struct difference d = {0};
    CHECK(difference_of((struct difference_side){before, profile_set(before, (set_id){0}), 0},
                        (struct difference_side){after, profile_set(after, (set_id){0}), 0}, DIFFERENCE_BY_VALUE, false, &d, NULL));
    own(graph_changes) struct graph_changes c;
    own(call_graph) struct call_graph g = graph_of_difference(&d, &c);
    CHECK_EQ(c.n_nodes, g.n_nodes);
    CHECK_EQ(c.n_edges, g.n_edges);
    for (uint32_t n = 0; n < g.n_nodes; n++) {
        CHECK_EQ(c.total[n].before.value, total_of(&x[0], letter(d.p, &g, n)));
        CHECK_EQ(c.total[n].after.value, total_of(&x[1], letter(d.p, &g, n)));
    }
    for (uint32_t k = 0; k < g.n_edges; k++) {
        int a = letter(d.p, &g, g.edges[k].caller), b = letter(d.p, &g, g.edges[k].callee);
        CHECK_EQ(c.edges[k].before.value, edge_of(&x[0], a, b));
        CHECK_EQ(c.edges[k].after.value, edge_of(&x[1], a, b));
    }
}

/* 5 000 stacks of up to 4 000 frames that turn in three functions. */
static void check_deep(void)
{
    static const struct measure_spec spec = {.name = {"samples", 7}};
    struct builder *b = builder_new();
    set_id set = builder_set(b, VIEW("samples"), &spec, 1);
    frame_id f[3] = {builder_frame_named(b, VIEW("eval")), builder_frame_named(b, VIEW("apply")),
                     builder_frame_named(b, VIEW("list"))};
    stack_id s = STACK_ROOT;
    int64_t one = 1;
    for (unsigned i = 0; i < 5000; i++) {
        s = builder_push(b, i % 4000 ? s : STACK_ROOT, f[i % 3]);
        builder_sample(b, set, TIME_NONE, CONTEXT_NONE, s, &one);
    }
    own(profile) struct profile *p = NULL;
    CHECK(builder_finish(b, &p, NULL));
    own(call_graph) struct call_graph g = call_graph_of(p, profile_set(p, set), 0);
    own(graph_cut) struct graph_cut c = graph_cut_of(&g, p, &(struct graph_limits){0});
    CHECK_EQ(g.n_nodes, 3);
    CHECK_EQ(g.n_edges, 3);
    /* 4 000 stacks begin with eval and 1 000 with apply; what comes later on a stack is missing in the shortest. */
    CHECK_EQ(g.nodes[0].total, 4000 + 998);
    CHECK_EQ(g.nodes[1].total, 3999 + 1000);
    CHECK_EQ(g.nodes[2].total, 3998 + 999);
    CHECK_EQ(g.edges[0].value, 3999 + 997); /* eval > apply: 1 333 times on the longest stack, paid once */
    CHECK_EQ(g.nodes[0].self + g.nodes[1].self + g.nodes[2].self, 5000);
    CHECK_EQ(c.n_cycles, 1);
}

/* A chain and a ring as long as they come: no stack of the machine's would hold them. */
static void check_long(bool is_ring)
{
    enum { LONG = 300000 };
    static const struct measure_spec spec = {.name = {"samples", 7}};
    struct builder *b = builder_new();
    set_id set = builder_set(b, VIEW("samples"), &spec, 1);
    stack_id s = STACK_ROOT;
    int64_t one = 1;
    for (unsigned i = 0; i < (unsigned)LONG + is_ring; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%u", i % LONG);
        s = builder_push(b, s, builder_frame_named(b, view_of(name)));
    }
    builder_sample(b, set, TIME_NONE, CONTEXT_NONE, s, &one);
    own(profile) struct profile *p = NULL;
    CHECK(builder_finish(b, &p, NULL));
    own(call_graph) struct call_graph g = call_graph_of(p, profile_set(p, set), 0);
    own(graph_cut) struct graph_cut c = graph_cut_of(&g, p, &(struct graph_limits){0});
    CHECK_EQ(c.n_nodes, LONG);
    CHECK_EQ(c.n_edges, LONG - 1 + is_ring);
    CHECK_EQ(c.n_cycles, is_ring);
    CHECK_EQ(c.cycle[LONG - 1], is_ring);
}

/* main calls fib once, fib itself 527 times; 100 ns are main's own. */
static void check_counted(bool only_counts)
{
    struct builder *b = builder_new();
    set_id functions = counted_functions_set(b, false), pairs = counted_calls_set(b, false, only_counts);
    frame_id main_ = builder_frame_named(b, VIEW("main")), fib = builder_frame_named(b, VIEW("fib"));
    stack_id m = builder_push(b, STACK_ROOT, main_), f = builder_push(b, STACK_ROOT, fib);
    builder_sample(b, functions, TIME_NONE, CONTEXT_NONE, m, (const int64_t[]){1, 1, 100, 1000});
    builder_sample(b, functions, TIME_NONE, CONTEXT_NONE, f, (const int64_t[]){528, 1, 900, 900});
    builder_sample(b, pairs, TIME_NONE, CONTEXT_NONE, builder_push(b, m, fib), (const int64_t[]){1, 1, 10, 900});
    builder_sample(b, pairs, TIME_NONE, CONTEXT_NONE, builder_push(b, f, fib), (const int64_t[]){527, 0, 890, 890});
    own(profile) struct profile *p = NULL;
    CHECK(builder_finish(b, &p, NULL));
    own(call_graph) struct call_graph g = call_graph_of(p, profile_set(p, functions), COUNTED_SELF);
    CHECK_EQ(g.n_nodes, 2);
    CHECK_EQ(g.n_edges, 2);
    CHECK_EQ(g.whole, 1000);
    CHECK_EQ(g.nodes[0].total, 1000);
    CHECK_EQ(g.nodes[0].self, 100);
    CHECK_EQ(g.nodes[1].calls, 528);
    CHECK_EQ(g.edges[0].calls, 1);
    CHECK_EQ(g.edges[1].calls, 527);
    CHECK_EQ(g.edges[0].has_value, !only_counts);
    CHECK_EQ(g.edges[0].value, only_counts ? 0 : 900);
    CHECK_EQ(g.edges[1].value, only_counts ? 0 : 890);
    own(graph_cut) struct graph_cut c = graph_cut_of(&g, p, &(struct graph_limits){.edge_share = 0.5});
    CHECK_EQ(c.n_edges, 2);
    CHECK_EQ(c.n_cycles, 0);
}

static bool is_a_or_b(const void *self, const struct profile *p, func_id f)
{
    return strchr(self, profile_string(p, profile_function(p, f)->name).at[0]);
}

static void check_keep(void)
{
    struct plain x;
    make_plain(&x);
    own(profile) struct profile *p = profile_of(&x);
    own(call_graph) struct call_graph g = call_graph_of(p, profile_set(p, (set_id){0}), 0);
    own(graph_cut) struct graph_cut c = graph_cut_of(&g, p, &(struct graph_limits){.keep = is_a_or_b, .self = "ab"});
    CHECK_EQ(c.n_nodes, 2);
    for (size_t i = 0; i < c.n_nodes; i++)
        CHECK(letter(p, &g, c.nodes[i]) < 2);
    for (size_t i = 0; i < c.n_edges; i++)
        CHECK(c.place[g.edges[c.edges[i]].caller] && c.place[g.edges[c.edges[i]].callee]);
}

int main(void)
{
    for (int i = 0; i < 500; i++)
        check_random();
    for (int i = 0; i < 100; i++)
        check_difference();
    check_deep();
    check_long(false);
    check_long(true);
    check_counted(false);
    check_counted(true);
    check_keep();
    return CHECK_DONE();
}
