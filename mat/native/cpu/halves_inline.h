/* Conversions to 16-bit floats by the processor's own instructions, where it has them; included by
   convert.c. The bits are those of half_inline.h: NaNs become the one that has no other bits. */
#ifndef MAT_HALVES_INLINE_H
#define MAT_HALVES_INLINE_H

#include "half_inline.h"

/* A double as half: the last bit of the float in between says whether anything is lost, so that
   the number is rounded once. */
INLINE uint16_t half_of_double(double x) {
    const float nearest = (float)x;
    const int beyond = fabs((double)nearest) > fabs(x), lost = (double)nearest != x;
    const uint32_t bits = mat_bits_f32(nearest) - (uint32_t)beyond;
    return to_half(mat_of_bits_f32(bits | (uint32_t)(lost & (x == x))));
}

/* What each conversion does to `n` numbers. */
#define PLAIN(NAME_, S, D, CONVERT) \
    MAT_CLONES static void NAME_##_plain(int64_t n, const S *in, D *out) { \
        MAT_EACH out[i] = CONVERT(in[i]); \
    }
PLAIN(halves_of_floats, float, uint16_t, to_half)
PLAIN(halves_of_doubles, double, uint16_t, half_of_double)
#undef PLAIN

#ifdef MAT_HAS_CLONES
#include <immintrin.h>

#define WITH_AVX512 __attribute__((target("arch=x86-64-v4")))
#define WITH_AVX2 __attribute__((target("arch=x86-64-v3")))

/* 16 and 8 floats as halves. */
WITH_AVX512 INLINE __m256i halves_of_16(__m512 x) {
    const __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __m512i sign = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(INT32_MIN));
    const __m512i nan = _mm512_or_si512(sign, _mm512_set1_epi32(0x7fc00000));
    return _mm512_cvtps_ph(_mm512_mask_mov_ps(x, is_nan, _mm512_castsi512_ps(nan)),
                           _MM_FROUND_TO_NEAREST_INT);
}

WITH_AVX2 INLINE __m128i halves_of_8(__m256 x) {
    const __m256 sign = _mm256_and_ps(x, _mm256_set1_ps(-0.0f));
    const __m256 nan = _mm256_or_ps(sign, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000)));
    return _mm256_cvtps_ph(_mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q)),
                           _MM_FROUND_TO_NEAREST_INT);
}

WITH_AVX512 static void halves_of_floats_512(int64_t n, const float *in, uint16_t *out) {
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm256_storeu_si256((__m256i *)(out + i), halves_of_16(_mm512_loadu_ps(in + i)));
    for (; i < n; i++) out[i] = to_half(in[i]);
}

WITH_AVX2 static void halves_of_floats_256(int64_t n, const float *in, uint16_t *out) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(out + i), halves_of_8(_mm256_loadu_ps(in + i)));
    for (; i < n; i++) out[i] = to_half(in[i]);
}

/* The float in between is cut off, and its last bit is set if anything is lost. */
WITH_AVX512 static void halves_of_doubles_512(int64_t n, const double *in, uint16_t *out) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m512d x = _mm512_loadu_pd(in + i);
        const __m256 cut = _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        const __mmask8 lost = _mm512_cmp_pd_mask(_mm512_cvtps_pd(cut), x, _CMP_NEQ_OQ);
        const __m256i bits = _mm256_castps_si256(cut);
        const __m256i odd = _mm256_mask_or_epi32(bits, lost, bits, _mm256_set1_epi32(1));
        _mm_storeu_si128((__m128i *)(out + i), halves_of_8(_mm256_castsi256_ps(odd)));
    }
    for (; i < n; i++) out[i] = half_of_double(in[i]);
}

/* Of each of 4 numbers of 8 bytes, the lower half. */
WITH_AVX2 INLINE __m128i lower_halves(__m256d x) {
    return _mm_castps_si128(_mm_shuffle_ps(_mm_castpd_ps(_mm256_castpd256_pd128(x)),
                                           _mm_castpd_ps(_mm256_extractf128_pd(x, 1)), 0x88));
}

/* 4 doubles as floats: as `half_of_double` has them in between. */
WITH_AVX2 INLINE __m128 odd_floats_of_4(__m256d x) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    const __m128 nearest = _mm256_cvtpd_ps(x);
    const __m256d back = _mm256_cvtps_pd(nearest);
    const __m256d beyond = _mm256_cmp_pd(_mm256_andnot_pd(sign, back), _mm256_andnot_pd(sign, x),
                                         _CMP_GT_OQ);
    const __m256d lost = _mm256_cmp_pd(back, x, _CMP_NEQ_OQ);
    const __m128i bits = _mm_add_epi32(_mm_castps_si128(nearest), lower_halves(beyond));
    return _mm_castsi128_ps(
        _mm_or_si128(bits, _mm_and_si128(lower_halves(lost), _mm_set1_epi32(1))));
}

WITH_AVX2 static void halves_of_doubles_256(int64_t n, const double *in, uint16_t *out) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m128 low = odd_floats_of_4(_mm256_loadu_pd(in + i));
        const __m128 high = odd_floats_of_4(_mm256_loadu_pd(in + i + 4));
        _mm_storeu_si128((__m128i *)(out + i), halves_of_8(_mm256_set_m128(high, low)));
    }
    for (; i < n; i++) out[i] = half_of_double(in[i]);
}

#define AVX512 __builtin_cpu_supports("x86-64-v4")
#define AVX2 __builtin_cpu_supports("x86-64-v3")

static void halves_of_floats(int64_t n, const float *in, uint16_t *out) {
    (AVX512 ? halves_of_floats_512
     : AVX2 ? halves_of_floats_256
            : halves_of_floats_plain)(n, in, out);
}

static void halves_of_doubles(int64_t n, const double *in, uint16_t *out) {
    (AVX512 ? halves_of_doubles_512
     : AVX2 ? halves_of_doubles_256
            : halves_of_doubles_plain)(n, in, out);
}
#undef AVX512
#undef AVX2
#undef WITH_AVX512
#undef WITH_AVX2
#else
#define halves_of_floats halves_of_floats_plain
#define halves_of_doubles halves_of_doubles_plain
#endif

#endif
