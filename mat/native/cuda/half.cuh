/* The 16-bit floats, of which kernels for the device see the bits, as numbers of 32 bits and back:
   to nearest, ties to even. */
#ifndef MAT_HALF_CUH
#define MAT_HALF_CUH

#include "device.cuh"

static __device__ __forceinline__ float from_bfloat(uint16_t bits) {
    return __uint_as_float((uint32_t)bits << 16);
}

#if defined(MAT_ON_CPU)
/* As half_inline.h does it; on the device there is an instruction for each. */
static inline float from_half(uint16_t half) {
    const uint32_t rest = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t small =
        __float_as_uint(__uint_as_float(rest + (113u << 23)) - __uint_as_float(113u << 23));
    const uint32_t moved = rest + ((rest >= (31u << 23) ? 224u : 112u) << 23);
    return __uint_as_float((rest < (1u << 23) ? small : moved) | sign);
}

static inline uint16_t to_half(float x) {
    const uint32_t bits = __float_as_uint(x), rest = bits & 0x7fffffffu;
    const uint32_t special = rest > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const uint32_t small = __float_as_uint(__uint_as_float(rest) + 0.5f) - (126u << 23);
    const uint32_t moved = (rest - (112u << 23) + 0xfffu + ((rest >> 13) & 1u)) >> 13;
    const uint32_t half = rest >= (143u << 23) ? special : rest < (113u << 23) ? small : moved;
    return (uint16_t)(half | (bits >> 16 & 0x8000u));
}

static inline uint16_t to_bfloat(float x) {
    const uint32_t bits = __float_as_uint(x);
    const uint32_t nearest = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, nan = bits >> 16 | 0x40u;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? nan : nearest);
}
#else
static __device__ __forceinline__ float from_half(uint16_t bits) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}

static __device__ __forceinline__ uint16_t to_half(float x) {
    uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}

static __device__ __forceinline__ uint16_t to_bfloat(float x) {
    uint16_t bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}
#endif

#endif
