/*
 * Products of bytes with VNNI: unsigned times signed, four of them added up in 32 bits. What is signed becomes unsigned
 * by flipping its top bit, which adds 128; that much times the sum of the other side is taken off again.
 */
#include "lab/matmul_blocked.h"
#include "lab/ops_avx512.h"

#if defined __x86_64__
#include "lab/simd.h"

#include <immintrin.h>

SIMD_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")

#define Q8_SHIFT 128

static inline __m256i bytes_q8(__m256i w, __m256i x)
{
    return _mm256_dpbusd_epi32(_mm256_setzero_si256(), _mm256_xor_si256(w, _mm256_set1_epi8(-128)), x);
}

static inline __m256i bytes_q4(__m256i w, __m256i x, __m256i v, __m256i y)
{
    return _mm256_dpbusd_epi32(_mm256_dpbusd_epi32(_mm256_setzero_si256(), w, x), v, y);
}

#include "lab/ops_quantised_x86.h"

void avx512_matvec_q8_0(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n)
{
    matvec_q8_0(y, rows, x, n_rows, n);
}

void avx512_matvec_q4_0(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n)
{
    matvec_q4_0(y, rows, x, n_rows, n);
}

enum { ROWS = 12, VECTORS = 2, LANES = 16 };

static void tile_int8(size_t depth, const void *a_panel, const void *b_panel, void *c_tile, size_t c_stride, bool add,
                      const int32_t *start)
{
    const int32_t *a = a_panel, *b = b_panel;
    int32_t *c = c_tile;
    __m512i s[ROWS][VECTORS];
    UNROLLED for (size_t i = 0; i < ROWS; i++)
        UNROLLED for (size_t j = 0; j < VECTORS; j++) s[i][j] = _mm512_loadu_si512(start + j * LANES);
    for (size_t k = 0; k < depth; k++, a += ROWS, b += VECTORS * LANES) {
        __m512i of_b[VECTORS];
        UNROLLED for (size_t j = 0; j < VECTORS; j++) of_b[j] = _mm512_loadu_si512(b + j * LANES);
        UNROLLED for (size_t i = 0; i < ROWS; i++)
        {
            __m512i of_a = _mm512_set1_epi32(a[i]);
            UNROLLED for (size_t j = 0; j < VECTORS; j++) s[i][j] = _mm512_dpbusd_epi32(s[i][j], of_a, of_b[j]);
        }
    }
    UNROLLED for (size_t i = 0; i < ROWS; i++)
        UNROLLED for (size_t j = 0; j < VECTORS; j++)
        {
            int32_t *at = c + i * c_stride + j * LANES;
            _mm512_storeu_si512(at, add ? _mm512_add_epi32(_mm512_loadu_si512(at), s[i][j]) : s[i][j]);
        }
}

SIMD_END

void avx512_matmul_int8(const struct matmul_int8 *m, struct matmul_room *room)
{
    static const struct tile tile = {ROWS, VECTORS * LANES, tile_int8};
    matmul_int8_with_tile(m, &tile, room);
}

#endif
