/* Conversions to 16-bit floats by the processor's own instructions, where it has them; included by
   convert.c. The bits are those of half_inline.h: NaNs become the one that has no other bits. */
#ifndef MAT_HALVES_INLINE_H
#define MAT_HALVES_INLINE_H

#include "number_inline.h"

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

/* One comparison says of both whether there are NaNs, which are rare. */
WITH_AVX512 INLINE void store_halves_of_32(uint16_t *out, __m512 x, __m512 y) {
    __m256i *const to = (__m256i *)out;
    const __mmask16 odd = _mm512_cmp_ps_mask(x, y, _CMP_UNORD_Q);
    _mm256_storeu_si256(to, LIKELY(!odd) ? _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)
                                         : halves_of_16(x));
    _mm256_storeu_si256(to + 1, LIKELY(!odd) ? _mm512_cvtps_ph(y, _MM_FROUND_TO_NEAREST_INT)
                                             : halves_of_16(y));
}

WITH_AVX512 static void halves_of_floats_512(int64_t n, const float *in, uint16_t *out) {
    int64_t i = 0;
    for (; i + 32 <= n; i += 32)
        store_halves_of_32(out + i, _mm512_loadu_ps(in + i), _mm512_loadu_ps(in + i + 16));
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

/* 8 doubles as floats: as `half_of_double` has them in between. */
WITH_AVX512 INLINE __m256 odd_floats_of_8_wide(const double *in) {
    const __m512i cut = _mm512_set1_epi64(MAT_CUT), x = _mm512_loadu_si512(in);
    const __m512i carried = _mm512_add_epi64(_mm512_and_si512(x, cut), cut);
    /* (x | carried) & ~cut */
    return _mm512_cvtpd_ps(
        _mm512_castsi512_pd(_mm512_ternarylogic_epi64(x, carried, cut, 0x54)));
}

WITH_AVX512 INLINE __m512 odd_floats_of_16(const double *in) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(odd_floats_of_8_wide(in)),
                              odd_floats_of_8_wide(in + 8), 1);
}

WITH_AVX512 static void halves_of_doubles_512(int64_t n, const double *in, uint16_t *out) {
    int64_t i = 0;
    for (; i + 32 <= n; i += 32)
        store_halves_of_32(out + i, odd_floats_of_16(in + i), odd_floats_of_16(in + i + 16));
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
