/*
 * tensor_type.h - how numbers lie in a file of weights
 *
 * Quantised types keep a block of elements behind a common scale; the others are blocks of one.
 * The numbers of the rows are those of the GGUF format. What can be computed with is another
 * question (weights.h); here is what is needed to count and to measure any file.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct tensor_type {
    const char *name; /* "q8_0" */
    uint32_t number;  /* in a GGUF file */
    uint32_t block_elements, block_bytes;
};

enum { TENSOR_F32 = 0, TENSOR_F16 = 1, TENSOR_Q4_0 = 2, TENSOR_Q8_0 = 8, TENSOR_BF16 = 30 };

const struct tensor_type *tensor_type_numbered(uint32_t number); /* NULL: we do not know it */

#define TENSOR_DIMS_MOST 4

/* How many elements, and the bytes they take. False: no such tensor can be, for instance because the number does not fit. */
bool tensor_size(const struct tensor_type *t, const uint64_t *dims, uint32_t n_dims, uint64_t *out_elements, uint64_t *out_bytes);
