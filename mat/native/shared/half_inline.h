/* The 16-bit floats as numbers of 32 bits and back, without branches, so that the compiler
   vectorises loops over them. */
#ifndef MAT_HALF_INLINE_H
#define MAT_HALF_INLINE_H

#include "bits_inline.h"

/* The exponent moves by 112. Subnormal halves are made normal by an addition that is exact, so
   flushing does not matter. */
INLINE float from_half(uint16_t half) {
    const uint32_t rest = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t small =
        mat_bits_f32(mat_of_bits_f32(rest + (113u << 23)) - mat_of_bits_f32(113u << 23));
    const uint32_t moved = rest + ((rest >= (31u << 23) ? 224u : 112u) << 23);
    return mat_of_bits_f32((rest < (1u << 23) ? small : moved) | sign);
}

/* To nearest, ties to even; too large a number becomes infinite. */
INLINE uint16_t to_half(float x) {
    const uint32_t bits = mat_bits_f32(x), rest = bits & 0x7fffffffu;
    const uint32_t special = rest > 0x7f800000u ? 0x7e00u : 0x7c00u;
    /* its last bit is worth 2^-24 */
    const uint32_t small = mat_bits_f32(mat_of_bits_f32(rest) + 0.5f) - (126u << 23);
    const uint32_t moved = (rest - (112u << 23) + 0xfffu + ((rest >> 13) & 1u)) >> 13;
    const uint32_t half = rest >= (143u << 23) ? special : rest < (113u << 23) ? small : moved;
    return (uint16_t)(half | (bits >> 16 & 0x8000u));
}

INLINE float from_bfloat(uint16_t x) { return mat_of_bits_f32((uint32_t)x << 16); }

INLINE uint16_t to_bfloat(float x) {
    const uint32_t bits = mat_bits_f32(x);
    const uint32_t nearest = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, nan = bits >> 16 | 0x40u;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? nan : nearest);
}

#endif
