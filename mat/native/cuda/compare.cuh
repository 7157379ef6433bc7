/* Whether all elements of two operands are equal, or nearly: each block leaves whether any of its
   own are not. */
#ifndef MAT_COMPARE_CUH
#define MAT_COMPARE_CUH

#include "functions.cuh"
#include "reduce.cuh"

enum { MAT_COMPARE_THREADS = 256 };

struct mat_comparison {
    int64_t n, start_x, start_y, flat, equal_nan, rtol,
        atol; /* the tolerances are the bits of doubles */
    mat_reduced_axes axes;
};

struct mat_tolerance {
    double rtol, atol;
    bool equal_nan;
};

/* What NumPy computes with: the 16-bit floats round after each step. */
template <class S> INLINE mat_computed<S> mat_rounded(mat_computed<S> x) {
    return mat_widen(mat_narrow<S>(x));
}

struct mat_equal {
    template<class T> static INLINE bool of(T a, T b, const mat_tolerance &) {
        return mat_widen(a) == mat_widen(b);
    }
};

/* |a - b| <= atol + rtol |b|, where b is finite, or they are equal. Moduli have the bits of the
   host's, which decide where the distance is the tolerance. */
struct mat_near {
    template <class T> static INLINE bool of(T x, T y, const mat_tolerance &by) {
        typedef mat_computed<T> V;
        V a = mat_widen(x), b = mat_widen(y);
        V rtol = mat_rounded<T>((V)by.rtol), atol = mat_rounded<T>((V)by.atol);
        V most = mat_rounded<T>(atol + mat_rounded<T>(rtol * (b < 0 ? -b : b))),
          apart = mat_rounded<T>(a - b);
        bool near = (apart < 0 ? -apart : apart) <= most && mat_finite(b);
        return near || a == b || (by.equal_nan && a != a && b != b);
    }
    template<class V>
    static INLINE bool of(mat_complex<V> a, mat_complex<V> b, const mat_tolerance &by) {
        bool near = mat_hypot(a.re - b.re, a.im - b.im)
                    <= (V)by.atol + (V)((V)by.rtol * mat_hypot(b.re, b.im));
        bool nan = (a.re != a.re || a.im != a.im) && (b.re != b.re || b.im != b.im);
        return (near && mat_finite(b.re) && mat_finite(b.im)) || a == b ||
               (by.equal_nan && nan);
    }
};

/* The elements of number k, k + step, ... */
template<class I, class Test>
INLINE bool mat_differ_apart(const mat_comparison &f, const I *x, const I *y, int64_t k,
                             int64_t step, const mat_tolerance &by) {
    bool differ = false;
    for (; k < f.n; k += step) {
        mat_place_of at = mat_placed(f.axes, (int)f.axes.rank, k);
        differ |= !Test::of(x[at.x], y[at.y], by);
    }
    return differ;
}

template<class I, class Test>
INLINE bool mat_differ_flat(const mat_comparison &f, const I *x, const I *y, int64_t k,
                            int64_t step, const mat_tolerance &by) {
    enum { V = 16 / sizeof(I), U = 2 };
    bool differ = false;
    int64_t vectors = f.n / V, v = k;
    for (; v + (U - 1) * step < vectors; v += U * step) {
        union { uint4 all[U]; I item[U * V]; } a, b;
#pragma unroll
        for (int u = 0; u < U; u++)
            a.all[u] = mat_load(x + (v + u * step) * V),
            b.all[u] = mat_load(y + (v + u * step) * V);
#pragma unroll
        for (int j = 0; j < U * V; j++) differ |= !Test::of(a.item[j], b.item[j], by);
    }
    for (; v < vectors; v += step) {
        union { uint4 all; I item[V]; } a, b;
        a.all = mat_load(x + v * V), b.all = mat_load(y + v * V);
#pragma unroll
        for (int j = 0; j < V; j++) differ |= !Test::of(a.item[j], b.item[j], by);
    }
    for (int64_t j = vectors * V + k; j < f.n; j += step) differ |= !Test::of(x[j], y[j], by);
    return differ;
}

template<class I, class Test>
INLINE void mat_differ(const mat_comparison &f, const mat_call &call) {
    const I *x = (const I *)call.at[0] + f.start_x, *y = (const I *)call.at[1] + f.start_y;
    mat_tolerance by = {mat_of_bits((uint64_t)f.rtol), mat_of_bits((uint64_t)f.atol),
                        f.equal_nan != 0};
    int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x,
            step = (int64_t)gridDim.x * blockDim.x;
    bool flat = f.flat && (((size_t)x | (size_t)y) & 15) == 0;
    bool differ = flat ? mat_differ_flat<I, Test>(f, x, y, k, step, by)
                       : mat_differ_apart<I, Test>(f, x, y, k, step, by);
    int any = __syncthreads_or(differ);
    if (threadIdx.x == 0) ((int32_t *)call.at[2])[blockIdx.x] = any != 0;
}

#define MAT_DIFFER(name, ...) \
    MAT_KERNEL(name, mat_comparison, MAT_COMPARE_THREADS) { mat_differ<__VA_ARGS__>(frame, call); }

#endif
