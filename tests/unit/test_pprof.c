#include "check.h"
#include "formats/gzip_stream.h"
#include "formats/proto_wire.h"
#include "sample_text.h"

/*
 * Messages are written in a small notation:
 *
 *     1:150        field 1, a number         1[1 2 3]     field 1, packed numbers
 *     6'text'      field 6, bytes            4{1:1 2:7}   field 4, a message
 *     !            a byte that is no field   ;64:9        field 64 as eight fixed bytes
 */
static const char *assemble(struct buf *to, const char *at)
{
    while (*at && *at != '}') {
        char *end = NULL;
        bool is_fixed = *at == ';';
        uint32_t field = (uint32_t)strtoul(at + is_fixed, &end, 10);
        own(buf) struct buf inner;
        buf_init(&inner, 1 << 16);
        switch (*end) {
        case ':': {
            uint64_t n = (uint64_t)strtoll(end + 1, &end, 0);
            proto_put_varint(to, (uint64_t)field << 3 | (is_fixed ? PROTO_FIXED64 : PROTO_VARINT));
            if (is_fixed)
                buf_add(to, &n, 8);
            else
                proto_put_varint(to, n);
            break;
        }
        case '[':
            for (end++; *end != ']'; end += *end == ' ')
                proto_put_varint(&inner, (uint64_t)strtoll(end, &end, 0));
            proto_put_bytes(to, field, buf_view(&inner));
            end++;
            break;
        case '{':
            end = (char *)(uintptr_t)assemble(&inner, end + 1) + 1;
            proto_put_bytes(to, field, buf_view(&inner));
            break;
        case '\'': {
            const char *close = strchr(end + 1, '\'');
            proto_put_bytes(to, field, view_between(end + 1, close));
            end = (char *)(uintptr_t)close + 1;
            break;
        }
        default:
            buf_puts(to, "\x07");
            end++;
            break;
        }
        for (at = end; *at == ' '; at++)
            ;
    }
    return at;
}

/*            0   1          2        3      4              5    6    7      8         9       10      11         12 */
#define TEXTS "6'' 6'samples' 6'count' 6'cpu' 6'nanoseconds' 6'f' 6'g' 6'x.c' 6'thread' 6'main' 6'tid' 6'request' 6'seconds' "
/*            13         14          15            16       17                       18        19    */
#define MORE  "6'bytes' 6'/bin/x' 6'0123abcd' 6'1e-3 count' 6'[kernel.kallsyms]' 6'cycles' 6'pid' "
#define COUNT "1{1:1 2:2} "
#define CPU   "1{1:3 2:4} "
#define F_AND_G "5{1:1 2:5} 5{1:2 2:6 4:7 5:40} 4{1:1 4{1:1}} 4{1:2 4{1:2 2:42}} "
#define PLAIN TEXTS MORE COUNT F_AND_G

