/* Tables of which only the latest counts: what a reader finds of them, whatever the recorder came to. */
#include "capture_fixture.h"
#include "model/packing.h"

#include <sys/stat.h>

static char path[64];

static uint64_t file_bytes(void)
{
    struct stat st;
    CHECK(stat(path, &st) == 0);
    return (uint64_t)st.st_size;
}

static struct profile *read_back(struct capture_report *report)
{
    own(reader) struct reader in;
    own(builder) struct builder *b = builder_new();
    struct profile *p = NULL;
    struct err e = {0};
    CHECK(reader_open(&in, path, &e) && capture_read(b, &in, report, &e) && builder_finish(take(b), &p, &e));
    CHECK_STR(e.text, "");
    return p;
}

/* `rows` scopes below each other on one thread; each has been called so many times, and its last call was as long. */
static uint64_t tell_table(struct capture_writer *w, uint64_t subject, size_t rows, int64_t calls)
{
    struct builder *names = capture_names(w);
    struct measure_spec measures[] = {{VIEW("self"), UNIT_NS}, {VIEW("calls"), UNIT_COUNT}};
    set_id set = builder_set(names, VIEW("scopes"), measures, 2);
    thread_id thread = builder_thread(names, builder_process(names, (int32_t)subject, 1), (int32_t)subject);
    capture_latest_begin(w, subject);
    stack_id at = STACK_ROOT;
    for (size_t i = 0; i < rows; i++) {
        char name[32];
        snprintf(name, sizeof name, "scope %zu", i % 100);
        at = builder_push(names, i % 100 ? at : STACK_ROOT, builder_frame_named(names, view_of(name)));
        struct label mean = {.key = builder_string(names, VIEW("mean")), .number = calls * 1000, .unit = builder_string(names, VIEW("ps"))};
        capture_latest_row(w, set, thread, at, &mean, 1, (int64_t[]){-7, calls});
    }
    return capture_latest_end(w);
}

struct found {
    size_t rows;
    int64_t calls, self, means;
};

static struct found found_in(const struct profile *p)
{
    struct found f = {0};
    for (uint32_t s = 0; s < profile_sets(p); s++) {
        const struct sample_set *set = profile_set(p, (set_id){s});
        for (size_t i = 0; i < set->n; i++) {
            const struct label *mean = profile_label(p, profile_context(p, set->contexts[i])->labels, VIEW("mean"));
            f.rows++;
            f.self += set->values[0][i];
            f.calls += set->values[1][i];
            f.means += mean ? mean->number : 0;
        }
    }
    return f;
}

static void expect(size_t rows, int64_t calls)
{
    struct capture_report report;
    own(profile) struct profile *p = read_back(&report);
    struct found f = found_in(p);
    CHECK_EQ(f.rows, rows);
    CHECK_EQ(f.calls, calls);
    CHECK_EQ(f.self, -7 * (int64_t)rows);
    CHECK_EQ(f.means, 1000 * calls);
    CHECK_EQ(report.lost_samples, 0);
    CHECK_EQ(report.damaged_places, 0);
}

/* At every moment a reader sees the newest of each; it is in the file when the call returns. */
static void check_the_newest_counts(void)
{
    own(capture_writer) struct capture_writer *w = NULL;
    struct err e = {0};
    CHECK(capture_open(&w, path, 0, &e));
    tell_table(w, 1, 3, 10);
    expect(3, 30);
    tell_table(w, 2, 2, 1);
    expect(5, 32);
    tell_table(w, 1, 4, 11);
    expect(6, 46);
    CHECK(capture_begin_again(w)); /* under other names: the same table */
    expect(6, 46);
    tell_table(w, 2, 2, 100);
    expect(6, 244);
    tell_table(w, 1, 0, 0); /* nothing is there any more */
    expect(2, 200);
    CHECK(capture_close(w, &e));
    expect(2, 200);
}

/* One that needs several chunks counts when all are there: cut anywhere, the one before is in force. */
static void check_pieces(void)
{
    enum { ROWS = 100000 };
    own(capture_writer) struct capture_writer *w = NULL;
    struct err e = {0};
    CHECK(capture_open(&w, path, 0, &e));
    tell_table(w, 1, 50, 1);
    uint64_t before = file_bytes();
    tell_table(w, 1, ROWS, 2);
    uint64_t after = file_bytes();
    expect(ROWS, 2 * ROWS);
    struct capture_report report;
    own(profile) struct profile *p = read_back(&report);
    CHECK(p && report.types[CHUNK_LATEST].chunks > 3);
    for (uint64_t part = 1; part < 20; part++) {
        CHECK(truncate(path, (off_t)(after - (after - before) * part / 20)) == 0);
        own(profile) struct profile *cut = read_back(&report);
        CHECK_EQ(found_in(cut).rows, 50);
        CHECK_EQ(found_in(cut).calls, 50);
    }
}

