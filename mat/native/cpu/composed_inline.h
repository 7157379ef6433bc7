/* What composed loops are written in (cpu/program.py): the light lines of elementwise.def as
   functions of elements, mat_each_NAME_TYPE, with the bits that their kernels have. */
#ifndef MAT_COMPOSED_INLINE_H
#define MAT_COMPOSED_INLINE_H

#define MAT_APART
#include "lines_inline.h"

#include "functions_inline.h"

/* They are compiled for the machine that is there. */
#undef MAT_CLONES
#define MAT_CLONES

/* Whether a loop takes all operands from where they are, and each row is one call of it. */
static int mat_has_rows(const mat_strided *w, int64_t spreads) {
    if (w->rank != 2 || w->stream || w->walked || w->counters) return 0;
    for (int64_t k = 0; k < w->count; k++) {
        const int64_t stride = w->sizes[2 * k + 3];
        if (w->cast[k] || !(stride == w->size[k] || (stride == 0 && (spreads >> k & 1)))) return 0;
    }
    return 1;
}

/* Return the element from which on rows are done, up to `stop`: the beginning of the first row from
   `start` on; `stop` if they are not one call each. */
static int64_t mat_rows_from(const mat_strided *w, int64_t spreads, int64_t start, int64_t stop) {
    if (!mat_has_rows(w, spreads)) return stop;
    const int64_t n = w->sizes[1], before = start % n;
    const int64_t first = before ? start + n - before : start;
    return first < stop ? first : stop;
}

/* Let a loop do rows from element `start` on, where one begins. Rows can be short: what is done
   between them is as little as may be. */
static void mat_do_rows(const mat_strided *w, char *const *operands, const double *numbers,
                        int64_t start, int64_t stop, mat_loop *loop) {
    char *at[MAT_OPERANDS];
    _Alignas(16) char numbers_at[MAT_OPERANDS][16];
    int64_t step[MAT_OPERANDS], apart[MAT_OPERANDS];
    const int64_t n = w->sizes[1], count = w->count;
    for (int64_t k = 0; k < count; k++) {
        apart[k] = w->sizes[2 * k + 2], step[k] = w->sizes[2 * k + 3] != 0;
        at[k] = operands[k] + (w->number[k] ? 0 : start / n * apart[k]);
        if (!w->number[k]) continue;
        mat_number(numbers_at[k], w->number[k], w->size[k], operands[k]);
        at[k] = numbers_at[k];
    }
    for (; start < stop; start += n) {
        loop(stop - start < n ? stop - start : n, at, step, numbers);
        for (int64_t k = 0; k < count; k++) at[k] += apart[k];
    }
}

#undef MAT_KERNEL_OF
#define MAT_KERNEL_OF(name, loop, READS, WRITES, SPREADS) \
    void name(const void *frame, char *const *operands, const double *numbers, double *result, \
              int64_t start, int64_t stop) { \
        const int64_t rows = start < 0 ? stop : mat_rows_from(frame, SPREADS, start, stop); \
        if (start < 0 || start < rows) \
            mat_strided_range(frame, operands, numbers, result, start, rows, loop, READS, WRITES, \
                              SPREADS); \
        if (rows < stop) mat_do_rows(frame, operands, numbers, rows, stop, loop); \
    }

#define MAT_OF_LIGHT(...) __VA_ARGS__
#define MAT_OF_HEAVY(...)

#define MAT_LINE(R, name, result, ...) \
    INLINE R KERNEL(name)(__VA_ARGS__) { return (R)(result); }
#define UNARY_DEVICE(...)
#define UNARY_WITHIN(...)
#define BINARY_DEVICE(...)
#define DIVISION(...)
#define POWER(...)
#define FUSED(...)
#define UNARY_REAL UNARY
#define UNARY(name, kinds, weight, expression) \
    MAT_OF_##weight(MAT_OF(kinds)(MAT_LINE(T, name, expression, T x)))
#define BINARY(name, kinds, weight, expression) \
    MAT_OF_##weight(MAT_OF(kinds)(MAT_LINE(T, name, expression, T x, T y)))
#define TERNARY(name, kinds, weight, expression, of_numbers) \
    MAT_OF_##weight(MAT_OF(kinds)(MAT_LINE(T, name, expression, T x, T y, T z) \
                                  MAT_LINE(T, name##_of_numbers, of_numbers, T x, T y, T z)))
#define TEST(name, kinds, weight, condition) \
    MAT_OF(kinds)(MAT_LINE(uint8_t, name, condition, T x))
#define COMPARE(name, kinds, weight, condition) \
    MAT_OF(kinds)(MAT_LINE(uint8_t, name, condition, T x, T y) \
                  MAT_LINE(T, name##_in, condition, T x, T y))
#define FN(name) MAT_JOIN(MAT_JOIN(mat, name), TYPE)

#define MAT_OF(kinds) MAT_F_##kinds
#define T float
#define TYPE f32
#include "elementwise.def"
#undef T
#undef TYPE
#define T double
#define TYPE f64
#include "elementwise.def"
#undef T
#undef TYPE
#undef MAT_OF

/* Of bool, results are 1 for all numbers but 0. */
#undef MAT_LINE
#define MAT_LINE(R, name, result, ...) \
    INLINE R KERNEL(name)(__VA_ARGS__) { return (R)((result) != 0); }
#define MAT_OF(kinds) MAT_B_##kinds
#define T uint8_t
#define TYPE b1
#include "elementwise.def"
#undef T
#undef TYPE

#define MAT_SELECT(condition, x, y) ((condition) ? (x) : (y))
#define mat_convert_b1_f32(x) ((float)((x) != 0))
#define mat_convert_b1_f64(x) ((double)((x) != 0))
#define mat_convert_f32_b1(x) ((uint8_t)((x) != 0))
#define mat_convert_f64_b1(x) ((uint8_t)((x) != 0))
#define mat_convert_f32_f64(x) ((double)(x))
#define mat_convert_f64_f32(x) ((float)(x))

#endif
