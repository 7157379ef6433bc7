/* pow of many numbers, see pow.h: with AVX-512 by vectors, and elsewhere by loops that the compiler
   makes vectors of. In both, numbers are taken as ordinary ones first, in groups: signs are looked
   at only where there are any, and the rest of what C99 says only where a group needs it. */
#include "pow_wide_inline.h"
#include "vmath_pow_inline.h"

#include "pow.h"

enum { BLOCK = 256 };

/* The block's numbers are in `a` and `b`; their powers are made in `power`, since `out` may be
   either of them. */
#define LOOP(T, type) \
    MAT_CLONES void mat_pow_blocks_##type(int64_t n, const T *x, int64_t x_step, const T *y, \
                                          int64_t y_step, T *out, int squares) { \
        T power[BLOCK], same_x[BLOCK], same_y[BLOCK]; \
        for (int64_t k = 0; k < (n < BLOCK ? n : BLOCK); k++) same_x[k] = *x, same_y[k] = *y; \
        for (int64_t from = 0; from < n; from += BLOCK) { \
            const int64_t m = n - from < BLOCK ? n - from : BLOCK; \
            const T *const a = x_step ? x + from : same_x, *const b = y_step ? y + from : same_y; \
            int special = 0, below = 0; \
            for (int64_t k = 0; k < m; k++) special |= !mat_pow_is_normal_##type(a[k]); \
            if (!special) { \
                for (int64_t k = 0; k < m; k++) power[k] = mat_pow_ordinary_##type(a[k], b[k]); \
                for (int64_t k = 0; k < m; k++) special |= power[k] != power[k]; \
            } \
            for (int64_t k = 0; k < m; k++) below |= a[k] < 0; \
            if (special) \
                for (int64_t k = 0; k < m; k++) power[k] = mat_pow_##type(a[k], b[k]); \
            else if (below) \
                for (int64_t k = 0; k < m; k++) \
                    power[k] = mat_pow_signed_##type(a[k], b[k], power[k]); \
            for (int64_t k = 0; k < m; k++) \
                power[k] = squares & (b[k] == 2) ? a[k] * a[k] : power[k]; \
            memcpy(out + from, power, (size_t)m * sizeof(T)); \
        } \
    }
LOOP(float, f32)
LOOP(double, f64)

#if defined(MAT_WIDE_POW)
#define ONE_LEVEL(T, type) \
    WIDE static void wide_##type(int64_t n, const T *x, int64_t x_step, const T *y, \
                                 int64_t y_step, T *out, int squares) { \
        loop_##type(n, x, x_step, y, y_step, out, squares); \
    }
ONE_LEVEL(float, f32)
ONE_LEVEL(double, f64)
#define CHOSEN(type) (__builtin_cpu_supports("x86-64-v4") ? wide_##type : mat_pow_blocks_##type)
#else
#define CHOSEN(type) mat_pow_blocks_##type
#endif

void mat_powers_f32(int64_t n, const float *x, int64_t x_step, const float *y, int64_t y_step,
                    float *out, int squares) {
    if (n > 0) CHOSEN(f32)(n, x, x_step, y, y_step, out, squares);
}

void mat_powers_f64(int64_t n, const double *x, int64_t x_step, const double *y, int64_t y_step,
                    double *out, int squares) {
    if (n > 0) CHOSEN(f64)(n, x, x_step, y, y_step, out, squares);
}
