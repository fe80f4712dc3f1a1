/*
 * Products of bf16: two of them added up in f32 by one instruction.
 */
#include "lab/matmul_blocked.h"
#include "lab/ops_avx512.h"

#if defined __x86_64__
#include "lab/simd.h"

#include <immintrin.h>

SIMD_BEGIN("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")

enum { ROWS = 12, VECTORS = 2, LANES = 16 };

static void tile_bf16(size_t depth, const void *a_panel, const void *b_panel, void *c_tile, size_t c_stride, bool add,
                      const int32_t *start)
{
    const int32_t *a = a_panel, *b = b_panel;
    float *c = c_tile;
    __m512 s[ROWS][VECTORS];
    (void)start;
    UNROLLED for (size_t i = 0; i < ROWS; i++)
        UNROLLED for (size_t j = 0; j < VECTORS; j++) s[i][j] = _mm512_setzero_ps();
    for (size_t k = 0; k < depth; k++, a += ROWS, b += VECTORS * LANES) {
        __m512bh of_b[VECTORS];
        UNROLLED for (size_t j = 0; j < VECTORS; j++) of_b[j] = (__m512bh)_mm512_loadu_si512(b + j * LANES);
        UNROLLED for (size_t i = 0; i < ROWS; i++)
        {
            __m512bh of_a = (__m512bh)_mm512_set1_epi32(a[i]);
            UNROLLED for (size_t j = 0; j < VECTORS; j++) s[i][j] = _mm512_dpbf16_ps(s[i][j], of_a, of_b[j]);
        }
    }
    UNROLLED for (size_t i = 0; i < ROWS; i++)
        UNROLLED for (size_t j = 0; j < VECTORS; j++)
        {
            float *at = c + i * c_stride + j * LANES;
            _mm512_storeu_ps(at, add ? _mm512_add_ps(_mm512_loadu_ps(at), s[i][j]) : s[i][j]);
        }
}

SIMD_END

void avx512_matmul_bf16(const struct matmul_bf16 *m, struct matmul_room *room)
{
    static const struct tile tile = {ROWS, VECTORS * LANES, tile_bf16};
    matmul_bf16_with_tile(m, &tile, room);
}

#endif
