#include "bench/spin.h"
#include "bench/timed_run.h"
#include "check.h"

static volatile sig_atomic_t stop;

static const struct {
    const char *what;
    const char *command[4];
    const char *output, *error;
} cases[] = {
    {"what it prints is kept",      {"sh", "-c", "echo one; echo two"},      "one\ntwo\n", NULL},
    {"what it complains is not",    {"sh", "-c", "echo one >&2"},            "", NULL},
    {"nothing to read",             {"cat"},                                 "", NULL},
    {"ends badly",                  {"sh", "-c", "exit 3"},                  "", "sh ended with status 3"},
    {"ended by a signal",           {"sh", "-c", "kill -9 $$"},              "", "sh was ended by signal 9"},
    {"is not there",                {"/nowhere/program"},                    "", "/nowhere/program cannot be run"},
};

static void check_case(size_t i)
{
    own(buf) struct buf out;
    buf_init(&out, 1 << 20);
    struct err e = {0};
    struct timed_run run = {0};
    bool ok = timed_run(&run, (char *const *)cases[i].command, &out, &stop, &e);
    printf("%s\n", cases[i].what);
    CHECK_EQ(ok, cases[i].error == NULL);
    CHECK_STR(e.text, cases[i].error ? cases[i].error : "");
    CHECK_STR(out.data, cases[i].output);
    CHECK(run.wall_ns > 0);
}

static void check_large(void)
{
    own(buf) struct buf out;
    buf_init(&out, 1 << 20);
    struct err e = {0};
    struct timed_run run;
    char *const command[] = {(char *)"sh", (char *)"-c", (char *)"printf %0300000d 0", NULL};
    CHECK(timed_run(&run, command, &out, &stop, &e));
    CHECK_EQ(out.len, 300000); /* a pipe holds 65536 */
}

/* Its children die with it, and we are told why there is no answer. */
static void check_stop(void)
{
    struct err e = {0};
    struct timed_run run;
    char *const command[] = {(char *)"sh", (char *)"-c", (char *)"sleep 1000; true", NULL};
    stop = 1;
    CHECK(!timed_run(&run, command, NULL, &stop, &e));
    CHECK_EQ(e.kind, ERR_INTERRUPTED);
    stop = 0;
}

/* CPU time is counted, that of children too; and twice the work takes more of it. */
static void check_cpu(void)
{
    struct err e = {0};
    struct timed_run run = {0};
    char *const command[] = {(char *)"sh", (char *)"-c", (char *)"sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; true", NULL};
    CHECK(timed_run(&run, command, NULL, &stop, &e));
    CHECK(run.cpu_ns > 1000000);
    uint64_t few = spin_units(10000000), many = spin_units(100000000);
    CHECK(few >= 1 && many > few);
    CHECK(spin(few, &e));
    CHECK_EQ(spin_units(0), 1);
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(i);
    check_large();
    check_stop();
    check_cpu();
    return CHECK_DONE();
}
