/* Vector mathematics: logarithms to other bases, and the functions made of them, of double and
   float; see vmath_inline.h. */
#ifndef MAT_VMATH_LOG_INLINE_H
#define MAT_VMATH_LOG_INLINE_H

#include "vmath_f32_inline.h"
#include "vmath_f64_inline.h"

#define MAT_LOG2E_REST 0x1.777d0ffda0d24p-56
#define MAT_LOG10E 0x1.bcb7b1526e50ep-2
#define MAT_LOG10E_REST 0x1.95355baaafad3p-57
#define MAT_LOG10_2_HI 0x1.34413509f7800p-2 /* 42 bits */
#define MAT_LOG10_2_LO 0x1.fef311f12b358p-46
#define MAT_LEAST 0x1p-1022 /* added to a divisor that may be 0 */
#define MAT_LOG2E_F 0x1.715476p+0f
#define MAT_LOG2E_REST_F 0x1.4ae0c0p-26f
#define MAT_LOG10E_F 0x1.bcb7b2p-2f
#define MAT_LOG10E_REST_F -0x1.5b235ep-27f
#define MAT_LOG10_2_HI_F 0x1.3440p-2f
#define MAT_LOG10_2_LO_F 0x1.3509f8p-18f
#define MAT_LEAST_F 0x1p-126f

/* log(1 + f) by `unit`, which has a rest, plus k times another number: `high`, by which the product
   is exact, and `rest` */
INLINE double mat_log_times_f64(double f, double unit, double unit_rest, double high, double rest)
{
    double s = f / (2 + f), z = s * s, half = 0.5 * f * f, l = FMA(-0.5 * f, f, f);
    double low = FMA(s, FMA(z, mat_log_tail_f64(z), half), FMA(-0.5 * f, f, f - l));
    double v = l * unit, v_low = FMA(low, unit, FMA(l, unit_rest, fma(l, unit, -v)));
    double sum = high + v;
    return sum + (((high - sum) + v) + (v_low + rest));
}

INLINE double mat_log2_f64(double x)
{
    double k, f = mat_log_reduce_all_f64(x, &k);
    return mat_log_special_f64(x, mat_log_times_f64(f, MAT_LOG2E, MAT_LOG2E_REST, k, 0));
}

INLINE double mat_log10_f64(double x)
{
    double k, f = mat_log_reduce_all_f64(x, &k);
    return mat_log_special_f64(x, mat_log_times_f64(f, MAT_LOG10E, MAT_LOG10E_REST,
                                                    k * MAT_LOG10_2_HI, k * MAT_LOG10_2_LO));
}

INLINE float mat_log_times_f32(float f, float unit, float unit_rest, float high, float rest)
{
    float l = FMAF(-0.5f * f, f, f);
    float low = FMAF(f * f * f, mat_log_tail_f32(f), FMAF(-0.5f * f, f, f - l));
    float v = l * unit, v_low = FMAF(low, unit, FMAF(l, unit_rest, fmaf(l, unit, -v)));
    float sum = high + v;
    return sum + (((high - sum) + v) + (v_low + rest));
}

INLINE float mat_log2_f32(float x)
{
    float k, f = mat_log_reduce_all_f32(x, &k);
    return mat_log_special_f32(x, mat_log_times_f32(f, MAT_LOG2E_F, MAT_LOG2E_REST_F, k, 0));
}

INLINE float mat_log10_f32(float x)
{
    float k, f = mat_log_reduce_all_f32(x, &k);
    return mat_log_special_f32(x, mat_log_times_f32(f, MAT_LOG10E_F, MAT_LOG10E_REST_F,
                                                    k * MAT_LOG10_2_HI_F, k * MAT_LOG10_2_LO_F));
}

/* log(1 + f), of some 33 bits */
INLINE double mat_log_narrow(double f)
{
    double s = f / (2 + f), z = s * s;
    double p = 0x1.e2f96ef16dbc0p-3;
    p = FMA(p, z, 0x1.2438c49945b72p-2);
    p = FMA(p, z, 0x1.999a7acfc0894p-2);
    p = FMA(p, z, 0x1.555554fd7ba26p-1);
    return s * FMA(z, p, 2);
}

/* log(u + c) for c of less than the last bit of u, of some 33 bits */
INLINE double mat_log_sum_narrow(double u, double c)
{
    uint64_t exponent;
    double k, f = mat_log_reduce_f64(u, &k, &exponent);
    f = FMA(c, mat_of_bits_f64((UINT64_C(2046) - exponent) << 52), f);
    return FMA(k, MAT_LN2, mat_log_narrow(f));
}

/* a + b = the result + *low exactly */
INLINE double mat_two_sum(double a, double b, double *low)
{
    double sum = a + b, back = sum - a;
    *low = (a - (sum - back)) + (b - back);
    return sum;
}

/* sqrt(x + *low) = the result + *low */
INLINE double mat_sqrt_sum(double x, double *low)
{
    double r = sqrt(x);
    *low = (fma(-r, r, x) + *low) / (r + r + MAT_LEAST);
    return r;
}

/* log(2^more (1 + x + low)) for finite x > -1 */
INLINE double mat_log1p_parts_f64(double x, double low, double more)
{
    double c, k, rest, u = mat_one_more_f64(x, &c);
    double f = mat_log_reduce_sum_f64(u, c + low, &k, &rest);
    return mat_log_sum_f64(f, k + more, rest);
}

