/* Numbers of a call as elements of the types that kernels compute with. */
#ifndef MAT_NUMBER_INLINE_H
#define MAT_NUMBER_INLINE_H

#include "half_inline.h"

/* The bits of a double that a float has no room for. */
#define MAT_CUT ((1ull << 29) - 1)

/* A double as half, by way of a float, whose last bit is set if anything is lost, so that the
   number is rounded once. Adding MAT_CUT to what is lost carries into that bit unless it is 0. */
INLINE uint16_t half_of_double(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits | ((bits & MAT_CUT) + MAT_CUT)) & ~MAT_CUT;
    memcpy(&x, &bits, sizeof x);
    return to_half((float)x);
}

/* A number, given as a pair of doubles, as one element of `size` bytes. */
static inline void mat_number(char *to, char kind, int64_t size, const char *from) {
    double pair[2];
    memcpy(pair, from, sizeof pair);
    float half[2] = {(float)pair[0], (float)pair[1]};
    const int64_t whole = kind == 'i' ? (int64_t)pair[0] : 0;
    const int8_t whole8 = (int8_t)whole;
    const int16_t whole16 = (int16_t)whole;
    const int32_t whole32 = (int32_t)whole;
    switch (kind) {
    case 'e': half[0] = from_half(half_of_double(pair[0])); memcpy(to, half, sizeof(float)); break;
    case 'E': half[0] = from_bfloat(to_bfloat(half[0])); memcpy(to, half, sizeof(float)); break;
    case 'i':
        memcpy(to, size == 1 ? (const char *)&whole8 : size == 2 ? (const char *)&whole16
               : size == 4 ? (const char *)&whole32 : (const char *)&whole, (size_t)size);
        break;
    case 'f': memcpy(to, half, sizeof(float)); break;
    case 'F': memcpy(to, half, sizeof half); break;
    case 'd': memcpy(to, pair, sizeof(double)); break;
    default: memcpy(to, pair, sizeof pair); break;
    }
}

#endif
