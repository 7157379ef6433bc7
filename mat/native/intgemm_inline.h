/* The parts of a tiled product that depend on the machine: intgemm.c includes this once for each, having defined NAME(x), BYTES,
   the width of a vector, and ROWS, the height of a tile in rows. A tile is ROWS x two vectors.

   Operands are packed into panels: of A, ROWS high, of B, two vectors wide, and of each position on the inner axis all elements
   of a panel lie side by side. `S` consecutive positions share a word where the machine multiplies them at once. */

/* Tiles */

#define TILE(NAME_, T, HEIGHT, MULTIPLY)                                                                                       \
    static void NAME(NAME_)(int64_t depth, const void *left, const void *right, void *out, int more) {                         \
        typedef T V __attribute__((vector_size(BYTES), may_alias));                                                            \
        enum { N = BYTES / sizeof(T) };                                                                                        \
        typedef T A __attribute__((may_alias));                                                                                \
        const A *a = left;                                                                                                     \
        const V *b = right;                                                                                                    \
        V *tile = out, acc[HEIGHT][2];                                                                                         \
        _Pragma("GCC unroll 16") for (int i = 0; i < HEIGHT; i++) {                                                            \
            acc[i][0] = more ? tile[2 * i] : (V){0};                                                                           \
            acc[i][1] = more ? tile[2 * i + 1] : (V){0};                                                                       \
        }                                                                                                                      \
        for (int64_t p = 0; p < depth; p++, a += ROWS, b += 2) {                                                               \
            V b0 = b[0], b1 = b[1];                                                                                            \
            _Pragma("GCC unroll 16") for (int i = 0; i < HEIGHT; i++) {                                                        \
                MULTIPLY(acc[i][0], b0, a[i]);                                                                                 \
                MULTIPLY(acc[i][1], b1, a[i]);                                                                                 \
            }                                                                                                                  \
        }                                                                                                                      \
        _Pragma("GCC unroll 16") for (int i = 0; i < HEIGHT; i++) {                                                            \
            tile[2 * i] = acc[i][0];                                                                                           \
            tile[2 * i + 1] = acc[i][1];                                                                                       \
        }                                                                                                                      \
    }
