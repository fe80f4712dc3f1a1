/*
 * roof_loops.h - loops that do nothing but load the machine: memory, arithmetic, waiting
 *
 * Once per SIMD level, since what a core can read and compute depends on the width of its registers. The level has
 * the name that it has in ops.h.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roof_loops {
    const char *level;
    /* Over n numbers, a multiple of ROOF_GRAIN, aligned to 64 bytes. */
    float (*read)(const float *a, size_t n);
    void (*copy)(float *out, const float *a, size_t n);
    void (*triad)(float *out, const float *a, const float *b, float by, size_t n); /* out = a + by * b */
    /* Independent multiply-and-adds in registers; how many operations (2 each) one round is. */
    float (*fma)(uint64_t rounds, float by, float plus);
    double flops_a_round;
};
enum { ROOF_GRAIN = 128 };

const struct roof_loops *roof_loops_named(const char *level); /* NULL: this processor cannot */

/* The same for bytes and bf16; NULL where the processor does not multiply those itself. */
struct roof_small {
    const char *type; /* "int8", "bf16" */
    int32_t (*run)(uint64_t rounds, int32_t a, int32_t b);
    double flops_a_round;
};
const struct roof_small *roof_small_named(const char *type);

/* One step after the other through a ring of pointers. */
void *roof_chase(void *from, uint64_t steps);
