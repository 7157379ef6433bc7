/* Convolution of one channel for the device, and its derivatives.

   A thread has some points below each other, whose windows overlap: the elements that it reads
   of a row of x are used by the taps of several rows. Adjacent threads have adjacent columns, so
   that x is read in whole cache lines, and all but once from the L1 cache. Elements outside of x
   are read as 0; sums that are not finite are computed again without them, since a weight may be
   infinite. */
#ifndef MAT_CONVOLVE_CUH
#define MAT_CONVOLVE_CUH
#include "nn.cuh"

/* The address `count` steps of so many bytes further: one instruction where NEAR, that is, where 32
   bits hold the step. */
template <class T, class S> INLINE T *nn_at(T *from, int32_t count, S bytes) {
    return (T *)((char *)from + (int64_t)count * bytes);
}

template <bool NEAR> struct nn_step { typedef int64_t type; };
template <> struct nn_step<true> { typedef int32_t type; };

template<class T, bool NEAR>
INLINE typename nn_step<NEAR>::type nn_bytes(const nn_axis &a, int operand) {
    typedef typename nn_step<NEAR>::type S;
    return (S)a.strides[operand] * (S)sizeof(T);
}

/* Read lines of Q elements of x from (row, column) on, `apart` rows apart; UNIT: elements of a row
   are adjacent. In place of rows outside, others are read and not used, so that no read waits for a
   test of its position; most threads have none. */
template<class T, class A, int LINES, int Q, bool UNIT, bool NEAR>
INLINE void nn_read(A (&v)[LINES][Q], const T *x, const nn_loop &frame, int32_t row,
                    uint32_t column, int32_t apart) {
    typedef typename nn_step<NEAR>::type S;
    S pitch = nn_bytes<T, NEAR>(frame.axes[1], 0),
      step = UNIT ? (S)sizeof(T) : nn_bytes<T, NEAR>(frame.axes[0], 0);
    int32_t last = (int32_t)frame.axes[1].nx - 1;
    uint32_t width = (uint32_t)frame.axes[0].nx;
    x = nn_at(x, (int32_t)column, step);
#pragma unroll
    for (int a = 0; a < LINES; a++) {
        const T *from = nn_at(x, min(max(row + a * apart, 0), last), pitch);
#pragma unroll
        for (int q = 0; q < Q; q++)
            v[a][q] =
                column + q < width ? mat_summand(UNIT ? from[q] : *nn_at(from, q, step)) : A(0);
    }
    if (row >= 0 && row + (LINES - 1) * apart <= last)
        return;
#pragma unroll
    for (int a = 0; a < LINES; a++) {
        bool inside = (uint32_t)(row + a * apart) <= (uint32_t)last;
#pragma unroll
        for (int q = 0; q < Q; q++)
            v[a][q] = inside ? v[a][q] : A(0);
    }
}

/* Add P x Q taps from (p0, q0) on to the sums of R points below `at`. Rows overlap only where the
   step is 1, else P is 1. */
template<class T, class A, int R, int P, int Q, bool UNIT>
INLINE void nn_add_taps(A (&sums)[R], const T *x, const T *w, const nn_loop &frame,
                        const nn_spot &at, uint32_t p0, uint32_t q0) {
    const nn_axis &c = frame.axes[0], &r = frame.axes[1];
    int32_t down = nn_bytes<T, true>(r, 1), across = nn_bytes<T, true>(c, 1);
    A v[R + P - 1][Q], taps[P][Q];
    w = nn_at(nn_at(w, (int32_t)p0, down), (int32_t)q0, across);
#pragma unroll
    for (int p = 0; p < P; p++)
#pragma unroll
        for (int q = 0; q < Q; q++)
            taps[p][q] = mat_summand(*nn_at(nn_at(w, p, down), q, across));
    nn_read<T, A, R + P - 1, Q, UNIT, true>(
        v, x, frame, (int32_t)(at.i * (uint32_t)r.step + (uint32_t)r.off + p0),
        at.j * (uint32_t)c.step + (uint32_t)c.off + q0, P == 1 ? (int32_t)r.step : 1);
#pragma unroll
    for (int p = 0; p < P; p++)
#pragma unroll
        for (int q = 0; q < Q; q++)
#pragma unroll
            for (int a = 0; a < R; a++)
                sums[a] += taps[p][q] * v[a + p][q];
}

