/* BLAS levels 2 and 3, on column-major matrices. */
#ifndef MAT_MOCK_MATRICES_HPP
#define MAT_MOCK_MATRICES_HPP

#include "call.hpp"

static bool is_op(int op) { return op == N || op == T || op == C; }

template<class X>
static X element(const X *a, int64_t ld, int op, int64_t i, int64_t j) {  // of op(A)
    if (op == N) return a[i + j * ld];
    X x = a[j + i * ld];
    return op == C ? conjugate(x) : x;
}

static Matrix stored(Address at, int op, int64_t rows, int64_t columns,
                     int64_t ld) {  // what lies there, of op(A)
    return op == N ? Matrix{at, rows, columns, ld} : Matrix{at, columns, rows, ld};
}

static bool fits(const Matrix &m) {
    return m.rows >= 0 && m.columns >= 0 && m.ld >= std::max<int64_t>(1, m.rows);
}

// beta == 0 never reads what is written
template<class X, class F, class S> static X plus(S sum, F beta, X old) {
    return beta == F(0) ? X(sum) : X(sum + S(beta) * S(old));
}

template<class X>
static Status gemv(const char *me, H h, int op, Matrix a, const void *alpha, Vector x,
                   const void *beta, Vector y) {
    if (!a.rows || !a.columns) return SUCCESS;
    USABLE(X, a);
    USABLE(X, x);
    USABLE(X, y);
    Factor<X> f(h, alpha), g(h, beta);
    return queue(h, [=] {
        typedef typename Sums<X>::type S;
        const X *m = real<X>(a, true, me), *from = real<X>(x, true, me);
        X *to = real<X>(y, true, me), al = f(me), be = g(me);
        for (int64_t i = 0; m && from && to && i < y.n; i++) {
            S sum(0);
            for (int64_t k = 0; k < x.n; k++)
                sum += S(element(m, a.ld, op, i, k)) * S(from[x.place(k)]);
            X &out = to[y.place(i)];
            out = plus<X>(S(al) * sum, be, out);
        }
    });
}

template<class X>
static Status ger(const char *me, H h, Matrix a, const void *alpha, Vector x, Vector y) {
    if (!a.rows || !a.columns) return SUCCESS;
    USABLE(X, a);
    USABLE(X, x);
    USABLE(X, y);
    Factor<X> f(h, alpha);
    return queue(h, [=] {
        X *m = real<X>(a, true, me), al = f(me);
        const X *u = real<X>(x, true, me), *v = real<X>(y, true, me);
        for (int64_t j = 0; m && u && v && j < a.columns; j++)
            for (int64_t i = 0; i < a.rows; i++)
                m[i + j * a.ld] += al * u[x.place(i)] * v[y.place(j)];
    });
}

struct Product {
    int op_a, op_b;
    int64_t m, n, k, lda, ldb, ldc, step_a, step_b, step_c, count;
    bool valid() const {
        return is_op(op_a) && is_op(op_b) && m >= 0 && n >= 0 && k >= 0 && count >= 0 &&
               fits(stored(0, op_a, m, k, lda)) && fits(stored(0, op_b, k, n, ldb)) &&
               fits({0, m, n, ldc});
    }
};

template<class X, class Y, class F, class S>
static Status gemm(const char *me, H h, Product p, const void *alpha, Address a, Address b,
                   const void *beta, Address c) {
    if (!p.m || !p.n || !p.count) return SUCCESS;
    auto first = [=](int64_t k) {
        return stored(a + Address(k * p.step_a * int64_t(sizeof(X))), p.op_a, p.m, p.k, p.lda);
    };
    auto second = [=](int64_t k) {
        return stored(b + Address(k * p.step_b * int64_t(sizeof(X))), p.op_b, p.k, p.n, p.ldb);
    };
    auto third = [=](int64_t k) {
        return Matrix{c + Address(k * p.step_c * int64_t(sizeof(Y))), p.m, p.n, p.ldc};
    };
    for (int64_t k = 0; k < p.count; k += std::max<int64_t>(1, p.count - 1)) {
        USABLE(X, first(k));
        USABLE(X, second(k));
        USABLE(Y, third(k));
    }
    if (p.count > 1 && p.step_c == 0) return INVALID_VALUE;
    Factor<F> f(h, alpha), g(h, beta);
    return queue(h, [=] {
        S al = S(f(me)), be = S(g(me));
        for (int64_t each = 0; each < p.count; each++) {
            const X *x = real<X>(first(each), true, me), *y = real<X>(second(each), true, me);
            Y *z = real<Y>(third(each), true, me);
            for (int64_t j = 0; x && y && z && j < p.n; j++)
                for (int64_t i = 0; i < p.m; i++) {
                    S sum(0);
                    for (int64_t k = 0; k < p.k; k++)
                        sum +=
                            S(element(x, p.lda, p.op_a, i, k)) * S(element(y, p.ldb, p.op_b, k, j));
                    Y &out = z[i + j * p.ldc];
                    out = be == S(0) ? Y(al * sum) : Y(al * sum + be * S(out));
                }
        }
    });
}

