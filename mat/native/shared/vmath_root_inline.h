/* Vector mathematics: cube roots, and the length of a vector of two parts, of double and float; see
   vmath_inline.h. */
#ifndef MAT_VMATH_ROOT_INLINE_H
#define MAT_VMATH_ROOT_INLINE_H

#include "vmath_log_inline.h"

/* For a normal a > 0, a = 8^q m with m in [1/2, 4): the inverse of the cube root of m, of some 46
   bits; *count has q in its lowest bits, and is q + MAT_ROUNDER. From a polynomial, by one step of
   third order. */
INLINE double mat_inverse_cbrt(double a, double *m, double *count)
{
    uint64_t u = mat_bits_f64(a);
    double e = mat_of_bits_f64((u >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023);
    *count = FMA(e, 0x1.5555555555555p-2, MAT_ROUNDER);
    double part = FMA(-3, *count - MAT_ROUNDER, e); /* -1, 0 or 1 */
    double x = mat_of_bits_f64((u & UINT64_C(0xfffffffffffff)) | UINT64_C(0x3ff0000000000000));
    double times = part > 0 ? 2 : 1, root = part > 0 ? 0x1.965fea53d6e3dp-1 : 1;
    times = part < 0 ? 0.5 : times, root = part < 0 ? 0x1.428a2f98d728bp+0 : root;
    *m = x * times;
    double z = 0x1.d470ea32e137ap-6;
    z = FMA(z, x, -0x1.c519717a7892cp-3);
    z = FMA(z, x, 0x1.6416e5d699124p-1);
    z = FMA(z, x, -0x1.2c42292537625p+0);
    z = FMA(z, x, 0x1.ab85a87799df1p+0);
    z *= root;
    double off = FMA(-(*m * z), z * z, 1);
    return FMA(z * off, FMA(off, 0x1.c71c71c71c71cp-3, 0x1.5555555555555p-2), z);
}

/* Corrected by m minus its cube, which is computed in two parts */
INLINE double mat_cbrt_f64(double x)
{
    double m, count, a = mat_abs_f64(x);
    int small = a < 0x1p-1022;
    double up = small ? 0x1p54 : 1, down = small ? 0x1p-18 : 1;
    double z = mat_inverse_cbrt(a * up, &m, &count), y = m * z * z;
    double square = y * y, square_low = fma(y, y, -square), cube = square * y;
    double off = (m - cube) - FMA(square_low, y, fma(square, y, -cube));
    y = FMA(off * 0x1.5555555555555p-2, z * z, y) * (mat_two_to_narrow(count) * down);
    return (a > 0) & (a < MAT_INFINITY_F64) ? mat_signed_f64(y, x) : x;
}

/* In float, likewise */

INLINE float mat_inverse_cbrt_f32(float a, float *m, float *count)
{
    uint32_t u = mat_bits_f32(a);
    float e = (float)((int32_t)(u >> 23) - 127);
    *count = FMAF(e, 0x1.555556p-2f, MAT_ROUNDER_F);
    float part = FMAF(-3, *count - MAT_ROUNDER_F, e); /* -1, 0 or 1 */
    float x = mat_of_bits_f32((u & UINT32_C(0x7fffff)) | UINT32_C(0x3f800000));
    float times = part > 0 ? 2 : 1, root = part > 0 ? 0x1.965feap-1f : 1;
    times = part < 0 ? 0.5f : times, root = part < 0 ? 0x1.428a30p+0f : root;
    *m = x * times;
    float z = 0x1.d470eep-6f;
    z = FMAF(z, x, -0x1.c51970p-3f);
    z = FMAF(z, x, 0x1.6416e4p-1f);
    z = FMAF(z, x, -0x1.2c4228p+0f);
    z = FMAF(z, x, 0x1.ab85a8p+0f);
    z *= root;
    float off = FMAF(-(*m * z), z * z, 1);
    return FMAF(z * off, FMAF(off, 0x1.c71c72p-3f, 0x1.555556p-2f), z);
}

INLINE float mat_cbrt_f32(float x)
{
    float m, count, a = mat_abs_f32(x);
    int small = a < 0x1p-126f;
    float up = small ? 0x1p24f : 1, down = small ? 0x1p-8f : 1;
    float z = mat_inverse_cbrt_f32(a * up, &m, &count), y = m * z * z;
    float square = y * y, square_low = fmaf(y, y, -square), cube = square * y;
    float off = (m - cube) - FMAF(square_low, y, fmaf(square, y, -cube));
    float power = mat_of_bits_f32((mat_bits_f32(count) << 23) + (UINT32_C(127) << 23));
    y = FMAF(off * 0x1.555556p-2f, z * z, y) * (power * down);
    return (a > 0) & (a < MAT_INFINITY_F32) ? mat_signed_f32(y, x) : x;
}

/* By powers of 2 that keep squares in range */
INLINE double mat_hypot_f64(double x, double y)
{
    double a = mat_abs_f64(x), b = mat_abs_f64(y), larger = a > b ? a : b, smaller = a > b ? b : a;
    double up = larger > 0x1p500 ? 0x1p-600 : 1, down = larger > 0x1p500 ? 0x1p600 : 1;
    up = larger < 0x1p-500 ? 0x1p600 : up, down = larger < 0x1p-500 ? 0x1p-600 : down;
    larger *= up, smaller *= up;
    double p = larger * larger, q = smaller * smaller, sum = p + q;
    double low = ((p - sum) + q) + (fma(larger, larger, -p) + fma(smaller, smaller, -q));
    double root = mat_sqrt_sum(sum, &low);
    int infinite = (a == MAT_INFINITY_F64) | (b == MAT_INFINITY_F64);
    return infinite ? MAT_INFINITY_F64 : (root + low) * down;
}

INLINE float mat_hypot_f32(float x, float y)
{
    double a = x, b = y;
    int infinite = (mat_abs_f32(x) == MAT_INFINITY_F32) | (mat_abs_f32(y) == MAT_INFINITY_F32);
    return infinite ? MAT_INFINITY_F32 : (float)sqrt(FMA(a, a, b * b));
}

#endif
