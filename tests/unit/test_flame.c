#include "render/flame_svg.h"
#include "base/text.h"
#include "check.h"
#include "model/builder.h"
#include "render/flame_label.h"
#include "render/flame_layout.h"
#include "render/flame_modules.h"

#include <math.h>

/* Labels. */

static const struct {
    const char *name;
    size_t columns;
    const char *label;
} labels[] = {
    {"main", 4, "main"},
    {"main", 3, "ma…"},
    {"main", 2, ""},
    {"ggml_compute_forward", 10, "ggml_comp…"},
    {"std::vector<std::pair<int, int>, std::allocator<std::pair<int, int> > >::push_back(std::pair<int, int> const&)", 40, "std::vector<…>::push_back"},
    {"std::vector<std::pair<int, int>, std::allocator<std::pair<int, int> > >::push_back(std::pair<int, int> const&)", 15, "…push_back"},
    {"std::vector<std::pair<int, int>, std::allocator<std::pair<int, int> > >::push_back(std::pair<int, int> const&)", 6, "push_…"},
    {"void run<int>(int, char const*)", 12, "run<…>"},
    {"nlohmann::json::dump(int, char, bool) const", 20, "nlohmann::json::dump"},
    {"nlohmann::json::dump(int, char, bool) const", 12, "…json::dump"},
    {"foo(int) [clone .cold]", 8, "foo"},
    {"(anonymous namespace)::helper(int, int)", 20, "(anon)::helper"},
    {"bool operator< <char>(std::string const&, std::string const&)", 20, "operator< <…>"},
    {"Foo::operator()(int) const", 18, "Foo::operator()"},
    {"Foo::operator<<(std::ostream&)", 18, "Foo::operator<<"},
    {"operator new(unsigned long)", 14, "operator new"},
    {"<T as core::fmt::Display>::fmt(a, b)", 12, "<…>::fmt"},
    {"a(", 3, "a("},
    {"unfinished<template<of, many", 12, "unfinished<…"},
    {"日本語の関数名", 7, "日本語…"},
    {"\xff\xfe\xfd", 12, "\xff\xfe\xfd"},
    {"\xff\xfe\xfd", 11, "\xff\xfe…"},
};

static void check_labels(void)
{
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        own(buf) struct buf out;
        buf_init(&out, 4096);
        label_fit(&out, view_of(labels[i].name), labels[i].columns);
        CHECK_STR(out.data, labels[i].label);
        CHECK(label_columns(buf_view(&out)) <= labels[i].columns);
    }
}

/* A name of any length, in any room: never wider than the room. */
static void check_long_label(void)
{
    static char name[4001];
    for (size_t i = 0; i < 4000; i++)
        name[i] = "Ab<(:: ,>)"[i * 7 % 10];
    for (size_t columns = 0; columns < 4100; columns += 13) {
        own(buf) struct buf out;
        buf_init(&out, 65536);
        label_fit(&out, view_of(name), columns);
        CHECK(label_columns(buf_view(&out)) <= columns);
    }
}

/* Colours. */

static const struct {
    double share;
    colour hot, cold;
} zones[] = {
    {1.00, 0xff3030, 0x0000ff}, {0.12, 0xff3030, 0x0000ff},  {0.10, 0xff8000, 0x3366ff},  {0.06, 0xff8000, 0x3366ff},
    {0.05, 0xffaa00, 0x6699ff}, {0.03, 0xffaa00, 0x6699ff},  {0.02, 0xffcc00, 0x99ccff},  {0.015, 0xffcc00, 0x99ccff},
    {0.01, 0xffff00, 0xccffff}, {0.005, 0xffff00, 0xccffff}, {0, 0xffff00, 0xccffff},
};

