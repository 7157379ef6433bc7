/* The element types of a matrix product, what they are computed in, and the functions that each
   machine has for them: tables that integer_matmul_inline.h fills and integer_matmul.c chooses
   from. */
#ifndef MAT_INTEGER_MATMUL_MACHINE_INLINE_H
#define MAT_INTEGER_MATMUL_MACHINE_INLINE_H

#include "mat.h"

#if defined(__SSE2__)
#include <immintrin.h>
#define MAT_PAIRS /* pairs of 16-bit numbers are multiplied in one instruction */
#endif

/* as NUMBERED of mat/cpu/integer_matmul.py */
enum { BOOL, I8, U8, I16, U16, INT32, U32, INT64, U64, F16, BF16, E4M3, E5M2, FLOAT, TYPES };
static const int SIZES[TYPES] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 1, 1, 4};

/* the elements of panels and tiles; W16: pairs of 16-bit integers, summed in 32 bits; B16: pairs of
   bfloat16, summed in float32 */
enum { I32, I64, F32, W16, B16, KINDS };
/* bytes of a word of a panel, and of an element of a tile */
static const int WORD[KINDS] = {4, 8, 4, 4, 4};

typedef struct {
    int64_t alpha, beta;
    double falpha, fbeta;
    int plain, beta_is_0; /* plain: alpha is 1 and beta 0 */
} mat_factors;

typedef struct {
    const float *left, *right;
    int64_t left_step, right_step;
} mat_scales;

typedef void tile_function(int64_t depth, const void *a, const void *b, void *tile, int more);
typedef void pack_function(void *panels, const void *source, int64_t width, int64_t depth,
                           int64_t across, int64_t along, int64_t w);
typedef void finish_function(const void *tile, void *out, int64_t rows, int64_t columns,
                             int64_t row, int64_t column, const mat_factors *x);
/* Sums become floats, multiplied by `left` for their row and `right` for their column. */
typedef void scaled_function(const void *tile, float *out, int64_t rows, int64_t columns,
                             int64_t row, int64_t column, const mat_scales *x);
typedef void thin_function(const void *a, const void *b, void *sums, int64_t depth, int64_t columns,
                           int64_t row, int64_t column);

typedef struct {
    int bytes, rows; /* of a vector; of a tile, which is two vectors wide */
    tile_function *const *tile[KINDS];
    pack_function *pack[KINDS][TYPES];
    thin_function *thin[KINDS][TYPES];
    finish_function *finish[TYPES];
    scaled_function *scaled[KINDS];
} machine;

#endif
