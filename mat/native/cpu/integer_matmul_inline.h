/* The parts of a tiled product that depend on the machine: integer_matmul.c includes this once for
   each.

   Parameters, defined before:
     NAME(x)  the name of a function for that machine
     BYTES    the width of a vector
     ROWS     the height of a tile in rows; it is two vectors wide

   Operands are packed into panels: of A, ROWS high, of B, two vectors wide. All elements of a panel
   at one position of the inner axis are adjacent. `S` consecutive positions share a word where the
   machine multiplies them at once. */
#include "float8_inline.h"
#include "half_inline.h"
#include "integer_matmul_machine_inline.h"
#include "integer_matmul_tile_inline.h"

/* Packing */

/* elements along the inner axis that are converted at a time, before they are put into the panel */
#define RUN 64

/* Pack `width` x `depth` elements into panels `w` wide, and fill them up with zeros; `across` is
   the step from one row of A, or column of B, to the next, `along` the step on the inner axis.
   Elements are converted from SOURCE to E; S of them are a WORD, in which AT has their places. */
#define PACK(NAME_, E, S, AT, WORD, SOURCE, CONVERT) \
    static void NAME(NAME_)(void *panels, const void *source, int64_t width, int64_t depth, \
                            int64_t across, int64_t along, int64_t w) { \
        enum { N = 2 * BYTES / (S * sizeof(E)) }; \
        E *to = panels; \
        const int64_t words = (depth + S - 1) / S; \
        for (int64_t j = 0; j < width; j += w, to += words * w * S) { \
            const SOURCE *from = (const SOURCE *)source + j * across; \
            const int64_t n = width - j < w ? width - j : w; \
            if (n < w || depth % S) memset(to, 0, words * w * S * sizeof(E)); \
            if (across == 1 && n == N && w == N) { \
                for (int64_t p = 0; p + S <= depth; p += S) \
                    for (int64_t i = 0; i < N; i++) \
                        for (int64_t s = 0; s < S; s++) \
                            to[(p / S * N + i) * S + AT(s)] = CONVERT(from[(p + s) * along + i]); \
                if (depth % S) \
                    for (int64_t i = 0; i < N; i++) \
                        to[(depth / S * N + i) * S + AT(0)] = \
                            CONVERT(from[(depth - 1) * along + i]); \
            } else if (along == 1) { \
                for (int64_t p = 0; p < depth; p += RUN) { \
                    const int64_t count = depth - p < RUN ? depth - p : RUN; \
                    for (int64_t i = 0; i < n; i++) { \
                        E run[RUN] __attribute__((aligned(64))); \
                        WORD *RESTRICT place = (WORD *)to + p / S * w + i; \
                        for (int64_t q = 0; q < count; q++) \
                            run[AT(q)] = CONVERT(from[i * across + p + q]); \
                        if (count % S) run[AT(count)] = 0; \
                        for (int64_t q = 0; q < (count + S - 1) / S; q++) \
                            memcpy(place + q * w, run + q * S, sizeof(WORD)); \
                    } \
                } \
            } else { \
                for (int64_t p = 0; p < depth; p++) \
                    for (int64_t i = 0; i < n; i++) \
                        to[(p / S * w + i) * S + AT(p % S)] = \
                            CONVERT(from[p * along + i * across]); \
            } \
        } \
    }

/* Few rows */

/* columns, or elements of the inner axis, that are added up at a time */
#define CHUNK (4 * BYTES / (int)sizeof(float))

/* ``out += a B`` for a row `a` that has been packed, and a B whose rows or columns have adjacent
   elements: packing B would not pay, since each element is used once. */
