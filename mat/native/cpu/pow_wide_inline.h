/* pow of many numbers with AVX-512: what vmath_pow_inline.h computes, to the bit, where the tables
   stay in registers and looking up is a permutation of them. Several vectors are computed side by
   side, since each waits for itself most of the time. Numbers are taken as ordinary ones first:
   |x| and |x|^y are normal. Where one is not, its group is computed once more. */
#ifndef MAT_POW_WIDE_INLINE_H
#define MAT_POW_WIDE_INLINE_H

#include "vmath_pow_inline.h"

#if defined(MAT_HAS_CLONES)
#include <immintrin.h>
#define MAT_WIDE_POW

#define WIDE __attribute__((target("arch=x86-64-v4")))
#define WIDE_INLINE WIDE INLINE

enum { FLOATS = 4, DOUBLES = 2 }; /* vectors in a group */

#define EACH_FLOAT for (int j = 0; j < FLOATS; j++)
#define EACH_HALF for (int j = 0; j < 2 * FLOATS; j++)
#define EACH_DOUBLE for (int j = 0; j < DOUBLES; j++)
#define NUMBER(c) _mm512_set1_pd(c)
#define CLAMP(x, low, high) _mm512_max_pd(NUMBER(low), _mm512_min_pd(NUMBER(high), x))

/* Of 16 floats: all but the reduction in double, of which there are two vectors for each of them */

#define FIRST(c) EACH_HALF p[j] = NUMBER(c);
#define NEXT(c) EACH_HALF p[j] = _mm512_fmadd_pd(p[j], r[j], NUMBER(c));
#define LOWER(x) _mm512_cvtps_pd(_mm512_castps512_ps256(x))
#define UPPER(x) _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1))
#define JOIN(a, b) \
    _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a)), _mm512_cvtpd_ps(b), 1)

typedef struct {
    __m512 inverse[2], high[2], low[2];
} tables_f32;

/* The logarithms in two floats, of which the first one has 16 bits behind the point */
WIDE_INLINE tables_f32 get_tables_f32(void) {
    tables_f32 t;
    for (int k = 0; k < 2; k++) {
        __m512d inverse[2], high[2], low[2];
        for (int j = 0; j < 2; j++) {
            const int at = 16 * k + 8 * j;
            inverse[j] = _mm512_loadu_pd(mat_pow_inverse_f64 + at);
            high[j] = _mm512_loadu_pd(mat_pow_high_f64 + at);
            low[j] = _mm512_sub_pd(_mm512_loadu_pd(mat_pow_log_f32_table + at), high[j]);
        }
        t.inverse[k] = JOIN(inverse[0], inverse[1]);
        t.high[k] = JOIN(high[0], high[1]);
        t.low[k] = JOIN(low[0], low[1]);
    }
    return t;
}

/* For a = z 2^k returns z / c - 1, and k + log2(c) in *high + *low */
WIDE_INLINE __m512 reduce_f32(const tables_f32 *t, __m512 a, __m512 *high, __m512 *low) {
    const __m512i least = _mm512_set1_epi32((int32_t)MAT_POW_LEAST_F32);
    const __m512i u = _mm512_sub_epi32(_mm512_castps_si512(a), least);
    const __m512i at = _mm512_srli_epi32(u, 18);
    const __m512i mantissa = _mm512_and_si512(u, _mm512_set1_epi32(0x7fffff));
    const __m512 z = _mm512_castsi512_ps(_mm512_add_epi32(mantissa, least));
    const __m512 k = _mm512_cvtepi32_ps(_mm512_srai_epi32(u, 23));
    *high = _mm512_add_ps(k, _mm512_permutex2var_ps(t->high[0], at, t->high[1]));
    *low = _mm512_permutex2var_ps(t->low[0], at, t->low[1]);
    return _mm512_fmsub_ps(z, _mm512_permutex2var_ps(t->inverse[0], at, t->inverse[1]),
                           _mm512_set1_ps(1));
}

WIDE_INLINE void log2_f32(__m512d *p, const __m512d *r, const __m512d *high) {
    MAT_POW_LOG_F32(FIRST, NEXT)
    EACH_HALF p[j] = _mm512_fmadd_pd(p[j], r[j], high[j]);
}

