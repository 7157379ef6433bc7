/* Searching in sorted elements, and what is made of equal ones that are adjacent there: which of
   them are the first, and how many there are. All operands are packed, but those of `found`. */
#ifndef MAT_SEARCH_CUH
#define MAT_SEARCH_CUH

#include "sort.cuh"

struct mat_search {
    int64_t length, step, count, right; /* of what is searched; how many elements are found */
    mat_reduced_axes axes;
};

/* Of sorted elements, how many come before each of others: before the first one that is not less,
   or, to the right, that is greater. */
template <class T> INLINE void mat_found(const mat_search &f, const mat_call &call) {
    int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = f.length;
    if (k >= f.count) return;
    mat_place_of at = mat_placed(f.axes, (int)f.axes.rank, k);
    const T *sorted = (const T *)call.at[0];
    T value = ((const T *)call.at[1])[at.x];
    while (low < high) {
        int64_t i = low + (high - low) / 2;
        T other = sorted[i * f.step];
        bool later = f.right ? !mat_before(value, other, false) : mat_before(other, value, false);
        if (later) low = i + 1;
        else high = i;
    }
    ((int64_t *)call.at[2])[at.y] = low;
}

struct mat_count {
    int64_t count, equal_nan, results;
};

/* 1 where a sorted element differs from the one before it; 0 else. */
template <class T> INLINE void mat_firsts(const mat_count &f, const mat_call &call) {
    int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= f.count) return;
    const T *x = (const T *)call.at[0];
    bool differs = k == 0;
    if (k) {
        mat_computed<T> a = mat_widen(x[k - 1]), b = mat_widen(x[k]);
        differs = a != b && !(f.equal_nan && mat_nan(a) && mat_nan(b));
    }
    ((int64_t *)call.at[1])[k] = differs;
}

#define MAT_SEARCH(name, T) \
    MAT_KERNEL(search_##name##_found, mat_search, MAT_SORT_THREADS) { \
        mat_found<T>(frame, call); \
    } \
    MAT_KERNEL(search_##name##_firsts, mat_count, MAT_SORT_THREADS) { mat_firsts<T>(frame, call); }

#endif