#define THIN(NAME_, T, SOURCE, CONVERT) \
    static void NAME(NAME_)(const void *left, const void *right, void *sums, int64_t depth, \
                            int64_t columns, int64_t row, int64_t column) { \
        const T *a = left; \
        T *out = sums; \
        if (column == 1) \
            for (int64_t j = 0; j < columns; j += CHUNK) { \
                const int64_t n = columns - j < CHUNK ? columns - j : CHUNK; \
                const SOURCE *b = (const SOURCE *)right + j; \
                T acc[CHUNK] = {0}; \
                if (n == CHUNK) \
                    for (int64_t p = 0; p < depth; p++) \
                        for (int i = 0; i < CHUNK; i++) \
                            acc[i] += a[p] * (T)CONVERT(b[p * row + i]); \
                else \
                    for (int64_t p = 0; p < depth; p++) \
                        for (int64_t i = 0; i < n; i++) \
                            acc[i] += a[p] * (T)CONVERT(b[p * row + i]); \
                for (int64_t i = 0; i < n; i++) out[j + i] += acc[i]; \
            } \
        else \
            for (int64_t j = 0; j < columns; j++) { \
                const SOURCE *b = (const SOURCE *)right + j * column; \
                T acc[CHUNK] = {0}, sum = 0; \
                int64_t p = 0; \
                for (; p + CHUNK <= depth; p += CHUNK) \
                    for (int i = 0; i < CHUNK; i++) acc[i] += a[p + i] * (T)CONVERT(b[p + i]); \
                for (; p < depth; p++) sum += a[p] * (T)CONVERT(b[p]); \
                for (int i = 0; i < CHUNK; i++) sum += acc[i]; \
                out[j] += sum; \
            } \
    }

/* For each type of sums, T, and of operands, SOURCE. */

