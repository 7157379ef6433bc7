/* Matrix products of integers and 16-bit floats: the loops over blocks and tiles. The functions
   that compute a tile, pack operands and write C are in integer_matmul_inline.h, compiled once for
   each machine.

   C is cut into units of work; in each, for blocks of the inner axis, B is packed, then blocks
   of A are, and tiles of C are computed from panels of both. docs/matmul.md says what that
   saves. */
#include "mat.h"

#include "integer_matmul.h"

#include "integer_matmul_machine_inline.h"

/* The machines. Other compilers and processors have the first one only. */

#define NAME(x) x##_base
#define BYTES 16
#define ROWS 4
#include "integer_matmul_inline.h"
#undef NAME
#undef BYTES
#undef ROWS

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#define NAME(x) x##_v3
#define BYTES 32
#define ROWS 6
#include "integer_matmul_inline.h"
#undef NAME
#undef BYTES
#undef ROWS
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4")
#define NAME(x) x##_v4
#define BYTES 64
#define ROWS 12
#include "integer_matmul_inline.h"
#undef NAME
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,avx512vnni")
#define NAME(x) x##_vnni
#define ONLY_PAIRS
#include "integer_matmul_tile_inline.h"
#undef NAME
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,avx512vnni,avx512bf16")
#define NAME(x) x##_bfloat
#define BFLOAT_PAIRS
#include "integer_matmul_tile_inline.h"
#pragma GCC pop_options

static const machine *machine_of(int level) {
    return level >= 2 ? &machine_v4 : level == 1 ? &machine_v3 : &machine_base;
}

static tile_function *const *tiles_of(const mat_integer_matmul *f) {
    if (f->kind == B16) return tile_b16_bfloat;
    return f->level >= 3 && f->kind == W16 ? tile_w16_vnni : machine_of(f->level)->tile[f->kind];
}

static int best_level(void) {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512vnni"))
        return __builtin_cpu_supports("avx512bf16") ? 4 : 3;
    return __builtin_cpu_supports("x86-64-v4") ? 2 : __builtin_cpu_supports("x86-64-v3") ? 1 : 0;
}
#else
static const machine *machine_of(int level) { return &machine_base; }
static tile_function *const *tiles_of(const mat_integer_matmul *f) {
    return machine_base.tile[f->kind];
}
static int best_level(void) { return 0; }
#endif

/* Setting up */

/* The most rows for which packing B does not pay: fewer where it is used in pairs, or has to be
   converted anyway. */
static int thin_rows(int kind) { return kind == I32 || kind == I64 ? 4 : 2; }

static int is_float(int kind) { return kind == F32 || kind == B16; }

/* whether two positions of the inner axis share a word */
static int in_pairs(int kind) { return kind == W16 || kind == B16; }

static int kind_of(const mat_integer_matmul *f, const machine *x) {
    if (f->a_type >= F16) return f->level >= 4 && x->pack[B16][f->a_type] ? B16 : F32;
    if (f->c_type == INT64 || f->c_type == U64) return I64;
    /* where 16 bits are kept, those of products of unsigned numbers are right, too */
    const int wide = SIZES[f->c_type] > 2 ? I16 : U16;
    return x->tile[W16] && f->a_type <= wide && f->b_type <= wide ? W16 : I32;
}

