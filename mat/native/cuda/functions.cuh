/* The functions that element expressions name, FN(exp) and the like, for every type that is
   computed in.

   Of real numbers they are those of the host, so that the bits are the same: programs are compiled
   with contraction off. Of integers they are those that NumPy has. */
#ifndef MAT_FUNCTIONS_CUH
#define MAT_FUNCTIONS_CUH

#include "elements.cuh"
#include "trig_far_inline.h"
#include "vmath_arc_inline.h"
#include "vmath_log_inline.h"
#include "vmath_pow_inline.h"
#include "vmath_root_inline.h"

#define MAT_REAL(name) \
    INLINE float mat_##name(float x) { return name##f(x); } \
    INLINE double mat_##name(double x) { return name(x); }
MAT_REAL(sqrt) MAT_REAL(fabs) MAT_REAL(floor) MAT_REAL(ceil) MAT_REAL(rint) MAT_REAL(trunc)
#undef MAT_REAL
#define MAT_REAL(name) \
    INLINE float mat_##name(float x, float y) { return name##f(x, y); } \
    INLINE double mat_##name(double x, double y) { return name(x, y); }
MAT_REAL(fmod) MAT_REAL(copysign) MAT_REAL(nextafter)
#undef MAT_REAL
#define MAT_REAL(name) \
    INLINE float mat_##name(float x) { return mat_##name##_f32(x); } \
    INLINE double mat_##name(double x) { return mat_##name##_f64(x); }
MAT_REAL(exp) MAT_REAL(expm1) MAT_REAL(log) MAT_REAL(log1p)
MAT_REAL(sinh) MAT_REAL(cosh) MAT_REAL(tanh) MAT_REAL(erf) MAT_REAL(logistic)
MAT_REAL(exp2) MAT_REAL(log2) MAT_REAL(log10) MAT_REAL(cbrt)
MAT_REAL(asin) MAT_REAL(acos) MAT_REAL(atan) MAT_REAL(asinh) MAT_REAL(acosh) MAT_REAL(atanh)
MAT_REAL(wide_sin) MAT_REAL(wide_cos) MAT_REAL(wide_tan)
#undef MAT_REAL
#define MAT_REAL(name) \
    INLINE float mat_##name(float x, float y) { return mat_##name##_f32(x, y); } \
    INLINE double mat_##name(double x, double y) { return mat_##name##_f64(x, y); }
MAT_REAL(pow) MAT_REAL(atan2) MAT_REAL(hypot) MAT_REAL(logaddexp)
#undef MAT_REAL

template <class T> INLINE T mat_inverse(T x) { return 1 / x; }
template <class T> INLINE T mat_conjugate(T x) { return x; }

INLINE bool mat_signbit(float x) { return mat_bits(x) >> 31; }
INLINE bool mat_signbit(double x) { return mat_bits(x) >> 63; }

/* As NumPy has them: the quotient rounded down is that of what the remainder leaves, and the
   remainder has the sign of the divisor. */
template <class R> INLINE R mat_remainder(R x, R y) {
    const R rest = mat_fmod(x, y);
    if (y == 0 || rest != rest) return rest;
    if (rest == 0) return mat_copysign((R)0, y);
    return (y < 0) != (rest < 0) ? rest + y : rest;
}
template <class R> INLINE R mat_floor_divide(R x, R y) {
    const R rest = mat_fmod(x, y);
    if (y == 0) return x / y;
    const R quotient = (x - rest) / y - (R)(rest != 0 && (y < 0) != (rest < 0));
    if (quotient == 0) return mat_copysign((R)0, x / y);
    const R low = mat_floor(quotient);
    return quotient - low > (R)0.5 ? low + 1 : low;
}

/* Integers, and bool */

