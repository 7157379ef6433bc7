/* The functions that element expressions name, FN(exp) and the like, for every type that is
   computed in.

   Of real numbers they are CUDA's own accurate ones, but for those of trig.cuh; of integers those
   that NumPy has. */
#ifndef MAT_FUNCTIONS_CUH
#define MAT_FUNCTIONS_CUH

#include "trig.cuh"

#define MAT_REAL(name) \
    MAT_INSIDE float mat_##name(float x) { return name##f(x); } \
    MAT_INSIDE double mat_##name(double x) { return name(x); }
MAT_REAL(sqrt) MAT_REAL(fabs) MAT_REAL(floor) MAT_REAL(ceil) MAT_REAL(rint)
MAT_REAL(exp) MAT_REAL(expm1) MAT_REAL(log) MAT_REAL(log1p)
MAT_REAL(sinh) MAT_REAL(cosh) MAT_REAL(tanh) MAT_REAL(erf)
#undef MAT_REAL
MAT_INSIDE float mat_sin(float x) { return sinf(x); }
MAT_INSIDE float mat_cos(float x) { return cosf(x); }
MAT_INSIDE float mat_tan(float x) { return tanf(x); }

MAT_INSIDE float mat_pow(float x, float y) { return powf(x, y); }
MAT_INSIDE double mat_pow(double x, double y) { return pow(x, y); }

/* The exponential is of what is not positive, so that it does not overflow before the result is 0.
 */
template <class R> MAT_INSIDE R mat_logistic(R x) {
    const R e = mat_exp(-mat_fabs(x));
    return (x < 0 ? e : (R)1) / (1 + e);
}

template <class T> MAT_INSIDE auto mat_wide_sin(T x) { return mat_sin(x); }
template <class T> MAT_INSIDE auto mat_wide_cos(T x) { return mat_cos(x); }
template <class T> MAT_INSIDE auto mat_wide_tan(T x) { return mat_tan(x); }

/* Integers, and bool */

template <class I> MAT_INSIDE mat_whole<I> mat_fabs(mat_whole<I> x) { return x < 0 ? -x : x; }
template <class I> MAT_INSIDE mat_whole<I> mat_floor(mat_whole<I> x) { return x; }
template <class I> MAT_INSIDE mat_whole<I> mat_ceil(mat_whole<I> x) { return x; }
MAT_INSIDE bool mat_fabs(bool x) { return x; }
MAT_INSIDE bool mat_floor(bool x) { return x; }
MAT_INSIDE bool mat_ceil(bool x) { return x; }

/* By squaring; negative powers are refused before. */
template <class I> MAT_INSIDE mat_whole<I> mat_pow(mat_whole<I> x, mat_whole<I> y) {
    mat_whole<I> power = 1;
    for (I rest = y.v; rest > 0; rest >>= 1, x = x * x)
        if (rest & 1) power = power * x;
    return power;
}

#endif
