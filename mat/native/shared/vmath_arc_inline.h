/* Vector mathematics: angles of sines, cosines, tangents and points, of double and float; see
   vmath_inline.h. */
#ifndef MAT_VMATH_ARC_INLINE_H
#define MAT_VMATH_ARC_INLINE_H

#include "vmath_f32_inline.h"
#include "vmath_f64_inline.h"

#define MAT_PI 0x1.921fb54442d18p+1
#define MAT_PI_REST 0x1.1a62633145c07p-53

/* (asin(s) / s - 1) / z for z = s^2 up to 1/4 */
INLINE double mat_asin_tail_f64(double z)
{
    double p = 0x1.0bdd0b24a4bcbp-5;
    p = FMA(p, z, -0x1.59df15eccd984p-6);
    p = FMA(p, z, 0x1.64f18d6e60411p-6);
    p = FMA(p, z, 0x1.e190dcd22a7bbp-9);
    p = FMA(p, z, 0x1.61873a9d0af98p-7);
    p = FMA(p, z, 0x1.757829c242441p-7);
    p = FMA(p, z, 0x1.ca2131bce295dp-7);
    p = FMA(p, z, 0x1.1c49debe562bap-6);
    p = FMA(p, z, 0x1.6e8bdfdcdc7a2p-6);
    p = FMA(p, z, 0x1.f1c71a8bea97fp-6);
    p = FMA(p, z, 0x1.6db6db722abdbp-5);
    p = FMA(p, z, 0x1.333333332df1fp-4);
    p = FMA(p, z, 0x1.5555555555578p-3);
    return p;
}

/* s and *rest, whose sum is asin(a) for a up to 1/2, and above asin(sqrt((1 - a) / 2)), which is
   half of the arc cosine; NaN above 1 */
INLINE double mat_asin_parts_f64(double a, double *rest)
{
    int far = a > 0.5;
    double z = far ? FMA(-0.5, a, 0.5) : a * a, root = sqrt(z);
    double s = far ? root : a, low = fma(-root, root, z) / (root + root + 0x1p-1022);
    *rest = FMA(s * z, mat_asin_tail_f64(z), far ? low : 0);
    return s;
}

INLINE double mat_asin_f64(double x)
{
    double rest, a = mat_abs_f64(x), s = mat_asin_parts_f64(a, &rest);
    double head = 0.5 * MAT_PI - 2 * s, low = (0.5 * MAT_PI - head) - 2 * s;
    double y = head + (low + FMA(-2, rest, 0.5 * MAT_PI_REST));
    return mat_signed_f64(a > 0.5 ? y : s + rest, x);
}

/* `of` - u - v, where `of` is 0, pi / 2 or pi */
INLINE double mat_acos_f64(double x)
{
    double rest, a = mat_abs_f64(x), s = mat_asin_parts_f64(a, &rest);
    int far = a > 0.5, below = x < 0;
    double u = far ? -2 * s : s, v = far ? -2 * rest : rest;
    u = below ? -u : u, v = below ? -v : v;
    double turn = far ? (below ? 1 : 0) : 0.5, of = turn * MAT_PI;
    double head = of - u, low = (of - head) - u;
    return head + (low + (turn * MAT_PI_REST - v));
}

/* (asin(s) / s - 1) / z */
INLINE double mat_asin_tail_narrow(double z)
{
    double p = 0x1.33b9f8bbdaba3p-5;
    p = FMA(p, z, 0x1.d7f7c97e7c2a3p-7);
    p = FMA(p, z, 0x1.04a5f1a965bb0p-5);
    p = FMA(p, z, 0x1.6cac495fc606ap-5);
    p = FMA(p, z, 0x1.33388e496a914p-4);
    p = FMA(p, z, 0x1.55554c379336dp-3);
    return p;
}

/* What mat_asin_parts_f64 has in two parts */
INLINE double mat_asin_part_narrow(double a)
{
    int far = a > 0.5;
    double z = far ? FMA(-0.5, a, 0.5) : a * a, root = sqrt(z), s = far ? root : a;
    return FMA(s * z, mat_asin_tail_narrow(z), s);
}

INLINE float mat_asin_f32(float x)
{
    double a = mat_abs_f64(x), s = mat_asin_part_narrow(a), y = FMA(-2, s, 0.5 * MAT_PI);
    return (float)mat_signed_f64(a > 0.5 ? y : s, x);
}

INLINE float mat_acos_f32(float x)
{
    double a = mat_abs_f64(x), s = mat_asin_part_narrow(a);
    int far = a > 0.5, below = x < 0;
    double u = far ? -2 * s : s, turn = far ? (below ? 1 : 0) : 0.5;
    return (float)FMA(turn, MAT_PI, below ? u : -u);
}

/* The tangent of pi / 8, about: of larger numbers the angle from pi / 4, and of those above its
   inverse that from pi / 2, is small */
#define MAT_ATAN_MIDDLE 0.41421
#define MAT_ATAN_FAR 2.41421

/* base + atan(t + low), where the first is 0 or larger than the other, and has a rest */
INLINE double mat_atan_sum_f64(double t, double low, double base, double base_rest)
{
    double z = t * t, p = -0x1.256784e1f3953p-6;
    p = FMA(p, z, 0x1.37d7e843d75b1p-5);
    p = FMA(p, z, -0x1.9cd4ff1471a20p-5);
    p = FMA(p, z, 0x1.df10145519423p-5);
    p = FMA(p, z, -0x1.10ebca72d576cp-4);
    p = FMA(p, z, 0x1.3b111afe382fap-4);
    p = FMA(p, z, -0x1.745cf8f953857p-4);
    p = FMA(p, z, 0x1.c71c70e70369dp-4);
    p = FMA(p, z, -0x1.24924922af512p-3);
    p = FMA(p, z, 0x1.999999999589ap-3);
    p = FMA(p, z, -0x1.555555555553dp-2);
    double head = base + t, rest = (base - head) + t;
    return head + (rest + FMA(t * z, p, low + base_rest));
}

