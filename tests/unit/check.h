/* check.h - the whole unit-test framework: say what you expect, once per line. */
#pragma once
#include <stdio.h>
#include <string.h>

static int check_failures;

#define CHECK(cond)                                                 \
    do {                                                            \
        if (!(cond)) {                                              \
            check_failures++;                                       \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #cond);       \
        }                                                           \
    } while (0)

#define CHECK_EQ(got, want)                                                                            \
    do {                                                                                               \
        long long g_ = (long long)(got), w_ = (long long)(want);                                       \
        if (g_ != w_) {                                                                                \
            check_failures++;                                                                          \
            printf("%s:%d: %s is %lld, want %lld\n", __FILE__, __LINE__, #got, g_, w_);                \
        }                                                                                              \
    } while (0)

#define CHECK_STR(got, want)                                                                           \
    do {                                                                                               \
        const char *g_ = (got), *w_ = (want);                                                          \
        if (strcmp(g_, w_)) {                                                                          \
            check_failures++;                                                                          \
            printf("%s:%d: %s is \"%s\", want \"%s\"\n", __FILE__, __LINE__, #got, g_, w_);            \
        }                                                                                              \
    } while (0)

#define CHECK_DONE() (check_failures ? 1 : 0)