static const struct {
    const char *what, *in, *samples, *error;
} cases[] = {
    {"leaf first",           PLAIN "2{1[2 1] 2[7]}",            "samples /0 | f;g 7\n", NULL},
    {"not packed",           PLAIN "2{1:2 1:1 2:7}",            "samples /0 | f;g 7\n", NULL},
    {"half packed",          PLAIN "2{1:2 1[1] 2:7}",           "samples /0 | f;g 7\n", NULL},
    {"no stack",             PLAIN "2{2:7}",                    "samples /0 |  7\n", NULL},
    {"recursion",            PLAIN "2{1[1 1 2 1] 2:7}",         "samples /0 | f;g;f;f 7\n", NULL},
    {"a negative value",     PLAIN "2{1[1] 2:-7}",              "samples /0 | f -7\n", NULL},
    {"texts last",           COUNT F_AND_G "2{1[1] 2:1} " TEXTS MORE, "samples /0 | f 1\n", NULL},
    {"two types",            TEXTS COUNT CPU F_AND_G "2{1[1] 2[3 30]}", "cpu /0 | f 3, 30\n", NULL},
    {"seconds",              TEXTS "1{1:3 2:12} " F_AND_G "2{1[1] 2:2}", "cpu /0 | f 2000000000\n", NULL},
    {"thousandths",          TEXTS MORE "1{1:1 2:16} " F_AND_G "2{1[1] 2:1250}", "samples /0 | f 1.25\n", NULL},
    {"ids like addresses",   TEXTS COUNT "5{1:0xffffffffffff 2:5} 4{1:0x7fff00001234 4{1:0xffffffffffff}} 2{1:0x7fff00001234 2:1}",
                             "samples /0 | f 1\n", NULL},
    {"ids back to front",    TEXTS COUNT "5{1:2 2:5} 5{1:1 2:6} 4{1:2 4{1:2}} 4{1:1 4{1:1}} 2{1[2 1] 2:1}",
                             "samples /0 | g;f 1\n", NULL},
    {"inlined",              TEXTS COUNT "5{1:1 2:5} 5{1:2 2:6} 4{1:1 3:0x10 4{1:1} 4{1:2}} 2{1:1 2:1}",
                             "samples /0 | g;f_[i] 1\n", NULL},
    {"only an address",      PLAIN "3{1:1 5:14} 4{1:3 2:1 3:0xabc} 2{1:3 2:1}", "samples /0 | 0xabc 1\n", NULL},
    {"not even an address",  PLAIN "4{1:3} 2{1:3 2:1}",         "samples /0 | [unknown] 1\n", NULL},
    {"the system's name",    TEXTS COUNT "5{1:1 3:6} 4{1:1 4{1:1}} 2{1:1 2:1}", "samples /0 | g 1\n", NULL},
    {"thread and tid",       PLAIN "2{1:1 2:1 3{1:8 2:9} 3{1:10 3:42}}", "samples main/42 | f 1\n", NULL},
    {"labels",               PLAIN "2{1:1 2:1 3{1:11 2:9} 3{1:11 3:5 4:13}}", "samples /0 request=5bytes request=main | f 1\n", NULL},
    {"a tid that is none",   PLAIN "2{1:1 2:1 3{1:10 3:-4}}",   "samples /0 tid=-4 | f 1\n", NULL},
    {"unknown fields",       PLAIN "99:1 99'x' ;64:9 2{1:1 2:1 77:3} 4{1:9 88{1:1}}", "samples /0 | f 1\n", NULL},
    {"nine types",           TEXTS COUNT COUNT COUNT COUNT COUNT COUNT COUNT COUNT CPU F_AND_G "2{1:1 2[1 2 3 4 5 6 7 8 9]}",
                             "cpu /0 | f 1, 2, 3, 4, 5, 6, 7, 8\ncpu 2 /0 | f 9\n", NULL},

    {"nothing",              "",                    NULL, "no strings in it: not a profile"},
    {"no types",             TEXTS,                 NULL, "no sample types in it"},
    {"string 0",             "6'x' " COUNT,         NULL, "string 0 is not empty"},
    {"a string too far",     "6'' 1{1:7}",          NULL, "sample type 1: string 7 does not exist: there are 1"},
    {"a value missing",      TEXTS COUNT CPU "2{2:1}", NULL, "sample 1: 1 values for 2 sample types"},
    {"a value too much",     PLAIN "2{2[1]} 2{2[1 2]}", NULL, "sample 2: 2 values for 1 sample types"},
    {"no such location",     PLAIN "2{1:9 2:1}",    NULL, "sample 1: location 9 does not exist"},
    {"location 0",           PLAIN "2{1:0 2:1}",    NULL, "sample 1: location 0 does not exist"},
    {"no such function",     TEXTS COUNT "4{1:5 4{1:9}}", NULL, "location 5: function 9 does not exist"},
    {"no such mapping",      TEXTS COUNT "4{1:5 2:9}", NULL, "location 5: mapping 9 does not exist"},
    {"no such name",         TEXTS COUNT "5{1:5 2:99}", NULL, "function 5: string 99 does not exist: there are 13"},
    {"no such path",         TEXTS COUNT "3{1:5 5:99}", NULL, "mapping 5: string 99 does not exist: there are 13"},
    {"no such label",        PLAIN "2{2:1 3{1:99}}", NULL, "sample 1: string 99 does not exist: there are 20"},
    {"no such comment",      TEXTS COUNT "13:99",   NULL, "comment: string 99 does not exist: there are 13"},
    {"no such default",      TEXTS COUNT "14:99",   NULL, "default sample type: string 99 does not exist: there are 13"},
    {"a location twice",     TEXTS COUNT "4{1:5} 4{1:5}", NULL, "location 5 is there twice"},
    {"a function twice",     TEXTS COUNT "5{1:1} 5{1:1}", NULL, "function 1 is there twice"},
    {"a mapping without id", TEXTS COUNT "3{5:1}",  NULL, "mapping number 1 has no id"},
    {"too large",            TEXTS "1{1:3 2:12} 2{2:0x7fffffffffffffff}", NULL,
                             "sample 1: value 1 does not fit: 9223372036854775807 times 1000000000"},
    {"too large together",   PLAIN "2{2:0x7fffffffffffffff} 2{2:1}", NULL, "the values of 'samples' add up past 2^63"},
    {"a number for a message", TEXTS COUNT "2:7",   NULL, "field 2 is not spelled as in a profile"},
    {"no field",             TEXTS "!",             NULL, "broken field before byte 85 of the message"},
    {"broken inside",        PLAIN "2'\x08'",       NULL, "sample 1: broken sample before byte 196 of the message"},
};

