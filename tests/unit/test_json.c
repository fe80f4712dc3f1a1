#include "base/json.h"
#include "base/mem.h"
#include "check.h"

#include <math.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* Each document is read twice: from memory, and from a socket that hands out one byte at a time. */
static const struct {
    const char *what;
    struct view in;
    const char *out; /* the tokens, as trace() spells them; up to the error */
    const char *error;
} readings[] = {
    /* Every kind of token. */
    {"null",               VIEW("null"),                    "null .",                          NULL},
    {"true and false",     VIEW("[true,false]"),            "[ yes no ] .",                    NULL},
    {"a text",             VIEW("\"abc\""),                 "'abc' .",                         NULL},
    {"an empty text",      VIEW("\"\""),                    "'' .",                            NULL},
    {"empty containers",   VIEW("[{},[]]"),                 "[ { } [ ] ] .",                   NULL},
    {"an object",          VIEW("{\"a\":1,\"b\":{\"c\":[2]}}"), "{ 'a' #1 'b' { 'c' [ #2 ] } } .", NULL},
    {"blanks everywhere",  VIEW(" \t\r\n[ 1 ,\n2 ]\n "),    "[ #1 #2 ] .",                     NULL},

    /* Numbers stay as they were written. */
    {"whole numbers",      VIEW("[0,-0,18446744073709551616]"), "[ #0 #-0 #18446744073709551616 ] .", NULL},
    {"fractions",          VIEW("[0.10,-1.5e+3,2E-7,1e9]"), "[ #0.10 #-1.5e+3 #2E-7 #1e9 ] .", NULL},
    {"a leading zero",     VIEW("01"),    "", "line 1: '01' is not a number"},
    {"a bare point",       VIEW("[1.]"),  "[", "line 1: '1.' is not a number"},
    {"a bare minus",       VIEW("-"),     "", "line 1: '-' is not a number"},
    {"a bare exponent",    VIEW("1e"),    "", "line 1: '1e' is not a number"},
    {"a sign inside",      VIEW("1-2"),   "", "line 1: '1-2' is not a number"},
    {"a leading plus",     VIEW("+1"),    "", "line 1: expected a value, found '+'"},

    /* Escapes. */
    {"every short escape", VIEW("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), "'\"\\/<08><0c><0a><0d><09>' .", NULL},
    {"escapes and text",   VIEW("\"a\\nb\\nc\""),           "'a<0a>b<0a>c' .",                 NULL},
    {"\\u, 1 to 3 bytes",  VIEW("\"\\u0041\\u00e9\\u20AC\""), "'A<c3><a9><e2><82><ac>' .",     NULL},
    {"\\u0000",            VIEW("\"a\\u0000b\""),           "'a<00>b' .",                      NULL},
    {"a surrogate pair",   VIEW("\"\\ud83d\\ude00\""),      "'<f0><9f><98><80>' .",            NULL},
    {"a lone high one",    VIEW("\"\\ud83dx\""),            "'<ef><bf><bd>x' .",               NULL},
    {"a lone low one",     VIEW("\"\\ude00\""),             "'<ef><bf><bd>' .",                NULL},
    {"high, then no low",  VIEW("\"\\ud83d\\u0041\""),      "'<ef><bf><bd>A' .",               NULL},
    {"two high ones",      VIEW("\"\\ud83d\\ud83d\\ude00\""), "'<ef><bf><bd><f0><9f><98><80>' .", NULL},
    {"an escaped key",     VIEW("{\"\\u0061\\\"\":1}"),     "{ 'a\"' #1 } .",                  NULL},
    {"not UTF-8",          VIEW("\"\xff\xc3\""),            "'<ff><c3>' .",                    NULL},
    {"no such escape",     VIEW("\"\\x\""),     "", "line 1: a text with an escape that does not exist"},
    {"a short \\u",        VIEW("\"\\u12\""),   "", "line 1: a text with an escape that does not exist"},
    {"\\u not hex",        VIEW("\"\\u12g4\""), "", "line 1: a text with an escape that does not exist"},
    {"a line break",       VIEW("[\n\"a\nb\"]"), "[", "line 2: byte 0x0a inside a text"},
    {"a NUL inside",       VIEW("\"a\0b\""),    "", "line 1: byte 0x00 inside a text"},
    {"a NUL outside",      VIEW("[\0]"),        "[", "line 1: expected a value, found byte 0x00"},

    /* Documents that end too early, or too late. */
    {"nothing",            VIEW(""),            "", "line 1: expected a value, found the end of the input"},
    {"blanks only",        VIEW(" \n\n"),       "", "line 3: expected a value, found the end of the input"},
    {"inside a text",      VIEW("[\"ab"),       "[", "line 1: the input ends inside a text"},
    {"behind a backslash", VIEW("\"\\"),        "", "line 1: the input ends inside a text"},
    {"inside a word",      VIEW("tru"),         "", "line 1: expected a value, found 't'"},
    {"inside an array",    VIEW("[1,\n"),       "[ #1", "line 2: expected a value, found the end of the input"},
    {"behind a key",       VIEW("{\"a\""),      "{ 'a'", "line 1: expected ':' behind a key, found the end of the input"},
    {"no value",           VIEW("{\"a\":}"),    "{ 'a'", "line 1: expected a value, found '}'"},
    {"a comma too much",   VIEW("[1,]"),        "[ #1", "line 1: expected a value, found ']'"},
    {"the same in objects", VIEW("{\"a\":1,}"), "{ 'a' #1", "line 1: expected a key in quotes, found '}'"},
    {"a comma missing",    VIEW("[1 2]"),       "[ #1", "line 1: expected ',' or ']', found '2'"},
    {"the same in objects", VIEW("{\"a\":1\n\"b\":2}"), "{ 'a' #1", "line 2: expected ',' or '}', found '\"'"},
    {"the wrong bracket",  VIEW("[1}"),         "[ #1", "line 1: expected ',' or ']', found '}'"},
    {"a key without quotes", VIEW("{a:1}"),     "{", "line 1: expected a key in quotes, found 'a'"},
    {"two documents",      VIEW("{}\n{}"),      "{ }", "line 2: expected nothing more, found '{'"},
    {"a byte too much",    VIEW("1 \x80"),      "#1", "line 1: expected nothing more, found byte 0x80"},
};

static void trace_text(struct buf *to, struct view text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c < 0x20 || c > 0x7e)
            buf_printf(to, "<%02x>", c);
        else
            buf_add(to, &c, 1);
    }
}

