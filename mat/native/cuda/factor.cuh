/* Factors of matrices, for stacks of them: LU with the largest element of each column as pivot,
   Cholesky's, and solving with LU.

   Matrices are packed, row by row, in the call's memory. A block of 256 threads has a matrix, or a
   panel of one: its left columns, which are factored before the rest is brought up to date by
   cuBLAS. Rows are exchanged there by mat_factor_swap. A matrix that cannot be factored sets a flag
   that the host reads at the end. */
#ifndef MAT_FACTOR_CUH
#define MAT_FACTOR_CUH

#include "device.cuh"

template <typename R> struct alignas(2 * sizeof(R)) complex_number {
    R re, im;
};

template <typename T> struct number {
    typedef T real;
};
template <typename R> struct number<complex_number<R>> {
    typedef R real;
};

INLINE float size_of(float x) { return x < 0 ? -x : x; }
INLINE double size_of(double x) { return x < 0 ? -x : x; }
template<typename R> INLINE R size_of(complex_number<R> x) {
    return size_of(x.re) + size_of(x.im);
}
INLINE float real_of(float x) { return x; }
INLINE double real_of(double x) { return x; }
template <typename R> INLINE R real_of(complex_number<R> x) { return x.re; }
INLINE void set(float &x, float re) { x = re; }
INLINE void set(double &x, double re) { x = re; }
template <typename R> INLINE void set(complex_number<R> &x, R re) { x.re = re, x.im = 0; }
template <typename T> INLINE T conjugate(T x) { return x; }
template<typename R> INLINE complex_number<R> conjugate(complex_number<R> x) {
    return {x.re, -x.im};
}
INLINE float root(float x) { return sqrtf(x); }
INLINE double root(double x) { return sqrt(x); }

/* a - b c, a / b */
template <typename T> INLINE T less(T a, T b, T c) { return a - b * c; }
template<typename R>
INLINE complex_number<R> less(complex_number<R> a, complex_number<R> b,
                              complex_number<R> c) {
    return {a.re - b.re * c.re + b.im * c.im, a.im - b.re * c.im - b.im * c.re};
}
template <typename T> INLINE T ratio(T a, T b) { return a / b; }
template<typename R>
INLINE complex_number<R> ratio(complex_number<R> a, complex_number<R> b) {
    if (size_of(b.re) >= size_of(b.im)) { /* so that no square overflows */
        const R q = b.im / b.re, d = b.re + b.im * q;
        return {(a.re + a.im * q) / d, (a.im - a.re * q) / d};
    }
    const R q = b.re / b.im, d = b.re * q + b.im;
    return {(a.re * q + a.im) / d, (a.im * q - a.re) / d};
}

