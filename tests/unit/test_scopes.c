/* libinferom from the inside of a program: what it counts, and when. */
#include "scopes_case.h"

/* Nesting, early ends, numbers. */

static void test_nesting(void)
{
    begin_case();
    for (int i = 0; i < 10; i++) {
        INFEROM_SCOPE("outer");
        early(i);
    }
    CHECK_EQ(row_of("outer").calls, 10);
    CHECK_EQ(row_of("early").calls, 10);
    CHECK_EQ(row_of("late").calls, 5);
    CHECK_EQ(calls_between("outer", "early"), 10);
    CHECK_EQ(calls_between("early", "late"), 5);
    CHECK_EQ(calls_between(NULL, "outer"), 10);
    CHECK_EQ(calls_between(NULL, "late"), 0);
}

static void test_numbers(void)
{
    begin_case();
    {
        INFEROM_SCOPE("once");
        busy(50);
    }
    inferom_row once = row_of("once");
    CHECK(once.min_ns == once.max_ns && once.mean_ns == once.min_ns && once.total_ns == once.min_ns);
    CHECK(once.p50_ns == once.min_ns && once.p99_ns == once.min_ns && once.deviation_ns == 0);
    CHECK(once.min_ns >= 49000);
    CHECK_EQ(once.allocations, -1);
    for (int i = 0; i < 100; i++) {
        INFEROM_SCOPE("many");
        busy(i < 90 ? 20 : 200);
    }
    inferom_row many = row_of("many");
    CHECK(many.min_ns <= many.mean_ns && many.mean_ns <= many.max_ns);
    CHECK(many.p50_ns <= many.p90_ns && many.p90_ns <= many.p99_ns);
    CHECK(many.min_ns >= 19500 && many.max_ns >= 199000 && many.p99_ns >= 190000);
    CHECK(many.deviation_ns > 20000);
    CHECK(fabs(many.total_ns - many.mean_ns * 100) < 1e-6 * many.total_ns);
}

/* A scope within itself: its time counts once. */
static KEPT void again(int depth)
{
    INFEROM_SCOPE("again");
    busy(20);
    if (depth)
        again(depth - 1);
}

static void test_recursion(void)
{
    begin_case();
    {
        INFEROM_SCOPE("whole");
        again(9);
    }
    inferom_row whole = row_of("whole"), inner = row_of("again");
    CHECK_EQ(inner.calls, 10);
    CHECK_EQ(calls_between("again", "again"), 9);
    CHECK(inner.total_ns <= whole.total_ns);
    CHECK(fabs(inner.self_ns + whole.self_ns - whole.total_ns) < 1e-3 * whole.total_ns); /* a tick's length is known better each time */
}

static KEPT void deeper(int depth)
{
    INFEROM_SCOPE("deeper");
    if (depth)
        deeper(depth - 1);
}

/* More than there is room for is counted, not recorded, and what is there stays right. */
static void test_too_deep(void)
{
    begin_case();
    deeper(2000);
    uint64_t calls = row_of("deeper").calls;
    CHECK(calls > 100 && calls <= 2001);
    size_t bytes = inferom_report(NULL, 0) + 1;
    char *text = malloc(bytes);
    inferom_report(text, bytes);
    CHECK(strstr(text, "lost: ") != NULL);
    free(text);
    early(0);
    CHECK_EQ(calls_between(NULL, "early"), 1);
}

/* On, off, forgotten, left out. */

static void test_switch(void)
{
    begin_case();
    for (int i = 0; i < 90; i++) {
        if (i % 30 == 0)
            inferom_enable(i % 60 == 0);
        INFEROM_SCOPE("switched");
    }
    CHECK_EQ(row_of("switched").calls, 60);
    inferom_enable(0);
    {
        INFEROM_SCOPE("began off");
        CHECK_EQ(inferom_enable(1), 0);
        INFEROM_SCOPE("began on");
        CHECK_EQ(inferom_enable(0), 1);
    }
    CHECK_EQ(row_of("began off").calls, 0);
    CHECK_EQ(row_of("began on").calls, 1);
    CHECK_EQ(calls_between(NULL, "began on"), 1);
}

static void test_region(void)
{
    begin_case();
    for (int i = 0; i < 7; i++) {
        INFEROM_SCOPE("outside");
    }
    inferom_reset();
    CHECK_EQ(inferom_top(NULL, 0, INFEROM_BY_SELF), 0);
    {
        INFEROM_SCOPE("spans the reset");
        inferom_reset();
        INFEROM_SCOPE("inside");
    }
    CHECK_EQ(row_of("outside").calls, 0);
    CHECK_EQ(row_of("inside").calls, 1);
    CHECK_EQ(row_of("spans the reset").calls, 1);
}

