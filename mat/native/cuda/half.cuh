/* The floats of 8 and 16 bits on the device, which kernels see as their bits, as numbers of 32 bits
   and back: to nearest, ties to even. */
#ifndef MAT_HALF_CUH
#define MAT_HALF_CUH

#include "device.cuh"

/* The instructions of newer GPUs for 8 bits make the largest finite number of what is too large. */
#include "float8_inline.h"

/* Elements of 8 and 16 bits, as they are stored */
struct mat_e4m3 { uint8_t bits; };
struct mat_e5m2 { uint8_t bits; };
struct mat_f16 { uint16_t bits; };
struct mat_bf16 { uint16_t bits; };

/* Where there is no instruction for it: compute capability below 8.0. */
INLINE uint16_t to_bfloat_by_integers(float x) {
    uint32_t bits = __float_as_uint(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff; /* NaN, as the instruction has it */
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

#if defined(MAT_ON_CPU) /* on a GPU there is an instruction for each */
#include "half_inline.h"
#else
INLINE float from_bfloat(uint16_t bits) {
    return __uint_as_float((uint32_t)bits << 16);
}

INLINE float from_half(uint16_t bits) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}

INLINE uint16_t to_half(float x) {
    uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}

INLINE uint16_t to_bfloat(float x) {
#if __CUDA_ARCH__ < 800
    return to_bfloat_by_integers(x);
#else
    uint16_t bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
#endif
}
#endif

#endif
