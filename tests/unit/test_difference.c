#include "analyse/difference.h"
#include "base/mem.h"
#include "check.h"
#include "model/builder.h"

#include <math.h>

enum { DEEPEST = 6 };

struct row {
    const char *path[DEEPEST];
    int64_t value;
};

/* The same functions at other addresses and lines for every `build`, as a new build has them. */
static stack_id push_path(struct builder *b, const struct row *r, uint32_t build)
{
    stack_id at = STACK_ROOT;
    for (size_t i = 0; i < DEEPEST && r->path[i]; i++) {
        mapping_id m = builder_mapping(b, (struct mapping){.path = builder_string(b, build ? VIEW("/new/prog") : VIEW("/old/prog")),
                                                           .start = 4096 * (build + 1)});
        func_id f = builder_function(b, (struct function){.name = builder_string(b, view_of(r->path[i])), .mapping = m, .line = build + 1});
        at = builder_push(b, at, builder_frame(b, (struct frame){.function = f, .line = 10 + build, .address = 64 * (build + 1)}));
    }
    return at;
}

static struct profile *profile_of(const struct row *rows, size_t n, uint32_t build)
{
    static const struct measure_spec count = {.name = {"samples", 7}, .unit = UNIT_COUNT};
    struct builder *b = builder_new();
    set_id set = builder_set(b, VIEW("samples"), &count, 1);
    for (size_t i = 0; i < n; i++)
        builder_sample(b, set, TIME_NONE, CONTEXT_NONE, push_path(b, &rows[i], build), &rows[i].value);
    struct profile *p = NULL;
    struct err e = {0};
    CHECK(builder_finish(b, &p, &e));
    return p;
}

static struct difference_side side_of(const struct profile *p)
{
    return (struct difference_side){.p = p, .set = profile_set(p, (set_id){0})};
}

static const char *name_of(const struct difference *d, uint32_t node)
{
    return profile_string(d->p, profile_function(d->p, d->tree.nodes[node].function)->name).at;
}

/* The node of that name; the first one, where there are several. */
static uint32_t node_named(const struct difference *d, const char *name)
{
    for (uint32_t i = 1; i < d->tree.n; i++)
        if (!strcmp(name_of(d, i), name))
            return i;
    return 0;
}

#define CHECK_CHANGE(got, want) CHECK_STR(change_words[got], change_words[want])

/* Everything adds up on both sides, whatever the tree. */
static void check_sums(const struct difference *d)
{
    int64_t before = 0, after = 0;
    for (size_t i = 0; i < d->tree.n; i++) {
        int64_t b = d->self[i].before.value, a = d->self[i].after.value, width = d->tree.nodes[i].self;
        before += b;
        after += a;
        for (uint32_t c = 0; c < d->tree.nodes[i].n_children; c++) {
            uint32_t child = call_tree_child(&d->tree, &d->tree.nodes[i], c);
            b += d->total[child].before.value;
            a += d->total[child].after.value;
            width += d->tree.nodes[child].total;
        }
        CHECK_EQ(b, d->total[i].before.value);
        CHECK_EQ(a, d->total[i].after.value);
        CHECK_EQ(width, d->tree.nodes[i].total);
    }
    CHECK_EQ(before, d->whole.before.value);
    CHECK_EQ(after, d->whole.after.value);
}

static const struct row slow_before[] = {{{"main", "a"}, 1000}, {{"main", "b"}, 500}, {{"main", "c", "d"}, 500}, {{"main"}, 20}};
static const struct row slow_after[] = {{{"main", "a"}, 1010}, {{"main", "b"}, 900}, {{"main", "c", "d"}, 490}, {{"main"}, 22}};

