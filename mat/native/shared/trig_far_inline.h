/* Sine, cosine and tangent of double and float, for C and for the device, of any argument. */
#ifndef MAT_TRIG_FAR_INLINE_H
#define MAT_TRIG_FAR_INLINE_H

#include "trig_inline.h"
#include "vmath_f32_inline.h"
#include "vmath_f64_inline.h"

/* Multiples of pi / 2 are counted in 20 bits, by which the parts of pi / 2 are shortened. */
#define MAT_LIMIT_sin_f64 0x1p19
#define MAT_LIMIT_cos_f64 MAT_LIMIT_sin_f64
#define MAT_LIMIT_tan_f64 MAT_LIMIT_sin_f64
#define MAT_LIMIT_sin_f32 0x1p21f
#define MAT_LIMIT_cos_f32 MAT_LIMIT_sin_f32
#define MAT_LIMIT_tan_f32 MAT_LIMIT_sin_f32

/* 2 / pi in words of 64 bits, after one of zeros. */
MAT_TABLE uint64_t mat_two_over_pi[] = {
    0x0000000000000000ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull,
    0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull,
    0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull,
    0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull,
    0xf0cfbc209af4361dull,
};

/* x = n pi / 2 + r + low for |x| > 2^19, as mat_trig_reduce_f64 has it for others, by the method
   of Payne and Hanek (ACM SIGNUM Newsletter 18, 1983). Of 2 / pi only those bits matter that do not
   make multiples of 2 pi of x: 192 of them leave more than 120 after the binary point, of which at
   most 62 are zeros. */
INLINE double mat_trig_reduce_far(double x, double *low, uint64_t *quarters)
{
    const uint64_t bits = mat_bits_f64(x),
                   mantissa = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
    const int first = (int)(bits >> 52 & 0x7ff) - 1075 + 62, shift = first & 63;
    const uint64_t *word = mat_two_over_pi + (first >> 6);
    uint64_t part[3];
#if defined(__cplusplus)
#pragma unroll
#endif
    for (int k = 0; k < 3; k++)
        part[k] = shift ? word[k] << shift | word[k + 1] >> (64 - shift) : word[k];
    uint64_t p0 = mantissa * part[2], carried = mat_high_product(mantissa, part[2]),
             p1 = mantissa * part[1] + carried;
    uint64_t p2 = mantissa * part[0] + mat_high_product(mantissa, part[1]) + (p1 < carried);
    const uint64_t n = (p2 + (1ull << 61)) >> 62;
    p2 -= n << 62;
    const int below = (int)(p2 >> 63);
    if (below) {
        p0 = ~p0 + 1;
        p1 = ~p1 + (p0 == 0);
        p2 = ~p2 + (p0 == 0 && p1 == 0);
    }
    int zeros = 0;
    if (p2 == 0) p2 = p1, p1 = p0, p0 = 0, zeros = 64;
    const int more = mat_leading_zeros(p2);
    if (more) p2 = p2 << more | p1 >> (64 - more), p1 = p1 << more | p0 >> (64 - more);
    const double scale = mat_of_bits_f64((uint64_t)(1023 - 62 - zeros - more) << 52);
    const double a = (double)(p2 & ~0x7ffull) * scale,
                 b = FMA((double)p1, 0x1p-64, (double)(p2 & 0x7ff)) * scale;
    const double quarter = 0x1.921fb54442d18p+0, head = a * quarter;
    const double tail = fma(a, quarter, -head) + FMA(a, 0x1.1a62633145c07p-54, b * quarter);
    const double r = head + tail, rest = tail - (r - head);
    const int negative = below != (int)(bits >> 63);
    *low = negative ? -rest : rest;
    *quarters = bits >> 63 ? 0 - n : n;
    return negative ? -r : r;
}

INLINE double mat_trig_reduce_any(double x, double *low, uint64_t *quarters)
{
    return mat_abs_f64(x) <= MAT_LIMIT_sin_f64 ? mat_trig_reduce_f64(x, low, quarters)
                                               : mat_trig_reduce_far(x, low, quarters);
}

INLINE double mat_wide_sine_f64(double x, uint64_t first)
{
    double low, r;
    uint64_t n;
    if (x - x != 0) return x - x;
    r = mat_trig_reduce_any(x, &low, &n);
    return mat_sine_reduced_f64(r, low, n + first);
}

INLINE double mat_wide_sin_f64(double x)
{
    return mat_abs_f64(x) < 0x1p-27 ? x : mat_wide_sine_f64(x, 0);
}

INLINE double mat_wide_cos_f64(double x)
{
    return mat_wide_sine_f64(x, 1);
}

INLINE double mat_wide_tan_f64(double x)
{
    double low, r;
    uint64_t n;
    if (mat_abs_f64(x) < 0x1p-27) return x;
    if (x - x != 0) return x - x;
    r = mat_trig_reduce_any(x, &low, &n);
    return mat_tan_reduced_f64(r, low, n);
}

#define MAT_WIDE(name) \
    INLINE float mat_wide_##name##_f32(float x) { \
        return mat_abs_f32(x) > MAT_LIMIT_##name##_f32 ? (float)mat_wide_##name##_f64(x) \
                                                       : mat_##name##_f32(x); \
    }
MAT_WIDE(sin)
MAT_WIDE(cos)
MAT_WIDE(tan)
#undef MAT_WIDE

#endif