template <class I> INLINE mat_whole<I> mat_fabs(mat_whole<I> x) { return x < 0 ? -x : x; }
template <class I> INLINE mat_whole<I> mat_floor(mat_whole<I> x) { return x; }
template <class I> INLINE mat_whole<I> mat_ceil(mat_whole<I> x) { return x; }
INLINE bool mat_fabs(bool x) { return x; }
INLINE bool mat_floor(bool x) { return x; }
INLINE bool mat_ceil(bool x) { return x; }
INLINE bool mat_trunc(bool x) { return x; }
INLINE bool mat_invert(bool x) { return !x; }
template <class I> INLINE mat_whole<I> mat_trunc(mat_whole<I> x) { return x; }
template <class I> INLINE mat_whole<I> mat_invert(mat_whole<I> x) { return (I)~x.v; }
template <class I> INLINE mat_whole<I> operator&(mat_whole<I> x, mat_whole<I> y) {
    return (I)(x.v & y.v);
}
template <class I> INLINE mat_whole<I> operator|(mat_whole<I> x, mat_whole<I> y) {
    return (I)(x.v | y.v);
}
template <class I> INLINE mat_whole<I> operator^(mat_whole<I> x, mat_whole<I> y) {
    return (I)(x.v ^ y.v);
}

/* Shifts by more bits than there are leave none, or the sign. */
template <class I> INLINE mat_whole<I> mat_shift_left(mat_whole<I> x, mat_whole<I> y) {
    return (uint64_t)y.v < 8 * sizeof(I) ? (I)((uint64_t)x.v << y.v) : (I)0;
}
template <class I> INLINE mat_whole<I> mat_shift_right(mat_whole<I> x, mat_whole<I> y) {
    return (uint64_t)y.v < 8 * sizeof(I) ? (I)(x.v >> y.v) : x.v < 0 ? (I)-1 : (I)0;
}

/* By 0 NumPy's quotients and remainders are 0; by -1 the quotient is the number negated. */
template <class I> INLINE mat_whole<I> mat_fmod(mat_whole<I> x, mat_whole<I> y) {
    return y.v == 0 || ((I)-1 < (I)1 && y.v == (I)-1) ? (I)0 : (I)(x.v % y.v);
}
template <class I> INLINE mat_whole<I> mat_remainder(mat_whole<I> x, mat_whole<I> y) {
    const I rest = mat_fmod(x, y).v;
    return rest != 0 && (rest < 0) != (y.v < 0) ? (I)(rest + y.v) : rest;
}
template <class I> INLINE mat_whole<I> mat_floor_divide(mat_whole<I> x, mat_whole<I> y) {
    if (y.v == 0) return (I)0;
    if ((I)-1 < (I)1 && y.v == (I)-1) return -x;
    return (I)(x.v / y.v - (x.v % y.v != 0 && (x.v < 0) != (y.v < 0)));
}

/* By squaring; negative powers are refused before. */
template <class I> INLINE mat_whole<I> mat_pow(mat_whole<I> x, mat_whole<I> y) {
    mat_whole<I> power = 1;
    for (I rest = y.v; rest > 0; rest >>= 1, x = x * x)
        if (rest & 1) power = power * x;
    return power;
}

/* By Euclid, of the moduli, which 64 bits without a sign hold also of the least integers. */
template <class I> INLINE uint64_t mat_modulus(mat_whole<I> x) {
    return x.v < 0 ? 0 - (uint64_t)x.v : (uint64_t)x.v;
}
INLINE uint64_t mat_common(uint64_t a, uint64_t b) {
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
template <class I> INLINE mat_whole<I> mat_gcd(mat_whole<I> x, mat_whole<I> y) {
    return (I)mat_common(mat_modulus(x), mat_modulus(y));
}
template <class I> INLINE mat_whole<I> mat_lcm(mat_whole<I> x, mat_whole<I> y) {
    const uint64_t a = mat_modulus(x), b = mat_modulus(y), common = mat_common(a, b);
    return common == 0 ? (I)0 : (I)(a / common * b);
}

#endif
