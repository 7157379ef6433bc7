/* Vector mathematics: erf and pow, of double and float; see vmath_inline.h. */
#ifndef MAT_VMATH_POW_INLINE_H
#define MAT_VMATH_POW_INLINE_H

#include "vmath_f32_inline.h"
#include "vmath_f64_inline.h"
#include "vmath_log_inline.h"

/* erf: an odd polynomial up to 1; above, 1 - erfc(x), where log(erfc(x)) is a polynomial in
   x - 1 */

INLINE double mat_erf_f64(double x)
{
    double a = mat_abs_f64(x), z = a * a, t = (a > 6 ? 6 : a) - 1;
    double p = 0x1.685403a90987ap-33, q = -0x1.5467c46aa25d5p-38;
    q = FMA(q, t, 0x1.051ce5c640fbdp-33);
    q = FMA(q, t, -0x1.691569c9085bep-30);
    q = FMA(q, t, 0x1.23ac57b9a122ep-27);
    q = FMA(q, t, -0x1.1deb94006672ep-25);
    q = FMA(q, t, 0x1.f025035b5b31ap-25);
    p = FMA(p, z, -0x1.e4ad99f7c73e6p-30);
    q = FMA(q, t, 0x1.b8b89099d016dp-23);
    p = FMA(p, z, 0x1.181829abafeebp-26);
    q = FMA(q, t, -0x1.1e34ad5f48e6bp-19);
    p = FMA(p, z, -0x1.647234309a05ep-23);
    q = FMA(q, t, 0x1.4487398ef575dp-17);
    p = FMA(p, z, 0x1.ba8230d95a838p-20);
    q = FMA(q, t, -0x1.c8531b88dd54bp-16);
    p = FMA(p, z, -0x1.f4dec48770f8cp-17);
    q = FMA(q, t, 0x1.b92dab98301fep-16);
    p = FMA(p, z, 0x1.f9a3cf9a0b0dcp-14);
    q = FMA(q, t, 0x1.f1b05345237d3p-13);
    p = FMA(p, z, -0x1.c02db9e1f3272p-11);
    q = FMA(q, t, -0x1.033f5a5aea895p-9);
    p = FMA(p, z, 0x1.565bcd2faaaf3p-8);
    q = FMA(q, t, 0x1.48c9d384da846p-7);
    p = FMA(p, z, -0x1.b82ce31366595p-6);
    q = FMA(q, t, -0x1.5477f099eb435p-5);
    p = FMA(p, z, 0x1.ce2f21a045b8fp-4);
    q = FMA(q, t, -0x1.afabc11a2ab60p-1);
    p = FMA(p, z, -0x1.812746b037a27p-2);
    q = FMA(q, t, -0x1.51c9b0006c225p+1);
    p = FMA(p, z, 0x1.06eba8214db69p-3);
    q = FMA(q, t, -0x1.d97fbf27aa2a1p+0);
    double low, r;
    uint64_t power;
    r = mat_exp_reduce_f64(q, &low, &power);
    double scale = mat_two_to_f64(power, 0);
    double far = 1 - FMA(scale, r + mat_exp_tail_f64(r, low), scale);
    return mat_signed_f64(a < 1 ? FMA(a, p, a) : far, x);
}

INLINE float mat_erf_f32(float x)
{
    double a = mat_abs_f64(x), z = a * a, t = (a > 4 ? 4 : a) - 1;
    double p = 0x1.4ae41bad5ccedp-14, q = 0x1.875051d695617p-13, scale;
    p = FMA(p, z, -0x1.a485a8db7fce8p-11);
    q = FMA(q, t, -0x1.dfac414cdd860p-10);
    p = FMA(p, z, 0x1.5419eb9db7224p-8);
    q = FMA(q, t, 0x1.44418f0b73032p-7);
    p = FMA(p, z, -0x1.b7fbb326b1be4p-6);
    q = FMA(q, t, -0x1.53fe93b03efc6p-5);
    p = FMA(p, z, 0x1.ce2d1f83a04a1p-4);
    q = FMA(q, t, -0x1.afad21055e6a5p-1);
    p = FMA(p, z, -0x1.81273eca261ddp-2);
    q = FMA(q, t, -0x1.51c9aa8b31c95p+1);
    p = FMA(p, z, 0x1.06eba7f8acebdp-3);
    q = mat_exp_narrow(FMA(q, t, -0x1.d97fbf40f6a34p+0), &scale);
    return (float)mat_signed_f64(a < 1 ? FMA(a, p, a) : 1 - FMA(scale, q, scale), x);
}

/* pow */

/* C99's pow(x, y) from |x|^y: the sign, and NaN for results that are not real. Conditions become
   masks: of branches the compiler would make a loop for every combination. */
