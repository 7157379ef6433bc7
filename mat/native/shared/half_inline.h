/* The 16-bit floats as numbers of 32 bits and back, without branches, so that loops over them
   become vectors. */
#ifndef HALF_INLINE_H
#define HALF_INLINE_H

#include "mat.h"

INLINE float bits_as_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE uint32_t float_as_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The exponent moves by 112. Subnormal halves are made normal by an addition that is exact, so
   flushing does not matter. */
INLINE float from_half(uint16_t half) {
    const uint32_t rest = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t small =
        float_as_bits(bits_as_float(rest + (113u << 23)) - bits_as_float(113u << 23));
    const uint32_t moved = rest + ((rest >= (31u << 23) ? 224u : 112u) << 23);
    return bits_as_float((rest < (1u << 23) ? small : moved) | sign);
}

/* To nearest, ties to even; what is too large becomes infinite. */
INLINE uint16_t to_half(float x) {
    const uint32_t bits = float_as_bits(x), rest = bits & 0x7fffffffu;
    const uint32_t special = rest > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const uint32_t small =
        float_as_bits(bits_as_float(rest) + 0.5f) - (126u << 23); /* its last bit is worth 2^-24 */
    const uint32_t moved = (rest - (112u << 23) + 0xfffu + ((rest >> 13) & 1u)) >> 13;
    const uint32_t half = rest >= (143u << 23) ? special : rest < (113u << 23) ? small : moved;
    return (uint16_t)(half | (bits >> 16 & 0x8000u));
}

INLINE float from_bfloat(uint16_t x) { return bits_as_float((uint32_t)x << 16); }

INLINE uint16_t to_bfloat(float x) {
    const uint32_t bits = float_as_bits(x);
    const uint32_t nearest = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, nan = bits >> 16 | 0x40u;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? nan : nearest);
}

#endif
