#include "base/json.h"
#include "lab/roof.h"
#include "numbers.h"

static const struct roof sample = {
    .key = {.cpu = "a \"fast\" one", .cores = 4, .memory_gib = 16},
    .threads = 4,
    .is_short = true,
    .measured_at = 1700000000,
    .rows = {{"memory", "read", 0, 1, {20e9, 19e9, 21e9, 5}},
             {"memory", "read", 0, 4, {60e9, 50e9, 61e9, 5}},
             {"peak", "avx2", 0, 1, {100e9, 99e9, 101e9, 5}},
             {"peak", "avx2", 0, 4, {400e9, 380e9, 401e9, 5}},
             {"cache", "read", 1024, 1, {200e9, 1, 2, 5}},
             {"cache", "read", 4096, 1, {100e9, 1, 2, 5}}},
    .n = 6,
};

static void check_asking(void)
{
    CHECK(roof_value(&sample, "memory", "read", 1) == 20e9);
    CHECK(roof_value(&sample, "memory", "read", 4) == 60e9);
    CHECK(roof_value(&sample, "memory", "read", 3) == 60e9); /* more than one: all */
    CHECK(isnan(roof_value(&sample, "memory", "triad", 1)));
    CHECK(roof_bandwidth(&sample, "read", 100, 1) == 200e9);
    CHECK(roof_bandwidth(&sample, "read", 1024, 1) == 200e9);
    CHECK_NUMBER(roof_bandwidth(&sample, "read", 2048, 1), 150e9, 1e-9, 0, "half way between two steps");
    CHECK(roof_bandwidth(&sample, "read", 4096, 1) == 100e9);
    CHECK(roof_bandwidth(&sample, "read", 4097, 1) == 20e9);
    CHECK(roof_bandwidth(&sample, "read", 4096, 4) == 800e9); /* a quarter of it in each of four caches */
}

/* The larger of the two times: arithmetic, or bytes. */
static void check_limit(void)
{
    struct work much = {.flops = 1e6, .bytes = 1000, .working_set = 1 << 20, .level = "avx2", .beyond = "read", .threads = 1};
    struct limit l = roof_limit(&sample, &much);
    CHECK_NUMBER(l.ns, 1e4, 1e-9, 0, "a million operations at 100 GFLOPS");
    CHECK_STR(l.by, "compute");
    much.bytes = 1e6;
    l = roof_limit(&sample, &much);
    CHECK_NUMBER(l.ns, 5e4, 1e-9, 0, "a million bytes at 20 GB/s");
    CHECK_STR(l.by, "memory");
    much.level = "abacus";
    CHECK(isnan(roof_limit(&sample, &much).ns));
}

static void check_round_trip(void)
{
    own(buf) struct buf text;
    buf_init(&text, 1 << 20);
    struct sink out;
    sink_to_buf(&out, &text);
    struct json_writer w;
    struct err e = {0};
    json_to(&w, &out);
    roof_json(&sample, &w);
    CHECK(sink_flush(&out, &e));
    own(reader) struct reader in;
    reader_over(&in, "roof", buf_view(&text));
    struct roof back;
    CHECK(roof_read(&back, &in, &e));
    CHECK_STR(back.key.cpu, sample.key.cpu);
    CHECK_EQ(back.n, sample.n);
    CHECK_EQ(back.threads, 4);
    CHECK(back.is_short && back.measured_at == sample.measured_at);
    for (size_t i = 0; i < back.n; i++) {
        CHECK_STR(back.rows[i].kind, sample.rows[i].kind);
        CHECK_STR(back.rows[i].what, sample.rows[i].what);
        CHECK(back.rows[i].bytes == sample.rows[i].bytes && back.rows[i].threads == sample.rows[i].threads);
        CHECK(back.rows[i].f.median == sample.rows[i].f.median && back.rows[i].f.readings == 5);
    }
}

static const struct {
    const char *text, *error;
} bad[] = {
    {"[]", "line 1: expected an object, found an array"},
    {"{}", "it is not a machine's roof"},
    {"{\"format\":\"something else\"}", "it is not a machine's roof"},
    {"{\"format\":\"inferom machine roof\",\"version\":2}", "version 2, this build reads 1"},
    {"{\"format\":\"inferom machine roof\",\"rows\":[7]}", "line 1: a number where a row should be"},
    {"{\"format\":\"inferom machine roof\",\"threads\":-1}", "line 1: -1 is not a count from 0 to 4294967295"},
    {"{\"format\":\"inferom machine roof\",\"rows\":[{\"median\":true}]}", "line 1: true or false where a number should be"},
};

static void check_bad(size_t i)
{
    own(reader) struct reader in;
    struct roof r;
    struct err e = {0};
    reader_over(&in, "roof", view_of(bad[i].text));
    CHECK(!roof_read(&r, &in, &e));
    CHECK_STR(e.text, bad[i].error);
}

int main(void)
{
    check_asking();
    check_limit();
    check_round_trip();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_bad(i);
    return CHECK_DONE();
}
