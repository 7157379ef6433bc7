/* The 8-bit floats as numbers of 32 bits and back, to nearest, ties to even, as ml_dtypes converts
   them; without branches, so that the compiler vectorises loops over them.

   e4m3: a sign, 4 bits of exponent and 3 more, without infinities. What is too large becomes NaN.
   e5m2: the upper byte of a 16-bit float. What is too large becomes infinite. */
#ifndef MAT_FLOAT8_INLINE_H
#define MAT_FLOAT8_INLINE_H

#include "bits_inline.h"

/* The exponent moves by 120. Subnormal numbers are made normal by an addition that is exact, so
   flushing does not matter. */
INLINE float from_e4m3(uint8_t x) {
    const uint32_t rest = (uint32_t)(x & 0x7f) << 20, sign = (uint32_t)(x & 0x80) << 24;
    const uint32_t small =
        mat_bits_f32(mat_of_bits_f32(rest + (121u << 23)) - mat_of_bits_f32(121u << 23));
    const uint32_t moved = (x & 0x7f) == 0x7f ? 0x7fc00000u : rest + (120u << 23);
    return mat_of_bits_f32((rest < (1u << 23) ? small : moved) | sign);
}

INLINE uint8_t to_e4m3(float x) {
    const uint32_t bits = mat_bits_f32(x), rest = bits & 0x7fffffffu;
    /* its last bit is worth 2^-9 */
    const uint32_t small = mat_bits_f32(mat_of_bits_f32(rest) + 16384.0f) - (141u << 23);
    const uint32_t moved = (rest - (120u << 23) + 0x7ffffu + ((rest >> 20) & 1u)) >> 20;
    const uint32_t large = moved < 0x7fu ? moved : 0x7fu;
    return (uint8_t)((rest < (121u << 23) ? small : large) | (bits >> 24 & 0x80u));
}

/* The exponent moves by 112. */
INLINE float from_e5m2(uint8_t x) {
    const uint32_t rest = (uint32_t)(x & 0x7f) << 21, sign = (uint32_t)(x & 0x80) << 24;
    const uint32_t small =
        mat_bits_f32(mat_of_bits_f32(rest + (113u << 23)) - mat_of_bits_f32(113u << 23));
    const uint32_t special = (x & 0x7f) > 0x7c ? 0x7fc00000u : 0x7f800000u;
    const uint32_t moved = (x & 0x7f) >= 0x7c ? special : rest + (112u << 23);
    return mat_of_bits_f32((rest < (1u << 23) ? small : moved) | sign);
}

INLINE uint8_t to_e5m2(float x) {
    const uint32_t bits = mat_bits_f32(x), rest = bits & 0x7fffffffu;
    /* its last bit is worth 2^-16 */
    const uint32_t small = mat_bits_f32(mat_of_bits_f32(rest) + 128.0f) - (134u << 23);
    const uint32_t moved = (rest - (112u << 23) + 0xfffffu + ((rest >> 21) & 1u)) >> 21;
    const uint32_t large = rest > 0x7f800000u ? 0x7eu : moved < 0x7cu ? moved : 0x7cu;
    return (uint8_t)((rest < (113u << 23) ? small : large) | (bits >> 24 & 0x80u));
}

#endif
