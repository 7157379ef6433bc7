/* Sine, cosine and tangent of double, for C and for the device: the reduction to a quarter of the
   circle, and the functions there. */
#ifndef MAT_TRIG_INLINE_H
#define MAT_TRIG_INLINE_H

#include "bits_inline.h"

/* x = n pi / 2 + r + low with |r| <= pi / 4, for |n| < 2^20: returns r; *quarters has n in its
   lowest bits. The first three parts of pi / 2 have 33 bits, so that their products with n are
   exact. */
INLINE double mat_trig_reduce_f64(double x, double *low, uint64_t *quarters)
{
    double t = FMA(x, 0x1.45f306dc9c883p-1, MAT_ROUNDER), n = t - MAT_ROUNDER;
    double a = FMA(-n, 0x1.921fb54400000p+0, x);
    double b = n * 0x1.0b4611a600000p-34, c = n * 0x1.3198a2e000000p-69;
    double first = a - b, back = first - a;
    double rest = (a - (first - back)) - (b + back);
    double r = first - c;
    back = r - first;
    rest += (first - (r - back)) - (c + back);
    *low = FMA(-n, 0x1.b839a252049c1p-104, rest);
    *quarters = mat_bits_f64(t);
    return r;
}

/* sin(r + low) - r, with z = r * r. */
INLINE double mat_sin_rest_f64(double r, double z, double low)
{
    double p = 0x1.5d93803c890bcp-33;
    p = FMA(p, z, -0x1.ae5e682ff2b12p-26);
    p = FMA(p, z, 0x1.71de357aa3935p-19);
    p = FMA(p, z, -0x1.a01a019c15aebp-13);
    p = FMA(p, z, 0x1.111111110f8a4p-7);
    p = FMA(p, z, -0x1.5555555555549p-3);
    return FMA(r * z, p, FMA(-low, 0.5 * z, low));
}

/* cos(r + low) = *head + the result. */
INLINE double mat_cos_rest_f64(double r, double z, double low, double *head)
{
    double p = -0x1.8fb1098c836ecp-37;
    p = FMA(p, z, 0x1.1ee9f11006bcdp-29);
    p = FMA(p, z, -0x1.27e4f81264f32p-22);
    p = FMA(p, z, 0x1.a01a019cbf0d4p-16);
    p = FMA(p, z, -0x1.6c16c16c1521dp-10);
    p = FMA(p, z, 0x1.555555555554cp-5);
    double half = 0.5 * z;
    *head = 1 - half;
    return ((1 - *head) - half) + FMA(z * z, p, -(r * low));
}

/* The sine of n pi / 2 + r + low. */
INLINE double mat_sine_reduced_f64(double r, double low, uint64_t n)
{
    double head, z = r * r, s = mat_sin_rest_f64(r, z, low), c = mat_cos_rest_f64(r, z, low, &head);
    double y = n & 1 ? head + c : r + s;
    return mat_of_bits_f64(mat_bits_f64(y) ^ (n & 2) << 62);
}

/* The tangent of n pi / 2 + r + low: a sine over a cosine, the quotient corrected by its
   remainder. */
INLINE double mat_tan_reduced_f64(double r, double low, uint64_t n)
{
    double head, z = r * r, s_rest = mat_sin_rest_f64(r, z, low),
                 c_rest = mat_cos_rest_f64(r, z, low, &head);
    double s = r + s_rest, c = head + c_rest, s_low = s_rest - (s - r), c_low = c_rest - (c - head);
    int odd = n & 1;
    double above = odd ? -c : s, above_low = odd ? -c_low : s_low, below = odd ? s : c,
           below_low = odd ? s_low : c_low;
    double inverse = 1 / below, q = above * inverse;
    return FMA(FMA(-q, below, above) + FMA(-q, below_low, above_low), inverse, q);
}

#endif
