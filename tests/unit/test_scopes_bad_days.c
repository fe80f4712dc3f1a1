/* What libinferom makes of jumps, forks, crowds and signals. */
#include "scopes_case.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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

int main(void)
{
    static void (*const tests[])(void) = {test_longjmp, test_moving_stack, test_fork, test_many_threads, test_crowd, test_signal_handler};
    RUN_ALL(tests);
    return CHECK_DONE();
}