static void trace(struct buf *to, const struct json_token *t)
{
    static const char *const words[JSON_KIND_COUNT] = {
        [JSON_NULL] = "null", [JSON_OBJECT] = "{", [JSON_ARRAY] = "[",
        [JSON_OBJECT_END] = "}", [JSON_ARRAY_END] = "]", [JSON_END] = ".",
    };
    if (to->len)
        buf_puts(to, " ");
    if (t->kind == JSON_BOOL) {
        buf_puts(to, t->yes ? "yes" : "no");
    } else if (t->kind == JSON_NUMBER) {
        buf_puts(to, "#");
        trace_text(to, t->text);
    } else if (t->kind == JSON_TEXT) {
        buf_puts(to, "'");
        trace_text(to, t->text);
        buf_puts(to, "'");
    } else {
        buf_puts(to, words[t->kind]);
    }
}

static void check_reading(size_t i, struct reader *r)
{
    own(json_reader) struct json_reader j;
    json_from(&j, r);
    own(buf) struct buf out;
    buf_init(&out, 1 << 16);
    struct err e = {0};
    struct json_token t = {.kind = JSON_NULL};
    while (t.kind != JSON_END && json_next(&j, &t, &e))
        trace(&out, &t);
    CHECK_STR(out.data, readings[i].out);
    CHECK_STR(e.text, readings[i].error ? readings[i].error : "");
    CHECK_EQ(e.kind, readings[i].error ? ERR_MALFORMED : ERR_NONE);
}

/* A reader that gets these bytes in packets of at most `piece`. Sequenced packets keep their borders. */
static void dribble(struct reader *r, struct view bytes, size_t piece)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        exit(77);
    for (size_t at = 0; at < bytes.n; at += piece) {
        size_t n = bytes.n - at < piece ? bytes.n - at : piece;
        CHECK_EQ(send(ends[1], bytes.at + at, n, MSG_DONTWAIT), n);
    }
    close(ends[1]);
    *r = (struct reader){.name = "dribble", .fd = ends[0], .most_window = 1 << 20};
}

static void check_readings(void)
{
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        printf("%s\n", readings[i].what);
        own(reader) struct reader whole;
        reader_over(&whole, "memory", readings[i].in);
        check_reading(i, &whole);
        own(reader) struct reader bytewise;
        dribble(&bytewise, readings[i].in, 1);
        check_reading(i, &bytewise);
    }
}