/* The same for all taps, P rows of them at once. */
template<class T, class A, int R, int P>
INLINE void nn_add_rows(A (&sums)[R], const T *x, const T *w, const nn_loop &frame,
                        const nn_spot &at) {
    nn_range columns = nn_inside(frame.axes[0], at.j);
    uint32_t height = (uint32_t)frame.axes[1].k, p = 0;
#pragma unroll 1
    for (; p + P <= height; p += P)
#pragma unroll 1
        for (int32_t q = columns.low; q < columns.high; q++)
            nn_add_taps<T, A, R, P, 1, false>(sums, x, w, frame, at, p, q);
#pragma unroll 1
    for (; p < height; p++)
#pragma unroll 1
        for (int32_t q = columns.low; q < columns.high; q++)
            nn_add_taps<T, A, R, 1, 1, false>(sums, x, w, frame, at, p, q);
}

/* One point, of the elements inside only. */
template<class T, class A>
INLINE A nn_point(const nn_loop &frame, const mat_call &call, uint32_t unit, uint32_t i,
                  uint32_t j) {
    const nn_axis &c = frame.axes[0], &r = frame.axes[1];
    nn_range rows = nn_inside(r, i), columns = nn_inside(c, j);
    int64_t in_x, in_w, row = i * r.step + r.off, column = j * c.step + c.off + columns.low;
    A sum = 0;
#pragma unroll 1
    for (uint32_t tap = 0; tap < (uint32_t)frame.taps; tap++)
        if (nn_outer_tap(frame, unit, tap, &in_x, &in_w)) {
            const T *x =
                (const T *)call.at[0] + (in_x + row * r.strides[0] + column * c.strides[0]);
            const T *w = (const T *)call.at[1] + (frame.base + in_w + columns.low * c.strides[1]);
#pragma unroll 1
            for (int32_t p = rows.low; p < rows.high; p++) {
                const T *from = x + p * r.strides[0], *taps = w + p * r.strides[1];
#pragma unroll 1
                for (int32_t q = columns.low; q < columns.high;
                     q++, from += c.strides[0], taps += c.strides[1])
                    sum += mat_summand(*taps) * mat_summand(*from);
            }
        }
    return sum;
}

/* Add R sums to y; they are computed again if one is not finite. */
template<class T, class A, int R>
INLINE void nn_put(const A (&sums)[R], const nn_loop &frame, const mat_call &call,
                   const nn_spot &at) {
    const nn_axis &c = frame.axes[0], &r = frame.axes[1];
    int32_t rows = (int32_t)r.n - (int32_t)at.i, pitch = nn_bytes<T, true>(r, 2);
    T *y = nn_at(nn_at((T *)call.at[2] + nn_place<2>(frame, at.unit), (int32_t)at.j,
                       nn_bytes<T, true>(c, 2)),
                 (int32_t)at.i, pitch);
    T old[R];
    A none = 0;
#pragma unroll
    for (int a = 0; a < R; a++)
        none += sums[a] * A(0);
    if (none == 0) {
#pragma unroll
        for (int a = 0; a < R; a++)
            old[a] = *nn_at(y, a < rows ? a : 0, pitch);
#pragma unroll
        for (int a = 0; a < R; a++) {
            nn_add(old + a, sums[a]);
            if (a < rows)
                *nn_at(y, a, pitch) = old[a];
        }
        return;
    }
#pragma unroll 1
    for (int a = 0; a < R && a < rows; a++)
        nn_add(nn_at(y, a, pitch), nn_point<T, A>(frame, call, at.unit, at.i + a, at.j));
}

/* Windows of P x Q taps and adjacent elements of x, or, where Q is 1, of any number of taps, P rows
   at once. */
template<class T, int R, int P, int Q>
INLINE void nn_convolve(const nn_loop &frame, const mat_call &call) {
    typedef mat_summed<T> A;
    nn_spot at = nn_spot_here(frame, R);
    if (at.unit >= (uint32_t)frame.units || at.i >= (uint32_t)frame.axes[1].n ||
        at.j >= (uint32_t)frame.axes[0].n)
        return;
    A sums[R] = {};
    int64_t in_x, in_w;
#pragma unroll 1
    for (uint32_t tap = 0; tap < (uint32_t)frame.taps; tap++)
        if (nn_outer_tap(frame, at.unit, tap, &in_x, &in_w)) {
            const T *x = (const T *)call.at[0] + in_x,
                    *w = (const T *)call.at[1] + (frame.base + in_w);
            if (Q > 1)
                nn_add_taps<T, A, R, P, Q, true>(sums, x, w, frame, at, 0, 0);
            else
                nn_add_rows<T, A, R, P>(sums, x, w, frame, at);
        }
    nn_put<T, A, R>(sums, frame, call, at);
}

/* One point in a thread. */
template <class T> INLINE void nn_convolve_points(const nn_loop &frame, const mat_call &call) {
    typedef mat_summed<T> A;
    const nn_axis &c = frame.axes[0], &r = frame.axes[1];
    nn_spot at = nn_spot_here(frame, 1);
    if (at.unit >= (uint32_t)frame.units || at.i >= (uint32_t)r.n || at.j >= (uint32_t)c.n)
        return;
    A sum = nn_point<T, A>(frame, call, at.unit, at.i, at.j);
    nn_add((T *)call.at[2] +
               (nn_place<2>(frame, at.unit) + at.i * r.strides[2] + at.j * c.strides[2]),
           sum);
}

