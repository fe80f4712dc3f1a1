/* Stories whose answers a reader can add up by hand: what was allocated, is live, was live at the peak, leaks, grew. */
#include "analyse/heap.h"
#include "analyse/heap_change.h"
#include "analyse/heap_groups.h"
#include "analyse/heap_growth.h"
#include "analyse/heap_leaks.h"
#include "analyse/heap_mapped.h"
#include "heap_story.h"
#include "analyse/difference.h"
#include "model/filter.h"
#include "model/settle.h"

#include <math.h>

/* "leaky < work < main" */
static const char *path_text(const struct heap *h, uint32_t node, char out[256])
{
    func_id f[16];
    size_t n = heap_path(&h->tree, node, f, 16);
    out[0] = '\0';
    for (size_t i = 0; i < n && i < 16; i++) {
        size_t at = strlen(out);
        snprintf(out + at, 256 - at, "%s%s", i ? " < " : "", profile_string(h->p, profile_function(h->p, f[i])->name).at);
    }
    return out;
}

static const struct heap_sums *sums_at(const struct heap *h, const char *path)
{
    char text[256];
    for (size_t i = 0; i < h->n; i++)
        if (!strcmp(path_text(h, h->rows[i].node, text), path))
            return &h->rows[i].sums;
    printf("no path %s\n", path);
    check_failures++;
    return &h->whole;
}

/* As the fixture of the recorder: 10 000 blocks, 9 000 freed, 1 000 of 4 096 bytes leaked by leaky(). */
static const char leaky_story[] =
    "fact heap.mode exact\n"
    "+ k*1000 4096 main;work;leaky\n"
    "at 1000\n"
    "+ a*4000 100 main;work;fine\n"
    "+ b*5000 50 main;work\n"
    "at 2000\n"
    "- a*4000\n"
    "- b*5000\n"
    "at 3000\n";

static void test_totals(void)
{
    char text[256];
    own(profile) struct profile *p = heap_story_told(leaky_story);
    own(heap) struct heap h;
    CHECK(heap_of(&h, p, false));
    CHECK_EQ(h.n, 3);
    CHECK_EQ(h.whole.of[HEAP_ALLOCS], 10000);
    CHECK_EQ(h.whole.of[HEAP_BYTES], 4096000 + 400000 + 250000);
    CHECK_EQ(h.whole.of[HEAP_LIVE], 1000);
    CHECK_EQ(h.whole.of[HEAP_LIVE_BYTES], 4096000);
    CHECK_EQ(h.whole.of[HEAP_PEAK_BYTES], 4746000);
    CHECK_EQ(h.whole.of[HEAP_PEAK], 10000);
    CHECK_EQ(h.counted.frees, 9000);
    CHECK_EQ(h.counted.peak_bytes, 4746000);
    CHECK(!h.is_sampled);
    CHECK_EQ(sums_at(&h, "leaky < work < main")->of[HEAP_LIVE_BYTES], 4096000);
    CHECK_EQ(sums_at(&h, "fine < work < main")->of[HEAP_LIVE_BYTES], 0);
    CHECK(heap_mean_size(sums_at(&h, "work < main")) == 50);
    size_t n;
    own(free) size_t *hot = heap_ranked(&h, HEAP_BYTES, &n);
    CHECK_EQ(n, 3);
    CHECK_STR(path_text(&h, h.rows[hot[0]].node, text), "leaky < work < main");
    own(heap_leaks) struct heap_leaks leaks;
    CHECK(heap_leaks_of(&leaks, &h, NULL));
    CHECK_EQ(leaks.n, 1);
    CHECK_EQ(leaks.rows[0].grade, LEAK_B);
    CHECK_EQ(leaks.by_grade[LEAK_B].blocks, 1000);
    CHECK_EQ(leaks.by_grade[LEAK_B].bytes, 4096000);
    CHECK_EQ(leaks.by_grade[LEAK_A].paths, 0);
}

/* Two threads; what one asks for and frees at once is temporary, across threads it is not. */
static void test_threads_and_temporaries(void)
{
    own(profile) struct profile *p = heap_story_told("thread 1 one\n+ a 10 f\n- a\n"
                                                     "+ b 10 f\n+ c 10 f\n- b\n"           /* one other in between: still */
                                                     "+ d 10 f\n+ e 10 f\n+ g 10 f\n- d\n" /* two others: not */
                                                     "thread 2 two\n+ x 1000 f\nthread 1 one\n- x\n");
    own(heap) struct heap h;
    CHECK(heap_of(&h, p, false));
    CHECK_EQ(h.whole.of[HEAP_TEMPORARY], 2);
    CHECK_EQ(h.n_threads, 2);
    CHECK_STR(profile_string(p, profile_thread(p, h.threads[0].thread)->name).at, "two");
    CHECK_EQ(h.threads[0].sums.of[HEAP_BYTES], 1000);
    CHECK_EQ(h.threads[1].sums.of[HEAP_ALLOCS], 6);
}

