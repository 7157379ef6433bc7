/* Vector mathematics: exp, log, sin ... of one number, written so that the compiler turns a plain
   loop over them into vector code: no branches, no tables, no calls, and no condition that is used
   twice, since the compiler makes a loop for each of its values. docs/accuracy.md has the
   measured accuracy, and tests/cpu/test_vmath.py checks it.

   mat_NAME_f64(double) and mat_NAME_f32(float) for NAME in exp expm1 log log1p sin cos tan sinh
   cosh tanh erf logistic, and mat_pow_TYPE(x, y). Infinities, NaN, subnormals and -0 come out as
   C99 defines them, under the usual rounding to nearest.

   sin, cos and tan are defined for |x| <= MAT_LIMIT_sin_TYPE (cos and tan have the same limit);
   beyond it the C library must compute them, outside of the vector loop. Check a block of numbers
   at a time, small enough for the first-level cache:

       if (mat_within_f64(x, n, MAT_LIMIT_sin_f64))
           for (k = 0; k < n; k++) y[k] = mat_sin_f64(x[k]);
       else
           for (k = 0; k < n; k++) y[k] = mat_wide_sin_f64(x[k]);

   (Before such loops, `#pragma GCC ivdep` is needed where x and y may be the same: the compiler
   would assume a dependence.) mat_wide_sin_f64 (cos, tan; f32) is right for all numbers, but
   branches. Infinities are beyond the limit, NaN is not.

   `a * b + c` may be one rounding or two, as the machine has it; nothing here needs either. Where
   an exact product is needed (pow) it is fma(), which machines without the instruction compute
   slowly.

   Methods: W. J. Cody and W. Waite, Software Manual for the Elementary Functions (1980), for
   splitting constants so that the reduction is exact; T. J. Dekker, Numerische Mathematik 18
   (1971), and D. E. Knuth, TAOCP 2, 4.2.2, for sums with their error; P. T. P. Tang, ACM TOMS 15
   (1989) and 16 (1990), for exp and log; J.-M. Muller, Elementary Functions (3rd ed., 2016), for
   the whole. The polynomials are minimax fits of our own: tests/support/fit_vmath.py. */
#ifndef MAT_VMATH_INLINE_H
#define MAT_VMATH_INLINE_H

#include "mat.h"
#include "vmath_f64_inline.h"
#include "vmath_f32_inline.h"
#include "vmath_pow_inline.h"

/* Multiples of pi / 2 are counted in 20 bits, by which the parts of pi / 2 are shortened. */
#define MAT_LIMIT_sin_f64 0x1p19
#define MAT_LIMIT_cos_f64 MAT_LIMIT_sin_f64
#define MAT_LIMIT_tan_f64 MAT_LIMIT_sin_f64
#define MAT_LIMIT_sin_f32 0x1p21f
#define MAT_LIMIT_cos_f32 MAT_LIMIT_sin_f32
#define MAT_LIMIT_tan_f32 MAT_LIMIT_sin_f32

#define MAT_WIDE(name, libm, type, suffix) \
    INLINE type mat_wide_##name##_##suffix(type x) { \
        return (x < 0 ? -x : x) > MAT_LIMIT_##name##_##suffix ? libm(x) \
                                                              : mat_##name##_##suffix(x); \
    }
MAT_WIDE(sin, sin, double, f64)
MAT_WIDE(cos, cos, double, f64)
MAT_WIDE(tan, tan, double, f64)
MAT_WIDE(sin, sinf, float, f32)
MAT_WIDE(cos, cosf, float, f32)
MAT_WIDE(tan, tanf, float, f32)

/* Return whether no magnitude in x[0..n) exceeds the limit. It counts them, since a loop that may
   end early is not vectorised. */
INLINE int mat_within_f64(const double *x, int64_t n, double limit)
{
    int64_t beyond = 0;
    for (int64_t k = 0; k < n; k++)
        beyond += (x[k] < 0 ? -x[k] : x[k]) > limit;
    return beyond == 0;
}

INLINE int mat_within_f32(const float *x, int64_t n, float limit)
{
    int32_t beyond = 0;
    for (int64_t k = 0; k < n; k++)
        beyond |= (x[k] < 0 ? -x[k] : x[k]) > limit;
    return beyond == 0;
}

#endif