/* log1p(u) with u = a + a^2 / (1 + sqrt(1 + a^2)); of large numbers log(2 a) */
INLINE double mat_asinh_f64(double x)
{
    double low, a = mat_abs_f64(x), p = a * a, p_low = fma(a, a, -p);
    double q = mat_two_sum(1, p, &low);
    low += p_low;
    double r = mat_sqrt_sum(q, &low), d = 1 + r, d_low = ((r - d) + 1) + low, inverse = 1 / d,
           v = p * inverse;
    double v_low = FMA(-v, d_low, fma(-v, d, p) + p_low) * inverse;
    double u = a + v, u_low = ((a - u) + v) + v_low;
    int large = a > 0x1p60;
    double y = mat_log1p_parts_f64(large ? 0.5 * a : u, large ? 0 : u_low, large ? 2 : 0);
    y = a < MAT_INFINITY_F64 ? y : a;
    return a < 0x1p-28 ? x : mat_signed_f64(y, x);
}

/* log1p(t + sqrt(t^2 + 2 t)) with t = x - 1 */
INLINE double mat_acosh_f64(double x)
{
    double low, t = x - 1, p = t * t, p_low = fma(t, t, -p), q = mat_two_sum(p, 2 * t, &low);
    low += p_low;
    double r = mat_sqrt_sum(q, &low), u = r + t, u_low = ((r - u) + t) + low;
    int large = x > 0x1p60;
    double y = mat_log1p_parts_f64(large ? 0.5 * x : u, large ? 0 : u_low, large ? 2 : 0);
    y = x < MAT_INFINITY_F64 ? y : x;
    return x < 1 ? MAT_NAN_F64 : y;
}

/* log1p(2 a / (1 - a)) / 2 */
INLINE double mat_atanh_f64(double x)
{
    double a = mat_abs_f64(x), d = 1 - a, d_low = (1 - d) - a, inverse = 1 / d, u = 2 * a * inverse;
    double u_low = FMA(-u, d_low, fma(-u, d, 2 * a)) * inverse;
    double y = 0.5 * mat_log1p_parts_f64(u, u_low, 0),
           other = a == 1 ? MAT_INFINITY_F64 : MAT_NAN_F64;
    y = a < 1 ? y : other;
    return a < 0x1p-28 ? x : mat_signed_f64(y, x);
}

/* In float, likewise */

INLINE float mat_two_sum_f32(float a, float b, float *low)
{
    float sum = a + b, back = sum - a;
    *low = (a - (sum - back)) + (b - back);
    return sum;
}

INLINE float mat_sqrt_sum_f32(float x, float *low)
{
    float r = sqrtf(x);
    *low = (fmaf(-r, r, x) + *low) / (r + r + MAT_LEAST_F);
    return r;
}

INLINE float mat_log1p_parts_f32(float x, float low, float more)
{
    float c, k, rest, u = mat_one_more_f32(x, &c);
    float f = mat_log_reduce_sum_f32(u, c + low, &k, &rest);
    return mat_log_sum_f32(f, k + more, rest);
}

INLINE float mat_asinh_f32(float x)
{
    float low, a = mat_abs_f32(x), p = a * a, p_low = fmaf(a, a, -p);
    float q = mat_two_sum_f32(1, p, &low);
    low += p_low;
    float r = mat_sqrt_sum_f32(q, &low), d = 1 + r, d_low = ((r - d) + 1) + low, inverse = 1 / d,
           v = p * inverse;
    float v_low = FMAF(-v, d_low, fmaf(-v, d, p) + p_low) * inverse;
    float u = a + v, u_low = ((a - u) + v) + v_low;
    int large = a > 0x1p30f;
    float y = mat_log1p_parts_f32(large ? 0.5f * a : u, large ? 0 : u_low, large ? 2 : 0);
    y = a < MAT_INFINITY_F32 ? y : a;
    return a < 0x1p-12f ? x : mat_signed_f32(y, x);
}

INLINE float mat_acosh_f32(float x)
{
    float low, t = x - 1, p = t * t, p_low = fmaf(t, t, -p), q = mat_two_sum_f32(p, 2 * t, &low);
    low += p_low;
    float r = mat_sqrt_sum_f32(q, &low), u = r + t, u_low = ((r - u) + t) + low;
    int large = x > 0x1p30f;
    float y = mat_log1p_parts_f32(large ? 0.5f * x : u, large ? 0 : u_low, large ? 2 : 0);
    y = x < MAT_INFINITY_F32 ? y : x;
    return x < 1 ? MAT_NAN_F32 : y;
}

INLINE float mat_atanh_f32(float x)
{
    float a = mat_abs_f32(x), d = 1 - a, d_low = (1 - d) - a, inverse = 1 / d, u = 2 * a * inverse;
    float u_low = FMAF(-u, d_low, fmaf(-u, d, 2 * a)) * inverse;
    float y = 0.5f * mat_log1p_parts_f32(u, u_low, 0),
           other = a == 1 ? MAT_INFINITY_F32 : MAT_NAN_F32;
    y = a < 1 ? y : other;
    return a < 0x1p-12f ? x : mat_signed_f32(y, x);
}

/* The larger one, and what the other adds to it */
INLINE double mat_logaddexp_f64(double x, double y)
{
    double off = x - y, more = mat_log1p_f64(mat_exp_f64(-mat_abs_f64(off)));
    double sum = (off > 0 ? x : y) + (x == y ? MAT_LN2 : more);
    return (off == off) | (x == y) ? sum : off;
}

INLINE float mat_logaddexp_f32(float x, float y)
{
    float larger = x > y ? x : y, off = x - y;
    double a = x == y ? 0 : mat_abs_f64((double)x - y), scale; /* infinities may be equal, too */
    double p = mat_exp_narrow(a > 700 ? -700 : -a, &scale);
    double e = FMA(scale, p, scale), u = 1 + e, sum = larger + mat_log_sum_narrow(u, e - (u - 1));
    return (off == off) | (x == y) ? (float)sum : off;
}

#endif
