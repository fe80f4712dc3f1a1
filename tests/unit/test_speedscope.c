#include "check.h"
#include "sample_text.h"

#define FRAMES "\"shared\": {\"frames\": [{\"name\": \"a\"}, {\"name\": \"b\", \"file\": \"b.c\", \"line\": 7, \"col\": 3}, {\"name\": \"c\"}]}"
#define PROFILES(list) "{" FRAMES ", \"profiles\": [" list "]}"
#define SAMPLED(unit, samples, weights)                                                                  \
    "{\"type\": \"sampled\", \"name\": \"t\", \"unit\": \"" unit "\", \"startValue\": 0, \"endValue\": 0," \
    " \"samples\": " samples ", \"weights\": " weights "}"
#define EVENTED(unit, events)                                                                            \
    "{\"type\": \"evented\", \"name\": \"t\", \"unit\": \"" unit "\", \"startValue\": 0, \"endValue\": 0," \
    " \"events\": " events "}"
#define O(frame, at) "{\"type\": \"O\", \"frame\": " frame ", \"at\": " at "}"
#define C(frame, at) "{\"type\": \"C\", \"frame\": " frame ", \"at\": " at "}"

static const struct {
    const char *what, *in, *samples, *error;
} cases[] = {
    /* Sampled. */
    {"sampled, root first", PROFILES(SAMPLED("none", "[[0, 1], [0]]", "[2, 3]")),
     "samples t/-1 | a;b 2\nsamples t/-1 | a 3\n", NULL},
    {"bytes", PROFILES(SAMPLED("bytes", "[[2]]", "[4096]")), "bytes t/-1 | c 4096\n", NULL},
    {"times begin at the start", PROFILES("{\"type\": \"sampled\", \"unit\": \"nanoseconds\", \"startValue\": 100, "
     "\"samples\": [[0], [1], [2]], \"weights\": [5, 6, 7]}"),
     "time @100 /-1 | a 5\ntime @105 /-1 | b 6\ntime @111 /-1 | c 7\n", NULL},
    {"microseconds", PROFILES(SAMPLED("microseconds", "[[0], [1]]", "[1.5, 2]")),
     "time @0 t/-1 | a 1500\ntime @1500 t/-1 | b 2000\n", NULL},
    {"milliseconds", PROFILES(SAMPLED("milliseconds", "[[0]]", "[0.000001]")), "time @0 t/-1 | a 1\n", NULL},
    {"seconds, exactly", PROFILES(SAMPLED("seconds", "[[0], [1]]", "[0.1, 9007199254.740993001]")),
     "time @0 t/-1 | a 100000000\ntime @100000000 t/-1 | b 9007199254740993001\n", NULL},
    {"less than a nanosecond adds up", PROFILES(SAMPLED("nanoseconds", "[[0], [1], [0], [1]]", "[0.5, 0.5, 0.25, 0.75]")),
     "time @0 t/-1 | a 1\ntime @1 t/-1 | b 0\ntime @1 t/-1 | a 0\ntime @1 t/-1 | b 1\n", NULL},
    {"what JavaScript prints", PROFILES(SAMPLED("seconds", "[[0], [1]]", "[0.30000000000000004, 1.0000000000000009e-3]")),
     "time @0 t/-1 | a 300000000\ntime @300000000 t/-1 | b 1000000\n", NULL},
    {"fractions of counts", PROFILES(SAMPLED("none", "[[0], [1], [2]]", "[1.5, 0.125, 2e3]")),
     "samples t/-1 | a 1.5\nsamples t/-1 | b 0.125\nsamples t/-1 | c 2000\n", NULL},
    {"one digit less where the sum demands it", PROFILES(SAMPLED("none", "[[0], [1]]", "[900000000000000000, 0.26]")),
     "samples t/-1 | a 900000000000000000\nsamples t/-1 | b 0.3\n", NULL},
    {"hardly anything", PROFILES(SAMPLED("none", "[[0], [1], [2]]", "[1e-30, 1E-99999999999999999999, 0e+99999]")),
     "samples t/-1 | a 0\nsamples t/-1 | b 0\nsamples t/-1 | c 0\n", NULL},
    {"more digits than fit", PROFILES(SAMPLED("none", "[[0]]", "[0.00000000000000000000000000000000000000000000012345]")),
     "samples t/-1 | a 0\n", NULL},
    {"forty digits", PROFILES(SAMPLED("none", "[[0]]", "[12.34567890123456789012345678901234567890123]")),
     "samples t/-1 | a 12.34567890123456789\n", NULL},
    {"before the beginning", PROFILES("{\"type\": \"sampled\", \"unit\": \"nanoseconds\", \"startValue\": -2.5, "
     "\"samples\": [[0], [1]], \"weights\": [2, 3]}"), "time @0 /-1 | b 3\ntime /-1 | a 2\n", NULL},
    {"an empty stack", PROFILES(SAMPLED("none", "[[], [0]]", "[1, 2]")), "samples t/-1 |  1\nsamples t/-1 | a 2\n", NULL},
    {"recursion", PROFILES(SAMPLED("none", "[[0, 0, 0], [0, 0]]", "[1, 2]")),
     "samples t/-1 | a;a;a 1\nsamples t/-1 | a;a 2\n", NULL},
    {"weights before samples, frames last",
     "{\"profiles\": [{\"weights\": [1], \"samples\": [[2]], \"unit\": \"none\", \"name\": \"x\", \"type\": \"sampled\"}]," FRAMES "}",
     "samples x/-1 | c 1\n", NULL},
    {"several profiles, several units",
     PROFILES(SAMPLED("none", "[[0]]", "[1]") ", " SAMPLED("seconds", "[[0]]", "[1]") ", " SAMPLED("none", "[[1]]", "[0.5]")),
     "samples t/-1 | a 1\nsamples t/-3 | b 0.5\ntime @0 t/-2 | a 1000000000\n", NULL},
    {"no profiles in the list", PROFILES(""), "", NULL},
    {"keys nobody knows", "{\"x\": {\"profiles\": 1}, \"profiles\": [{\"y\": [[]], \"samples\": [], \"weights\": []}]}", "", NULL},
    {"nulls", "{\"name\": null, \"shared\": {\"frames\": [{\"name\": \"a\", \"file\": null, \"line\": null}]}, \"profiles\": []}", "", NULL},

    /* Evented. */
    {"evented", PROFILES(EVENTED("nanoseconds", "[" O("0", "10") "," O("1", "13") "," C("1", "20") "," C("0", "21") "]")),
     "time @10 t/-1 | a 3\ntime @13 t/-1 | a;b 7\ntime @20 t/-1 | a 1\n", NULL},
    {"a gap is nobody's", PROFILES(EVENTED("none", "[" O("0", "0") "," C("0", "1") "," O("0", "5") "," C("0", "7.5") "]")),
     "samples t/-1 | a 1\nsamples t/-1 | a 2.5\n", NULL},
    {"no events", PROFILES(EVENTED("none", "[]")), "", NULL},
    {"closed before opened", PROFILES(EVENTED("none", "[" C("0", "0") "]")), NULL,
     "profile 1 't': event 1 closes frame 0, but none is open"},
    {"not nested", PROFILES(EVENTED("none", "[" O("0", "0") "," O("1", "1") "," C("0", "2") "]")), NULL,
     "profile 1 't': event 3 closes frame 0, but the innermost open one is 1"},
    {"back in time", PROFILES(EVENTED("none", "[" O("0", "1") "," C("0", "0.9") "]")), NULL,
     "profile 1 't': event 2 goes back in time"},
    {"left open", PROFILES(EVENTED("none", "[" O("0", "1") "]")), NULL,
     "profile 1 't': frames are still open after the last event: 1"},
    {"no time", PROFILES(EVENTED("none", "[{\"type\": \"O\", \"frame\": 0}]")), NULL, "profile 1 't': event 1 has no 'at'"},
    {"no frame", PROFILES(EVENTED("none", "[{\"type\": \"O\", \"at\": 0}]")), NULL, "profile 1 't': event 1 has no 'frame'"},
    {"no type", PROFILES(EVENTED("none", "[{\"frame\": 0, \"at\": 0}]")), NULL, "profile 1 't': event 1 has no 'type'"},
    {"another type", PROFILES(EVENTED("none", "[{\"type\": \"X\", \"frame\": 0, \"at\": 0}]")), NULL,
     "profile 1 't': event 1 is neither 'O' (opens) nor 'C' (closes)"},
    {"an event that is none", PROFILES(EVENTED("none", "[7]")), NULL, "profile 1 't': event 1 is not an object"},

    /* What is wrong, and with which profile. */
    {"a weight missing", PROFILES(SAMPLED("none", "[[0], [1]]", "[1]")), NULL, "profile 1 't': 2 samples, but 1 weights"},
    {"a negative weight", PROFILES(SAMPLED("none", "[[0], [1]]", "[1, -1]")), NULL, "profile 1 't': weight 2 is negative"},
    {"a frame that is not there", PROFILES(SAMPLED("none", "[[0]]", "[1]") ", " SAMPLED("none", "[[3]]", "[1]")), NULL,
     "profile 2 't': frame 3 does not exist: there are 3, counted from 0"},
    {"no frames at all", "{\"profiles\": [{\"samples\": [[0]], \"weights\": [1]}]}", NULL,
     "profile 1: frame 0 does not exist: there are 0, counted from 0"},
    {"half a frame", PROFILES(SAMPLED("none", "[[0.5]]", "[1]")), NULL,
     "profile 1 't': line 1: the index of a frame is a whole number"},
    {"a sample that is none", PROFILES(SAMPLED("none", "[0]", "[1]")), NULL, "profile 1 't': line 1: sample 1 is not an array"},
    {"a weight that is none", PROFILES(SAMPLED("none", "[[0]]", "[\"1\"]")), NULL,
     "profile 1 't': line 1: expected a number, found a text"},
    {"too large", PROFILES(SAMPLED("none", "[[0]]", "[1e19]")), NULL, "profile 1 't': line 1: a number of 10^19 or more"},
    {"far too large", PROFILES(SAMPLED("none", "[[0]]", "[1e99999999999999999999]")), NULL,
     "profile 1 't': line 1: a number of 10^19 or more"},
    {"too large together", PROFILES(SAMPLED("none", "[[0], [0]]", "[9e18, 9e18]")), NULL,
     "the values of 'samples' add up past 2^63"},
    {"too late", PROFILES(SAMPLED("seconds", "[[0]]", "[9223372037]")), NULL, "profile 1 't': the values add up past 2^63"},
    {"both kinds", PROFILES("{\"samples\": [], \"events\": []}"), NULL, "profile 1: both sampled and evented"},
    {"another kind", PROFILES("{\"type\": \"traced\"}"), NULL, "profile 1: neither \"sampled\" nor \"evented\""},
    {"no kind", PROFILES("{\"name\": \"a\x01z\"}"), NULL, "profile 1: line 1: byte 0x01 inside a text"},
    {"nothing in it", PROFILES("{\"name\": \"a\\u0001z\"}"), NULL, "profile 1 'a?z': neither samples nor events"},
    {"another unit", PROFILES("{\"unit\": \"fortnights\"}"), NULL,
     "profile 1: a unit that is none of none, bytes, nanoseconds, microseconds, milliseconds, seconds"},
    {"a profile that is none", PROFILES("3"), NULL, "line 1: profile 1 is not an object"},
    {"a frame without name", "{\"shared\": {\"frames\": [{\"file\": \"x\"}]}}", NULL, "frame 0 has no name"},
    {"a frame that is none", "{\"shared\": {\"frames\": [\"x\"]}}", NULL, "line 1: frame 0 is not an object"},
    {"no profiles", "{" FRAMES "}", NULL, "no \"profiles\" in it"},
    {"not an object", "[]", NULL, "line 1: expected an object, found an array"},
    {"cut off", "{\"profiles\": [{\n\"name\": \"x\",\n\"samples\": [[0", NULL,
     "profile 1 'x': line 3: expected ',' or ']', found the end of the input"},
    {"something behind it", PROFILES("") "x", NULL, "line 1: expected nothing more, found 'x'"},
};

