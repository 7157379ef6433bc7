/* Positions: where the element of a number is that counts elements over axes, in two operands, x
   and y. Divisions are multiplications by a fixed number of 64 bits. */
#ifndef MAT_POSITIONS_CUH
#define MAT_POSITIONS_CUH

#include "device.cuh"

/* An axis: its length, its strides, and what divides by the length without a division. */
struct mat_reduced_axis {
    int64_t n, x, y, magic, shift;
};

struct mat_reduced_axes {
    int64_t rank;
    mat_reduced_axis axis[8];
};

struct mat_place_of {
    int64_t x, y;
};

/* at / a.n, for lengths of at least 2, as the upper half of a product: a division of 64 bits is a
   hundred instructions. */
static __device__ __forceinline__ int64_t mat_divided(int64_t at, const mat_reduced_axis &a) {
#if defined(MAT_ON_CPU)
    return (int64_t)((uint64_t)((unsigned __int128)(uint64_t)at * (uint64_t)a.magic >> 64) >>
                     a.shift);
#else
    return (int64_t)(__umul64hi((uint64_t)at, (uint64_t)a.magic) >> a.shift);
#endif
}

/* Where the element of that number is along the first axes. */
static __device__ __forceinline__ mat_place_of mat_placed(const mat_reduced_axes &axes, int rank,
                                                          int64_t at) {
    mat_place_of found = {0, 0};
#pragma unroll 1
    for (int k = rank - 1; k > 0; k--) {
        int64_t rest = mat_divided(at, axes.axis[k]), i = at - rest * axes.axis[k].n;
        found.x += i * axes.axis[k].x, found.y += i * axes.axis[k].y;
        at = rest;
    }
    if (rank) found.x += at * axes.axis[0].x, found.y += at * axes.axis[0].y;
    return found;
}

#endif
