/*
 * sampler.h - which token comes next
 *
 * Greedy takes the likeliest, the lowest number among equals. With a temperature the tokens are weighed by
 * exp(logit / temperature), the likeliest `top_k` of them if so wished, and a die is thrown. The dice are
 * splitmix64 from the session's seed: the same seed, the same throws.
 */
#pragma once
#include "lab/ops.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sampler {
    double temperature; /* 0: greedy */
    uint32_t top_k;     /* 0: all */
    uint64_t dice;
    float *weights;     /* room for a vocabulary; NULL when greedy */
    uint32_t *order;    /* likewise, with top_k */
};

void sampler_init(struct sampler *s, double temperature, uint32_t top_k, uint64_t seed, size_t vocabulary);
void sampler_done(struct sampler *s);

/* `is_silent` marks tokens that are never picked; NULL: all may be. */
uint32_t sampler_pick(struct sampler *s, const struct ops *o, const float *logits, const bool *is_silent, size_t n);

/* The generator behind everything that is drawn here: the next of a sequence, 64 good bits. */
static inline uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
