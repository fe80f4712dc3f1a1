/* More of what a heap recording says: over time, between two moments, by scope and size, and what was mapped. */
#include "analyse/difference.h"
#include "analyse/heap_change.h"
#include "analyse/heap_groups.h"
#include "analyse/heap_growth.h"
#include "analyse/heap_mapped.h"
#include "heap_paths.h"
#include "heap_story.h"
#include "model/filter.h"
#include "model/settle.h"

static void test_over_time(void)
{
    own(profile) struct profile *p = heap_story_told("+ a 100 main;f\nat 1000\n+ b 200 main;f\nat 2000\n+ c 400 main;g\nat 3000\n- b\nat 4000\n");
    own(heap) struct heap h;
    own(heap_growth) struct heap_growth g;
    CHECK(heap_of(&h, p, false) && heap_growth_of(&g, &h));
    const int64_t live[] = {100, 300, 700, 500};
    CHECK_EQ(g.n, 4);
    for (size_t i = 0; i < g.n && i < 4; i++) {
        CHECK_EQ(g.moments[i].live_bytes, live[i]);
        CHECK_EQ(g.moments[i].time_ns, (1000 + 1000 * i) * STORY_MS);
    }
    CHECK_EQ(g.n_rows, 1); /* f has 100 at the first quarter (750 ms) and at the end */
    CHECK_EQ(heap_grew(&g.rows[0]), 400);
    CHECK_EQ(g.rows[0].live_bytes[2], 400);
}

/* Snapshots: of two moments, and of two recordings. */
static void test_change(void)
{
    own(profile) struct profile *p = heap_story_told("+ a 100 main;f\nat 1000\n+ b 200 main;f\n- a\nat 2000\n+ c 400 main;g\nat 3000\n- b\nat 4000\n");
    own(profile) struct profile *part = NULL, *change = NULL, *other = heap_story_told("+ a 100 main;f\n+ z 7 main;z\n");
    struct filter between = {.from_ns = 500 * STORY_MS, .to_ns = 2500 * STORY_MS};
    CHECK(profile_filtered(p, &between, &part, NULL));
    own(heap) struct heap h, c;
    CHECK(heap_of(&h, part, true));
    CHECK_EQ(h.counted.live_bytes, HEAP_UNKNOWN); /* counters are of the whole run */
    CHECK_EQ(h.whole.of[HEAP_BYTES], 600);
    CHECK_EQ(sums_at(&h, "f < main")->of[HEAP_LIVE_BYTES], 100);
    CHECK_EQ(sums_at(&h, "g < main")->of[HEAP_LIVE_BYTES], 400);
    CHECK(heap_change_of(other, p, &change, NULL));
    CHECK(heap_of(&c, change, true));
    CHECK_EQ(sums_at(&c, "f < main")->of[HEAP_LIVE_BYTES], -100);
    CHECK_EQ(sums_at(&c, "z < main")->of[HEAP_LIVE], -1);
    CHECK_EQ(sums_at(&c, "g < main")->of[HEAP_LIVE_BYTES], 400);
    size_t n;
    char text[256];
    own(free) size_t *rows = heap_changed_rows(&c, &n);
    CHECK_EQ(n, 3);
    CHECK_STR(path_text(&c, c.rows[rows[0]].node, text), "g < main");
    CHECK_STR(path_text(&c, c.rows[rows[2]].node, text), "f < main");
}

/* As other formats and pictures want it: one row for each stack and context, without times and details. */
static void test_settled(void)
{
    own(profile) struct profile *p = heap_story_told("+ a 100 main;f\nat 1000\n+ b 200 main;f\n- a\nat 2000\n+ c 400 main;g\n"), *s = NULL;
    own(profile) struct profile *again = NULL;
    CHECK(!profile_is_settled(p));
    CHECK(profile_settled(p, &s, NULL));
    CHECK(profile_is_settled(s));
    CHECK_EQ(profile_sets(s), 1);
    const struct sample_set *heap = profile_set(s, (set_id){0}), *was = heap_set(p);
    CHECK(set_has_changes(was) && set_is_detail(p, profile_set(p, (set_id){1})) && !set_is_detail(p, was));
    CHECK_EQ(heap->n, 2);
    CHECK(!heap->time_ns);
    for (size_t m = 0; m < heap->n_measures; m++)
        CHECK_EQ(heap->measures[m].total, was->measures[m].total);
    CHECK(profile_settled(s, &again, NULL));
    CHECK_EQ(profile_set(again, (set_id){0})->n, 2);
}

