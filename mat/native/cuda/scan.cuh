/* Scans: running totals along one axis of an operand, x, into another, y, of the same shape, as
   cpu/scan.h has them: y[0] is x[0], and y[k] is y[k - 1] and x[k] together. With `begun`, y has
   the result before the first one, and those of x come after it.

   An operation Op has an item `In` of x and one `Out` of y, the type `State` in which it is
   computed, and `of`, `join` and `out` between these. The order is that of
   mat/layout/merged_axes.py, so that the bits are the same everywhere; lines that are combined one
   after another are one piece.

       each     a thread for each line, whose neighbours have adjacent lines
       lines    a warp for 32 lines that are adjacent along the axis, through tiles
       chunks   a block for each chunk of few lines: a thread for each piece. Before it, where there
                are several chunks, `totals` of each and `offsets`, the results before each  */
#ifndef MAT_SCAN_CUH
#define MAT_SCAN_CUH

#include "axes.cuh"
#include "elements.cuh"

enum { MAT_SCAN_THREADS = 128, MAT_SCAN_TILE = 32, MAT_SCAN_WARPS = 2, MAT_SCAN_CHUNK = 4096 };

struct mat_scan {
    int64_t length, step_x, step_y; /* along the axis, in elements */
    int64_t lines, piece, chunks;   /* the piece is a power of two */
    int64_t begun, any_order;
    mat_reduced_axes others;
};

/* Operations */

template <class X, class Y> struct mat_scanned {
    typedef X In;
    typedef Y Out;
    typedef mat_computed<Y> State;
    static INLINE State of(X x) { return mat_widen(mat_convert<Y>(x)); }
    static INLINE Y out(State s) { return mat_narrow<Y>(s); }
    static INLINE State rounded(State s) { return mat_widen(mat_narrow<Y>(s)); }
};
template <class X, class Y> struct mat_cumsum : mat_scanned<X, Y> {
    typedef mat_cumsum<Y, Y> Totals;
    typedef mat_computed<Y> State;
    static INLINE State join(State a, State b) {
        return mat_scanned<X, Y>::rounded(a + b);
    }
};
template <class X, class Y> struct mat_cumprod : mat_scanned<X, Y> {
    typedef mat_cumprod<Y, Y> Totals;
    typedef mat_computed<Y> State;
    static INLINE State join(State a, State b) {
        return mat_scanned<X, Y>::rounded(a * b);
    }
};

/* The larger one, or what is no number. Of equal ones, which can be zeros of both signs, it is
   NumPy's: the earlier one of float16 and complex numbers, else the later one. */
template <class T> struct mat_takes_later { static constexpr bool as = false; };
template <> struct mat_takes_later<mat_bf16> { static constexpr bool as = true; };
template <> struct mat_takes_later<float> { static constexpr bool as = true; };
template <> struct mat_takes_later<double> { static constexpr bool as = true; };
template <class T, class S> INLINE S mat_larger(S a, S b, bool is_larger, bool is_equal) {
    return a != a || is_larger || (!mat_takes_later<T>::as && is_equal) ? a : b;
}
template <class T, class Y> struct mat_cummax : mat_scanned<T, Y> {
    typedef mat_cummax<Y, Y> Totals;
    typedef mat_computed<T> S;
    static INLINE S join(S a, S b) { return mat_larger<T, S>(a, b, a > b, a == b); }
};
template <class T, class Y> struct mat_cummin : mat_scanned<T, Y> {
    typedef mat_cummin<Y, Y> Totals;
    typedef mat_computed<T> S;
    static INLINE S join(S a, S b) { return mat_larger<T, S>(a, b, a < b, a == b); }
};

/* One line */

template <class Op> struct mat_line {
    const typename Op::In *x;
    typename Op::Out *y;
};

template <class Op>
INLINE mat_line<Op> mat_line_of(const mat_scan &f, const mat_call &call, int64_t line) {
    mat_place_of at = mat_placed(f.others, (int)f.others.rank, line);
    return {(const typename Op::In *)call.at[0] + at.x,
            (typename Op::Out *)call.at[1] + at.y + (f.begun ? f.step_y : 0)};
}

/* The results of a line, one after another. */
template <class Op> struct mat_in_order {
    typedef typename Op::State State;
    State in_piece, in_chunk, before; /* the total, and those before the piece and the chunk */
    int last;                         /* of an element in its piece, a mask */
    bool begun;

    INLINE mat_in_order(const mat_scan &f)
        : in_piece(), in_chunk(), before(), last((int)f.piece - 1), begun(f.begun != 0) {}
    INLINE void go_on(typename Op::Out result) { before = mat_widen(result); }
    INLINE State add(int64_t k, State item) {
        int at = (int)(k & (MAT_SCAN_CHUNK - 1));
        in_piece = at & last ? Op::join(in_piece, item) : item;
        State found = at > last ? Op::join(in_chunk, in_piece) : in_piece;
        if ((at & last) == last) in_chunk = found;
        if (begun) found = Op::join(before, found);
        if (at == MAT_SCAN_CHUNK - 1) before = found, begun = true;
        return found;
    }
};