/* b was made slower: it, and its caller's total, and nothing else. */
static void check_slower(bool inverted)
{
    own(profile) struct profile *before = profile_of(slow_before, 4, 0);
    own(profile) struct profile *after = profile_of(slow_after, 4, 1);
    own(difference) struct difference d;
    struct err e = {0};
    CHECK(difference_of(side_of(before), side_of(after), DIFFERENCE_BY_VALUE, inverted, &d, &e));
    check_sums(&d);
    CHECK_EQ(d.tree.n, inverted ? 1 + 1 + 2 + 2 + 3 : 6);
    for (uint32_t i = 1; i < d.tree.n; i++) {
        bool is_b = !strcmp(name_of(&d, i), "b");
        bool below_b = d.tree.nodes[i].parent && !strcmp(name_of(&d, d.tree.nodes[i].parent), "b");
        bool differs = inverted ? below_b : is_b;
        CHECK_CHANGE(d.self[i].is, differs ? CHANGE_MORE : CHANGE_SAME);
        CHECK_CHANGE(d.cause[i], differs ? CHANGE_MORE : CHANGE_SAME);
    }
    uint32_t b = node_named(&d, "b");
    CHECK_CHANGE(d.total[b].is, CHANGE_MORE);
    CHECK_EQ(d.total[b].before.value, 500);
    CHECK_EQ(d.total[b].after.value, 900);
    CHECK_EQ((int64_t)difference_amount(&d, &d.total[b]), 400);
    CHECK_EQ(d.tree.nodes[b].total, 900);
}

/* By share the others have less of the whole, and only b has more of it. */
static void check_shares(void)
{
    own(profile) struct profile *before = profile_of(slow_before, 4, 0);
    own(profile) struct profile *after = profile_of(slow_after, 4, 1);
    own(difference) struct difference d;
    struct err e = {0};
    CHECK(difference_of(side_of(before), side_of(after), DIFFERENCE_BY_SHARE, false, &d, &e));
    check_sums(&d);
    for (uint32_t i = 1; i < d.tree.n; i++)
        CHECK((d.self[i].is == CHANGE_MORE) == !strcmp(name_of(&d, i), "b"));
    CHECK_CHANGE(d.total[node_named(&d, "main")].is, CHANGE_SAME);
    CHECK_CHANGE(d.self[node_named(&d, "a")].is, CHANGE_LESS);
    CHECK(fabs(difference_amount(&d, &d.self[node_named(&d, "b")]) - (900.0 / 2422 - 500.0 / 2020)) < 1e-12);
}

/* Twice as long a run of the same program: by value all is more, by share nothing is. */
static void check_longer(void)
{
    static const struct row twice[] = {{{"main", "a"}, 2000}, {{"main", "b"}, 1000}, {{"main", "c", "d"}, 1000}, {{"main"}, 40}};
    own(profile) struct profile *before = profile_of(slow_before, 4, 0);
    own(profile) struct profile *after = profile_of(twice, 4, 0);
    struct err e = {0};
    own(difference) struct difference by_value;
    own(difference) struct difference by_share;
    CHECK(difference_of(side_of(before), side_of(after), DIFFERENCE_BY_VALUE, false, &by_value, &e));
    CHECK(difference_of(side_of(before), side_of(after), DIFFERENCE_BY_SHARE, false, &by_share, &e));
    CHECK_CHANGE(by_value.self[node_named(&by_value, "a")].is, CHANGE_MORE);
    for (uint32_t i = 0; i < by_share.tree.n; i++)
        CHECK_CHANGE(by_share.total[i].is, CHANGE_SAME);
}

static void check_new_and_gone(void)
{
    static const struct row was[] = {{{"main", "sample"}, 100}, {{"main", "decode"}, 1000}, {{"main", "rare"}, 5}};
    static const struct row is[] = {{{"main", "sample_top_k", "sort"}, 150}, {{"main", "decode"}, 1000}, {{"main", "odd"}, 5}};
    own(profile) struct profile *before = profile_of(was, 3, 0);
    own(profile) struct profile *after = profile_of(is, 3, 0);
    own(difference) struct difference d;
    struct err e = {0};
    CHECK(difference_of(side_of(before), side_of(after), DIFFERENCE_BY_VALUE, false, &d, &e));
    check_sums(&d);
    CHECK_CHANGE(d.total[node_named(&d, "sample")].is, CHANGE_GONE);
    CHECK_CHANGE(d.total[node_named(&d, "sample_top_k")].is, CHANGE_NEW);
    CHECK_CHANGE(d.self[node_named(&d, "sample_top_k")].is, CHANGE_SAME);
    CHECK_CHANGE(d.self[node_named(&d, "sort")].is, CHANGE_NEW);
    CHECK_CHANGE(d.total[node_named(&d, "decode")].is, CHANGE_SAME);
    CHECK_CHANGE(d.total[node_named(&d, "rare")].is, CHANGE_SAME); /* five samples say nothing */
    CHECK_CHANGE(d.total[node_named(&d, "odd")].is, CHANGE_SAME);
    CHECK_EQ(d.tree.nodes[node_named(&d, "main")].total, 1000 + 100 + 150 + 5 + 5); /* both have room */
}