static void check_reading(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        printf("%s\n", cases[i].what);
        own(profile) struct profile *p = NULL;
        own(buf) struct buf out;
        buf_init(&out, 1 << 16);
        struct err e = {0};
        bool ok = read_as("speedscope", view_of(cases[i].in), &p, &e);
        CHECK_EQ(ok, !cases[i].error);
        if (ok)
            dump_samples(&out, p);
        CHECK_STR(ok ? out.data : e.text, ok ? cases[i].samples : cases[i].error);
        CHECK(ok || !read_as("speedscope", view_of(cases[i].in), &p, NULL)); /* the answer no is enough */
    }
}

static void check_frames(void)
{
    printf("files and lines\n");
    own(profile) struct profile *p = NULL;
    struct err e = {0};
    CHECK(read_as("speedscope", VIEW(PROFILES(SAMPLED("none", "[[1]]", "[1]"))), &p, &e));
    const struct sample_set *set = profile_set(p, (set_id){0});
    const struct function *f = profile_function(p, profile_frame(p, profile_stack(p, set->stacks[0])->frame)->function);
    CHECK_STR(profile_string(p, f->file).at, "b.c");
    CHECK_EQ(f->line, 7);
}

/* py-spy tells the running line: one function on two lines is one function. */
static void check_py_spy(void)
{
    printf("py-spy\n");
    own(profile) struct profile *p = NULL;
    struct err e = {0};
    CHECK(read_as("speedscope", VIEW("{\"profiles\": [{\"samples\": [[0], [1]], \"weights\": [1, 1]}], \"shared\": {\"frames\": ["
                                     "{\"name\": \"decode\", \"file\": \"w.py\", \"line\": 5},"
                                     "{\"name\": \"decode\", \"file\": \"w.py\", \"line\": 6}]}, \"exporter\": \"py-spy@0.4.3\"}"),
                  &p, &e));
    const struct sample_set *set = profile_set(p, (set_id){0});
    const struct frame *a = profile_frame(p, profile_stack(p, set->stacks[0])->frame);
    const struct frame *b = profile_frame(p, profile_stack(p, set->stacks[1])->frame);
    CHECK_EQ(a->function.i, b->function.i);
    CHECK(a->line == 5 && b->line == 6);
    CHECK_EQ(a->kind, FRAME_PYTHON);
    CHECK_STR(profile_string(p, profile_fact_named(p, VIEW("exporter"))->value).at, "py-spy@0.4.3");
}