static int64_t rounded(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t words(const mat_integer_matmul *f, int64_t depth) {
    return in_pairs(f->kind) ? (depth + 1) / 2 : depth;
}

static int64_t panel(const mat_integer_matmul *f) {
    return 2 * machine_of(f->level)->bytes / WORD[f->kind];
}

static int64_t a_bytes(const mat_integer_matmul *f) {
    return rounded(
        rounded(f->block_m, machine_of(f->level)->rows) * words(f, f->block_k) * WORD[f->kind], 64);
}

static int64_t b_bytes(const mat_integer_matmul *f, int64_t columns) {
    return rounded(columns, panel(f)) * words(f, f->block_k) * WORD[f->kind];
}

int32_t mat_integer_matmul_level(void) { return best_level(); }

int64_t mat_integer_matmul_setup(mat_integer_matmul *f, int32_t most_level) {
    f->level = (int32_t)smaller(best_level(), most_level);
    const machine *x = machine_of(f->level);
    f->kind = kind_of(f, x);
    if (!f->thin) f->thin = f->m <= thin_rows(f->kind) && (f->b_col == 1 || f->b_row == 1);
    if (f->thin > 0) {
        f->kind = f->kind == W16 ? I32 : f->kind == B16 ? F32 : f->kind;
        f->block_k = smaller(f->k, 4096);
        return rounded(f->block_k * WORD[f->kind], 64) +
               rounded((f->n + f->units_n - 1) / f->units_n * WORD[f->kind], 64);
    }
    const int64_t depth =
        (f->block_k ? f->block_k : 2048 / WORD[f->kind]) * (in_pairs(f->kind) ? 2 : 1);
    const int64_t parts = (f->k + depth - 1) / depth;
    f->block_k = parts ? smaller(depth, rounded((f->k + parts - 1) / parts, 8)) : 8;
    const int64_t rows = (f->m + f->units_m - 1) / f->units_m,
                  columns = (f->n + f->units_n - 1) / f->units_n;
    f->block_m = smaller(rounded(rows, x->rows), rounded(f->block_m ? f->block_m : 240, x->rows));
    const int64_t tiles =
        f->k > f->block_k ? rounded(rows, x->rows) * rounded(columns, panel(f)) * WORD[f->kind] : 0;
    return a_bytes(f) + b_bytes(f, columns) + rounded(tiles, 64);
}

/* Running */

/* A unit of work: its part of the operands, its size, and the parts of its workspace. */
typedef struct {
    const char *a, *b;
    char *c;
    int64_t rows, columns;
    char *left, *right, *tiles;
    const mat_scales *scales; /* of its first row and column, or NULL */
} unit;

/* Write the part of C at (i, j) of a unit, from a tile. */
static void write(const mat_integer_matmul *f, const machine *x, const unit *u,
                  const mat_factors *factors, const char *tile, int64_t i, int64_t j, int64_t rows,
                  int64_t columns) {
    char *c = u->c + (i * f->c_row + j * f->c_col) * SIZES[f->c_type];
    if (u->scales) {
        mat_scales here = *u->scales;
        here.left += i * here.left_step;
        here.right += j * here.right_step;
        x->scaled[f->kind](tile, (float *)c, rows, columns, f->c_row, f->c_col, &here);
    } else
        x->finish[f->c_type](tile, c, rows, columns, f->c_row, f->c_col, factors);
}

/* Tiles of C from packed panels; those that are complete are written. */
static void blocks(const mat_integer_matmul *f, const machine *x, const unit *u,
                   const mat_factors *factors, int64_t i0, int64_t rows, int64_t p0,
                   int64_t depth) {
    const int64_t n = panel(f), across = (u->columns + n - 1) / n, word = WORD[f->kind],
                  size = x->rows * n * word;
    const int64_t bytes = words(f, depth) * word;
    tile_function *const *compute = tiles_of(f);
    const int last = p0 + depth >= f->k, more = p0 > 0;
    char one[64 * 2 * 12] __attribute__((aligned(64)));
    for (int64_t j = 0; j < u->columns; j += n)
        for (int64_t i = 0; i < rows; i += x->rows) {
            char *tile =
                f->k > f->block_k ? u->tiles + ((i0 + i) / x->rows * across + j / n) * size : one;
            const int64_t height = smaller(rows - i, x->rows);
            const char *left = u->left + i * bytes, *right = u->right + j * bytes;
            if (f->height)
                /* The tile has x->rows rows, also where fewer are used. Where the last of them are
                   fewer than f->height (2 of the 6 of AVX2), they are computed singly: a higher
                   tile would add to the rows of the next one. */
                for (int64_t h = 0, step; h < height; h += step) {
                    step = h + f->height <= x->rows ? f->height : 1;
                    compute[step == 4](words(f, depth), left + h * word, right,
                                       tile + h * n * word, more);
                }
            else
                compute[height == 1 ? 0 : height <= 4 ? 1 : 2](words(f, depth), left, right, tile,
                                                               more);
            if (last)
                write(f, x, u, factors, tile, i0 + i, j, height, smaller(u->columns - j, n));
        }
}

/* One unit; `packed` says that B is in the workspace already. */
static void multiply(const mat_integer_matmul *f, const machine *x, const unit *u,
                     const mat_factors *factors, int packed) {
    const int64_t a_size = SIZES[f->a_type], b_size = SIZES[f->b_type];
    pack_function *pack_a = x->pack[f->kind][f->a_type], *pack_b = x->pack[f->kind][f->b_type];
    for (int64_t p = 0; p < f->k || p == 0; p += f->block_k) {
        const int64_t depth = smaller(f->k - p, f->block_k);
        if (!packed)
            pack_b(u->right, u->b + p * f->b_row * b_size, u->columns, depth, f->b_col, f->b_row,
                   panel(f));
        for (int64_t i = 0; i < u->rows; i += f->block_m) {
            const int64_t rows = smaller(u->rows - i, f->block_m);
            pack_a(u->left, u->a + (i * f->a_row + p * f->a_col) * a_size, rows, depth, f->a_row,
                   f->a_col, x->rows);
            blocks(f, x, u, factors, i, rows, p, depth);
        }
    }
}

/* A unit of few rows: each by itself, B without packing. */
static void thin(const mat_integer_matmul *f, const machine *x, const unit *u,
                 const mat_factors *factors) {
    char *sums = u->left + rounded(f->block_k * WORD[f->kind], 64);
    for (int64_t i = 0; i < u->rows; i++) {
        memset(sums, 0, u->columns * WORD[f->kind]);
        for (int64_t p = 0; p < f->k; p += f->block_k) {
            const int64_t depth = smaller(f->k - p, f->block_k);
            x->pack[f->kind][f->a_type](u->left,
                                        u->a + (i * f->a_row + p * f->a_col) * SIZES[f->a_type], 1,
                                        depth, f->a_row, f->a_col, 1);
            x->thin[f->kind][f->b_type](u->left, u->b + p * f->b_row * SIZES[f->b_type], sums,
                                        depth, u->columns, f->b_row, f->b_col);
        }
        write(f, x, u, factors, sums, i, 0, 1, u->columns);
    }
}

/* The offsets of the index-th matrices of the stacks. */
static void offsets(const mat_integer_matmul *f, int64_t index, int64_t *a, int64_t *b,
                    int64_t *c) {
    *a = *b = *c = 0;
    for (int d = f->batch_rank - 1; d >= 0; d--) {
        const int64_t i = index % f->batch[d];
        index /= f->batch[d];
        *a += i * f->a_batch[d];
        *b += i * f->b_batch[d];
        *c += i * f->c_batch[d];
    }
}

/* Three nested loops over the operands as they are, to compare tiles with: int32, or int8 with sums
   in int32. */
#define UNTILED(T) \
    for (int64_t i = 0; i < f->m; i++) \
        for (int64_t j = 0; j < f->n; j++) { \
            uint32_t sum = 0; \
            for (int64_t p = 0; p < f->k; p++) \
                sum += (uint32_t)((const T *)a)[i * f->a_row + p * f->a_col] * \
                       (uint32_t)((const T *)b)[p * f->b_row + j * f->b_col]; \
            ((uint32_t *)c)[i * f->c_row + j * f->c_col] = sum; \
        }

static void untiled(const mat_integer_matmul *f, const char *a, const char *b, char *c) {
    if (f->a_type == I8)
        UNTILED(int8_t)
    else
        UNTILED(int32_t)
}

/* Units from `start` to before `stop`; `scales` are those of the whole product, or NULL. */
static void units(const mat_integer_matmul *f, const char *a, const char *b, char *c,
                  const mat_factors *factors, const mat_scales *scales, char *work, int64_t start,
                  int64_t stop) {
    const machine *x = machine_of(f->level);
    const int64_t each = f->units_m * f->units_n, columns = (f->n + f->units_n - 1) / f->units_n;
    const char *packed = NULL, *left = f->swapped ? b : a, *right = f->swapped ? a : b;
    for (int64_t k = start; k < stop; k++) {
        int64_t at_a, at_b, at_c;
        offsets(f, k / each, &at_a, &at_b, &at_c);
        const int64_t column = k % each / f->units_m, row = k % each % f->units_m;
        const int64_t i = f->m * row / f->units_m, j = f->n * column / f->units_n;
        unit u = {.rows = f->m * (row + 1) / f->units_m - i,
                  .columns = f->n * (column + 1) / f->units_n - j};
        u.a = left + (at_a + i * f->a_row) * SIZES[f->a_type];
        u.b = right + (at_b + j * f->b_col) * SIZES[f->b_type];
        u.c = c + (at_c + i * f->c_row + j * f->c_col) * SIZES[f->c_type];
        u.left = work;
        u.right = work + a_bytes(f);
        u.tiles = u.right + b_bytes(f, columns);
        mat_scales here;
        if (scales) {
            here = *scales;
            here.left += i * here.left_step;
            here.right += j * here.right_step;
            u.scales = &here;
        }
        if (f->thin > 0) {
            thin(f, x, &u, factors);
            continue;
        }
        multiply(f, x, &u, factors, packed == u.b && f->k <= f->block_k);
        packed = u.b;
    }
}

void mat_integer_matmul_run(const mat_integer_matmul *f, const char *a, const char *b, char *c,
                            int64_t alpha, int64_t beta, double falpha, double fbeta, char *work,
                            int64_t start, int64_t stop) {
    const int beta_is_0 = is_float(f->kind) ? fbeta == 0 : beta == 0,
              alpha_is_1 = is_float(f->kind) ? falpha == 1 : alpha == 1;
    const mat_factors factors = {alpha, beta, falpha, fbeta, alpha_is_1 && beta_is_0, beta_is_0};
    if (f->untiled)
        untiled(f, a, b, c);
    else
        units(f, a, b, c, &factors, NULL, work, start, stop);
}

void mat_integer_matmul_scaled(const mat_integer_matmul *f, const char *a, const char *b, char *c,
                               const float *left, const float *right, char *work, int64_t start,
                               int64_t stop) {
    const mat_scales given = {left, right, f->left_step, f->right_step},
                     swapped = {right, left, f->right_step, f->left_step};
    units(f, a, b, c, NULL, f->swapped ? &swapped : &given, work, start, stop);
}

void mat_integer_matmul_small(const void *frame, char *const *operands, const double *numbers,
                              double *result, int64_t start, int64_t stop) {
    const mat_integer_matmul *f = frame;
    char work[MAT_INTEGER_MATMUL_STACK] __attribute__((aligned(64)));
    const double alpha = f->factors ? numbers[0] : 1, beta = f->factors ? numbers[2] : 0;
    const int whole = !is_float(f->kind); /* these factors are, and small enough for doubles */
    mat_integer_matmul_run(f, operands[0], operands[1], operands[2], whole ? (int64_t)alpha : 0,
                           whole ? (int64_t)beta : 0, alpha, beta, work, start, stop);
}
