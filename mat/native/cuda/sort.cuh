/* Sorting along an axis, stable: the elements of lines, or their indices.

   `tiles` sorts tiles of a line, each by a block, in shared memory; every `merge` makes one run of
   two that are adjacent, until a line is one. Both merge by ranks: of the elements that two runs
   have together a thread finds out how many of the first ones are of the first run, and goes on
   from there, so that no thread waits for another. Elements before the last merge are in a
   workspace: two areas of all elements, line by line, each followed by one of their indices, if
   these are wanted. What is equal remains in its order; what is not a number comes last. */
#ifndef MAT_SORT_CUH
#define MAT_SORT_CUH

#include "axes.cuh"
#include "elements.cuh"

enum { MAT_SORT_THREADS = 256, MAT_SORT_EACH = 4 };

struct mat_sort {
    int64_t length, step_x, step_y; /* along the axis, in elements */
    int64_t tiles;                  /* blocks for a line */
    int64_t width;                  /* elements of the runs that are merged */
    int64_t from, to;               /* areas of the workspace; -1: of the operands */
    int64_t elements;               /* of an area */
    int64_t descending;
    mat_reduced_axes others;
};

/* The order */

/* Whether a comes before b; NaN comes last in both directions, as in NumPy. */
template <class C> INLINE bool mat_ordered(C a, C b, bool descending) {
    return (descending ? b < a : a < b) || (mat_nan(b) && !mat_nan(a));
}
/* Complex numbers by their real parts, then by the others. */
template <class R>
INLINE bool mat_ordered(mat_complex<R> a, mat_complex<R> b, bool descending) {
    bool first = descending ? b.re < a.re : a.re < b.re;
    bool last = descending ? a.re < b.re : b.re < a.re;
    if (first) return !mat_nan(a.im) || mat_nan(b.im);
    if (last) return mat_nan(b.im) && !mat_nan(a.im);
    if (a.re == b.re || (mat_nan(a.re) && mat_nan(b.re)))
        return mat_ordered(a.im, b.im, descending);
    return mat_nan(b.re);
}
template <class T> INLINE bool mat_before(T a, T b, bool descending) {
    return mat_ordered(mat_widen(a), mat_widen(b), descending);
}

/* Runs */

/* Of the first `rank` elements of the runs a and b, how many are of a. */
template <class T>
INLINE int64_t mat_of_first(const T *a, int64_t of_a, const T *b, int64_t of_b, int64_t rank,
                            bool descending) {
    int64_t low = rank > of_b ? rank - of_b : 0, high = rank < of_a ? rank : of_a;
    while (low < high) {
        int64_t i = (low + high) / 2;
        if (mat_before(b[rank - 1 - i], a[i], descending)) high = i;
        else low = i + 1;
    }
    return low;
}

/* Where `count` of E elements from the rank-th on of a run of two, at x and x + of_a, come from. */
template <class T, int E>
INLINE void mat_merged(const T *x, int64_t of_a, int64_t of_b, int64_t rank, int count,
                       bool descending, int64_t (&source)[E]) {
    const T *a = x, *b = x + of_a;
    int64_t i = mat_of_first(a, of_a, b, of_b, rank, descending), j = rank - i;
#pragma unroll
    for (int e = 0; e < E; e++)
        if (e < count) {
            bool first = i < of_a && (j >= of_b || !mat_before(b[j], a[i], descending));
            source[e] = first ? i++ : of_a + j++;
        }
}

template <class T> struct mat_sort_areas {
    T *values;
    uint32_t *indices;
};

template <class T, bool INDICES>
INLINE mat_sort_areas<T> mat_sort_area(const mat_sort &f, const mat_call &call, int64_t number,
                                       int64_t line) {
    int64_t values = (f.elements * (int64_t)sizeof(T) + 15) / 16 * 16;
    int64_t more = INDICES ? (f.elements * (int64_t)sizeof(uint32_t) + 15) / 16 * 16 : 0;
    char *at = call.at[2] + number * (values + more);
    uint32_t *indices = (uint32_t *)(at + values);
    return {(T *)at + line * f.length, indices + line * f.length};
}

/* Leaves an element of a line, and its index, in an area or in y. */
template <class T, bool INDICES>
INLINE void mat_sort_put(const mat_sort &f, const mat_call &call, mat_sort_areas<T> to,
                         int64_t y, int64_t k, T value, uint32_t index) {
    if (f.to >= 0) {
        to.values[k] = value;
        if (INDICES) to.indices[k] = index;
    } else if (INDICES) {
        ((int64_t *)call.at[1])[y + k * f.step_y] = index;
    } else {
        ((T *)call.at[1])[y + k * f.step_y] = value;
    }
}

