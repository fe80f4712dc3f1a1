/*
 * ops_quantised_avx2.h - products of bytes as AVX2 has them: unsigned times signed, pairs added up in 16 bits
 *
 * Two products of 255 * 127 would not fit; so with two signed bytes the first gives its sign to the second. With
 * |w| <= 128 and |x| <= 127 a pair is at most 32,512.
 */

#define Q8_SHIFT 0

static inline __m256i pairs_to_eight(__m256i sums_of_pairs) { return _mm256_madd_epi16(sums_of_pairs, _mm256_set1_epi16(1)); }

static inline __m256i bytes_q8(__m256i w, __m256i x)
{
    return pairs_to_eight(_mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w)));
}

static inline __m256i bytes_q4(__m256i w, __m256i x, __m256i v, __m256i y)
{
    return pairs_to_eight(_mm256_add_epi16(_mm256_maddubs_epi16(w, x), _mm256_maddubs_epi16(v, y)));
}
