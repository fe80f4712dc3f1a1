/*
 * test_memory_use.c - what the series about memory come to, and when weights are in memory twice
 */
#include "analyse/weights_twice.h"
#include "check.h"
#include "model/builder.h"

#include <math.h>

#define MB 1e6
#define S UINT64_C(1000000000)

static series_id series_of(struct builder *b, const char *name, const char *kind, const char *path, const char *region, int weights)
{
    struct label labels[6];
    size_t n = 0;
    labels[n++] = (struct label){.key = builder_string(b, VIEW("pid")), .number = 7};
    labels[n++] = (struct label){.key = builder_string(b, VIEW("process")), .text = builder_string(b, VIEW("llama"))};
    if (*kind)
        labels[n++] = (struct label){.key = builder_string(b, VIEW("map_kind")), .text = builder_string(b, view_of(kind))};
    if (*path)
        labels[n++] = (struct label){.key = builder_string(b, VIEW("path")), .text = builder_string(b, view_of(path))};
    if (*region)
        labels[n++] = (struct label){.key = builder_string(b, VIEW("region")), .text = builder_string(b, view_of(region))};
    if (weights)
        labels[n++] = (struct label){.key = builder_string(b, VIEW("weights")), .number = 1};
    return builder_series(b, view_of(name), UNIT_BYTES, VIEW(""), builder_labels(b, labels, n));
}

static struct profile *finish(struct builder *b)
{
    struct profile *p = NULL;
    struct err e = {0};
    if (!builder_finish(b, &p, &e))
        printf("%s\n", e.text);
    return p;
}

static void test_owners(void)
{
    struct builder *b = builder_new();
    series_id rss = series_of(b, "memory.rss", "", "", "", 0), anon = series_of(b, "memory.anon", "", "", "", 0);
    series_id other = builder_series(b, VIEW("memory.rss"), UNIT_COUNT, VIEW(""), LABELS_NONE); /* not ours */
    builder_reading(b, rss, 1 * S, 5 * MB);
    builder_reading(b, rss, 2 * S, 9 * MB);
    builder_reading(b, rss, 3 * S, 6 * MB);
    builder_reading(b, rss, 4 * S, NAN);
    builder_reading(b, anon, 1 * S, 2 * MB);
    builder_reading(b, other, 1 * S, 1);
    own(profile) struct profile *p = finish(b);
    own(memory_use) struct memory_use m;
    CHECK(memory_use_of(p, &m));
    CHECK_EQ(m.n_owners, 1);
    CHECK(m.owners[0].pid == 7 && view_same(m.owners[0].name, VIEW("llama")));
    CHECK(m.owners[0].most[MEMORY_USE_RSS] == 9 * MB && m.owners[0].last[MEMORY_USE_RSS] == 6 * MB);
    CHECK(m.owners[0].most[MEMORY_USE_ANON] == 2 * MB && isnan(m.owners[0].most[MEMORY_USE_PSS]) && !m.owners[0].of[MEMORY_USE_PSS]);
    CHECK(isnan(series_at(m.owners[0].of[MEMORY_USE_RSS], S / 2)) && series_at(m.owners[0].of[MEMORY_USE_RSS], 2 * S + 5) == 9 * MB);
}

static void test_nothing(void)
{
    own(profile) struct profile *p = finish(builder_new());
    own(memory_use) struct memory_use m;
    CHECK(!memory_use_of(p, &m));
    CHECK_EQ(m.n_owners + m.n_mappings, 0);
}

/* A file of 100 MB that is first seen after a second, and a region; sizes in MB. */
static const struct {
    const char *what;
    double file_resident, region_first_s, region_before, region_mapped, region_resident, touched; /* before: at 0.5 s; touched < 0: nobody looked */
    const char *kind;
    bool weights, is_found, is_order_seen;
} cases[] = {
    {"a copy",                        100, 2, 0,   100, 100, -1, "anon", true,  true,  true},
    {"a smaller copy",                100, 2, 0,    51,  51, -1, "anon", true,  true,  true},
    {"too small",                     100, 2, 0,    49,  49, -1, "anon", true,  false, false},
    {"too large",                     100, 2, 0,   121, 121, -1, "anon", true,  false, false},
    {"half of the file is resident",   50, 2, 0,   100, 100, -1, "anon", true,  true,  true},
    {"given back",                      0, 2, 0,   100, 100, -1, "anon", true,  false, false},
    {"hardly anything left",            5, 2, 0,   100, 100, -1, "anon", true,  false, false},
    {"there before the file",         100, 0, 100, 100, 100, -1, "anon", true,  false, false},
    {"grown after the file",          100, 0, 20,  120, 120, -1, "anon", true,  true,  true},
    {"seen together",                 100, 1, 0,   100, 100, -1, "anon", true,  true,  false},
    {"reserved, not filled",          100, 2, 0,   100,  10, -1, "anon", true,  false, false},
    {"a file that is no weights",     100, 2, 0,   100, 100, -1, "anon", false, false, false},
    {"memory that is shared",         100, 2, 0,   100, 100, -1, "shared", true, false, false},
    {"its pages are not used",        100, 2, 0,   100, 100,  1, "anon", true,  true,  true},
    {"its pages are used",            100, 2, 0,   100, 100, 90, "anon", true,  false, false},
};

static struct profile *profile_of(size_t i)
{
    struct builder *b = builder_new();
    int weights = cases[i].weights;
    series_id mapped = series_of(b, "memory.mapped", "file", "/m/a.gguf", "", weights);
    series_id resident = series_of(b, "memory.resident", "file", "/m/a.gguf", "", weights);
    series_id region = series_of(b, "memory.mapped", cases[i].kind, "", "0x7f00", 0);
    series_id filled = series_of(b, "memory.resident", cases[i].kind, "", "0x7f00", 0);
    builder_reading(b, mapped, 1 * S, 100 * MB);
    builder_reading(b, resident, 1 * S, 100 * MB);
    if (cases[i].region_before > 0)
        builder_reading(b, region, S / 2, cases[i].region_before * MB);
    if (cases[i].region_first_s > 0 || cases[i].region_mapped != cases[i].region_before)
        builder_reading(b, region, cases[i].region_first_s > 0 ? (uint64_t)cases[i].region_first_s * S : 2 * S, cases[i].region_mapped * MB);
    builder_reading(b, filled, 3 * S, cases[i].region_resident * MB);
    builder_reading(b, resident, 3 * S, cases[i].file_resident * MB);
    if (cases[i].touched >= 0)
        builder_reading(b, series_of(b, "memory.touched", "file", "/m/a.gguf", "", weights), 3 * S, cases[i].touched * MB);
    return finish(b);
}

static void test_twice(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weights_twice found[2];
        own(profile) struct profile *p = profile_of(i);
        own(memory_use) struct memory_use m;
        printf("%s\n", cases[i].what);
        CHECK(memory_use_of(p, &m));
        size_t n = weights_twice_of(&m, found, 2);
        CHECK_EQ(n, cases[i].is_found);
        if (!n)
            continue;
        CHECK_EQ(found[0].is_order_seen, cases[i].is_order_seen);
        CHECK_EQ(found[0].is_touch_known, cases[i].touched >= 0);
        CHECK(found[0].saving_bytes == cases[i].file_resident * MB);
        CHECK(found[0].copy_bytes == (cases[i].region_mapped - cases[i].region_before) * MB);
    }
}

int main(void)
{
    test_owners();
    test_nothing();
    test_twice();
    return CHECK_DONE();
}
