/* Sine, cosine and tangent of double on the device, of any argument. CUDA's own functions need
   local memory where arguments are large. */
#ifndef MAT_TRIG_CUH
#define MAT_TRIG_CUH

#include "elements.cuh"
#include "trig_inline.h"

/* 2 / pi in words of 64 bits, after one of zeros. */
static __device__ const uint64_t mat_two_over_pi[] = {
    0x0000000000000000ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull,
    0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull,
    0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull,
    0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull,
    0xf0cfbc209af4361dull,
};

/* x = n pi / 2 + r + low for |x| >= 2^19, as mat_trig_reduce_f64 has it for others, by the method
   of Payne and Hanek (ACM SIGNUM Newsletter 18, 1983). Of 2 / pi only those bits matter that do not
   make multiples of 2 pi of x: 192 of them leave more than 120 after the binary point, of which at
   most 62 are zeros. */
MAT_INSIDE double mat_trig_reduce_far(double x, double *low, uint64_t *quarters) {
    const uint64_t bits = mat_bits(x), mantissa = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
    const int first = (int)(bits >> 52 & 0x7ff) - 1075 + 62, shift = first & 63;
    const uint64_t *word = mat_two_over_pi + (first >> 6);
    uint64_t part[3];
#pragma unroll
    for (int k = 0; k < 3; k++)
        part[k] = shift ? word[k] << shift | word[k + 1] >> (64 - shift) : word[k];
    uint64_t p0 = mantissa * part[2], carried = __umul64hi(mantissa, part[2]),
             p1 = mantissa * part[1] + carried;
    uint64_t p2 = mantissa * part[0] + __umul64hi(mantissa, part[1]) + (p1 < carried);
    const uint64_t n = (p2 + (1ull << 61)) >> 62;
    p2 -= n << 62;
    const bool below = p2 >> 63;
    if (below) {
        p0 = ~p0 + 1;
        p1 = ~p1 + (p0 == 0);
        p2 = ~p2 + (p0 == 0 && p1 == 0);
    }
    int zeros = 0;
    if (p2 == 0) p2 = p1, p1 = p0, p0 = 0, zeros = 64;
    const int more = __clzll((int64_t)p2);
    if (more) p2 = p2 << more | p1 >> (64 - more), p1 = p1 << more | p0 >> (64 - more);
    const double scale = mat_of_bits((uint64_t)(1023 - 62 - zeros - more) << 52);
    const double a = (double)(p2 & ~0x7ffull) * scale,
                 b = ((double)(p2 & 0x7ff) + (double)p1 * 0x1p-64) * scale;
    const double quarter = 0x1.921fb54442d18p+0, head = a * quarter;
    const double tail = fma(a, quarter, -head) + (a * 0x1.1a62633145c07p-54 + b * quarter);
    const double r = head + tail, rest = tail - (r - head);
    const bool negative = below != (bool)(bits >> 63);
    *low = negative ? -rest : rest;
    *quarters = bits >> 63 ? 0 - n : n;
    return negative ? -r : r;
}

MAT_INSIDE double mat_trig_reduce(double x, double *low, uint64_t *quarters) {
    return fabs(x) < 0x1p19 ? mat_trig_reduce_f64(x, low, quarters)
                            : mat_trig_reduce_far(x, low, quarters);
}

MAT_INSIDE double mat_sine(double x, uint64_t first) {
    if (x - x != 0) return x - x;
    double low;
    uint64_t n;
    const double r = mat_trig_reduce(x, &low, &n);
    return mat_sine_reduced_f64(r, low, n + first);
}

MAT_INSIDE double mat_sin(double x) { return fabs(x) < 0x1p-27 ? x : mat_sine(x, 0); }
MAT_INSIDE double mat_cos(double x) { return mat_sine(x, 1); }
MAT_INSIDE double mat_tan(double x) {
    if (fabs(x) < 0x1p-27 || x - x != 0) return fabs(x) < 1 ? x : x - x;
    double low;
    uint64_t n;
    const double r = mat_trig_reduce(x, &low, &n);
    return mat_tan_reduced_f64(r, low, n);
}

#endif