static KEPT void warm(void)
{
    INFEROM_SCOPE("warm");
    INFEROM_SCOPE("in warm");
    INFEROM_PHASE("phase in warm");
    INFEROM_COUNT("counted in warm", 1);
}

static void test_warmup(void)
{
    begin_case();
    CHECK_EQ(inferom_warmup("warm", 3), 0);
    for (int i = 0; i < 10; i++)
        warm();
    CHECK_EQ(row_of("warm").calls, 7);
    CHECK_EQ(row_of("warm").left_out, 3);
    CHECK_EQ(row_of("in warm").calls, 7);
    CHECK_EQ(row_of("phase in warm").calls, 7);
    CHECK(inferom_metric("counted in warm") == 7);
    CHECK_EQ(inferom_warmup("warm", 2), 0); /* again, of a scope that is known */
    for (int i = 0; i < 5; i++)
        warm();
    CHECK_EQ(row_of("warm").calls, 10);
    CHECK(inferom_warmup(NULL, 1) < 0 && inferom_warmup("", 1) < 0);
}

/* Phases, counters, memory. */

static void test_phases(void)
{
    begin_case();
    static const char *const phases[] = {"load.tokenizer", "load.config", "load.weights", "load.post"};
    {
        INFEROM_SCOPE("load");
        for (int i = 0; i < 4; i++) {
            inferom_phase(phases[i]);
            busy(100u << i);
            early(0);
        }
    } /* the last one ends here */
    early(0);
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(row_of(phases[i]).calls, 1);
        CHECK_EQ(calls_between("load", phases[i]), 1);
        CHECK_EQ(calls_between(phases[i], "early"), 1);
        sum += row_of(phases[i]).total_ns;
    }
    inferom_row load = row_of("load"); /* its own is what is between the clocks of it and of its phases */
    CHECK(fabs(sum + load.self_ns - load.total_ns) < 1e-3 * load.total_ns);
    CHECK(load.total_ns > row_of("load.post").total_ns + 699000); /* not the last one's */
    CHECK_EQ(calls_between(NULL, "early"), 1);
}

static void test_metrics(void)
{
    begin_case();
    for (int i = 1; i <= 4; i++) {
        INFEROM_COUNT("tokens", i);
        INFEROM_GAUGE("queue", 10 - i);
    }
    inferom_count("tokens", 5);
    CHECK(inferom_metric("tokens") == 15);
    CHECK(inferom_metric("queue") == 6);
    CHECK(isnan(inferom_metric("nobody's")));
    inferom_gauge("queue", NAN); /* says nothing */
    CHECK(inferom_metric("queue") == 6);
}

static void test_memory(void)
{
    begin_case();
    {
        INFEROM_SCOPE("keeps");
        inferom_allocated(100);
        {
            INFEROM_SCOPE("takes");
            inferom_allocated(7);
            inferom_allocated(3);
        }
        inferom_allocated(100);
    }
    CHECK_EQ(row_of("keeps").allocations, 2);
    CHECK_EQ(row_of("keeps").bytes, 200);
    CHECK_EQ(row_of("takes").allocations, 2);
    CHECK_EQ(row_of("takes").bytes, 10);
}

/* Other languages. */

static void test_begin_end(void)
{
    begin_case();
    for (int i = 0; i < 5; i++) {
        char name[] = "built at run time"; /* another place each time, the same text */
        uint64_t a = inferom_begin(name), b = inferom_begin("inner");
        inferom_end(b);
        inferom_end(b);           /* twice: nothing */
        inferom_begin("forgotten"); /* ends with the one around it */
        inferom_end(a);
    }
    inferom_end(0);
    CHECK_EQ(row_of("built at run time").calls, 5);
    CHECK_EQ(row_of("inner").calls, 5);
    CHECK_EQ(row_of("forgotten").calls, 5);
    CHECK_EQ(calls_between("built at run time", "forgotten"), 5);
    uint64_t open[300];
    for (int i = 0; i < 300; i++)
        open[i] = inferom_begin("stacked");
    for (int i = 300; i-- > 0;)
        inferom_end(open[i]);
    CHECK(row_of("stacked").calls >= 256);
    early(0);
    CHECK_EQ(calls_between(NULL, "early"), 1);
}

static void test_write_fails(void)
{
    begin_case();
    early(0);
    CHECK(inferom_write("/nowhere/at/all.inferom") == -2);
    CHECK(inferom_write("") < 0 && inferom_write(NULL) < 0);
}

int main(void)
{
    static void (*const tests[])(void) = {
        test_numbers, test_nesting, test_recursion, test_too_deep, test_switch, test_region, test_warmup, test_phases,
        test_metrics, test_memory, test_begin_end, test_write_fails,
    };
    RUN_ALL(tests);
    return CHECK_DONE();
}
