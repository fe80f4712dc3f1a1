/*
 * Calls that are only counted, entered in the program's own code: they are exact all the same, whatever happens in the middle
 * of one. Run with INFEROM_SCOPES_TIMING=3, so that two calls in three are of this kind from the first on.
 */
#include "scopes_case.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 3000 };

static KEPT void leaf(void) { INFEROM_SCOPE("leaf"); }
static KEPT void other(void) { INFEROM_SCOPE("other"); }

static void test_leaves(void)
{
    begin_case();
    for (int i = 0; i < MANY; i++) {
        INFEROM_SCOPE("around");
        leaf();
        other();
        leaf();
        if (i % 7 == 0)
            other();
    }
    inferom_row row = row_of("leaf");
    CHECK_EQ(row.calls, 2 * MANY);
    CHECK(row.timed > 0 && row.timed < row.calls); /* or this would test nothing */
    CHECK_EQ(calls_between("around", "leaf"), 2 * MANY);
    CHECK_EQ(calls_between("around", "other"), MANY + (MANY + 6) / 7);
    CHECK_EQ(row_of("around").calls, MANY);
    CHECK_EQ(row_of("around").cut + row.cut, 0);
}

/* For long it has nothing inside, and then it has. */
static KEPT void grows(int i)
{
    INFEROM_SCOPE("grows");
    if (i > MANY / 2 && i % 5 == 0)
        leaf();
    if (i % 11 == 0)
        inferom_end(inferom_begin("begun inside"));
    if (i % 13 == 0) {
        INFEROM_PHASE("phase inside");
        INFEROM_PHASE_END();
    }
    if (i % 17 == 0)
        inferom_allocated(10);
}

static void test_growing(void)
{
    begin_case();
    uint64_t inner = 0, begun = 0, phases = 0, told = 0;
    for (int i = 0; i < MANY; i++) {
        grows(i);
        inner += i > MANY / 2 && i % 5 == 0;
        begun += i % 11 == 0;
        phases += i % 13 == 0;
        told += i % 17 == 0;
    }
    CHECK_EQ(row_of("grows").calls, MANY);
    CHECK_EQ(row_of("grows").cut, 0);
    CHECK_EQ(calls_between("grows", "leaf"), inner);
    CHECK_EQ(calls_between("grows", "begun inside"), begun);
    CHECK_EQ(calls_between("grows", "phase inside"), phases);
    CHECK_EQ(row_of("grows").allocations, told);
    CHECK_EQ(row_of("grows").bytes, 10 * told);
    CHECK_EQ(calls_between(NULL, "grows"), MANY);
}

static jmp_buf back;

static KEPT void jumps(void)
{
    INFEROM_SCOPE("jumps");
    longjmp(back, 1);
}

static KEPT void lands(int how)
{
    INFEROM_SCOPE("lands");
    if (setjmp(back) == 0)
        jumps();
    if (how == 1)
        leaf();
    if (how == 2)
        inferom_after_longjmp();
}

static void test_jumps(void)
{
    begin_case();
    for (int i = 0; i < MANY; i++)
        lands(i % 3);
    CHECK_EQ(row_of("lands").calls, MANY);
    CHECK_EQ(row_of("lands").cut, 0);
    CHECK_EQ(row_of("jumps").calls, MANY);
    CHECK_EQ(row_of("jumps").cut, MANY);
    CHECK_EQ(calls_between("lands", "jumps"), MANY);
    CHECK_EQ(row_of("leaf").calls, MANY / 3);
}

/* Forgotten, switched off and left out in the middle. */
static void test_switched(void)
{
    begin_case();
    for (int i = 0; i < 100; i++)
        leaf();
    inferom_reset();
    for (int i = 0; i < 100; i++)
        leaf();
    CHECK_EQ(row_of("leaf").calls, 100);
    inferom_enable(0);
    for (int i = 0; i < 50; i++)
        leaf();
    inferom_enable(1);
    for (int i = 0; i < 50; i++)
        leaf();
    CHECK_EQ(row_of("leaf").calls, 150);
    CHECK_EQ(inferom_warmup("leaf", 40), 0);
    for (int i = 0; i < 100; i++)
        leaf();
    CHECK_EQ(row_of("leaf").calls, 210);
    CHECK_EQ(row_of("leaf").left_out, 40);
    {
        INFEROM_SCOPE("resets inside");
        inferom_reset();
    }
    CHECK(row_of("resets inside").calls <= 1);
    for (int i = 0; i < 30; i++) {
        INFEROM_SCOPE("resets inside");
    }
    CHECK(row_of("resets inside").calls >= 30);
}

