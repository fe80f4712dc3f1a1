/*
 * How it begins and ends. The environment says what is wanted:
 *
 *     INFEROM_SCOPES=on            record from the start; at exit print the table to stderr and write the file
 *     INFEROM_SCOPES=file|table    record, and do one of the two
 *     INFEROM_SCOPES=off           record nothing, even when 'inferom record' asks
 *     INFEROM_SCOPES_FILE=PATH     where to; %p is the process id. "PROGRAM.%p.inferom" when not said
 *     INFEROM_SCOPES_WARMUP=decode=3,prefill=1
 *     INFEROM_SCOPES_TIMING=every  time every call, however short; a number N: one in N, at random
 *     INFEROM_SCOPES_SIGNAL=N      a signal with this number switches recording on and off
 *
 *     INFEROM_SCOPES_PATH         where the memory is that 'inferom record' shares (pieces.c): then it is recorded, too
 *
 * Without any of them nothing is recorded and nothing happens at exit. A program that ends by _exit(), a signal
 * or exec() does not come here: what it wants to keep it writes itself, with inferom_write(). A recorder does not care.
 */
#include "client.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

uint32_t inferom_is_on;
uint32_t timing_stride;
struct run_facts run_facts;

static bool wants_table, wants_file;
static const char *file_pattern;

const char *inferom_version(void) { return INFEROM_VERSION; }

static bool says(const char *value, const char *word) { return value && !strcmp(value, word); }

/* The command, not the thread: that may have been renamed. */
static void learn_program(void)
{
    snprintf(run_facts.program, sizeof run_facts.program, "%s", program_invocation_short_name);
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    run_facts.began_ns = (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void toggle(int signal)
{
    (void)signal;
    inferom_enable(!GET(inferom_is_on));
}

/* Only when asked for by number, and only where nobody else has it. */
static void listen_to(const char *number)
{
    char *end;
    long n = number ? strtol(number, &end, 10) : 0;
    struct sigaction now, ours = {.sa_handler = toggle, .sa_flags = SA_RESTART};
    if (!number || *end || n <= 0 || n > SIGRTMAX || sigaction((int)n, NULL, &now) < 0 || now.sa_handler != SIG_DFL)
        return;
    sigaction((int)n, &ours, NULL);
}

/* "run.%p.inferom" */
static void file_path(char *out, size_t room)
{
    char pattern[4096];
    if (file_pattern && *file_pattern)
        snprintf(pattern, sizeof pattern, "%s", file_pattern);
    else
        snprintf(pattern, sizeof pattern, "%s.%%p.inferom", run_facts.program);
    const char *pid = strstr(pattern, "%p");
    if (pid)
        snprintf(out, room, "%.*s%d%s", (int)(pid - pattern), pattern, (int)getpid(), pid + 2);
    else
        snprintf(out, room, "%s", pattern);
}

static void say_failure(const char *path, int error)
{
    char text[4400];
    int n = snprintf(text, sizeof text, "inferom: %s was not written: %s\n", path, strerror(-error));
    if (write(STDERR_FILENO, text, (size_t)n) < 0)
        return; /* nobody is left to be told */
}

static void at_the_end(void)
{
    if (mine())
        scopes_end_all(mine());
    if (!blocks)
        return; /* nothing was ever recorded */
    if (wants_table)
        inferom_print(STDERR_FILENO);
    if (!wants_file)
        return;
    char path[8192];
    file_path(path, sizeof path);
    int error = inferom_write(path);
    if (error)
        say_failure(path, error);
}

static uint32_t stride_of(const char *timing)
{
    unsigned long n = timing ? strtoul(timing, NULL, 10) : 0;
    return says(timing, "every") ? 1 : n <= STRIDE_MOST ? (uint32_t)n : STRIDE_MOST;
}

/* Somebody outside may be looking. */
static bool is_recorded(const char *wanted)
{
    if (says(wanted, "off") || !pieces_start())
        return false;
    records_learn();
    return true;
}

/* Early, so that the constructors of the program find it; its destructors then come before the end. */
__attribute__((constructor(200))) static void start(void)
{
    const char *wanted = getenv("INFEROM_SCOPES");
    learn_program();
    ticks_start();
    threads_start();
    timing_stride = stride_of(getenv("INFEROM_SCOPES_TIMING"));
    file_pattern = getenv("INFEROM_SCOPES_FILE");
    warmup_from_text(getenv("INFEROM_SCOPES_WARMUP"));
    listen_to(getenv("INFEROM_SCOPES_SIGNAL"));
    bool is_on = says(wanted, "on") || says(wanted, "1"), is_shared = is_recorded(wanted);
    wants_table = is_on || says(wanted, "table");
    wants_file = is_on || says(wanted, "file");
    inferom_enable(wants_table || wants_file || is_shared);
    if (inferom_heap_scope)
        inferom_heap_scope(inferom_scope_here);
}

__attribute__((destructor(200))) static void end(void)
{
    if (inferom_heap_scope)
        inferom_heap_scope(NULL);
    at_the_end();
}
