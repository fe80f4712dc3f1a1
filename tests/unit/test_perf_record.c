/* What the kernel writes, as the headers of Linux describe it, byte by byte. */
#include "capture/cpu/perf_record.h"
#include "capture/cpu/perf_ring.h"
#include "check.h"

#include <stdlib.h>

/* Building records. */

struct bytes {
    uint64_t at[64];
    size_t n;
};

static void add(struct bytes *b, const void *bytes, size_t n)
{
    memcpy((char *)b->at + b->n, bytes, n);
    b->n += n;
}
static void add_64(struct bytes *b, uint64_t v) { add(b, &v, sizeof v); }
static void add_32(struct bytes *b, uint32_t v) { add(b, &v, sizeof v); }

static void begin(struct bytes *b, uint32_t type, uint16_t misc)
{
    b->n = 0;
    add(b, &(struct perf_event_header){.type = type, .misc = misc}, sizeof(struct perf_event_header));
}

static void add_id(struct bytes *b, uint64_t time_ns)
{
    add_32(b, 10); /* pid */
    add_32(b, 11); /* tid */
    add_64(b, time_ns);
    add_32(b, 3); /* cpu */
    add_32(b, 0);
}

static struct view end(struct bytes *b)
{
    struct perf_event_header h;
    memcpy(&h, b->at, sizeof h);
    h.size = (uint16_t)b->n;
    memcpy(b->at, &h, sizeof h);
    return (struct view){(const char *)b->at, b->n};
}

static const struct perf_layout user_only = {0}, with_kernel = {.has_callchain = true};

/* A copy is shorter by what was not filled, and says the same. */
static void check_copy(struct view bytes, const struct perf_record *r)
{
    uint64_t copy[64];
    struct perf_record again;
    size_t n = perf_record_copy((char *)copy, &with_kernel, bytes);
    CHECK_EQ(n, bytes.n - 8);
    CHECK(perf_record_parse(&again, &with_kernel, (struct view){(const char *)copy, n}));
    CHECK_EQ(again.sample.stack.n, 8);
    CHECK_EQ(again.sample.stack.bytes[0], 0x88);
    CHECK_EQ(again.sample.kernel[1], 0xffffffff81000020);
    CHECK(!memcmp(&again.sample.registers, &r->sample.registers, sizeof r->sample.registers));
    CHECK_EQ(perf_record_copy((char *)copy, &with_kernel, (struct view){bytes.at, 16}), 16); /* no record: as it is */
}

static void test_sample(void)
{
    struct bytes b;
    begin(&b, PERF_RECORD_SAMPLE, 0);
    add_id(&b, 5000);
    add_64(&b, 1000000);
    add_64(&b, 4); /* the callchain, with marks around it */
    add_64(&b, PERF_CONTEXT_KERNEL);
    add_64(&b, 0xffffffff81000010);
    add_64(&b, 0xffffffff81000020);
    add_64(&b, PERF_CONTEXT_USER);
    add_64(&b, PERF_SAMPLE_REGS_ABI_64);
    unsigned registers = 0;
    for (uint64_t mask = perf_register_mask(); mask; mask &= mask - 1)
        add_64(&b, 100 + registers++);
    add_64(&b, 16); /* bytes of stack, of which 8 were there */
    add_64(&b, 0x1122334455667788);
    add_64(&b, 0);
    add_64(&b, 8);

    struct perf_record r;
    CHECK(perf_record_parse(&r, &with_kernel, end(&b)));
    CHECK_EQ(r.type, PERF_RECORD_SAMPLE);
    CHECK_EQ(r.pid, 10);
    CHECK_EQ(r.tid, 11);
    CHECK_EQ(r.cpu, 3);
    CHECK_EQ(r.time_ns, 5000);
    CHECK_EQ(r.sample.period, 1000000);
    CHECK_EQ(r.sample.n_kernel, 2);
    CHECK_EQ(r.sample.kernel[0], 0xffffffff81000010);
    CHECK(r.sample.has_user);
    CHECK_EQ(r.sample.stack.n, 8);
    CHECK_EQ(r.sample.stack.bytes[0], 0x88);
#if defined(__x86_64__)
    /* The kernel's order is ax bx cx dx si di bp sp ip, then r8 to r15; DWARF's is another. */
    CHECK_EQ(r.sample.registers.at[0], 100);
    CHECK_EQ(r.sample.registers.at[3], 101);
    CHECK_EQ(r.sample.registers.at[1], 103);
    CHECK_EQ(r.sample.registers.at[6], 106);
    CHECK_EQ(r.sample.registers.at[7], 107);
    CHECK_EQ(r.sample.registers.at[16], 108);
    CHECK_EQ(r.sample.registers.at[8], 109);
    CHECK_EQ(r.sample.registers.at[15], 116);
    CHECK_EQ(r.sample.stack.start, 107);
#endif
    check_copy(end(&b), &r);
    uint64_t time_ns = 0;
    CHECK(perf_record_time(end(&b), &time_ns));
    CHECK_EQ(time_ns, 5000);

    for (size_t n = 0; n < b.n; n += 8) { /* however short it is, nothing is read that is not there */
        struct perf_event_header h = {.type = PERF_RECORD_SAMPLE, .size = (uint16_t)n};
        memcpy(b.at, &h, sizeof h);
        uint64_t *copy = malloc(n ? n : 8);
        memcpy(copy, b.at, n);
        CHECK(!perf_record_parse(&r, &with_kernel, (struct view){(const char *)copy, n}));
        free(copy);
    }
}