/* The derivative by x where steps skip elements, one element in a thread: yd, w, xd. Of the taps,
   every step-th counts for it. */
template <class T> INLINE void nn_to_x(const nn_loop &frame, const mat_call &call) {
    typedef mat_summed<T> A;
    const nn_axis &c = frame.axes[0], &r = frame.axes[1];
    nn_spot at = nn_spot_here(frame, 1);
    if (at.unit >= (uint32_t)frame.units || at.i >= (uint32_t)r.nx || at.j >= (uint32_t)c.nx)
        return;
    nn_range rows = nn_around(r, at.i), columns = nn_around(c, at.j);
    int64_t in_yd, in_w, unused, row = at.i - r.off, column = at.j - c.off;
    A sum = 0;
#pragma unroll 1
    for (uint32_t tap = 0; tap < (uint32_t)frame.taps; tap++)
        if (nn_outer_point<0, 0>(frame, at.unit, tap, &in_yd, &unused, &in_w)) {
            const T *yd = (const T *)call.at[0] + in_yd, *w = (const T *)call.at[1] + in_w;
#pragma unroll 1
            for (int32_t i = rows.low; i < rows.high; i++)
#pragma unroll 1
                for (int32_t j = columns.low; j < columns.high; j++)
                    sum += mat_summand(w[(row - i * r.step) * r.strides[1] +
                                        (column - j * c.step) * c.strides[1]]) *
                           mat_summand(yd[i * r.strides[0] + j * c.strides[0]]);
        }
    nn_add((T *)call.at[2] + nn_place<2>(frame, at.unit, true) + at.i * r.strides[2] +
               at.j * c.strides[2],
           sum);
}

/* The derivative by w, P x Q taps from (p0, q0) on: add to them the terms of R points below (i, j),
   all of which exist. */
template<class T, class A, int R, int P, int Q, bool UNIT>
INLINE void nn_products(A (&sums)[P * Q], const T *x, const T *yd, const nn_loop &frame, uint32_t i,
                        uint32_t j, uint32_t p0, uint32_t q0) {
    const nn_axis &c = frame.axes[0], &r = frame.axes[1];
    constexpr bool NEAR = UNIT || P > 1;
    A v[R + P - 1][Q];
    nn_read<T, A, R + P - 1, Q, UNIT, NEAR>(
        v, x, frame, (int32_t)(i * (uint32_t)r.step + (uint32_t)r.off + p0),
        j * (uint32_t)c.step + (uint32_t)c.off + q0, P == 1 ? (int32_t)r.step : 1);
    yd = nn_at(nn_at(yd, (int32_t)i, nn_bytes<T, NEAR>(r, 2)), (int32_t)j, nn_bytes<T, NEAR>(c, 2));
#pragma unroll
    for (int a = 0; a < R; a++) {
        A d = mat_summand(*nn_at(yd, a, nn_bytes<T, NEAR>(r, 2)));
#pragma unroll
        for (int p = 0; p < P; p++)
#pragma unroll
            for (int q = 0; q < Q; q++)
                sums[p * Q + q] += d * v[a + p][q];
    }
}

/* One tap of one point, if it is inside. */
template<class T, class A>
INLINE A nn_product(const T *x, const T *yd, const nn_loop &frame, uint32_t i, uint32_t j,
                    uint32_t p, uint32_t q) {
    const nn_axis &c = frame.axes[0], &r = frame.axes[1];
    uint32_t row = i * (uint32_t)r.step + (uint32_t)r.off + p,
             column = j * (uint32_t)c.step + (uint32_t)c.off + q;
    if (row >= (uint32_t)r.nx || column >= (uint32_t)c.nx)
        return 0;
    return mat_summand(x[row * r.strides[0] + column * c.strides[0]]) *
           mat_summand(yd[i * r.strides[2] + j * c.strides[2]]);
}

/* The tiles of a piece, of which a thread has its points; ONE: a single tap, of the elements inside
   only. */
