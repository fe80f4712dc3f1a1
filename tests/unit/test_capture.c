#include "capture_fixture.h"
#include "base/clock.h"
#include "model/packing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <xxhash.h>

static char path[64];

static void check_same(const struct profile *got, const struct profile *want)
{
    own(buf) struct buf a, b;
    dump(&a, got);
    dump(&b, want);
    CHECK_STR(a.data, b.data);
}

static void read_file(const char *name, struct buf *out)
{
    buf_init(out, (size_t)1 << 30);
    own(fclose) FILE *f = fopen(name, "rb");
    char bytes[65536];
    for (size_t n; f && (n = fread(bytes, 1, sizeof bytes, f)) > 0;)
        buf_add(out, bytes, n);
}

static struct profile *read_path(const char *name, struct capture_report *report)
{
    own(reader) struct reader in;
    own(builder) struct builder *b = builder_new();
    struct profile *p = NULL;
    struct err e = {0};
    CHECK(reader_open(&in, name, &e) && capture_read(b, &in, report, &e) && builder_finish(take(b), &p, &e));
    CHECK_STR(e.text, "");
    return p;
}

static bool has_note(const struct profile *p, const char *part)
{
    for (size_t i = 0; i < profile_damages(p); i++)
        if (strstr(profile_damage(p, i).at, part))
            return true;
    return false;
}

static void check_round_trip(enum chunk_packing packing)
{
    own(profile) struct profile *p = told_profile();
    own(buf) struct buf bytes, again;
    buf_init(&bytes, 1 << 20);
    buf_init(&again, 1 << 20);
    write_bytes(p, packing, &bytes);
    write_bytes(p, packing, &again);
    CHECK(view_same(buf_view(&bytes), buf_view(&again))); /* the same profile, the same bytes */

    struct capture_report report;
    struct err e = {0};
    own(profile) struct profile *back = read_bytes(buf_view(&bytes), &report, &e);
    CHECK_STR(e.text, "");
    check_same(back, p);
    CHECK(report.is_closed && !report.lost_chunks && !report.damaged_bytes);
    CHECK_EQ(report.types[CHUNK_SAMPLES].rows, 4);
    CHECK_EQ(chunk_sniff(buf_view(&bytes)), 100);
}

static void check_recording(void)
{
    own(capture_writer) struct capture_writer *w = NULL;
    struct err e = {0};
    CHECK(capture_open(&w, path, 0, &e));
    struct story s = {.names = capture_names(w), .writer = w};
    tell_everything(&s);
    CHECK(capture_close(w, &e));
    own(profile) struct profile *want = told_profile();
    struct capture_report report;
    own(profile) struct profile *got = read_path(path, &report);
    check_same(got, want);
    CHECK(report.is_closed);
    struct stat st;
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK_EQ(st.st_size, capture_written_bytes(w));
}

/* A writer that forgets its names in between says the same as one that never does, and holds less. */
static void check_beginning_again(void)
{
    enum { ROUNDS = 3, SAMPLES = 2000 }; /* the story has values of a quarter of what fits */
    own(capture_writer) struct capture_writer *w = NULL;
    struct err e = {0};
    CHECK(capture_open(&w, path, 0, &e));
    struct story told = {.writer = w}, want_story = {.names = builder_new()};
    size_t first_bytes = 0;
    for (int i = 0; i < ROUNDS; i++) {
        told.names = capture_names(w);
        tell_everything(&told);
        tell_many(&told, SAMPLES, 300);
        tell_everything(&want_story);
        tell_many(&want_story, SAMPLES, 300);
        first_bytes = i ? first_bytes : capture_names_bytes(w);
        CHECK_EQ(capture_names_bytes(w), first_bytes);
        CHECK(capture_begin_again(w));
        CHECK(capture_names_bytes(w) < first_bytes / 2);
    }
    CHECK(capture_close(w, &e));
    own(profile) struct profile *want = NULL;
    CHECK(builder_finish(want_story.names, &want, &e));
    struct capture_report report;
    own(profile) struct profile *got = read_path(path, &report);
    check_same(got, want);
    CHECK(report.is_closed && !report.lost_chunks);
}

static void check_empty(void)
{
    struct builder *b = builder_new();
    own(profile) struct profile *p = NULL;
    CHECK(builder_finish(b, &p, NULL));
    own(buf) struct buf bytes;
    buf_init(&bytes, 1 << 20);
    write_bytes(p, CHUNK_PACKED, &bytes);
    own(profile) struct profile *back = read_bytes(buf_view(&bytes), NULL, NULL);
    check_same(back, p);
}

