/* Tiles of a product, which are kept in registers along the inner axis: ROWS x two vectors, or 4 or
   1 rows where there are no more. Included by integer_matmul_inline.h, and once more for a machine
   that only multiplies pairs better than another.

      Parameters, defined before: those of integer_matmul_inline.h, and
     ONLY_PAIRS    if tiles of pairs are all that is wanted
     BFLOAT_PAIRS  if the machine multiplies pairs of bfloat16 */
#include "integer_matmul_machine_inline.h"

#define TILE(NAME_, T, HEIGHT, MULTIPLY) \
    static void NAME(NAME_)(int64_t depth, const void *left, const void *right, void *out, \
                            int more) { \
        typedef T V __attribute__((vector_size(BYTES), may_alias)); \
        enum { N = BYTES / sizeof(T) }; \
        typedef T A __attribute__((may_alias)); \
        const A *a = left; \
        const V *b = right; \
        V *tile = out, acc[HEIGHT][2]; \
        _Pragma("GCC unroll 16") for (int i = 0; i < HEIGHT; i++) { \
            acc[i][0] = more ? tile[2 * i] : (V){0}; \
            acc[i][1] = more ? tile[2 * i + 1] : (V){0}; \
        } \
        for (int64_t p = 0; p < depth; p++, a += ROWS, b += 2) { \
            V b0 = b[0], b1 = b[1]; \
            _Pragma("GCC unroll 16") for (int i = 0; i < HEIGHT; i++) { \
                MULTIPLY(acc[i][0], b0, a[i]); \
                MULTIPLY(acc[i][1], b1, a[i]); \
            } \
        } \
        _Pragma("GCC unroll 16") for (int i = 0; i < HEIGHT; i++) { \
            tile[2 * i] = acc[i][0]; \
            tile[2 * i + 1] = acc[i][1]; \
        } \
    }
#define TILES(NAME_, T, MULTIPLY) \
    TILE(NAME_##_1, T, 1, MULTIPLY) \
    TILE(NAME_##_4, T, 4, MULTIPLY) \
    TILE(NAME_##_all, T, ROWS, MULTIPLY) \
    static tile_function *const NAME(NAME_)[3] = {NAME(NAME_##_1), NAME(NAME_##_4), \
                                                  NAME(NAME_##_all)};

#define MULTIPLY_ADD(acc, b, a) acc += (b) * (a)
#ifndef ONLY_PAIRS
TILES(tile_i32, uint32_t, MULTIPLY_ADD)
TILES(tile_i64, uint64_t, MULTIPLY_ADD)
TILES(tile_f32, float, MULTIPLY_ADD)
#endif

/* Pairs of 16-bit numbers: both products of a pair, and their sum, in one instruction. */
#if defined(MAT_PAIRS) && !defined(BFLOAT_PAIRS)
#if BYTES == 64 && defined(__AVX512VNNI__)
#define MULTIPLY_PAIRS(acc, b, a) \
    acc = (V)_mm512_dpwssd_epi32((__m512i)(acc), (__m512i)(b), _mm512_set1_epi32((int)(a)))
#elif BYTES == 64
#define MULTIPLY_PAIRS(acc, b, a) \
    acc += (V)_mm512_madd_epi16((__m512i)(b), _mm512_set1_epi32((int)(a)))
#elif BYTES == 32
#define MULTIPLY_PAIRS(acc, b, a) \
    acc += (V)_mm256_madd_epi16((__m256i)(b), _mm256_set1_epi32((int)(a)))
#else
#define MULTIPLY_PAIRS(acc, b, a) acc += (V)_mm_madd_epi16((__m128i)(b), _mm_set1_epi32((int)(a)))
#endif
TILES(tile_w16, uint32_t, MULTIPLY_PAIRS)
#undef MULTIPLY_PAIRS
#endif

/* Pairs of bfloat16: to the sum the product of the upper halves is added, then that of the lower
   ones, each as by an fma. Subnormal numbers are taken for 0. */
#ifdef BFLOAT_PAIRS
#define MULTIPLY_BFLOATS(acc, b, a) \
    acc = (V)_mm512_dpbf16_ps((__m512)(acc), (__m512bh)(b), (__m512bh)_mm512_set1_ps(a))
TILES(tile_b16, float, MULTIPLY_BFLOATS)
#undef MULTIPLY_BFLOATS
#endif

#undef TILE
#undef TILES
#undef MULTIPLY_ADD
