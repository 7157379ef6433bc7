/* Vector mathematics of double; see vmath_inline.h. */
#ifndef MAT_VMATH_F64_INLINE_H
#define MAT_VMATH_F64_INLINE_H

#include "bits_inline.h"
#include "trig_inline.h"

#define MAT_LOG2E 0x1.71547652b82fep+0
#define MAT_LN2_HI 0x1.62e42fefa3800p-1 /* 42 bits, so that its product with an exponent is exact */
#define MAT_LN2_LO 0x1.ef35793c76730p-45
#define MAT_LN2 0x1.62e42fefa39efp-1
#define MAT_LN2_REST 0x1.abc9e3b39803fp-56
#define MAT_SIGN UINT64_C(0x8000000000000000)

/* Polynomials of r are lists of their coefficients, from the last one on, for vectors of other
   types, too. */
#define MAT_FIRST_F64(c) double p = c;
#define MAT_NEXT_F64(c) p = FMA(p, r, c);

INLINE double mat_abs_f64(double x)
{
    return mat_of_bits_f64(mat_bits_f64(x) & ~MAT_SIGN);
}

/* y, which is not negative, with the sign of x. */
INLINE double mat_signed_f64(double y, double x)
{
    return mat_of_bits_f64(mat_bits_f64(y) | (mat_bits_f64(x) & MAT_SIGN));
}

/* x within [low, high]; NaN remains NaN. */
INLINE double mat_clamp_f64(double x, double low, double high)
{
    double y = x > high ? high : x;
    return x < low ? low : y;
}

/* exp, expm1 and the functions made of them */

/* x = k ln 2 + r + low with |r| <= ln(2) / 2: returns r, and k + 2046 in the lowest bits of *power
   */
INLINE double mat_exp_reduce_f64(double x, double *low, uint64_t *power)
{
    double t = FMA(x, MAT_LOG2E, MAT_ROUNDER + 2046), k = t - (MAT_ROUNDER + 2046);
    double a = FMA(-k, MAT_LN2_HI, x), r = FMA(-k, MAT_LN2_LO, a);
    *low = FMA(-k, MAT_LN2_LO, a - r);
    *power = mat_bits_f64(t);
    return r;
}

/* 2^(k + offset), if that is a normal number */
INLINE double mat_two_to_f64(uint64_t power, int offset)
{
    return mat_of_bits_f64((power << 52) + ((uint64_t)(offset - 1023) << 52));
}

/* p 2^k, where that may be infinite or subnormal: in two halves, so that there is one rounding */
INLINE double mat_scale_f64(double p, uint64_t power)
{
    uint64_t half = power << 51 & UINT64_C(0xfff0000000000000);
    return p * mat_of_bits_f64(half) * mat_of_bits_f64((power << 52) - half);
}

/* (exp(r) - 1 - r) / r^2 */
#define MAT_EXP_SERIES_F64(FIRST, NEXT) \
    FIRST(0x1.af6eb812d8a52p-26) NEXT(0x1.28a1533522d79p-22) NEXT(0x1.71ddee552f203p-19) \
    NEXT(0x1.a019a94c6dd09p-16) NEXT(0x1.a01a01b44ed79p-13) NEXT(0x1.6c16c17d64e43p-10) \
    NEXT(0x1.111111110e9e9p-7) NEXT(0x1.5555555552fe3p-5) NEXT(0x1.555555555555cp-3) NEXT(0.5)
INLINE double mat_exp_series_f64(double r)
{
    MAT_EXP_SERIES_F64(MAT_FIRST_F64, MAT_NEXT_F64)
    return p;
}

/* exp(r + low) - 1 - r */
INLINE double mat_exp_tail_f64(double r, double low)
{
    return FMA(r * r, mat_exp_series_f64(r), low);
}

/* exp(r + low) 2^k */
INLINE double mat_exp_scaled_f64(double r, double low, uint64_t power)
{
    double head = 1 + r, rest = (1 - head) + r;
    return mat_scale_f64(head + (rest + mat_exp_tail_f64(r, low)), power);
}

/* exp(x) for x in [-746, 710] */
INLINE double mat_exp_within_f64(double x)
{
    double low, r;
    uint64_t power;
    r = mat_exp_reduce_f64(x, &low, &power);
    return mat_exp_scaled_f64(r, low, power);
}

INLINE double mat_exp_f64(double x)
{
    return mat_exp_within_f64(mat_clamp_f64(x, -746, 710));
}

/* What is left of the integer is exact; its product with ln(2) is r + low */
INLINE double mat_exp2_f64(double x)
{
    x = mat_clamp_f64(x, -1080, 1030);
    double t = x + (MAT_ROUNDER + 2046), rest = x - (t - (MAT_ROUNDER + 2046));
    double r = rest * MAT_LN2, low = FMA(rest, MAT_LN2_REST, fma(rest, MAT_LN2, -r));
    return mat_exp_scaled_f64(r, low, mat_bits_f64(t));
}

