/* The items that reductions on the device load: how a mask turns them, and trees and shuffles of
   them. */
#ifndef MAT_REDUCE_ITEMS_CUH
#define MAT_REDUCE_ITEMS_CUH

#include "elements.cuh"

enum { MAT_TRUTH = 1 << 8 }; /* in the mask of items of 8 bits: all but 0 are 1 before */

/* Elements turned by a mask */
template <class S> INLINE S mat_turned(S x, uint64_t mask) {
    if constexpr (mat_kind<S>::of == MAT_WHOLE && sizeof(S) == 1)
        return (S)((mask & MAT_TRUTH ? x != 0 : x) ^ mask);
    else if constexpr (mat_kind<S>::of == MAT_WHOLE) return (S)(x ^ mask);
    else if constexpr (mat_kind<S>::of == MAT_COMPLEX)
        return {mat_turned(x.re, mask), mat_turned(x.im, mask)};
    else if constexpr (sizeof(S) == 2) return {(uint16_t)(x.bits ^ mask)};
    else if constexpr (sizeof(S) == 4) return mat_of_bits(mat_bits(x) ^ (uint32_t)mask);
    else return mask ? -x : x;
}

/* In a tree: what the first half gives, and what the second. */
struct mat_plus {
    template <class T> static INLINE T of(T a, T b) { return a + b; }
};
struct mat_product_of {
    template <class T> static INLINE T of(T a, T b) { return a * b; }
};
/* The larger of the two, or the first of two as large; a NaN if there is one. */
struct mat_larger {
    template <class T> static INLINE T of(T a, T x) { return (x > a) | (x != x) ? x : a; }
};

/* The same of numbers: a NaN only if there is nothing else. */
struct mat_larger_number {
    template <class T> static INLINE T of(T a, T x) { return (x > a) | (a != a) ? x : a; }
};

template <class Op, int N> struct mat_tree {
    template <class T> static INLINE T of(const T *t) {
        return Op::of(mat_tree<Op, N / 2>::of(t), mat_tree<Op, N - N / 2>::of(t + N / 2));
    }
};
template <class Op> struct mat_tree<Op, 1> {
    template <class T> static INLINE T of(const T *t) { return *t; }
};

template <class T> INLINE T mat_down(T x, int by, int width) {
    if constexpr (mat_kind<T>::of == MAT_COMPLEX)
        return {mat_down(x.re, by, width), mat_down(x.im, by, width)};
    else return __shfl_down_sync(0xffffffffu, x, by, width);
}

#endif