WIDE_INLINE void exp2_f32(__m512d *p, const __m512d *e) {
    __m512d k[2 * FLOATS], r[2 * FLOATS];
    EACH_HALF k[j] = _mm512_roundscale_pd(e[j], 0);
    EACH_HALF r[j] = _mm512_sub_pd(e[j], k[j]);
    MAT_POW_EXP_F32(FIRST, NEXT)
    EACH_HALF p[j] = _mm512_fmadd_pd(p[j], r[j], NUMBER(1));
    EACH_HALF p[j] = _mm512_scalef_pd(p[j], k[j]);
}

/* log2(a) where a is 0, infinite or NaN; elsewhere it is l */
WIDE_INLINE __m512d special_log(__m512d l, __m512d a) {
    const __mmask8 zero = _mm512_cmp_pd_mask(a, _mm512_setzero_pd(), _CMP_EQ_OQ),
                   none = _mm512_cmp_pd_mask(a, NUMBER(MAT_INFINITY_F64), _CMP_NLT_UQ);
    return _mm512_mask_mov_pd(_mm512_mask_mov_pd(l, none, a), zero, NUMBER(-MAT_INFINITY_F64));
}

/* a^y in `out`, for each a that is not negative; or only if both are normal */
WIDE_INLINE void raise_f32(const tables_f32 *t, const __m512 *a, const __m512 *y, __m512 *out,
                           int any) {
    __m512 high[FLOATS], low[FLOATS], s[FLOATS];
    __m512d r[2 * FLOATS], h[2 * FLOATS], p[2 * FLOATS];
    EACH_FLOAT {
        const __mmask16 small = _mm512_cmp_ps_mask(a[j], _mm512_set1_ps(0x1p-126f), _CMP_LT_OQ);
        __m512 b = any ? _mm512_mask_mul_ps(a[j], small, a[j], _mm512_set1_ps(0x1p25f)) : a[j];
        s[j] = reduce_f32(t, b, high + j, low + j);
        if (any) high[j] = _mm512_mask_sub_ps(high[j], small, high[j], _mm512_set1_ps(25));
    }
    EACH_FLOAT r[2 * j] = LOWER(s[j]), r[2 * j + 1] = UPPER(s[j]);
    EACH_FLOAT h[2 * j] = _mm512_add_pd(LOWER(high[j]), LOWER(low[j])),
               h[2 * j + 1] = _mm512_add_pd(UPPER(high[j]), UPPER(low[j]));
    log2_f32(p, r, h);
    if (any) EACH_FLOAT p[2 * j] = special_log(p[2 * j], LOWER(a[j])),
                        p[2 * j + 1] = special_log(p[2 * j + 1], UPPER(a[j]));
    EACH_FLOAT r[2 * j] = LOWER(y[j]), r[2 * j + 1] = UPPER(y[j]);
    if (any) EACH_HALF r[j] = CLAMP(r[j], -0x1p80, 0x1p80);
    EACH_HALF p[j] = _mm512_mul_pd(p[j], r[j]);
    if (any) EACH_HALF p[j] = CLAMP(p[j], -200, 200);
    exp2_f32(h, p);
    EACH_FLOAT out[j] = JOIN(h[2 * j], h[2 * j + 1]);
}

WIDE_INLINE __mmask16 normal_f32(__m512 a) {
    const __m512i least = _mm512_set1_epi32(0x00800000), count = _mm512_set1_epi32(0x7f000000);
    return _mm512_cmplt_epu32_mask(_mm512_sub_epi32(_mm512_castps_si512(a), least), count);
}