static void check_colours(void)
{
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        CHECK_EQ(flame_by_share(FLAME_HOT, zones[i].share), zones[i].hot);
        CHECK_EQ(flame_by_share(FLAME_COLD, zones[i].share), zones[i].cold);
    }
    static const double steps[] = {0.16, 0.13, 0.10, 0.07, 0.04, 0.01}; /* rainbow changes at 15, 12, 9, 6 and 3 % */
    for (size_t i = 0; i + 1 < sizeof steps / sizeof *steps; i++)
        CHECK(flame_by_share(FLAME_RAINBOW, steps[i]) != flame_by_share(FLAME_RAINBOW, steps[i + 1]));
    CHECK_EQ(flame_by_share(FLAME_RAINBOW, 0.149), flame_by_share(FLAME_RAINBOW, 0.121));
    CHECK_EQ(flame_text_on(0x0000ff), 0xffffff);
    CHECK_EQ(flame_text_on(0xffff00), 0x000000);
    CHECK_EQ(flame_by_change(FLAME_BLUE_ORANGE, CHANGE_SAME, 1), FLAME_NEUTRAL);
    CHECK(flame_by_change(FLAME_BLUE_ORANGE, CHANGE_MORE, 0.9) != flame_by_change(FLAME_BLUE_ORANGE, CHANGE_MORE, 0.05));
}

/* Layout. */

static struct profile *profile_of(const char *const (*paths)[4], const int64_t *values, size_t n)
{
    static const struct measure_spec count = {.name = {"samples", 7}, .unit = UNIT_COUNT};
    struct builder *b = builder_new();
    set_id set = builder_set(b, VIEW("samples"), &count, 1);
    for (size_t i = 0; i < n; i++) {
        stack_id at = STACK_ROOT;
        for (size_t f = 0; f < 4 && paths[i][f]; f++)
            at = builder_push(b, at, builder_frame_named(b, view_of(paths[i][f])));
        builder_sample(b, set, i, CONTEXT_NONE, at, &values[i]);
    }
    struct profile *p = NULL;
    struct err e = {0};
    CHECK(builder_finish(b, &p, &e));
    return p;
}

static const char *const paths[][4] = {{"main", "a"}, {"main", "b", "c"}, {"main"}, {"main", "a"}, {"main", "tiny"}};
static const int64_t values[] = {500, 300, 100, 99, 1};

static void check_layout(void)
{
    own(profile) struct profile *p = profile_of(paths, values, 5);
    own(call_tree) struct call_tree t = call_tree_of(p, profile_set(p, (set_id){0}), 0, false);
    own(flame_layout) struct flame_layout all = flame_layout_of(&t, 0, 0);
    CHECK_EQ(all.n, 6); /* all, main, a, b, c, tiny */
    CHECK_EQ(all.deepest, 3);
    CHECK(fabs(all.boxes[2].at) < 1e-12 && fabs(all.boxes[2].wide - 0.599) < 1e-12); /* a */
    CHECK(fabs(all.boxes[3].at - 0.599) < 1e-12);                                    /* b */
    own(flame_layout) struct flame_layout wide = flame_layout_of(&t, 0.0011, 0);
    CHECK_EQ(wide.n, 5);
    CHECK_EQ(wide.left_out, 1);
    CHECK(fabs(wide.boxes[1].wide - 1) < 1e-12); /* main keeps what tiny had */
    own(flame_layout) struct flame_layout exact = flame_layout_of(&t, 0.001, 0);
    CHECK_EQ(exact.n, 6); /* exactly as wide as the least is not narrower */
    own(flame_layout) struct flame_layout few = flame_layout_of(&t, 0, 3);
    CHECK_EQ(few.n, 3); /* all, main, a: the widest */
    own(flame_layout) struct flame_layout tie = flame_layout_of(&t, 0, 4);
    CHECK_EQ(tie.n, 4); /* b and c are equally wide; the caller comes first */
    CHECK_EQ(tie.deepest, 2);
}

