/* Vector mathematics of float; see vmath_inline.h. The functions that are used most compute in
   float; the others in double, where a short polynomial and no care about rounding give results
   that are almost always the nearest float. */
#ifndef MAT_VMATH_F32_INLINE_H
#define MAT_VMATH_F32_INLINE_H

#include "bits_inline.h"
#include "vmath_f64_inline.h"

#define MAT_ROUNDER_F 0x1.8p23f
#define MAT_LN2_HI_F 0x1.62e4p-1f
#define MAT_LN2_LO_F 0x1.7f7d1cp-20f
#define MAT_LN2_F 0x1.62e430p-1f
#define MAT_LN2_REST_F -0x1.05c610p-29f
#define MAT_SIGN_F UINT32_C(0x80000000)

#define MAT_FIRST_F32(c) float p = c;
#define MAT_NEXT_F32(c) p = FMAF(p, r, c);

INLINE float mat_abs_f32(float x)
{
    return mat_of_bits_f32(mat_bits_f32(x) & ~MAT_SIGN_F);
}

INLINE float mat_signed_f32(float y, float x)
{
    return mat_of_bits_f32(mat_bits_f32(y) | (mat_bits_f32(x) & MAT_SIGN_F));
}

/* In float, as in vmath_f64_inline.h */

INLINE float mat_exp_reduce_f32(float x, float *low, uint32_t *power)
{
    float t = FMAF(x, (float)MAT_LOG2E, MAT_ROUNDER_F + 254), k = t - (MAT_ROUNDER_F + 254);
    float a = FMAF(-k, MAT_LN2_HI_F, x), r = FMAF(-k, MAT_LN2_LO_F, a);
    *low = FMAF(-k, MAT_LN2_LO_F, a - r);
    *power = mat_bits_f32(t);
    return r;
}

/* (exp(r) - 1 - r) / r^2 */
#define MAT_EXP_SERIES_F32(FIRST, NEXT) \
    FIRST(0x1.6d5156p-10f) NEXT(0x1.123e38p-7f) NEXT(0x1.5554e4p-5f) NEXT(0x1.55548ap-3f) \
    NEXT(0.5f)
INLINE float mat_exp_series_f32(float r)
{
    MAT_EXP_SERIES_F32(MAT_FIRST_F32, MAT_NEXT_F32)
    return p;
}

/* exp(r + low) - 1 - r */
INLINE float mat_exp_tail_f32(float r, float low)
{
    return FMAF(r * r, mat_exp_series_f32(r), low);
}

/* exp(r + low) 2^k */
INLINE float mat_exp_scaled_f32(float r, float low, uint32_t power)
{
    float p = 1 + (r + mat_exp_tail_f32(r, low));
    uint32_t half = power << 22 & UINT32_C(0xff800000);
    return p * mat_of_bits_f32(half) * mat_of_bits_f32((power << 23) - half);
}

/* exp(x) for x in [-104, 89] */
INLINE float mat_exp_within_f32(float x)
{
    float low, r;
    uint32_t power;
    r = mat_exp_reduce_f32(x, &low, &power);
    return mat_exp_scaled_f32(r, low, power);
}

INLINE float mat_exp_f32(float x)
{
    float y = x > 89 ? 89 : x;
    return mat_exp_within_f32(x < -104 ? -104 : y);
}

INLINE float mat_exp2_f32(float x)
{
    x = x > 130 ? 130 : x;
    x = x < -155 ? -155 : x;
    float t = x + (MAT_ROUNDER_F + 254), rest = x - (t - (MAT_ROUNDER_F + 254));
    float r = rest * MAT_LN2_F, low = FMAF(rest, MAT_LN2_REST_F, fmaf(rest, MAT_LN2_F, -r));
    return mat_exp_scaled_f32(r, low, mat_bits_f32(t));
}

INLINE float mat_logistic_f32(float x)
{
    float a = mat_abs_f32(x), e = mat_exp_within_f32(a > 104 ? -104 : -a);
    return (x < 0 ? e : 1) / (1 + e);
}

/* (tanh(x) / x - 1) / r for r = x^2 up to 0.75^2 */
#define MAT_TANH_SERIES_F32(FIRST, NEXT) \
    FIRST(0x1.c992a8p-10f) NEXT(-0x1.f6c402p-8f) NEXT(0x1.5f9decp-6f) NEXT(-0x1.b98296p-5f) \
    NEXT(0x1.110de2p-3f) NEXT(-0x1.55554ap-2f)
INLINE float mat_tanh_tail_f32(float r)
{
    MAT_TANH_SERIES_F32(MAT_FIRST_F32, MAT_NEXT_F32)
    return p;
}