static uint32_t dice(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

/* One program measured by chance: a thousand functions, few of them hot, 50 000 samples. */
static struct profile *by_chance(uint64_t seed, uint32_t slower)
{
    enum { FUNCTIONS = 1000, SAMPLES = 50000 };
    static int64_t counts[FUNCTIONS];
    memset(counts, 0, sizeof counts);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        uint32_t a = dice(&seed, FUNCTIONS), b = dice(&seed, FUNCTIONS);
        counts[a < b ? a : b]++;
    }
    counts[7] += slower;
    static char names[FUNCTIONS][16], groups[FUNCTIONS][16];
    struct row *rows = mem_new(FUNCTIONS * sizeof *rows);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        snprintf(names[i], sizeof names[i], "f%u", i);
        snprintf(groups[i], sizeof groups[i], "g%u", i % 30);
        rows[i] = (struct row){{"main", groups[i], names[i]}, counts[i]};
    }
    struct profile *p = profile_of(rows, FUNCTIONS, 0);
    free(rows);
    return p;
}

static size_t changed_nodes(const struct difference *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->tree.n; i++)
        n += d->self[i].is != CHANGE_SAME || d->total[i].is != CHANGE_SAME;
    return n;
}

static void check_noise(enum difference_by by)
{
    size_t coloured = 0, asked = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        own(profile) struct profile *before = by_chance(seed * 2, 0);
        own(profile) struct profile *after = by_chance(seed * 2 + 1, 0);
        own(difference) struct difference d;
        struct err e = {0};
        CHECK(difference_of(side_of(before), side_of(after), by, false, &d, &e));
        coloured += changed_nodes(&d);
        asked += d.tree.n;
    }
    printf("by chance: %zu of %zu nodes\n", coloured, asked);
    CHECK(asked > 20000);
    CHECK(coloured <= 10);
}

/* Among a thousand functions that scatter, the one that was made slower is found. */
static void check_needle(void)
{
    own(profile) struct profile *before = by_chance(3, 0);
    own(profile) struct profile *after = by_chance(4, 100); /* on about 100 */
    own(difference) struct difference d;
    struct err e = {0};
    CHECK(difference_of(side_of(before), side_of(after), DIFFERENCE_BY_VALUE, false, &d, &e));
    CHECK_CHANGE(d.self[node_named(&d, "f7")].is, CHANGE_MORE);
    for (uint32_t i = 1; i < d.tree.n; i++)
        CHECK(d.self[i].is == CHANGE_SAME || !strcmp(name_of(&d, i), "f7"));
}