INLINE double mat_pow_signed_f64(double x, double y, double power)
{
    double b = mat_abs_f64(y), half = 0.5 * b, most = 0x1p52;
    b = b > most ? most : b;
    half = half > most ? most : half;
    uint64_t whole = (b + most) - most == b ? ~UINT64_C(0) : 0,
             even = (half + most) - most == half ? ~UINT64_C(0) : 0;
    uint64_t below = x < 0 ? ~UINT64_C(0) : 0, finite = x > -MAT_INFINITY_F64 ? ~UINT64_C(0) : 0;
    uint64_t bits = mat_bits_f64(power) ^ (mat_bits_f64(x) & whole & ~even & MAT_SIGN);
    power = mat_of_bits_f64(bits | (below & finite & ~whole & mat_bits_f64(MAT_NAN_F64)));
    return (x == 1) | (y == 0) ? 1 : power;
}

INLINE float mat_pow_signed_f32(float x, float y, float power)
{
    float b = mat_abs_f32(y), half = 0.5f * b, most = 0x1p23f;
    b = b > most ? most : b;
    half = half > most ? most : half;
    uint32_t whole = (b + most) - most == b ? ~UINT32_C(0) : 0,
             even = (half + most) - most == half ? ~UINT32_C(0) : 0;
    uint32_t below = x < 0 ? ~UINT32_C(0) : 0, finite = x > -MAT_INFINITY_F32 ? ~UINT32_C(0) : 0;
    uint32_t bits = mat_bits_f32(power) ^ (mat_bits_f32(x) & whole & ~even & MAT_SIGN_F);
    power = mat_of_bits_f32(bits | (below & finite & ~whole & mat_bits_f32(MAT_NAN_F32)));
    return (x == 1) | (y == 0) ? 1 : power;
}

/* log(x) = the result + *low, of about 65 bits, for finite x > 0 */
INLINE double mat_log_double_f64(double x, double *low)
{
    double k, f = mat_log_reduce_all_f64(x, &k);
    /* s = f / (2 + f), and its square */
    double d = 2 + f, d_low = f - (d - 2), inverse = 1 / d, s = f * inverse;
    double s_low = FMA(-s, d_low, fma(-s, d, f)) * inverse;
    double z = s * s, z_low = FMA(2 * s, s_low, fma(s, s, -z));
    double p = 0x1.0e45887b9fe72p-3;
    p = FMA(p, z, 0x1.0f7f9d62c5636p-3);
    p = FMA(p, z, 0x1.3b1eef3150291p-3);
    p = FMA(p, z, 0x1.745ce9d2993a8p-3);
    p = FMA(p, z, 0x1.c71c722d95049p-3);
    p = FMA(p, z, 0x1.2492492457b64p-2);
    p = FMA(p, z, 0x1.9999999999b31p-2);
    /* a = 2/3 + z p; then s z a, and 2 s + that, and k ln 2 + that */
    p *= z;
    double a = 0x1.5555555555555p-1 + p,
           a_low = (p - (a - 0x1.5555555555555p-1)) + 0x1.5555555555555p-55;
    double b = z * a, b_low = fma(z, a, -b) + FMA(z, a_low, z_low * a);
    double c = s * b, c_low = fma(s, b, -c) + FMA(s, b_low, s_low * b);
    double e = 2 * s + c, e_low = (c - (e - 2 * s)) + (c_low + 2 * s_low);
    double g = k * MAT_LN2_HI, h = g + e, h_low = (e - (h - g)) + FMA(k, MAT_LN2_LO, e_low);
    double sum = h + h_low;
    *low = h_low - (sum - h);
    return sum;
}

/* y log|x|, infinite for x = 0 and infinite x. No larger y is needed, and infinity times log(1)
   would be NaN. */
INLINE double mat_pow_f64(double x, double y)
{
    double low, a = mat_abs_f64(x), l = mat_log_double_f64(a, &low),
                times = mat_clamp_f64(y, -0x1p80, 0x1p80);
    l = a < MAT_INFINITY_F64 ? l : a;
    l = a == 0 ? -MAT_INFINITY_F64 : l;
    double e = times * l, extra = FMA(times, low, fma(times, l, -e));
    extra = mat_abs_f64(e) < 750 ? extra : 0;
    return mat_pow_signed_f64(x, y, mat_exp_sum_f64(mat_clamp_f64(e, -746, 710), extra));
}

/* y log|x| needs an error below 2^-30 where it is near 100, which double has to spare */
INLINE float mat_pow_f32(float x, float y)
{
    uint64_t exponent;
    double a = mat_abs_f32(x), k, f = mat_log_reduce_f64(a, &k, &exponent), scale;
    double l = FMA(k, MAT_LN2, mat_log_narrow(f));
    l = a < MAT_INFINITY_F64 ? l : a;
    l = a == 0 ? -MAT_INFINITY_F64 : l;
    l = mat_clamp_f64(mat_clamp_f64(y, -0x1p80, 0x1p80) * l, -200, 200);
    double p = mat_exp_narrow(l, &scale);
    return mat_pow_signed_f32(x, y, (float)FMA(scale, p, scale));
}

#endif
