/*
 * NEON: every 64-bit ARM processor.
 */
#include "lab/matmul_blocked.h"
#include "lab/ops_levels.h"

#if defined __aarch64__
#include "lab/simd.h"

#include <arm_neon.h>
#include <math.h>

typedef float32x4_t V;
#define LANES 4
#define TILE_ROWS 8
#define TILE_VECTORS 3
#define FEW 6 /* rows of A whose products with four rows of B fit into registers */

static inline V v_zero(void) { return vdupq_n_f32(0); }
static inline V v_set(float f) { return vdupq_n_f32(f); }
static inline V v_load(const float *p) { return vld1q_f32(p); }
static inline void v_store(float *p, V v) { vst1q_f32(p, v); }
static inline V v_add(V a, V b) { return vaddq_f32(a, b); }
static inline V v_sub(V a, V b) { return vsubq_f32(a, b); }
static inline V v_mul(V a, V b) { return vmulq_f32(a, b); }
static inline V v_div(V a, V b) { return vdivq_f32(a, b); }
static inline V v_fma(V a, V b, V c) { return vfmaq_f32(c, a, b); }
static inline V v_fnma(V a, V b, V c) { return vfmsq_f32(c, a, b); }
static inline V v_max(V a, V b) { return vmaxq_f32(a, b); }
static inline V v_min(V a, V b) { return vminq_f32(a, b); }
static inline float v_sum(V v) { return vaddvq_f32(v); }
static inline float v_most(V v) { return vmaxvq_f32(v); }
static inline V v_round(V v) { return vrndnq_f32(v); }
static inline V v_swap_pairs(V v) { return vrev64q_f32(v); }

static inline size_t at_most_all(size_t n) { return n < LANES ? n : LANES; }

static inline V v_load_part_or(const float *p, size_t n, V rest)
{
    float four[LANES];
    vst1q_f32(four, rest);
    memcpy(four, p, at_most_all(n) * sizeof *p);
    return vld1q_f32(four);
}

static inline V v_load_part(const float *p, size_t n) { return v_load_part_or(p, n, v_zero()); }

static inline void v_store_part(float *p, V v, size_t n)
{
    float four[LANES];
    vst1q_f32(four, v);
    memcpy(p, four, at_most_all(n) * sizeof *p);
}

/* a * b - c and a * b + c by turns. */
static inline V v_fma_by_turns(V a, V b, V c)
{
    static const float signs[LANES] = {-1, 1, -1, 1};
    return vfmaq_f32(vmulq_f32(c, vld1q_f32(signs)), a, b);
}

/* In two steps, each within f32, so that results that are almost too small are still right. */
static inline V v_times_power_of_two(V v, V n)
{
    int32x4_t whole = vcvtnq_s32_f32(n), half = vshrq_n_s32(whole, 1), rest = vsubq_s32(whole, half), bias = vdupq_n_s32(127);
    v = vmulq_f32(v, vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(half, bias), 23)));
    return vmulq_f32(v, vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(rest, bias), 23)));
}

/* Two numbers, each twice. */
static inline V v_load_twice(const float *p)
{
    float32x2_t two = vld1_f32(p);
    return vcombine_f32(vdup_lane_f32(two, 0), vdup_lane_f32(two, 1));
}

static inline uint16x4_t load_16_part(const uint16_t *p, size_t n)
{
    uint16_t four[LANES] = {0};
    memcpy(four, p, at_most_all(n) * sizeof *p);
    return vld1_u16(four);
}

static inline V f16_to_v(uint16x4_t h) { return vcvt_f32_f16(vreinterpret_f16_u16(h)); }
static inline V bf16_to_v(uint16x4_t h) { return vreinterpretq_f32_u32(vshll_n_u16(h, 16)); }
static inline V v_load_f16(const uint16_t *p) { return f16_to_v(vld1_u16(p)); }
static inline V v_load_f16_part(const uint16_t *p, size_t n) { return f16_to_v(load_16_part(p, n)); }
static inline V v_load_bf16(const uint16_t *p) { return bf16_to_v(vld1_u16(p)); }
static inline V v_load_bf16_part(const uint16_t *p, size_t n) { return bf16_to_v(load_16_part(p, n)); }

#include "lab/ops_vector.h"

/* Quantised weights: products of signed bytes in 16 bits. Two of at most 128 * 127 fit. */

static inline int32x4_t dot_32(int8x16_t w0, int8x16_t w1, const int8_t *x)
{
    int8x16_t x0 = vld1q_s8(x), x1 = vld1q_s8(x + 16);
    int16x8_t low = vmlal_s8(vmull_s8(vget_low_s8(w0), vget_low_s8(x0)), vget_low_s8(w1), vget_low_s8(x1));
    int16x8_t high = vmlal_s8(vmull_s8(vget_high_s8(w0), vget_high_s8(x0)), vget_high_s8(w1), vget_high_s8(x1));
    return vpadalq_s16(vpaddlq_s16(low), high);
}