/* What is written for what. */

static void check_written(const char *what, struct profile *taken, const char *want)
{
    printf("%s\n", what);
    own(profile) struct profile *p = taken;
    own(buf) struct buf out;
    buf_init(&out, 1 << 20);
    struct err e = {0};
    static const char head[] = "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"inferom\",";
    CHECK(write_as("speedscope", p, &out, &e));
    CHECK(!strncmp(out.data, head, sizeof head - 1));
    CHECK_STR(out.len > sizeof head ? out.data + sizeof head - 1 : "", want);
}

static struct profile *finished(struct builder *b)
{
    struct profile *p = NULL;
    struct err e = {0};
    CHECK(builder_finish(b, &p, &e));
    return p;
}

static const struct measure_spec cpu = {.name = VIEW("cpu"), .unit = UNIT_NS};

static struct profile *two_threads(void)
{
    struct builder *b = builder_new();
    set_id set = builder_set(b, VIEW("cpu"), &cpu, 1);
    thread_id main = builder_thread(b, PROCESS_NONE, 7), other = builder_thread(b, PROCESS_NONE, 8);
    builder_name_thread(b, main, VIEW("main"));
    context_id of_main = builder_context(b, main, LABELS_NONE), of_other = builder_context(b, other, LABELS_NONE);
    func_id f = builder_function(b, (struct function){.name = builder_string(b, VIEW("f")), .line = 3});
    stack_id f10 = builder_push(b, STACK_ROOT, builder_frame(b, (struct frame){.function = f, .line = 10}));
    stack_id f11 = builder_push(b, STACK_ROOT, builder_frame(b, (struct frame){.function = f, .line = 11}));
    stack_id at = builder_push(b, f11, builder_frame(b, (struct frame){.address = 0xabc}));
    builder_sample(b, set, 1000, of_main, f10, &(int64_t){5});
    builder_sample(b, set, 1005, of_other, at, &(int64_t){7});
    builder_sample(b, set, 1006, of_main, f11, &(int64_t){6}); /* the same function: one with the first */
    builder_sample(b, set, 1007, of_main, at, &(int64_t){0});
    builder_sample(b, set, 1008, of_main, STACK_ROOT, &(int64_t){2});
    builder_fact(b, VIEW("command"), VIEW("prog -x"));
    return finished(b);
}