/* Near 0 a polynomial; further on 1 - 2 / (e + 1) with e = exp(2 |x|), whose errors are divided by
   more than it. The polynomial is for NaN, too, whose bits may have any exponent added beyond */
INLINE float mat_tanh_f32(float x)
{
    float a = mat_abs_f32(x), b = a > 10 ? 10 : a, z = a * a;
    float t = FMAF(b, (float)(2 * MAT_LOG2E), MAT_ROUNDER_F), k = t - MAT_ROUNDER_F;
    float r = FMAF(-k, MAT_LN2_LO_F, FMAF(-k, MAT_LN2_HI_F, b + b));
    float e = FMAF(FMAF(mat_exp_series_f32(r), r, 1), r, 1);
    e = mat_of_bits_f32(mat_bits_f32(e) + (mat_bits_f32(t) << 23));
    float p = mat_tanh_tail_f32(z);
    return mat_signed_f32(a >= 0.75f ? 1 - 2 / (e + 1) : FMAF(a * z, p, a), x);
}

/* x = 2^k (1 + f) with 1 + f in [2/3, 4/3) */
INLINE float mat_log_reduce_f32(float x, float *k, uint32_t *exponent)
{
    uint32_t u = mat_bits_f32(x) + (UINT32_C(0x3f800000) - UINT32_C(0x3f2aaaab));
    *exponent = u >> 23;
    *k = (float)((int32_t)(u >> 23) - 127);
    return mat_of_bits_f32((u & UINT32_C(0x7fffff)) + UINT32_C(0x3f2aaaab)) - 1;
}

/* (log(1 + f) - f + f^2 / 2) / f^3 */
INLINE float mat_log_tail_f32(float f)
{
    float p = -0x1.0764aap-3f;
    p = FMAF(p, f, 0x1.1defc0p-3f);
    p = FMAF(p, f, -0x1.f3629ap-4f);
    p = FMAF(p, f, 0x1.1ef292p-3f);
    p = FMAF(p, f, -0x1.559a80p-3f);
    p = FMAF(p, f, 0x1.99ce30p-3f);
    p = FMAF(p, f, -0x1.ffff06p-3f);
    p = FMAF(p, f, 0x1.55550cp-2f);
    return p;
}

/* k ln 2 + log(1 + f) + c, where c is small */
INLINE float mat_log_sum_f32(float f, float k, float c)
{
    float z = f * f, p = mat_log_tail_f32(f), tail = FMAF(f * z, p, FMAF(k, MAT_LN2_LO_F, c));
    return FMAF(k, MAT_LN2_HI_F, f + FMAF(-0.5f, z, tail));
}
INLINE float mat_log_special_f32(float x, float y)
{
    uint32_t nan = x < 0 ? mat_bits_f32(MAT_NAN_F32) : 0;
    y = x == 0 ? -MAT_INFINITY_F32 : y;
    y = x < MAT_INFINITY_F32 ? y : x;
    return mat_of_bits_f32(mat_bits_f32(y) | nan);
}

/* Likewise, for subnormals too */
INLINE float mat_log_reduce_all_f32(float x, float *k)
{
    int small = x < 0x1p-126f;
    float up = small ? 0x1p25f : 1, down = small ? 25 : 0;
    uint32_t exponent;
    float f = mat_log_reduce_f32(x * up, k, &exponent);
    *k -= down;
    return f;
}

INLINE float mat_log_f32(float x)
{
    float k, f = mat_log_reduce_all_f32(x, &k);
    return mat_log_special_f32(x, mat_log_sum_f32(f, k, 0));
}

INLINE float mat_one_more_f32(float x, float *low)
{
    float u = 1 + x;
    *low = x < 1 ? x - (u - 1) : 1 - (u - x);
    return u;
}

INLINE float mat_log_reduce_sum_f32(float u, float c, float *k, float *rest)
{
    uint32_t exponent;
    float f = mat_log_reduce_f32(u, k, &exponent);
    c = u < 0x1p30f ? c * mat_of_bits_f32((UINT32_C(254) - exponent) << 23) : 0;
    *rest = FMAF(-c, f, c);
    return f;
}

INLINE float mat_log1p_f32(float x)
{
    float c, k, rest, u = mat_one_more_f32(x, &c), f = mat_log_reduce_sum_f32(u, c, &k, &rest);
    float y = mat_log_special_f32(u, mat_log_sum_f32(f, k, rest));
    return mat_abs_f32(x) < 0x1p-25f ? x : y;
}

/* Through double */

