/* BLAS level 1. */
#ifndef MAT_MOCK_VECTORS_HPP
#define MAT_MOCK_VECTORS_HPP

#include "call.hpp"

template<class X>
static Status axpy(const char *me, H h, int64_t n, const void *alpha, Vector x, Vector y) {
    if (n <= 0) return SUCCESS;
    USABLE(X, x);
    USABLE(X, y);
    Factor<X> a(h, alpha);
    return queue(h, [=] {
        const X *from = real<X>(x, true, me);
        X *to = real<X>(y, true, me), f = a(me);
        for (int64_t k = 0; from && to && k < n; k++) {
            X &sum = to[y.place(k)];
            if constexpr (std::is_floating_point_v<X>)
                sum = std::fma(f, from[x.place(k)], sum);
            else
                sum += f * from[x.place(k)];
        }
    });
}

template<class X> static Status scal(const char *me, H h, int64_t n, const void *alpha, Vector x) {
    if (n <= 0 || x.inc <= 0) return SUCCESS;
    USABLE(X, x);
    Factor<X> a(h, alpha);
    return queue(h, [=] {
        X *to = real<X>(x, true, me), f = a(me);
        for (int64_t k = 0; to && k < n; k++) to[x.place(k)] *= f;
    });
}

template<class X>
static Status move(const char *me, H h, int64_t n, Vector x, Vector y, bool both) {
    if (n <= 0) return SUCCESS;
    USABLE(X, x);
    USABLE(X, y);
    return queue(h, [=] {
        X *from = real<X>(x, true, me), *to = real<X>(y, true, me);
        for (int64_t k = 0; from && to && k < n; k++) {
            X old = to[y.place(k)];
            to[y.place(k)] = from[x.place(k)];
            if (both) from[x.place(k)] = old;
        }
    });
}

template<class X>
static Status dot(const char *me, H h, int64_t n, Vector x, Vector y, void *result, bool conj) {
    USABLE(X, x);
    USABLE(X, y);
    return give(h, result, [=]() -> X {
        const X *one = real<X>(x, true, me), *other = real<X>(y, true, me);
        typename Sums<X>::type sum(0);
        for (int64_t k = 0; one && other && k < n; k++) {
            X left = one[x.place(k)];
            sum += typename Sums<X>::type(conj ? conjugate(left) : left) *
                   typename Sums<X>::type(other[y.place(k)]);
        }
        return X(sum);
    }, me);
}

template<class X, class R>
static Status nrm2(const char *me, H h, int64_t n, Vector x, void *result) {
    USABLE(X, x);
    return give(h, result, [=]() -> R {
        const X *from = real<X>(x, true, me);
        double largest = 0, sum = 0;
        for (int64_t k = 0; from && x.inc > 0 && k < n; k++)
            largest = std::max(largest, double(std::abs(from[x.place(k)])));
        for (int64_t k = 0; from && x.inc > 0 && k < n && largest > 0; k++) {
            double size = std::abs(from[x.place(k)]) / largest;
            sum += size * size;
        }
        return R(std::sqrt(sum) * largest);
    }, me);
}

template<class X, class R>
static Status asum(const char *me, H h, int64_t n, Vector x, void *result) {
    USABLE(X, x);
    return give(h, result, [=]() -> R {
        const X *from = real<X>(x, true, me);
        double sum = 0;
        for (int64_t k = 0; from && x.inc > 0 && k < n; k++) sum += size_of(from[x.place(k)]);
        return R(sum);
    }, me);
}

template<class X, class I>
static Status amax(const char *me, H h, int64_t n, Vector x, void *result) {  // counts from 1
    USABLE(X, x);
    return give(h, result, [=]() -> I {
        const X *from = real<X>(x, true, me);
        int64_t found = n > 0 && x.inc > 0;
        for (int64_t k = 1; from && x.inc > 0 && k < n; k++)
            if (size_of(from[x.place(k)]) > size_of(from[x.place(found - 1)])) found = k + 1;
        return I(found);
    }, me);
}

#define VX Vector{x, n, incx}
#define VY Vector{y, n, incy}
#define VECTORS_OF(I, s, letter, small, X, R, norm_prefix) \
    EXPORT Status cublas##letter##axpy_v2##s(H h, I n, const X *alpha, Address x, I incx, \
                                             Address y, I incy) { \
        BEGIN(true); \
        return axpy<X>(me, h, n, alpha, VX, VY); \
    } \
    EXPORT Status cublas##letter##scal_v2##s(H h, I n, const X *alpha, Address x, I incx) { \
        BEGIN(true); \
        return scal<X>(me, h, n, alpha, VX); \
    } \
    EXPORT Status cublas##letter##copy_v2##s(H h, I n, Address x, I incx, Address y, I incy) { \
        BEGIN(true); \
        return move<X>(me, h, n, VX, VY, false); \
    } \
    EXPORT Status cublas##letter##swap_v2##s(H h, I n, Address x, I incx, Address y, I incy) { \
        BEGIN(true); \
        return move<X>(me, h, n, VX, VY, true); \
    } \
    EXPORT Status cublas##norm_prefix##nrm2_v2##s(H h, I n, Address x, I incx, R *result) { \
        BEGIN(true); \
        return nrm2<X, R>(me, h, n, VX, result); \
    } \
    EXPORT Status cublas##norm_prefix##asum_v2##s(H h, I n, Address x, I incx, R *result) { \
        BEGIN(true); \
        return asum<X, R>(me, h, n, VX, result); \
    } \
    EXPORT Status cublasI##small##amax_v2##s(H h, I n, Address x, I incx, I *result) { \
        BEGIN(true); \
        return amax<X, I>(me, h, n, VX, result); \
    }
#define DOT_OF(I, s, name, X, conj) \
    EXPORT Status cublas##name##_v2##s(H h, I n, Address x, I incx, Address y, I incy, \
                                       X *result) { \
        BEGIN(true); \
        return dot<X>(me, h, n, VX, VY, result, conj); \
    }
#define VECTORS(I, end)                              \
    VECTORS_OF(I, end, S, s, float, float, S)        \
    VECTORS_OF(I, end, D, d, double, double, D)      \
    VECTORS_OF(I, end, C, c, C32, float, Sc)         \
    VECTORS_OF(I, end, Z, z, C64, double, Dz)        \
    DOT_OF(I, end, Sdot, float, false)               \
    DOT_OF(I, end, Ddot, double, false)              \
    DOT_OF(I, end, Cdotu, C32, false)                \
    DOT_OF(I, end, Cdotc, C32, true)                 \
    DOT_OF(I, end, Zdotu, C64, false)                \
    DOT_OF(I, end, Zdotc, C64, true)
VECTORS(int, )
VECTORS(int64_t, _64)

#endif