/* A text that no chunk could hold is cut, and the file says so. */
static void check_long_texts(void)
{
    const size_t n = (size_t)20 << 20;
    own(free) char *text = malloc(n);
    memset(text, 'x', n);
    own(capture_writer) struct capture_writer *w = NULL;
    CHECK(capture_open(&w, path, 0, NULL));
    capture_fact(w, VIEW("environment"), (struct view){text, n});
    builder_string(capture_names(w), (struct view){text, n});
    CHECK(capture_close(w, NULL));
    own(profile) struct profile *p = read_path(path, NULL);
    CHECK(has_note(p, "2 texts were longer than 1 MiB and were cut there"));
    const struct fact *f = profile_fact_named(p, VIEW("environment"));
    CHECK_EQ(f ? profile_string(p, f->value).n : 0, (size_t)1 << 20);
}

/* What becomes known about a span before it is written, and after. */
static void check_span_changes(void)
{
    for (int flush_first = 0; flush_first < 2; flush_first++) {
        own(capture_writer) struct capture_writer *w = NULL;
        CHECK(capture_open(&w, path, 0, NULL));
        span_id a = capture_span(w, (struct span){.start_ns = 1, .length_ns = TIME_NONE});
        span_id b = capture_span(w, (struct span){.start_ns = 2, .length_ns = TIME_NONE});
        CHECK(!flush_first || capture_flush(w, NULL));
        capture_span_length(w, a, 7);
        capture_span_relate(w, b, a, (span_id){0});
        capture_span_relate(w, a, (span_id){0}, b); /* forward */
        capture_span_length(w, (span_id){0}, 9);    /* nobody */
        CHECK(capture_close(w, NULL));
        own(profile) struct profile *p = read_path(path, NULL);
        CHECK(profile_spans(p) == 2 && profile_span(p, a)->length_ns == 7 && profile_span(p, a)->link.i == b.i);
        CHECK(profile_spans(p) == 2 && profile_span(p, b)->length_ns == TIME_NONE && profile_span(p, b)->parent.i == a.i);
        CHECK_EQ(profile_damages(p), 0);
    }
}

static void check_big(void)
{
    const size_t n = 100000;
    struct story s = {.names = builder_new()};
    tell_many(&s, n, 0);
    own(profile) struct profile *p = NULL;
    CHECK(builder_finish(s.names, &p, NULL));
    own(buf) struct buf bytes;
    buf_init(&bytes, 1 << 30);
    uint64_t t0 = clock_monotonic_ns();
    write_bytes(p, CHUNK_PACKED, &bytes);
    uint64_t t1 = clock_monotonic_ns();
    own(profile) struct profile *back = read_bytes(buf_view(&bytes), NULL, NULL);
    uint64_t t2 = clock_monotonic_ns();
    const struct sample_set *a = profile_set(p, (set_id){0}), *b = profile_set(back, (set_id){0});
    CHECK_EQ(b->n, n);
    CHECK(profile_stacks(back) == profile_stacks(p) && !profile_damages(back));
    CHECK(!memcmp(a->time_ns, b->time_ns, n * sizeof *a->time_ns));
    CHECK(!memcmp(a->stacks, b->stacks, n * sizeof *a->stacks)); /* in an empty builder ids stay what they were */
    CHECK(!memcmp(a->contexts, b->contexts, n * sizeof *a->contexts));
    CHECK(!memcmp(a->values[0], b->values[0], n * sizeof *a->values[0]));
    printf("%zu samples: %.2f bytes each; written in %.1f ms, read in %.1f ms\n", n, (double)bytes.len / (double)n,
           (double)(t1 - t0) / 1e6, (double)(t2 - t1) / 1e6);
}

/* Every prefix opens, or says why not; longer ones never hold less, and nothing is made up. */
static void check_truncation(void)
{
    own(capture_writer) struct capture_writer *w = NULL;
    CHECK(capture_open(&w, path, 0, NULL));
    struct story s = {.names = capture_names(w), .writer = w};
    tell_many(&s, 60, 20);
    CHECK(capture_close(w, NULL));
    own(buf) struct buf bytes;
    read_file(path, &bytes);
    size_t last = 0;
    for (size_t n = 0; n <= bytes.len; n++) {
        struct capture_report report = {0};
        struct err e = {0};
        own(profile) struct profile *p = read_bytes((struct view){bytes.data, n}, &report, &e);
        if (n < CHUNK_FILE_HEAD) {
            CHECK(!p && e.kind == ERR_MALFORMED && strstr(e.text, "ends inside its header"));
            continue;
        }
        size_t samples = count_samples(p);
        CHECK(p && samples >= last && samples % 20 == 0 && !report.lost_samples);
        CHECK(report.is_closed == (n + CHUNK_TRAILER >= bytes.len));
        CHECK(n == bytes.len || report.is_closed || has_note(p, "not closed properly"));
        last = samples;
    }
    CHECK_EQ(last, 60);
}

