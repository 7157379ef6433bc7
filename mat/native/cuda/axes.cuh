/* Seeking: from a position, counted over axes, to the offsets of the elements there in two
   operands. Divisions are multiplications by the numbers of `magic`, in
   mat/cuda/kernels/division.py. */
#ifndef MAT_AXES_CUH
#define MAT_AXES_CUH

#include "device.cuh"

/* n / d by the magic number of d: n below 2^31, or 2^63. */
INLINE uint32_t mat_over(uint32_t n, int64_t magic, int64_t shift) {
    return (__umulhi(n, (uint32_t)magic) + n) >> (int)shift;
}
INLINE uint64_t mat_over(uint64_t n, int64_t magic, int64_t shift) {
    return (__umul64hi(n, (uint64_t)magic) + n) >> (int)shift;
}

/* Positions below 2^31 */

struct strided_axis {
    int64_t n;       /* length */
    int64_t divisor; /* a factor of 32 bits and, above it, a shift: they divide by n what is less
                        than 2^31 */
    int64_t d, s;    /* strides in the destination and in the source */
};

INLINE unsigned quotient(unsigned place, int64_t divisor) {
    return mat_over(place, divisor, divisor >> 32);
}
INLINE unsigned quotient(unsigned place, const strided_axis &axis) {
    return quotient(place, axis.divisor);
}

/* Adds the offsets of K places to `from` and `to`. The axes are ordered innermost first; the length
   of the last one is not needed. STEP: int where 32 bits hold all offsets, else int64_t. */
template<class STEP, int K>
INLINE void seek_all(const strided_axis *axes, int rank, unsigned (&place)[K],
                     STEP (&from)[K], STEP (&to)[K]) {
#pragma unroll 1
    for (int r = 0; r < rank - 1; r++)
#pragma unroll
        for (int k = 0; k < K; k++) {
            unsigned over = quotient(place[k], axes[r]), at = place[k] - over * unsigned(axes[r].n);
            from[k] += STEP(int(at)) * STEP(axes[r].s), to[k] += STEP(int(at)) * STEP(axes[r].d);
            place[k] = over;
        }
    if (rank > 0)
#pragma unroll
        for (int k = 0; k < K; k++) {
            from[k] += STEP(int(place[k])) * STEP(axes[rank - 1].s);
            to[k] += STEP(int(place[k])) * STEP(axes[rank - 1].d);
        }
}

INLINE void seek(const strided_axis *axes, int rank, unsigned place,
                 int64_t &from, int64_t &to) {
    unsigned places[1] = {place};
    int64_t f[1] = {from}, t[1] = {to};
    seek_all<int64_t, 1>(axes, rank, places, f, t);
    from = f[0], to = t[0];
}

/* Positions below 2^63 */

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

INLINE int64_t mat_over(int64_t at, const mat_reduced_axis &a) {
    return (int64_t)mat_over((uint64_t)at, a.magic, a.shift);
}

/* Where the element of that number is along the first axes. */
INLINE mat_place_of mat_placed(const mat_reduced_axes &axes, int rank,
                               int64_t at) {
    mat_place_of found = {0, 0};
#pragma unroll 1
    for (int k = rank - 1; k > 0; k--) {
        int64_t rest = mat_over(at, axes.axis[k]), i = at - rest * axes.axis[k].n;
        found.x += i * axes.axis[k].x, found.y += i * axes.axis[k].y;
        at = rest;
    }
    if (rank) found.x += at * axes.axis[0].x, found.y += at * axes.axis[0].y;
    return found;
}

#endif