template<class T, class A, int R, int P, int Q, bool UNIT, bool ONE>
INLINE void nn_piece(A (&sums)[P * Q], const nn_loop &frame, const mat_call &call, uint32_t piece,
                     uint32_t tap, uint32_t p0, uint32_t q0) {
    int64_t in_x, in_w;
    uint32_t tile = piece * (uint32_t)frame.each, end = tile + (uint32_t)frame.each,
             rows = (uint32_t)frame.axes[1].n;
#pragma unroll 1
    for (; tile < end && tile < (uint32_t)frame.tiles; tile++) {
        nn_spot at = nn_spot_of(frame, tile, R);
        if (at.unit >= (uint32_t)frame.units || at.i >= rows || at.j >= (uint32_t)frame.axes[0].n ||
            !nn_outer_tap(frame, at.unit, tap, &in_x, &in_w))
            continue;
        const T *x = (const T *)call.at[0] + in_x,
                *yd = (const T *)call.at[1] + nn_place<2>(frame, at.unit);
        uint32_t i = at.i, last = at.i + R <= rows ? at.i + R : rows;
        if (!ONE && i + R == last) {
            nn_products<T, A, R, P, Q, UNIT>(sums, x, yd, frame, i, at.j, p0, q0);
            continue;
        }
#pragma unroll 1
        for (; i < last; i++)
            if (ONE)
                sums[0] += nn_product<T, A>(x, yd, frame, i, at.j, p0, q0);
            else
                nn_products<T, A, 1, P, Q, UNIT>(sums, x, yd, frame, i, at.j, p0, q0);
    }
}

/* The sums over all 256 threads of a block, in a fixed order; all threads have them after the
   barrier. */
template<class A, class W, int N>
INLINE void nn_together(W *parts, W *totals, const A (&sums)[N], uint32_t number) {
#pragma unroll
    for (int k = 0; k < N; k++) {
        W sum = sums[k];
#pragma unroll
        for (int by = 16; by; by /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, by);
        if (number % 32 == 0)
            parts[number / 32 * N + k] = sum;
    }
    __syncthreads();
    if (number < N) {
        W sum = 0;
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += parts[k * N + number];
        totals[number] = sum;
    }
    __syncthreads();
}

/* Write the sums of a piece for P x Q taps, for the second stage; those that are not finite are
   computed again. */
template<class T, int R, int P, int Q, bool UNIT>
INLINE void nn_correlate(const nn_loop &frame, const mat_call &call) {
    typedef mat_summed<T> A;
    typedef typename nn_wide<A>::type W;
    MAT_SHARED(W, parts, [8 * P * Q]);
    MAT_SHARED(W, totals, [P * Q]);
    MAT_SHARED(W, anew, [1]);
    uint32_t piece = blockIdx.x % (uint32_t)frame.pieces, job = blockIdx.x / (uint32_t)frame.pieces;
    uint32_t q0 = job % (uint32_t)frame.chunks_across * Q,
             rest = job / (uint32_t)frame.chunks_across;
    uint32_t p0 = rest % (uint32_t)frame.chunks_down * P, tap = rest / (uint32_t)frame.chunks_down;
    A sums[P * Q] = {};
    nn_piece<T, A, R, P, Q, UNIT, false>(sums, frame, call, piece, tap, p0, q0);
    uint32_t number = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    uint32_t height = (uint32_t)frame.axes[1].k, width = (uint32_t)frame.axes[0].k;
    nn_together<A, W, P * Q>(parts, totals, sums, number);
#pragma unroll 1
    for (uint32_t k = 0; k < P * Q; k++) {
        uint32_t p = p0 + k / Q, q = q0 + k % Q;
        W total = totals[k];
        if (p >= height || q >= width)
            continue;
        if (!mat_finite(total)) { /* for all threads alike */
            A one[1] = {};
            nn_piece<T, A, R, 1, 1, UNIT, true>(one, frame, call, piece, tap, p, q);
            nn_together<A, W, 1>(parts, anew, one, number);
            total = anew[0];
        }
        if (number == 0)
            ((W *)call.at[3])[(((int64_t)tap * height + p) * width + q) * frame.pieces + piece] =
                total;
    }
}

/* The second stage: a warp for each tap adds up its pieces. strides[1]: of wd. */
template <class T> INLINE void nn_gather(const nn_loop &frame, const mat_call &call) {
    typedef mat_summed<T> A;
    typedef typename nn_wide<A>::type W;
    uint32_t tap = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32,
             pieces = (uint32_t)frame.pieces;
    if (tap >= (uint32_t)(frame.taps * frame.axes[1].k * frame.axes[0].k))
        return;
    const W *parts = (const W *)call.at[3] + (int64_t)tap * pieces;
    W sum = 0;
#pragma unroll 1
    for (uint32_t k = threadIdx.x % 32; k < pieces; k += 32)
        sum += parts[k];
#pragma unroll
    for (int by = 16; by; by /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, by);
    if (threadIdx.x % 32)
        return;
    int64_t place = 0;
#pragma unroll 1
    for (int k = 0; k < frame.ndim; k++) {
        uint32_t count = (uint32_t)frame.axes[k].k;
        place += tap % count * frame.axes[k].strides[1];
        tap /= count;
    }
    nn_add((T *)call.at[2] + place, (A)sum);
}

#endif