template<class X>
static Status syrk(const char *me, H h, int fill, int op, int64_t n, int64_t k, const void *alpha,
                   Matrix a, const void *beta, Matrix c) {
    if (!n) return SUCCESS;
    USABLE(X, a);
    USABLE(X, c);
    Factor<X> f(h, alpha), g(h, beta);
    return queue(h, [=] {
        typedef typename Sums<X>::type S;
        const X *x = real<X>(a, true, me);
        X *z = real<X>(c, true, me), al = f(me), be = g(me);
        for (int64_t j = 0; x && z && j < n; j++)
            for (int64_t i = fill == LOWER ? j : 0; i < (fill == LOWER ? n : j + 1); i++) {
                S sum(0);
                for (int64_t l = 0; l < k; l++)
                    sum += S(element(x, a.ld, op, i, l)) * S(element(x, a.ld, op, j, l));
                X &out = z[i + j * c.ld];
                out = plus<X>(S(al) * sum, be, out);
            }
    });
}

// One column (side left) or row (right) of B at a time: op(A) x = b, or x op(A) = b, which is
// op(A)^T x = b.
template<class X>
static void solve(const X *a, int64_t ld, int64_t n, bool lower, int op, bool transposed, bool unit,
                  X *b, int64_t step) {
    auto at = [=](int64_t i, int64_t j) {
        return transposed ? element(a, ld, op, j, i) : element(a, ld, op, i, j);
    };
    bool forward = lower == ((op == N) != transposed);
    for (int64_t s = 0; s < n; s++) {
        int64_t i = forward ? s : n - 1 - s;
        typename Sums<X>::type rest(b[i * step]);
        for (int64_t t = 0; t < s; t++) {
            int64_t j = forward ? t : n - 1 - t;
            rest -= typename Sums<X>::type(at(i, j)) * typename Sums<X>::type(b[j * step]);
        }
        b[i * step] = X(unit ? rest : rest / typename Sums<X>::type(at(i, i)));
    }
}

template<class X>
static Status trsm(const char *me, H h, int side, int fill, int op, int diag, const void *alpha,
                   Matrix a, Matrix b) {
    if (!b.rows || !b.columns) return SUCCESS;
    USABLE(X, a);
    USABLE(X, b);
    Factor<X> f(h, alpha);
    return queue(h, [=] {
        const X *m = real<X>(a, true, me);
        X *x = real<X>(b, true, me), al = f(me);
        if (!m || !x) return;
        for (int64_t j = 0; j < b.columns; j++)
            for (int64_t i = 0; i < b.rows; i++)
                x[i + j * b.ld] = al == X(0) ? X(0) : al * x[i + j * b.ld];
        bool left = side == LEFT;
        for (int64_t k = 0; k < (left ? b.columns : b.rows); k++)
            solve(m, a.ld, a.rows, fill == LOWER, op, !left, diag == UNIT,
                  x + (left ? k * b.ld : k), left ? 1 : b.ld);
    });
}

#define MATRICES_OF(I, s, L, geru, X) \
    EXPORT Status cublas##L##gemv_v2##s(H h, int op, I m, I n, const X *alpha, Address a, I lda, \
                                        Address x, I incx, const X *beta, Address y, I incy) { \
        BEGIN(is_op(op) && fits({0, m, n, lda}) && incx && incy); \
        return gemv<X>(me, h, op, {a, m, n, lda}, alpha, {x, op == N ? n : m, incx}, beta, \
                       {y, op == N ? m : n, incy}); \
    } \
    EXPORT Status cublas##L##geru##_v2##s(H h, I m, I n, const X *alpha, Address x, I incx, \
                                          Address y, I incy, Address a, I lda) { \
        BEGIN(fits({0, m, n, lda}) && incx && incy); \
        return ger<X>(me, h, {a, m, n, lda}, alpha, {x, m, incx}, {y, n, incy}); \
    } \
    EXPORT Status cublas##L##gemm_v2##s(H h, int opa, int opb, I m, I n, I k, const X *alpha, \
                                        Address a, I lda, Address b, I ldb, const X *beta, \
                                        Address c, I ldc) { \
        Product p = {opa, opb, m, n, k, lda, ldb, ldc, 0, 0, 0, 1}; \
        BEGIN(p.valid()); \
        return gemm<X, X, X, Sums<X>::type>(me, h, p, alpha, a, b, beta, c); \
    } \
    EXPORT Status cublas##L##gemmStridedBatched##s( \
        H h, int opa, int opb, I m, I n, I k, const X *alpha, Address a, I lda, long long sa, \
        Address b, I ldb, long long sb, const X *beta, Address c, I ldc, long long sc, I count) { \
        Product p = {opa, opb, m, n, k, lda, ldb, ldc, sa, sb, sc, count}; \
        BEGIN(p.valid()); \
        return gemm<X, X, X, Sums<X>::type>(me, h, p, alpha, a, b, beta, c); \
    } \
    EXPORT Status cublas##L##syrk_v2##s(H h, int fill, int op, I n, I k, const X *alpha, \
                                        Address a, I lda, const X *beta, Address c, I ldc) { \
        Matrix lies = stored(a, op, n, k, lda); \
        BEGIN(is_op(op) && (fill == LOWER || fill == UPPER) && k >= 0 && fits(lies) && \
              fits({c, n, n, ldc})); \
        return syrk<X>(me, h, fill, op, n, k, alpha, lies, beta, {c, n, n, ldc}); \
    } \
    EXPORT Status cublas##L##trsm_v2##s(H h, int side, int fill, int op, int diag, I m, I n, \
                                        const X *alpha, Address a, I lda, Address b, I ldb) { \
        Matrix lies = {a, side == LEFT ? m : n, side == LEFT ? m : n, lda}; \
        BEGIN(is_op(op) && fill / 2 == 0 && diag / 2 == 0 && side / 2 == 0 && fits(lies) && \
              fits({b, m, n, ldb})); \
        return trsm<X>(me, h, side, fill, op, diag, alpha, lies, {b, m, n, ldb}); \
    }