/* x^y of |x|^y, as mat_pow_signed_f32 */
WIDE_INLINE __m512 signed_f32(__m512 x, __m512 y, __m512 power) {
    const __m512 half = _mm512_mul_ps(y, _mm512_set1_ps(0.5f)), one = _mm512_set1_ps(1);
    const __m512 zero = _mm512_setzero_ps(), most = _mm512_set1_ps(-MAT_INFINITY_F32);
    const __mmask16 whole = _mm512_cmp_ps_mask(_mm512_roundscale_ps(y, 0), y, _CMP_EQ_OQ),
                    even = _mm512_cmp_ps_mask(_mm512_roundscale_ps(half, 0), half, _CMP_EQ_OQ),
                    below = _mm512_cmp_ps_mask(x, zero, _CMP_LT_OQ),
                    finite = _mm512_cmp_ps_mask(x, most, _CMP_GT_OQ),
                    same = _mm512_cmp_ps_mask(x, one, _CMP_EQ_OQ) |
                           _mm512_cmp_ps_mask(y, zero, _CMP_EQ_OQ);
    const __m512 sign = _mm512_and_ps(x, _mm512_set1_ps(-0.0f));
    power = _mm512_mask_or_ps(power, whole & ~even, power, sign);
    power = _mm512_mask_mov_ps(power, below & finite & ~whole, _mm512_set1_ps(MAT_NAN_F32));
    return _mm512_mask_mov_ps(power, same, one);
}

WIDE __attribute__((noinline)) static void raise_any_f32(const tables_f32 *t, const __m512 *x,
                                                         const __m512 *y, __m512 *out) {
    __m512 a[FLOATS];
    EACH_FLOAT a[j] = _mm512_abs_ps(x[j]);
    raise_f32(t, a, y, out, 1);
    EACH_FLOAT out[j] = signed_f32(x[j], y[j], out[j]);
}

/* x^y of a group */
WIDE_INLINE void power_f32(const tables_f32 *t, const __m512 *x, const __m512 *y, __m512 *out) {
    __m512 a[FLOATS];
    __mmask16 ordinary = 0xffff, below = 0; /* all are, any is */
    EACH_FLOAT a[j] = _mm512_abs_ps(x[j]);
    EACH_FLOAT ordinary &= normal_f32(a[j]);
    EACH_FLOAT below |= _mm512_movepi32_mask(_mm512_castps_si512(x[j]));
    if (LIKELY(ordinary == 0xffff)) {
        raise_f32(t, a, y, out, 0);
        EACH_FLOAT ordinary &= normal_f32(out[j]);
    }
    if (!LIKELY(ordinary == 0xffff)) raise_any_f32(t, x, y, out);
    else if (below) EACH_FLOAT out[j] = signed_f32(x[j], y[j], out[j]);
}

/* Which of 16 lanes there are */
WIDE_INLINE __mmask16 lanes(int64_t n) {
    return n >= 16 ? 0xffff : n > 0 ? (__mmask16)((1u << n) - 1) : 0;
}

WIDE_INLINE void group_f32(const tables_f32 *t, const __m512 *x, const __m512 *y, __m512 *out,
                           int squares) {
    const __m512 two = _mm512_set1_ps(2);
    power_f32(t, x, y, out);
    if (squares) EACH_FLOAT out[j] = _mm512_mask_mul_ps(
        out[j], _mm512_cmp_ps_mask(y[j], two, _CMP_EQ_OQ), x[j], x[j]);
}

WIDE_INLINE void loop_f32(int64_t n, const float *x, int64_t x_step, const float *y, int64_t y_step,
                          float *out, int squares) {
    const tables_f32 t = get_tables_f32();
    const __m512 one = _mm512_set1_ps(1);
    __m512 a[FLOATS], b[FLOATS], power[FLOATS];
    EACH_FLOAT a[j] = _mm512_set1_ps(*x), b[j] = _mm512_set1_ps(*y);
    int64_t i = 0;
    for (; i + 16 * FLOATS <= n; i += 16 * FLOATS) {
        if (x_step) EACH_FLOAT a[j] = _mm512_loadu_ps(x + i + 16 * j);
        if (y_step) EACH_FLOAT b[j] = _mm512_loadu_ps(y + i + 16 * j);
        group_f32(&t, a, b, power, squares);
        EACH_FLOAT _mm512_storeu_ps(out + i + 16 * j, power[j]);
    }
    if (i == n) return;
    EACH_FLOAT {
        const __mmask16 there = lanes(n - i - 16 * j);
        if (x_step) a[j] = _mm512_mask_loadu_ps(one, there, x + i + 16 * j);
        if (y_step) b[j] = _mm512_mask_loadu_ps(one, there, y + i + 16 * j);
    }
    group_f32(&t, a, b, power, squares);
    EACH_FLOAT _mm512_mask_storeu_ps(out + i + 16 * j, lanes(n - i - 16 * j), power[j]);
}