static bool read_text_message(const char *notation, bool zipped, struct profile **out, struct err *e)
{
    own(buf) struct buf message, file;
    buf_init(&message, 1 << 16);
    buf_init(&file, 1 << 16);
    assemble(&message, notation);
    if (!zipped)
        return read_as("pprof", buf_view(&message), out, e);
    struct sink plain, to;
    sink_to_buf(&to, &file);
    own(gzip) struct gzip z;
    return gzip_to(&z, &plain, &to, e) && (sink_add(&plain, buf_view(&message)), gzip_end(&z, &plain, e)) &&
           read_as("pprof", buf_view(&file), out, e);
}

static void check_reading(size_t i, bool zipped)
{
    own(profile) struct profile *p = NULL;
    own(buf) struct buf out;
    buf_init(&out, 1 << 16);
    struct err e = {0};
    bool ok = read_text_message(cases[i].in, zipped, &p, &e);
    CHECK_EQ(ok, !cases[i].error);
    if (ok)
        dump_samples(&out, p);
    CHECK_STR(ok ? out.data : e.text, ok ? cases[i].samples : cases[i].error);
}

static void check_tables(void)
{
    printf("mappings, files, lines, facts, period, clock\n");
    own(profile) struct profile *p = NULL;
    struct err e = {0};
    CHECK(read_text_message(TEXTS MORE COUNT CPU "3{1:7 2:0x1000 3:0x2000 4:0x10 5:14 6:15} 3{1:8 5:17} "
                            "5{1:1 2:5 4:7 5:40} 4{1:1 2:7 3:0x1010 4{1:1 2:42}} 4{1:2 2:8 3:0x99 4{1:1}} 2{1[2 1] 2[1 10]} "
                            "9:1700000000000000000 10:5000 11{1:3 2:4} 12:10 13[5 6] 14:1 7:11", false, &p, &e));
    CHECK_STR(e.text, "");
    const struct sample_set *set = profile_set(p, (set_id){0});
    const struct stack *leaf = profile_stack(p, set->stacks[0]);
    const struct frame *f = profile_frame(p, profile_stack(p, leaf->caller)->frame);
    const struct function *function = profile_function(p, f->function);
    const struct mapping *m = profile_mapping(p, function->mapping);
    CHECK_EQ(f->address, 0x1010);
    CHECK_EQ(f->line, 42);
    CHECK_EQ(function->line, 40);
    CHECK_STR(profile_string(p, function->file).at, "x.c");
    CHECK_STR(profile_string(p, m->path).at, "/bin/x");
    CHECK_STR(profile_string(p, m->build_id).at, "0123abcd");
    CHECK(m->start == 0x1000 && m->limit == 0x2000 && m->offset == 0x10);
    CHECK_EQ(profile_frame(p, leaf->frame)->kind, FRAME_KERNEL);
    CHECK_STR(profile_string(p, set->name).at, "cpu");
    CHECK_EQ(set->shown, 0);
    CHECK_EQ(set->period, 0); /* nanoseconds are no period of counts */
    CHECK(profile_has_wall_offset(p));
    CHECK_EQ(profile_wall_offset_ns(p), 1700000000000000000);
    CHECK_EQ(profile_end_ns(p), 5000);
    CHECK_STR(profile_string(p, profile_fact_named(p, VIEW("comment"))->value).at, "f");
    CHECK_STR(profile_string(p, profile_fact_named(p, VIEW("comment 2"))->value).at, "g");
    CHECK_STR(profile_string(p, profile_fact_named(p, VIEW("drop_frames"))->value).at, "request");
}