static void test_switches(void)
{
    static const struct {
        uint16_t misc;
        bool is_out, is_preempted;
    } rows[] = {
        {0, false, false},
        {PERF_RECORD_MISC_SWITCH_OUT, true, false},
        {PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, true, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes b;
        struct perf_record r;
        begin(&b, PERF_RECORD_SWITCH, rows[i].misc);
        add_id(&b, 77);
        CHECK(perf_record_parse(&r, &user_only, end(&b)));
        CHECK_EQ(r.type, PERF_RECORD_SWITCH);
        CHECK_EQ(r.tid, 11);
        CHECK_EQ(r.time_ns, 77);
        CHECK_EQ(r.switched.is_out, rows[i].is_out);
        CHECK_EQ(r.switched.is_preempted, rows[i].is_preempted);
    }
}

static void test_kernel_thread(void)
{
    struct bytes b;
    struct perf_record r;
    begin(&b, PERF_RECORD_SAMPLE, 0);
    add_id(&b, 1);
    add_64(&b, 1);
    add_64(&b, PERF_SAMPLE_REGS_ABI_NONE);
    add_64(&b, 0);
    CHECK(perf_record_parse(&r, &user_only, end(&b)));
    CHECK(!r.sample.has_user);
    CHECK_EQ(r.sample.stack.n, 0);
}

static void add_map_head(struct bytes *b, uint16_t misc)
{
    begin(b, PERF_RECORD_MMAP2, misc);
    add_32(b, 10);
    add_32(b, 11);
    add_64(b, 0x400000);
    add_64(b, 0x2000);
    add_64(b, 0x1000);
}

static void test_map(void)
{
    struct bytes b;
    struct perf_record r;
    add_map_head(&b, 0);
    add_32(&b, 8);
    add_32(&b, 1);
    add_64(&b, 77);
    add_64(&b, 0);
    add_64(&b, 0);
    add(&b, "/bin/x\0", 8);
    add_id(&b, 1);
    CHECK(perf_record_parse(&r, &user_only, end(&b)));
    CHECK_EQ(r.map.start, 0x400000);
    CHECK_EQ(r.map.length, 0x2000);
    CHECK_EQ(r.map.file_offset, 0x1000);
    CHECK_EQ(r.map.device_major, 8);
    CHECK_EQ(r.map.inode, 77);
    CHECK(r.map.is_code);
    CHECK(view_same(r.map.path, VIEW("/bin/x")));

    add_map_head(&b, 1 << 14); /* with a build id in place of device and inode */
    add_32(&b, 20);
    add(&b, "01234567890123456789", 20);
    add_64(&b, 0);
    add(&b, "/bin/y\0", 8);
    add_id(&b, 1);
    CHECK(perf_record_parse(&r, &user_only, end(&b)));
    CHECK(view_same(r.map.build_id, VIEW("01234567890123456789")));
    CHECK(view_same(r.map.path, VIEW("/bin/y")));
}

static void test_news(void)
{
    struct bytes b;
    struct perf_record r;
    begin(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    add_64(&b, 0);
    add(&b, "worker\0", 8);
    add_id(&b, 1);
    CHECK(perf_record_parse(&r, &user_only, end(&b)));
    CHECK(r.comm.is_exec);
    CHECK(view_same(r.comm.name, VIEW("worker")));

    begin(&b, PERF_RECORD_FORK, 0);
    add_32(&b, 20);
    add_32(&b, 10);
    add_32(&b, 21);
    add_32(&b, 11);
    add_64(&b, 999);
    add_id(&b, 1000);
    CHECK(perf_record_parse(&r, &user_only, end(&b)));
    CHECK_EQ(r.task.pid, 20);
    CHECK_EQ(r.task.parent_pid, 10);
    CHECK_EQ(r.task.tid, 21);
    CHECK_EQ(r.time_ns, 1000);

    begin(&b, PERF_RECORD_LOST, 0);
    add_64(&b, 7);
    add_64(&b, 42);
    add_id(&b, 1);
    CHECK(perf_record_parse(&r, &user_only, end(&b)));
    CHECK_EQ(r.lost, 42);
}

/* A ring of 64 bytes with records of 24, so that they lie across its end sooner or later. */
static void test_ring(void)
{
    enum { RING = 64, RECORD = 24, COUNT = 10 };
    uint64_t memory[RING / 8];
    struct perf_ring ring;
    perf_ring_over(&ring, (const char *)memory, RING, 0, 0);
    for (uint64_t i = 0; i < COUNT; i++) {
        struct perf_event_header h = {.type = 1, .size = RECORD};
        uint64_t body[] = {i, ~i};
        memcpy((char *)memory + ring.head % RING, &h, sizeof h);
        for (size_t k = 0; k < 2; k++)
            memory[(ring.head / 8 + 1 + k) % (RING / 8)] = body[k];
        ring.head += RECORD;

        struct view bytes = {0};
        CHECK(perf_ring_peek(&ring, &bytes));
        CHECK_EQ(bytes.n, RECORD);
        CHECK(bytes.n == RECORD && !memcmp(bytes.at + 8, body, sizeof body));
        perf_ring_pass(&ring);
        CHECK(!perf_ring_peek(&ring, &bytes));
    }
    CHECK_EQ(ring.damaged, 0);

    memset(memory, 0, sizeof memory); /* a length of zero would keep us here for ever */
    ring.head += 32;
    struct view bytes;
    CHECK(!perf_ring_peek(&ring, &bytes));
    CHECK_EQ(ring.damaged, 1);
    CHECK_EQ(ring.tail, ring.head);
    perf_ring_close(&ring);
}

int main(void)
{
    test_sample();
    test_kernel_thread();
    test_switches();
    test_map();
    test_news();
    test_ring();
    return CHECK_DONE();
}