/* A few long waits are fewer samples than their nanoseconds look like. */
static void check_unequal_weights(void)
{
    static const struct measure_spec time = {.name = {"off-cpu", 7}, .unit = UNIT_NS};
    struct profile *sides[2];
    for (uint32_t k = 0; k < 2; k++) {
        struct builder *b = builder_new();
        set_id set = builder_set(b, VIEW("off-cpu"), &time, 1);
        stack_id lock = builder_push(b, STACK_ROOT, builder_frame_named(b, VIEW("lock")));
        stack_id poll = builder_push(b, STACK_ROOT, builder_frame_named(b, VIEW("poll")));
        for (uint64_t i = 0; i < 100; i++) {
            int64_t short_ns = k ? 2000 : 1000, long_ns = i % 20 == k ? 1000000 + 400000 * (int64_t)k : 1;
            builder_sample(b, set, i, CONTEXT_NONE, lock, &short_ns);
            builder_sample(b, set, i, CONTEXT_NONE, poll, &long_ns);
        }
        struct err e = {0};
        CHECK(builder_finish(b, &sides[k], &e));
    }
    own(difference) struct difference d;
    struct err e = {0};
    CHECK(difference_of(side_of(sides[0]), side_of(sides[1]), DIFFERENCE_BY_VALUE, false, &d, &e));
    CHECK_CHANGE(d.self[node_named(&d, "lock")].is, CHANGE_MORE); /* 100 samples, each twice as long */
    CHECK_CHANGE(d.self[node_named(&d, "poll")].is, CHANGE_SAME); /* 40 % more in five samples */
    CHECK_EQ(d.self[node_named(&d, "poll")].before.samples, 100);
    profile_free(sides[0]);
    profile_free(sides[1]);
}

/* Forty callees that each may have changed by chance, and together cannot have: it is their caller that is named. */
static void check_cause(void)
{
    enum { CALLEES = 40 };
    static char names[CALLEES][8];
    struct row was[CALLEES + 1], is[CALLEES + 1];
    for (size_t i = 0; i < CALLEES; i++) {
        snprintf(names[i], sizeof names[i], "f%zu", i);
        was[i] = (struct row){{"main", "sum", names[i]}, 10};
        is[i] = (struct row){{"main", "sum", names[i]}, 15};
    }
    was[CALLEES] = is[CALLEES] = (struct row){{"main", "other"}, 3000};
    own(profile) struct profile *before = profile_of(was, CALLEES + 1, 0);
    own(profile) struct profile *after = profile_of(is, CALLEES + 1, 0);
    own(difference) struct difference d;
    struct err e = {0};
    CHECK(difference_of(side_of(before), side_of(after), DIFFERENCE_BY_VALUE, false, &d, &e));
    CHECK_CHANGE(d.total[node_named(&d, "sum")].is, CHANGE_MORE);
    for (uint32_t i = 0; i < d.tree.n; i++)
        CHECK_CHANGE(d.cause[i], i == node_named(&d, "sum") ? CHANGE_MORE : CHANGE_SAME);
}

static void check_units(void)
{
    static const struct measure_spec bytes = {.name = {"inuse_space", 11}, .unit = UNIT_BYTES};
    struct builder *b = builder_new();
    builder_set(b, VIEW("heap"), &bytes, 1);
    own(profile) struct profile *heap = NULL;
    struct err e = {0};
    CHECK(builder_finish(b, &heap, &e));
    own(profile) struct profile *cpu = profile_of(slow_before, 4, 0);
    own(difference) struct difference d;
    CHECK(!difference_of(side_of(cpu), side_of(heap), DIFFERENCE_BY_VALUE, false, &d, &e));
    CHECK_STR(e.text, "samples in count cannot be compared with inuse_space in bytes");
}

/* Nothing on one side: all of the other is new. */
static void check_empty(void)
{
    own(profile) struct profile *none = profile_of(NULL, 0, 0);
    own(profile) struct profile *some = profile_of(slow_before, 4, 0);
    for (int by = 0; by < DIFFERENCE_BY_COUNT; by++) {
        own(difference) struct difference d;
        struct err e = {0};
        CHECK(difference_of(side_of(none), side_of(some), (enum difference_by)by, false, &d, &e));
        check_sums(&d);
        CHECK_EQ(d.whole.before.value, 0);
        if (by == DIFFERENCE_BY_VALUE)
            CHECK_CHANGE(d.total[node_named(&d, "a")].is, CHANGE_NEW);
    }
}

int main(void)
{
    check_slower(false);
    check_slower(true);
    check_shares();
    check_longer();
    check_new_and_gone();
    check_noise(DIFFERENCE_BY_VALUE);
    check_noise(DIFFERENCE_BY_SHARE);
    check_needle();
    check_unequal_weights();
    check_cause();
    check_units();
    check_empty();
    return CHECK_DONE();
}