#undef FIRST
#undef NEXT

/* Of 8 doubles */

#define FIRST(c) EACH_DOUBLE p[j] = NUMBER(c);
#define NEXT(c) EACH_DOUBLE p[j] = _mm512_fmadd_pd(p[j], r[j], NUMBER(c));

enum { UPPER_WORDS = 0xaaaa };

typedef struct {
    __m512i inverse[2], high[2], low[4]; /* words of 4 bytes; of `low` the upper ones first */
    __m512d root[2], rest[2];
} tables_f64;

/* The lower or upper words of 16 doubles */
WIDE_INLINE __m512i words(const double *from, int upper) {
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28,
                                           30);
    return _mm512_permutex2var_epi32(_mm512_loadu_si512(from),
                                     _mm512_add_epi32(even, _mm512_set1_epi32(upper)),
                                     _mm512_loadu_si512(from + 8));
}

/* Of the inverses and the upper parts of the logarithms, all lower words are 0 */
WIDE_INLINE tables_f64 get_tables_f64(void) {
    tables_f64 t;
    for (int k = 0; k < 2; k++) {
        t.inverse[k] = words(mat_pow_inverse_f64 + 16 * k, 1);
        t.high[k] = words(mat_pow_high_f64 + 16 * k, 1);
        t.low[k] = words(mat_pow_low_f64 + 16 * k, 1);
        t.low[k + 2] = words(mat_pow_low_f64 + 16 * k, 0);
        t.root[k] = _mm512_loadu_pd(mat_pow_root_f64 + 8 * k);
        t.rest[k] = _mm512_loadu_pd(mat_pow_root_rest_f64 + 8 * k);
    }
    return t;
}

WIDE_INLINE __m512d upper_words(const __m512i *table, __m512i at) {
    return _mm512_castsi512_pd(
        _mm512_maskz_permutex2var_epi32(UPPER_WORDS, table[0], at, table[1]));
}

WIDE_INLINE __m512d all_words(const __m512i *table, __m512i at) {
    const __m512i upper = _mm512_permutex2var_epi32(table[0], at, table[1]),
                  lower = _mm512_permutex2var_epi32(table[2], at, table[3]);
    return _mm512_castsi512_pd(_mm512_mask_blend_epi32(UPPER_WORDS, lower, upper));
}

/* As reduce_f32; log2(c) is in *high + *low but for 2^-70 */
WIDE_INLINE __m512d reduce_f64(const tables_f64 *t, __m512d a, __m512d down, __m512d *high,
                               __m512d *low) {
    const __m512i least = _mm512_set1_epi64((int64_t)MAT_POW_LEAST_F64);
    const __m512i u = _mm512_sub_epi64(_mm512_castpd_si512(a), least);
    const __m512 index = _mm512_castsi512_ps(_mm512_srli_epi32(u, 15));
    const __m512i at = _mm512_castps_si512(_mm512_movehdup_ps(index));
    const __m512i mantissa = _mm512_and_si512(u, _mm512_set1_epi64(0xfffffffffffff));
    const __m512d z = _mm512_castsi512_pd(_mm512_add_epi64(mantissa, least));
    const __m512d k = _mm512_sub_pd(_mm512_cvtepi64_pd(_mm512_srai_epi64(u, 52)), down);
    *high = _mm512_add_pd(k, upper_words(t->high, at));
    *low = all_words(t->low, at);
    return _mm512_fmsub_pd(z, upper_words(t->inverse, at), NUMBER(1));
}

/* high + log2(1 + r) + low = the result + *low, where p is the polynomial of r */
WIDE_INLINE __m512d sum_f64(__m512d r, __m512d p, __m512d high, __m512d *low) {
    const __m512d l = _mm512_mul_pd(r, NUMBER(MAT_LOG2E)), half = _mm512_mul_pd(r, NUMBER(-0.5));
    const __m512d l_low = _mm512_fmadd_pd(r, NUMBER(MAT_LOG2E_REST),
                                          _mm512_fmsub_pd(r, NUMBER(MAT_LOG2E), l));
    const __m512d q = _mm512_mul_pd(l, half);
    const __m512d q_low = _mm512_fmadd_pd(l_low, half, _mm512_fmsub_pd(l, half, q));
    const __m512d a = _mm512_add_pd(high, l), b = _mm512_add_pd(a, q);
    const __m512d a_low = _mm512_add_pd(_mm512_sub_pd(high, a), l);
    const __m512d b_low = _mm512_add_pd(_mm512_sub_pd(a, b), q);
    const __m512d rest = _mm512_fmadd_pd(_mm512_mul_pd(l, _mm512_mul_pd(r, r)), p, *low);
    *low = _mm512_add_pd(
        _mm512_add_pd(_mm512_add_pd(a_low, b_low), _mm512_add_pd(l_low, q_low)), rest);
    return b;
}

