/* Factorisations as LAPACK has them, on column-major matrices in memory of the host: the parts that
   the mock cuBLAS and the mock cuSOLVER share. */
#ifndef MAT_MOCK_FACTORS_HPP
#define MAT_MOCK_FACTORS_HPP

#include "matrices.hpp"

static inline double real_part(double x) { return x; }
template<class R> static double real_part(std::complex<R> x) { return double(x.real()); }

// ?GETRF: the number from 1 on of the first pivot that is 0 or, as in cuSOLVER, not a number,
// or 0; P counts from 1.
template<class X, class P> static int getrf(X *a, int64_t n, int64_t ld, P *pivots) {
    int info = 0;
    for (int64_t j = 0; j < n; j++) {
        X *column = a + j * ld;
        int64_t p = j;
        for (int64_t i = j + 1; i < n; i++)
            if (size_of(column[i]) > size_of(column[p])) p = i;
        pivots[j] = P(p + 1);
        for (int64_t k = 0; k < n && p != j; k++) std::swap(a[j + k * ld], a[p + k * ld]);
        const bool zero = column[j] == X(0);
        if (!info && (zero || column[j] != column[j])) info = int(j + 1);
        if (zero) continue;
        for (int64_t i = j + 1; i < n; i++) column[i] = column[i] / column[j];
        for (int64_t k = j + 1; k < n; k++)
            for (int64_t i = j + 1; i < n; i++) a[i + k * ld] -= column[i] * a[j + k * ld];
    }
    return info;
}

// ?GETRS for one column
template<class X, class P>
static void getrs(const X *a, int64_t n, int64_t ld, int op, const P *pivots, X *x) {
    for (int64_t j = 0; op == N && j < n; j++) std::swap(x[j], x[pivots[j] - 1]);
    solve(a, ld, n, op == N, op, false, op == N, x, 1);
    solve(a, ld, n, op != N, op, false, op != N, x, 1);
    for (int64_t j = n - 1; op != N && j >= 0; j--) std::swap(x[j], x[pivots[j] - 1]);
}

// ?POTRF: of the other triangle nothing is read, and what is left there is nobody's business.
template<class X> static int potrf(X *a, int64_t n, int64_t ld, bool lower) {
    auto at = [=](int64_t i, int64_t j) -> X & { return lower ? a[i + j * ld] : a[j + i * ld]; };
    for (int64_t j = 0; j < n; j++) {  // at(i, j), i >= j, is of L, or of U transposed
        double square = real_part(at(j, j));
        for (int64_t k = 0; k < j; k++) square -= square_of(at(j, k));
        if (square <= 0) {  // what is not a number is no error, as in cuSOLVER
            at(j, j) = X(std::sqrt(square));  // of a negative number: NaN
            return int(j + 1);
        }
        at(j, j) = X(std::sqrt(square));
        for (int64_t i = j + 1; i < n; i++) {
            typedef typename Sums<X>::type S;
            S sum(at(i, j));
            for (int64_t k = 0; k < j; k++) sum -= S(at(i, k)) * S(conjugate(at(j, k)));
            at(i, j) = X(sum) / at(j, j);
            at(j, i) = X(std::nan(""));
        }
    }
    return 0;
}

struct Numbers {  // packed, with as many bytes as `size` says
    Address at;
    int64_t n;
    size_t bytes(size_t size) const { return n > 0 ? size_t(n) * size : 0; }
};

// Calls work(k, a), for each of the matrices whose addresses are at `all`.
template<class X, class Work>
static void for_each(Address all, int64_t n, int64_t ld, int64_t count, const char *me, Work work) {
    const Address *found = real<Address>(Numbers{all, count}, true, me);
    for (int64_t k = 0; found && k < count; k++)
        if (X *a = real<X>(Matrix{found[k], n, n, ld}, true, me)) work(k, a);
}

// The blocks of an axis of a grid, of which each matrix may have one
enum { MOST_STACKED = 65535 };

#define STACKED(L, X) \
    EXPORT Status cublas##L##getrfBatched(H h, int n, Address a, int lda, Address pivots, \
                                          Address infos, int count) { \
        BEGIN(n >= 0 && lda >= std::max(1, n) && count >= 0 && count <= MOST_STACKED); \
        return queue(h, [=] { \
            int *p = real<int>(Numbers{pivots, int64_t(n) * count}, true, me); \
            int *info = real<int>(Numbers{infos, count}, true, me); \
            for_each<X>(a, n, lda, count, me, \
                        [=](int64_t k, X *x) { info[k] = getrf(x, n, lda, p + k * n); }); \
        }); \
    } \
    EXPORT Status cublas##L##getrsBatched(H h, int op, int n, int columns, Address a, int lda, \
                                          Address pivots, Address b, int ldb, int *info, \
                                          int count) { \
        BEGIN(is_op(op) && n >= 0 && columns >= 0 && lda >= std::max(1, n) && \
              ldb >= std::max(1, n) && count >= 0 && count <= MOST_STACKED); \
        *info = 0; \
        return queue(h, [=] { \
            const int *p = real<int>(Numbers{pivots, int64_t(n) * count}, true, me); \
            const Address *sides = real<Address>(Numbers{b, count}, true, me); \
            for_each<X>(a, n, lda, count, me, [=](int64_t k, X *x) { \
                X *to = real<X>(Matrix{sides[k], n, columns, ldb}, true, me); \
                for (int64_t j = 0; j < columns; j++) \
                    getrs(x, n, lda, op, p + k * n, to + j * ldb); \
            }); \
        }); \
    } \
    EXPORT Status cublas##L##getriBatched(H h, int n, Address a, int lda, Address pivots, \
                                          Address c, int ldc, Address infos, int count) { \
        BEGIN(n >= 0 && lda >= std::max(1, n) && ldc >= std::max(1, n) && count >= 0 && \
              count <= MOST_STACKED); \
        return queue(h, [=] { \
            const int *p = real<int>(Numbers{pivots, int64_t(n) * count}, true, me); \
            int *info = real<int>(Numbers{infos, count}, true, me); \
            const Address *results = real<Address>(Numbers{c, count}, true, me); \
            for_each<X>(a, n, lda, count, me, [=](int64_t k, X *x) { \
                X *to = real<X>(Matrix{results[k], n, n, ldc}, true, me); \
                for (int64_t j = 0; j < n; j++) { \
                    for (int64_t i = 0; i < n; i++) to[i + j * ldc] = X(i == j); \
                    getrs(x, n, lda, N, p + k * n, to + j * ldc); \
                } \
                info[k] = 0; \
            }); \
        }); \
    }

#endif