static struct profile *two_measures(void)
{
    struct builder *b = builder_new();
    struct measure_spec measures[] = {
        {.name = VIEW("objects"), .unit = UNIT_COUNT}, {.name = VIEW("space"), .unit = UNIT_BYTES}};
    set_id set = builder_set(b, VIEW("heap"), measures, 2);
    builder_show(b, set, 1, 0);
    stack_id f = builder_push(b, STACK_ROOT, builder_frame_named(b, VIEW("f")));
    stack_id g = builder_push(b, STACK_ROOT, builder_frame_named(b, VIEW("g")));
    builder_sample(b, set, TIME_NONE, CONTEXT_NONE, f, (int64_t[]){1, 100});
    builder_sample(b, set, TIME_NONE, CONTEXT_NONE, g, (int64_t[]){0, 10});
    builder_sample(b, set, TIME_NONE, CONTEXT_NONE, f, (int64_t[]){2, 200});
    return finished(b);
}

static struct profile *spans(void)
{
    struct builder *b = builder_new();
    thread_id t = builder_thread(b, PROCESS_NONE, 7);
    str_id outer = builder_string(b, VIEW("outer")), inner = builder_string(b, VIEW("inner"));
    builder_span(b, (struct span){.start_ns = 100, .length_ns = 50, .thread = t, .name = outer});
    builder_span(b, (struct span){.start_ns = 110, .length_ns = 5, .thread = t, .name = inner});
    builder_span(b, (struct span){.start_ns = 140, .length_ns = 20, .thread = t, .name = inner}); /* overlaps */
    builder_span(b, (struct span){.start_ns = 150, .length_ns = 0, .thread = t, .name = outer});
    return finished(b);
}