/* Estimates carry their error; parts of a path carry their part of it. */
static void test_sampled(void)
{
    own(profile) struct profile *p = heap_story_told("fact heap.mode sampled\nfact heap.period 524288\nsampled 128\n"
                                                     "+ a*100 4096 main;f\n+ b*4 1048576 main;g\nat 10\n- a*75\n");
    own(heap) struct heap h;
    CHECK(heap_of(&h, p, false));
    CHECK(h.is_sampled);
    CHECK_EQ(h.period, 524288);
    const struct heap_sums *f = sums_at(&h, "f < main"), *g = sums_at(&h, "g < main");
    CHECK_EQ(f->of[HEAP_BYTES], 128 * 100 * 4096);
    CHECK_EQ(f->of[HEAP_SAMPLES], 100);
    double each = 128.0 * 127.0 * 4096.0 * 4096.0;
    CHECK(fabs(heap_error(f, HEAP_BYTES) - sqrt(100 * each)) < 1e-6 * sqrt(100 * each));
    CHECK(fabs(heap_error(f, HEAP_LIVE_BYTES) - sqrt(25 * each)) < 1e-6 * sqrt(25 * each));
    CHECK(fabs(h.whole.variance - (f->variance + g->variance)) < 1);
    CHECK(heap_error(&h.whole, HEAP_BYTES) > heap_error(g, HEAP_BYTES));
}

static void tell_turns(struct buf *b, unsigned turns, const char *of_each, bool labelled, const char *at_the_end)
{
    for (unsigned t = 0; t < turns; t++) {
        buf_printf(b, "at %u\n", 1000 * t);
        if (labelled)
            buf_printf(b, "label request=r%u\n", t);
        for (const char *c = of_each; *c; c++)
            switch (*c) {
            case 'L': buf_printf(b, "+ leak%u 100 main;serve;leak\n", t); break;                        /* every turn */
            case 'h': if (t % 2) buf_printf(b, "+ half%u 10 main;serve;half\n", t); break;              /* every other */
            case 'r': if (t % 3 == 0) buf_printf(b, "+ rare%u 10 main;serve;rare\n", t); break;         /* every third */
            case 'c': if (t < 6) buf_printf(b, "+ cache%u 1000 main;serve;cache\n", t); break;          /* fills, then stays */
            case 't': buf_printf(b, "+ temp%u 5000 main;serve;temp\n- temp%u\n", t, t); break;          /* comes and goes */
            case 'w': buf_printf(b, "+ win%u 70 main;serve;window\n", t); if (t >= 2) buf_printf(b, "- win%u\n", t - 2); break;
            default: break;
            }
        buf_printf(b, "at %u\nspan request r%u %u %u\n", 1000 * t + 500, t, 1000 * t, 1000 * t + 500);
    }
    buf_puts(b, at_the_end);
}

static enum leak_grade grade_of(const struct heap *h, const struct heap_leaks *l, const char *path)
{
    char text[256];
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(path_text(h, h->rows[l->rows[i].row].node, text), path))
            return l->rows[i].grade;
    return LEAK_GRADE_COUNT;
}

/* The same story with requests known to each allocation, and known by their times only. */
static void test_growth(bool labelled)
{
    char free_all[1024] = "at 20000\n";
    for (unsigned t = 0; t < 20; t++) /* even a program that cleans up at exit leaks while it runs */
        snprintf(free_all + strlen(free_all), 32, "- leak%u\n", t);
    own(buf) struct buf b;
    buf_init(&b, 1 << 20);
    tell_turns(&b, 20, "Lhrctw", labelled, free_all);
    own(profile) struct profile *p = heap_story_told(b.data);
    own(heap) struct heap h;
    own(heap_leaks) struct heap_leaks l;
    CHECK(heap_of(&h, p, false) && heap_leaks_of(&l, &h, NULL));
    CHECK_EQ(l.n_turns, 20);
    CHECK_EQ(grade_of(&h, &l, "leak < serve < main"), LEAK_A);
    CHECK_EQ(grade_of(&h, &l, "half < serve < main"), LEAK_A);
    CHECK_EQ(grade_of(&h, &l, "rare < serve < main"), LEAK_B);
    CHECK_EQ(grade_of(&h, &l, "cache < serve < main"), LEAK_B);
    CHECK_EQ(grade_of(&h, &l, "window < serve < main"), LEAK_B); /* two are live at the end */
    CHECK_EQ(grade_of(&h, &l, "temp < serve < main"), LEAK_GRADE_COUNT);
    CHECK_EQ(l.rows[0].grade, LEAK_A);
    CHECK_EQ(l.by_grade[LEAK_A].bytes, 100); /* of half; leak freed all of its own at the end */
}