/* Of counted allocations a single block more is a change; of sampled ones it may be chance. */
static void test_exact_difference(void)
{
    static const char *const modes[] = {"exact", "sampled"};
    for (size_t i = 0; i < 2; i++) {
        char texts[2][128];
        struct difference_side sides[2];
        struct profile *p[2], *told;
        for (size_t k = 0; k < 2; k++) {
            snprintf(texts[k], sizeof texts[k], "fact heap.mode %s\n+ a*%zu 100 main;f\n+ b*50 10 main;g\nat 5\n- b*10\n", modes[i], 100 + k);
            told = heap_story_told(texts[k]);
            CHECK(profile_settled(told, &p[k], NULL));
            profile_free(told);
            const struct sample_set *set = heap_set(p[k]);
            sides[k] = (struct difference_side){p[k], set, 3, heap_is_exact(p[k], set)};
        }
        own(difference) struct difference d = {0};
        CHECK(difference_of(sides[0], sides[1], DIFFERENCE_BY_VALUE, false, &d, NULL));
        CHECK_EQ(d.total[0].is, i ? CHANGE_SAME : CHANGE_MORE);
        CHECK_EQ(d.whole.before.value, 100 * 100 + 40 * 10);
        CHECK_EQ(d.whole.before.samples, 100 + 40); /* of 50 samples of g, 40 are live */
        profile_free(p[0]);
        profile_free(p[1]);
    }
}

static void test_groups(void)
{
    own(profile) struct profile *p = heap_story_told("thread 1 one\nlabel scope=embed\n+ a*3 100 main;f\nlabel scope=decode\n+ b 1000 main;f\n"
                                                     "thread 2 two\n+ c*2 500 main;g\nlabel scope\n+ d 9 main\n"
                                                     "span phase decode 0 5\nspan phase decode 5 9\nlabel phase=decode\n+ e*4 10 main\n");
    own(heap) struct heap h;
    CHECK(heap_of(&h, p, false));
    own(heap_groups) struct heap_groups scopes = heap_groups_of(&h, VIEW("scope"), false);
    own(heap_groups) struct heap_groups threads = heap_groups_of(&h, VIEW("scope"), true);
    own(heap_groups) struct heap_groups phases = heap_groups_of(&h, VIEW("phase"), false);
    CHECK_EQ(scopes.n, 2);
    CHECK_STR(profile_string(p, scopes.rows[0].text).at, "decode");
    CHECK_EQ(scopes.rows[0].sums.of[HEAP_BYTES], 2000);
    CHECK_EQ(scopes.rows[0].sums.of[HEAP_ALLOCS], 3);
    CHECK_EQ(scopes.rows[1].sums.of[HEAP_ALLOCS], 3);
    CHECK_EQ(scopes.rest.of[HEAP_BYTES], 9 + 40);
    CHECK_EQ(threads.n, 3);
    CHECK_EQ(phases.n, 1);
    CHECK_EQ(phases.rows[0].times, 2);
    CHECK_EQ(phases.rows[0].sums.of[HEAP_BYTES], 40);
}

/* Scopes that counted for themselves, beside a heap whose rows know no scope. */
static void test_counted_scopes(void)
{
    static const struct measure_spec heap[] = {{.name = {"alloc_space", 11}, .unit = UNIT_BYTES}};
    static const struct measure_spec counts[] = {
        {.name = {"self", 4}, .unit = UNIT_NS}, {.name = {"calls", 5}, .unit = UNIT_COUNT}, {.name = {"timed calls", 11}, .unit = UNIT_COUNT},
        {.name = {"allocations", 11}, .unit = UNIT_COUNT}, {.name = {"allocated", 9}, .unit = UNIT_BYTES},
    };
    struct builder *b = builder_new();
    builder_sample(b, builder_set(b, VIEW("heap"), heap, 1), 1, CONTEXT_NONE, story_stack(b, "main"), (int64_t[]){9000});
    set_id scopes = builder_set(b, VIEW("scopes"), counts, 5);
    for (int32_t tid = 1; tid <= 2; tid++) {
        context_id who = builder_context(b, builder_thread(b, builder_process(b, 1, 0), tid), LABELS_NONE);
        builder_sample(b, scopes, TIME_NONE, who, story_stack(b, "outer;inner"), (int64_t[]){5, 10 * tid, 0, 20 * tid, 1000 * tid});
        builder_sample(b, scopes, TIME_NONE, who, story_stack(b, "inner"), (int64_t[]){5, 1, 0, 1, 500});
        builder_sample(b, scopes, TIME_NONE, who, story_stack(b, "outer"), (int64_t[]){5, 7, 0, 0, 0});
    }
    own(profile) struct profile *p = NULL;
    own(heap) struct heap h;
    CHECK(builder_finish(b, &p, NULL) && heap_of(&h, p, false));
    own(heap_groups) struct heap_groups all = heap_groups_of(&h, VIEW("scope"), false), each = heap_groups_of(&h, VIEW("scope"), true);
    CHECK_EQ(all.n, 1); /* outer allocated nothing */
    CHECK_EQ(all.rows[0].sums.of[HEAP_BYTES], 1000 + 2000 + 2 * 500);
    CHECK_EQ(all.rows[0].sums.of[HEAP_ALLOCS], 20 + 40 + 2);
    CHECK_EQ(all.rows[0].times, 10 + 20 + 2);
    CHECK_EQ(all.rows[0].sums.of[HEAP_LIVE], HEAP_UNKNOWN);
    CHECK_EQ(each.n, 2);
    CHECK_EQ(each.rows[0].sums.of[HEAP_BYTES], 2500);
}