/* expm1(x) / 4 = the result + *low, for x in [-700, 710.5]; a quarter, since sinh(710.4) is finite
   and exp(710.4) is not */
INLINE double mat_expm1_quarter_f64(double x, double *low)
{
    double rest, r;
    uint64_t power;
    r = mat_exp_reduce_f64(x, &rest, &power);
    double q = mat_exp_tail_f64(r, rest), scale = mat_two_to_f64(power, -2);
    double a = scale - 0.25, back = a - scale, a_low = (scale - (a - back)) - (0.25 + back);
    double sum = FMA(scale, r, a); /* of an exact product */
    q = FMA(scale, q, FMA(scale, r, a - sum) + a_low);
    double result = sum + q;
    *low = q - (result - sum);
    return result;
}

INLINE double mat_expm1_f64(double x)
{
    double low, y = 4 * mat_expm1_quarter_f64(mat_clamp_f64(x, -40, 710.5), &low);
    return mat_abs_f64(x) < 0x1p-54 ? x : y;
}

/* (e + e / (e + 1)) / 2 with e = expm1(|x|), the quotient corrected by its remainder */
INLINE double mat_sinh_f64(double x)
{
    double low, a = mat_abs_f64(x), g = mat_expm1_quarter_f64(a > 710.5 ? 710.5 : a, &low);
    double d = g + 0.25, back = d - g, d_low = (g - (d - back)) + (0.25 - back), inverse = 1 / d,
           q = g * inverse;
    q = FMA(FMA(-q, d, g) + FMA(-q, d_low + low, low), inverse, q);
    double y = 2 * (g + FMA(0.25, q, low));
    return a < 0x1p-28 ? x : mat_signed_f64(y, x);
}

INLINE double mat_cosh_f64(double x)
{
    double low, a = mat_abs_f64(x), g = 0.25 + mat_expm1_quarter_f64(a > 710.5 ? 710.5 : a, &low);
    return 2 * (g + (0.0625 / g + low));
}

/* (tanh(x) / x - 1) / r for r = x^2 up to 0.7^2 */
#define MAT_TANH_SERIES_F64(FIRST, NEXT) \
    FIRST(0x1.43456980ba3e9p-18) NEXT(-0x1.c6f1ba040018bp-16) NEXT(0x1.71e32b0f1a3cdp-14) \
    NEXT(-0x1.ec96cdb5cd364p-13) NEXT(0x1.3498a0188acf4p-11) NEXT(-0x1.7d8d06c35d14cp-10) \
    NEXT(0x1.d6d204d502e85p-9) NEXT(-0x1.226e28facfb07p-7) NEXT(0x1.664f4815a454bp-6) \
    NEXT(-0x1.ba1ba1b7e7701p-5) NEXT(0x1.111111110e352p-3) NEXT(-0x1.555555555552cp-2)
INLINE double mat_tanh_tail_f64(double r)
{
    MAT_TANH_SERIES_F64(MAT_FIRST_F64, MAT_NEXT_F64)
    return p;
}

/* Near 0 a polynomial; further on 1 - 2 / (e + 1) with e = exp(2 |x|), whose errors are divided by
   more than it. The polynomial is for NaN, too, whose bits may have any exponent added beyond */
INLINE double mat_tanh_f64(double x)
{
    double a = mat_abs_f64(x), b = a > 20 ? 20 : a, z = a * a;
    double t = FMA(b, 2 * MAT_LOG2E, MAT_ROUNDER), k = t - MAT_ROUNDER;
    double r = FMA(-k, MAT_LN2_LO, FMA(-k, MAT_LN2_HI, b + b));
    double e = FMA(FMA(mat_exp_series_f64(r), r, 1), r, 1);
    e = mat_of_bits_f64(mat_bits_f64(e) + (mat_bits_f64(t) << 52));
    return mat_signed_f64(a >= 0.7 ? 1 - 2 / (e + 1) : FMA(a * z, mat_tanh_tail_f64(z), a), x);
}

/* exp(-|x|) does not overflow: 1 / (1 + e) for x >= 0, e / (1 + e) below */
INLINE double mat_logistic_f64(double x)
{
    double a = mat_abs_f64(x), e = mat_exp_within_f64(a > 746 ? -746 : -a);
    return (x < 0 ? e : 1) / (1 + e);
}

/* log */

/* x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)], for positive normal numbers; *exponent is k +
   1023 */