#define MATRICES(I, s)                     \
    MATRICES_OF(I, s, S, ger, float)       \
    MATRICES_OF(I, s, D, ger, double)      \
    MATRICES_OF(I, s, C, geru, C32)        \
    MATRICES_OF(I, s, Z, geru, C64)
MATRICES(int, )
MATRICES(int64_t, _64)

// Products whose types are arguments

enum {
    R_32F = 0,
    R_16F = 2,
    R_8I = 3,
    R_32I = 10,
    R_16BF = 14,
    COMPUTE_32F = 68,
    COMPUTE_32I = 72,
    FAST_16BF = 75,
    FAST_TF32 = 77
};

template<int bits> struct Rounded {  // a float, of whose fraction so many bits are used
    float value;
    operator float() const {
        const uint32_t u = bits_of(value), dropped = 23 - bits;
        const uint32_t half = (1u << (dropped - 1)) - 1 + (u >> dropped & 1);
        return value != value ? value : float_of((u + half) >> dropped << dropped);
    }
};

static Status gemm_ex(const char *me, H h, Product p, const void *alpha, Address a, int type_a,
                      Address b, int type_b, const void *beta, Address c, int type_c, int compute) {
    if (type_a != type_b) return NOT_SUPPORTED;
    if (compute == COMPUTE_32F) {
        if (type_a == R_16F && type_c == R_16F)
            return gemm<Half, Half, float, float>(me, h, p, alpha, a, b, beta, c);
        if (type_a == R_16F && type_c == R_32F)
            return gemm<Half, float, float, float>(me, h, p, alpha, a, b, beta, c);
        if (type_a == R_16BF && type_c == R_16BF)
            return gemm<Bfloat, Bfloat, float, float>(me, h, p, alpha, a, b, beta, c);
        if (type_a == R_16BF && type_c == R_32F)
            return gemm<Bfloat, float, float, float>(me, h, p, alpha, a, b, beta, c);
        if (type_a == R_32F && type_c == R_32F)
            return gemm<float, float, float, float>(me, h, p, alpha, a, b, beta, c);
    }
    if (compute == FAST_TF32 && type_a == R_32F && type_c == R_32F)
        return gemm<Rounded<10>, float, float, float>(me, h, p, alpha, a, b, beta, c);
    if (compute == FAST_16BF && type_a == R_32F && type_c == R_32F)
        return gemm<Rounded<7>, float, float, float>(me, h, p, alpha, a, b, beta, c);
    if (compute == COMPUTE_32I && type_a == R_8I &&
        type_c == R_32I) {  // which wants multiples of 4 bytes
        if (a % 4 || b % 4 || p.lda % 4 || p.ldb % 4 || p.step_a % 4 || p.step_b % 4)
            return NOT_SUPPORTED;
        return gemm<int8_t, int32_t, int32_t, uint32_t>(me, h, p, alpha, a, b, beta, c);
    }
    return NOT_SUPPORTED;
}

#define TYPED(I, s) \
    EXPORT Status cublasGemmEx##s(H h, int opa, int opb, I m, I n, I k, const void *alpha, \
                                  Address a, int ta, I lda, Address b, int tb, I ldb, \
                                  const void *beta, Address c, int tc, I ldc, int compute, int) { \
        Product p = {opa, opb, m, n, k, lda, ldb, ldc, 0, 0, 0, 1}; \
        BEGIN(p.valid()); \
        return gemm_ex(me, h, p, alpha, a, ta, b, tb, beta, c, tc, compute); \
    } \
    EXPORT Status cublasGemmStridedBatchedEx##s( \
        H h, int opa, int opb, I m, I n, I k, const void *alpha, Address a, int ta, I lda, \
        long long sa, Address b, int tb, I ldb, long long sb, const void *beta, Address c, int tc, \
        I ldc, long long sc, I count, int compute, int) { \
        Product p = {opa, opb, m, n, k, lda, ldb, ldc, sa, sb, sc, count}; \
        BEGIN(p.valid()); \
        return gemm_ex(me, h, p, alpha, a, ta, b, tb, beta, c, tc, compute); \
    }
TYPED(int, )
TYPED(int64_t, _64)

#endif
