/*
 * tx-ending: burns for a while, says one line, and ends in its own way.
 *
 *     tx-ending normal     returns 7 from main
 *     tx-ending crash      writes where nobody may
 *     tx-ending abort      abort()
 *     tx-ending leave      _exit(5) with a thread still burning
 *     tx-ending stop       stops itself; goes on when somebody says so, and returns 7
 *     tx-ending user       becomes user 65534 half way, if it may, and returns 7
 *     tx-ending at-once    returns 7 without burning anything
 */
#include "truth.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS = 7, LEFT_STATUS = 5, NOBODY = 65534 };
#define WORK UINT64_C(100000000)

static KEPT void ending_burn(uint64_t rounds) { BURN(rounds, 0xe); }

static KEPT void ending_work(void)
{
    ending_burn(WORK);
    STAY();
}

/* In one write, while there still is somebody to write it. */
static void say(const char *what)
{
    char line[64];
    int n = snprintf(line, sizeof line, "ending: %s\n", what);
    if (write(STDOUT_FILENO, line, (size_t)n) != n)
        die("writing", errno);
}

static _Noreturn void *burn_on(void *unused)
{
    (void)unused;
    for (;;)
        ending_work();
}

static void crash(void)
{
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
}

static void leave(void)
{
    pthread_t one;
    int error = pthread_create(&one, NULL, burn_on, NULL);
    if (error)
        die("starting a thread", error);
    ending_work();
    _exit(LEFT_STATUS);
}

static void stop(void)
{
    raise(SIGSTOP);
    ending_work();
}

static void user(void)
{
    if (getuid() == 0 && setuid(NOBODY))
        die("changing the user", errno);
    ending_work();
}

static void normal(void) {}

static const struct {
    const char *name;
    void (*end)(void);
    bool works_first;
} endings[] = {
    {"normal", normal, true}, {"crash", crash, true}, {"abort", abort, true}, {"leave", leave, true},
    {"stop", stop, true},     {"user", user, true},   {"at-once", normal, false},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof endings / sizeof *endings; i++) {
        if (strcmp(argv[1], endings[i].name) != 0)
            continue;
        if (endings[i].works_first)
            ending_work();
        say(argv[1]);
        endings[i].end();
        return STATUS;
    }
    fprintf(stderr, "usage: tx-ending normal|crash|abort|leave|stop|user|at-once\n");
    return 2;
}
