/* Vector mathematics: erf and pow, of double and float; see vmath_inline.h. */
#ifndef MAT_VMATH_POW_INLINE_H
#define MAT_VMATH_POW_INLINE_H

#include "vmath_f32_inline.h"
#include "vmath_f64_inline.h"

/* erf: an odd polynomial up to 1; above, 1 - erfc(x), where log(erfc(x)) is a polynomial in x - 1 */

INLINE double mat_erf_f64(double x)
{
    double a = mat_abs_f64(x), z = a * a, t = (a > 6 ? 6 : a) - 1;
    double p = 0x1.685403a90987ap-33, q = 0x1.26ccd247823b4p-40;
    q = q * t - 0x1.fe730b78d234cp-36;
    q = q * t + 0x1.9753884be9f23p-32;
    q = q * t - 0x1.8ba8c28bb5675p-29;
    q = q * t + 0x1.0150c8bab8f8ap-26;
    q = q * t - 0x1.c0d2ac5801cd5p-25;
    q = q * t + 0x1.a519f6cfa56cep-24;
    p = p * z - 0x1.e4ad99f7c73e6p-30;
    q = q * t + 0x1.30f257b0a393ap-23;
    p = p * z + 0x1.181829abafeebp-26;
    q = q * t - 0x1.144d9d94fa7b2p-19;
    p = p * z - 0x1.647234309a05ep-23;
    q = q * t + 0x1.4261fe42ad318p-17;
    p = p * z + 0x1.ba8230d95a838p-20;
    q = q * t - 0x1.c7a3d9fdd8022p-16;
    p = p * z - 0x1.f4dec48770f8cp-17;
    q = q * t + 0x1.b8dc9e70b01bep-16;
    p = p * z + 0x1.f9a3cf9a0b0dcp-14;
    q = q * t + 0x1.f1b3a2b4d6d46p-13;
    p = p * z - 0x1.c02db9e1f3272p-11;
    q = q * t - 0x1.033f661fa4539p-9;
    p = p * z + 0x1.565bcd2faaaf3p-8;
    q = q * t + 0x1.48c9d3f047ceep-7;
    p = p * z - 0x1.b82ce31366595p-6;
    q = q * t - 0x1.5477f09c29a4dp-5;
    p = p * z + 0x1.ce2f21a045b8fp-4;
    q = q * t - 0x1.afabc11a29379p-1;
    p = p * z - 0x1.812746b037a27p-2;
    q = q * t - 0x1.51c9b0006c23bp+1;
    p = p * z + 0x1.06eba8214db69p-3;
    q = q * t - 0x1.d97fbf27aa2a1p+0;
    double low, r;
    uint64_t exponent;
    r = mat_exp_reduce_f64(q, 0, &low, &exponent);
    double scale = mat_of_bits_f64(exponent + (UINT64_C(1023) << 52));
    double far = 1 - (scale + scale * (r + (mat_exp_tail_f64(r) + low)));
    return mat_signed_f64(a < 1 ? a + a * p : far, x);
}

INLINE float mat_erf_f32(float x)
{
    double a = mat_abs_f64(x), z = a * a, t = (a > 4 ? 4 : a) - 1;
    double p = 0x1.4ae41bad5ccedp-14, q = 0x1.8ce5d439eda0dp-21, scale;
    q = q * t - 0x1.541f3d0823507p-18;
    q = q * t - 0x1.0b45c7d2feb4ep-17;
    q = q * t + 0x1.1be44d0918e36p-12;
    p = p * z - 0x1.a485a8db7fce8p-11;
    q = q * t - 0x1.05e72d64d06e9p-9;
    p = p * z + 0x1.5419eb9db7224p-8;
    q = q * t + 0x1.490774f17b9f4p-7;
    p = p * z - 0x1.b7fbb326b1be4p-6;
    q = q * t - 0x1.547b0c08ad851p-5;
    p = p * z + 0x1.ce2d1f83a04a1p-4;
    q = q * t - 0x1.afabbc3e28b72p-1;
    p = p * z - 0x1.81273eca261ddp-2;
    q = q * t - 0x1.51c9b00b61e4ep+1;
    p = p * z + 0x1.06eba7f8acebdp-3;
    q = mat_exp_narrow(q * t - 0x1.d97fbf2791870p+0, &scale);
    return (float)mat_signed_f64(a < 1 ? a + a * p : 1 - (scale + scale * q), x);
}

