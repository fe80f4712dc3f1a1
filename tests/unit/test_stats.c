#include "check.h"
#include "formats/format.h"
#include "model/counted_calls.h"

/* Pieces of marshal, spelled as Python writes them. */
#define BYTES(s) {s, sizeof(s) - 1}
#define I(n) "i" n "\0\0\0"
#define ZERO "g\0\0\0\0\0\0\0\0"
#define HALF "g\0\0\0\0\0\0\340\77"  /* 0.5 */
#define TINY "g\225\326\46\350\13\56\21\76" /* 1e-9 */
#define KEY_F ")\3z\4a.py" I("\7") "z\1f"
#define KEY_G ")\3z\4a.py" I("\11") "z\1g"
#define FIVE "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define ROW_F(callers) ")\5" I("\1") I("\3") HALF HALF "{" callers "0"

static const struct {
    const char *what;
    struct view in;
    const char *out, *error;
} cases[] = {
    {"no function", BYTES("{0"), "", NULL},
    {"a function", BYTES("{" KEY_F ROW_F("") "0"), "functions f 3 1 500000000 500000000\n", NULL},
    {"a nanosecond", BYTES("{" KEY_F ")\5" I("\1") I("\1") TINY TINY "{0" "0"), "functions f 1 1 1 1\n", NULL},
    {"a whole zero for a time", BYTES("{" KEY_F ")\5" I("\1") I("\1") I("\0") ZERO "{0" "0"), "functions f 1 1 0 0\n", NULL},
    {"a caller; the counts change places", BYTES("{" KEY_F ROW_F(KEY_G ")\4" I("\3") I("\1") HALF HALF) "0"),
     "functions f 3 1 500000000 500000000\ncalls g f 3 1 500000000 500000000\n", NULL},
    {"itself", BYTES("{" KEY_F ROW_F(KEY_F ")\4" I("\2") I("\0") HALF HALF) "0"),
     "functions f 3 1 500000000 500000000\ncalls f f 2 0 500000000 500000000\n", NULL},
    {"callers that are counted only", BYTES("{" KEY_F ROW_F(KEY_G I("\3")) "0"),
     "functions f 3 1 500000000 500000000\ncalls g f 3\n", NULL},
    {"sampled", BYTES("{" ")\1z\13__sampled__" "T" KEY_F ROW_F(KEY_G I("\3")) "0"),
     "functions f 3 1 500000000 500000000 sampled\ncalls g f 3\n", NULL},
    {"references", BYTES("\373" "\251\3\372\4a.py" "\351\7\0\0\0" "\332\1f" ROW_F("r\1\0\0\0" "r\3\0\0\0") "0"),
     "functions f 3 1 500000000 500000000\ncalls f f 7\n", NULL},
    {"a large count", BYTES("{" KEY_F ")\5" I("\1") "l\3\0\0\0\0\0\0\0\1\0" HALF HALF "{0" "0"),
     "functions f 1073741824 1 500000000 500000000\n", NULL},
    {"a time in text", BYTES("{" KEY_F ")\5" I("\1") I("\1") "f\003" "0.5" HALF "{0" "0"),
     "functions f 1 1 500000000 500000000\n", NULL},
    {"a long tuple and long texts", BYTES("{" "(\3\0\0\0" "u\4\0\0\0a.py" I("\7") "t\1\0\0\0f" ROW_F("") "0"),
     "functions f 3 1 500000000 500000000\n", NULL},

    {"a code object for a name", BYTES("{)\3z\7profile" I("\0") "c" FIVE "s\1\0\0\0x" "[\1\0\0\0" "N" ")\0)\0)\0" "z\4a.py" "z\10<module>" "N"
                                       "\1\0\0\0" "N" ">\0\0\0\0" ROW_F("") "0"),
     "functions <module> 3 1 500000000 500000000\n", NULL},

    {"cut", BYTES("{" KEY_F ")\5" I("\1")), NULL, "ends inside a value, at byte 24"},
    {"no end", BYTES("{" KEY_F ROW_F("")), NULL, "ends inside a value, at byte 49"},
    {"more behind it", BYTES("{0x"), NULL, "the profile is complete, but more follows at byte 2"},
    {"not a dict", BYTES(")\0"), NULL, "not a dict, as a Python profile is"},
    {"a string reference of Python 2", BYTES("{R\0\0\0\0" "0"), NULL, "a value that no profile holds at byte 1"},
    {"None", BYTES("{NN0"), NULL, "function 1: a key that is not (file, line, function)"},
    {"half a code object", BYTES("{c\0\0\0\0"), NULL, "ends inside a value, at byte 6"},
    {"code that is none", BYTES("{c" FIVE "NNNNNNNN" "\0\0\0\0" "NN" "N0"), NULL, "code without a name ends at byte 36"},
    {"nothing referred to", BYTES("{r\0\0\0\0" "0"), NULL, "a reference to nothing at byte 6"},
    {"a ring", BYTES("\373" KEY_F "r\0\0\0\0" "0"), NULL, "a reference to nothing at byte 22"},
    {"a negative length", BYTES("{(\377\377\377\377"), NULL, "a negative length at byte 6"},
    {"a text that is not there", BYTES("{)\3u\377\377\377\177"), NULL, "ends inside a value, at byte 8"},
    {"a number past 2^63", BYTES("{" KEY_F ")\5" "l\5\0\0\0\0\0\0\0\0\0\0\0\10\0"), NULL, "a number past 2^63 at byte 34"},
    {"a key of two", BYTES("{)\2z\1az\1b" ROW_F("") "0"), NULL, "function 1: a key that is not (file, line, function)"},
    {"a negative line", BYTES("{)\3z\1ai\377\377\377\377z\1b" ROW_F("") "0"), NULL, "function 1: a line number that is none"},
    {"a negative count", BYTES("{" KEY_F ")\5" "i\377\377\377\377" I("\1") HALF HALF "{0" "0"), NULL,
     "function 1: a count that is not a count"},
    {"a time that is not a number", BYTES("{" KEY_F ")\5" I("\1") I("\1") "g\0\0\0\0\0\0\370\177" HALF "{0" "0"), NULL,
     "function 1: a time that no clock shows"},
    {"a time that is a text", BYTES("{" KEY_F ")\5" I("\1") I("\1") "z\1x" HALF "{0" "0"), NULL,
     "function 1: a time that is not a number"},
    {"four values", BYTES("{" KEY_F ")\4" I("\1") I("\1") HALF HALF "0"), NULL,
     "function 1: not (primitive calls, calls, self, cumulative, callers)"},
    {"a caller of three values", BYTES("{" KEY_F ROW_F(KEY_G ")\3" I("\3") I("\1") HALF) "0"), NULL,
     "function 1: caller 1: neither a count nor (calls, primitive calls, self, cumulative)"},
};

