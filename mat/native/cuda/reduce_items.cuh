/* The items that reductions on the device load: their values and order, how a mask turns them, and
   trees and shuffles of them. */
#ifndef MAT_REDUCE_ITEMS_CUH
#define MAT_REDUCE_ITEMS_CUH

#include "half.cuh"

#define MAT_INLINE static __device__ __forceinline__

/* Items: the 16-bit floats are their bits. */
struct __align__(8) mat_complex { float re, im; };
struct __align__(16) mat_complex_double { double re, im; };

/* Complex numbers have NumPy's order: by the real part, and by the other where that is equal. What
   is not a number in either part is not larger, and nothing is larger than that. */
#define MAT_ORDER(C) \
    static __device__ __forceinline__ bool operator==(C a, C b) { \
        return (a.re == b.re) & (a.im == b.im); \
    } \
    static __device__ __forceinline__ bool operator!=(C a, C b) { \
        return (a.re != b.re) | (a.im != b.im); \
    } \
    static __device__ __forceinline__ bool operator>(C a, C b) { \
        return ((a.re > b.re) & (a.im == a.im) & (b.im == b.im)) | \
               ((a.re == b.re) & (a.im > b.im)); \
    }
MAT_ORDER(mat_complex)
MAT_ORDER(mat_complex_double)

MAT_INLINE float mat_value(mat_half x) { return from_half(x.bits); }
MAT_INLINE float mat_value(mat_bfloat x) { return from_bfloat(x.bits); }
MAT_INLINE mat_half mat_to_half(float x) { return {to_half(x)}; }
MAT_INLINE mat_bfloat mat_to_bfloat(float x) { return {to_bfloat(x)}; }
MAT_INLINE float mat_value(float x) { return x; }
MAT_INLINE double mat_value(double x) { return x; }
MAT_INLINE mat_complex mat_value(mat_complex x) { return x; }
MAT_INLINE mat_complex_double mat_value(mat_complex_double x) { return x; }
MAT_INLINE uint32_t mat_value(uint8_t x) { return x; }
MAT_INLINE uint32_t mat_value(uint16_t x) { return x; }
MAT_INLINE uint32_t mat_value(uint32_t x) { return x; }
MAT_INLINE uint64_t mat_value(uint64_t x) { return x; }

MAT_INLINE void mat_store(float *y, double x) { *y = (float)x; }
MAT_INLINE void mat_store(double *y, double x) { *y = x; }
MAT_INLINE void mat_store(mat_half *y, double x) { *y = mat_to_half((float)x); }
MAT_INLINE void mat_store(mat_bfloat *y, double x) { *y = mat_to_bfloat((float)x); }

/* Elements turned by a mask. */
MAT_INLINE uint8_t mat_turned(uint8_t x, uint64_t mask) { return (uint8_t)(x ^ (uint32_t)mask); }
MAT_INLINE uint16_t mat_turned(uint16_t x, uint64_t mask) { return (uint16_t)(x ^ (uint32_t)mask); }
MAT_INLINE uint32_t mat_turned(uint32_t x, uint64_t mask) { return x ^ (uint32_t)mask; }
MAT_INLINE uint64_t mat_turned(uint64_t x, uint64_t mask) { return x ^ mask; }
MAT_INLINE mat_half mat_turned(mat_half x, uint64_t mask) {
    return {(uint16_t)(x.bits ^ (uint32_t)mask)};
}
MAT_INLINE mat_bfloat mat_turned(mat_bfloat x, uint64_t mask) {
    return {(uint16_t)(x.bits ^ (uint32_t)mask)};
}
MAT_INLINE float mat_turned(float x, uint64_t mask) {
    return __uint_as_float(__float_as_uint(x) ^ (uint32_t)mask);
}
MAT_INLINE double mat_turned(double x, uint64_t mask) { return mask ? -x : x; }
MAT_INLINE mat_complex mat_turned(mat_complex x, uint64_t mask) {
    return {mat_turned(x.re, mask), mat_turned(x.im, mask)};
}
MAT_INLINE mat_complex_double mat_turned(mat_complex_double x, uint64_t mask) {
    return {mat_turned(x.re, mask), mat_turned(x.im, mask)};
}

template <class Item> struct mat_valued { typedef decltype(mat_value(Item())) type; };

/* In a tree: what the first half gives, and what the second. */
struct mat_plus {
    template <class T> MAT_INLINE T of(T a, T b) { return a + b; }
};
struct mat_times {
    template <class T> MAT_INLINE T of(T a, T b) { return a * b; }
};
/* The larger of the two, or the first of two as large; a NaN if there is one. */
struct mat_larger {
    template <class T> MAT_INLINE T of(T a, T x) { return (x > a) | (x != x) ? x : a; }
};

/* The same of numbers: a NaN only if there is nothing else. */
struct mat_larger_number {
    template <class T> MAT_INLINE T of(T a, T x) { return (x > a) | (a != a) ? x : a; }
};

template <class Op, int N> struct mat_tree {
    template <class T> MAT_INLINE T of(const T *t) {
        return Op::of(mat_tree<Op, N / 2>::of(t), mat_tree<Op, N - N / 2>::of(t + N / 2));
    }
};
template <class Op> struct mat_tree<Op, 1> {
    template <class T> MAT_INLINE T of(const T *t) { return *t; }
};

MAT_INLINE double mat_down(double x, int by, int width) {
    return __shfl_down_sync(0xffffffffu, x, by, width);
}
MAT_INLINE float mat_down(float x, int by, int width) {
    return __shfl_down_sync(0xffffffffu, x, by, width);
}
MAT_INLINE int32_t mat_down(int32_t x, int by, int width) {
    return __shfl_down_sync(0xffffffffu, x, by, width);
}
MAT_INLINE uint32_t mat_down(uint32_t x, int by, int width) {
    return __shfl_down_sync(0xffffffffu, x, by, width);
}
MAT_INLINE int64_t mat_down(int64_t x, int by, int width) {
    return __shfl_down_sync(0xffffffffu, x, by, width);
}
MAT_INLINE uint64_t mat_down(uint64_t x, int by, int width) {
    return __shfl_down_sync(0xffffffffu, x, by, width);
}
MAT_INLINE mat_complex mat_down(mat_complex x, int by, int width) {
    return {mat_down(x.re, by, width), mat_down(x.im, by, width)};
}
MAT_INLINE mat_complex_double mat_down(mat_complex_double x, int by, int width) {
    return {mat_down(x.re, by, width), mat_down(x.im, by, width)};
}

#endif
