/*
 * ops_quantised_x86.h - quantised weights in 256-bit registers; included by the levels of x86-64
 *
 * A block of 32 bytes is one register. A level says in which way bytes are multiplied and added up:
 *
 *     bytes_q8(w, x, sum)   eight sums of w * x, both signed
 *     bytes_q4(w, x, sum)   eight sums of (w - 8) * x, w from 0 to 15
 *
 * `sum` is what the bytes of x add up to: taking 8 from every w is the same as taking 8 * sum from the result.
 */

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

static inline __m256i block_q8_0_dot(const struct block_q8_0 *b, __m256i x, int32_t sum)
{
    return bytes_q8(load_bytes(b->at), x, sum);
}

static inline __m256i block_q4_0_dot(const struct block_q4_0 *b, __m256i x, int32_t sum)
{
    return bytes_q4(halves(b->at), x, sum);
}

/* One row after the other, as in ops_vector.h. Blocks lie across lines, and here asking ahead of time does help. */
#define AHEAD 2048 /* bytes */

#define MATVEC_QUANTISED(type)                                                                                        \
    static inline __m256 type##_step(const struct block_##type *b, const struct quantised *x, size_t i, __m256 s)     \
    {                                                                                                                 \
        __m256i dots = block_##type##_dot(b + i, load_bytes(x->at + i * WEIGHT_BLOCK), x->sum[i]);                    \
        __m256 by = _mm256_mul_ps(block_scale(&b[i].scale), _mm256_broadcast_ss(x->scale + i));                       \
        return _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots), by, s);                                                      \
    }                                                                                                                 \
    static inline float type##_row(const struct block_##type *w, const struct quantised *x, size_t n)                 \
    {                                                                                                                 \
        __m256 s[4] = {0};                                                                                            \
        size_t i = 0;                                                                                                 \
        for (; i + 4 <= n; i += 4) {                                                                                  \
            for (size_t line = 0; line < 4 * sizeof *w; line += 64)                                                   \
                __builtin_prefetch((const char *)(w + i) + AHEAD + line);                                   \
            UNROLLED for (size_t j = 0; j < 4; j++) s[j] = type##_step(w, x, i + j, s[j]);                            \
        }                                                                                                             \
        for (; i < n; i++)                                                                                            \
            s[0] = type##_step(w, x, i, s[0]);                                                                        \
        return sum_256(_mm256_add_ps(_mm256_add_ps(s[0], s[1]), _mm256_add_ps(s[2], s[3])));                          \
    }                                                                                                                 \
    static void matvec_##type(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n)       \
    {                                                                                                                 \
        const struct block_##type *w = rows;                                                                          \
        size_t blocks = n / WEIGHT_BLOCK;                                                                             \
        for (size_t r = 0; r < n_rows; r++)                                                                           \
            y[r] = type##_row(w + r * blocks, &x->q8, blocks);                                                        \
    }

MATVEC_QUANTISED(q8_0)
MATVEC_QUANTISED(q4_0)