static void test_here(void)
{
    begin_case();
    CHECK_EQ(inferom_scope_here(), 0);
    uint32_t first = 0;
    for (int i = 0; i < 30; i++) {
        INFEROM_SCOPE("here");
        uint32_t here = inferom_scope_here(); /* the same path is the same number, timed or not */
        first = first ? first : here;
        CHECK(here != 0);
        CHECK_EQ(here, first);
        INFEROM_SCOPE("inside");
        CHECK(inferom_scope_here() != here);
    }
    CHECK_EQ(inferom_scope_here(), 0);
}

static void test_fork(void)
{
    begin_case();
    for (int i = 0; i < 30; i++) {
        INFEROM_SCOPE("forks");
        if (i < 20)
            continue;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            for (int k = 0; k < 10; k++)
                leaf();
            _exit(row_of("leaf").calls == 10 && row_of("forks").calls == 0 && calls_between("forks", "leaf") == 10 ? 0 : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        CHECK_EQ(status, 0);
    }
    CHECK_EQ(row_of("forks").calls, 30);
    CHECK_EQ(row_of("leaf").calls, 0);
}

static volatile sig_atomic_t signals;

static void handler(int number)
{
    (void)number;
    INFEROM_SCOPE("in a handler");
    signals++;
}

static void test_handler(void)
{
    begin_case();
    struct sigaction a = {.sa_handler = handler};
    sigaction(SIGALRM, &a, NULL);
    timer_t timer;
    struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct itimerspec every = {{0, 40000}, {0, 40000}};
    if (timer_create(CLOCK_MONOTONIC, &e, &timer) != 0)
        return;
    timer_settime(timer, 0, &every, NULL);
    uint64_t rounds = 0;
    for (; signals < 200 && rounds < 100000000; rounds++) {
        INFEROM_SCOPE("around");
        leaf();
        other();
    }
    timer_delete(timer);
    /* Counts of the interrupted instruction may be one off: a load, the handler's own count, a store. */
    uint64_t slack = (uint64_t)signals;
    CHECK(row_of("around").calls + slack >= rounds && row_of("around").calls <= rounds + slack);
    CHECK(row_of("leaf").calls + slack >= rounds && row_of("leaf").calls <= rounds + slack);
    CHECK_EQ(calls_between(NULL, "around") > 0, 1);
    CHECK_EQ(calls_between("around", "around"), 0);
    for (int i = 0; i < 9; i++)
        leaf();
    CHECK_EQ(calls_between(NULL, "leaf"), 9); /* nothing is left open */
}

/* Any tree, by dice, beside counts of its own. */
enum { NAMES = 6 };
static const char *const names[NAMES] = {"a", "b", "c", "d", "e", "f"};
static uint64_t truth[NAMES + 1][NAMES];

static KEPT void walk(unsigned *dice, unsigned caller, int depth)
{
    for (int i = 0; i < 3; i++) {
        *dice = *dice * 1103515245 + 12345;
        unsigned which = (*dice >> 16) % NAMES;
        truth[caller][which]++;
        switch (which) { /* each its own place */
        case 0: { INFEROM_SCOPE("a"); if (depth) walk(dice, 0, depth - 1); } break;
        case 1: { INFEROM_SCOPE("b"); } break;
        case 2: { INFEROM_SCOPE("c"); if (depth) walk(dice, 2, depth - 1); } break;
        case 3: { INFEROM_SCOPE("d"); } break;
        case 4: { INFEROM_SCOPE("e"); if (depth && *dice & 0x100000) walk(dice, 4, depth - 1); } break;
        default: { uint64_t s = inferom_begin("f"); if (depth && *dice & 0x200000) walk(dice, 5, depth - 1); inferom_end(s); } break;
        }
    }
}

static void test_dice(void)
{
    begin_case();
    memset(truth, 0, sizeof truth);
    unsigned dice = 7;
    for (int i = 0; i < 400; i++)
        walk(&dice, NAMES, 5);
    for (unsigned caller = 0; caller <= NAMES; caller++)
        for (unsigned callee = 0; callee < NAMES; callee++)
            CHECK_EQ(calls_between(caller < NAMES ? names[caller] : NULL, names[callee]), truth[caller][callee]);
    for (unsigned i = 0; i < NAMES; i++)
        CHECK_EQ(row_of(names[i]).cut, 0);
}

int main(void)
{
    static void (*const tests[])(void) = {test_leaves, test_growing, test_jumps, test_switched, test_here, test_fork, test_handler, test_dice};
    RUN_ALL(tests);
    return CHECK_DONE();
}