/* Whatever a file said once, it says again after one more way through. */
static void check_same_bytes(const char *what, const char *notation)
{
    printf("%s\n", what);
    own(profile) struct profile *p = NULL;
    own(profile) struct profile *back = NULL;
    own(buf) struct buf once, twice;
    buf_init(&once, 1 << 20);
    buf_init(&twice, 1 << 20);
    struct err e = {0};
    CHECK(read_text_message(notation, false, &p, &e));
    CHECK(write_as("pprof", p, &once, &e));
    CHECK(read_as("pprof", buf_view(&once), &back, &e));
    CHECK(write_as("pprof", back, &twice, &e));
    CHECK_STR(e.text, "");
    CHECK(view_same(buf_view(&once), buf_view(&twice)));
    own(buf) struct buf was, is;
    buf_init(&was, 1 << 20);
    buf_init(&is, 1 << 20);
    dump_samples(&was, p);
    dump_samples(&is, back);
    CHECK_STR(is.data, was.data);
    CHECK_EQ(profile_set(back, (set_id){0})->shown, profile_set(p, (set_id){0})->shown);
    CHECK_EQ(profile_set(back, (set_id){0})->period, profile_set(p, (set_id){0})->period);
}

static void check_writing(void)
{
    check_same_bytes("inlined frames and mappings", TEXTS MORE COUNT CPU
        "3{1:1 2:4096 5:14 6:15} 5{1:1 2:5 4:7 5:3} 5{1:2 2:6} 4{1:1 2:1 3:0x10 4{1:1 2:4} 4{1:2 2:5}} 4{1:2 2:1 3:0x20} "
        "2{1[1 2 1] 2[1 10]} 2{1[2] 2[2 20]} 11{1:3 2:4} 12:10 9:1000 10:50 13:5");
    check_same_bytes("labels and threads", PLAIN
        "2{1:1 2:1 3{1:8 2:9} 3{1:10 3:42} 3{1:11 3:5 4:13}} 2{1:1 2:1 3{1:8 2:9} 3{1:10 3:9} 3{1:19 3:7}} 2{1:1 2:1 3{1:11 2:9}} 14:1");
    check_same_bytes("units", TEXTS MORE "1{1:1 2:16} 1{1:3 2:18} 1{1:5 2:13} " F_AND_G "2{1:1 2[1250 5 6]} 14:3");
    check_same_bytes("negative values", PLAIN "2{1:1 2:-5} 2{1:2 2:5}");
}

static void check_added_up(void)
{
    printf("samples of one stack are one\n");
    own(profile) struct profile *p = NULL;
    own(profile) struct profile *back = NULL;
    own(buf) struct buf file, out;
    buf_init(&file, 1 << 20);
    buf_init(&out, 1 << 20);
    struct err e = {0};
    CHECK(read_text_message(PLAIN "2{1:1 2:1} 2{1:2 2:5} 2{1:1 2:2} 2{1:1 2:0}", false, &p, &e));
    CHECK(write_as("pprof", p, &file, &e));
    CHECK(read_as("pprof", buf_view(&file), &back, &e));
    dump_samples(&out, back);
    CHECK_STR(out.data, "samples /0 | f 3\nsamples /0 | g 5\n");
}

