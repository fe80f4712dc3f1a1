/*
 * ops_forms_x86.h - to and from quantised forms in 256-bit registers; included by the levels of x86-64
 */

static inline float largest_256(__m256 v)
{
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

static inline __m256 magnitude(__m256 v) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v); }

/* 32 whole numbers in four registers to bytes, in order. */
static inline __m256i to_bytes(const __m256i n[4])
{
    __m256i words = _mm256_packs_epi32(n[0], n[1]), more = _mm256_packs_epi32(n[2], n[3]);
    return _mm256_permutevar8x32_epi32(_mm256_packs_epi16(words, more), _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0));
}

static inline int32_t sum_of_bytes(__m256i bytes)
{
    __m256i words = _mm256_maddubs_epi16(_mm256_set1_epi8(1), bytes);
    __m256i s = _mm256_madd_epi16(words, _mm256_set1_epi16(1));
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1)));
}

static void quantise(struct quantised *out, const float *x, size_t n)
{
    for (size_t b = 0; b < n / WEIGHT_BLOCK; b++, x += WEIGHT_BLOCK) {
        __m256 v[4], most = _mm256_setzero_ps();
        __m256i whole[4];
        UNROLLED for (size_t i = 0; i < 4; i++)
        {
            v[i] = _mm256_loadu_ps(x + 8 * i);
            most = _mm256_max_ps(most, magnitude(v[i]));
        }
        float by = largest_256(most) / 127, inverse = by != 0 ? 1 / by : 0;
        UNROLLED for (size_t i = 0; i < 4; i++) whole[i] = _mm256_cvtps_epi32(_mm256_mul_ps(v[i], _mm256_set1_ps(inverse)));
        __m256i bytes = to_bytes(whole);
        _mm256_storeu_si256((__m256i *)(out->at + b * WEIGHT_BLOCK), bytes);
        out->scale[b] = _cvtsh_ss(_cvtss_sh(by, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
        out->sum[b] = sum_of_bytes(bytes);
    }
}

/* 32 signed bytes times a scale. */
static inline void store_scaled(float *y, __m256i bytes, __m256 by)
{
    __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
    _mm256_storeu_ps(y, _mm256_mul_ps(by, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(low))));
    _mm256_storeu_ps(y + 8, _mm256_mul_ps(by, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(low, 8)))));
    _mm256_storeu_ps(y + 16, _mm256_mul_ps(by, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(high))));
    _mm256_storeu_ps(y + 24, _mm256_mul_ps(by, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(high, 8)))));
}

static void unpack_q8_0(float *y, const void *row, size_t n)
{
    const struct block_q8_0 *b = row;
    for (size_t i = 0; i < n; i += WEIGHT_BLOCK, b++)
        store_scaled(y + i, load_bytes(b->at), block_scale(&b->scale));
}

static void unpack_q4_0(float *y, const void *row, size_t n)
{
    const struct block_q4_0 *b = row;
    for (size_t i = 0; i < n; i += WEIGHT_BLOCK, b++)
        store_scaled(y + i, _mm256_sub_epi8(halves(b->at), _mm256_set1_epi8(8)), block_scale(&b->scale));
}