template <class Op> INLINE void mat_scan_each(const mat_scan &f, const mat_call &call) {
    enum { U = 4 }; /* loads at once */
    int64_t line = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, k = 0;
    if (line >= f.lines) return;
    mat_line<Op> at = mat_line_of<Op>(f, call, line);
    mat_in_order<Op> totals(f);
    if (f.begun) totals.go_on(at.y[-f.step_y]);
    for (; k + U <= f.length; k += U) {
        typename Op::In here[U];
#pragma unroll
        for (int u = 0; u < U; u++) here[u] = at.x[(k + u) * f.step_x];
#pragma unroll
        for (int u = 0; u < U; u++)
            at.y[(k + u) * f.step_y] = Op::out(totals.add(k + u, Op::of(here[u])));
    }
    for (; k < f.length; k++)
        at.y[k * f.step_y] = Op::out(totals.add(k, Op::of(at.x[k * f.step_x])));
}

/* A tile has 32 elements of 32 lines; a thread adds up those of a line, and all load and store
   those of each line. */
template <class Op> INLINE void mat_scan_lines(const mat_scan &f, const mat_call &call) {
    typedef typename Op::Out Out;
    enum { N = MAT_SCAN_TILE };
    MAT_SHARED(Out, tiles, [MAT_SCAN_WARPS][N][N + 1]);
    Out(*tile)[N + 1] = tiles[threadIdx.x / N];
    uint32_t lane = threadIdx.x % N;
    int64_t first = ((int64_t)blockIdx.x * MAT_SCAN_WARPS + threadIdx.x / N) * N;
    if (first >= f.lines) return;
    int count = (int)(f.lines - first < N ? f.lines - first : N);
    mat_place_of own = {0, 0};
    if ((int)lane < count) own = mat_placed(f.others, (int)f.others.rank, first + lane);
    const typename Op::In *x = (const typename Op::In *)call.at[0];
    Out *y = (Out *)call.at[1] + (f.begun ? f.step_y : 0);
    mat_in_order<Op> totals(f);
    if (f.begun && (int)lane < count) totals.go_on(y[own.y - f.step_y]);
    for (int64_t from = 0; from < f.length; from += N) {
        int64_t k = from + lane;
        int here = (int)(f.length - from < N ? f.length - from : N);
#pragma unroll 8
        for (int j = 0; j < count; j++) {
            int64_t line = __shfl_sync(~0u, own.x, j);
            if ((int)lane < here) tile[j][lane] = Op::out(Op::of(x[line + k * f.step_x]));
        }
        __syncwarp();
        if ((int)lane < count)
#pragma unroll 4
            for (int i = 0; i < here; i++)
                tile[lane][i] = Op::out(totals.add(from + i, mat_widen(tile[lane][i])));
        __syncwarp();
#pragma unroll 8
        for (int j = 0; j < count; j++) {
            int64_t line = __shfl_sync(~0u, own.y, j);
            if ((int)lane < here) y[line + k * f.step_y] = tile[j][lane];
        }
        __syncwarp();
    }
}

/* Chunks */

/* Items at `x` by a block, through tiles of shared memory: what is written at `y`, unless that is
   NULL, comes after the result at `before`, unless that is NULL. Return the total, in the first
   thread only. */