static void show_frame(const struct profile *p, frame_id f, struct buf *out)
{
    buf_puts(out, " ");
    buf_puts(out, profile_frame_name(p, f).at);
}

static void show_sample(const struct profile *p, const struct sample_set *set, size_t i, struct buf *out)
{
    const struct stack *s = profile_stack(p, set->stacks[i]);
    buf_puts(out, profile_string(p, set->name).at);
    if (s->caller.i)
        show_frame(p, profile_stack(p, s->caller)->frame, out);
    show_frame(p, s->frame, out);
    for (size_t m = 0; m < set->n_measures; m++)
        buf_printf(out, " %lld", (long long)set->values[m][i]);
}

static void show(const struct profile *p, struct buf *out)
{
    struct counted_calls what;
    CHECK(counted_calls_of(p, &what));
    for (uint32_t k = 0; k < profile_sets(p); k++) {
        const struct sample_set *set = profile_set(p, (set_id){k});
        CHECK_EQ(set == what.functions || counted_is_calls(p, set, &what), true);
        for (size_t i = 0; i < set->n; i++) {
            show_sample(p, set, i, out);
            buf_puts(out, set == what.functions && what.is_sampled ? " sampled\n" : "\n");
        }
    }
}

static bool read_bytes(struct view in, struct profile **out, struct err *e)
{
    own(builder) struct builder *b = builder_new();
    own(reader) struct reader r;
    reader_over(&r, "memory", in);
    return format_named("stats")->read(b, &r, e) && builder_finish(take(b), out, e);
}