static void check_large_texts(void)
{
    printf("texts larger than the window\n");
    const size_t n = (1 << 20) + 7;
    own(free) char *letters = mem_new(n + 1);
    memset(letters, 'x', n);
    int fd = memfd_create("large.json", MFD_CLOEXEC);
    dprintf(fd, "[\"%s\", \"%s\\u00e9\", {\"%s\": 7}]", letters, letters, letters);
    lseek(fd, 0, SEEK_SET);
    own(reader) struct reader r = {.name = "large.json", .fd = fd, .most_window = 4 << 20};

    own(json_reader) struct json_reader j;
    json_from(&j, &r);
    struct err e = {0};
    struct json_token t;
    CHECK(json_expect(&j, JSON_ARRAY, &t, &e));
    CHECK(json_expect(&j, JSON_TEXT, &t, &e));
    CHECK(view_same(t.text, (struct view){letters, n}));
    CHECK(json_expect(&j, JSON_TEXT, &t, &e));
    CHECK(t.text.n == n + 2 && !memcmp(t.text.at, letters, n) && !memcmp(t.text.at + n, "\xc3\xa9", 2));
    CHECK(json_expect(&j, JSON_OBJECT, &t, &e));
    CHECK(json_next_key(&j, &t, &e));
    CHECK(view_same(t.text, (struct view){letters, n}));
    CHECK(json_expect(&j, JSON_NUMBER, &t, &e));
    CHECK(!json_next_key(&j, &t, &e) && !e.kind);
    CHECK(!json_next_item(&j, &t, &e) && !e.kind);
    CHECK(json_expect(&j, JSON_END, &t, &e));
}

static void check_too_large(void)
{
    printf("a text larger than the most that was agreed\n");
    static char text[3 << 20];
    memset(text, 'x', sizeof text);
    text[0] = '\n';
    text[1] = '"';
    int fd = memfd_create("large.json", MFD_CLOEXEC);
    CHECK_EQ(write(fd, text, sizeof text), sizeof text);
    lseek(fd, 0, SEEK_SET);
    own(reader) struct reader r = {.name = "large.json", .fd = fd, .most_window = 1 << 20};
    own(json_reader) struct json_reader j;
    json_from(&j, &r);
    struct err e = {0};
    struct json_token t;
    CHECK(!json_next(&j, &t, &e));
    CHECK_EQ(e.kind, ERR_LIMIT);
    CHECK_STR(e.text, "line 2: a single piece of more than 1 MiB");
}

static void check_depth(void)
{
    printf("as deep as agreed, and one deeper\n");
    char text[JSON_DEEPEST + 1];
    memset(text, '[', sizeof text);
    for (size_t deep = JSON_DEEPEST; deep <= JSON_DEEPEST + 1; deep++) {
        own(reader) struct reader r;
        reader_over(&r, "memory", (struct view){text, deep});
        own(json_reader) struct json_reader j;
        json_from(&j, &r);
        struct err e = {0};
        struct json_token t;
        size_t opened = 0;
        while (json_next(&j, &t, &e))
            opened++;
        CHECK_EQ(opened, JSON_DEEPEST);
        CHECK_STR(e.text, deep == JSON_DEEPEST ? "line 1: expected a value, found the end of the input"
                                               : "line 1: nested deeper than 256 levels");
    }
}

static void check_lines(void)
{
    printf("tokens know their line\n");
    own(reader) struct reader r;
    reader_over(&r, "memory", VIEW("{\n\n\"a\"\n:\n1,\n\"b\": [\n2,\n3]\n}"));
    own(json_reader) struct json_reader j;
    json_from(&j, &r);
    static const uint64_t lines[] = {1, 3, 5, 6, 6, 7, 8, 8, 9, 9};
    struct err e = {0};
    struct json_token t;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        CHECK(json_next(&j, &t, &e));
        CHECK_EQ(t.line, lines[i]);
    }
    CHECK_EQ(t.kind, JSON_END);
}

