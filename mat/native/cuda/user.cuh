/* Users' kernels: what threads load and store, for operands of several types.

   Python writes the class of a kernel, mat_users, which computes the elements of places for
   mat_walk (strided_loop.cuh). It has the values of each operand in an array of their own. */
#ifndef MAT_USER_CUH
#define MAT_USER_CUH

#include "complex.cuh"
#include "places_inline.h"
#include "strided_loop.cuh"

/* A frame with numbers at its end */
template <int N, int FACTS> struct mat_user_frame : mat_axes<N> {
    int64_t facts[FACTS];
};

/* Pointers to elements, and indices that count along axes from `first` on */
template <class S, int k, int M, int N>
INLINE void mat_point(const mat_call &call, const int64_t (&at)[M][N], const S *(&to)[M]) {
#pragma unroll
    for (int m = 0; m < M; m++) to[m] = (const S *)call.at[k] + at[m][k];
}
template <class S, int k, int W, int U, int N>
INLINE void mat_point_groups(const mat_call &call, int64_t step, const int64_t (&at)[U][N],
                             const S *(&to)[U * W]) {
#pragma unroll
    for (int m = 0; m < U * W; m++)
        to[m] = (const S *)call.at[k] + at[m / W][k] + (step ? m % W : 0);
}
template <int k, int M, int N>
INLINE void mat_count(int64_t first, const int64_t (&at)[M][N], int64_t (&to)[M]) {
#pragma unroll
    for (int m = 0; m < M; m++) to[m] = first + at[m][k];
}
template <int k, int W, int U, int N>
INLINE void mat_count_groups(int64_t first, int64_t step, const int64_t (&at)[U][N],
                             int64_t (&to)[U * W]) {
#pragma unroll
    for (int m = 0; m < U * W; m++) to[m] = first + at[m / W][k] + (step ? m % W : 0);
}

/* Elements of the type S, of the operand k, as values of the type V */
template <class S, class V, int k, int M, int N>
INLINE void mat_take(const mat_call &call, const int64_t (&at)[M][N], const bool (&there)[M],
                     V (&to)[M]) {
#pragma unroll
    for (int m = 0; m < M; m++)
        if (there[m]) to[m] = mat_convert<V>(((const S *)call.at[k])[at[m][k]]);
}

template <class S, class V, int k, int M, int N>
INLINE void mat_put(const mat_call &call, const int64_t (&at)[M][N], const bool (&there)[M],
                    const V (&from)[M]) {
#pragma unroll
    for (int m = 0; m < M; m++)
        if (there[m]) ((S *)call.at[k])[at[m][k]] = mat_convert<S>(from[m]);
}

/* Groups of W adjacent elements at U places; where the step is 0, one element for a group */
template <class S, class V, int k, int W, int U, int N>
INLINE void mat_take_groups(const mat_call &call, int64_t step, const int64_t (&at)[U][N],
                            V (&to)[U * W]) {
#pragma unroll
    for (int u = 0; u < U; u++) {
        const S *const from = (const S *)call.at[k] + at[u][k];
        if (step) {
            const mat_pack<S, W> pack = *(const mat_pack<S, W> *)from;
#pragma unroll
            for (int w = 0; w < W; w++) to[u * W + w] = mat_convert<V>(pack.at[w]);
        } else {
            const V one = mat_convert<V>(*from);
#pragma unroll
            for (int w = 0; w < W; w++) to[u * W + w] = one;
        }
    }
}

template <class S, class V, int k, int W, int U, int N>
INLINE void mat_put_groups(const mat_call &call, const int64_t (&at)[U][N],
                           const V (&from)[U * W]) {
#pragma unroll
    for (int u = 0; u < U; u++) {
        mat_pack<S, W> pack;
#pragma unroll
        for (int w = 0; w < W; w++) pack.at[w] = mat_convert<S>(from[u * W + w]);
        *(mat_pack<S, W> *)((S *)call.at[k] + at[u][k]) = pack;
    }
}

/* Complex numbers in users' statements: beside real ones, as in C */
template <class R> INLINE R mat_real(mat_complex<R> z) { return z.re; }
template <class R> INLINE R mat_imag(mat_complex<R> z) { return z.im; }
template <class R> INLINE mat_complex<R> mat_conj(mat_complex<R> z) { return {z.re, -z.im}; }
template <class T> INLINE T mat_imaginary() { return T(0, 1); }

template <class A> struct mat_plain_number { static constexpr bool is = false; };
#define MAT_PLAIN(type) template <> struct mat_plain_number<type> { typedef int yes; };
MAT_PLAIN(bool) MAT_PLAIN(int8_t) MAT_PLAIN(int16_t) MAT_PLAIN(int32_t) MAT_PLAIN(int64_t)
MAT_PLAIN(uint8_t) MAT_PLAIN(uint16_t) MAT_PLAIN(uint32_t) MAT_PLAIN(uint64_t)
MAT_PLAIN(float) MAT_PLAIN(double)
#undef MAT_PLAIN
#define MAT_BESIDE(op) \
    template<class R, class A, typename mat_plain_number<A>::yes = 0> \
    INLINE mat_complex<R> operator op(mat_complex<R> z, A x) { return z op mat_complex<R>((R)x); } \
    template<class R, class A, typename mat_plain_number<A>::yes = 0> \
    INLINE mat_complex<R> operator op(A x, mat_complex<R> z) { return mat_complex<R>((R)x) op z; }
MAT_BESIDE(+) MAT_BESIDE(-) MAT_BESIDE(*)
#undef MAT_BESIDE
template<class R, class A, typename mat_plain_number<A>::yes = 0>
INLINE mat_complex<R> operator/(mat_complex<R> z, A x) { return z / mat_complex<R>((R)x); }
template<class R> INLINE mat_complex<R> operator/(R x, mat_complex<R> z) {
    return mat_complex<R>(x) / z;
}
#define MAT_ASSIGNING(op) \
    template<class R, class A> INLINE mat_complex<R> &operator op##=(mat_complex<R> &z, A x) { \
        return z = z op x; \
    }
MAT_ASSIGNING(+) MAT_ASSIGNING(-) MAT_ASSIGNING(*) MAT_ASSIGNING(/)
#undef MAT_ASSIGNING

#endif
