/* Searching in sorted elements, what is made of equal ones that are adjacent there: which of them
   are the first, and how many there are, and what lies between two of them. All operands are
   packed, but those of `found` and of lines. */
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

struct mat_sorted {
    int64_t n, step, lines; /* of each line */
    mat_reduced_axes axes;
};

/* The median of each line: its middle element, or half of the sum of both. A line with NaN in it
   has it last, and that is the result. */
template <class T, class R> INLINE void mat_middle(const mat_sorted &f, const mat_call &call) {
    const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= f.lines) return;
    const mat_place_of at = mat_placed(f.axes, (int)f.axes.rank, k);
    const T *x = (const T *)call.at[0] + at.x;
    const auto last = mat_widen(mat_convert<R>(x[(f.n - 1) * f.step]));
    const auto high = mat_widen(mat_convert<R>(x[f.n / 2 * f.step]));
    const auto sum = mat_widen(mat_convert<R>(x[(f.n - 1) / 2 * f.step])) + high;
    ((R *)call.at[1])[at.y] = mat_narrow<R>(last != last ? last : f.n % 2 ? high : sum / 2);
}

/* The element at a share of the way from one place of each line to another, computed from the
   nearer one. */
template <class T> INLINE void mat_between(const mat_sorted &f, const mat_call &call) {
    const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= f.lines) return;
    const mat_place_of at = mat_placed(f.axes, (int)f.axes.rank, k);
    const T *x = (const T *)call.at[0] + at.x;
    const double share = call.numbers[4];
    const T last = x[(f.n - 1) * f.step], low = x[(int64_t)call.numbers[0] * f.step];
    const T high = x[(int64_t)call.numbers[2] * f.step], way = high - low;
    ((T *)call.at[1])[at.y] = last != last  ? last
                              : share < 0.5 ? low + mat_product(way, (T)share)
                                            : high - mat_product(way, (T)(1 - share));
}

#define MAT_MIDDLE(name, T, R) \
    MAT_KERNEL(search_##name##_middle, mat_sorted, MAT_SORT_THREADS) { \
        mat_middle<T, R>(frame, call); \
    }
#define MAT_BETWEEN(name, T) \
    MAT_KERNEL(search_##name##_between, mat_sorted, MAT_SORT_THREADS) { \
        mat_between<T>(frame, call); \
    }
#define MAT_SEARCH(name, T) \
    MAT_KERNEL(search_##name##_found, mat_search, MAT_SORT_THREADS) { \
        mat_found<T>(frame, call); \
    } \
    MAT_KERNEL(search_##name##_firsts, mat_count, MAT_SORT_THREADS) { mat_firsts<T>(frame, call); }

#endif
