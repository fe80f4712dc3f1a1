/*
 * ops_quantised_x86.h - quantised weights in 256-bit registers; included by the levels of x86-64
 *
 * Blocks come eight at a time, so that their scales are converted together. A level says how bytes are multiplied
 * and added up, eight sums of four products each:
 *
 *     bytes_q8(w, x)              (w + Q8_SHIFT) * x, w signed
 *     bytes_q4(w, x, v, y)        w * x + v * y, w and v from 0 to 15
 *
 * What was added to w (and 8, which q4_0 takes from it) is taken off at the end of a row: it is that much times the
 * sum of x, which is known per block. One row comes after the other, without prefetches, as in ops_vector.h.
 */

enum { GROUP = 8 }; /* blocks */

static inline __m256i load_bytes(const void *p) { return _mm256_loadu_si256(p); }

static inline float sum_256(__m256 v)
{
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* The scale of a block, everywhere. */
static inline __m256 block_scale(const uint16_t *scale) { return _mm256_cvtph_ps(_mm_set1_epi16((int16_t)*scale)); }

/* 16 bytes of halves to 32 bytes: the lower halves, then the upper. */
static inline __m256i halves(const uint8_t *p)
{
    __m128i low = _mm_loadu_si128((const __m128i *)p), high = _mm_srli_epi16(low, 4);
    return _mm256_and_si256(_mm256_set_m128i(high, low), _mm256_set1_epi8(15));
}

#define SCALE_OF(b, i) (int16_t)(b)[i].scale
#define SCALES_OF(b)                                                                                              \
    _mm_set_epi16(SCALE_OF(b, 7), SCALE_OF(b, 6), SCALE_OF(b, 5), SCALE_OF(b, 4), SCALE_OF(b, 3), SCALE_OF(b, 2), \
                  SCALE_OF(b, 1), SCALE_OF(b, 0))

/* Of eight blocks: the scales of weights and activations multiplied, and with the sums of x added to `shifts`. */
static inline __m256 group_scales(__m128i scales, const struct quantised *x, size_t i, __m256 *shifts)
{
    __m256 by = _mm256_mul_ps(_mm256_cvtph_ps(scales), _mm256_loadu_ps(x->scale + i));
    *shifts = _mm256_fmadd_ps(by, _mm256_cvtepi32_ps(load_bytes(x->sum + i)), *shifts);
    return by;
}

/* q8_0. */

static inline __m256 q8_0_one(const struct block_q8_0 *b, const int8_t *x, float by, __m256 s)
{
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(bytes_q8(load_bytes(b->at), load_bytes(x))), _mm256_set1_ps(by), s);
}

static inline float q8_0_row(const struct block_q8_0 *w, const struct quantised *x, size_t n)
{
    __m256 s[2] = {0}, shifts = _mm256_setzero_ps();
    float by[GROUP], rest = 0;
    size_t i = 0;
    for (; i + GROUP <= n; i += GROUP) {
        _mm256_storeu_ps(by, group_scales(SCALES_OF(w + i), x, i, &shifts));
        UNROLLED for (size_t j = 0; j < GROUP; j++)
            s[j % 2] = q8_0_one(w + i + j, x->at + (i + j) * WEIGHT_BLOCK, by[j], s[j % 2]);
    }
    for (; i < n; i++) {
        by[0] = _cvtsh_ss(w[i].scale) * x->scale[i];
        rest += by[0] * (float)x->sum[i];
        s[0] = q8_0_one(w + i, x->at + i * WEIGHT_BLOCK, by[0], s[0]);
    }
    return sum_256(_mm256_fnmadd_ps(shifts, _mm256_set1_ps(Q8_SHIFT), _mm256_add_ps(s[0], s[1]))) - Q8_SHIFT * rest;
}

/* q4_0: two blocks in one register, so that lower and upper halves are split without moving them between lanes. */

static inline __m256 q4_0_two(const struct block_q4_0 *b, const int8_t *x, __m256 by, __m256 s)
{
    __m256i both = _mm256_set_m128i(_mm_loadu_si128((const __m128i *)b[1].at), _mm_loadu_si128((const __m128i *)b[0].at));
    __m256i low = _mm256_and_si256(both, _mm256_set1_epi8(15)), high = _mm256_and_si256(_mm256_srli_epi16(both, 4), _mm256_set1_epi8(15));
    __m256i x0 = load_bytes(x), x1 = load_bytes(x + WEIGHT_BLOCK);
    __m256i of_low = _mm256_permute2x128_si256(x0, x1, 0x20), of_high = _mm256_permute2x128_si256(x0, x1, 0x31);
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(bytes_q4(low, of_low, high, of_high)), by, s);
}

static inline __m256 q4_0_one(const struct block_q4_0 *b, const int8_t *x, float by, __m256 s)
{
    __m256i sums = bytes_q4(halves(b->at), load_bytes(x), _mm256_setzero_si256(), _mm256_setzero_si256());
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums), _mm256_set1_ps(by), s);
}

static inline float q4_0_row(const struct block_q4_0 *w, const struct quantised *x, size_t n)
{
    __m256 s[2] = {0}, shifts = _mm256_setzero_ps();
    float rest = 0;
    size_t i = 0;
    for (; i + GROUP <= n; i += GROUP) {
        __m256 by = group_scales(SCALES_OF(w + i), x, i, &shifts);
        UNROLLED for (int j = 0; j < GROUP; j += 2)
        {
            __m256 of_two = _mm256_permutevar8x32_ps(by, _mm256_set_epi32(j + 1, j + 1, j + 1, j + 1, j, j, j, j));
            s[j / 2 % 2] = q4_0_two(w + i + j, x->at + (i + (size_t)j) * WEIGHT_BLOCK, of_two, s[j / 2 % 2]);
        }
    }
    for (; i < n; i++) {
        float by = _cvtsh_ss(w[i].scale) * x->scale[i];
        rest += by * (float)x->sum[i];
        s[0] = q4_0_one(w + i, x->at + i * WEIGHT_BLOCK, by, s[0]);
    }
    return sum_256(_mm256_fnmadd_ps(shifts, _mm256_set1_ps(8), _mm256_add_ps(s[0], s[1]))) - 8 * rest;
}

#define MATVEC_QUANTISED(type)                                                                                        \
    static void matvec_##type(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n)       \
    {                                                                                                                 \
        const struct block_##type *w = rows;                                                                          \
        size_t blocks = n / WEIGHT_BLOCK;                                                                             \
        for (size_t r = 0; r < n_rows; r++)                                                                           \
            y[r] = type##_row(w + r * blocks, &x->q8, blocks);                                                        \
    }
MATVEC_QUANTISED(q8_0)
MATVEC_QUANTISED(q4_0)
