#include "check.h"
#include "formats/format.h"

static const struct {
    const char *what, *in, *out, *error;
} cases[] = {
    {"one stack",              "main;decode 3\n",               "main;decode 3\n",              NULL},
    {"same stack twice",       "a;b 1\na;b 2\n",                "a;b 3\n",                      NULL},
    {"spaces in a frame",      "run loop;x 4\n",                "run loop;x 4\n",               NULL},
    {"a number in a frame",    "run 7;x 12 4\n",                "run 7;x 12 4\n",               NULL},
    {"no final newline",       "a 1",                           "a 1\n",                        NULL},
    {"carriage returns",       "a;b 1\r\nc 2\r\n",              "a;b 1\nc 2\n",                 NULL},
    {"empty lines",            "\n\na 1\n\n",                   "a 1\n",                        NULL},
    {"remarks",                "# made by 7\na 1\n",            "a 1\n",                        NULL},
    {"not quite a remark",     "#\r 1\n",                       "#_ 1\n",                       NULL},
    {"caller before callee",   "a 1\na;b 2\na;b;c 3\na 4\n",    "a 5\na;b 2\na;b;c 3\n",        NULL},
    {"callee before caller",   "a;b;c 3\na;b 2\na 1\n",         "a 1\na;b 2\na;b;c 3\n",        NULL},
    {"a name that goes on",    "a;bc 1\na;b 2\na;bcd 3\n",      "a;bc 1\na;b 2\na;bcd 3\n",     NULL},
    {"recursion",              "f;f;f 2\nf;f 1\n",              "f;f 1\nf;f;f 2\n",             NULL},
    {"an empty frame",         "a;;b 1\na; 2\n",                "a;[unknown] 2\na;[unknown];b 1\n", NULL},
    {"the kernel",             "a;read_[k] 1\na;read 2\n",      "a;read_[k] 1\na;read 2\n",     NULL},
    {"inlined",                "a;f_[i] 1\n",                   "a;f_[i] 1\n",                  NULL},
    {"only a mark",            "_[k] 1\n",                      "_[k] 1\n",                     NULL},
    {"decimals",               "a 1.5\nb 2\nc 0.25\n",          "a 1.5\nb 2\nc 0.25\n",         NULL},
    {"count zero",             "a 0\nb 1\n",                    "b 1\n",                        NULL},
    {"not UTF-8",              "\xff\xfe;x 1\n",                "\xff\xfe;x 1\n",               NULL},
    {"count missing",          "a;b 1\na;b\n",                  NULL, "line 2: no count after the stack"},
    {"count not a number",     "a;b c\n",                       NULL, "line 1: no count after the stack"},
    {"count half a number",    "a;b 1x\n",                      NULL, "line 1: '1x' is not a count"},
    {"count alone",            "7\n",                           NULL, "line 1: no count after the stack"},
    {"count behind nothing",   " 7\n",                          NULL, "line 1: no stack before the count"},
    {"count negative",         "a -1\n",                        NULL, "line 1: no count after the stack"},
    {"count too large",        "a 9223372036854775808\n",       NULL, "line 1: '9223372036854775808' is not a count"},
    {"counts too large",       "a 9223372036854775807\nb 1\n",  NULL, "the values of 'samples' add up past 2^63"},
    {"too many decimals",      "a 0.0000000001\n",              NULL, "line 1: '0.0000000001' is not a count"},
};

static bool round_trip(const struct format *f, struct view in, struct buf *out, struct err *e)
{
    own(builder) struct builder *b = builder_new();
    own(reader) struct reader r;
    reader_over(&r, "memory", in);
    if (!f->read(b, &r, e))
        return false;
    own(profile) struct profile *p = NULL;
    if (!builder_finish(take(b), &p, e))
        return false;
    struct sink s;
    sink_to_buf(&s, out);
    return f->write(p, &s, e) && sink_flush(&s, e);
}

static void check_deep(void)
{
    own(buf) struct buf in, out;
    buf_init(&in, 1 << 24);
    buf_init(&out, 1 << 24);
    for (int i = 0; i < 300000; i++)
        buf_puts(&in, i ? ";f" : "f");
    buf_puts(&in, " 1\n");
    struct err e = {0};
    CHECK(round_trip(format_named("folded"), buf_view(&in), &out, &e));
    CHECK(view_same(buf_view(&in), buf_view(&out)));
}

static void check_sniff(void)
{
    static const struct {
        const char *head;
        bool is;
    } heads[] = {{"a;b 1\n", true}, {"main 5\n", true}, {"# remark\na;b 1\n", true}, {"{\"a\": 1}\n", false},
                 {"a;b\n", true}, {"hello world\n", false}, {"", false}, {"\n\n", false}, {"\x1f\x8b\x08", false}};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        CHECK_EQ(format_named("folded")->sniff(view_of(heads[i].head)) > 0, heads[i].is);
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        own(buf) struct buf out;
        buf_init(&out, 1 << 20);
        struct err e = {0};
        bool ok = round_trip(format_named("folded"), view_of(cases[i].in), &out, &e);
        printf("%s\n", cases[i].what);
        CHECK_STR(ok ? out.data : e.text, cases[i].error ? cases[i].error : cases[i].out);
    }
    check_deep();
    check_sniff();
    return CHECK_DONE();
}