static struct profile *two_processes(void)
{
    struct builder *b = builder_new();
    set_id set = builder_set(b, VIEW("cpu"), &cpu, 1);
    mapping_id libx = builder_mapping(b, (struct mapping){.path = builder_string(b, VIEW("/lib/x.so"))});
    func_id nameless = builder_function(b, (struct function){.mapping = libx});
    stack_id at = builder_push(b, STACK_ROOT, builder_frame(b, (struct frame){.function = nameless, .address = 0xabc}));
    for (int32_t pid = 1; pid <= 2; pid++) {
        process_id process = builder_process(b, pid, 0);
        builder_name_process(b, process, pid == 1 ? VIEW("server") : VIEW("worker"));
        context_id context = builder_context(b, builder_thread(b, process, pid), LABELS_NONE);
        builder_sample(b, set, TIME_NONE, context, at, &(int64_t){pid});
    }
    return finished(b);
}

static void check_writing(void)
{
    check_written("two processes", two_processes(),
        "\"name\":\"profile\",\"shared\":{\"frames\":[{\"name\":\"[/lib/x.so+0xabc]\"}]},\"profiles\":["
        "{\"type\":\"sampled\",\"unit\":\"nanoseconds\",\"name\":\"server/thread 1\",\"startValue\":0,\"endValue\":1,"
        "\"samples\":[[0]],\"weights\":[1]},"
        "{\"type\":\"sampled\",\"unit\":\"nanoseconds\",\"name\":\"worker/thread 2\",\"startValue\":0,\"endValue\":2,"
        "\"samples\":[[0]],\"weights\":[2]}],\"activeProfileIndex\":0}\n");
    check_written("two threads in time", two_threads(),
        "\"name\":\"prog -x\",\"shared\":{\"frames\":[{\"name\":\"f\",\"line\":3},{\"name\":\"0xabc\"}]},\"profiles\":["
        "{\"type\":\"sampled\",\"unit\":\"nanoseconds\",\"name\":\"main\",\"startValue\":0,\"endValue\":13,"
        "\"samples\":[[0],[]],\"weights\":[11,2]},"
        "{\"type\":\"sampled\",\"unit\":\"nanoseconds\",\"name\":\"thread 8\",\"startValue\":5,\"endValue\":12,"
        "\"samples\":[[0,1]],\"weights\":[7]}],\"activeProfileIndex\":0}\n");
    check_written("two measures without times", two_measures(),
        "\"name\":\"profile\",\"shared\":{\"frames\":[{\"name\":\"f\"},{\"name\":\"g\"}]},\"profiles\":["
        "{\"type\":\"sampled\",\"unit\":\"none\",\"name\":\"all threads (heap objects)\",\"startValue\":0,\"endValue\":3,"
        "\"samples\":[[0]],\"weights\":[3]},"
        "{\"type\":\"sampled\",\"unit\":\"bytes\",\"name\":\"all threads (heap space)\",\"startValue\":0,\"endValue\":310,"
        "\"samples\":[[0],[1]],\"weights\":[300,10]}],\"activeProfileIndex\":1}\n");
    check_written("spans", spans(),
        "\"name\":\"profile\",\"shared\":{\"frames\":[{\"name\":\"outer\"},{\"name\":\"inner\"}]},\"profiles\":["
        "{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":\"thread 7\",\"events\":["
        "{\"type\":\"O\",\"frame\":0,\"at\":0},{\"type\":\"O\",\"frame\":1,\"at\":10},{\"type\":\"C\",\"frame\":1,\"at\":15},"
        "{\"type\":\"C\",\"frame\":0,\"at\":50},{\"type\":\"O\",\"frame\":0,\"at\":50},{\"type\":\"C\",\"frame\":0,\"at\":50}],"
        "\"startValue\":0,\"endValue\":50},"
        "{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":\"thread 7\",\"events\":["
        "{\"type\":\"O\",\"frame\":1,\"at\":40},{\"type\":\"C\",\"frame\":1,\"at\":60}],"
        "\"startValue\":40,\"endValue\":60}],\"activeProfileIndex\":0}\n");
    check_written("nothing", finished(builder_new()),
        "\"name\":\"profile\",\"shared\":{\"frames\":[]},\"profiles\":[],\"activeProfileIndex\":0}\n");
}