/* Two sets with a measure of the same name: side by side, zero where the other one is. */
static void check_two_sets(void)
{
    printf("two sets\n");
    own(builder) struct builder *b = builder_new();
    struct measure_spec time = {.name = VIEW("time"), .unit = UNIT_NS};
    set_id on = builder_set(b, VIEW("cpu"), &time, 1), off = builder_set(b, VIEW("off-cpu"), &time, 1);
    stack_id f = builder_push(b, STACK_ROOT, builder_frame_named(b, VIEW("f")));
    stack_id g = builder_push(b, f, builder_frame_named(b, VIEW("g")));
    builder_sample(b, on, TIME_NONE, CONTEXT_NONE, f, &(int64_t){3});
    builder_sample(b, off, TIME_NONE, CONTEXT_NONE, f, &(int64_t){4});
    builder_sample(b, off, TIME_NONE, CONTEXT_NONE, g, &(int64_t){5});
    builder_fact(b, VIEW("machine"), VIEW("m1"));
    own(profile) struct profile *p = NULL;
    own(profile) struct profile *back = NULL;
    own(buf) struct buf file, out;
    buf_init(&file, 1 << 20);
    buf_init(&out, 1 << 20);
    struct err e = {0};
    CHECK(builder_finish(take(b), &p, &e));
    CHECK(write_as("pprof", p, &file, &e));
    CHECK(read_as("pprof", buf_view(&file), &back, &e));
    dump_samples(&out, back);
    CHECK_STR(out.data, "cpu_time /0 | f 3, 4\ncpu_time /0 | f;g 0, 5\n");
    CHECK_STR(profile_string(back, profile_set(back, (set_id){0})->measures[1].name).at, "off-cpu_time");
    CHECK_STR(profile_string(back, profile_fact_named(back, VIEW("comment"))->value).at, "machine: m1");
}

/* A number nobody said is none that a thread could have; two names are two threads. */
static void check_threads_by_name(void)
{
    printf("threads known by name alone\n");
    own(profile) struct profile *p = NULL;
    struct err e = {0};
    CHECK(read_text_message(PLAIN "2{2:1 3{1:8 2:9}} 2{2:1 3{1:8 2:9}} 2{2:1 3{1:8 2:5}}", false, &p, &e));
    CHECK_EQ(profile_threads(p), 3);
    CHECK(profile_thread(p, (thread_id){1})->tid < 0);
    CHECK(profile_thread(p, (thread_id){2})->tid < 0);
}

static void check_no_profile(void)
{
    printf("an empty profile\n");
    own(builder) struct builder *b = builder_new();
    own(profile) struct profile *p = NULL;
    own(buf) struct buf file;
    buf_init(&file, 1 << 20);
    struct err e = {0};
    CHECK(builder_finish(take(b), &p, &e));
    CHECK(write_as("pprof", p, &file, &e));
    CHECK(!memcmp(file.data, "\x1f\x8b\x08\0\0\0\0\0", 8)); /* no time in the header: the same bytes tomorrow */
    CHECK(!read_as("pprof", buf_view(&file), &p, &e));
    CHECK_STR(e.text, "no sample types in it");
}

static const struct {
    const char *what;
    struct view in;
    const char *error;
} gzip_cases[] = {
    {"cut off",     VIEW("\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb"), "the compressed data ends at byte 11, too early"},
    {"broken",      VIEW("\x1f\x8b\x08\0\0\0\0\0\0\x03\xff\xff\xff\xff"), "broken compressed data at byte 11"},
    {"followed",    VIEW("\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0xyz"),
                    "something follows the compressed data at byte 20"},
    {"twice",       VIEW("\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0"
                         "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0"), "no strings in it: not a profile"},
};

static void check_gzip(void)
{
    for (size_t i = 0; i < sizeof gzip_cases / sizeof *gzip_cases; i++) {
        printf("gzip %s\n", gzip_cases[i].what);
        own(profile) struct profile *p = NULL;
        struct err e = {0};
        CHECK(!read_as("pprof", gzip_cases[i].in, &p, &e));
        CHECK_STR(e.text, gzip_cases[i].error);
    }
}

