/* numbers.h - numbers for tests: always the same ones, and comparing with what they should be. */
#pragma once
#include "check.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* As long as asked and no longer, so that the address sanitizer sees a step too far; `shift` spoils the alignment. */
struct numbers {
    float *room, *at;
    size_t n;
};

static uint64_t number_state = 1;

static inline double number_between(double low, double high)
{
    number_state = number_state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(number_state >> 11) * 0x1p-53;
}

static inline struct numbers numbers_new(size_t n, size_t shift)
{
    struct numbers v = {.room = calloc(n + shift + !n, sizeof(float)), .n = n};
    v.at = v.room + shift;
    return v;
}

static inline struct numbers numbers_random(size_t n, size_t shift, double low, double high)
{
    struct numbers v = numbers_new(n, shift);
    for (size_t i = 0; i < n; i++)
        v.at[i] = (float)number_between(low, high);
    return v;
}

static inline void numbers_free(struct numbers v) { free(v.room); }

/* NaN for NaN, infinity for infinity, else no farther away than tolerance * (magnitude of either). */
static inline int number_is(double got, double want, double tolerance, double magnitude)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= tolerance * fmax(fabs(want), magnitude);
}

#define CHECK_NUMBER(got, want, tolerance, magnitude, ...)                                              \
    do {                                                                                                \
        double g_ = (got), w_ = (want);                                                                 \
        if (!number_is(g_, w_, (tolerance), (magnitude))) {                                             \
            check_failures++;                                                                           \
            printf("%s:%d: %.9g, want %.9g: ", __FILE__, __LINE__, g_, w_);                             \
            printf(__VA_ARGS__);                                                                        \
            printf("\n");                                                                               \
        }                                                                                               \
    } while (0)