/* Equally wide ones go level by level, not from one end. */
static void check_ties(void)
{
    static const char *const equal[][4] = {{"a", "a1", "a2"}, {"b", "b1", "b2"}, {"c", "c1", "c2"}};
    static const int64_t one[] = {1, 1, 1};
    own(profile) struct profile *p = profile_of(equal, one, 3);
    own(call_tree) struct call_tree t = call_tree_of(p, profile_set(p, (set_id){0}), 0, false);
    static const struct {
        size_t most, n;
        uint32_t deepest;
    } cases[] = {{10, 10, 3}, {9, 7, 2}, {7, 7, 2}, {6, 4, 1}, {4, 4, 1}, {3, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        own(flame_layout) struct flame_layout l = flame_layout_of(&t, 0, cases[i].most);
        CHECK_EQ(l.n, cases[i].n);
        CHECK_EQ(l.deepest, cases[i].deepest);
    }
}

/* More modules than colours: the heavy ones have one each, what is not known has none. */
static void check_modules(void)
{
    struct builder *b = builder_new();
    static const struct measure_spec count = {.name = {"samples", 7}, .unit = UNIT_COUNT};
    set_id set = builder_set(b, VIEW("samples"), &count, 1);
    for (int64_t i = 0; i < 40; i++) {
        char path[32] = "";
        if (i)
            snprintf(path, sizeof path, "/lib/lib%d.so", (int)i);
        mapping_id m = builder_mapping(b, (struct mapping){.path = builder_string(b, view_of(path))});
        func_id f = builder_function(b, (struct function){.name = builder_string(b, view_of(path)), .mapping = m});
        stack_id s = builder_push(b, STACK_ROOT, builder_frame(b, (struct frame){.function = f}));
        builder_sample(b, set, TIME_NONE, CONTEXT_NONE, s, &(int64_t){100 - i});
    }
    own(profile) struct profile *p = NULL;
    struct err e = {0};
    CHECK(builder_finish(b, &p, &e));
    own(call_tree) struct call_tree t = call_tree_of(p, profile_set(p, (set_id){0}), 0, false);
    struct flame_modules m = flame_modules_of(p, &t);
    CHECK_EQ(m.n, 40);
    CHECK_EQ(m.rows[0].is, FLAME_NEUTRAL);
    for (size_t i = 1; i <= FLAME_PALETTE; i++)
        for (size_t k = 1; k < i; k++)
            CHECK(m.rows[i].is != m.rows[k].is);
    CHECK_EQ(m.rows[1].is, flame_palette(flame_favourite(VIEW("lib1.so"))));
    CHECK_EQ(flame_modules_colour(&m, p, t.nodes[call_tree_child(&t, &t.nodes[0], 3)].function), m.rows[3].is);
    flame_modules_done(&m);
}

/* What is left out early is what the layout would leave out, and everything else stays the same. */
static void check_above(bool inverted)
{
    own(profile) struct profile *p = profile_of(paths, values, 5);
    const struct sample_set *set = profile_set(p, (set_id){0});
    own(call_tree) struct call_tree t = call_tree_of(p, set, 0, inverted);
    size_t left_out;
    own(call_tree) struct call_tree above = call_tree_above(p, set, 0, inverted, 100, &left_out);
    size_t expected = 1, k = 0;
    for (size_t i = 1; i < t.n; i++)
        expected += t.nodes[i].total >= 100;
    CHECK_EQ(above.n, expected);
    CHECK(inverted ? left_out > 0 && left_out <= t.n - expected : left_out == t.n - expected);
    own(flame_layout) struct flame_layout full = flame_layout_of(&t, 0.1, 0);
    own(flame_layout) struct flame_layout pruned = flame_layout_of(&above, 0.1, 0);
    CHECK_EQ(full.n, pruned.n);
    for (; k < full.n && k < pruned.n; k++) {
        CHECK(fabs(full.boxes[k].at - pruned.boxes[k].at) < 1e-12 && fabs(full.boxes[k].wide - pruned.boxes[k].wide) < 1e-12);
        CHECK_EQ(t.nodes[full.boxes[k].node].self, above.nodes[pruned.boxes[k].node].self);
    }
}

static int by_path(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Every node as a line "a;b;c self total", sorted: what two trees have in common, whatever their order. */
static void dump_tree(const struct profile *p, const struct call_tree *t, int64_t least, struct buf *out)
{
    char **lines = calloc(t->n, sizeof *lines);
    size_t n = 0;
    for (uint32_t i = 1; i < t->n; i++) {
        if (t->nodes[i].total < least)
            continue;
        own(buf) struct buf line;
        buf_init(&line, 4096);
        for (uint32_t k = i; k; k = t->nodes[k].parent)
            buf_printf(&line, "%s;", profile_string(p, profile_function(p, t->nodes[k].function)->name).at);
        buf_printf(&line, " %lld %lld\n", (long long)t->nodes[i].self, (long long)t->nodes[i].total);
        lines[n++] = strdup(line.data);
    }
    qsort(lines, n, sizeof *lines, by_path);
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, lines[i]);
        free(lines[i]);
    }
    free(lines);
}

