/* Square tiles of units, transposed in vectors.

   A vector of W bytes has lanes of 16 bytes (one of 8, if it is that short). First the units within
   lanes are transposed, by interleaving the first half of the rows with the second again and again;
   then whole lanes. Every instruction that this needs exists since SSE2, and as wide as vectors
   have become. */

#ifndef MAT_TRANSPOSE_INLINE_H
#define MAT_TRANSPOSE_INLINE_H

#include "mat.h"

typedef uint8_t unit_1 __attribute__((may_alias));
typedef uint16_t unit_2 __attribute__((aligned(1), may_alias));
typedef uint32_t unit_4 __attribute__((aligned(1), may_alias));
typedef uint64_t unit_8 __attribute__((aligned(1), may_alias));
typedef struct { uint64_t half[2]; } __attribute__((packed, aligned(1), may_alias)) unit_16;

#define VECTORS(W)                                        \
    typedef uint8_t v##W##_1 __attribute__((vector_size(W)));  \
    typedef uint16_t v##W##_2 __attribute__((vector_size(W))); \
    typedef uint32_t v##W##_4 __attribute__((vector_size(W))); \
    typedef uint64_t v##W##_8 __attribute__((vector_size(W)));
VECTORS(8)
VECTORS(16)
VECTORS(32)
VECTORS(64)
typedef uint32_t v4_8; /* not a vector, but moved like one */

/* Indices into a pair of vectors of n units each: the b-th of both, and those after it */
#define P1(b, n) b, b + n
#define P2(b, n) P1(b, n), P1(b + 1, n)
#define P4(b, n) P2(b, n), P2(b + 2, n)
#define P8(b, n) P4(b, n), P4(b + 4, n)

/* a and b interleaved, the first and the second half of each lane, by the indices `FIRST` and
   `SECOND` */
