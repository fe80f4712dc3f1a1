/*
 * AVX2 with FMA and F16C: every x86-64 processor since 2013, more or less.
 */
#include "lab/matmul_blocked.h"
#include "lab/ops_avx512.h"
#include "lab/ops_levels.h"

#if defined __x86_64__
#include "lab/simd.h"

#include <cpuid.h>
#include <immintrin.h>
#include <math.h>
#include <stdatomic.h>

SIMD_BEGIN("avx2,fma,f16c")

typedef __m256 V;
#define LANES 8
#define TILE_ROWS 4
#define TILE_VECTORS 3
#define FEW 2 /* rows of A whose products with four rows of B fit into registers */

static inline __m256i first(size_t n)
{
    const __m256i order = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n > LANES ? LANES : (int)n), order);
}

static inline V v_zero(void) { return _mm256_setzero_ps(); }
static inline V v_set(float f) { return _mm256_set1_ps(f); }
static inline V v_load(const float *p) { return _mm256_loadu_ps(p); }
static inline V v_load_part(const float *p, size_t n) { return _mm256_maskload_ps(p, first(n)); }
static inline void v_store(float *p, V v) { _mm256_storeu_ps(p, v); }
static inline void v_store_part(float *p, V v, size_t n) { _mm256_maskstore_ps(p, first(n), v); }
static inline V v_add(V a, V b) { return _mm256_add_ps(a, b); }
static inline V v_sub(V a, V b) { return _mm256_sub_ps(a, b); }
static inline V v_mul(V a, V b) { return _mm256_mul_ps(a, b); }
static inline V v_div(V a, V b) { return _mm256_div_ps(a, b); }
static inline V v_fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
static inline V v_fnma(V a, V b, V c) { return _mm256_fnmadd_ps(a, b, c); }
static inline V v_max(V a, V b) { return _mm256_max_ps(a, b); }
static inline V v_min(V a, V b) { return _mm256_min_ps(a, b); }
static inline V v_round(V v) { return _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
static inline V v_swap_pairs(V v) { return _mm256_permute_ps(v, 0xb1); }
static inline V v_fma_by_turns(V a, V b, V c) { return _mm256_fmaddsub_ps(a, b, c); }

static inline V v_load_part_or(const float *p, size_t n, V rest)
{
    return _mm256_blendv_ps(rest, v_load_part(p, n), _mm256_castsi256_ps(first(n)));
}

/* In two steps, each within f32, so that results that are almost too small are still right. */
static inline V v_times_power_of_two(V v, V n)
{
    __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1), rest = _mm256_sub_epi32(whole, half);
    const __m256i bias = _mm256_set1_epi32(127);
    v = _mm256_mul_ps(v, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, bias), 23)));
    return _mm256_mul_ps(v, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(rest, bias), 23)));
}

/* Four numbers, each twice. */
static inline V v_load_twice(const float *p)
{
    return _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm256_set_epi32(3, 3, 2, 2, 1, 1, 0, 0));
}

static inline V f16_to_v(__m128i h) { return _mm256_cvtph_ps(h); }
static inline V bf16_to_v(__m128i h) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16)); }
static inline __m128i load_16(const uint16_t *p) { return _mm_loadu_si128((const __m128i *)p); }

static inline __m128i load_16_part(const uint16_t *p, size_t n)
{
    uint16_t eight[LANES] = {0};
    memcpy(eight, p, (n < LANES ? n : LANES) * sizeof *p);
    return load_16(eight);
}

static inline V v_load_f16(const uint16_t *p) { return f16_to_v(load_16(p)); }
static inline V v_load_f16_part(const uint16_t *p, size_t n) { return f16_to_v(load_16_part(p, n)); }
static inline V v_load_bf16(const uint16_t *p) { return bf16_to_v(load_16(p)); }
static inline V v_load_bf16_part(const uint16_t *p, size_t n) { return bf16_to_v(load_16_part(p, n)); }

#include "lab/ops_quantised_avx2.h"
#include "lab/ops_quantised_x86.h"
#include "lab/ops_forms_x86.h"

static inline float v_sum(V v) { return sum_256(v); }
static inline float v_most(V v) { return largest_256(v); }

#include "lab/ops_vector.h"

static void matmul(const struct matmul *m, struct matmul_room *room);

static const struct ops ops = {
    .name = "avx2",
    .what = "AVX2 with FMA and F16C: eight numbers at a time",
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

SIMD_END

void avx2_matvec_f32(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n)
{
    matvec_f32(y, rows, x, n_rows, n);
}

void avx2_matvec_f16(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n)
{
    matvec_f16(y, rows, x, n_rows, n);
}

void avx2_matvec_bf16(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n)
{
    matvec_bf16(y, rows, x, n_rows, n);
}

/*
 * Not every compiler's __builtin_cpu_supports() knows this one. The processor is asked once: in a virtual machine that
 * takes tens of microseconds. (Two threads that ask at the same time get the same answer.)
 */
static bool has_f16c(void)
{
    static atomic_int answer; /* 0: nobody has asked */
    int known = atomic_load_explicit(&answer, memory_order_relaxed);
    if (!known) {
        unsigned a, b, c = 0, d;
        known = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) ? 1 : -1;
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known > 0;
}

const struct ops *ops_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c() ? &ops : NULL;
}

#else
const struct ops *ops_avx2(void) { return NULL; }
#endif