/* The elements of a thread in order, `count` of E, by exchanges of neighbours. */
template <class T, int E>
INLINE void mat_sort_few(T (&x)[E], uint16_t (&place)[E], int count, bool descending) {
#pragma unroll
    for (int round = 0; round < E; round++)
#pragma unroll
        for (int e = round % 2; e + 1 < E; e += 2)
            if (e + 1 < count && mat_before(x[e + 1], x[e], descending)) {
                T value = x[e];
                uint16_t other = place[e];
                x[e] = x[e + 1], place[e] = place[e + 1];
                x[e + 1] = value, place[e + 1] = other;
            }
}

template <class T, bool INDICES>
INLINE void mat_sort_tiles(const mat_sort &f, const mat_call &call) {
    enum { E = MAT_SORT_EACH, N = MAT_SORT_THREADS * E };
    MAT_SHARED(T, values, [N]);
    MAT_SHARED(uint16_t, places, [N]);
    int64_t line = (int64_t)blockIdx.x / f.tiles, from = ((int64_t)blockIdx.x - line * f.tiles) * N;
    int n = (int)(f.length - from < N ? f.length - from : N), first = (int)threadIdx.x * E;
    int count = n - first < 0 ? 0 : n - first < E ? n - first : E;
    bool descending = f.descending != 0;
    mat_place_of at = mat_placed(f.others, (int)f.others.rank, line);
    const T *x = (const T *)call.at[0] + at.x + from * f.step_x;
    for (int k = (int)threadIdx.x; k < n; k += MAT_SORT_THREADS) values[k] = x[k * f.step_x];
    __syncthreads();
    T mine[E];
    uint16_t place[E];
#pragma unroll
    for (int e = 0; e < E; e++) {
        place[e] = (uint16_t)(first + e);
        if (e < count) mine[e] = values[first + e];
    }
    mat_sort_few(mine, place, count, descending);
    for (int width = E;; width *= 2) {
#pragma unroll
        for (int e = 0; e < E; e++)
            if (e < count) {
                values[first + e] = mine[e];
                if (INDICES) places[first + e] = place[e];
            }
        __syncthreads();
        if (width >= n) break;
        int start = first / (2 * width) * (2 * width), rest = n - start;
        int of_a = rest < width ? rest : width;
        int of_b = rest - of_a < width ? rest - of_a : width;
        if (count) {
            int64_t source[E];
            mat_merged<T, E>(values + start, of_a, of_b, first - start, count, descending, source);
#pragma unroll
            for (int e = 0; e < E; e++)
                if (e < count) {
                    mine[e] = values[start + source[e]];
                    if (INDICES) place[e] = places[start + source[e]];
                }
        }
        __syncthreads();
    }
    mat_sort_areas<T> to = mat_sort_area<T, INDICES>(f, call, f.to, line);
    for (int k = (int)threadIdx.x; k < n; k += MAT_SORT_THREADS)
        mat_sort_put<T, INDICES>(f, call, to, at.y, from + k, values[k],
                                 (uint32_t)(from + (INDICES ? places[k] : 0)));
}

/* A thread makes E elements of a run; those of a block are of one line. */
template <class T, bool INDICES>
INLINE void mat_sort_merge(const mat_sort &f, const mat_call &call) {
    enum { E = MAT_SORT_EACH, N = MAT_SORT_THREADS * E };
    int64_t line = (int64_t)blockIdx.x / f.tiles;
    int64_t first = ((int64_t)blockIdx.x - line * f.tiles) * N + threadIdx.x * E;
    if (first >= f.length) return;
    int count = (int)(f.length - first < E ? f.length - first : E);
    mat_place_of at = mat_placed(f.others, (int)f.others.rank, line);
    mat_sort_areas<T> x = mat_sort_area<T, INDICES>(f, call, f.from, line);
    mat_sort_areas<T> to = mat_sort_area<T, INDICES>(f, call, f.to, line);
    int64_t start = first / (2 * f.width) * (2 * f.width), rest = f.length - start;
    int64_t of_a = rest < f.width ? rest : f.width;
    int64_t of_b = rest - of_a < f.width ? rest - of_a : f.width, source[E];
    mat_merged<T, E>(x.values + start, of_a, of_b, first - start, count, f.descending != 0, source);
#pragma unroll
    for (int e = 0; e < E; e++)
        if (e < count)
            mat_sort_put<T, INDICES>(f, call, to, at.y, first + e, x.values[start + source[e]],
                                     INDICES ? x.indices[start + source[e]] : 0);
}

#define MAT_SORT(name, T) \
    MAT_KERNEL(sort_##name##_tiles, mat_sort, MAT_SORT_THREADS) { \
        mat_sort_tiles<T, false>(frame, call); \
    } \
    MAT_KERNEL(sort_##name##_merge, mat_sort, MAT_SORT_THREADS) { \
        mat_sort_merge<T, false>(frame, call); \
    } \
    MAT_KERNEL(argsort_##name##_tiles, mat_sort, MAT_SORT_THREADS) { \
        mat_sort_tiles<T, true>(frame, call); \
    } \
    MAT_KERNEL(argsort_##name##_merge, mat_sort, MAT_SORT_THREADS) { \
        mat_sort_merge<T, true>(frame, call); \
    }

#endif
