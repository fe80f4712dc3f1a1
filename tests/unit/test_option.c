#include "check.h"
#include "base/option.h"

#define MOST_WORDS 16

struct knobs {
    bool json, tree;
    const char *to;
    uint64_t top, size_bytes, length_ns, width;
    int sort;
    struct option_list include;
};

static const char *const orders[] = {"self", "total", "name", NULL};

#define S struct knobs
static const struct option table[] = {
    FLAG('j', "json", S, json, "print JSON"),
    FLAG('t', "tree", S, tree, "print a tree"),
    TEXT('o', "form", S, to, "FORMAT", "what to write"),
    NUMBER('n', "top", S, top, "N", "how many", 1, 1000),
    BYTES(0, "size", S, size_bytes, "how much", 1024, UINT64_C(1) << 30),
    DURATION(0, "length", S, length_ns, "how long", 1000000, UINT64_MAX),
    NUMBER(0, "width", S, width, "COLUMNS", "how wide", 20, 200),
    CHOICE('s', "sort", S, sort, "BY", orders, "order"),
    LIST('i', "include", S, include, "PATTERN", "only these"),
    OPTIONS_END
};
#undef S

static const struct knobs defaults = {.top = 10, .to = "text", .length_ns = UINT64_C(1500000000), .size_bytes = 65536};

/* Every setting on one line, in the order of the table, then the words that are left. */
static void show(const struct knobs *k, char *const *words, struct buf *out)
{
    for (const struct option *o = table; o->name; o++) {
        buf_printf(out, "%s", o == table ? "" : " ");
        option_show(o, k, out);
        buf_puts(out, option_is_set(o, k) ? "" : "-");
    }
    for (buf_puts(out, " |"); *words; words++)
        buf_printf(out, " %s", *words);
}