static void check_reading_while_writing(void)
{
    own(capture_writer) struct capture_writer *w = NULL;
    struct err e = {0};
    CHECK(capture_open(&w, path, 0, &e));
    struct story s = {.names = capture_names(w), .writer = w};
    for (uint64_t second = 1; second <= 3; second++) {
        tell_many(&s, 50, 0);
        CHECK(capture_tick(w, second * SECOND_NS - 1, &e));
        struct capture_report report;
        own(profile) struct profile *before = read_path(path, &report);
        CHECK_EQ(count_samples(before), 50 * (second - 1));
        CHECK(report.is_being_written && has_note(before, "still being written"));
        CHECK(capture_tick(w, second * SECOND_NS, &e));
        own(profile) struct profile *after = read_path(path, NULL);
        CHECK_EQ(count_samples(after), 50 * second);
    }
    struct capture_writer *second_writer = NULL;
    CHECK(!capture_open(&second_writer, path, 0, &e));
    CHECK(e.kind == ERR_DENIED && strstr(e.text, "another recorder"));
    capture_writer_free(take(w)); /* without close, as if it had died */
    own(profile) struct profile *left = read_path(path, NULL);
    CHECK(has_note(left, "not closed properly"));
    CHECK_EQ(count_samples(left), 150);
}

/* A megabyte does not wait for the second, and nobody needs to tick for memory to stay bounded. */
static void check_flush_by_size(void)
{
    own(capture_writer) struct capture_writer *w = NULL;
    CHECK(capture_open(&w, path, 0, NULL));
    struct story s = {.names = capture_names(w), .writer = w};
    uint64_t before = capture_written_bytes(w);
    tell_many(&s, 50000, 0);
    CHECK_EQ(capture_written_bytes(w), before);
    CHECK(capture_tick(w, 1, NULL));
    CHECK(capture_written_bytes(w) > before);
    before = capture_written_bytes(w);
    tell_many(&s, 200000, 0);
    CHECK(capture_written_bytes(w) > before);
    CHECK(capture_close(w, NULL));
}

static void check_disk_full(void)
{
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 20000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    own(capture_writer) struct capture_writer *w = NULL;
    CHECK(capture_open(&w, path, 0, NULL));
    struct story s = {.names = capture_names(w), .writer = w};
    struct err e = {0};
    uint64_t now_ns = 0;
    size_t kept = 0;
    for (bool ok = true; ok; kept += ok ? 1000 : 0) {
        tell_many(&s, 1000, 0);
        ok = capture_tick(w, now_ns += SECOND_NS, &e);
    }
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK(e.kind == ERR_IO && strstr(e.text, path) && strstr(e.hint, "runs show"));
    tell_everything(&s); /* whoever does not look goes on talking, and nothing happens */
    CHECK(!capture_close(w, &e));
    capture_writer_free(take(w));
    struct capture_report report;
    own(profile) struct profile *p = read_path(path, &report);
    CHECK(kept > 0);
    CHECK_EQ(count_samples(p), kept);
    CHECK_EQ(report.damaged_bytes, 0); /* the half chunk was taken back */

    struct err full = {0};
    struct capture_writer *none = NULL;
    CHECK(!capture_open(&none, "/dev/full", 0, &full) && strstr(full.text, "No space left"));
}

static void reseal(char *piece, size_t n)
{
    store_uint((uint8_t *)piece + n - 8, XXH64(piece, n - 8, 0), 8);
}

static void check_versions(void)
{
    own(profile) struct profile *p = told_profile();
    own(buf) struct buf bytes;
    buf_init(&bytes, 1 << 20);
    write_bytes(p, CHUNK_PACKED, &bytes);
    struct err e = {0};
    bytes.data[14] = 9; /* a newer minor version is read */
    reseal(bytes.data, CHUNK_FILE_HEAD);
    own(profile) struct profile *minor = read_bytes(buf_view(&bytes), NULL, &e);
    check_same(minor, p);
    bytes.data[12] = CAPTURE_MAJOR + 1;
    own(profile) struct profile *torn = read_bytes(buf_view(&bytes), NULL, &e);
    CHECK(torn && has_note(torn, "32 bytes at offset 0 are damaged")); /* not sealed: damage, not a version */
    reseal(bytes.data, CHUNK_FILE_HEAD);
    CHECK(!read_bytes(buf_view(&bytes), NULL, &e) && e.kind == ERR_UNSUPPORTED);
    CHECK_STR(e.text, "a capture file of version 2.9; this program reads version 1");
}