static void check_skipping(void)
{
    printf("skipping\n");
    own(reader) struct reader r;
    reader_over(&r, "memory", VIEW("{\"a\": {\"x\": [1, {\"y\": []}]}, \"b\": 2, \"c\": [3, 4], \"d\": \"e\"}"));
    own(json_reader) struct json_reader j;
    json_from(&j, &r);
    struct err e = {0};
    struct json_token t;
    CHECK(json_expect(&j, JSON_OBJECT, &t, &e));
    CHECK(json_next_key(&j, &t, &e) && view_same(t.text, VIEW("a")));
    CHECK(json_skip(&j, &e));
    CHECK(json_next_key(&j, &t, &e) && view_same(t.text, VIEW("b")));
    CHECK(json_skip(&j, &e));
    CHECK(json_next_key(&j, &t, &e) && view_same(t.text, VIEW("c")));
    CHECK(json_expect(&j, JSON_ARRAY, &t, &e));
    struct json_token item;
    CHECK(json_next_item(&j, &item, &e) && view_same(item.text, VIEW("3")));
    CHECK(json_skip_rest(&j, &item, &e)); /* a number has no rest */
    CHECK(json_next_item(&j, &item, &e) && view_same(item.text, VIEW("4")));
    CHECK(!json_next_item(&j, &item, &e) && !e.kind);
    CHECK(json_next_key(&j, &t, &e) && view_same(t.text, VIEW("d")));
    CHECK(!json_expect(&j, JSON_NUMBER, &t, &e));
    CHECK_STR(e.text, "line 1: expected a number, found a text");
}

static void write_everything(struct json_writer *w)
{
    json_open(w, '{');
    json_key(w, "texts");
    json_open(w, '[');
    json_text(w, VIEW(""));
    json_text(w, VIEW("a\"b\\c/\b\f\n\r\t\0\x1f\x7f"));
    json_text(w, VIEW("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
    json_text(w, VIEW("<\xff|\xc3|\xc0\x80|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82>"));
    json_close(w, ']');
    json_key_view(w, VIEW("num\"bers"));
    json_open(w, '[');
    json_uint(w, 0);
    json_uint(w, UINT64_MAX);
    json_int(w, INT64_MIN);
    json_double(w, 0.1);
    json_double(w, 1.0 / 3);
    json_double(w, 1e300);
    json_double(w, (double)NAN);
    json_double(w, (double)INFINITY);
    json_decimal(w, -1250, 3);
    json_close(w, ']');
    json_key(w, "empty");
    json_open(w, '{');
    json_close(w, '}');
    json_key(w, "none");
    json_open(w, '[');
    json_close(w, ']');
    json_key(w, "words");
    json_open(w, '[');
    json_bool(w, true);
    json_bool(w, false);
    json_null(w);
    json_close(w, ']');
    json_close(w, '}');
}

static const char everything[] =
    "{\"texts\":[\"\",\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\",\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\","
    "\"<\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|"
    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd>\"],"
    "\"num\\\"bers\":[0,18446744073709551615,-9223372036854775808,0.1,0.3333333333333333,1e+300,null,null,-1.25],"
    "\"empty\":{},\"none\":[],\"words\":[true,false,null]}";

static void check_writing(void)
{
    printf("writing everything\n");
    own(buf) struct buf b;
    buf_init(&b, 1 << 16);
    struct sink s;
    sink_to_buf(&s, &b);
    struct json_writer w;
    json_to(&w, &s);
    write_everything(&w);
    struct err e = {0};
    CHECK(sink_flush(&s, &e));
    CHECK_STR(b.data, everything);
}

static void check_pretty(void)
{
    printf("writing for eyes\n");
    own(buf) struct buf b;
    buf_init(&b, 1 << 16);
    struct sink s;
    sink_to_buf(&s, &b);
    struct json_writer w;
    json_to_pretty(&w, &s);
    json_open(&w, '{');
    json_key(&w, "a");
    json_open(&w, '[');
    json_uint(&w, 1);
    json_open(&w, '{');
    json_close(&w, '}');
    json_close(&w, ']');
    json_key(&w, "b");
    json_null(&w);
    json_close(&w, '}');
    struct err e = {0};
    CHECK(sink_flush(&s, &e));
    CHECK_STR(b.data, "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": null\n}\n");
}

static void check_names(void)
{
    for (int k = 0; k < JSON_KIND_COUNT; k++)
        CHECK(json_kind_name((enum json_kind)k)[0]);
}

int main(void)
{
    check_readings();
    check_large_texts();
    check_too_large();
    check_depth();
    check_lines();
    check_skipping();
    check_writing();
    check_pretty();
    check_names();
    return CHECK_DONE();
}
