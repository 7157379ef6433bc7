/* Conversions to 16-bit floats by the processor's own instructions, where it has them; included by
   convert.c. The bits are those of half_inline.h: NaNs become the one that has no other bits. */
#ifndef MAT_HALVES_INLINE_H
#define MAT_HALVES_INLINE_H

#include "half_inline.h"

/* The bits of a double that a float has no room for. */
#define MAT_CUT ((1ull << 29) - 1)

/* A double as half, by way of a float, whose last bit is set if anything is lost, so that the
   number is rounded once. Adding MAT_CUT to what is lost carries into that bit unless it is 0. */
INLINE uint16_t half_of_double(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits | ((bits & MAT_CUT) + MAT_CUT)) & ~MAT_CUT;
    memcpy(&x, &bits, sizeof x);
    return to_half((float)x);
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

/* One comparison says of both whether there are NaNs, which are rare. */
WITH_AVX2 INLINE void store_halves_of_16(uint16_t *out, __m256 x, __m256 y) {
    __m128i *const to = (__m128i *)out;
    if (LIKELY(!_mm256_movemask_ps(_mm256_cmp_ps(x, y, _CMP_UNORD_Q)))) {
        _mm_storeu_si128(to, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
        _mm_storeu_si128(to + 1, _mm256_cvtps_ph(y, _MM_FROUND_TO_NEAREST_INT));
    } else {
        _mm_storeu_si128(to, halves_of_8(x));
        _mm_storeu_si128(to + 1, halves_of_8(y));
    }
}

WITH_AVX2 static void halves_of_floats_256(int64_t n, const float *in, uint16_t *out) {
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        store_halves_of_16(out + i, _mm256_loadu_ps(in + i), _mm256_loadu_ps(in + i + 8));
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

/* 4 doubles as floats: as `half_of_double` has them in between. */
WITH_AVX2 INLINE __m128 odd_floats_of_4(const double *in) {
    const __m256i cut = _mm256_set1_epi64x(MAT_CUT);
    const __m256i x = _mm256_loadu_si256((const __m256i *)in);
    const __m256i carried = _mm256_add_epi64(_mm256_and_si256(x, cut), cut);
    return _mm256_cvtpd_ps(
        _mm256_castsi256_pd(_mm256_andnot_si256(cut, _mm256_or_si256(x, carried))));
}

WITH_AVX2 INLINE __m256 odd_floats_of_8(const double *in) {
    return _mm256_set_m128(odd_floats_of_4(in + 4), odd_floats_of_4(in));
}

WITH_AVX2 static void halves_of_doubles_256(int64_t n, const double *in, uint16_t *out) {
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        store_halves_of_16(out + i, odd_floats_of_8(in + i), odd_floats_of_8(in + i + 8));
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
