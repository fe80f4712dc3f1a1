/*
 * scopes_case.h - libinferom from the inside of a program: what tests ask of it
 *
 *     begin_case();                        // on, and nothing counted
 *     early(1);
 *     CHECK_EQ(row_of("early").calls, 1);
 *     CHECK_EQ(calls_between(NULL, "early"), 1);
 */
#pragma once
#include "check.h"
#include "inferom.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif

__attribute__((unused)) static void busy(unsigned us)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    do
        clock_gettime(CLOCK_MONOTONIC, &b);
    while ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec) < us * 1e3);
}

/* The row of a scope; all zero when there is none. */
__attribute__((unused)) static inferom_row row_of(const char *name)
{
    inferom_row rows[64] = {0};
    size_t n = inferom_top(rows, 64, INFEROM_BY_NAME);
    for (size_t i = 0; i < n && i < 64; i++)
        if (!strcmp(rows[i].name, name))
            return rows[i];
    return (inferom_row){0};
}

__attribute__((unused)) static uint64_t calls_between(const char *caller, const char *callee)
{
    inferom_edge edges[64];
    size_t n = inferom_callers(callee, edges, 64);
    for (size_t i = 0; i < n && i < 64; i++)
        if (caller ? edges[i].name && !strcmp(edges[i].name, caller) : !edges[i].name)
            return edges[i].calls;
    return 0;
}

__attribute__((unused)) static void begin_case(void)
{
    inferom_enable(1);
    inferom_reset();
}

/* A scope that is left early every second time, and then has none inside. */
static KEPT __attribute__((unused)) int early(int i)
{
    INFEROM_SCOPE("early");
    if (i % 2)
        return 1;
    INFEROM_SCOPE("late");
    return 0;
}

#define RUN_ALL(tests)                                           \
    for (size_t i_ = 0; i_ < sizeof(tests) / sizeof *(tests); i_++) \
        (tests)[i_]();