template <class Op, class In>
INLINE typename Op::State mat_scan_range(const In *x, int64_t step_x, typename Op::Out *y,
                                         int64_t step_y, int64_t length, int64_t piece,
                                         const typename Op::Out *before) {
    typedef typename Op::Out Out;
    typedef typename Op::State State;
    enum { T = MAT_SCAN_THREADS, N = 16384 / (sizeof(Out) < 4 ? 4 : sizeof(Out)), PIECES = N / 32 };
    MAT_SHARED(Out, items, [N + PIECES]); /* one more for each 32, for other banks */
    MAT_SHARED(Out, so_far, [PIECES]);
    int t = (int)threadIdx.x;
    int at_once = (int)(piece < N ? piece : N);
    State total = State();
    for (int64_t from = 0; from < length; from += N) {
        int here = (int)(length - from < N ? length - from : N);
        int count = (here + at_once - 1) / at_once;
#pragma unroll 4
        for (int i = t; i < here; i += T)
            items[i + i / 32] = Op::out(Op::of(x[(from + i) * step_x]));
        __syncthreads();
        if (t < count) {
            int k = t * at_once, end = k + at_once < here ? k + at_once : here;
            State item = mat_widen(items[k + k / 32]);
            if (from & (piece - 1)) item = Op::join(total, item), items[0] = Op::out(item);
            for (k++; k < end; k++) {
                item = Op::join(item, mat_widen(items[k + k / 32]));
                items[k + k / 32] = Op::out(item);
            }
            if (at_once == N) total = item;
        }
        __syncthreads();
        if (t == 0 && at_once < N)
            for (int p = 0; p < count; p++) {
                int last = (p + 1) * at_once < here ? (p + 1) * at_once - 1 : here - 1;
                State item = mat_widen(items[last + last / 32]);
                so_far[p] = Op::out(total);
                total = from || p ? Op::join(total, item) : item;
            }
        __syncthreads();
        if (y)
#pragma unroll 2
            for (int i = t; i < here; i += T) {
                State item = mat_widen(items[i + i / 32]);
                int p = i / at_once;
                if (at_once < N && (from || p)) item = Op::join(mat_widen(so_far[p]), item);
                if (before) item = Op::join(mat_widen(*before), item);
                y[(from + i) * step_y] = Op::out(item);
            }
        __syncthreads();
    }
    return total;
}

/* Which chunk of which line a block does. */
template <class Op> struct mat_chunk {
    mat_line<Op> at;
    int64_t number, length;
};

template <class Op>
INLINE mat_chunk<Op> mat_chunk_of(const mat_scan &f, const mat_call &call) {
    int64_t line = (int64_t)blockIdx.x / f.chunks, number = (int64_t)blockIdx.x - line * f.chunks;
    int64_t from = number * MAT_SCAN_CHUNK, left = f.length - from;
    mat_line<Op> at = mat_line_of<Op>(f, call, line);
    at.x += from * f.step_x, at.y += from * f.step_y;
    return {at, number, left < MAT_SCAN_CHUNK ? left : MAT_SCAN_CHUNK};
}

template <class Op> INLINE void mat_scan_totals(const mat_scan &f, const mat_call &call) {
    mat_chunk<Op> c = mat_chunk_of<Op>(f, call);
    typename Op::State total = mat_scan_range<Op>(c.at.x, f.step_x, (typename Op::Out *)0, 0,
                                                  c.length, f.piece, (typename Op::Out *)0);
    if (threadIdx.x == 0) ((typename Op::Out *)call.at[2])[blockIdx.x] = Op::out(total);
}

/* Totals are combined one after another; in pieces, too, where the order does not matter. */
template <class Op> INLINE void mat_scan_offsets(const mat_scan &f, const mat_call &call) {
    typedef typename Op::Out Out;
    Out *all = (Out *)call.at[2] + (int64_t)blockIdx.x * f.chunks;
    if (f.begun && threadIdx.x == 0) {
        Out before = mat_line_of<Op>(f, call, blockIdx.x).y[-f.step_y];
        all[0] = Op::out(Op::join(mat_widen(before), mat_widen(all[0])));
    }
    __syncthreads();
    mat_scan_range<typename Op::Totals>(all, 1, all, 1, f.chunks,
                                        f.any_order ? 32 : (int64_t)1 << 62, (Out *)0);
}

template <class Op> INLINE void mat_scan_chunks(const mat_scan &f, const mat_call &call) {
    mat_chunk<Op> c = mat_chunk_of<Op>(f, call);
    const typename Op::Out *before = 0;
    if (c.number) before = (typename Op::Out *)call.at[2] + blockIdx.x - 1;
    else if (f.begun) before = c.at.y - f.step_y;
    mat_scan_range<Op>(c.at.x, f.step_x, c.at.y, f.step_y, c.length, f.piece, before);
}

#define MAT_SCAN_KIND(name, kind, threads, ...) \
    MAT_KERNEL(name##_##kind, mat_scan, threads) { mat_scan_##kind<__VA_ARGS__>(frame, call); }
#define MAT_SCAN(name, ...) \
    MAT_SCAN_KIND(name, each, 256, __VA_ARGS__) \
    MAT_SCAN_KIND(name, lines, MAT_SCAN_TILE *MAT_SCAN_WARPS, __VA_ARGS__) \
    MAT_SCAN_KIND(name, totals, MAT_SCAN_THREADS, __VA_ARGS__) \
    MAT_SCAN_KIND(name, offsets, MAT_SCAN_THREADS, __VA_ARGS__) \
    MAT_SCAN_KIND(name, chunks, MAT_SCAN_THREADS, __VA_ARGS__)

#endif
