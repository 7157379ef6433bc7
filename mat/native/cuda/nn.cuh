/* Windows that slide over a matrix, for convolution (convolve.cuh) and pooling (pool.cuh) on the
   device.

   As on the CPU (nn.h), tap p of point i of an axis is at position i * step + off + p of the input,
   if there is such a position, and a batch is an axis with one tap. axes[0] is that of columns,
   axes[1] that of rows; units are the points, or positions, of all others, the outer axes.

   A block of threads is `blockDim.z` units deep, each thread has one column and some rows below
   each other. */
#ifndef MAT_NN_CUH
#define MAT_NN_CUH
#include "elements.cuh"

struct nn_axis {
    int64_t n, nx, k, step, off, strides[4]; /* of each operand, in elements */
};

/* units, taps   of the outer axes
   plain         these are one batch at most
   across, down  blocks along a row, a column
   lined         the grid has them, and those along units, in one row
   base          where an operand begins

   A sum over all points is computed in pieces of `each` of so many tiles, for chunks of taps. */
struct nn_loop {
    int64_t ndim, units, taps, plain, across, down, lined, base, tiles, each, pieces, chunks_down,
        chunks_across;
    nn_axis axes[8];
};

/* The type of partial sums. */
template <class A> struct nn_wide { typedef double type; };
template <> struct nn_wide<uint32_t> { typedef uint32_t type; };
template <> struct nn_wide<uint64_t> { typedef uint64_t type; };

/* The type as which elements are compared. */
template <class T> using nn_order = decltype(mat_plain(T()));

/* y += sum, where a sum is first rounded to T, as on the host. */
template <class T, class A> INLINE void nn_add(T *y, A sum) {
    *y = mat_element<T>((A)(mat_summand(*y) + mat_summand(mat_element<T>(sum))));
}

/* The points or positions of a thread: of a unit, those of column j in the rows from i on. */
struct nn_spot {
    uint32_t unit, i, j;
};

INLINE nn_spot nn_spot_of(const nn_loop &frame, uint32_t tile, uint32_t rows) {
    uint32_t across = (uint32_t)frame.across, down = (uint32_t)frame.down, rest = tile / across;
    return {rest / down * blockDim.z + threadIdx.z, (rest % down * blockDim.y + threadIdx.y) * rows,
            (tile - rest * across) * blockDim.x + threadIdx.x};
}

/* The same for the block's position in the grid. */
INLINE nn_spot nn_spot_here(const nn_loop &frame, uint32_t rows) {
    if (frame.lined)
        return nn_spot_of(frame, blockIdx.x, rows);
    return {blockIdx.z * blockDim.z + threadIdx.z, (blockIdx.y * blockDim.y + threadIdx.y) * rows,
            blockIdx.x * blockDim.x + threadIdx.x};
}

/* The offset of point, or position, `unit` of the outer axes in an operand. */
template<int OPERAND>
INLINE int64_t nn_place(const nn_loop &frame, uint32_t unit, bool of_input = false) {
    if (frame.plain)
        return unit * frame.axes[2].strides[OPERAND];
    int64_t found = 0;
#pragma unroll 1
    for (int k = 2; k < frame.ndim; k++) {
        const nn_axis &a = frame.axes[k];
        uint32_t n = (uint32_t)(of_input ? a.nx : a.n);
        found += unit % n * a.strides[OPERAND];
        unit /= n;
    }
    return found;
}

/* The offsets of tap `tap` of the outer axes for point `unit` of them: in x (strides[0]) and in w
   (strides[1]); false if it is outside. */
INLINE bool nn_outer_tap(const nn_loop &frame, uint32_t unit, uint32_t tap, int64_t *x,
                         int64_t *w) {
    bool inside = true;
    *x = unit * frame.axes[2].strides[0], *w = 0;
    if (frame.plain)
        return true;
    *x = 0;
#pragma unroll 1
    for (int k = 2; k < frame.ndim; k++) {
        const nn_axis &a = frame.axes[k];
        int64_t p = tap % (uint32_t)a.k, place = unit % (uint32_t)a.n * a.step + a.off + p;
        inside = inside && place >= 0 && place < a.nx;
        *x += place * a.strides[0];
        *w += p * a.strides[1];
        unit /= (uint32_t)a.n;
        tap /= (uint32_t)a.k;
    }
    return inside;
}

/* The offsets of the point of which position `unit` of the outer axes is tap `tap`: in operands
   FIRST and SECOND, and of the tap in w (strides[1]); false if there is no such point. */
template<int FIRST, int SECOND>
INLINE bool nn_outer_point(const nn_loop &frame, uint32_t unit, uint32_t tap, int64_t *first,
                           int64_t *second, int64_t *w) {
    bool found = true;
    *first = unit * frame.axes[2].strides[FIRST], *second = unit * frame.axes[2].strides[SECOND],
    *w = 0;
    if (frame.plain)
        return true;
    *first = *second = 0;
#pragma unroll 1
    for (int k = 2; k < frame.ndim; k++) {
        const nn_axis &a = frame.axes[k];
        int32_t p = tap % (uint32_t)a.k,
                from = (int32_t)(unit % (uint32_t)a.nx) - (int32_t)a.off - p,
                step = (int32_t)a.step;
        int32_t i = from / step;
        found = found && from >= 0 && from == i * step && i < a.n;
        *first += i * a.strides[FIRST];
        *second += i * a.strides[SECOND];
        *w += p * a.strides[1];
        unit /= (uint32_t)a.nx;
        tap /= (uint32_t)a.k;
    }
    return found;
}

/* A range, from the first to behind the last. */
struct nn_range {
    int32_t low, high;
};

/* The taps of point i that are inside of the input. */
INLINE nn_range nn_inside(const nn_axis &a, uint32_t i) {
    int32_t at = (int32_t)(i * (uint32_t)a.step) + (int32_t)a.off, room = (int32_t)a.nx - at,
            k = (int32_t)a.k;
    return {at < 0 ? -at : 0, room < k ? room : k};
}

/* The points whose windows position t is in. */
INLINE nn_range nn_around(const nn_axis &a, uint32_t t) {
    int32_t last = (int32_t)t - (int32_t)a.off, first = last - (int32_t)a.k + 1,
            step = (int32_t)a.step, n = (int32_t)a.n;
    int32_t end = last < 0 ? 0 : last / step + 1;
    return {first <= 0 ? 0 : (first - 1) / step + 1, end < n ? end : n};
}

#endif