#define TILES(NAME_, T, MULTIPLY)                                                                                              \
    TILE(NAME_##_1, T, 1, MULTIPLY)                                                                                            \
    TILE(NAME_##_4, T, 4, MULTIPLY)                                                                                            \
    TILE(NAME_##_all, T, ROWS, MULTIPLY)                                                                                       \
    static tile_function *const NAME(NAME_)[3] = {NAME(NAME_##_1), NAME(NAME_##_4), NAME(NAME_##_all)};

#define MULTIPLY_ADD(acc, b, a) acc += (b) * (a)
TILES(tile_i32, uint32_t, MULTIPLY_ADD)
TILES(tile_i64, uint64_t, MULTIPLY_ADD)
TILES(tile_f32, float, MULTIPLY_ADD)

/* Pairs of 16-bit numbers: both products of a pair, and their sum, in one instruction. */
#ifdef MAT_PAIRS
#if BYTES == 64
#define MULTIPLY_PAIRS(acc, b, a) acc += (V)_mm512_madd_epi16((__m512i)(b), _mm512_set1_epi32((int)(a)))
#elif BYTES == 32
#define MULTIPLY_PAIRS(acc, b, a) acc += (V)_mm256_madd_epi16((__m256i)(b), _mm256_set1_epi32((int)(a)))
#else
#define MULTIPLY_PAIRS(acc, b, a) acc += (V)_mm_madd_epi16((__m128i)(b), _mm_set1_epi32((int)(a)))
#endif
TILES(tile_w16, uint32_t, MULTIPLY_PAIRS)
#undef MULTIPLY_PAIRS
#endif

/* Packing */

#define RUN 64 /* how many elements along the inner axis are converted before they are dealt out to their places */

/* `width` x `depth` elements into panels of W; `across` is the step from one row of A, or column of B, to the next, `along` the
   step on the inner axis. E is what is packed, S of them a word W_T. What a panel has no elements for is 0. */
#define PACK(NAME_, E, S, WORD, SOURCE, CONVERT)                                                                               \
    static void NAME(NAME_)(void *panels, const void *source, int64_t width, int64_t depth, int64_t across, int64_t along,     \
                            int64_t w) {                                                                                       \
        enum { N = 2 * BYTES / (S * sizeof(E)) };                                                                              \
        E *to = panels;                                                                                                        \
        const int64_t words = (depth + S - 1) / S;                                                                             \
        for (int64_t j = 0; j < width; j += w, to += words * w * S) {                                                          \
            const SOURCE *from = (const SOURCE *)source + j * across;                                                          \
            const int64_t n = width - j < w ? width - j : w;                                                                   \
            if (n < w || depth % S) memset(to, 0, words * w * S * sizeof(E));                                                  \
            if (across == 1 && n == N && w == N) {                                                                             \
                for (int64_t p = 0; p + S <= depth; p += S)                                                                    \
                    for (int64_t i = 0; i < N; i++)                                                                            \
                        for (int64_t s = 0; s < S; s++) to[(p / S * N + i) * S + s] = CONVERT(from[(p + s) * along + i]);      \
                if (depth % S)                                                                                                 \
                    for (int64_t i = 0; i < N; i++) to[(depth / S * N + i) * S] = CONVERT(from[(depth - 1) * along + i]);      \
            } else if (along == 1) {                                                                                           \
                for (int64_t p = 0; p < depth; p += RUN) {                                                                     \
                    const int64_t count = depth - p < RUN ? depth - p : RUN;                                                   \
                    for (int64_t i = 0; i < n; i++) {                                                                          \
                        E run[RUN] __attribute__((aligned(64)));                                                               \
                        WORD *RESTRICT place = (WORD *)to + p / S * w + i;                                                     \
                        for (int64_t q = 0; q < count; q++) run[q] = CONVERT(from[i * across + p + q]);                        \
                        if (count % S) run[count] = 0;                                                                         \
                        for (int64_t q = 0; q < (count + S - 1) / S; q++) memcpy(place + q * w, run + q * S, sizeof(WORD));    \
                    }                                                                                                          \
                }                                                                                                              \
            } else {                                                                                                           \
                for (int64_t p = 0; p < depth; p++)                                                                            \
                    for (int64_t i = 0; i < n; i++) to[(p / S * w + i) * S + p % S] = CONVERT(from[p * along + i * across]);   \
            }                                                                                                                  \
        }                                                                                                                      \
    }

#define AS_IS(x) (x)
PACK(pack_i32_i8, uint32_t, 1, uint32_t, int8_t, AS_IS)
PACK(pack_i32_u8, uint32_t, 1, uint32_t, uint8_t, AS_IS)
PACK(pack_i32_i16, uint32_t, 1, uint32_t, int16_t, AS_IS)
PACK(pack_i32_u16, uint32_t, 1, uint32_t, uint16_t, AS_IS)
PACK(pack_i32_32, uint32_t, 1, uint32_t, uint32_t, AS_IS)
PACK(pack_i32_64, uint32_t, 1, uint32_t, uint64_t, AS_IS)
PACK(pack_i64_i8, uint64_t, 1, uint64_t, int8_t, AS_IS)
PACK(pack_i64_u8, uint64_t, 1, uint64_t, uint8_t, AS_IS)
PACK(pack_i64_i16, uint64_t, 1, uint64_t, int16_t, AS_IS)
PACK(pack_i64_u16, uint64_t, 1, uint64_t, uint16_t, AS_IS)
PACK(pack_i64_i32, uint64_t, 1, uint64_t, int32_t, AS_IS)
PACK(pack_i64_u32, uint64_t, 1, uint64_t, uint32_t, AS_IS)
PACK(pack_i64_64, uint64_t, 1, uint64_t, uint64_t, AS_IS)
PACK(pack_f32_f16, float, 1, float, uint16_t, from_half)
PACK(pack_f32_bf16, float, 1, float, uint16_t, from_bfloat)
#ifdef MAT_PAIRS
PACK(pack_w16_i8, int16_t, 2, uint32_t, int8_t, AS_IS)
PACK(pack_w16_u8, int16_t, 2, uint32_t, uint8_t, AS_IS)
PACK(pack_w16_16, int16_t, 2, uint32_t, int16_t, AS_IS)
#endif

/* From tiles to C */

#define FINISH(NAME_, T, C_T, LOAD, STORE)                                                                                     \
    static void NAME(NAME_)(const void *tile, void *out, int64_t rows, int64_t columns, int64_t row, int64_t column,           \
                            const mat_factors *x) {                                                                            \
        enum { N = 2 * BYTES / sizeof(T) };                                                                                    \
        const T *t = tile, alpha = FACTOR_##T(x, alpha), beta = FACTOR_##T(x, beta);                                           \
        for (int64_t i = 0; i < rows; i++, t += N) {                                                                           \
            C_T *c = (C_T *)out + i * row;                                                                                     \
            if (x->plain && column == 1)                                                                                       \
                for (int64_t j = 0; j < columns; j++) c[j] = STORE(t[j]);                                                      \
            else if (x->plain || x->beta_is_0)                                                                                 \
                for (int64_t j = 0; j < columns; j++) c[j * column] = STORE((T)(alpha * t[j]));                                \
            else                                                                                                               \
                for (int64_t j = 0; j < columns; j++)                                                                          \
                    c[j * column] = STORE((T)(alpha * t[j] + beta * LOAD(c[j * column])));                                     \
        }                                                                                                                      \
    }
#define FACTOR_uint32_t(x, which) (uint32_t)(x)->which
#define FACTOR_uint64_t(x, which) (uint64_t)(x)->which
#define FACTOR_float(x, which) (float)(x)->f##which
#define IS_TRUE(x) ((x) != 0)
FINISH(finish_bool, uint32_t, uint8_t, AS_IS, IS_TRUE)
FINISH(finish_8, uint32_t, uint8_t, AS_IS, AS_IS)
FINISH(finish_16, uint32_t, uint16_t, AS_IS, AS_IS)
FINISH(finish_32, uint32_t, uint32_t, AS_IS, AS_IS)
FINISH(finish_64, uint64_t, uint64_t, AS_IS, AS_IS)
FINISH(finish_f16, float, uint16_t, from_half, to_half)
FINISH(finish_bf16, float, uint16_t, from_bfloat, to_bfloat)
FINISH(finish_f32, float, float, AS_IS, AS_IS)

#ifndef MAT_PAIRS
#define PAIRS_OF(x) {0}
#else
#define PAIRS_OF(x) x
#endif

static const machine NAME(machine) = {
    .bytes = BYTES, .rows = ROWS,
    .tile = {[I32] = NAME(tile_i32), [I64] = NAME(tile_i64), [F32] = NAME(tile_f32),
#ifdef MAT_PAIRS
             [W16] = NAME(tile_w16),
#endif
            },
    .pack = {[I32] = {[BOOL] = NAME(pack_i32_u8), [I8] = NAME(pack_i32_i8), [U8] = NAME(pack_i32_u8), [I16] = NAME(pack_i32_i16),
                      [U16] = NAME(pack_i32_u16), [INT32] = NAME(pack_i32_32), [U32] = NAME(pack_i32_32),
                      [INT64] = NAME(pack_i32_64), [U64] = NAME(pack_i32_64)},
             [I64] = {[BOOL] = NAME(pack_i64_u8), [I8] = NAME(pack_i64_i8), [U8] = NAME(pack_i64_u8), [I16] = NAME(pack_i64_i16),
                      [U16] = NAME(pack_i64_u16), [INT32] = NAME(pack_i64_i32), [U32] = NAME(pack_i64_u32),
                      [INT64] = NAME(pack_i64_64), [U64] = NAME(pack_i64_64)},
             [F32] = {[F16] = NAME(pack_f32_f16), [BF16] = NAME(pack_f32_bf16)},
#ifdef MAT_PAIRS
             [W16] = {[BOOL] = NAME(pack_w16_u8), [I8] = NAME(pack_w16_i8), [U8] = NAME(pack_w16_u8), [I16] = NAME(pack_w16_16),
                      [U16] = NAME(pack_w16_16)},
#endif
            },
    .finish = {[BOOL] = NAME(finish_bool), [I8] = NAME(finish_8), [U8] = NAME(finish_8), [I16] = NAME(finish_16),
               [U16] = NAME(finish_16), [INT32] = NAME(finish_32), [U32] = NAME(finish_32), [INT64] = NAME(finish_64),
               [U64] = NAME(finish_64), [F16] = NAME(finish_f16), [BF16] = NAME(finish_bf16), [FLOAT] = NAME(finish_f32)},
};

#undef TILE
#undef TILES
#undef MULTIPLY_ADD
#undef RUN
#undef PACK
#undef AS_IS
#undef FINISH
#undef FACTOR_uint32_t
#undef FACTOR_uint64_t
#undef FACTOR_float
#undef IS_TRUE
#undef PAIRS_OF
