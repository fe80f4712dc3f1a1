/*
 * Vectors here are the compiler's own (vector_size); the instructions they become are those of the function's
 * target. `SUMS` chains of multiply-and-adds are under way at a time: more than the latency of one, as many as fit
 * into sixteen registers.
 */
#include "lab/roof_loops.h"
#include "lab/ops.h"
#include "lab/simd.h"

#include <string.h>

enum { SUMS = 10 };

static float total(const void *numbers, size_t bytes)
{
    float sum = 0, one;
    for (size_t i = 0; i < bytes; i += sizeof one) {
        memcpy(&one, (const char *)numbers + i, sizeof one);
        sum += one;
    }
    return sum;
}

#define LOOPS(level, BYTES, how)                                                                             \
    typedef float level##_v how;                                                                             \
    static float level##_read(const float *a, size_t n)                                                      \
    {                                                                                                        \
        enum { AT_ONCE = 8 };                                                                                \
        const level##_v *v = (const level##_v *)a;                                                           \
        level##_v s[AT_ONCE] = {0};                                                                          \
        for (size_t i = 0; i < n / (sizeof *v / sizeof *a); i += AT_ONCE)                                    \
            UNROLLED for (size_t j = 0; j < AT_ONCE; j++) s[j] += v[i + j];                                  \
        return total(s, sizeof s);                                                                           \
    }                                                                                                        \
    static void level##_copy(float *out, const float *a, size_t n)                                           \
    {                                                                                                        \
        const level##_v *v = (const level##_v *)a;                                                           \
        level##_v *o = (level##_v *)out;                                                                     \
        for (size_t i = 0; i < n / (sizeof *v / sizeof *a); i += 4)                                          \
            UNROLLED for (size_t j = 0; j < 4; j++) o[i + j] = v[i + j];                                     \
    }                                                                                                        \
    static void level##_triad(float *out, const float *a, const float *b, float by, size_t n)                \
    {                                                                                                        \
        const level##_v *v = (const level##_v *)a, *w = (const level##_v *)b;                                \
        level##_v *o = (level##_v *)out;                                                                     \
        for (size_t i = 0; i < n / (sizeof *v / sizeof *a); i += 4)                                          \
            UNROLLED for (size_t j = 0; j < 4; j++) o[i + j] = v[i + j] + by * w[i + j];                     \
    }                                                                                                        \
    static float level##_fma(uint64_t rounds, float by, float plus)                                          \
    {                                                                                                        \
        level##_v s[SUMS] = {0}, factor = {0}, term = {0};                                                   \
        factor += by;                                                                                        \
        term += plus;                                                                                        \
        for (size_t j = 0; j < SUMS; j++) /* each begins elsewhere, or they would be one */                  \
            s[j] += (float)j;                                                                                \
        for (uint64_t i = 0; i < rounds; i++)                                                                \
            UNROLLED for (size_t j = 0; j < SUMS; j++) s[j] = s[j] * factor + term;                          \
        return total(s, sizeof s);                                                                           \
    }                                                                                                        \
    static const struct roof_loops level##_loops = {#level,       level##_read, level##_copy, level##_triad, \
                                                    level##_fma, 2.0 * SUMS * (BYTES) / sizeof(float)};

#define WIDE(bytes) __attribute__((vector_size(bytes), aligned(bytes), may_alias))

PLAIN_BEGIN
LOOPS(scalar, 4, )
PLAIN_END

#if defined __x86_64__
#include <immintrin.h>

SIMD_BEGIN("avx2,fma")
LOOPS(avx2, 32, WIDE(32))
SIMD_END

SIMD_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,fma")
LOOPS(avx512, 64, WIDE(64))
SIMD_END

SIMD_BEGIN("avx512f,avx512vnni")
static int32_t int8_run(uint64_t rounds, int32_t a, int32_t b)
{
    __m512i s[SUMS], x = _mm512_set1_epi32(a), y = _mm512_set1_epi32(b);
    for (size_t j = 0; j < SUMS; j++)
        s[j] = _mm512_set1_epi32((int)j);
    for (uint64_t i = 0; i < rounds; i++)
        UNROLLED for (size_t j = 0; j < SUMS; j++) s[j] = _mm512_dpbusd_epi32(s[j], x, y);
    int32_t sum = 0;
    for (size_t j = 0; j < SUMS; j++)
        sum += _mm512_reduce_add_epi32(s[j]);
    return sum;
}
SIMD_END

SIMD_BEGIN("avx512f,avx512bf16")
static int32_t bf16_run(uint64_t rounds, int32_t a, int32_t b)
{
    __m512 s[SUMS];
    for (size_t j = 0; j < SUMS; j++)
        s[j] = _mm512_set1_ps((float)j);
    __m512bh x = (__m512bh)_mm512_set1_epi32(a), y = (__m512bh)_mm512_set1_epi32(b);
    for (uint64_t i = 0; i < rounds; i++)
        UNROLLED for (size_t j = 0; j < SUMS; j++) s[j] = _mm512_dpbf16_ps(s[j], x, y);
    float sum = 0;
    for (size_t j = 0; j < SUMS; j++)
        sum += _mm512_reduce_add_ps(s[j]);
    return (int32_t)sum;
}
SIMD_END

static const struct roof_loops *const all_loops[] = {&scalar_loops, &avx2_loops, &avx512_loops, NULL};

const struct roof_small *roof_small_named(const char *type)
{
    static const struct roof_small int8 = {"int8", int8_run, 2.0 * SUMS * 64}, bf16 = {"bf16", bf16_run, 2.0 * SUMS * 32};
    const struct ops *o = ops_named("avx512");
    if (o && o->matmul_int8 && !strcmp(type, int8.type))
        return &int8;
    return o && o->matmul_bf16 && !strcmp(type, bf16.type) ? &bf16 : NULL;
}

#elif defined __aarch64__
LOOPS(neon, 16, WIDE(16))
static const struct roof_loops *const all_loops[] = {&scalar_loops, &neon_loops, NULL};
const struct roof_small *roof_small_named(const char *type) { return (void)type, NULL; }
#else
static const struct roof_loops *const all_loops[] = {&scalar_loops, NULL};
const struct roof_small *roof_small_named(const char *type) { return (void)type, NULL; }
#endif

const struct roof_loops *roof_loops_named(const char *level)
{
    for (const struct roof_loops *const *l = all_loops; *l; l++)
        if (!strcmp((*l)->level, level) && ops_named(level))
            return *l;
    return NULL;
}

void *roof_chase(void *from, uint64_t steps)
{
    void **at = from;
    for (uint64_t i = 0; i < steps; i++)
        at = *at;
    return at;
}
