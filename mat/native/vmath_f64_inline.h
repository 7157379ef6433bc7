/* Vector mathematics of double; see vmath_inline.h. */
#ifndef MAT_VMATH_F64_INLINE_H
#define MAT_VMATH_F64_INLINE_H

#include "mat.h"

#define MAT_ROUNDER 0x1.8p52 /* added to a number, it leaves the nearest integer, which also stands in the low bits */
#define MAT_LOG2E 0x1.71547652b82fep+0
#define MAT_LN2_HI 0x1.62e42fefa3800p-1 /* 42 bits, so that its product with an exponent is exact */
#define MAT_LN2_LO 0x1.ef35793c76730p-45
#define MAT_SIGN UINT64_C(0x8000000000000000)

INLINE uint64_t mat_bits_f64(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

INLINE double mat_of_bits_f64(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

INLINE double mat_abs_f64(double x)
{
    return mat_of_bits_f64(mat_bits_f64(x) & ~MAT_SIGN);
}

/* y, which is not negative, with the sign of x */
INLINE double mat_signed_f64(double y, double x)
{
    return mat_of_bits_f64(mat_bits_f64(y) | (mat_bits_f64(x) & MAT_SIGN));
}

/* x within [low, high]; NaN stays */
INLINE double mat_clamp_f64(double x, double low, double high)
{
    x = x > high ? high : x;
    return x < low ? low : x;
}

/* exp, expm1 and what is made of them */

/* x + extra = k ln 2 + r + low with |r| <= ln(2) / 2: returns r, and k where exponents stand */
INLINE double mat_exp_reduce_f64(double x, double extra, double *low, uint64_t *exponent)
{
    double t = x * MAT_LOG2E + MAT_ROUNDER, k = t - MAT_ROUNDER;
    double a = x - k * MAT_LN2_HI, b = k * MAT_LN2_LO - extra, r = a - b;
    *low = (a - r) - b;
    *exponent = mat_bits_f64(t) << 52;
    return r;
}

/* exp(r) - 1 - r */
INLINE double mat_exp_tail_f64(double r)
{
    double p = 0x1.af6eb812d8a52p-26;
    p = p * r + 0x1.28a1533522d79p-22;
    p = p * r + 0x1.71ddee552f203p-19;
    p = p * r + 0x1.a019a94c6dd09p-16;
    p = p * r + 0x1.a01a01b44ed79p-13;
    p = p * r + 0x1.6c16c17d64e43p-10;
    p = p * r + 0x1.111111110e9e9p-7;
    p = p * r + 0x1.5555555552fe3p-5;
    p = p * r + 0x1.555555555555cp-3;
    p = p * r + 0.5;
    return r * r * p;
}

/* exp(x + extra) for x in [-746, 710]. The power of two goes on in two steps, for 2^1024 and for one rounding of subnormals. */
INLINE double mat_exp_sum_f64(double x, double extra)
{
    double low, r;
    uint64_t exponent;
    r = mat_exp_reduce_f64(x, extra, &low, &exponent);
    double head = 1 + r, rest = (1 - head) + r;
    double p = head + (rest + (mat_exp_tail_f64(r) + low));
    int small = x < -707;
    double scale = mat_of_bits_f64(exponent + (small ? UINT64_C(1087) << 52 : UINT64_C(1022) << 52));
    return p * scale * (small ? 0x1p-64 : 2.0);
}

INLINE double mat_exp_f64(double x)
{
    return mat_exp_sum_f64(mat_clamp_f64(x, -746, 710), 0);
}

/* expm1(x) / 4 = the result + *low, for x in [-40, 710.5]; a quarter, since sinh(710.4) is finite and exp(710.4) is not */
INLINE double mat_expm1_quarter_f64(double x, double *low)
{
    double rest, r;
    uint64_t exponent;
    r = mat_exp_reduce_f64(x, 0, &rest, &exponent);
    double q = mat_exp_tail_f64(r) + rest;
    double scale = mat_of_bits_f64(exponent + (UINT64_C(1021) << 52));
    double a = scale - 0.25, b = scale * r, sum = a + b;
    q = (b - (sum - a)) + scale * q;
    double result = sum + q;
    *low = q - (result - sum);
    return result;
}

INLINE double mat_expm1_f64(double x)
{
    double low, y = 4 * mat_expm1_quarter_f64(mat_clamp_f64(x, -40, 710.5), &low);
    return mat_abs_f64(x) < 0x1p-54 ? x : y;
}

INLINE double mat_sinh_f64(double x)
{
    double low, a = mat_abs_f64(x), g = mat_expm1_quarter_f64(a > 710.5 ? 710.5 : a, &low);
    double y = 2 * (g + (g / (4 * g + 1) + low));
    return a < 0x1p-28 ? x : mat_signed_f64(y, x);
}

INLINE double mat_cosh_f64(double x)
{
    double low, a = mat_abs_f64(x), g = 0.25 + mat_expm1_quarter_f64(a > 710.5 ? 710.5 : a, &low);
    return 2 * (g + (0.0625 / g + low));
}

/* e / (e + 2) with e = expm1(2 |x|), the quotient corrected by its remainder */
INLINE double mat_tanh_f64(double x)
{
    double low, a = mat_abs_f64(x), g = 2 * mat_expm1_quarter_f64(a > 20 ? 40 : 2 * a, &low);
    double d = g + 1, d_low = g > 1 ? (g - d) + 1 : (1 - d) + g, inverse = 1 / d, q = g * inverse;
    low *= 2;
    q += ((g - q * d) + (low - q * (d_low + low))) * inverse;
    return a < 0x1p-28 ? x : mat_signed_f64(q, x);
}

/* exp(-|x|) does not overflow: 1 / (1 + e) for x >= 0, e / (1 + e) below */
INLINE double mat_logistic_f64(double x)
{
    double a = mat_abs_f64(x), e = mat_exp_f64(-a);
    return (x < 0 ? e : 1) / (1 + e);
}

/* log */

/* x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)], for positive normal numbers; *exponent is k + 1023 */
INLINE double mat_log_reduce_f64(double x, double *k, uint64_t *exponent)
{
    uint64_t u = mat_bits_f64(x) + (UINT64_C(0x3ff0000000000000) - UINT64_C(0x3fe6a09e667f3bcd));
    *exponent = u >> 52;
    *k = mat_of_bits_f64((u >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023);
    return mat_of_bits_f64((u & UINT64_C(0xfffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd)) - 1;
}

/* k ln 2 + log(1 + f) + c, where c is small. With s = f / (2 + f): log(1 + f) = f - f^2/2 + s (f^2/2 + s^2 P(s^2)) */
INLINE double mat_log_sum_f64(double f, double k, double c)
{
    double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    double p = 0x1.2f11c83acb43dp-3;
    p = p * z + 0x1.39a08e7f63a9dp-3;
    p = p * z + 0x1.746649f22eb32p-3;
    p = p * z + 0x1.c71c51d6a4972p-3;
    p = p * z + 0x1.249249422b7efp-2;
    p = p * z + 0x1.999999997f9e9p-2;
    p = p * z + 0x1.5555555555593p-1;
    double tail = s * (half + z * p) + (k * MAT_LN2_LO + c);
    return k * MAT_LN2_HI + (f - (half - tail));
}

/* what log gives outside of the positive finite numbers; `y` inside */
INLINE double mat_log_special_f64(double x, double y)
{
    y = x > 0 ? y : x == 0 ? -INFINITY : NAN;
    return x < INFINITY ? y : x; /* infinity and NaN stay */
}

INLINE double mat_log_f64(double x)
{
    int small = x < 0x1p-1022;
    uint64_t exponent;
    double k, f = mat_log_reduce_f64(small ? x * 0x1p54 : x, &k, &exponent);
    return mat_log_special_f64(x, mat_log_sum_f64(f, small ? k - 54 : k, 0));
}

/* 1 + x = u + c exactly */
INLINE double mat_log1p_f64(double x)
{
    double u = 1 + x, c = x < 1 ? x - (u - 1) : 1 - (u - x);
    uint64_t exponent;
    double k, f = mat_log_reduce_f64(u, &k, &exponent);
    c = x < 0x1p60 ? c * mat_of_bits_f64((UINT64_C(2046) - exponent) << 52) : 0;
    double y = mat_log_special_f64(u, mat_log_sum_f64(f, k, c - c * f));
    return mat_abs_f64(x) < 0x1p-54 ? x : y;
}

/* sin, cos, tan */

/* x = n pi / 2 + r + low with |r| <= pi / 4, for |n| < 2^20: returns r; *turns has n in its lowest bits. The first three parts
   of pi / 2 have 33 bits, so that their products with n are exact. */
INLINE double mat_turn_f64(double x, double *low, uint64_t *turns)
{
    double t = x * 0x1.45f306dc9c883p-1 + MAT_ROUNDER, n = t - MAT_ROUNDER;
    double a = x - n * 0x1.921fb54400000p+0;
    double b = n * 0x1.0b4611a600000p-34, c = n * 0x1.3198a2e000000p-69;
    double first = a - b, back = first - a;
    double rest = (a - (first - back)) - (b + back);
    double r = first - c;
    back = r - first;
    rest += (first - (r - back)) - (c + back);
    *low = rest - n * 0x1.b839a252049c1p-104;
    *turns = mat_bits_f64(t);
    return r;
}

INLINE double mat_sin_part_f64(double r, double z, double low)
{
    double p = -0x1.9f70ec2e93e21p-41;
    p = p * z + 0x1.6108b3d09888ap-33;
    p = p * z - 0x1.ae642ad62f9eep-26;
    p = p * z + 0x1.71de3a32a96c9p-19;
    p = p * z - 0x1.a01a019ffdba3p-13;
    p = p * z + 0x1.1111111111067p-7;
    p = p * z - 0x1.5555555555555p-3;
    return r + (r * z * p + (low - low * (0.5 * z)));
}

INLINE double mat_cos_part_f64(double r, double z, double low)
{
    double p = 0x1.9c34f097d68f5p-45;
    p = p * z - 0x1.93713f31412d9p-37;
    p = p * z + 0x1.1eed6d068944bp-29;
    p = p * z - 0x1.27e4fb5838b80p-22;
    p = p * z + 0x1.a01a019ffb555p-16;
    p = p * z - 0x1.6c16c16c16b2ap-10;
    p = p * z + 0x1.5555555555555p-5;
    double half = 0.5 * z, head = 1 - half;
    return head + (((1 - head) - half) + (z * z * p - r * low));
}

INLINE double mat_sin_f64(double x)
{
    double low, r;
    uint64_t n;
    r = mat_turn_f64(x, &low, &n);
    double z = r * r, s = mat_sin_part_f64(r, z, low), c = mat_cos_part_f64(r, z, low);
    double y = mat_of_bits_f64(mat_bits_f64(n & 1 ? c : s) ^ (n & 2) << 62);
    return mat_abs_f64(x) < 0x1p-27 ? x : y;
}

INLINE double mat_cos_f64(double x)
{
    double low, r;
    uint64_t n;
    r = mat_turn_f64(x, &low, &n);
    double z = r * r, s = mat_sin_part_f64(r, z, low), c = mat_cos_part_f64(r, z, low);
    return mat_of_bits_f64(mat_bits_f64(n & 1 ? s : c) ^ ((n + 1) & 2) << 62);
}

INLINE double mat_tan_f64(double x)
{
    double low, r;
    uint64_t n;
    r = mat_turn_f64(x, &low, &n);
    double z = r * r, s = mat_sin_part_f64(r, z, low), c = mat_cos_part_f64(r, z, low);
    double y = (n & 1 ? -c : s) / (n & 1 ? s : c);
    return mat_abs_f64(x) < 0x1p-27 ? x : y;
}

#endif
