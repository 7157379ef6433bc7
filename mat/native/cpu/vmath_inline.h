/* Vector mathematics: exp, log, sin ... of one number, written so that the compiler turns a plain
   loop over them into vector code: no branches, no tables but those of pow, no calls, and no
   condition that is used twice, since the compiler makes a loop for each of its values.
   docs/accuracy.md has the measured accuracy, and tests/cpu/test_vmath.py checks it. Kernels of pow
   are in pow.h.

   The functions are in ../shared/vmath_*_inline.h: devices have the same ones, and so the same
   bits. They are mat_NAME_f64(double) and mat_NAME_f32(float) for NAME in exp expm1 exp2 log log1p
   log2 log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh cbrt erf logistic, and
   mat_NAME_TYPE(x, y) for NAME in pow atan2 hypot logaddexp. Infinities, NaN, subnormals and -0
   come out as C99 defines them, under the usual rounding to nearest.

   sin, cos and tan are defined for |x| <= MAT_LIMIT_sin_TYPE (cos and tan have the same limit);
   beyond it mat_wide_sin_TYPE must compute them, outside of the vector loop. Check a block of
   numbers at a time, small enough for the first-level cache:

       if (mat_within_f64(x, n, MAT_LIMIT_sin_f64))
           for (k = 0; k < n; k++) y[k] = mat_sin_f64(x[k]);
       else
           for (k = 0; k < n; k++) y[k] = mat_wide_sin_f64(x[k]);

   (Before such loops, `#pragma GCC ivdep` is needed where x and y may be the same: the compiler
   would assume a dependence.) mat_wide_sin_f64 (cos, tan; f32) is right for all numbers, but
   branches. Infinities are beyond the limit, NaN is not.

   `a * b + c` is two roundings, and FMA(a, b, c) one (bits_inline.h), where accuracy does not need
   it also two; fma() is always one. Files that include this are compiled with contraction off.

   Methods: W. J. Cody and W. Waite, Software Manual for the Elementary Functions (1980), for
   splitting constants so that the reduction is exact; T. J. Dekker, Numerische Mathematik 18
   (1971), and D. E. Knuth, TAOCP 2, 4.2.2, for sums with their error; P. T. P. Tang, ACM TOMS 15
   (1989) and 16 (1990), for exp and log, and their tables; J.-M. Muller, Elementary Functions (3rd
   ed., 2016), for the whole. The polynomials are minimax fits of our own, the tables computed:
   tests/support/fit_vmath.py. */
#ifndef MAT_VMATH_INLINE_H
#define MAT_VMATH_INLINE_H

#include "mat.h"
#include "trig_far_inline.h"
#include "vmath_arc_inline.h"
#include "vmath_f32_inline.h"
#include "vmath_f64_inline.h"
#include "vmath_log_inline.h"
#include "vmath_pow_inline.h"
#include "vmath_root_inline.h"

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
