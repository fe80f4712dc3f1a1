/*
 * weights.h - how a model keeps its numbers
 *
 *     f32    four bytes each
 *     f16    IEEE half precision
 *     bf16   the upper half of an f32
 *     q8_0   blocks of 32: a scale (f16) and 32 signed bytes; value = scale * byte
 *     q4_0   blocks of 32: a scale (f16) and 16 bytes; value i is the lower half of byte i, value i + 16 the
 *            upper half of byte i; value = scale * (half - 8)
 *
 * q8_0 and q4_0 are the block layouts of GGUF files. A row begins at a whole block; rows of quantised weights have
 * a multiple of 32 columns.
 *
 * The functions here are the plain ones, one number at a time; ops.h has them for whole rows.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum weight_type { WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16, WEIGHT_Q8_0, WEIGHT_Q4_0, WEIGHT_TYPE_COUNT };

extern const char *const weight_type_names[WEIGHT_TYPE_COUNT + 1]; /* "f32", ...; ends with NULL */

enum { WEIGHT_BLOCK = 32 }; /* values of a quantised block */

struct block_q8_0 {
    uint16_t scale;
    int8_t at[WEIGHT_BLOCK];
};

struct block_q4_0 {
    uint16_t scale;
    uint8_t at[WEIGHT_BLOCK / 2];
};

_Static_assert(sizeof(struct block_q8_0) == 34, "a block of q8_0 has no holes");
_Static_assert(sizeof(struct block_q4_0) == 18, "a block of q4_0 has no holes");

/* `rows` rows of `columns` weights each, one behind the other. */
struct weights {
    enum weight_type type;
    size_t rows, columns;
    const void *at;
};

static inline bool weight_is_quantised(enum weight_type t) { return t == WEIGHT_Q8_0 || t == WEIGHT_Q4_0; }
size_t weight_bytes(enum weight_type t, size_t n); /* of n values; for quantised ones n is a multiple of WEIGHT_BLOCK */

static inline const void *weights_row(const struct weights *w, size_t row)
{
    return (const char *)w->at + row * weight_bytes(w->type, w->columns);
}

float f16_to_f32(uint16_t h);
uint16_t f32_to_f16(float f); /* to nearest, ties to even; NaN stays NaN */

static inline float bf16_to_f32(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
uint16_t f32_to_bf16(float f); /* to nearest, ties to even; NaN stays NaN */

/* n values out of a row, and into one. */
void weight_unpack(enum weight_type t, float *out, const void *row, size_t n);
void weight_pack(enum weight_type t, void *out_row, const float *x, size_t n);
