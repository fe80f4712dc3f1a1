/* libinferom from the inside of a program: what it counts, and what it makes of bad days. */
#include "check.h"
#include "inferom.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif

static void busy(unsigned us)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    do
        clock_gettime(CLOCK_MONOTONIC, &b);
    while ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec) < us * 1e3);
}

/* The row of a scope; all zero when there is none. */
static inferom_row row_of(const char *name)
{
    inferom_row rows[64] = {0};
    size_t n = inferom_top(rows, 64, INFEROM_BY_NAME);
    for (size_t i = 0; i < n && i < 64; i++)
        if (!strcmp(rows[i].name, name))
            return rows[i];
    return (inferom_row){0};
}

static uint64_t calls_between(const char *caller, const char *callee)
{
    inferom_edge edges[64];
    size_t n = inferom_callers(callee, edges, 64);
    for (size_t i = 0; i < n && i < 64; i++)
        if (caller ? edges[i].name && !strcmp(edges[i].name, caller) : !edges[i].name)
            return edges[i].calls;
    return 0;
}

static void begin_case(void)
{
    inferom_enable(1);
    inferom_reset();
}

/* Nesting, early ends, numbers. */

static KEPT int early(int i)
{
    INFEROM_SCOPE("early");
    if (i % 2)
        return 1;
    INFEROM_SCOPE("late");
    return 0;
}

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

/* Bad days. */

static jmp_buf back;

static KEPT void jumps(void)
{
    INFEROM_SCOPE("jumps");
    {
        INFEROM_SCOPE("jumps inside");
        longjmp(back, 1);
    }
}

static KEPT void sibling(void)
{
    volatile char room[256] = {0};
    (void)room[3];
    INFEROM_SCOPE("sibling");
}

static KEPT void lands(int how)
{
    INFEROM_SCOPE("lands");
    if (setjmp(back) == 0)
        jumps();
    if (how == 0)
        return; /* the scope around it finds out */
    if (how == 1) {
        INFEROM_SCOPE("next in the same function");
        return;
    }
    inferom_after_longjmp();
    sibling();
}

static void test_longjmp(void)
{
    begin_case();
    for (int i = 0; i < 30; i++)
        lands(i % 3);
    CHECK_EQ(row_of("lands").calls, 30);
    CHECK_EQ(row_of("lands").cut, 0);
    CHECK_EQ(row_of("jumps").calls, 30);
    CHECK_EQ(row_of("jumps").cut, 30);
    CHECK_EQ(row_of("jumps inside").cut, 30);
    CHECK_EQ(calls_between(NULL, "lands"), 30);
    CHECK_EQ(calls_between("lands", "jumps"), 30);
    CHECK_EQ(calls_between("lands", "next in the same function"), 10);
    CHECK_EQ(calls_between("lands", "sibling"), 10);
}

/* Arrays of variable length move the stack under an open scope; that is no jump. */
static KEPT void variable(size_t n)
{
    INFEROM_SCOPE("variable");
    volatile char *room = __builtin_alloca(n);
    room[0] = 1;
    INFEROM_SCOPE("behind the array");
    early(0);
}

static void test_moving_stack(void)
{
    begin_case();
    for (size_t i = 1; i < 50; i++)
        variable(i * 100);
    CHECK_EQ(row_of("variable").cut, 0);
    CHECK_EQ(calls_between("variable", "behind the array"), 49);
    CHECK_EQ(calls_between("behind the array", "early"), 49);
}

static void test_fork(void)
{
    begin_case();
    early(0);
    {
        INFEROM_SCOPE("around the fork");
        fflush(stdout);
        pid_t child = fork();
        early(0);
        if (child == 0) { /* counts only its own, and has the scope around it as a caller */
            bool ok = row_of("early").calls == 1 && row_of("around the fork").calls == 0 &&
                      calls_between("around the fork", "early") == 1;
            _exit(ok ? 0 : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        CHECK_EQ(status, 0);
    }
    CHECK_EQ(row_of("early").calls, 2);
    CHECK_EQ(row_of("around the fork").calls, 1);
}

static void *short_life(void *arg)
{
    INFEROM_SCOPE("short life");
    early(0);
    if (arg)
        pthread_exit(NULL); /* with the scope open */
    return NULL;
}

/* More threads than are kept apart: each call counts. */
static void test_many_threads(void)
{
    begin_case();
    for (int i = 0; i < 1200; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, short_life, i % 2 ? &t : NULL) == 0)
            pthread_join(t, NULL);
    }
    CHECK_EQ(row_of("short life").calls, 1200);
    CHECK_EQ(row_of("early").calls, 1200);
    CHECK_EQ(calls_between("short life", "early"), 1200);
}

/* Everybody at once, and somebody who looks. */
enum { AT_ONCE = 4, EACH = 20000 };

static void *crowd(void *arg)
{
    for (int i = 0; i < EACH; i++) {
        INFEROM_SCOPE("crowd");
        early(i);
        INFEROM_COUNT("crowd counter", 1);
        if (i % 100 == 0) {
            INFEROM_REQUEST(arg);
            INFEROM_PHASE("crowd phase");
        }
    }
    return NULL;
}

static void test_crowd(void)
{
    begin_case();
    inferom_request *r = inferom_request_new("r-1");
    pthread_t threads[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, crowd, r), 0);
    char text[4096];
    for (int i = 0; i < 20; i++) {
        inferom_report(text, sizeof text);
        inferom_row early_row = row_of("early");
        CHECK(early_row.calls <= AT_ONCE * EACH);
    }
    for (int i = 0; i < AT_ONCE; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(row_of("crowd").calls, AT_ONCE * EACH);
    CHECK_EQ(calls_between("early", "late"), AT_ONCE * EACH / 2);
    CHECK(inferom_metric("crowd counter") == AT_ONCE * EACH);
    CHECK_EQ(row_of("crowd phase").calls, AT_ONCE * EACH / 100);
}

static volatile sig_atomic_t signals;

static void handler(int number)
{
    (void)number;
    INFEROM_SCOPE("in a signal handler");
    signals++;
}

/* A handler that comes at any moment leaves the tree as it found it. */
static void test_signal_handler(void)
{
    begin_case();
    struct sigaction a = {.sa_handler = handler};
    sigaction(SIGALRM, &a, NULL);
    timer_t timer;
    struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct itimerspec every = {{0, 50000}, {0, 50000}};
    if (timer_create(CLOCK_MONOTONIC, &e, &timer) != 0)
        return;
    timer_settime(timer, 0, &every, NULL);
    int rounds = 0;
    for (; signals < 50 && rounds < 100000000; rounds++)
        early(rounds);
    timer_delete(timer);
    CHECK_EQ(row_of("early").calls, rounds);
    uint64_t seen = row_of("in a signal handler").calls; /* one that comes while room is made for a scope is lost, and said to be */
    CHECK(seen <= (uint64_t)signals && seen + 3 >= (uint64_t)signals);
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
        test_metrics, test_memory, test_begin_end, test_longjmp, test_moving_stack, test_fork, test_many_threads, test_crowd,
        test_signal_handler, test_write_fails,
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tests[i]();
    return CHECK_DONE();
}
