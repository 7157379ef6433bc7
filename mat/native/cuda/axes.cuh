/* Seeking: from a position, counted over axes, to the offsets of the elements there. Divisions are
   multiplications by a fixed number. */
#ifndef MAT_AXES_CUH
#define MAT_AXES_CUH

#include "device.cuh"

struct strided_axis {
    int64_t n;       /* length */
    int64_t divisor; /* a factor of 32 bits and, above it, a shift: they divide by n what is less
                        than 2^31 */
    int64_t d, s;    /* strides in the destination and in the source */
};

__device__ __forceinline__ unsigned quotient(unsigned place, int64_t divisor) {
    return (__umulhi(place, unsigned(divisor)) + place) >> (divisor >> 32);
}
__device__ __forceinline__ unsigned quotient(unsigned place, const strided_axis &axis) {
    return quotient(place, axis.divisor);
}

/* Adds the offsets of K places to `from` and `to`. The axes are ordered innermost first; the length
   of the last one is not needed. STEP: int where 32 bits hold all offsets, else int64_t. */
template<class STEP, int K>
__device__ __forceinline__ void seek_all(const strided_axis *axes, int rank, unsigned (&place)[K],
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

__device__ __forceinline__ void seek(const strided_axis *axes, int rank, unsigned place,
                                     int64_t &from, int64_t &to) {
    unsigned places[1] = {place};
    int64_t f[1] = {from}, t[1] = {to};
    seek_all<int64_t, 1>(axes, rank, places, f, t);
    from = f[0], to = t[0];
}

#endif
