/* Complex numbers on the device: quotients as NumPy has them, functions with the special values of
   C99. Sums, products and their order are in elements.cuh.

   Functions of complex64 are computed in double, where nothing overflows half-way, and rounded
   once. */
#ifndef MAT_COMPLEX_CUH
#define MAT_COMPLEX_CUH

#include "functions.cuh"

/* By the larger part of b (Smith's way), so that no square overflows */
template<class R> INLINE mat_complex<R> operator/(mat_complex<R> a, mat_complex<R> b) {
    const R re = mat_fabs(b.re), im = mat_fabs(b.im);
    if (re >= im) {
        if (re == 0 && im == 0) return {a.re / re, a.im / re};
        const R ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
        return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const R ratio = b.re / b.im, scale = 1 / (b.im + b.re * ratio);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}
template<class R> INLINE mat_complex<R> operator/(int a, mat_complex<R> b) {
    return mat_complex<R>((R)a) / b;
}

template<class R> INLINE mat_complex<R> each_conjugate(mat_complex<R> x) {
    return {x.re, -x.im};
}
INLINE double mat_fabs(mat_complex<double> x) { return mat_hypot(x.re, x.im); }
INLINE float mat_fabs(mat_complex<float> x) { return mat_hypot(x.re, x.im); }
template<class R> INLINE mat_complex<R> mat_rint(mat_complex<R> x) {
    return {mat_rint(x.re), mat_rint(x.im)};
}

/* x / |x|; 0 for 0, and of infinite parts, which must be one, the sign */
template <class R> INLINE mat_complex<R> mat_direction(mat_complex<R> x) {
    const R size = mat_fabs(x), nan = size - size;
    if (mat_infinite(size)) {
        if (mat_infinite(x.re) && mat_infinite(x.im)) return {nan, nan};
        return mat_infinite(x.re) ? mat_complex<R>(x.re > 0 ? 1 : -1)
                                  : mat_complex<R>(0, x.im > 0 ? 1 : -1);
    }
    if (mat_nan(size)) return {size, size};
    return size == 0 ? mat_complex<R>(0) : mat_complex<R>(x.re / size, x.im / size);
}
template<class R> INLINE mat_complex<R> each_sign(mat_complex<R> x) { return mat_direction(x); }
template<class R> INLINE bool each_isinf(mat_complex<R> x) {
    return mat_infinite(x.re) || mat_infinite(x.im);
}
template<class R>
INLINE mat_complex<R> each_add_sign(mat_complex<R> alpha, mat_complex<R> a, mat_complex<R>) {
    return alpha * mat_direction(a);
}

/* Functions, in double */

INLINE mat_c128 mat_sqrt(mat_c128 z) {
    double x = z.re, y = z.im;
    if (x == 0 && y == 0) return {0, y};
    if (mat_infinite(y)) return {mat_fabs(y), y};
    if (mat_nan(x)) return {x, x};
    if (mat_infinite(x)) return x > 0 ? mat_c128(x, mat_nan(y) ? y : copysign(0.0, y))
                                      : mat_c128(mat_fabs(y - y), copysign(x, y));
    double by = 1; /* powers of 2 that keep the sum of squares in range */
    if (mat_fabs(x) >= 0x1p1021 || mat_fabs(y) >= 0x1p1021) x *= 0.25, y *= 0.25, by = 2;
    else if (mat_fabs(x) < 0x1p-1000 && mat_fabs(y) < 0x1p-1000)
        x *= 0x1p54, y *= 0x1p54, by = 0x1p-27;
    const double t = sqrt((mat_fabs(x) + mat_hypot(x, y)) * 0.5), other = mat_fabs(y) / (2 * t);
    return x >= 0 ? mat_c128(t * by, copysign(other * by, y))
                  : mat_c128(other * by, copysign(t * by, y));
}

/* exp(x) * (c, s), also where exp(x) alone overflows */
INLINE mat_c128 mat_scaled_exp(double x, double c, double s, double by) {
    const double rest = x > 709 && x < 1500 ? 709 : 0, e = mat_exp(x - rest) * by,
                 more = rest != 0 ? 0x1.d422d2be5dc9bp+1022 : 1;
    return {e * c * more, e * s * more};
}

INLINE mat_c128 mat_exp(mat_c128 z) {
    if (z.im == 0) return {mat_exp(z.re), z.im};
    if (!mat_finite(z.im)) {
        if (mat_infinite(z.re)) return z.re < 0 ? mat_c128(0, 0) : mat_c128(z.re, z.im - z.im);
        return {z.im - z.im, z.im - z.im};
    }
    return mat_scaled_exp(z.re, mat_wide_cos(z.im), mat_wide_sin(z.im), 1);
}

INLINE mat_c128 mat_expm1(mat_c128 z) {
    const double a = mat_wide_sin(z.im / 2);
    return {mat_expm1(z.re) * mat_wide_cos(z.im) - 2 * a * a, mat_exp(z.re) * mat_wide_sin(z.im)};
}

/* The logarithm of the modulus: near 1 from how far the square is from it */
INLINE double mat_log_modulus(double x, double y) {
    const double a = mat_fabs(x), b = mat_fabs(y), larger = a > b ? a : b, smaller = a > b ? b : a;
    if (larger > 0.5 && larger < 2 && smaller < 2) {
        const double off = fma(larger - 1, larger + 1, smaller * smaller);
        if (mat_fabs(off) < 0.5) return 0.5 * mat_log1p(off);
    }
    if (larger > 0x1p1000 && mat_finite(larger))
        return mat_log(mat_hypot(a * 0.5, b * 0.5)) + 0x1.62e42fefa39efp-1;
    if (larger < 0x1p-1000 && larger != 0)
        return mat_log(mat_hypot(a * 0x1p54, b * 0x1p54)) - 0x1.2b708872320e2p+5;
    return mat_log(mat_hypot(a, b));
}

INLINE mat_c128 mat_log(mat_c128 z) {
    return {mat_log_modulus(z.re, z.im), mat_atan2(z.im, z.re)};
}

INLINE mat_c128 mat_log1p(mat_c128 z) {
    const double off = fma(z.re, 2 + z.re, z.im * z.im);
    const double re = mat_fabs(off) < 0.5 ? 0.5 * mat_log1p(off) : mat_log_modulus(1 + z.re, z.im);
    return {re, mat_atan2(z.im, 1 + z.re)};
}

INLINE mat_c128 mat_sinh(mat_c128 z) {
    const double x = z.re, y = z.im;
    if (y == 0) return {mat_sinh(x), y};
    if (!mat_finite(y)) return {x == 0 || mat_infinite(x) ? x : y - y, y - y};
    const double c = mat_wide_cos(y), s = mat_wide_sin(y);
    if (mat_fabs(x) < 40) return {mat_sinh(x) * c, mat_cosh(x) * s};
    return mat_scaled_exp(mat_fabs(x), x < 0 ? -c : c, s, 0.5);
}

INLINE mat_c128 mat_cosh(mat_c128 z) {
    const double x = z.re, y = z.im;
    if (y == 0) return {mat_cosh(x), x < 0 || (x == 0 && copysign(1.0, x) < 0) ? -y : y};
    if (!mat_finite(y)) return {mat_infinite(x) ? mat_fabs(x) : y - y, x == 0 ? x : y - y};
    const double c = mat_wide_cos(y), s = mat_wide_sin(y);
    if (mat_fabs(x) < 40) return {mat_cosh(x) * c, mat_sinh(x) * s};
    return mat_scaled_exp(mat_fabs(x), c, x < 0 ? -s : s, 0.5);
}

/* Kahan's way: from the tangent of y and the hyperbolic sine of x */
INLINE mat_c128 mat_tanh(mat_c128 z) {
    const double x = z.re, y = z.im;
    if (mat_nan(x)) return {x, y == 0 ? y : x};
    if (mat_infinite(x))
        return {copysign(1.0, x),
                copysign(0.0, mat_infinite(y) ? y : mat_wide_sin(y) * mat_wide_cos(y))};
    if (!mat_finite(y)) return {x == 0 ? x : y - y, y - y};
    if (mat_fabs(x) >= 22) {
        const double e = mat_exp(-mat_fabs(x));
        return {copysign(1.0, x), 4 * mat_wide_sin(y) * mat_wide_cos(y) * e * e};
    }
    const double t = mat_wide_tan(y), beta = 1 + t * t, s = mat_sinh(x), rho = sqrt(1 + s * s),
                 under = 1 + beta * s * s;
    if (mat_infinite(beta)) return {rho / s, 1 / t};
    return {beta * rho * s / under, t / under};
}

/* From those of i z */
INLINE mat_c128 mat_wide_sin(mat_c128 z) {
    const mat_c128 w = mat_sinh(mat_c128(-z.im, z.re));
    return {w.im, -w.re};
}
INLINE mat_c128 mat_wide_cos(mat_c128 z) { return mat_cosh(mat_c128(-z.im, z.re)); }
INLINE mat_c128 mat_wide_tan(mat_c128 z) {
    const mat_c128 w = mat_tanh(mat_c128(-z.im, z.re));
    return {w.im, -w.re};
}

/* Small whole powers by multiplication, as NumPy does it; else exp(b * log(a)) */
INLINE mat_c128 mat_pow(mat_c128 a, mat_c128 b) {
    if (b == 0) return 1.0;
    if (a == 0) {
        const double nan = mat_of_bits((uint64_t)0x7ff8000000000000ull);
        return b.re > 0 ? mat_c128(0, 0) : mat_c128(nan, nan);
    }
    if (b.im == 0 && b.re == rint(b.re) && mat_fabs(b.re) < 100) {
        if (b.re == 1) return a; /* without products by 1, which are NaN where a is infinite */
        if (b.re == 2) return a * a;
        if (b.re == 3) return a * (a * a);
        mat_c128 power = 1.0;
        for (int rest = (int)mat_fabs(b.re); rest > 0; rest >>= 1, a = a * a)
            if (rest & 1) power = power * a;
        return b.re < 0 ? 1 / power : power;
    }
    return mat_exp(b * mat_log(a));
}

#define MAT_IN_DOUBLE(name) \
    INLINE mat_complex<float> mat_##name(mat_complex<float> z) { \
        const mat_c128 w = mat_##name(mat_c128(z.re, z.im)); \
        return {(float)w.re, (float)w.im}; \
    }
MAT_IN_DOUBLE(sqrt)
MAT_IN_DOUBLE(exp) MAT_IN_DOUBLE(expm1) MAT_IN_DOUBLE(log) MAT_IN_DOUBLE(log1p)
    MAT_IN_DOUBLE(wide_sin) MAT_IN_DOUBLE(wide_cos) MAT_IN_DOUBLE(wide_tan)
        MAT_IN_DOUBLE(sinh) MAT_IN_DOUBLE(cosh) MAT_IN_DOUBLE(tanh)
INLINE mat_complex<float> mat_pow(mat_complex<float> a, mat_complex<float> b) {
    const mat_c128 w = mat_pow(mat_c128(a.re, a.im), mat_c128(b.re, b.im));
    return {(float)w.re, (float)w.im};
}

#undef MAT_IN_DOUBLE
#endif
