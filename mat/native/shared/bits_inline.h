/* What the other headers in this folder are written in, for C and for the device: INLINE,
   fixed-width integers, floating-point numbers as their bits, and FMA.

   FMA(a, b, c), and FMAF of floats, is a * b + c rounded once, so that every compiler gives the
   same bits: files that include this are compiled with contraction off. Only where neither the
   machine that is compiled for nor a clone has the instruction it is rounded twice. fma() is for
   products that have to be exact: without the instruction the C library computes it, slowly.

   Kernel source for the device is always C++, a file for the CPU always C. */
#ifndef MAT_BITS_INLINE_H
#define MAT_BITS_INLINE_H

/* Added to a number, it leaves the nearest integer, which is also in the lowest bits of the sum. */
#define MAT_ROUNDER 0x1.8p52

#if defined(__cplusplus)

#include "device.cuh"

INLINE uint32_t mat_bits_f32(float x) { return __float_as_uint(x); }
INLINE float mat_of_bits_f32(uint32_t u) { return __uint_as_float(u); }
INLINE uint64_t mat_bits_f64(double x) { return (uint64_t)__double_as_longlong(x); }
INLINE double mat_of_bits_f64(uint64_t u) { return __longlong_as_double((int64_t)u); }
INLINE uint64_t mat_high_product(uint64_t a, uint64_t b) { return __umul64hi(a, b); }
INLINE int mat_leading_zeros(uint64_t u) { return __clzll((int64_t)u); }

#define MAT_TABLE static __device__ const
#define FMA(a, b, c) fma((double)(a), (double)(b), (double)(c)) /* which is overloaded */
#define FMAF(a, b, c) fmaf(a, b, c)
#if !defined(UINT64_C) /* by NVRTC, which has no headers */
#define UINT64_C(value) value##ull
#define UINT32_C(value) value##u
#endif

#else

#include "mat.h"

INLINE uint32_t mat_bits_f32(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

INLINE float mat_of_bits_f32(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

INLINE uint64_t mat_bits_f64(double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

INLINE double mat_of_bits_f64(uint64_t u) {
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* The upper half of a product of 128 bits */
INLINE uint64_t mat_high_product(uint64_t a, uint64_t b) {
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

/* Of u, which is not 0 */
INLINE int mat_leading_zeros(uint64_t u) { return __builtin_clzll(u); }

#define MAT_TABLE static const
#if defined(FP_FAST_FMA) || defined(MAT_HAS_CLONES)
#define FMA(a, b, c) fma(a, b, c)
#define FMAF(a, b, c) fmaf(a, b, c)
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#define FMAF(a, b, c) ((a) * (b) + (c))
#endif

#endif

#define MAT_INFINITY_F32 mat_of_bits_f32(UINT32_C(0x7f800000))
#define MAT_INFINITY_F64 mat_of_bits_f64(UINT64_C(0x7ff0000000000000))
#define MAT_NAN_F32 mat_of_bits_f32(UINT32_C(0x7fc00000))
#define MAT_NAN_F64 mat_of_bits_f64(UINT64_C(0x7ff8000000000000))

#endif
