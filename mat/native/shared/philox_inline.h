/* Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random
   numbers: as easy as 1, 2, 3" (2011): a block of four 32-bit words is a function of a 128-bit
   counter and a 64-bit key. */
#ifndef MAT_PHILOX_INLINE_H
#define MAT_PHILOX_INLINE_H

#include "bits_inline.h"

#if !defined(__cplusplus) && defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define PHILOX_VECTORS
#endif

#define PHILOX_LEFT 0xD2511F53u
#define PHILOX_RIGHT 0xCD9E8D57u
#define PHILOX_KEY0 0x9E3779B9u /* added to the key from round to round */
#define PHILOX_KEY1 0xBB67AE85u

#if defined(__cplusplus) /* on the device, where the words must remain in registers */
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED
#endif

/* The words of the counter `c` under the key (key0, key1), in place. */
INLINE void philox(uint32_t c[4], uint32_t key0, uint32_t key1) {
    UNROLLED
    for (int round = 0; round < 10; round++) {
        uint64_t left = (uint64_t)PHILOX_LEFT * c[0], right = (uint64_t)PHILOX_RIGHT * c[2];
        c[0] = (uint32_t)(right >> 32) ^ c[1] ^ key0;
        c[1] = (uint32_t)right;
        c[2] = (uint32_t)(left >> 32) ^ c[3] ^ key1;
        c[3] = (uint32_t)left;
        key0 += PHILOX_KEY0;
        key1 += PHILOX_KEY1;
    }
}

#if !defined(__cplusplus) /* on the device each thread makes a block of its own */
enum { BATCH = 64 }; /* blocks that are made at a time */

/* w[j][i] is word j of block `first` + i. */
typedef void philox_batch(uint64_t first, uint32_t key0, uint32_t key1, uint32_t w[4][BATCH]);

INLINE void philox_batch_plain(uint64_t first, uint32_t key0, uint32_t key1, uint32_t w[4][BATCH]) {
    for (int i = 0; i < BATCH; i++) {
        uint64_t block = first + (uint64_t)i;
        uint32_t c[4] = {(uint32_t)block, (uint32_t)(block >> 32), 0, 0};
        philox(c, key0, key1);
        w[0][i] = c[0], w[1][i] = c[1], w[2][i] = c[2], w[3][i] = c[3];
    }
}

#if defined(PHILOX_VECTORS)
/* The same in vectors V of 64-bit lanes, of which the lower halves are used: MULTIPLY is the
   instruction for that, which compilers do not find. Two vectors at a time, of even and of odd
   blocks, make one of words. */
#define PHILOX_BATCH(name, TARGET, V, MULTIPLY) \
    typedef uint64_t name##_lanes __attribute__((vector_size(sizeof(V)), may_alias, aligned(4))); \
    __attribute__((target(TARGET))) static void name(uint64_t first, uint32_t key0, uint32_t key1, \
                                                     uint32_t w[4][BATCH]) { \
        enum { LANES = sizeof(V) / 8 }; \
        name##_lanes even; \
        const name##_lanes low = {0}, left = low + PHILOX_LEFT, right = low + PHILOX_RIGHT; \
        for (int k = 0; k < LANES; k++) even[k] = first + 2 * (uint64_t)k; \
        for (int i = 0; i < BATCH; i += 2 * LANES, even += 2 * LANES) { \
            name##_lanes a[4] = {even, even >> 32, low, low}; \
            name##_lanes b[4] = {even + 1, (even + 1) >> 32, low, low}; \
            uint32_t k0 = key0, k1 = key1; \
            _Pragma("GCC unroll 10") for (int round = 0; round < 10; round++) { \
                name##_lanes la = (name##_lanes)MULTIPLY((V)a[0], (V)left), \
                             ra = (name##_lanes)MULTIPLY((V)a[2], (V)right); \
                name##_lanes lb = (name##_lanes)MULTIPLY((V)b[0], (V)left), \
                             rb = (name##_lanes)MULTIPLY((V)b[2], (V)right); \
                a[0] = (ra >> 32) ^ a[1] ^ k0, a[1] = ra, a[2] = (la >> 32) ^ a[3] ^ k1, \
                a[3] = la; \
                b[0] = (rb >> 32) ^ b[1] ^ k0, b[1] = rb, b[2] = (lb >> 32) ^ b[3] ^ k1, \
                b[3] = lb; \
                k0 += PHILOX_KEY0; \
                k1 += PHILOX_KEY1; \
            } \
            for (int j = 0; j < 4; j++) \
                *(name##_lanes *)&w[j][i] = (a[j] & 0xffffffffu) | b[j] << 32; \
        } \
    }

PHILOX_BATCH(philox_batch_v3, "avx2", __m256i, _mm256_mul_epu32)
PHILOX_BATCH(philox_batch_v4, "avx512f", __m512i, _mm512_mul_epu32)
#endif
#endif

#endif