#define ZIPPED(W, U, FIRST, SECOND)                                       \
    INLINE void zip_##W##_##U(v##W##_8 *a, v##W##_8 *b) {                 \
        const v##W##_##U x = (v##W##_##U)*a, y = (v##W##_##U)*b;          \
        *a = (v##W##_8)__builtin_shufflevector(x, y, FIRST);              \
        *b = (v##W##_8)__builtin_shufflevector(x, y, SECOND);             \
    }
#define AND ,
ZIPPED(8, 1, P4(0, 8), P4(4, 8))
ZIPPED(8, 2, P2(0, 4), P2(2, 4))
ZIPPED(16, 1, P8(0, 16), P8(8, 16))
ZIPPED(16, 2, P4(0, 8), P4(4, 8))
ZIPPED(16, 4, P2(0, 4), P2(2, 4))
ZIPPED(16, 8, P1(0, 2), P1(1, 2))
ZIPPED(32, 1, P8(0, 32) AND P8(16, 32), P8(8, 32) AND P8(24, 32))
ZIPPED(32, 2, P4(0, 16) AND P4(8, 16), P4(4, 16) AND P4(12, 16))
ZIPPED(32, 4, P2(0, 8) AND P2(4, 8), P2(2, 8) AND P2(6, 8))
ZIPPED(32, 8, P1(0, 4) AND P1(2, 4), P1(1, 4) AND P1(3, 4))
ZIPPED(64, 1, P8(0, 64) AND P8(16, 64) AND P8(32, 64) AND P8(48, 64),
       P8(8, 64) AND P8(24, 64) AND P8(40, 64) AND P8(56, 64))
ZIPPED(64, 2, P4(0, 32) AND P4(8, 32) AND P4(16, 32) AND P4(24, 32),
       P4(4, 32) AND P4(12, 32) AND P4(20, 32) AND P4(28, 32))
ZIPPED(64, 4, P2(0, 16) AND P2(4, 16) AND P2(8, 16) AND P2(12, 16),
       P2(2, 16) AND P2(6, 16) AND P2(10, 16) AND P2(14, 16))
ZIPPED(64, 8, P1(0, 8) AND P1(2, 8) AND P1(4, 8) AND P1(6, 8),
       P1(1, 8) AND P1(3, 8) AND P1(5, 8) AND P1(7, 8))

/* One lane, two by two lanes, four by four lanes transposed */
INLINE void cross_8(v8_8 *x) {}
INLINE void cross_16(v16_8 *x) {}
INLINE void cross_32(v32_8 *x) {
    const v32_8 a = x[0], b = x[1];
    x[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    x[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
}
INLINE void cross_64(v64_8 *x) {
    const v64_8 a = __builtin_shufflevector(x[0], x[1], 0, 1, 2, 3, 8, 9, 10, 11);
    const v64_8 b = __builtin_shufflevector(x[0], x[1], 4, 5, 6, 7, 12, 13, 14, 15);
    const v64_8 c = __builtin_shufflevector(x[2], x[3], 0, 1, 2, 3, 8, 9, 10, 11);
    const v64_8 d = __builtin_shufflevector(x[2], x[3], 4, 5, 6, 7, 12, 13, 14, 15);
    x[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5, 8, 9, 12, 13);
    x[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7, 10, 11, 14, 15);
    x[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5, 8, 9, 12, 13);
    x[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7, 10, 11, 14, 15);
}

/* KEEP stores a vector to any address; STREAM to an aligned one, past the caches, since it will not
   be read soon */
#define KEEP(W, d, v) memcpy(d, &v, W)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define STREAM(W, d, v) STREAM_##W(d, v)
#define STREAM_4(d, v) KEEP(4, d, v)
#define STREAM_8(d, v) KEEP(8, d, v)
#define STREAM_16(d, v) __builtin_ia32_movntdq((w16 *)(d), (w16)(v))
#define STREAM_32(d, v) __builtin_ia32_movntdq256((w32 *)(d), (w32)(v))
#define STREAM_64(d, v) __builtin_ia32_movntdq512((w64 *)(d), (w64)(v))
typedef long long w16 __attribute__((vector_size(16), may_alias));
typedef long long w32 __attribute__((vector_size(32), may_alias));
typedef long long w64 __attribute__((vector_size(64), may_alias));
#else
#define STREAM(W, d, v) KEEP(W, d, v)
#endif

#define UNROLL _Pragma("GCC unroll 64")

/* The L rows of one lane each at r, transposed within the lanes */
#define LANES(W, U, L)                                        \
    INLINE void lanes_##W##_##U(v##W##_8 *r) {                \
        UNROLL for (int round = 1; round < L; round *= 2) {   \
            v##W##_8 t[L];                                    \
            UNROLL for (int k = 0; k < L / 2; k++) {          \
                t[2 * k] = r[k];                              \
                t[2 * k + 1] = r[k + L / 2];                  \
                zip_##W##_##U(&t[2 * k], &t[2 * k + 1]);      \
            }                                                 \
            UNROLL for (int k = 0; k < L; k++) r[k] = t[k];   \
        }                                                     \
    }

/* A tile of W bytes square, transposed: rows lie si apart in the source */
#define TRANSPOSED(W, U, L)                                                                      \
    LANES(W, U, L)                                                                               \
    INLINE void transposed_##W##_##U(v##W##_8 *t, const char *s, int64_t si) {                   \
        enum { G = W / U / L };                                                                  \
        v##W##_8 r[G * L];                                                                       \
        UNROLL for (int k = 0; k < G * L; k++) memcpy(&r[k], s + k * si, W);                     \
        UNROLL for (int g = 0; g < G; g++) lanes_##W##_##U(r + g * L);                           \
        UNROLL for (int q = 0; q < L; q++) {                                                     \
            v##W##_8 x[G];                                                                       \
            UNROLL for (int g = 0; g < G; g++) x[g] = r[g * L + q];                              \
            cross_##W(x);                                                                        \
            UNROLL for (int g = 0; g < G; g++) t[g * L + q] = x[g];                              \
        }                                                                                        \
    }

/* Units as wide as a lane remain as they are */
INLINE void zip_32_16(v32_8 *a, v32_8 *b) {}
INLINE void zip_64_16(v64_8 *a, v64_8 *b) {}

TRANSPOSED(8, 1, 8)
TRANSPOSED(8, 2, 4)
TRANSPOSED(16, 1, 16)
TRANSPOSED(16, 2, 8)
TRANSPOSED(16, 4, 4)
TRANSPOSED(16, 8, 2)
TRANSPOSED(32, 1, 16)
TRANSPOSED(32, 2, 8)
TRANSPOSED(32, 4, 4)
TRANSPOSED(32, 8, 2)
TRANSPOSED(32, 16, 1)
TRANSPOSED(64, 1, 16)
TRANSPOSED(64, 2, 8)
TRANSPOSED(64, 4, 4)
TRANSPOSED(64, 8, 2)
TRANSPOSED(64, 16, 1)

/* The same for four by four bytes, in one vector */
INLINE void transposed_4_1(v4_8 *t, const char *s, int64_t si) {
    v16_1 x;
    for (int k = 0; k < 4; k++)
        memcpy((char *)&x + 4 * k, s + k * si, 4);
    x = __builtin_shufflevector(x, x, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    memcpy(t, &x, 16);
}

/* Three rows a, b, c of n units zipped to three vectors: the index of the p-th unit of the q-th
   vector, first in (a, b), then in (that, c); and three vectors unzipped again */
#define ZIP_AB(n, q, p) \
    ((q * n + p) % 3 == 0 ? (q * n + p) / 3 : (q * n + p) % 3 == 1 ? n + (q * n + p) / 3 : 0)
#define ZIP_C(n, q, p) ((q * n + p) % 3 == 2 ? n + (q * n + p) / 3 : p)
#define UNZIP_AB(n, q, p) (3 * p + q < 2 * n ? 3 * p + q : 0)
#define UNZIP_C(n, q, p) (3 * p + q < 2 * n ? p : 3 * p + q - n)
#define LIST_4(M, n, q) M(n, q, 0), M(n, q, 1), M(n, q, 2), M(n, q, 3)
#define LIST_8(M, n, q) LIST_4(M, n, q), M(n, q, 4), M(n, q, 5), M(n, q, 6), M(n, q, 7)
#define LIST_16(M, n, q) \
    LIST_8(M, n, q), M(n, q, 8), M(n, q, 9), M(n, q, 10), M(n, q, 11), M(n, q, 12), M(n, q, 13), \
        M(n, q, 14), M(n, q, 15)

/* A run of n bytes, more than 2 * HALF / 2 and at most 2 * HALF of them, as its two ends, which may
   overlap */
#define MOVE_ENDS(HALF)                                                       \
    INLINE void move_ends_##HALF(char *d, const char *s, int64_t n) {         \
        char a[HALF], b[HALF];                                                \
        memcpy(a, s, HALF);                                                   \
        memcpy(b, s + n - HALF, HALF);                                        \
        memcpy(d, a, HALF);                                                   \
        memcpy(d + n - HALF, b, HALF);                                        \
    }
MOVE_ENDS(2)
MOVE_ENDS(4)
MOVE_ENDS(8)
MOVE_ENDS(16)
MOVE_ENDS(32)

#endif
