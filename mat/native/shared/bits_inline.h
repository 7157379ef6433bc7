/* What the other headers in this folder are written in, for C and for the device: INLINE,
   fixed-width integers, and floating-point numbers as their bits.

   Kernel source for the device is always C++, a file for the CPU always C. */
#ifndef MAT_BITS_INLINE_H
#define MAT_BITS_INLINE_H

/* Added to a number, it leaves the nearest integer, which is also in the lowest bits of the sum. */
#define MAT_ROUNDER 0x1.8p52

#if defined(__cplusplus)

#include "device.cuh"

#define INLINE static __device__ __forceinline__

INLINE uint32_t mat_bits_f32(float x) { return __float_as_uint(x); }
INLINE float mat_of_bits_f32(uint32_t u) { return __uint_as_float(u); }
INLINE uint64_t mat_bits_f64(double x) { return (uint64_t)__double_as_longlong(x); }
INLINE double mat_of_bits_f64(uint64_t u) { return __longlong_as_double((int64_t)u); }

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

#endif

#endif
