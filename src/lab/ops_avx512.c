/*
 * AVX-512, with VNNI and BF16 where the processor has them: those two are asked for apart, so that processors of
 * 2017 have a table as well.
 */
#include "lab/matmul_blocked.h"
#include "lab/ops_avx512.h"
#include "lab/ops_levels.h"

#if defined __x86_64__
#include "lab/simd.h"

#include <immintrin.h>
#include <math.h>

SIMD_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq")

typedef __m512 V;
#define LANES 16
#define TILE_ROWS 12
#define TILE_VECTORS 2
#define FEW 6 /* rows of A whose products with four rows of B fit into registers */
#define HAS_OTHER_ROWS /* streams of weights: wider loads are no quicker, and converting sixteen halves at once takes Zen 4 twice as long */

static inline __mmask16 first(size_t n) { return (__mmask16)(n >= LANES ? 0xffff : (1u << n) - 1); }

static inline V v_zero(void) { return _mm512_setzero_ps(); }
static inline V v_set(float f) { return _mm512_set1_ps(f); }
static inline V v_load(const float *p) { return _mm512_loadu_ps(p); }
static inline V v_load_part(const float *p, size_t n) { return _mm512_maskz_loadu_ps(first(n), p); }
static inline V v_load_part_or(const float *p, size_t n, V rest) { return _mm512_mask_loadu_ps(rest, first(n), p); }
static inline void v_store(float *p, V v) { _mm512_storeu_ps(p, v); }
static inline void v_store_part(float *p, V v, size_t n) { _mm512_mask_storeu_ps(p, first(n), v); }
static inline V v_add(V a, V b) { return _mm512_add_ps(a, b); }
static inline V v_sub(V a, V b) { return _mm512_sub_ps(a, b); }
static inline V v_mul(V a, V b) { return _mm512_mul_ps(a, b); }
static inline V v_div(V a, V b) { return _mm512_div_ps(a, b); }
static inline V v_fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
static inline V v_fnma(V a, V b, V c) { return _mm512_fnmadd_ps(a, b, c); }
static inline V v_max(V a, V b) { return _mm512_max_ps(a, b); }
static inline V v_min(V a, V b) { return _mm512_min_ps(a, b); }
static inline float v_sum(V v) { return _mm512_reduce_add_ps(v); }
static inline float v_most(V v) { return _mm512_reduce_max_ps(v); }
static inline V v_times_power_of_two(V v, V n) { return _mm512_scalef_ps(v, n); }
static inline V v_swap_pairs(V v) { return _mm512_permute_ps(v, 0xb1); }
static inline V v_fma_by_turns(V a, V b, V c) { return _mm512_fmaddsub_ps(a, b, c); }

/* To whole numbers, below 2^22: there the last bit of 1.5 * 2^23 weighs one. (gcc's roundscale is a macro that it warns of itself.) */
static inline V v_round(V v)
{
    V large = v_set(0x1.8p23f);
    return _mm512_sub_ps(_mm512_add_ps(v, large), large);
}

/* Eight numbers, each twice. */
static inline V v_load_twice(const float *p)
{
    const __m512i order = _mm512_set_epi32(7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0);
    return _mm512_permutexvar_ps(order, _mm512_castps256_ps512(_mm256_loadu_ps(p)));
}

static inline V f16_to_v(__m256i h) { return _mm512_cvtph_ps(h); }
static inline V bf16_to_v(__m256i h) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16)); }
static inline __m256i load_16(const uint16_t *p) { return _mm256_loadu_si256((const __m256i *)p); }
static inline __m256i load_16_part(const uint16_t *p, size_t n) { return _mm256_maskz_loadu_epi16(first(n), p); }
static inline V v_load_f16(const uint16_t *p) { return f16_to_v(load_16(p)); }
static inline V v_load_f16_part(const uint16_t *p, size_t n) { return f16_to_v(load_16_part(p, n)); }
static inline V v_load_bf16(const uint16_t *p) { return bf16_to_v(load_16(p)); }
static inline V v_load_bf16_part(const uint16_t *p, size_t n) { return bf16_to_v(load_16_part(p, n)); }

#include "lab/ops_quantised_avx2.h"
#include "lab/ops_quantised_x86.h"
#include "lab/ops_forms_x86.h"
#include "lab/ops_vector.h"

static void matmul(const struct matmul *m, struct matmul_room *room);

static const struct ops plain = {
    .name = "avx512",
    .what = "AVX-512 (F, BW, DQ, VL): sixteen numbers at a time",
    .lanes = LANES,
    .matvec = {avx2_matvec_f32, avx2_matvec_f16, avx2_matvec_bf16, matvec_q8_0, matvec_q4_0},
    OPS_OF_THIS_LEVEL,
};

static void matmul(const struct matmul *m, struct matmul_room *room)
{
    if (matmul_is_few(m))
        matmul_few(m, &plain, room);
    else
        matmul_with_tile(m, &f32_tile, &plain, room);
}

SIMD_END

#define OPS_WITH_VNNI                                                                              \
    .matvec = {avx2_matvec_f32, avx2_matvec_f16, avx2_matvec_bf16, avx512_matvec_q8_0, avx512_matvec_q4_0},       \
    .matmul_int8 = avx512_matmul_int8

static const struct ops with_vnni = {
    .name = "avx512",
    .what = "AVX-512 (F, BW, DQ, VL, VNNI): sixteen numbers at a time",
    .lanes = LANES,
    OPS_OF_THIS_LEVEL,
    OPS_WITH_VNNI,
};

static const struct ops with_vnni_and_bf16 = {
    .name = "avx512",
    .what = "AVX-512 (F, BW, DQ, VL, VNNI, BF16): sixteen numbers at a time",
    .lanes = LANES,
    OPS_OF_THIS_LEVEL,
    OPS_WITH_VNNI,
    .matmul_bf16 = avx512_matmul_bf16,
};

const struct ops *ops_avx512(void)
{
    if (!ops_avx2() || !__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return NULL;
    if (!__builtin_cpu_supports("avx512vnni"))
        return &plain;
    return __builtin_cpu_supports("avx512bf16") ? &with_vnni_and_bf16 : &with_vnni;
}

#else
const struct ops *ops_avx512(void) { return NULL; }
#endif
