#include "lab/weights.h"

#include <math.h>

const char *const weight_type_names[WEIGHT_TYPE_COUNT + 1] = {"f32", "f16", "bf16", "q8_0", "q4_0", NULL};

size_t weight_bytes(enum weight_type t, size_t n)
{
    switch (t) {
    case WEIGHT_F32: return n * sizeof(float);
    case WEIGHT_F16:
    case WEIGHT_BF16: return n * sizeof(uint16_t);
    case WEIGHT_Q8_0: return n / WEIGHT_BLOCK * sizeof(struct block_q8_0);
    case WEIGHT_Q4_0: return n / WEIGHT_BLOCK * sizeof(struct block_q4_0);
    case WEIGHT_TYPE_COUNT: break;
    }
    return 0;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

float f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 0x1f, fraction = h & 0x3ff;
    if (exponent == 0x1f)
        return float_of(sign | 0x7f800000 | fraction << 13);
    if (exponent)
        return float_of(sign | (exponent + 112) << 23 | fraction << 13);
    float tiny = (float)fraction * 0x1p-24f; /* subnormal, or zero */
    return sign ? -tiny : tiny;
}

/*
 * Rounding is left to the adder: added to a power of two whose last bit has the weight of f16's last bit, the
 * number is rounded there, to nearest and ties to even, also for subnormals.
 */
uint16_t f32_to_f16(float f)
{
    uint32_t bits = bits_of(f), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x1ff)); /* NaN, quiet */
    if (magnitude >= 0x477ff000)
        return (uint16_t)(sign | 0x7c00); /* 65520 and above */
    uint32_t exponent = magnitude >> 23;
    if (exponent < 113) { /* below the least normal f16 */
        float shifted = float_of(magnitude) + 0.5f; /* the last bit of 0.5 weighs 2^-24 */
        return (uint16_t)(sign | (bits_of(shifted) - bits_of(0.5f)));
    }
    uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
    return (uint16_t)(sign | (rounded - (112u << 23)) >> 13);
}

uint16_t f32_to_bf16(float f)
{
    uint32_t bits = bits_of(f);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40); /* NaN, quiet */
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void unpack_q8_0(float *out, const struct block_q8_0 *b, size_t n)
{
    for (size_t i = 0; i < n / WEIGHT_BLOCK; i++) {
        float scale = f16_to_f32(b[i].scale);
        for (size_t j = 0; j < WEIGHT_BLOCK; j++)
            out[i * WEIGHT_BLOCK + j] = scale * (float)b[i].at[j];
    }
}

static void unpack_q4_0(float *out, const struct block_q4_0 *b, size_t n)
{
    enum { HALF = WEIGHT_BLOCK / 2 };
    for (size_t i = 0; i < n / WEIGHT_BLOCK; i++) {
        float scale = f16_to_f32(b[i].scale);
        for (size_t j = 0; j < HALF; j++) {
            out[i * WEIGHT_BLOCK + j] = scale * (float)((b[i].at[j] & 15) - 8);
            out[i * WEIGHT_BLOCK + j + HALF] = scale * (float)((b[i].at[j] >> 4) - 8);
        }
    }
}

void weight_unpack(enum weight_type t, float *out, const void *row, size_t n)
{
    const uint16_t *half = row;
    switch (t) {
    case WEIGHT_F32: memcpy(out, row, n * sizeof *out); break;
    case WEIGHT_F16:
        for (size_t i = 0; i < n; i++)
            out[i] = f16_to_f32(half[i]);
        break;
    case WEIGHT_BF16:
        for (size_t i = 0; i < n; i++)
            out[i] = bf16_to_f32(half[i]);
        break;
    case WEIGHT_Q8_0: unpack_q8_0(out, row, n); break;
    case WEIGHT_Q4_0: unpack_q4_0(out, row, n); break;
    case WEIGHT_TYPE_COUNT: break;
    }
}

/* The one farthest from zero, with its sign. */
static float extreme(const float *x, size_t n)
{
    float most = 0;
    for (size_t i = 0; i < n; i++)
        if (fabsf(x[i]) > fabsf(most))
            most = x[i];
    return most;
}

static void pack_q8_0(struct block_q8_0 *out, const float *x, size_t n)
{
    for (size_t i = 0; i < n / WEIGHT_BLOCK; i++, x += WEIGHT_BLOCK) {
        float scale = fabsf(extreme(x, WEIGHT_BLOCK)) / 127, inverse = scale != 0 ? 1 / scale : 0;
        out[i].scale = f32_to_f16(scale);
        for (size_t j = 0; j < WEIGHT_BLOCK; j++)
            out[i].at[j] = (int8_t)lrintf(x[j] * inverse);
    }
}

/* The extreme becomes -8, the end of the range that reaches farther. */
static void pack_q4_0(struct block_q4_0 *out, const float *x, size_t n)
{
    enum { HALF = WEIGHT_BLOCK / 2 };
    for (size_t i = 0; i < n / WEIGHT_BLOCK; i++, x += WEIGHT_BLOCK) {
        float scale = extreme(x, WEIGHT_BLOCK) / -8, inverse = scale != 0 ? 1 / scale : 0;
        out[i].scale = f32_to_f16(scale);
        for (size_t j = 0; j < HALF; j++) {
            float low = fminf(15, x[j] * inverse + 8.5f), high = fminf(15, x[j + HALF] * inverse + 8.5f);
            out[i].at[j] = (uint8_t)((int)low | (int)high << 4);
        }
    }
}

void weight_pack(enum weight_type t, void *out_row, const float *x, size_t n)
{
    uint16_t *half = out_row;
    switch (t) {
    case WEIGHT_F32: memcpy(out_row, x, n * sizeof *x); break;
    case WEIGHT_F16:
        for (size_t i = 0; i < n; i++)
            half[i] = f32_to_f16(x[i]);
        break;
    case WEIGHT_BF16:
        for (size_t i = 0; i < n; i++)
            half[i] = f32_to_bf16(x[i]);
        break;
    case WEIGHT_Q8_0: pack_q8_0(out_row, x, n); break;
    case WEIGHT_Q4_0: pack_q4_0(out_row, x, n); break;
    case WEIGHT_TYPE_COUNT: break;
    }
}
