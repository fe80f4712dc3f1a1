/* Stories whose answers a reader can add up by hand: what was allocated, is live, was live at the peak, leaks, grew. */
#include "analyse/heap.h"
#include "analyse/heap_growth.h"
#include "analyse/heap_groups.h"
#include "analyse/heap_leaks.h"
#include "heap_paths.h"
#include "heap_story.h"

#include <math.h>

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

/* Live blocks by request, as they are looked at now and then; and spans that counted what was allocated in them. */
static struct profile *left_behind(unsigned turns, unsigned lives, unsigned every)
{
    static const struct measure_spec heap[] = {{.name = {"alloc_objects", 13}, .unit = UNIT_COUNT}, {.name = {"alloc_space", 11}, .unit = UNIT_BYTES},
                                               {.name = {"inuse_objects", 13}, .unit = UNIT_COUNT}, {.name = {"inuse_space", 11}, .unit = UNIT_BYTES}};
    static const struct measure_spec left[] = {{.name = {"left_objects", 12}, .unit = UNIT_COUNT}, {.name = {"left_space", 10}, .unit = UNIT_BYTES}};
    struct builder *b = builder_new();
    set_id rows = builder_set(b, VIEW("heap"), heap, 4), by_request = builder_set(b, VIEW("heap.left"), left, 2);
    thread_id thread = builder_thread(b, builder_process(b, 1, 0), 1);
    stack_id stack = story_stack(b, "main;serve");
    int64_t live = 0;
    for (unsigned t = 0; t < turns + 8; t++) { /* a reading behind each turn */
        uint64_t ns = 100 * (uint64_t)t + 90;
        struct label ids[3] = {{.key = builder_string(b, VIEW("request")), .number = t + 1},
                               {.key = builder_string(b, VIEW("allocations")), .number = t % every == 0},
                               {.key = builder_string(b, VIEW("allocated")), .number = t % every == 0 ? 50 + t : 0}};
        if (t < turns) {
            builder_span(b, (struct span){.start_ns = 100 * (uint64_t)t, .length_ns = 80, .thread = thread, .name = builder_string(b, VIEW("r")),
                                          .labels = builder_labels(b, ids, 3), .kind = SPAN_REQUEST});
            context_id who = builder_context(b, thread, builder_labels(b, ids, 1));
            live += t % every == 0 ? 50 + t : 0;
            if (t % every == 0)
                builder_sample(b, by_request, ns, who, stack, (int64_t[]){1, 50 + t});
        }
        if (lives && t >= lives && t - lives < turns && (t - lives) % every == 0) {
            ids[0].number = t - lives + 1;
            live -= 50 + (t - lives);
            builder_sample(b, by_request, ns, builder_context(b, thread, builder_labels(b, ids, 1)), stack, (int64_t[]){-1, -(int64_t)(50 + t - lives)});
        }
        builder_sample(b, rows, ns, builder_context(b, thread, LABELS_NONE), stack, (int64_t[]){1, 1000, 0, t + 1 == turns + 8 ? live : 0});
    }
    struct profile *p = NULL;
    CHECK(builder_finish(b, &p, NULL));
    return p;
}

static void test_left_behind(void)
{
    static const struct {
        const char *what;
        unsigned turns, lives, every;
        enum leak_grade is;
        size_t grew_in, of_turns;
    } cases[] = {
        {"for ever", 20, 0, 1, LEAK_A, 17, 17},
        {"every other turn", 21, 0, 2, LEAK_A, 9, 18},
        {"every third", 21, 0, 3, LEAK_B, 6, 18},
        {"too few", 7, 0, 1, LEAK_B, 4, 4},
        {"just enough", 8, 0, 1, LEAK_A, 5, 5},
        {"kept for three turns", 20, 3, 1, LEAK_GRADE_COUNT, 0, 0},
        {"kept for seven: of four at once", 20, 7, 1, LEAK_GRADE_COUNT, 4, 17},
        {"kept for eight: of five at once, but that is no growth", 40, 8, 1, LEAK_GRADE_COUNT, 5, 37},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        own(profile) struct profile *p = left_behind(cases[i].turns, cases[i].lives, cases[i].every);
        own(heap) struct heap h;
        own(heap_leaks) struct heap_leaks l;
        printf("%s\n", cases[i].what);
        CHECK(heap_of(&h, p, false) && heap_leaks_of(&l, &h, NULL));
        CHECK_EQ(l.n_turns, cases[i].turns);
        CHECK_EQ(l.n, cases[i].is != LEAK_GRADE_COUNT);
        if (!l.n)
            continue;
        CHECK_EQ(l.rows[0].grade, cases[i].is);
        CHECK_EQ(l.rows[0].grew_in, cases[i].grew_in);
        CHECK_EQ(l.rows[0].of_turns, cases[i].of_turns);
    }
}

static void test_counted_turns(void)
{
    own(profile) struct profile *p = left_behind(10, 0, 2);
    own(heap) struct heap h;
    CHECK(heap_of(&h, p, false));
    own(heap_turns) struct heap_turns t = heap_turns_of(p);
    struct heap_rate r = heap_per_turn(&h, &t);
    CHECK(r.is_counted);
    CHECK(fabs(r.allocations - 0.5) < 1e-12 && fabs(r.bytes - (5 * 50 + 20) / 10.0) < 1e-12);
    CHECK_EQ(r.least_bytes, 0);
    CHECK_EQ(r.most_bytes, 58);
    own(heap_groups) struct heap_groups g = heap_groups_of(&h, VIEW("request"), false);
    CHECK_EQ(g.n, 10);
    CHECK_EQ(g.rows[0].number, 9); /* the ninth request allocated most */
    CHECK_EQ(g.rows[0].sums.of[HEAP_BYTES], 58);
    CHECK_EQ(g.rows[0].sums.of[HEAP_LIVE_BYTES], 58);
    CHECK_EQ(g.rows[0].times, 1);
    CHECK_EQ(g.rows[9].sums.of[HEAP_LIVE], 0);
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
    test_left_behind();
    test_counted_turns();
    test_rate();
    test_phases();
    test_suppressions();
    test_nonsense();
    return CHECK_DONE();
}