static const struct {
    const char *what, *line, *out, *error;
} cases[] = {
    {"nothing",               "",                       "false false text 10 64KiB 1500ms - self - |", NULL},
    {"a word",                "in.folded",              "false false text 10 64KiB 1500ms - self - | in.folded", NULL},
    {"a lone dash is a word", "- --json",               "true false text 10 64KiB 1500ms - self - | -", NULL},
    {"value in the word",     "--top=5",                "false false text 5 64KiB 1500ms - self - |", NULL},
    {"value behind the word", "--top 5 x",              "false false text 5 64KiB 1500ms - self - | x", NULL},
    {"letter and value",      "-n5",                    "false false text 5 64KiB 1500ms - self - |", NULL},
    {"letter, then value",    "-n 5",                   "false false text 5 64KiB 1500ms - self - |", NULL},
    {"letters together",      "-jtn7",                  "true true text 7 64KiB 1500ms - self - |", NULL},
    {"value like an option",  "-o -n",                  "false false -n 10 64KiB 1500ms - self - |", NULL},
    {"equals in a value",     "--form=a=b",             "false false a=b 10 64KiB 1500ms - self - |", NULL},
    {"empty value",           "--form=",                "false false  10 64KiB 1500ms - self - |", NULL},
    {"the last one counts",   "--top 5 --top 6",        "false false text 6 64KiB 1500ms - self - |", NULL},
    {"off again",             "-j --no-json",           "false false text 10 64KiB 1500ms - self - |", NULL},
    {"flag with a word",      "--json=on --tree=false", "true false text 10 64KiB 1500ms - self - |", NULL},
    {"bytes",                 "--size 1.5MiB",          "false false text 10 1536KiB 1500ms - self - |", NULL},
    {"time",                  "--length 2m",            "false false text 10 64KiB 2m - self - |", NULL},
    {"choice",                "--sort total",           "false false text 10 64KiB 1500ms - total - |", NULL},
    {"list",                  "-i a --include=b -i c",  "false false text 10 64KiB 1500ms - self a,b,c |", NULL},
    {"the end of options",    "a -- --json -- b",       "false false text 10 64KiB 1500ms - self - | a --json -- b", NULL},

    {"unknown",               "--tpo 5",     NULL, "unknown option '--tpo' (did you mean '--top'?)"},
    {"unknown, far away",     "--frobnicate", NULL, "unknown option '--frobnicate'"},
    {"unknown with a value",  "--tpo=5",     NULL, "unknown option '--tpo' (did you mean '--top'?)"},
    {"unknown negation",      "--no-jsno",   NULL, "unknown option '--no-jsno' (did you mean '--no-json'?)"},
    {"nothing to negate",     "--no-top",    NULL, "unknown option '--no-top'"},
    {"unknown letter",        "-jq",         NULL, "unknown option '-q'"},
    {"no abbreviations",      "--inc a",     NULL, "unknown option '--inc'"},
    {"value missing",         "--top",       NULL, "--top needs N"},
    {"letter, none missing",  "-n",          NULL, "-n needs N"},
    {"not a number",          "--top 5x",    NULL, "--top: '5x' is not a whole number"},
    {"as it was typed",       "-n 5x",       NULL, "-n: '5x' is not a whole number"},
    {"negative",              "--top -5",    NULL, "--top: '-5' is not a whole number"},
    {"too small",             "--top 0",     NULL, "--top: 0 is outside 1..1000"},
    {"too large",             "--top 1001",  NULL, "--top: 1001 is outside 1..1000"},
    {"beyond 64 bits",        "--top 99999999999999999999", NULL,
     "--top: '99999999999999999999' is not a whole number"},
    {"too few bytes",         "--size 1",    NULL, "--size: 1 is outside 1KiB..1GiB"},
    {"no size",               "--size big",  NULL, "--size: 'big' is not a size such as 64K or 1.5GiB"},
    {"too short",             "--length 1us", NULL, "--length: 1us is less than 1ms"},
    {"no time",               "--length soon", NULL, "--length: 'soon' is not a time such as 10ms or 1.5s"},
    {"wrong choice",          "--sort slef", NULL, "--sort: 'slef' is not one of self, total, name (did you mean 'self'?)"},
    {"no choice at all",      "--sort 7",    NULL, "--sort: '7' is not one of self, total, name"},
    {"flag with a value",     "--json=maybe", NULL, "--json: 'maybe' is not true or false"},
    {"negation with a value", "--no-json=1", NULL, "--no-json takes no value"},
};

static void split(char *line, char **words)
{
    size_t n = 0;
    for (char *save = NULL, *w = strtok_r(line, " ", &save); w && n < MOST_WORDS; w = strtok_r(NULL, " ", &save))
        words[n++] = w;
    words[n] = NULL;
}

static void check_case(size_t i)
{
    printf("%s\n", cases[i].what);
    own(free) char *line = strdup(cases[i].line);
    char *words[MOST_WORDS + 1];
    split(line, words);
    struct knobs k = defaults;
    struct err e = {0};
    int n = -1;
    own(buf) struct buf got;
    buf_init(&got, 4096);
    struct option_group groups[] = {{table, &k}, {NULL, NULL}};
    if (options_from_argv(groups, words, &n, false, NULL, NULL, &e))
        show(&k, words, &got);
    else
        buf_printf(&got, e.hint[0] ? "%s (%s)" : "%s", e.text, e.hint);
    CHECK_STR(got.data, cases[i].error ? cases[i].error : cases[i].out);
    CHECK_EQ(e.kind, cases[i].error ? ERR_USAGE : ERR_NONE);
}

static void remember(void *self, const struct option *o, const char *spelling)
{
    buf_printf(self, "%s=%s ", spelling, o->name);
}