/* a b, and a r for a real r */
template <typename T> INLINE T times(T a, T b) { return a * b; }
template<typename R>
INLINE complex_number<R> times(complex_number<R> a, complex_number<R> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <typename T> INLINE T scaled(T a, T r) { return a * r; }
template<typename R> INLINE complex_number<R> scaled(complex_number<R> a, R r) {
    return {a.re * r, a.im * r};
}

/* A factor for a pivot and the elements that are divided by it, so that its reciprocal does not
   overflow. */
INLINE float lift(float size) { return size < 1e-30f ? 1.1529215e18f : 1.0f; } /* 2^60 */
INLINE double lift(double size) { return size < 1e-300 ? 1.152921504606846976e18 : 1.0; }

/* Copy to a packed stack, at[0]: the elements of at[1], of its lower triangle, or those of the
   identity. at[2] is the flag, which is cleared. */
struct factor_load {
    int64_t rows, columns, row, column, count; /* steps of the source; matrices */
    int64_t what; /* 0: all; 1: the lower triangle, above it 0; 2: the identity */
    int64_t rank, batch[8], steps[8];
};

/* The offset in the strided operand of element k of the packed stack. */
INLINE int64_t place_of(const factor_load &frame, int64_t k) {
    int64_t rest = k / frame.columns / frame.rows;
    int64_t at = k / frame.columns % frame.rows * frame.row + k % frame.columns * frame.column;
    for (int d = (int)frame.rank - 1; d >= 0; d--) {
        at += rest % frame.batch[d] * frame.steps[d];
        rest /= frame.batch[d];
    }
    return at;
}

template <typename T> INLINE void load(const factor_load &frame, const mat_call &call) {
    const int64_t k = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (k == 0) *(int32_t *)call.at[2] = 0;
    if (k >= frame.rows * frame.columns * frame.count) return;
    const int64_t j = k % frame.columns, i = k / frame.columns % frame.rows;
    T value;
    set(value, (typename number<T>::real)(i == j));
    if (frame.what == 0 || (frame.what == 1 && j <= i)) {
        value = ((const T *)call.at[1])[place_of(frame, k)];
    } else if (frame.what == 1) {
        set(value, (typename number<T>::real)0);
    }
    ((T *)call.at[0])[k] = value;
}

/* Copy the packed stack at[0] to the strided one at[1]. */
template <typename T> INLINE void store(const factor_load &frame, const mat_call &call) {
    const int64_t k = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (k >= frame.rows * frame.columns * frame.count) return;
    ((T *)call.at[1])[place_of(frame, k)] = ((const T *)call.at[0])[k];
}

/* Panels: at[0] is their first element, at[1] their pivots, at[2] the flag. */
struct factor_panel {
    int64_t rows, columns, step, first; /* from row to row; the number of the first row */
    int64_t matrix, pivots;             /* from matrix to matrix */
};

/* The first of the rows from `j` on that have the largest element in column `j`; the same in all
   threads. */
template <typename T> INLINE int pivot_of(const T *a, const factor_panel &frame, int64_t j) {
    typedef typename number<T>::real real;
    MAT_SHARED(real, largest, [8]);
    MAT_SHARED(int, row, [8]);
    real best = -1;
    int found = (int)j;
    for (int64_t i = j + threadIdx.x; i < frame.rows; i += 256) {
        const real size = size_of(a[i * frame.step + j]);
        if (size > best) best = size, found = (int)i;
    }
#pragma unroll
    for (int distance = 16; distance; distance /= 2) {
        const real other = __shfl_down_sync(0xffffffffu, best, distance);
        const int at = __shfl_down_sync(0xffffffffu, found, distance);
        if (other > best || (other == best && at < found)) best = other, found = at;
    }
    if (threadIdx.x % 32 == 0) largest[threadIdx.x / 32] = best, row[threadIdx.x / 32] = found;
    __syncthreads();
    best = largest[0], found = row[0];
    for (int w = 1; w < 8; w++)
        if (largest[w] > best || (largest[w] == best && row[w] < found))
            best = largest[w], found = row[w];
    return found;
}

template <typename T> INLINE void lu(const factor_panel &frame, const mat_call &call) {
    T *a = (T *)call.at[0] + blockIdx.x * frame.matrix;
    int32_t *pivots = (int32_t *)call.at[1] + blockIdx.x * frame.pivots;
    const int64_t rows = frame.rows, columns = frame.columns, step = frame.step;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int64_t j = 0; j < columns && j < rows; j++) {
        const int64_t p = pivot_of(a, frame, j);
        if (threadIdx.x == 0) pivots[j] = (int32_t)(frame.first + p);
        if (p != j)
            for (int64_t k = threadIdx.x; k < columns; k += 256) {
                const T kept = a[j * step + k];
                a[j * step + k] = a[p * step + k];
                a[p * step + k] = kept;
            }
        __syncthreads();
        const T pivot = a[j * step + j];
        if (size_of(pivot) == 0) {
            if (threadIdx.x == 0) *(int32_t *)call.at[2] = 1;
        } else {
            const typename number<T>::real up = lift(size_of(pivot));
            T one;
            set(one, (typename number<T>::real)1);
            const T inverse = ratio(one, scaled(pivot, up));
            for (int64_t i = j + 1 + threadIdx.x; i < rows; i += 256)
                a[i * step + j] = times(scaled(a[i * step + j], up), inverse);
        }
        __syncthreads();
        for (int64_t i = j + 1 + warp; i < rows; i += 8) {
            const T factor = a[i * step + j];
            for (int64_t k = j + 1 + lane; k < columns; k += 32)
                a[i * step + k] = less(a[i * step + k], factor, a[j * step + k]);
        }
        __syncthreads();
    }
}

