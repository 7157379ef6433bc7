/* Vector mathematics: angles of sines, cosines, tangents and points, of double and float; see
   vmath_inline.h. */
#ifndef MAT_VMATH_ARC_INLINE_H
#define MAT_VMATH_ARC_INLINE_H

#include "vmath_f32_inline.h"
#include "vmath_f64_inline.h"

#define MAT_PI 0x1.921fb54442d18p+1
#define MAT_PI_REST 0x1.1a62633145c07p-53
#define MAT_PI_F 0x1.921fb6p+1f
#define MAT_PI_REST_F -0x1.777a5cp-24f

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

/* In float, likewise */

INLINE float mat_asin_tail_f32(float z)
{
    float p = 0x1.59cc84p-5f;
    p = FMAF(p, z, 0x1.8bb53ep-6f);
    p = FMAF(p, z, 0x1.748a2cp-5f);
    p = FMAF(p, z, 0x1.33016ap-4f);
    p = FMAF(p, z, 0x1.5555cap-3f);
    return p;
}

INLINE float mat_asin_parts_f32(float a, float *rest)
{
    int far = a > 0.5f;
    float z = far ? FMAF(-0.5f, a, 0.5f) : a * a, root = sqrtf(z);
    float s = far ? root : a, low = fmaf(-root, root, z) / (root + root + 0x1p-126f);
    *rest = FMAF(s * z, mat_asin_tail_f32(z), far ? low : 0);
    return s;
}

INLINE float mat_asin_f32(float x)
{
    float rest, a = mat_abs_f32(x), s = mat_asin_parts_f32(a, &rest);
    float head = 0.5f * MAT_PI_F - 2 * s, low = (0.5f * MAT_PI_F - head) - 2 * s;
    float y = head + (low + FMAF(-2, rest, 0.5f * MAT_PI_REST_F));
    return mat_signed_f32(a > 0.5f ? y : s + rest, x);
}

INLINE float mat_acos_f32(float x)
{
    float rest, a = mat_abs_f32(x), s = mat_asin_parts_f32(a, &rest);
    int far = a > 0.5f, below = x < 0;
    float u = far ? -2 * s : s, v = far ? -2 * rest : rest;
    u = below ? -u : u, v = below ? -v : v;
    float turn = far ? (below ? 1 : 0) : 0.5f, of = turn * MAT_PI_F;
    float head = of - u, low = (of - head) - u;
    return head + (low + (turn * MAT_PI_REST_F - v));
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
INLINE float mat_atan2_quarters(int middle, int swapped, int left)
{
    float c = middle ? 1 : 0;
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

/* In float, likewise */

INLINE float mat_atan_sum_f32(float t, float low, float base, float base_rest)
{
    float z = t * t, p = -0x1.f31f26p-5f;
    p = FMAF(p, z, 0x1.b22f08p-4f);
    p = FMAF(p, z, -0x1.23ba44p-3f);
    p = FMAF(p, z, 0x1.9991e8p-3f);
    p = FMAF(p, z, -0x1.55554ap-2f);
    float head = base + t, rest = (base - head) + t;
    return head + (rest + FMAF(t * z, p, low + base_rest));
}

INLINE float mat_quotient_f32(float above, float above_low, float below, float below_low,
                              float *low)
{
    float inverse = 1 / below, t = above * inverse;
    *low = FMAF(-t, below_low, fmaf(-t, below, above) + above_low) * inverse;
    return t;
}

INLINE float mat_atan_f32(float x)
{
    float low, a = mat_abs_f32(x);
    a = a > 0x1p30f ? 0x1p30f : a;
    int middle = a > (float)MAT_ATAN_MIDDLE, far = a > (float)MAT_ATAN_FAR;
    float above = middle ? a - 1 : a, below = middle ? a + 1 : 1;
    float above_low = middle ? a - (above + 1) : 0, below_low = middle ? a - (below - 1) : 0;
    above = far ? -1 : above, below = far ? a : below;
    above_low = far ? 0 : above_low, below_low = far ? 0 : below_low;
    float t = mat_quotient_f32(above, above_low, below, below_low, &low);
    float turn = far ? 0.5f : (middle ? 0.25f : 0);
    return mat_signed_f32(mat_atan_sum_f32(t, low, turn * MAT_PI_F, turn * MAT_PI_REST_F), x);
}

INLINE float mat_atan2_f32(float y, float x)
{
    float low, a = mat_abs_f32(x), b = mat_abs_f32(y);
    int swapped = b > a, left = mat_bits_f32(x) >> 31;
    float larger = swapped ? b : a, smaller = swapped ? a : b;
    float by = larger > 0x1p100f ? 0x1p-60f : 1;
    by = larger < 0x1p-100f ? 0x1p60f : by;
    int infinite = larger == MAT_INFINITY_F32;
    smaller = infinite ? (smaller == MAT_INFINITY_F32 ? 1 : 0) : smaller * by;
    larger = infinite | (larger == 0) ? 1 : larger * by;
    int middle = smaller > (float)MAT_ATAN_MIDDLE * larger;
    float above = middle ? smaller - larger : smaller, below = middle ? smaller + larger : larger;
    float above_low = middle ? smaller - (above + larger) : 0,
           below_low = middle ? smaller - (below - larger) : 0;
    float t = mat_quotient_f32(above, above_low, below, below_low, &low);
    float sign = swapped != left ? -1 : 1, c = mat_atan2_quarters(middle, swapped, left);
    float base = c * (0.25f * MAT_PI_F),
           base_rest = FMAF(c, 0.25f * MAT_PI_REST_F, fmaf(c, 0.25f * MAT_PI_F, -base));
    float angle = mat_atan_sum_f32(sign * t, sign * low, base, base_rest);
    return (x != x) | (y != y) ? x + y : mat_signed_f32(angle, y);
}

#endif