static void check_negative(void)
{
    printf("negative values\n");
    own(profile) struct profile *p = random_profile(3, &cpu, 1, -10000000);
    own(buf) struct buf out;
    buf_init(&out, 1 << 20);
    struct err e = {0};
    CHECK(!write_as("speedscope", p, &out, &e));
    CHECK_STR(e.text, "speedscope knows no negative values, and 'cpu' holds some");
    CHECK_EQ(out.len, 0);
}

static void check_sniff(void)
{
    static const struct {
        const char *what;
        struct view head;
        int score;
    } heads[] = {
        {"the schema",        VIEW("\n {\"$schema\": \"https://www.speedscope.app/file-format-schema.json\""), 100},
        {"profiles, no schema", VIEW("{\"profiles\": [{\"unit\": "), 60},
        {"frames, no schema", VIEW("{\"shared\": {\"frames\": ["), 60},
        {"other JSON",        VIEW("{\"traceEvents\": []}"), 0},
        {"an array",          VIEW("[\"shared\", \"frames\"]"), 0},
        {"blanks",            VIEW("  "), 0},
        {"a NUL",             VIEW("\0{"), 0},
        {"nothing",           VIEW(""), 0},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        printf("sniff: %s\n", heads[i].what);
        CHECK_EQ(format_named("speedscope")->sniff(heads[i].head), heads[i].score);
    }
}

/* Whatever the dice say: no stack gains or loses anything on the way out and back in. */
static void check_round_trip(uint64_t seed)
{
    static const struct measure_spec measures[] = {
        {.name = VIEW("cpu"), .unit = UNIT_NS},
        {.name = VIEW("samples"), .unit = UNIT_COUNT, .decimals = 3},
        {.name = VIEW("bytes"), .unit = UNIT_BYTES},
    };
    static const char *const sets_read[] = {"time", "samples", "bytes"};
    own(profile) struct profile *p = random_profile(seed, measures, 3, 0);
    own(profile) struct profile *back = NULL;
    own(buf) struct buf file;
    buf_init(&file, 1 << 24);
    struct err e = {0};
    CHECK(write_as("speedscope", p, &file, &e));
    CHECK(read_as("speedscope", buf_view(&file), &back, &e));
    CHECK_STR(e.text, "");
    for (uint32_t k = 0; back && k < profile_sets(back); k++) {
        const struct sample_set *set = profile_set(back, (set_id){k});
        own(buf) struct buf was, is;
        buf_init(&was, 1 << 24);
        buf_init(&is, 1 << 24);
        for (size_t m = 0; m < 3; m++)
            if (!strcmp(profile_string(back, set->name).at, sets_read[m]))
                dump_totals(&was, p, profile_set(p, (set_id){0}), m);
        dump_totals(&is, back, set, 0);
        CHECK_STR(is.data, was.data);
    }
    CHECK(profile_set(p, (set_id){0})->n < 20 || profile_sets(back) == 3);
}

int main(void)
{
    check_reading();
    check_frames();
    check_py_spy();
    check_writing();
    check_negative();
    check_sniff();
    for (uint64_t seed = 0; seed < 200; seed++)
        check_round_trip(seed);
    return CHECK_DONE();
}
