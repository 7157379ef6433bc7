/* Places in arrays, for users' kernels: elements by number, neighbours outside of an array. */
#ifndef MAT_PLACES_INLINE_H
#define MAT_PLACES_INLINE_H

#include "bits_inline.h"

enum { MAT_MOST_PLACES = 8 };

/* The offset of the element of that number, in row-major order; `form`: the count of axes, their
   lengths and strides. */
INLINE int64_t mat_offset(const int64_t *form, int64_t number) {
    const int64_t *length = form + 1, *stride = length + MAT_MOST_PLACES;
    int64_t offset = 0;
    for (int64_t k = form[0] - 1; k > 0; k--) {
        const int64_t rest = number / length[k];
        offset += (number - rest * length[k]) * stride[k];
        number = rest;
    }
    return form[0] ? offset + number * stride[0] : 0;
}

/* The index in an axis of n elements that stands for index i, which may be outside. */
INLINE int64_t mat_nearest(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
INLINE int64_t mat_wrap(int64_t i, int64_t n) {
    const int64_t rest = i % n;
    return rest < 0 ? rest + n : rest;
}
INLINE int64_t mat_reflect(int64_t i, int64_t n) {
    const int64_t turn = n > 1 ? 2 * (n - 1) : 1, at = mat_wrap(i, turn);
    return at < n ? at : turn - at;
}

/* Narrow the elements from *low to *high of a loop to those with r neighbours to both sides; the
   index of element i is first + i * each, of n. */
INLINE void mat_interior(int64_t r, int64_t n, int64_t first, int64_t each, int64_t *low,
                         int64_t *high) {
    if (each == 1) {
        if (*low < r - first) *low = r - first;
        if (*high > n - r - first) *high = n - r - first;
    } else if (each || first < r || first >= n - r) {
        *high = 0;
    }
}

#if !defined(__cplusplus)

/* Elements mat_from to mat_to */
#if defined(__clang__)
#define MAT_OF_RANGE \
    _Pragma("clang loop vectorize(assume_safety)") for (int64_t i = mat_from; i < mat_to; i++)
#elif defined(__GNUC__)
#define MAT_OF_RANGE _Pragma("GCC ivdep") for (int64_t i = mat_from; i < mat_to; i++)
#else
#define MAT_OF_RANGE for (int64_t i = mat_from; i < mat_to; i++)
#endif

/* Note a place outside of an operand, for the caller of the kernel. */
INLINE void mat_report(int64_t to, int64_t operand, int64_t axis, int64_t place, int64_t length) {
    int64_t *const found = (int64_t *)(intptr_t)to;
    found[1] = operand, found[2] = axis, found[3] = place, found[4] = length, found[0] = 1;
}

#endif

#endif