#define AS_IS(x) (x)
#define IS_TRUE(x) ((x) != 0) /* of bool, whose bytes may be any */
#define BOTH(NAME_, T, SOURCE, CONVERT) \
    PACK(pack_##NAME_, T, 1, AS_IS, T, SOURCE, CONVERT) \
    THIN(thin_##NAME_, T, SOURCE, CONVERT)
BOTH(i32_b1, uint32_t, uint8_t, IS_TRUE)
BOTH(i32_i8, uint32_t, int8_t, AS_IS)
BOTH(i32_u8, uint32_t, uint8_t, AS_IS)
BOTH(i32_i16, uint32_t, int16_t, AS_IS)
BOTH(i32_u16, uint32_t, uint16_t, AS_IS)
BOTH(i32_32, uint32_t, uint32_t, AS_IS)
BOTH(i32_64, uint32_t, uint64_t, AS_IS)
BOTH(i64_b1, uint64_t, uint8_t, IS_TRUE)
BOTH(i64_i8, uint64_t, int8_t, AS_IS)
BOTH(i64_u8, uint64_t, uint8_t, AS_IS)
BOTH(i64_i16, uint64_t, int16_t, AS_IS)
BOTH(i64_u16, uint64_t, uint16_t, AS_IS)
BOTH(i64_i32, uint64_t, int32_t, AS_IS)
BOTH(i64_u32, uint64_t, uint32_t, AS_IS)
BOTH(i64_64, uint64_t, uint64_t, AS_IS)
BOTH(f32_f16, float, uint16_t, from_half)
BOTH(f32_bf16, float, uint16_t, from_bfloat)
BOTH(f32_e4m3, float, uint8_t, from_e4m3)
BOTH(f32_e5m2, float, uint8_t, from_e5m2)
#ifdef MAT_PAIRS
PACK(pack_w16_b1, int16_t, 2, AS_IS, uint32_t, uint8_t, IS_TRUE)
PACK(pack_w16_i8, int16_t, 2, AS_IS, uint32_t, int8_t, AS_IS)
PACK(pack_w16_u8, int16_t, 2, AS_IS, uint32_t, uint8_t, AS_IS)
PACK(pack_w16_16, int16_t, 2, AS_IS, uint32_t, int16_t, AS_IS)
#endif
#if BYTES == 64
/* 8-bit floats are bfloat16 exactly, and normal ones; the first of a pair is to be added first */
#define SWAPPED(k) ((k) ^ 1)
#define E4M3_AS_BFLOAT(x) (uint16_t)(mat_bits_f32(from_e4m3(x)) >> 16)
#define E5M2_AS_BFLOAT(x) (uint16_t)(mat_bits_f32(from_e5m2(x)) >> 16)
PACK(pack_b16_e4m3, uint16_t, 2, SWAPPED, uint32_t, uint8_t, E4M3_AS_BFLOAT)
PACK(pack_b16_e5m2, uint16_t, 2, SWAPPED, uint32_t, uint8_t, E5M2_AS_BFLOAT)
#undef SWAPPED
#undef E4M3_AS_BFLOAT
#undef E5M2_AS_BFLOAT
#endif

/* From tiles to C */

#define FINISH(NAME_, T, C_T, LOAD, STORE) \
    static void NAME(NAME_)(const void *tile, void *out, int64_t rows, int64_t columns, \
                            int64_t row, int64_t column, const mat_factors *x) { \
        enum { N = 2 * BYTES / sizeof(T) }; \
        const T *t = tile, alpha = FACTOR_##T(x, alpha), beta = FACTOR_##T(x, beta); \
        for (int64_t i = 0; i < rows; i++, t += N) { \
            C_T *c = (C_T *)out + i * row; \
            if (x->plain && column == 1) \
                for (int64_t j = 0; j < columns; j++) c[j] = STORE(t[j]); \
            else if (x->plain || x->beta_is_0) \
                for (int64_t j = 0; j < columns; j++) c[j * column] = STORE((T)(alpha * t[j])); \
            else \
                for (int64_t j = 0; j < columns; j++) \
                    c[j * column] = STORE((T)(alpha * t[j] + beta * LOAD(c[j * column]))); \
        } \
    }
#define FACTOR_uint32_t(x, which) (uint32_t)(x)->which
#define FACTOR_uint64_t(x, which) (uint64_t)(x)->which
#define FACTOR_float(x, which) (float)(x)->f##which
FINISH(finish_bool, uint32_t, uint8_t, AS_IS, IS_TRUE)
FINISH(finish_8, uint32_t, uint8_t, AS_IS, AS_IS)
FINISH(finish_16, uint32_t, uint16_t, AS_IS, AS_IS)
FINISH(finish_32, uint32_t, uint32_t, AS_IS, AS_IS)
FINISH(finish_64, uint64_t, uint64_t, AS_IS, AS_IS)
FINISH(finish_f16, float, uint16_t, from_half, to_half)
FINISH(finish_bf16, float, uint16_t, from_bfloat, to_bfloat)
FINISH(finish_e4m3, float, uint8_t, from_e4m3, to_e4m3)
FINISH(finish_e5m2, float, uint8_t, from_e5m2, to_e5m2)
FINISH(finish_f32, float, float, AS_IS, AS_IS)

#define SCALED(NAME_, T) \
    static void NAME(NAME_)(const void *tile, float *out, int64_t rows, int64_t columns, \
                            int64_t row, int64_t column, const mat_scales *x) { \
        const T *t = tile; \
        const float *RESTRICT right = x->right; \
        for (int64_t i = 0; i < rows; i++, t += 2 * BYTES / sizeof(T)) { \
            const float left = x->left[i * x->left_step]; \
            float *RESTRICT c = out + i * row; \
            if (column == 1 && x->right_step == 1) \
                for (int64_t j = 0; j < columns; j++) c[j] = (float)t[j] * left * right[j]; \
            else if (column == 1 && x->right_step == 0) \
                for (int64_t j = 0; j < columns; j++) c[j] = (float)t[j] * left * right[0]; \
            else \
                for (int64_t j = 0; j < columns; j++) \
                    c[j * column] = (float)t[j] * left * right[j * x->right_step]; \
        } \
    }
SCALED(scaled_i32, int32_t)
SCALED(scaled_f32, float)

/* The table of these functions. */

#define OF_TYPES(VERB) \
    {[I32] = {[BOOL] = NAME(VERB##_i32_b1), \
              [I8] = NAME(VERB##_i32_i8), \
              [U8] = NAME(VERB##_i32_u8), \
              [I16] = NAME(VERB##_i32_i16), \
              [U16] = NAME(VERB##_i32_u16), \
              [INT32] = NAME(VERB##_i32_32), \
              [U32] = NAME(VERB##_i32_32), \
              [INT64] = NAME(VERB##_i32_64), \
              [U64] = NAME(VERB##_i32_64)}, \
     [I64] = {[BOOL] = NAME(VERB##_i64_b1), \
              [I8] = NAME(VERB##_i64_i8), \
              [U8] = NAME(VERB##_i64_u8), \
              [I16] = NAME(VERB##_i64_i16), \
              [U16] = NAME(VERB##_i64_u16), \
              [INT32] = NAME(VERB##_i64_i32), \
              [U32] = NAME(VERB##_i64_u32), \
              [INT64] = NAME(VERB##_i64_64), \
              [U64] = NAME(VERB##_i64_64)}, \
     [F32] = {[F16] = NAME(VERB##_f32_f16), \
              [BF16] = NAME(VERB##_f32_bf16), \
              [E4M3] = NAME(VERB##_f32_e4m3), \
              [E5M2] = NAME(VERB##_f32_e5m2)}, \
     PAIRS_##VERB}
#ifdef MAT_PAIRS
#define PAIRS_pack \
    [W16] = {[BOOL] = NAME(pack_w16_b1), \
             [I8] = NAME(pack_w16_i8), \
             [U8] = NAME(pack_w16_u8), \
             [I16] = NAME(pack_w16_16), \
             [U16] = NAME(pack_w16_16)}, \
    BFLOATS_pack
#define PAIRS_tile [W16] = NAME(tile_w16)
#else
#define PAIRS_pack
#define PAIRS_tile
#endif
#define PAIRS_thin
#if BYTES == 64
#define BFLOATS_pack [B16] = {[E4M3] = NAME(pack_b16_e4m3), [E5M2] = NAME(pack_b16_e5m2)}
#else
#define BFLOATS_pack
#endif

static const machine NAME(machine) = {
    .bytes = BYTES,
    .rows = ROWS,
    .tile = {[I32] = NAME(tile_i32), [I64] = NAME(tile_i64), [F32] = NAME(tile_f32), PAIRS_tile},
    .pack = OF_TYPES(pack),
    .thin = OF_TYPES(thin),
    .finish = {[BOOL] = NAME(finish_bool),
               [I8] = NAME(finish_8),
               [U8] = NAME(finish_8),
               [I16] = NAME(finish_16),
               [U16] = NAME(finish_16),
               [INT32] = NAME(finish_32),
               [U32] = NAME(finish_32),
               [INT64] = NAME(finish_64),
               [U64] = NAME(finish_64),
               [F16] = NAME(finish_f16),
               [BF16] = NAME(finish_bf16),
               [E4M3] = NAME(finish_e4m3),
               [E5M2] = NAME(finish_e5m2),
               [FLOAT] = NAME(finish_f32)},
    .scaled = {[I32] = NAME(scaled_i32),
               [W16] = NAME(scaled_i32),
               [F32] = NAME(scaled_f32),
               [B16] = NAME(scaled_f32)},
};

#undef RUN
#undef PACK
#undef CHUNK
#undef THIN
#undef BOTH
#undef AS_IS
#undef FINISH
#undef SCALED
#undef FACTOR_uint32_t
#undef FACTOR_uint64_t
#undef FACTOR_float
#undef IS_TRUE
#undef OF_TYPES
#undef PAIRS_pack
#undef PAIRS_tile
#undef PAIRS_thin
#undef BFLOATS_pack
