#include "base/text.h"
#include "check.h"

static void check_decimals(void)
{
    static const struct {
        const char *in;
        bool ok;
        long long value;
        unsigned decimals;
        const char *out;
    } cases[] = {
        {"0", true, 0, 0, "0"},
        {"12", true, 12, 0, "12"},
        {"-7", true, -7, 0, "-7"},
        {"1.5", true, 15, 1, "1.5"},
        {"-0.125", true, -125, 3, "-0.125"},
        {"2.500", true, 25, 1, "2.5"},
        {"10.0", true, 10, 0, "10"},
        {"1.5e3", true, 1500, 0, "1500"},
        {"1e-3", true, 1, 3, "0.001"},
        {"1E+2", true, 100, 0, "100"},
        {"9223372036854775807", true, 9223372036854775807LL, 0, "9223372036854775807"},
        {"9223372036854775808", false, 0, 0, NULL},
        {"", false, 0, 0, NULL},
        {"-", false, 0, 0, NULL},
        {".", false, 0, 0, NULL},
        {"1.2.3", false, 0, 0, NULL},
        {"1e99", false, 0, 0, NULL},
        {"0x10", false, 0, 0, NULL},
        {"1 ", false, 0, 0, NULL},
        {"0.0000000000000000001", false, 0, 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = -1;
        unsigned decimals = 99;
        bool ok = text_to_decimal(view_of(cases[i].in), &value, &decimals);
        CHECK_EQ(ok, cases[i].ok);
        if (!ok || !cases[i].ok) {
            if (ok != cases[i].ok)
                printf("  '%s'\n", cases[i].in);
            continue;
        }
        CHECK_EQ(value, cases[i].value);
        CHECK_EQ(decimals, cases[i].decimals);
        char out[32];
        text_decimal(out, value, decimals);
        CHECK_STR(out, cases[i].out);
    }
}

static void check_numbers(void)
{
    uint64_t u;
    int64_t n;
    CHECK(text_to_uint(VIEW("18446744073709551615"), &u) && u == UINT64_MAX);
    CHECK(!text_to_uint(VIEW("18446744073709551616"), &u));
    CHECK(!text_to_uint(VIEW(""), &u));
    CHECK(!text_to_uint(VIEW("+1"), &u));
    CHECK(text_to_int(VIEW("-9223372036854775808"), &n) && n == INT64_MIN);
    CHECK(!text_to_int(VIEW("9223372036854775808"), &n));
    CHECK(!text_to_int(VIEW("--1"), &n));
}

static void check_scaled(void)
{
    static const struct {
        const char *in;
        bool ok;
        uint64_t bytes;
    } sizes[] = {{"512", true, 512}, {"64K", true, 65536}, {"1.5MiB", true, 1572864}, {"2g", true, 2147483648u},
                 {"1 K", false, 0}, {"K", false, 0}, {"-1", false, 0}, {"1Q", false, 0}, {"9999999999T", false, 0}};
    static const struct {
        const char *in;
        bool ok;
        uint64_t ns;
    } times[] = {{"10ms", true, 10000000}, {"1.5s", true, 1500000000}, {"2", true, 2000000000}, {"1h", true, 3600000000000},
                 {"7ns", true, 7}, {"3us", true, 3000}, {"2m", true, 120000000000}, {"ms", false, 0}, {"1d", false, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t v = 0;
        CHECK_EQ(text_to_bytes(view_of(sizes[i].in), &v), sizes[i].ok);
        CHECK_EQ(v, sizes[i].bytes);
    }
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        uint64_t v = 0;
        CHECK_EQ(text_to_duration(view_of(times[i].in), &v), times[i].ok);
        CHECK_EQ(v, times[i].ns);
    }
}

static void check_for_people(void)
{
    static const struct {
        double ns;
        const char *out;
    } times[] = {{0, "0 ns"}, {1, "1 ns"}, {1.5, "1.50 ns"}, {999, "999 ns"}, {1250000, "1.25 ms"}, {12.5e9, "12.5 s"}, {999.9e3, "1.00 ms"}, {4e12, "4000 s"}};
    char out[32];
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        text_ns(out, times[i].ns);
        CHECK_STR(out, times[i].out);
    }
    text_bytes(out, 1572864);
    CHECK_STR(out, "1.50 MiB");
    text_count(out, 1234567);
    CHECK_STR(out, "1 234 567");
    text_count(out, -1000);
    CHECK_STR(out, "-1 000");
    text_count(out, INT64_MIN);
    CHECK_STR(out, "-9 223 372 036 854 775 808");
}

static void check_nearest(void)
{
    static const char *const words[] = {"report", "record", "convert", "config", "doctor", NULL};
    static const struct {
        const char *wrong, *nearest;
    } cases[] = {{"reprot", "report"}, {"cnofig", "config"}, {"doctr", "doctor"}, {"zzz", NULL}, {"", NULL}, {"recor", "record"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = text_nearest(cases[i].wrong, words);
        CHECK_STR(got ? got : "(none)", cases[i].nearest ? cases[i].nearest : "(none)");
    }
}

static void check_patterns(void)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"", "", true},             {"", "a", false},          {"*", "", true},           {"*", "anything", true},
        {"lib*", "libc.so.6", true},{"lib*", "xlibc", false},  {"*mul*", "matmul_q8", true},
        {"a?c", "abc", true},       {"a?c", "ac", false},      {"[a-c]x", "bx", true},    {"[!a-c]x", "bx", false},
        {"[]]", "]", true},         {"[[]vdso[]]", "[vdso]", true},                       {"\\*", "*", true},
        {"\\*", "a", false},        {"*a*b*c", "xxaxxbxxc", true},                        {"*a*b*c", "xxaxxcxxb", false},
        {"[", "[", true},           {"[a", "[a", true},        {"a*", "b", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (text_matches(view_of(cases[i].text), cases[i].pattern) != cases[i].matches) {
            printf("'%s' against '%s'\n", cases[i].pattern, cases[i].text);
            CHECK(false);
        }
}

static void check_safe(void)
{
    static const struct {
        struct view in;
        size_t most;
        const char *out;
    } cases[] = {
        {{"plain", 5}, 0, "plain"},
        {{"esc\x1b[31m", 8}, 0, "esc\\x1b[31m"},
        {{"nul\0end", 7}, 0, "nul\\x00end"},
        {{"caf\xc3\xa9", 5}, 0, "caf\xc3\xa9"},
        {{"bad\xff", 4}, 0, "bad\\xff"},
        {{"c1\xc2\x9b", 4}, 0, "c1\\xc2\\x9b"},
        {{"over\xc0\x80", 6}, 0, "over\\xc0\\x80"},
        {{"surrogate\xed\xa0\x80", 12}, 0, "surrogate\\xed\\xa0\\x80"},
        {{"abcdefghij", 10}, 5, "ab\xe2\x80\xa6ij"},
        {{"abcdefghij", 10}, 10, "abcdefghij"},
        {{"abcdefghij", 10}, 1, "\xe2\x80\xa6"},
        {{"", 0}, 3, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        own(buf) struct buf b;
        buf_init(&b, 1000);
        struct sink s;
        sink_to_buf(&s, &b);
        size_t columns = text_safe(&s, cases[i].in, cases[i].most);
        struct err e = {0};
        CHECK(sink_flush(&s, &e));
        CHECK_STR(b.data, cases[i].out);
        CHECK(!cases[i].most || columns <= cases[i].most);
    }
}

int main(void)
{
    check_decimals();
    check_numbers();
    check_scaled();
    check_for_people();
    check_nearest();
    check_patterns();
    check_safe();
    return CHECK_DONE();
}