static void test_classes(void)
{
    own(profile) struct profile *p = heap_story_told("+ a 1 f\n+ b 64 f\n+ c 65 f\n+ d 128 f\nat 1\n- b\nat 3\n- c\n");
    struct heap_classes c;
    CHECK(heap_sizes_of(&c, p));
    CHECK_EQ(c.first, 0);
    CHECK_EQ(c.last, 7);
    CHECK_EQ(c.rows[6].objects, 1);
    CHECK_EQ(c.rows[7].objects, 2);
    CHECK_EQ(c.rows[7].bytes, 65 + 128);
    CHECK_EQ(c.whole.objects, 4);
    CHECK(heap_lifetimes_of(&c, p));
    CHECK_EQ(c.rows[19].objects, 1); /* 1 ms is in [2^19, 2^20) ns */
    CHECK_EQ(c.rows[21].objects, 1); /* 3 ms in [2^21, 2^22) */
    CHECK_EQ(c.whole.bytes, 64 + 65);
}

/* Weights of 64, mapped once; 32 anonymous, of which 24 are unmapped later, from two places of one function. */
static void test_mapped(void)
{
    static const struct measure_spec spec[] = {{.name = {"mapped_objects", 14}, .unit = UNIT_COUNT}, {.name = {"mapped_space", 12}, .unit = UNIT_BYTES}};
    struct builder *b = builder_new();
    set_id set = builder_set(b, VIEW("mappings"), spec, 2);
    struct label l[3] = {{.key = builder_string(b, VIEW("map_kind")), .text = builder_string(b, VIEW("file"))},
                         {.key = builder_string(b, VIEW("path")), .text = builder_string(b, VIEW("/m/a.gguf"))},
                         {.key = builder_string(b, VIEW("weights")), .number = 1}};
    context_id file = builder_context(b, THREAD_NONE, builder_labels(b, l, 3));
    l[0].text = builder_string(b, VIEW("anon"));
    context_id anon = builder_context(b, THREAD_NONE, builder_labels(b, l, 1));
    builder_sample(b, set, 1, file, story_stack(b, "main;load"), (int64_t[]){1, 64});
    builder_sample(b, set, 2, anon, story_stack(b, "main;pack"), (int64_t[]){1, 8});
    builder_sample(b, set, 3, anon, story_stack(b, "main;pack"), (int64_t[]){1, 24});
    builder_sample(b, set, 4, anon, story_stack(b, "main;pack"), (int64_t[]){-1, -24});
    own(profile) struct profile *p = NULL;
    own(heap_mapped) struct heap_mapped m = {0};
    CHECK(builder_finish(b, &p, NULL) && heap_mapped_of(&m, p));
    CHECK_EQ(m.n, 2);
    CHECK(m.rows[0].is_weights && m.rows[0].live_bytes == 64);
    CHECK_STR(profile_string(p, m.rows[0].path).at, "/m/a.gguf");
    CHECK(!m.rows[1].is_weights && m.rows[1].live_bytes == 8 && m.rows[1].mapped_bytes == 32 && m.rows[1].live_count == 1);
    CHECK(!heap_set(p)); /* mappings are no heap */
}

int main(void)
{
    test_over_time();
    test_change();
    test_settled();
    test_exact_difference();
    test_groups();
    test_counted_scopes();
    test_classes();
    test_mapped();
    return CHECK_DONE();
}