/* 2^(e + extra) */
WIDE_INLINE void exp2_f64(const tables_f64 *t, const __m512d *e, const __m512d *extra,
                          __m512d *out) {
    const __m512d rounder = NUMBER(MAT_POW_ROUNDER);
    __m512d s[DOUBLES], r[DOUBLES], p[DOUBLES];
    EACH_DOUBLE s[j] = _mm512_add_pd(_mm512_add_pd(e[j], extra[j]), rounder);
    EACH_DOUBLE r[j] = _mm512_add_pd(_mm512_sub_pd(e[j], _mm512_sub_pd(s[j], rounder)), extra[j]);
    MAT_POW_EXP_F64(FIRST, NEXT)
    EACH_DOUBLE {
        const __m512i at = _mm512_castpd_si512(s[j]);
        const __m512d root = _mm512_permutex2var_pd(t->root[0], at, t->root[1]);
        const __m512d rest = _mm512_permutex2var_pd(t->rest[0], at, t->rest[1]);
        p[j] = _mm512_fmadd_pd(root, _mm512_fmadd_pd(p[j], r[j], rest), root);
        out[j] = _mm512_scalef_pd(p[j], _mm512_sub_pd(s[j], rounder));
    }
}

/* a^y in `out`, for each a that is not negative; or only if both are normal */
WIDE_INLINE void raise_f64(const tables_f64 *t, const __m512d *a, const __m512d *y, __m512d *out,
                           int any) {
    __m512d r[DOUBLES], high[DOUBLES], low[DOUBLES], p[DOUBLES], e[DOUBLES], extra[DOUBLES];
    EACH_DOUBLE {
        const __mmask8 small = _mm512_cmp_pd_mask(a[j], NUMBER(0x1p-1022), _CMP_LT_OQ);
        r[j] = any ? reduce_f64(t, _mm512_mask_mul_pd(a[j], small, a[j], NUMBER(0x1p54)),
                                _mm512_maskz_mov_pd(small, NUMBER(54)), high + j, low + j)
                   : reduce_f64(t, a[j], _mm512_setzero_pd(), high + j, low + j);
    }
    MAT_POW_LOG_F64(FIRST, NEXT)
    EACH_DOUBLE {
        __m512d l = sum_f64(r[j], p[j], high[j], low + j);
        if (any) l = special_log(l, a[j]);
        const __m512d times = any ? CLAMP(y[j], -0x1p80, 0x1p80) : y[j];
        e[j] = _mm512_mul_pd(times, l);
        extra[j] = _mm512_fmadd_pd(times, low[j], _mm512_fmsub_pd(times, l, e[j]));
        if (!any) continue;
        const __mmask8 within = _mm512_cmp_pd_mask(_mm512_abs_pd(e[j]), NUMBER(1100), _CMP_LT_OQ);
        extra[j] = _mm512_maskz_mov_pd(within, extra[j]);
        e[j] = CLAMP(e[j], -1080, 1030);
    }
    exp2_f64(t, e, extra, out);
}

WIDE_INLINE __mmask8 normal_f64(__m512d a) {
    const __m512i least = _mm512_set1_epi64(0x0010000000000000),
                  count = _mm512_set1_epi64(0x7fe0000000000000);
    return _mm512_cmplt_epu64_mask(_mm512_sub_epi64(_mm512_castpd_si512(a), least), count);
}