/* What it says it took is what the file grew by, but for names that are new; and those come once. */
static void check_bytes(void)
{
    own(capture_writer) struct capture_writer *w = NULL;
    struct err e = {0};
    CHECK(capture_open(&w, path, 0, &e));
    tell_table(w, 1, 20, 1);
    size_t names = capture_names_bytes(w);
    uint64_t before = file_bytes(), told = 0;
    for (int64_t i = 2; i <= 1000; i++)
        told += tell_table(w, 1, 20, i);
    CHECK_EQ(file_bytes() - before, told);
    CHECK_EQ(capture_names_bytes(w), names); /* numbers in labels are nobody's names */
    CHECK(told / 999 < 20 * 16);
    expect(20, 20 * 1000);
}

/* Written by somebody else: nothing of it is believed. */
static struct profile *read_payload(struct view payload, struct capture_report *report)
{
    struct err e = {0};
    own(buf) struct buf bytes;
    buf_init(&bytes, 1 << 20);
    struct sink sink;
    sink_to_buf(&sink, &bytes);
    own(chunk_writer) struct chunk_writer w;
    chunk_writer_init(&w, &sink, 7, CHUNK_PLAIN);
    chunk_put(&w, CHUNK_STRINGS, 1, VIEW("\1\1\4main"));
    chunk_put(&w, CHUNK_SAMPLES, 0, VIEW("\0\6scopes\1\5calls\0\0\0\0\0\0\0"));
    chunk_put(&w, CHUNK_LATEST, 1, payload);
    chunk_put_end(&w);
    CHECK(sink_flush(&sink, NULL));
    struct profile *p = read_bytes(buf_view(&bytes), report, &e);
    CHECK_STR(e.text, "");
    return p;
}

static void check_nonsense(void)
{
    static const struct {
        struct view payload; /* subject, number, is last, n; set, thread, stack, m, values, k, labels */
        size_t samples, damaged, lost;
    } cases[] = {
        {VIEW("\1\1\1\1" "\0\0\0\1\4\0"), 1, 0, 0},
        {VIEW("\1\1\0\1" "\0\0\0\1\4\0"), 0, 0, 0},             /* the rest never came */
        {VIEW("\1\1\1\2" "\0\0\0\1\4\0"), 0, 1, 0},             /* fewer rows than it says */
        {VIEW("\1\1\1\1" "\0\0\0\1\4\0\0"), 0, 1, 0},           /* more than it says */
        {VIEW("\1\1\1\1" "\0\0\0\1\4\x7f\1\1\1\1"), 0, 1, 0},   /* labels without end */
        {VIEW("\1\1\1\1" "\0\0\0\x09\1\1\1\1\1\1\1\1\1\0"), 0, 1, 0}, /* more values than there are measures */
        {VIEW("\1\1\1\1" "\0\0\0\2\4\4\0"), 0, 0, 1},           /* more than this set has */
        {VIEW("\1\1\1\1" "\5\0\0\1\4\0"), 0, 0, 1},             /* of a set that nobody knows */
        {VIEW("\1\1\1\1" "\0\0\x11\1\4\0"), 0, 0, 1},           /* of a stack that nobody knows */
        {VIEW("\1"), 0, 1, 0},
        {VIEW(""), 0, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct capture_report report;
        own(profile) struct profile *p = read_payload(cases[i].payload, &report);
        const struct sample_set *set = profile_set(p, (set_id){0});
        if (set->n != cases[i].samples || report.damaged_places != cases[i].damaged || report.lost_samples != cases[i].lost)
            printf("case %zu: %zu samples, %zu damaged, %zu lost\n", i, set->n, (size_t)report.damaged_places, (size_t)report.lost_samples);
        CHECK(set->n == cases[i].samples && report.damaged_places == cases[i].damaged && report.lost_samples == cases[i].lost);
    }
}

/* Without a file there is nothing to do, and on a full disk nothing to be done. */
static void check_nowhere(void)
{
    own(capture_writer) struct capture_writer *w = NULL;
    struct err e = {0};
    CHECK(capture_open(&w, NULL, 0, &e));
    CHECK_EQ(tell_table(w, 1, 100, 1), 0);
}

int main(void)
{
    snprintf(path, sizeof path, "test_capture_latest_%ld.inferom", (long)getpid());
    check_the_newest_counts();
    check_pieces();
    check_bytes();
    check_nonsense();
    check_nowhere();
    unlink(path);
    return CHECK_DONE();
}
