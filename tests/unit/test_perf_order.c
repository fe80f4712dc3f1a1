/* Rings as text: the times of their records. What comes out is who was when: w for stacks of waits, n for news. */
#include "capture/cpu/perf_order.h"
#include "check.h"

#include <stdlib.h>

enum { CPUS = 2, RING_BYTES = 4096 };

static const struct {
    const char *what, *rings[2 * CPUS]; /* stacks and news of the first CPU, then of the second */
    uint64_t horizon_ns;
    const char *out;
} cases[] = {
    {"nothing",                 {"", "", "", ""},                  1000, ""},
    {"one CPU",                 {"", "10 20 30", "", ""},          1000, "n10 n20 n30 "},
    {"a thread that wanders",   {"", "10 40", "", "20 30"},        1000, "n10 n20 n30 n40 "},
    {"a stack and its switch",  {"10 30", "11 31", "", "20"},      1000, "w10 n11 n20 w30 n31 "},
    {"in the same nanosecond",  {"10", "10", "", ""},              1000, "w10 n10 "},
    {"on the other CPU",        {"", "5", "10", "10"},             1000, "n5 w10 n10 "},
    {"too young",               {"", "10 500", "", "20 499"},      500,  "n10 n20 n499 "},
    {"a CPU whose clock jumps", {"", "10 9 30", "", "20"},         1000, "n10 n9 n20 n30 "},
};

/* A switch with nothing but its id: pid and tid, time, cpu. */
static void fill(struct perf_ring *ring, char *memory, const char *times)
{
    size_t n = 0;
    for (char *end; *times; times = end) {
        uint64_t record[4] = {0, 0, strtoull(times, &end, 10), 0};
        struct perf_event_header h = {.type = PERF_RECORD_SWITCH, .size = sizeof record};
        memcpy(record, &h, sizeof h);
        memcpy(memory + n, record, sizeof record);
        n += sizeof record;
    }
    perf_ring_over(ring, memory, RING_BYTES, 0, n);
}

static void check_case(size_t i)
{
    static _Alignas(8) char memory[2 * CPUS][RING_BYTES];
    struct perf_cpu cpus[CPUS] = {0};
    for (size_t c = 0; c < CPUS; c++) {
        fill(&cpus[c].wait_ring, memory[2 * c], cases[i].rings[2 * c]);
        fill(&cpus[c].ring, memory[2 * c + 1], cases[i].rings[2 * c + 1]);
    }
    struct perf_order o;
    struct view bytes;
    bool is_wait_stack;
    char out[256] = "";
    size_t n = 0;
    perf_order_init(&o, cpus, CPUS, &(struct perf_layout){0});
    for (perf_order_look(&o); perf_order_next(&o, cases[i].horizon_ns, &bytes, &is_wait_stack); perf_order_pass(&o)) {
        uint64_t time_ns = 0;
        CHECK(perf_record_time(bytes, &time_ns));
        n += (size_t)snprintf(out + n, sizeof out - n, "%c%llu ", is_wait_stack ? 'w' : 'n', (unsigned long long)time_ns);
    }
    CHECK_STR(out, cases[i].out);
    CHECK_EQ(perf_order_unreadable(&o), 0);
    perf_order_done(&o);
    for (size_t c = 0; c < CPUS; c++) {
        perf_ring_close(&cpus[c].ring);
        perf_ring_close(&cpus[c].wait_ring);
    }
}

/* Too short to say when it was: passed over, counted, and the next one is found. */
static void test_timeless(void)
{
    static _Alignas(8) char memory[RING_BYTES];
    struct perf_cpu cpu = {0};
    struct perf_event_header h = {.type = PERF_RECORD_SWITCH, .size = 8};
    uint64_t record[4] = {0, 0, 70, 0};
    memcpy(memory, &h, sizeof h);
    h.size = sizeof record;
    memcpy(record, &h, sizeof h);
    memcpy(memory + 8, record, sizeof record);
    perf_ring_over(&cpu.ring, memory, RING_BYTES, 0, 8 + sizeof record);

    struct perf_order o;
    struct view bytes;
    bool is_wait_stack;
    perf_order_init(&o, &cpu, 1, &(struct perf_layout){0});
    perf_order_look(&o);
    CHECK(perf_order_next(&o, 1000, &bytes, &is_wait_stack));
    CHECK_EQ(bytes.n, sizeof record);
    CHECK_EQ(perf_order_unreadable(&o), 1);
    perf_order_done(&o);
    perf_ring_close(&cpu.ring);
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        printf("%s\n", cases[i].what);
        check_case(i);
    }
    test_timeless();
    return CHECK_DONE();
}