static void check_unknown_chunks(void)
{
    own(buf) struct buf bytes;
    buf_init(&bytes, 1 << 20);
    struct sink sink;
    sink_to_buf(&sink, &bytes);
    own(chunk_writer) struct chunk_writer w;
    chunk_writer_init(&w, &sink, 1, CHUNK_PACKED);
    chunk_put(&w, CHUNK_STRINGS, 1, VIEW("\1\1\4main"));
    chunk_put(&w, CHUNK_NOTES, 0, VIEW(""));
    chunk_put(&w, CHUNK_FACTS, 1, VIEW("\1\1k\1v"));
    chunk_put_end(&w);
    CHECK(sink_flush(&sink, NULL));
    /* The middle one becomes of a type nobody knows. */
    char *head = bytes.data + CHUNK_FILE_HEAD + CHUNK_HEAD + 7;
    head[16] = 99;
    reseal(head, CHUNK_HEAD);
    struct capture_report report;
    struct err e = {0};
    own(profile) struct profile *p = read_bytes(buf_view(&bytes), &report, &e);
    CHECK(p && profile_facts(p) == 1 && !report.damaged_bytes);
    CHECK_EQ(report.types[CHUNK_UNKNOWN].chunks, 1);
    CHECK(p && has_note(p, "1 chunks of a kind this version does not know"));
}

struct seen {
    int64_t samples, readings, lost, value;
};

static void see_sample(void *self, set_id set, uint64_t time_ns, context_id context, stack_id stack, const int64_t *values)
{
    struct seen *s = self;
    (void)context;
    CHECK(set.i == 0 && time_ns == 7 && stack.i == 1);
    s->samples++;
    s->value += *values;
}

static void see_reading(void *self, series_id series, uint64_t time_ns, double value)
{
    struct seen *s = self;
    CHECK(series.i == 0 && time_ns == 8 && value == 0.5);
    s->readings++;
}

static void see_lost(void *self, set_id set, uint64_t count)
{
    struct seen *s = self;
    CHECK(set.i == 0);
    s->lost += (int64_t)count;
}

/* The same with a file and without one; nothing of it is kept in memory without. */
static void check_onlooker(const char *file)
{
    own(capture_writer) struct capture_writer *w = NULL;
    struct seen seen = {0};
    struct err e = {0};
    if (!capture_open(&w, file, 0, &e)) {
        CHECK_STR(e.text, "");
        return;
    }
    capture_watch(w, (struct capture_onlooker){.self = &seen, .sample = see_sample, .reading = see_reading, .lost = see_lost});
    struct builder *names = capture_names(w);
    set_id set = builder_set(names, VIEW("cpu"), &(struct measure_spec){VIEW("cpu"), UNIT_NS}, 1);
    stack_id stack = builder_push(names, STACK_ROOT, builder_frame_named(names, VIEW("main")));
    series_id series = builder_series(names, VIEW("use"), UNIT_OTHER, VIEW("%"), LABELS_NONE);
    for (int64_t i = 1; i <= 1000; i++)
        capture_sample(w, set, 7, CONTEXT_NONE, stack, &i);
    capture_reading(w, series, 8, 0.5);
    capture_lost(w, set, VIEW("full"), 3);
    capture_fact(w, VIEW("k"), VIEW("v"));
    capture_clock(w, 1, 2, 3);
    capture_span_length(w, capture_span(w, (struct span){.start_ns = 1}), 2);
    CHECK(capture_tick(w, UINT64_C(5000000000), &e) && capture_flush(w, &e) && capture_close(w, &e));
    CHECK_EQ(seen.samples, 1000);
    CHECK_EQ(seen.value, 500500);
    CHECK_EQ(seen.readings, 1);
    CHECK_EQ(seen.lost, 3);
    CHECK_EQ(capture_written_bytes(w) > 0, file != NULL);
}

int main(void)
{
    snprintf(path, sizeof path, "test_capture_%ld.inferom", (long)getpid());
    check_round_trip(CHUNK_PACKED);
    check_round_trip(CHUNK_PLAIN);
    check_recording();
    check_beginning_again();
    check_empty();
    check_long_texts();
    check_span_changes();
    check_big();
    check_truncation();
    check_reading_while_writing();
    check_flush_by_size();
    check_disk_full();
    check_versions();
    check_unknown_chunks();
    check_onlooker(path);
    check_onlooker(NULL);
    unlink(path);
    return CHECK_DONE();
}