/* Four turns survive nothing: five growing ones and three after them are needed. */
static void test_few_turns(void)
{
    static const struct {
        unsigned turns;
        enum leak_grade is;
    } cases[] = {{3, LEAK_B}, {7, LEAK_B}, {8, LEAK_A}, {9, LEAK_A}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        own(buf) struct buf b;
        buf_init(&b, 1 << 20);
        tell_turns(&b, cases[i].turns, "L", true, "");
        own(profile) struct profile *p = heap_story_told(b.data);
        own(heap) struct heap h;
        own(heap_leaks) struct heap_leaks l;
        CHECK(heap_of(&h, p, false) && heap_leaks_of(&l, &h, NULL));
        CHECK_EQ(l.rows[0].grade, cases[i].is);
    }
}

/* Twenty requests a second, rows once a second: what is not known at a turn's end is not held against it. */
static void test_quick_turns(void)
{
    /* The heap is read in the middle of a turn that has these live, and frees them before it ends. */
    static const unsigned uneven[] = {6, 2, 9, 4, 8, 1, 7, 3, 10, 5, 6, 2, 7, 4}, rising[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2, 3, 4};
    enum { SECONDS = sizeof uneven / sizeof *uneven };
    own(buf) struct buf b;
    buf_init(&b, 1 << 20);
    for (unsigned s = 0; s < SECONDS; s++) {
        buf_printf(&b, "+ u*%u 100 main;uneven\n+ r*%u 100 main;rising\n", uneven[s], rising[s]);
        if (s)
            buf_printf(&b, "- u*%u\n- r*%u\n", uneven[s - 1], rising[s - 1]);
        for (unsigned t = 0; t < 20; t++)
            buf_printf(&b, "+ x 64 main;leak\n+ c%u 10 main;come\n%sspan request r%u %u %u\n", t, t > 1 ? "- c0\n+ c0 10 main;come\n" : "", 20 * s + t,
                       1000 * s + 50 * t, 1000 * s + 50 * t + 40);
        for (unsigned t = 0; t < 20; t++)
            buf_printf(&b, "- c%u\n", t);
        buf_printf(&b, "at %u\n", 1000 * s + 1000);
    }
    own(profile) struct profile *p = heap_story_told(b.data);
    own(heap) struct heap h;
    own(heap_leaks) struct heap_leaks l;
    CHECK(heap_of(&h, p, false) && heap_leaks_of(&l, &h, NULL));
    CHECK_EQ(l.n_turns, 20 * SECONDS);
    CHECK_EQ(l.by_grade[LEAK_A].paths, 1);
    CHECK_EQ(grade_of(&h, &l, "leak < main"), LEAK_A);
    CHECK(l.rows[0].grew_in >= 8 * 20 && l.rows[0].grew_in <= SECONDS * 20 && l.rows[0].grew_in % 20 == 0);
    CHECK_EQ(l.rows[0].left_behind, 64 * (int64_t)l.rows[0].grew_in); /* of each turn, however many went unseen */
    CHECK_EQ(grade_of(&h, &l, "come < main"), LEAK_GRADE_COUNT);
}

/* Loading is no part of a turn, nor is what comes after the last. */
static void test_rate(void)
{
    own(profile) struct profile *p = heap_story_told("+ m 1000000 main;load\nat 1000\n+ a*3 100 main;serve\nat 2000\nspan request a 900 1900\n"
                                                     "+ b*5 100 main;serve\nat 3000\nspan request b 1900 2000\n+ z 77 main;exit\n");
    own(heap) struct heap h;
    CHECK(heap_of(&h, p, false));
    own(heap_turns) struct heap_turns t = heap_turns_of(p);
    struct heap_rate r = heap_per_turn(&h, &t);
    CHECK(r.bytes == 400 && r.allocations == 4);
}

/* Phases are turns where there are no requests: the one that comes most often. */
static void test_phases(void)
{
    own(buf) struct buf b;
    buf_init(&b, 1 << 20);
    buf_puts(&b, "span phase load 0 10\n");
    for (unsigned t = 1; t <= 12; t++)
        buf_printf(&b, "at %u\n+ x 64 main;decode\nat %u\nspan phase decode %u %u\n", 100 * t, 100 * t + 50, 100 * t, 100 * t + 50);
    own(profile) struct profile *p = heap_story_told(b.data);
    own(heap) struct heap h;
    own(heap_leaks) struct heap_leaks l;
    CHECK(heap_of(&h, p, false) && heap_leaks_of(&l, &h, NULL));
    CHECK_EQ(l.turn_kind, SPAN_PHASE);
    CHECK_STR(profile_string(p, l.turn_phase).at, "decode");
    CHECK_EQ(l.n_turns, 12);
    CHECK_EQ(l.rows[0].grade, LEAK_A);
}