/* A thousand times as large inside as outside: taken only as far as agreed. */
static void check_bomb(void)
{
    printf("more inside than agreed\n");
    own(buf) struct buf file;
    buf_init(&file, 1 << 20);
    static const char zeros[50000];
    struct sink plain, to;
    sink_to_buf(&to, &file);
    struct err e = {0};
    own(gzip) struct gzip z;
    CHECK(gzip_to(&z, &plain, &to, &e));
    for (int i = 0; i < 20; i++)
        sink_add(&plain, (struct view){zeros, sizeof zeros});
    CHECK(gzip_end(&z, &plain, &e));
    CHECK(file.len < 2000);
    for (int zipped = 0; zipped < 2; zipped++) {
        own(reader) struct reader r;
        own(buf) struct buf small;
        buf_init(&small, 100);
        reader_over(&r, "memory", zipped ? buf_view(&file) : (struct view){zeros, sizeof zeros});
        CHECK(!gzip_read(&r, &small, &e));
        CHECK_EQ(e.kind, ERR_LIMIT);
        CHECK_STR(e.text, "more than 0 MiB inside");
    }
    CHECK_EQ(format_named("pprof")->sniff(buf_view(&file)), 1); /* gzip, but of nothing we know */
}

static void check_sniff(void)
{
    static const struct {
        const char *what, *in;
        int score;
    } heads[] = {
        {"a profile", TEXTS COUNT, 90},
        {"types first", COUNT TEXTS, 90},
        {"no types yet", "9:1 10:1 6'x'", 30},
        {"another message", "1:5 2:6", 0},
        {"broken", COUNT "!", 0},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        printf("sniff: %s\n", heads[i].what);
        own(buf) struct buf b;
        buf_init(&b, 1 << 16);
        assemble(&b, heads[i].in);
        CHECK_EQ(format_named("pprof")->sniff(buf_view(&b)), heads[i].score);
    }
    CHECK_EQ(format_named("pprof")->sniff(VIEW("main;f 3\n")), 0);
    CHECK_EQ(format_named("pprof")->sniff(VIEW("{\"profiles\": []}")), 0);
    CHECK_EQ(format_named("pprof")->sniff(VIEW("")), 0);
}

/* Whatever the dice say: no stack gains or loses anything on the way out and back in. */
static void check_round_trip(uint64_t seed)
{
    static const struct measure_spec measures[] = {
        {.name = VIEW("samples"), .unit = UNIT_COUNT, .decimals = 3},
        {.name = VIEW("cpu"), .unit = UNIT_NS},
        {.name = VIEW("cycles"), .unit = UNIT_OTHER, .unit_name = VIEW("cycles")},
        {.name = VIEW("space"), .unit = UNIT_BYTES},
    };
    own(profile) struct profile *p = random_profile(seed, measures, 4, seed % 2 ? -500000 : 0);
    own(profile) struct profile *back = NULL;
    own(buf) struct buf file;
    buf_init(&file, 1 << 24);
    struct err e = {0};
    CHECK(write_as("pprof", p, &file, &e));
    CHECK(read_as("pprof", buf_view(&file), &back, &e));
    CHECK_STR(e.text, "");
    for (size_t m = 0; back && m < 4; m++) {
        const struct sample_set *set = profile_set(p, (set_id){0}), *set_back = profile_set(back, (set_id){0});
        own(buf) struct buf was, is;
        buf_init(&was, 1 << 24);
        buf_init(&is, 1 << 24);
        dump_totals(&was, p, set, m);
        dump_totals(&is, back, set_back, m);
        CHECK_STR(is.data, was.data);
        CHECK_EQ(set_back->measures[m].total, set->measures[m].total);
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        printf("%s\n", cases[i].what);
        check_reading(i, false);
        check_reading(i, true);
    }
    check_tables();
    check_writing();
    check_added_up();
    check_two_sets();
    check_threads_by_name();
    check_no_profile();
    check_gzip();
    check_bomb();
    check_sniff();
    for (uint64_t seed = 0; seed < 200; seed++)
        check_round_trip(seed);
    return CHECK_DONE();
}