INLINE double mat_log_reduce_f64(double x, double *k, uint64_t *exponent)
{
    uint64_t u = mat_bits_f64(x) + (UINT64_C(0x3ff0000000000000) - UINT64_C(0x3fe6a09e667f3bcd));
    *exponent = u >> 52;
    *k = mat_of_bits_f64((u >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023);
    return mat_of_bits_f64((u & UINT64_C(0xfffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd)) - 1;
}

/* Likewise, for subnormals too. One choice of two numbers: the compiler would make two loop bodies
   of two choices. */
INLINE double mat_log_reduce_all_f64(double x, double *k)
{
    int small = x < 0x1p-1022;
    double up = small ? 0x1p54 : 1, down = small ? 54 : 0;
    uint64_t exponent;
    double f = mat_log_reduce_f64(x * up, k, &exponent);
    *k -= down;
    return f;
}

/* (log(1 + f) / s - 2) / z for s = f / (2 + f) and z = s^2 */
INLINE double mat_log_tail_f64(double z)
{
    double p = 0x1.2f11c83acb43dp-3;
    p = FMA(p, z, 0x1.39a08e7f63a9dp-3);
    p = FMA(p, z, 0x1.746649f22eb32p-3);
    p = FMA(p, z, 0x1.c71c51d6a4972p-3);
    p = FMA(p, z, 0x1.249249422b7efp-2);
    p = FMA(p, z, 0x1.999999997f9e9p-2);
    p = FMA(p, z, 0x1.5555555555593p-1);
    return p;
}

/* k ln 2 + log(1 + f) + c, where c is small: log(1 + f) = f - f^2/2 + s (f^2/2 + z P(z)) */
INLINE double mat_log_sum_f64(double f, double k, double c)
{
    double s = f / (2 + f), z = s * s, half = 0.5 * f * f, p = mat_log_tail_f64(z);
    double tail = FMA(s, FMA(z, p, half), FMA(k, MAT_LN2_LO, c));
    return FMA(k, MAT_LN2_HI, f - FMA(0.5 * f, f, -tail));
}

/* The logarithm of x outside of the positive finite numbers; inside it is `y`. By masks, since the
   compiler makes branches of choices. */
INLINE double mat_log_special_f64(double x, double y)
{
    uint64_t nan = x < 0 ? mat_bits_f64(MAT_NAN_F64) : 0;
    y = x == 0 ? -MAT_INFINITY_F64 : y;
    y = x < MAT_INFINITY_F64 ? y : x; /* infinity and NaN remain */
    return mat_of_bits_f64(mat_bits_f64(y) | nan);
}

INLINE double mat_log_f64(double x)
{
    double k, f = mat_log_reduce_all_f64(x, &k);
    return mat_log_special_f64(x, mat_log_sum_f64(f, k, 0));
}

/* 1 + x = the result + *low exactly */
INLINE double mat_one_more_f64(double x, double *low)
{
    double u = 1 + x;
    *low = x < 1 ? x - (u - 1) : 1 - (u - x);
    return u;
}

/* log(u + c) for u >= 0 and little c: f, and the others in *k and *rest, for mat_log_sum_f64 */
INLINE double mat_log_reduce_sum_f64(double u, double c, double *k, double *rest)
{
    uint64_t exponent;
    double f = mat_log_reduce_f64(u, k, &exponent);
    c = u < 0x1p60 ? c * mat_of_bits_f64((UINT64_C(2046) - exponent) << 52) : 0;
    *rest = FMA(-c, f, c);
    return f;
}

INLINE double mat_log1p_f64(double x)
{
    double c, k, rest, u = mat_one_more_f64(x, &c), f = mat_log_reduce_sum_f64(u, c, &k, &rest);
    double y = mat_log_special_f64(u, mat_log_sum_f64(f, k, rest));
    return mat_abs_f64(x) < 0x1p-54 ? x : y;
}

/* sin, cos, tan */

/* sin(x) where `first` is 0, cos(x) = sin(x + pi / 2) where it is 1 */
INLINE double mat_sine_f64(double x, uint64_t first)
{
    double low, r;
    uint64_t n;
    r = mat_trig_reduce_f64(x, &low, &n);
    return mat_sine_reduced_f64(r, low, n + first);
}

INLINE double mat_sin_f64(double x)
{
    double y = mat_sine_f64(x, 0);
    return mat_abs_f64(x) < 0x1p-27 ? x : y;
}

INLINE double mat_cos_f64(double x)
{
    return mat_sine_f64(x, 1);
}

INLINE double mat_tan_f64(double x)
{
    double low, r;
    uint64_t n;
    r = mat_trig_reduce_f64(x, &low, &n);
    double y = mat_tan_reduced_f64(r, low, n);
    return mat_abs_f64(x) < 0x1p-27 ? x : y;
}

#endif