/* pow */

/* C99's pow(x, y), where y0 is |x|^y for finite x that are not 0 and finite y */
INLINE double mat_pow_special(double x, double y, double y0)
{
    double a = mat_abs_f64(x), b = mat_abs_f64(y), half = 0.5 * b;
    int whole = b >= 0x1p52 || (b + 0x1p52) - 0x1p52 == b;
    int even = b >= 0x1p53 || (half + 0x1p52) - 0x1p52 == half;
    double up = y > 0 ? INFINITY : 0, down = y > 0 ? 0 : INFINITY; /* of numbers above and below 1, in the limit */
    y0 = a == 0 ? down : a == INFINITY ? up : y0;
    y0 = b == INFINITY ? (a > 1 ? up : a < 1 ? down : 1) : y0;
    y0 = mat_bits_f64(x) >> 63 && whole && !even ? -y0 : y0;
    y0 = x < 0 && a < INFINITY && !whole ? NAN : y0;
    y0 = x != x || y != y ? x + y : y0;
    return x == 1 || y == 0 ? 1 : y0;
}

/* log(x) = the result + *low, of about 65 bits, for finite x > 0 */
INLINE double mat_log_double_f64(double x, double *low)
{
    int small = x < 0x1p-1022;
    uint64_t exponent;
    double k, f = mat_log_reduce_f64(small ? x * 0x1p54 : x, &k, &exponent);
    k = small ? k - 54 : k;
    /* s = f / (2 + f), and its square */
    double d = 2 + f, d_low = f - (d - 2), inverse = 1 / d, s = f * inverse;
    double s_low = (fma(-s, d, f) - s * d_low) * inverse;
    double z = s * s, z_low = fma(s, s, -z) + 2 * s * s_low;
    double p = 0x1.eacaa51480bbfp-4;
    p = p * z + 0x1.de3ce28b84690p-4;
    p = p * z + 0x1.1120726b2464ep-3;
    p = p * z + 0x1.3b1364b5e5a91p-3;
    p = p * z + 0x1.745d182994de2p-3;
    p = p * z + 0x1.c71c71c5962a6p-3;
    p = p * z + 0x1.2492492492f53p-2;
    p = p * z + 0x1.9999999999996p-2;
    /* a = 2/3 + z p; then s z a, and 2 s + that, and k ln 2 + that */
    p *= z;
    double a = 0x1.5555555555555p-1 + p, a_low = (p - (a - 0x1.5555555555555p-1)) + 0x1.5555555555555p-55;
    double b = z * a, b_low = fma(z, a, -b) + (z * a_low + z_low * a);
    double c = s * b, c_low = fma(s, b, -c) + (s * b_low + s_low * b);
    double e = 2 * s + c, e_low = (c - (e - 2 * s)) + (c_low + 2 * s_low);
    double g = k * MAT_LN2_HI, h = g + e, h_low = k == 0 ? e_low : (e - (h - g)) + (e_low + k * MAT_LN2_LO);
    double sum = h + h_low;
    *low = h_low - (sum - h);
    return sum;
}

INLINE double mat_pow_f64(double x, double y)
{
    double low, l = mat_log_double_f64(mat_abs_f64(x), &low);
    double e = y * l, extra = fma(y, l, -e) + y * low;
    int fits = mat_abs_f64(e) < 750;
    e = mat_clamp_f64(e, -746, 710);
    return mat_pow_special(x, y, mat_exp_sum_f64(e, fits ? extra : 0));
}

/* y log(x) needs an error below 2^-30 where it is near 100, which double has to spare */
INLINE float mat_pow_f32(float x, float y)
{
    uint64_t exponent;
    double k, f = mat_log_reduce_f64(mat_abs_f64(x), &k, &exponent), s = f / (2 + f), z = s * s;
    double p = 0x1.e2f96ef16dbc0p-3, scale;
    p = p * z + 0x1.2438c49945b72p-2;
    p = p * z + 0x1.999a7acfc0894p-2;
    p = p * z + 0x1.555554fd7ba26p-1;
    double e = mat_clamp_f64(y * (k * MAT_LN2 + s * (2 + z * p)), -200, 200);
    p = mat_exp_narrow(e, &scale);
    return (float)mat_pow_special(x, y, scale * p + scale);
}

#endif
