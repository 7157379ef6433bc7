/* Long vectors, in pieces: BLAS computes them in one thread, or not at the speed of memory. */
#include "elementwise_inline.h"

#include "level1.h"

/* Updates; as in BLAS, nothing happens where alpha is 0. */
#define MAT_UPDATES(type, T) \
    MAT_ELEMENTWISE(mat_axpy_##type, 3, 2, 0, \
                    (MAT_INPUT(T, x, 0); MAT_OUTPUT(T, y, 1); const T alpha = (T)numbers[0]; \
                     if (alpha == 0) return;), \
                    y[i] = alpha * x[i] + y[i]) \
    MAT_ELEMENTWISE(mat_scal_##type, 1, 1, 0, \
                    (MAT_OUTPUT(T, x, 0); const T alpha = (T)numbers[0];), x[i] = alpha * x[i]) \
    MAT_ELEMENTWISE(mat_copy_##type, 1, 2, 0, (MAT_INPUT(T, x, 0); MAT_OUTPUT(T, y, 1);), \
                    y[i] = x[i]) \
    MAT_ELEMENTWISE(mat_swap_##type, 3, 3, 0, (MAT_OUTPUT(T, x, 0); MAT_OUTPUT(T, y, 1);), \
                    const T t = x[i]; \
                    x[i] = y[i]; y[i] = t)

MAT_UPDATES(f32, float)
MAT_UPDATES(f64, double)

/* Eight numbers in double precision; machines with shorter vectors use several. */
typedef double eight __attribute__((vector_size(64)));
typedef int64_t eight_bits __attribute__((vector_size(64)));
typedef float eight_floats __attribute__((vector_size(32)));

/* By address: vectors that functions return have another convention on each machine. */
INLINE void load_f32(eight *to, const float *x) {
    eight_floats v;
    memcpy(&v, x, sizeof v);
    *to = __builtin_convertvector(v, eight);
}

INLINE void load_f64(eight *to, const double *x) {
    memcpy(to, x, sizeof *to);
}

#define MAGNITUDE(x) (eight)((eight_bits)(x) & INT64_MAX)

/* TERM is the summand for vectors of eight, x and y, where y is of the second operand if there
   is one, else x again; LAST is that of single numbers, u and v. There are four sums at a time,
   since an addition waits for the one before. */
#define MAT_SUM(name, T, load, second, TERM, LAST) \
    INLINE double name##_block(const T *a, const T *b, int64_t n) { \
        eight s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, x, y; \
        int64_t i = 0; \
        for (; i + 32 <= n; i += 32) { \
            load(&x, a + i), load(&y, b + i), s0 += TERM; \
            load(&x, a + i + 8), load(&y, b + i + 8), s1 += TERM; \
            load(&x, a + i + 16), load(&y, b + i + 16), s2 += TERM; \
            load(&x, a + i + 24), load(&y, b + i + 24), s3 += TERM; \
        } \
        (void)y; \
        s0 = (s0 + s1) + (s2 + s3); \
        double sum = ((s0[0] + s0[4]) + (s0[1] + s0[5])) + ((s0[2] + s0[6]) + (s0[3] + s0[7])); \
        for (; i < n; i++) { \
            const double u = a[i], v = b[i]; \
            (void)v; \
            sum += LAST; \
        } \
        return sum; \
    } \
    MAT_CLONES void name(const void *frame, char *const *operands, const double *numbers, \
                         double *result, int64_t start, int64_t stop) { \
        const struct mat_sum *s = frame; \
        for (int64_t b = start; b < stop; b++) { \
            const int64_t from = b * s->block, left = s->n - from; \
            const T *x = (const T *)operands[0] + from, *y = (const T *)operands[second] + from; \
            result[b] = name##_block(x, y, left < s->block ? left : s->block); \
        } \
    }

#define MAT_SUMS(type, T, load) \
    MAT_SUM(mat_dot_##type, T, load, 1, x *y, u *v) \
    MAT_SUM(mat_asum_##type, T, load, 0, MAGNITUDE(x), fabs(u)) \
    MAT_SUM(mat_squares_##type, T, load, 0, x *x, u *u)

MAT_SUMS(f32, float, load_f32)
MAT_SUMS(f64, double, load_f64)
