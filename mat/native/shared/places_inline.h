/* For users' kernels: places in arrays, elements by number and neighbours outside of an array; and
   functions of integers, exact and defined for all. */
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

/* Quotients rounded down and their remainders, 0 where the divisor is 0, as NumPy has them;
   absolute values. The least integer stays as it is. */
INLINE int64_t mat_minus_i64(int64_t a) { return (int64_t)(0 - (uint64_t)a); }
INLINE int64_t mat_div_i64(int64_t a, int64_t b) {
    if (b == 0 || b == -1) return b ? mat_minus_i64(a) : 0;
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
INLINE int64_t mat_mod_i64(int64_t a, int64_t b) {
    if (b == 0 || b == -1) return 0;
    const int64_t rest = a % b;
    return rest && (rest < 0) != (b < 0) ? rest + b : rest;
}
INLINE uint64_t mat_div_u64(uint64_t a, uint64_t b) { return b ? a / b : 0; }
INLINE uint64_t mat_mod_u64(uint64_t a, uint64_t b) { return b ? a % b : 0; }
INLINE int64_t mat_abs_i64(int64_t a) { return a < 0 ? mat_minus_i64(a) : a; }
INLINE uint64_t mat_abs_u64(uint64_t a) { return a; }

#if defined(__cplusplus)

/* The type in which integers of the type I are computed; for floats there is none */
template <class I> struct mat_integer_of { typedef int64_t type; };
template <> struct mat_integer_of<unsigned long> { typedef uint64_t type; };
template <> struct mat_integer_of<unsigned long long> { typedef uint64_t type; };
template <> struct mat_integer_of<float> {};
template <> struct mat_integer_of<double> {};

#define MAT_OF_INTEGERS(name) \
    INLINE int64_t name##_of(int64_t a, int64_t b) { return name##_i64(a, b); } \
    INLINE uint64_t name##_of(uint64_t a, uint64_t b) { return name##_u64(a, b); } \
    template <class A, class B> \
    INLINE typename mat_integer_of<decltype(A() + B())>::type name(A a, B b) { \
        typedef typename mat_integer_of<decltype(A() + B())>::type W; \
        return name##_of((W)a, (W)b); \
    }
MAT_OF_INTEGERS(mat_div)
MAT_OF_INTEGERS(mat_mod)
INLINE float mat_abs(float a) { return fabsf(a); }
INLINE double mat_abs(double a) { return fabs(a); }
INLINE uint64_t mat_abs(uint64_t a) { return a; }
template <class I> INLINE typename mat_integer_of<I>::type mat_abs(I a) { return mat_abs_i64(a); }

#else

#define MAT_BY_INTEGERS(name, type) _Generic(type, bool: name##_i64, \
    signed char: name##_i64, unsigned char: name##_i64, short: name##_i64, \
    unsigned short: name##_i64, int: name##_i64, unsigned: name##_i64, long: name##_i64, \
    long long: name##_i64, unsigned long: name##_u64, unsigned long long: name##_u64)
#define mat_div(a, b) MAT_BY_INTEGERS(mat_div, (a) + (b))(a, b)
#define mat_mod(a, b) MAT_BY_INTEGERS(mat_mod, (a) + (b))(a, b)
#define mat_abs(a) _Generic((a), float: fabsf, double: (fabs), unsigned long: mat_abs_u64, \
    unsigned long long: mat_abs_u64, default: mat_abs_i64)(a)

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