/* exp(r) - 1 */
INLINE double mat_exp_rest_narrow(double r)
{
    double p = 0x1.a1717ccc6344fp-13;
    p = FMA(p, r, 0x1.6d4352b512580p-10);
    p = FMA(p, r, 0x1.1110b0aec5506p-7);
    p = FMA(p, r, 0x1.5554f01ed997ap-5);
    p = FMA(p, r, 0x1.555555743c4e6p-3);
    p = FMA(p, r, 0.5);
    return FMA(r * r, p, r);
}

/* 2^k, where k is in the lowest bits of t */
INLINE double mat_two_to_narrow(double t)
{
    return mat_of_bits_f64((mat_bits_f64(t) << 52) + (UINT64_C(1023) << 52));
}

/* 2^k in *scale, and exp(r) - 1 with x = k ln 2 + r, for |x| < 700 */
INLINE double mat_exp_narrow(double x, double *scale)
{
    double t = FMA(x, MAT_LOG2E, MAT_ROUNDER), r = FMA(MAT_ROUNDER - t, MAT_LN2, x);
    *scale = mat_two_to_narrow(t);
    return mat_exp_rest_narrow(r);
}

INLINE double mat_expm1_narrow(double x)
{
    double scale, p = mat_exp_narrow(x, &scale);
    return FMA(scale, p, scale - 1);
}

INLINE float mat_expm1_f32(float x)
{
    return (float)mat_signed_f64(mat_abs_f64(mat_expm1_narrow(mat_clamp_f64(x, -40, 100))), x);
}

INLINE float mat_sinh_f32(float x)
{
    double a = mat_abs_f64(x), e = mat_expm1_narrow(a > 100 ? 100 : a);
    return (float)mat_signed_f64(0.5 * (e + e / (e + 1)), x);
}

INLINE float mat_cosh_f32(float x)
{
    double a = mat_abs_f64(x), scale, p = mat_exp_narrow(a > 100 ? 100 : a, &scale),
           e = FMA(scale, p, scale);
    return (float)(0.5 * (e + 1 / e));
}

/* sin(r) for |r| <= pi / 2, odd half turns negated */
INLINE float mat_sin_narrow(double r, uint64_t halves)
{
    double z = r * r, p = 0x1.5e29b85e6da55p-19;
    p = FMA(p, z, -0x1.9f7811706804dp-13);
    p = FMA(p, z, 0x1.110f026a5a7e5p-7);
    p = FMA(p, z, -0x1.55554d00b9985p-3);
    return (float)mat_of_bits_f64(mat_bits_f64(FMA(r * z, p, r)) ^ halves << 63);
}

/* pi is split so that its first part's product with a count of half turns below 2^21 is exact */
INLINE float mat_sin_f32(float x)
{
    double t = FMA(x, 0x1.45f306dc9c883p-2, MAT_ROUNDER), n = t - MAT_ROUNDER;
    double r = FMA(-n, 0x1.10b4611a62633p-29, FMA(-n, 0x1.921fb54p+1, x));
    float y = mat_sin_narrow(r, mat_bits_f64(t));
    return x == 0 ? x : y;
}

/* cos(x) = sin(x + pi / 2), where x = (n + 1/2) pi + r */
INLINE float mat_cos_f32(float x)
{
    double t = FMA(x, 0x1.45f306dc9c883p-2, -0.5) + MAT_ROUNDER, n = t - MAT_ROUNDER + 0.5;
    double r = FMA(-n, 0x1.10b4611a62633p-29, FMA(-n, 0x1.921fb54p+1, x));
    return mat_sin_narrow(r, mat_bits_f64(t) + 1);
}

INLINE float mat_tan_f32(float x)
{
    double t = FMA(x, 0x1.45f306dc9c883p-1, MAT_ROUNDER), n = t - MAT_ROUNDER;
    double r = FMA(-n, 0x1.10b4611a62633p-30, FMA(-n, 0x1.921fb54p+0, x)), z = r * r;
    double s = 0x1.6cd82da1454edp-19, c = 0x1.9a01f02438a12p-16;
    s = FMA(s, z, -0x1.a00f9cf85dea4p-13);
    c = FMA(c, z, -0x1.6c0c8a4c42d4dp-10);
    s = FMA(s, z, 0x1.111108957e0dap-7);
    c = FMA(c, z, 0x1.55554ab1b19fap-5);
    s = FMA(s, z, -0x1.5555554cb8eb9p-3);
    c = FMA(FMA(c, z, -0.5), z, 1);
    s = FMA(r * z, s, r);
    int odd = mat_bits_f64(t) & 1;
    float y = (float)((odd ? -c : s) / (odd ? s : c));
    return x == 0 ? x : y;
}

#endif