static inline void halves(int8x16_t out[2], const uint8_t *p)
{
    uint8x16_t both = vld1q_u8(p);
    out[0] = vsubq_s8(vreinterpretq_s8_u8(vandq_u8(both, vdupq_n_u8(15))), vdupq_n_s8(8));
    out[1] = vsubq_s8(vreinterpretq_s8_u8(vshrq_n_u8(both, 4)), vdupq_n_s8(8));
}

static inline void bytes_of_q8_0(int8x16_t out[2], const struct block_q8_0 *b)
{
    out[0] = vld1q_s8(b->at);
    out[1] = vld1q_s8(b->at + 16);
}

static inline void bytes_of_q4_0(int8x16_t out[2], const struct block_q4_0 *b) { halves(out, b->at); }

static inline void store_scaled(float *y, int8x16_t bytes, float by)
{
    int16x8_t low = vmovl_s8(vget_low_s8(bytes)), high = vmovl_s8(vget_high_s8(bytes));
    vst1q_f32(y, vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))), by));
    vst1q_f32(y + 4, vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_high_s16(low))), by));
    vst1q_f32(y + 8, vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))), by));
    vst1q_f32(y + 12, vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_high_s16(high))), by));
}

#define QUANTISED(type)                                                                                            \
    static void matvec_##type(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n)    \
    {                                                                                                              \
        const struct block_##type *b = rows;                                                                       \
        for (size_t r = 0; r < n_rows; r++) {                                                                      \
            V s = v_zero();                                                                                        \
            for (size_t i = 0; i < n / WEIGHT_BLOCK; i++, b++) {                                                   \
                int8x16_t w[2];                                                                                    \
                bytes_of_##type(w, b);                                                                             \
                V dots = vcvtq_f32_s32(dot_32(w[0], w[1], x->q8.at + i * WEIGHT_BLOCK));                           \
                s = vfmaq_n_f32(s, dots, f16_to_f32(b->scale) * x->q8.scale[i]);                                   \
            }                                                                                                      \
            y[r] = v_sum(s);                                                                                       \
        }                                                                                                          \
    }                                                                                                              \
    static void unpack_##type(float *y, const void *row, size_t n)                                                 \
    {                                                                                                              \
        const struct block_##type *b = row;                                                                        \
        for (size_t i = 0; i < n; i += WEIGHT_BLOCK, b++) {                                                        \
            int8x16_t w[2];                                                                                        \
            bytes_of_##type(w, b);                                                                                 \
            store_scaled(y + i, w[0], f16_to_f32(b->scale));                                                       \
            store_scaled(y + i + 16, w[1], f16_to_f32(b->scale));                                                  \
        }                                                                                                          \
    }
QUANTISED(q8_0)
QUANTISED(q4_0)

static void quantise(struct quantised *out, const float *x, size_t n)
{
    for (size_t b = 0; b < n / WEIGHT_BLOCK; b++, x += WEIGHT_BLOCK) {
        V most = v_zero();
        for (size_t i = 0; i < WEIGHT_BLOCK; i += LANES)
            most = vmaxq_f32(most, vabsq_f32(v_load(x + i)));
        float by = v_most(most) / 127, inverse = by != 0 ? 1 / by : 0;
        int32x4_t sum = vdupq_n_s32(0);
        for (size_t i = 0; i < WEIGHT_BLOCK; i += LANES) {
            int32x4_t whole = vcvtnq_s32_f32(vmulq_n_f32(v_load(x + i), inverse));
            sum = vaddq_s32(sum, whole);
            for (size_t j = 0; j < LANES; j++)
                out->at[b * WEIGHT_BLOCK + i + j] = (int8_t)whole[j];
        }
        out->scale[b] = f16_to_f32(f32_to_f16(by));
        out->sum[b] = vaddvq_s32(sum);
    }
}

static void matmul(const struct matmul *m, struct matmul_room *room);

static const struct ops ops = {
    .name = "neon",
    .what = "NEON: four numbers at a time",
    .lanes = LANES,
    .matvec = {matvec_f32, matvec_f16, matvec_bf16, matvec_q8_0, matvec_q4_0},
    OPS_OF_THIS_LEVEL,
};

static void matmul(const struct matmul *m, struct matmul_room *room)
{
    if (matmul_is_few(m))
        matmul_few(m, &ops, room);
    else
        matmul_with_tile(m, &f32_tile, &ops, room);
}

const struct ops *ops_neon(void) { return &ops; }

#else
const struct ops *ops_neon(void) { return NULL; }
#endif
