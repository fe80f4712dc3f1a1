/* Records that somebody else has taken out of the ring arrive whole and in order; and no more of them than there is room for. */
#include "base/clock.h"
#include "base/mem.h"
#include "capture/cpu/perf_backlog.h"
#include "check.h"

#include <linux/perf_event.h>
#include <sched.h>

enum { RINGS = 2, RING_BYTES = 1 << 22, SLICE = 16 << 10, FILLED = 1000 };

static const struct perf_layout layout = {0};

/* A sample of this moment: the slice that was asked for is SLICE bytes, FILLED of them are there. */
static size_t put_sample(char *to, uint64_t time_ns)
{
    uint64_t registers = (uint64_t)__builtin_popcountll(perf_register_mask()), size = SLICE, filled = FILLED;
    size_t head = sizeof(struct perf_event_header) + 4 * 8 + 8 + registers * 8, n = head + 8 + SLICE + 8;
    struct perf_event_header h = {.type = PERF_RECORD_SAMPLE, .size = (uint16_t)n};
    uint64_t abi = PERF_SAMPLE_REGS_ABI_64;
    memset(to, 0, n);
    memcpy(to, &h, sizeof h);
    memcpy(to + 16, &time_ns, sizeof time_ns);
    memcpy(to + 40, &abi, sizeof abi);
    memcpy(to + head, &size, sizeof size);
    memset(to + head + 8, (int)(time_ns & 0xff), FILLED);
    memcpy(to + n - 8, &filled, sizeof filled);
    return n;
}

struct bed {
    char *memory[RINGS];
    struct perf_ring rings[RINGS];
    size_t n[RINGS]; /* records */
    struct perf_backlog *backlog;
};

static void bed_init(struct bed *b)
{
    struct perf_backlog_ring from[RINGS];
    for (size_t i = 0; i < RINGS; i++) {
        b->memory[i] = mem_new(RING_BYTES);
        b->n[i] = 0;
        size_t at = 0;
        for (; at + SLICE + 1024 < RING_BYTES; b->n[i]++)
            at += put_sample(b->memory[i] + at, 1000 * (i + 1) + b->n[i]);
        perf_ring_over(&b->rings[i], b->memory[i], RING_BYTES, 0, at);
        from[i] = (struct perf_backlog_ring){&b->rings[i], &layout};
    }
    b->backlog = perf_backlog_new(from, RINGS);
}

static void bed_done(struct bed *b)
{
    perf_backlog_free(b->backlog);
    for (size_t i = 0; i < RINGS; i++) {
        perf_ring_close(&b->rings[i]);
        free(b->memory[i]);
    }
}
DEFINE_OWN_IN_PLACE(bed, struct bed)

/* Reads what is there and checks each record. */
static size_t read_ring(struct bed *b, size_t ring, uint64_t next)
{
    size_t n = 0;
    struct view bytes;
    for (; perf_backlog_peek(b->backlog, ring, &bytes); perf_backlog_pass(b->backlog, ring), n++) {
        struct perf_record r;
        CHECK(bytes.n < FILLED + 400); /* and not the slice */
        CHECK(perf_record_parse(&r, &layout, bytes));
        CHECK_EQ(r.time_ns, next + n);
        CHECK_EQ(r.sample.stack.n, FILLED);
        CHECK_EQ(r.sample.stack.bytes[FILLED - 1], (next + n) & 0xff);
    }
    return n;
}

static void test_without_thread(void)
{
    own(bed) struct bed b;
    bed_init(&b);
    uint64_t before_ns = clock_monotonic_ns(), pulled_ns = perf_backlog_look(b.backlog);
    CHECK(pulled_ns >= before_ns && pulled_ns <= clock_monotonic_ns());
    for (size_t i = 0; i < RINGS; i++) {
        CHECK_EQ(b.rings[i].tail, b.rings[i].head);
        CHECK_EQ(read_ring(&b, i, 1000 * (i + 1)), b.n[i]);
    }
}

static void test_thread(void)
{
    own(bed) struct bed b;
    bed_init(&b);
    perf_backlog_start(b.backlog, (int[]){-1}, 1);
    size_t got[RINGS] = {0};
    while (got[0] < b.n[0] || got[1] < b.n[1]) {
        perf_backlog_look(b.backlog);
        for (size_t i = 0; i < RINGS; i++)
            got[i] += read_ring(&b, i, 1000 * (i + 1) + got[i]);
        sched_yield();
    }
    perf_backlog_stop(b.backlog);
    perf_backlog_look(b.backlog);
    CHECK_EQ(got[0] + read_ring(&b, 0, 1000 + got[0]), b.n[0]);
}

/* Nobody reads: after a while the rings are left as they are, and the moment stands still. */
static void test_bound(void)
{
    own(bed) struct bed b;
    bed_init(&b);
    uint64_t moment_ns = 0;
    size_t rounds = 0, all = 0;
    for (; rounds < 1000; rounds++) {
        uint64_t pulled_ns = perf_backlog_look(b.backlog);
        if (pulled_ns == moment_ns)
            break;
        moment_ns = pulled_ns;
        all += b.n[0];
        b.rings[0].tail = 0; /* the same again */
    }
    CHECK(rounds > 10 && rounds < 1000);
    CHECK(all * FILLED <= BACKLOG_MOST && all * (FILLED + 400) > BACKLOG_MOST / 2);
    struct view bytes;
    size_t read = 0;
    for (; perf_backlog_peek(b.backlog, 0, &bytes); perf_backlog_pass(b.backlog, 0))
        read++;
    CHECK_EQ(read, all);
    CHECK(perf_backlog_look(b.backlog) > moment_ns); /* there is room again */
}

int main(void)
{
    test_without_thread();
    test_thread();
    test_bound();
    return CHECK_DONE();
}