/* What was read, and what is read from what was written: both are shown. */
static bool there_and_back(struct view in, struct buf *once, struct buf *twice, struct err *e)
{
    own(profile) struct profile *p = NULL;
    own(profile) struct profile *again = NULL;
    own(buf) struct buf file;
    struct sink s;
    buf_init(&file, 1 << 20);
    sink_to_buf(&s, &file);
    if (!read_bytes(in, &p, e) || !format_named("stats")->write(p, &s, e) || !sink_flush(&s, e) ||
        !read_bytes(buf_view(&file), &again, e))
        return false;
    show(p, once);
    show(again, twice);
    return true;
}

static void check_case(size_t i)
{
    own(buf) struct buf once, twice;
    buf_init(&once, 1 << 20);
    buf_init(&twice, 1 << 20);
    struct err e = {0};
    bool ok = there_and_back(cases[i].in, &once, &twice, &e);
    printf("%s\n", cases[i].what);
    CHECK_STR(ok ? once.data : e.text, cases[i].error ? cases[i].error : cases[i].out);
    CHECK_STR(twice.data, once.data);
    if (!cases[i].error)
        CHECK(format_for_content(cases[i].in) == format_named("stats"));
}

/* Deeper than any profile; deeper than our own stack, were it not refused. */
static void check_deep(void)
{
    own(buf) struct buf in;
    buf_init(&in, 1 << 24);
    for (int i = 0; i < 1000000; i++)
        buf_add(&in, ")\1", 2);
    struct err e = {0};
    own(profile) struct profile *p = NULL;
    CHECK(!read_bytes(buf_view(&in), &p, &e));
    CHECK_STR(e.text, "values nested deeper than in any profile at byte 401");
}

/* The same callers for every function, by reference: few bytes that ask for many pairs. */
static void check_bomb(void)
{
    own(buf) struct buf in;
    buf_init(&in, 1 << 24);
    buf_add(&in, "{", 1);
    for (unsigned k = 0; k < 2000; k++) {
        buf_add(&in, ")\3z\1ai", 6);
        buf_add(&in, (char[]){(char)k, (char)(k >> 8), 0, 0}, 4);
        buf_add(&in, "z\1f)\5" I("\1") I("\1") ZERO ZERO, 33);
        buf_add(&in, k ? "r\0\0\0\0" : "\373", k ? 5 : 1);
        for (unsigned c = 0; !k && c < 2000; c++) {
            buf_add(&in, ")\3z\1bi", 6);
            buf_add(&in, (char[]){(char)c, (char)(c >> 8), 0, 0}, 4);
            buf_add(&in, "z\1g" I("\1"), 8);
        }
        buf_add(&in, "0", k ? 0 : 1);
    }
    buf_add(&in, "0", 1);
    struct err e = {0};
    own(profile) struct profile *p = NULL;
    CHECK(!read_bytes(buf_view(&in), &p, &e));
    CHECK_EQ(e.kind, ERR_LIMIT);
}

static void check_sniff(void)
{
    static const struct view others[] = {BYTES("{\"a\": 1}"), BYTES("{}"), BYTES("{"), BYTES("a;b 1\n"), BYTES("{0 "), BYTES("\373\251\3x")};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK_EQ(format_named("stats")->sniff(others[i]), 0);
}

/* Stacks have no counts of calls: nothing is made up for them. */
static void check_refused(void)
{
    own(builder) struct builder *b = builder_new();
    own(profile) struct profile *p = NULL;
    struct err e = {0};
    struct sink s;
    own(buf) struct buf file;
    buf_init(&file, 1000);
    sink_to_buf(&s, &file);
    CHECK(builder_finish(take(b), &p, &e));
    CHECK(!format_named("stats")->write(p, &s, &e));
    CHECK_STR(e.text, "a .stats file holds counts of calls, and this profile has none");
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(i);
    check_deep();
    check_bomb();
    check_sniff();
    check_refused();
    return CHECK_DONE();
}