WIDE_INLINE __m512d signed_f64(__m512d x, __m512d y, __m512d power) {
    const __m512d half = _mm512_mul_pd(y, NUMBER(0.5)), zero = _mm512_setzero_pd();
    const __mmask8 whole = _mm512_cmp_pd_mask(_mm512_roundscale_pd(y, 0), y, _CMP_EQ_OQ),
                   even = _mm512_cmp_pd_mask(_mm512_roundscale_pd(half, 0), half, _CMP_EQ_OQ),
                   below = _mm512_cmp_pd_mask(x, zero, _CMP_LT_OQ),
                   finite = _mm512_cmp_pd_mask(x, NUMBER(-MAT_INFINITY_F64), _CMP_GT_OQ),
                   same = _mm512_cmp_pd_mask(x, NUMBER(1), _CMP_EQ_OQ) |
                          _mm512_cmp_pd_mask(y, zero, _CMP_EQ_OQ);
    power = _mm512_mask_or_pd(power, whole & ~even, power, _mm512_and_pd(x, NUMBER(-0.0)));
    power = _mm512_mask_mov_pd(power, below & finite & ~whole, NUMBER(MAT_NAN_F64));
    return _mm512_mask_mov_pd(power, same, NUMBER(1));
}

WIDE __attribute__((noinline)) static void raise_any_f64(const tables_f64 *t, const __m512d *x,
                                                         const __m512d *y, __m512d *out) {
    __m512d a[DOUBLES];
    EACH_DOUBLE a[j] = _mm512_abs_pd(x[j]);
    raise_f64(t, a, y, out, 1);
    EACH_DOUBLE out[j] = signed_f64(x[j], y[j], out[j]);
}

WIDE_INLINE void power_f64(const tables_f64 *t, const __m512d *x, const __m512d *y, __m512d *out) {
    __m512d a[DOUBLES];
    __mmask8 ordinary = 0xff, below = 0; /* all are, any is */
    EACH_DOUBLE a[j] = _mm512_abs_pd(x[j]);
    EACH_DOUBLE ordinary &= normal_f64(a[j]);
    EACH_DOUBLE below |= _mm512_movepi64_mask(_mm512_castpd_si512(x[j]));
    if (LIKELY(ordinary == 0xff)) {
        raise_f64(t, a, y, out, 0);
        EACH_DOUBLE ordinary &= normal_f64(out[j]);
    }
    if (!LIKELY(ordinary == 0xff)) raise_any_f64(t, x, y, out);
    else if (below) EACH_DOUBLE out[j] = signed_f64(x[j], y[j], out[j]);
}

WIDE_INLINE void group_f64(const tables_f64 *t, const __m512d *x, const __m512d *y, __m512d *out,
                           int squares) {
    power_f64(t, x, y, out);
    if (squares) EACH_DOUBLE out[j] = _mm512_mask_mul_pd(
        out[j], _mm512_cmp_pd_mask(y[j], NUMBER(2), _CMP_EQ_OQ), x[j], x[j]);
}

WIDE_INLINE void loop_f64(int64_t n, const double *x, int64_t x_step, const double *y,
                          int64_t y_step, double *out, int squares) {
    const tables_f64 t = get_tables_f64();
    __m512d a[DOUBLES], b[DOUBLES], power[DOUBLES];
    EACH_DOUBLE a[j] = NUMBER(*x), b[j] = NUMBER(*y);
    int64_t i = 0;
    for (; i + 8 * DOUBLES <= n; i += 8 * DOUBLES) {
        if (x_step) EACH_DOUBLE a[j] = _mm512_loadu_pd(x + i + 8 * j);
        if (y_step) EACH_DOUBLE b[j] = _mm512_loadu_pd(y + i + 8 * j);
        group_f64(&t, a, b, power, squares);
        EACH_DOUBLE _mm512_storeu_pd(out + i + 8 * j, power[j]);
    }
    if (i == n) return;
    EACH_DOUBLE {
        const __mmask8 there = (__mmask8)lanes(n - i - 8 * j);
        if (x_step) a[j] = _mm512_mask_loadu_pd(NUMBER(1), there, x + i + 8 * j);
        if (y_step) b[j] = _mm512_mask_loadu_pd(NUMBER(1), there, y + i + 8 * j);
    }
    group_f64(&t, a, b, power, squares);
    EACH_DOUBLE _mm512_mask_storeu_pd(out + i + 8 * j, (__mmask8)lanes(n - i - 8 * j), power[j]);
}

#undef FIRST
#undef NEXT
#endif

#endif