static void test_suppressions(void)
{
    static const struct {
        const char *what, *file, *error;
        size_t left;
    } cases[] = {
        {"nothing", "", NULL, 3},
        {"a part of a name", "# known\n\n  leak:leak \r\n", NULL, 2},
        {"anchored", "leak:^eak\nleak:work$\n", NULL, 0},
        {"a star", "leak:l*y\n", NULL, 2},
        {"brackets are letters", "leak:operator new[]\nleak:fin?\n", NULL, 2},
        {"the caller counts", "leak:^main$", NULL, 0},
        {"another kind", "leak:x\nrace:foo\n", "line 2: 'race:foo' is no suppression of leaks", 0},
        {"no pattern", "leak:\n", "line 1: 'leak:' has no name in its pattern: it would hide every leak, or none", 0},
        {"everything at an end", "\nleak:*$\n", "line 2: 'leak:*$' has no name in its pattern: it would hide every leak, or none", 0},
        {"everything", "leak: *\n", "line 1: 'leak: *' has no name in its pattern: it would hide every leak, or none", 0},
    };
    own(profile) struct profile *p = heap_story_told("+ a 10 main;work;leaky\n+ b 20 main;work;fine\n+ c 30 main;work;operator new[]\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        own(leak_suppressions) struct leak_suppressions known = {0};
        own(reader) struct reader in;
        struct err e = {0};
        own(heap) struct heap h;
        own(heap_leaks) struct heap_leaks l = {0};
        printf("%s\n", cases[i].what);
        reader_over(&in, "rules", view_of(cases[i].file));
        bool ok = leak_suppressions_read(&known, &in, &e);
        CHECK_STR(ok ? "" : e.text, cases[i].error ? cases[i].error : "");
        CHECK(heap_of(&h, p, false));
        if (!ok)
            continue;
        CHECK(heap_leaks_of(&l, &h, &known));
        CHECK_EQ(l.n, cases[i].left);
        CHECK_EQ(l.suppressed.paths, 3 - cases[i].left);
        CHECK_EQ(l.suppressed.bytes + l.by_grade[LEAK_B].bytes, 60);
    }
}

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

/* A file may say anything; sums stop at the ends, and nothing is taken for a heap that is none. */
static void test_nonsense(void)
{
    static const struct measure_spec space[] = {{.name = {"alloc_space", 11}, .unit = UNIT_BYTES}, {.name = {"inuse_space", 11}, .unit = UNIT_BYTES}};
    struct builder *b = builder_new();
    set_id set = builder_set(b, VIEW("memory"), space, 2);
    stack_id f = story_stack(b, "f"), g = story_stack(b, "g");
    for (int i = 0; i < 4; i++)
        builder_sample(b, set, (uint64_t)i, CONTEXT_NONE, i % 2 ? f : g, (int64_t[]){i % 2 ? INT64_MAX : -INT64_MAX, i % 2 ? INT64_MAX : INT64_MIN + 1});
    own(profile) struct profile *p = NULL;
    CHECK(builder_finish(b, &p, NULL));
    own(heap) struct heap h;
    own(heap_leaks) struct heap_leaks l;
    own(heap_growth) struct heap_growth grown;
    CHECK(heap_of(&h, p, false) && heap_leaks_of(&l, &h, NULL) && heap_growth_of(&grown, &h));
    CHECK_EQ(sums_at(&h, "f")->of[HEAP_BYTES], INT64_MAX);
    CHECK_EQ(sums_at(&h, "g")->of[HEAP_LIVE_BYTES], INT64_MIN + 1);
    CHECK_EQ(h.whole.of[HEAP_PEAK], HEAP_UNKNOWN);
    struct builder *none = builder_new();
    own(profile) struct profile *empty = NULL;
    CHECK(builder_finish(none, &empty, NULL) && !heap_set(empty));
}

int main(void)
{
    test_totals();
    test_threads_and_temporaries();
    test_sampled();
    test_growth(true);
    test_growth(false);
    test_few_turns();
    test_quick_turns();
    test_rate();
    test_phases();
    test_suppressions();
    test_over_time();
    test_change();
    test_settled();
    test_exact_difference();
    test_groups();
    test_classes();
    test_mapped();
    test_nonsense();
    return CHECK_DONE();
}
