#include "check.h"
#include "verbs/top_keys.h"

#define S UINT64_C(1000000000)

static const struct {
    const char *what, *typed, *note;
    bool has_quit, is_help;
} cases[] = {
    {"nothing",                       "",                  "by self, every 2 s"},
    {"sorting",                       "t",                 "by total, every 2 s"},
    {"the last one counts",           "tns",               "by self, every 2 s"},
    {"by name",                       "n",                 "by name, every 2 s"},
    {"slower",                        "+",                 "by self, every 5 s"},
    {"faster",                        "--",                "by self, every 0.5 s"},
    {"not faster than that",          "--------",          "by self, every 0.5 s"},
    {"nor slower than that",          "+++++++++",         "by self, every 60 s"},
    {"pausing",                       "p",                 "PAUSED, by self, every 2 s"},
    {"and going on",                  "pp",                "by self, every 2 s"},
    {"a filter is being typed",       "fmat",              "filter: mat_"},
    {"q is a letter of it",           "fq",                "filter: q_"},
    {"a letter is taken back",        "fmatx\177m",        "filter: matm_"},
    {"nothing can be taken back",     "f\177\b",           "filter: _"},
    {"it is kept",                    "fmat\n",            "by self, every 2 s, only *mat*"},
    {"it is changed",                 "fmat\nfmul\r",      "by self, every 2 s, only *matmul*"},
    {"it is cleared",                 "fmat\nf\033",       "by self, every 2 s"},
    {"escape clears it any time",     "fmat\n\033",        "by self, every 2 s"},
    {"arrows are no letters",         "\033[A\033[1;5Bt",  "by total, every 2 s"},
    {"nor in a filter",               "fa\033OCb",         "filter: ab_"},
    {"half an arrow",                 "t\033[",            "by total, every 2 s"},
    {"keys that mean nothing",        "xyzSTN \t\1\377",   "by self, every 2 s"},
    {"help",                          "?",                 "by self, every 2 s", .is_help = true},
    {"and back",                      "??",                "by self, every 2 s"},
    {"quit",                          "q",                 "by self, every 2 s", .has_quit = true},
};

static void check_case(size_t i)
{
    own(buf) struct buf note;
    buf_init(&note, 512);
    struct top_keys k = {.interval_ns = 2 * S};
    printf("%s\n", cases[i].what);
    top_keys_press(&k, view_of(cases[i].typed));
    top_keys_note(&k, &note);
    char *keys = strstr(note.data, "   ");
    CHECK(keys != NULL);
    if (keys)
        *keys = '\0';
    CHECK_STR(note.data, cases[i].note);
    CHECK_EQ(k.has_quit, cases[i].has_quit);
    CHECK_EQ(k.is_help, cases[i].is_help);
}

/* A filter has an end, and never runs over it. */
static void check_long_filter(void)
{
    struct top_keys k = {.interval_ns = 2 * S};
    for (int i = 0; i < 1000; i++)
        top_keys_press(&k, i ? VIEW("a") : VIEW("f"));
    CHECK_EQ(strlen(k.filter), sizeof k.filter - 1);
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(i);
    check_long_filter();
    return CHECK_DONE();
}