template <typename T> INLINE void cholesky(const factor_panel &frame, const mat_call &call) {
    typedef typename number<T>::real real;
    MAT_SHARED(real, reciprocal, [1]);
    T *a = (T *)call.at[0] + blockIdx.x * frame.matrix;
    const int rows = (int)frame.rows; /* a panel's, or a small matrix's */
    const int64_t step = frame.step;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int j = 0; j < rows; j++) {
        if (threadIdx.x == 0) {
            const real square = real_of(a[j * step + j]), diagonal = root(square);
            if (!(square > 0)) *(int32_t *)call.at[2] = 1;
            set(a[j * step + j], diagonal);
            reciprocal[0] = 1 / diagonal;
        }
        __syncthreads();
        const real inverse = reciprocal[0];
        for (int i = j + 1 + threadIdx.x; i < rows; i += 256)
            a[i * step + j] = scaled(a[i * step + j], inverse);
        __syncthreads();
        for (int i = j + 1 + warp; i < rows; i += 8) {
            const T factor = a[i * step + j];
            for (int k = j + 1 + lane; k <= i; k += 32)
                a[i * step + k] = less(a[i * step + k], factor, conjugate(a[k * step + j]));
        }
        __syncthreads();
    }
}

/* Exchange rows of at[0] by the pivots at[1], from `first` on, in all columns but those from
   `low` to `high`. */
struct factor_swap {
    int64_t count, first, columns, step, low, high;
};

template <typename T> INLINE void exchange(const factor_swap &frame, const mat_call &call) {
    const int64_t k = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (k >= frame.columns || (k >= frame.low && k < frame.high)) return;
    T *a = (T *)call.at[0] + k;
    for (int64_t j = 0; j < frame.count; j++) {
        const int64_t i = frame.first + j, p = ((const int32_t *)call.at[1])[j];
        const T kept = a[i * frame.step];
        a[i * frame.step] = a[p * frame.step];
        a[p * frame.step] = kept;
    }
}

/* Solve for the columns of at[2], `columns` of each matrix, with the LU of n x n at at[0] and its
   pivots at at[1]. */
struct factor_solve {
    int64_t n, columns, count;
};

template <typename T> INLINE void solve(const factor_solve &frame, const mat_call &call) {
    const int64_t k = (int64_t)blockIdx.x * 256 + threadIdx.x, n = frame.n, step = frame.columns;
    if (k >= frame.columns * frame.count) return;
    const int64_t matrix = k / step;
    const T *a = (const T *)call.at[0] + matrix * n * n;
    const int32_t *pivots = (const int32_t *)call.at[1] + matrix * n;
    T *x = (T *)call.at[2] + matrix * n * step + k % step;
    for (int64_t i = 0; i < n; i++) {
        const int64_t p = pivots[i];
        T sum = x[p * step];
        x[p * step] = x[i * step];
        x[i * step] = sum;
    }
    for (int64_t i = 1; i < n; i++) {
        T sum = x[i * step];
        for (int64_t j = 0; j < i; j++) sum = less(sum, a[i * n + j], x[j * step]);
        x[i * step] = sum;
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        T sum = x[i * step];
        for (int64_t j = i + 1; j < n; j++) sum = less(sum, a[i * n + j], x[j * step]);
        x[i * step] = ratio(sum, a[i * n + i]);
    }
}

/* Copy the diagonal of the n x n matrix at[0] to adjacent elements of at[1]. */
struct factor_diagonal {
    int64_t n;
};

template<typename T>
INLINE void diagonal(const factor_diagonal &frame, const mat_call &call) {
    const int64_t k = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (k < frame.n) ((T *)call.at[1])[k] = ((const T *)call.at[0])[k * (frame.n + 1)];
}

#define MAT_FACTOR(T)                                                                      \
    MAT_KERNEL(mat_factor_load, factor_load, 256) { load<T>(frame, call); }                \
    MAT_KERNEL(mat_factor_store, factor_load, 256) { store<T>(frame, call); }              \
    MAT_KERNEL(mat_factor_lu, factor_panel, 256) { lu<T>(frame, call); }                   \
    MAT_KERNEL(mat_factor_cholesky, factor_panel, 256) { cholesky<T>(frame, call); }       \
    MAT_KERNEL(mat_factor_swap, factor_swap, 256) { exchange<T>(frame, call); }            \
    MAT_KERNEL(mat_factor_solve, factor_solve, 256) { solve<T>(frame, call); }             \
    MAT_KERNEL(mat_factor_diagonal, factor_diagonal, 256) { diagonal<T>(frame, call); }

#endif