/* a / b for a = above + above_low and b likewise: the result + *low */
INLINE double mat_quotient_f64(double above, double above_low, double below, double below_low,
                               double *low)
{
    double inverse = 1 / below, t = above * inverse;
    *low = FMA(-t, below_low, fma(-t, below, above) + above_low) * inverse;
    return t;
}

INLINE double mat_atan_f64(double x)
{
    double low, a = mat_abs_f64(x);
    a = a > 0x1p60 ? 0x1p60 : a;
    int middle = a > MAT_ATAN_MIDDLE, far = a > MAT_ATAN_FAR;
    double above = middle ? a - 1 : a, below = middle ? a + 1 : 1;
    double above_low = middle ? a - (above + 1) : 0, below_low = middle ? a - (below - 1) : 0;
    above = far ? -1 : above, below = far ? a : below;
    above_low = far ? 0 : above_low, below_low = far ? 0 : below_low;
    double t = mat_quotient_f64(above, above_low, below, below_low, &low);
    double turn = far ? 0.5 : (middle ? 0.25 : 0);
    return mat_signed_f64(mat_atan_sum_f64(t, low, turn * MAT_PI, turn * MAT_PI_REST), x);
}

/* Quarters of pi that an angle is counted from: of that of |y| and |x| c, counted from the other
   axis 2 - c, of a point to the left 4 - c */
INLINE double mat_atan2_quarters(int middle, int swapped, int left)
{
    double c = middle ? 1 : 0;
    c = swapped ? 2 - c : c;
    return left ? 4 - c : c;
}

INLINE double mat_atan2_f64(double y, double x)
{
    double low, a = mat_abs_f64(x), b = mat_abs_f64(y);
    int swapped = b > a, left = mat_bits_f64(x) >> 63;
    double larger = swapped ? b : a, smaller = swapped ? a : b;
    double by = larger > 0x1p900 ? 0x1p-200 : 1;
    by = larger < 0x1p-900 ? 0x1p200 : by;
    int infinite = larger == MAT_INFINITY_F64;
    smaller = infinite ? (smaller == MAT_INFINITY_F64 ? 1 : 0) : smaller * by;
    larger = infinite | (larger == 0) ? 1 : larger * by;
    int middle = smaller > MAT_ATAN_MIDDLE * larger;
    double above = middle ? smaller - larger : smaller, below = middle ? smaller + larger : larger;
    double above_low = middle ? smaller - (above + larger) : 0,
           below_low = middle ? smaller - (below - larger) : 0;
    double t = mat_quotient_f64(above, above_low, below, below_low, &low);
    double sign = swapped != left ? -1 : 1, c = mat_atan2_quarters(middle, swapped, left);
    double base = c * (0.25 * MAT_PI),
           base_rest = FMA(c, 0.25 * MAT_PI_REST, fma(c, 0.25 * MAT_PI, -base));
    double angle = mat_atan_sum_f64(sign * t, sign * low, base, base_rest);
    return (x != x) | (y != y) ? x + y : mat_signed_f64(angle, y);
}

/* atan(t) */
INLINE double mat_atan_narrow(double t)
{
    double z = t * t, p = -0x1.f25d5fd563dd7p-5;
    p = FMA(p, z, 0x1.b203899a7ddcep-4);
    p = FMA(p, z, -0x1.23b6d0f0e9690p-3);
    p = FMA(p, z, 0x1.9991ae7ceb9d6p-3);
    p = FMA(p, z, -0x1.5555495f15c82p-2);
    return FMA(t * z, p, t);
}

INLINE float mat_atan_f32(float x)
{
    double a = mat_abs_f64(x);
    a = a > 0x1p60 ? 0x1p60 : a;
    int middle = a > MAT_ATAN_MIDDLE, far = a > MAT_ATAN_FAR;
    double above = middle ? a - 1 : a, below = middle ? a + 1 : 1;
    above = far ? -1 : above, below = far ? a : below;
    double turn = far ? 0.5 : (middle ? 0.25 : 0);
    return (float)mat_signed_f64(FMA(turn, MAT_PI, mat_atan_narrow(above / below)), x);
}

INLINE float mat_atan2_f32(float y, float x)
{
    double a = mat_abs_f64(x), b = mat_abs_f64(y);
    int swapped = b > a, left = mat_bits_f32(x) >> 31;
    double larger = swapped ? b : a, smaller = swapped ? a : b;
    int infinite = larger == MAT_INFINITY_F64;
    smaller = infinite ? (smaller == MAT_INFINITY_F64 ? 1 : 0) : smaller;
    larger = infinite | (larger == 0) ? 1 : larger;
    int middle = smaller > MAT_ATAN_MIDDLE * larger;
    double above = middle ? smaller - larger : smaller, below = middle ? smaller + larger : larger;
    double t = mat_atan_narrow(above / below), c = mat_atan2_quarters(middle, swapped, left);
    double angle = FMA(c, 0.25 * MAT_PI, swapped != left ? -t : t);
    return (x != x) | (y != y) ? x + y : (float)mat_signed_f64(angle, y);
}

#endif