static void check_somebody_elses_command(void)
{
    char *words[] = {(char[]){"-j"}, (char[]){"report"}, (char[]){"--top"}, (char[]){"5"}, NULL};
    struct knobs k = defaults;
    struct err e = {0};
    int n = 0;
    own(buf) struct buf got, seen;
    buf_init(&got, 4096);
    buf_init(&seen, 4096);
    struct option_group groups[] = {{table, &k}, {NULL, NULL}};
    CHECK(options_from_argv(groups, words, &n, true, remember, &seen, &e));
    show(&k, words, &got);
    CHECK_EQ(n, 3);
    CHECK_STR(got.data, "true false text 10 64KiB 1500ms - self - | report --top 5");
    CHECK_STR(seen.data, "-j=json ");
}

static void check_environment(void)
{
    struct knobs k = defaults;
    struct err e = {0};
    own(buf) struct buf got, seen;
    buf_init(&got, 4096);
    buf_init(&seen, 4096);
    setenv("INFEROM_RUNS_SHOW_TOP", "7", 1);
    setenv("INFEROM_RUNS_SHOW_JSON", "true", 1);
    setenv("INFEROM_RUNS_SHOW_FORM", "", 1); /* empty says nothing */
    setenv("INFEROM_RUNS_SHOW_INCLUDE", "a,b", 1);
    CHECK(options_from_env(table, "runs show", &k, remember, &seen, &e));
    show(&k, (char *[]){NULL}, &got);
    CHECK_STR(got.data, "true false text 7 64KiB 1500ms - self a,b |");
    CHECK_EQ(k.include.n, 1);
    CHECK_STR(seen.data, "INFEROM_RUNS_SHOW_JSON=json INFEROM_RUNS_SHOW_TOP=top INFEROM_RUNS_SHOW_INCLUDE=include ");

    setenv("INFEROM_RUNS_SHOW_TOP", "many", 1);
    CHECK(!options_from_env(table, "runs show", &k, NULL, NULL, &e));
    CHECK_STR(e.text, "INFEROM_RUNS_SHOW_TOP: 'many' is not a whole number");
}

/* What the command line says replaces what was there; it does not add to it. */
static void check_list_is_replaced(void)
{
    struct knobs k = defaults;
    k.include = (struct option_list){.at = {"old"}, .n = 1};
    char *words[] = {(char[]){"-i"}, (char[]){"new"}, NULL};
    struct option_group groups[] = {{table, &k}, {NULL, NULL}};
    int n;
    CHECK(options_from_argv(groups, words, &n, false, NULL, NULL, NULL));
    CHECK_EQ(k.include.n, 1);
    CHECK_STR(k.include.at[0], "new");
    for (size_t i = k.include.n; i < OPTION_LIST_MOST; i++)
        CHECK(option_set(table, &k, "include", "x", NULL));
    struct err e = {0};
    CHECK(!option_set(table, &k, "include", "x", &e));
    CHECK_STR(e.text, "include: given more than 64 times");
}

static void check_spellings(void)
{
    static const struct {
        struct option o;
        const char *verb, *env, *key;
    } rows[] = {
        {{.name = "min-total"}, "report", "INFEROM_REPORT_MIN_TOTAL", "report.min-total"},
        {{.name = "json"}, "runs show", "INFEROM_RUNS_SHOW_JSON", "runs.show.json"},
        {{.name = "color"}, "", "INFEROM_COLOR", "color"},
        {{.name = "rate", .env = "OTHER_RATE", .key = "cpu.sample_rate_hz"}, "record", "OTHER_RATE", "cpu.sample_rate_hz"},
        {{.name = "help", .env = "", .key = ""}, "", "", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        own(buf) struct buf env, key;
        buf_init(&env, 256);
        buf_init(&key, 256);
        option_env(&rows[i].o, rows[i].verb, &env);
        option_key(&rows[i].o, rows[i].verb, &key);
        CHECK_STR(env.data, rows[i].env);
        CHECK_STR(key.data, rows[i].key);
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(i);
    check_somebody_elses_command();
    check_environment();
    check_list_is_replaced();
    check_spellings();
    struct err e = {0};
    CHECK(!option_set(table, &(struct knobs){0}, "tpo", "5", &e));
    CHECK_STR(e.text, "no setting called 'tpo'");
    return CHECK_DONE();
}