/* Whatever the profile and the bound: the same nodes as in the whole tree, with the same values. */
static void check_above_by_chance(bool inverted)
{
    uint64_t state = 7;
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    for (int round = 0; round < 60; round++) {
        const char *by_chance[40][4] = {{NULL}};
        int64_t weights[40];
        for (size_t i = 0; i < 40; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            for (size_t f = 0; f < (state >> 60) % 5; f++)
                by_chance[i][f] = names[(state >> (20 + 8 * f)) % 5];
            weights[i] = (int64_t)(state >> 40) % 50;
        }
        own(profile) struct profile *p = profile_of((const char *const(*)[4])by_chance, weights, 40);
        const struct sample_set *set = profile_set(p, (set_id){0});
        int64_t least = 1 + round * 7;
        size_t left_out;
        own(call_tree) struct call_tree whole = call_tree_of(p, set, 0, inverted);
        own(call_tree) struct call_tree above = call_tree_above(p, set, 0, inverted, least, &left_out);
        own(buf) struct buf want;
        own(buf) struct buf got;
        buf_init(&want, 1 << 20);
        buf_init(&got, 1 << 20);
        dump_tree(p, &whole, least, &want);
        dump_tree(p, &above, 0, &got);
        CHECK_STR(got.data, want.data);
        CHECK_EQ(above.nodes[0].total, whole.nodes[0].total);
        CHECK_EQ(above.nodes[0].self, whole.nodes[0].self);
    }
}

/* In order of time, a function that comes back has a box again. */
static void check_time(void)
{
    own(profile) struct profile *p = profile_of(paths, values, 5);
    own(call_tree) struct call_tree t = call_tree_in_time(p, profile_set(p, (set_id){0}), 0);
    own(flame_layout) struct flame_layout l = flame_layout_of(&t, 0, 0);
    static const char *const order[] = {"main", "a", "b", "c", "a", "tiny"};
    CHECK_EQ(l.n, 7);
    for (size_t i = 1; i < l.n && i <= 6; i++) {
        func_id f = t.nodes[l.boxes[i].node].function;
        CHECK_STR(profile_string(p, profile_function(p, f)->name).at, order[i - 1]);
    }
    CHECK_EQ(t.nodes[0].total, 1000);
}

/* Nothing to draw is said, not drawn. */
static void check_nothing(void)
{
    static const int64_t none[] = {0, 0, 0, 0, 0}, less[] = {500, -3, 0, 0, 0}; /* more than nothing in all, but not everywhere */
    for (int k = 0; k < 2; k++) {
        own(profile) struct profile *p = profile_of(paths, k ? less : none, 5);
        struct flame_page page = {.p = p, .set = profile_set(p, (set_id){0}), .width = 800,
                                  .source = {.path = "x", .p = p, .set = profile_set(p, (set_id){0})}};
        own(buf) struct buf out;
        buf_init(&out, 1 << 20);
        struct sink s;
        sink_to_buf(&s, &out);
        struct err e = {0};
        CHECK(!flame_svg_write(&page, &s, &e));
        CHECK_EQ(e.kind, ERR_UNSUPPORTED);
    }
}

static void check_markup(void)
{
    static const struct {
        const char *text, *markup;
    } cases[] = {
        {"plain", "plain"},
        {"<script>alert('x')&\"", "&lt;script&gt;alert(&#39;x&#39;)&amp;&quot;"},
        {"]]>", "]]&gt;"},
        {"\x1b[31m", "\\x1b[31m"},
        {"\xff", "\\xff"},
        {"\xef\xbf\xbf|\xef\xbf\xbe|\xef\xbf\xbd", "\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        own(buf) struct buf out;
        buf_init(&out, 4096);
        struct sink s;
        sink_to_buf(&s, &out);
        text_markup(&s, view_of(cases[i].text), 0);
        CHECK(sink_flush(&s, NULL));
        CHECK_STR(out.data, cases[i].markup);
    }
}

int main(void)
{
    check_labels();
    check_long_label();
    check_colours();
    check_layout();
    check_ties();
    check_modules();
    check_above(false);
    check_above(true);
    check_above_by_chance(false);
    check_above_by_chance(true);
    check_time();
    check_nothing();
    check_markup();
    return CHECK_DONE();
}
