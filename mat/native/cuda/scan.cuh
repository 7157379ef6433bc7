/* Scans: running totals along one axis of an operand, x, into another, y, of the same shape, as
   cpu/scan.h has them: y[0] is x[0], and y[k] is y[k - 1] and x[k] together.

   An operation Op has an item `In` of x and one `Out` of y, the type `State` in which it is
   computed, and `of`, `join` and `out` between these. Sums and products of floating-point numbers
   go strictly one after the other, as on the host, so that the bits are the same everywhere:

       each     a thread for each line, whose neighbours have adjacent lines
       lines    a warp for 32 lines that are adjacent along the axis, through tiles
       long     a block for each of a few lines: one warp adds up what the others load and store

   Where no order matters, since `join` is associative, chunks of a few long lines are done side by
   side: `totals` of each, `offsets`, which are the totals of all chunks so far, and `chunks`.  */
#ifndef MAT_SCAN_CUH
#define MAT_SCAN_CUH

#include "axes.cuh"
#include "elements.cuh"

enum { MAT_SCAN_THREADS = 256, MAT_SCAN_TILE = 32, MAT_SCAN_WARPS = 2, MAT_SCAN_EACH = 4 };

struct mat_scan {
    int64_t length, step_x, step_y; /* along the axis, in elements */
    int64_t lines, chunk, chunks;
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
    typedef mat_computed<Y> State;
    static INLINE State join(State a, State b) {
        return mat_scanned<X, Y>::rounded(a + b);
    }
};
template <class X, class Y> struct mat_cumprod : mat_scanned<X, Y> {
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
    typedef mat_computed<T> S;
    static INLINE S join(S a, S b) { return mat_larger<T, S>(a, b, a > b, a == b); }
};
template <class T, class Y> struct mat_cummin : mat_scanned<T, Y> {
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
    return {(const typename Op::In *)call.at[0] + at.x, (typename Op::Out *)call.at[1] + at.y};
}

template <class Op> INLINE void mat_scan_each(const mat_scan &f, const mat_call &call) {
    enum { U = 4 }; /* loads at once */
    int64_t line = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= f.lines) return;
    mat_line<Op> at = mat_line_of<Op>(f, call, line);
    typename Op::State total = Op::of(at.x[0]);
    at.y[0] = Op::out(total);
    int64_t k = 1;
    for (; k + U <= f.length; k += U) {
        typename Op::In here[U];
#pragma unroll
        for (int u = 0; u < U; u++) here[u] = at.x[(k + u) * f.step_x];
#pragma unroll
        for (int u = 0; u < U; u++) {
            total = Op::join(total, Op::of(here[u]));
            at.y[(k + u) * f.step_y] = Op::out(total);
        }
    }
    for (; k < f.length; k++) {
        total = Op::join(total, Op::of(at.x[k * f.step_x]));
        at.y[k * f.step_y] = Op::out(total);
    }
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
    Out *y = (Out *)call.at[1];
    typename Op::State total = typename Op::State();
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
            for (int i = 0; i < here; i++) {
                typename Op::State item = mat_widen(tile[lane][i]);
                total = from + i ? Op::join(total, item) : item;
                tile[lane][i] = Op::out(total);
            }
        __syncwarp();
#pragma unroll 8
        for (int j = 0; j < count; j++) {
            int64_t line = __shfl_sync(~0u, own.y, j);
            if ((int)lane < here) y[line + k * f.step_y] = tile[j][lane];
        }
        __syncwarp();
    }
}

/* Three buffers: one is loaded, one added up by the first thread, and one stored. */
template <class Op> INLINE void mat_scan_long(const mat_scan &f, const mat_call &call) {
    typedef typename Op::Out Out;
    enum { N = 8192 / (sizeof(Out) < 8 ? 8 : sizeof(Out)) };
    MAT_SHARED(Out, buffers, [3][N]);
    mat_line<Op> at = mat_line_of<Op>(f, call, blockIdx.x);
    int64_t chunks = (f.length + N - 1) / N;
    typename Op::State total = typename Op::State();
    for (int64_t c = -1; c <= chunks; c++) {
        if (threadIdx.x == 0 && c >= 0 && c < chunks) {
            Out *here = buffers[c % 3];
            int count = (int)(f.length - c * N < N ? f.length - c * N : N), i = 0;
            if (c == 0) total = mat_widen(here[i++]);
#pragma unroll 4
            for (; i < count; i++) {
                total = Op::join(total, mat_widen(here[i]));
                here[i] = Op::out(total);
            }
        }
        if (threadIdx.x >= 32) {
            for (int i = (int)threadIdx.x - 32; i < N; i += MAT_SCAN_THREADS - 32) {
                int64_t next = (c + 1) * N + i, last = (c - 1) * N + i;
                if (next < f.length)
                    buffers[(c + 1) % 3][i] = Op::out(Op::of(at.x[next * f.step_x]));
                if (c > 0 && last < f.length) at.y[last * f.step_y] = buffers[(c + 2) % 3][i];
            }
        }
        __syncthreads();
    }
}

/* Chunks */

/* Of a block of items, one for each of the first `count` threads, all up to each; what is shared is
   free again after the next barrier. */
template <class Op>
INLINE typename Op::State mat_scan_block(typename Op::State s, uint32_t count) {
    typedef typename Op::Out Out;
    MAT_SHARED(Out, so_far, [2][MAT_SCAN_THREADS]);
    uint32_t t = threadIdx.x, from = 0;
    so_far[0][t] = Op::out(s);
    __syncthreads();
    for (uint32_t by = 1; by < MAT_SCAN_THREADS; by *= 2) {
        if (t >= by && t < count) s = Op::join(mat_widen(so_far[from][t - by]), s);
        so_far[from = 1 - from][t] = Op::out(s);
        __syncthreads();
    }
    return s;
}

/* Which chunk of which line a block does. */
template <class Op> struct mat_chunk {
    mat_line<Op> at;
    int64_t number, from, to;
};

template <class Op>
INLINE mat_chunk<Op> mat_chunk_of(const mat_scan &f, const mat_call &call) {
    int64_t line = (int64_t)blockIdx.x / f.chunks, number = (int64_t)blockIdx.x - line * f.chunks;
    int64_t from = number * f.chunk, to = from + f.chunk;
    return {mat_line_of<Op>(f, call, line), number, from, to < f.length ? to : f.length};
}

/* The total of the elements of a chunk that belong to a thread, which are adjacent, and of those of
   all threads before it, in their order. */
template <class Op> INLINE void mat_scan_totals(const mat_scan &f, const mat_call &call) {
    mat_chunk<Op> c = mat_chunk_of<Op>(f, call);
    int64_t each = (c.to - c.from + MAT_SCAN_THREADS - 1) / MAT_SCAN_THREADS;
    int64_t from = c.from + threadIdx.x * each, to = from + each < c.to ? from + each : c.to;
    uint32_t count = (uint32_t)((c.to - c.from + each - 1) / each);
    typename Op::State total = typename Op::State();
    for (int64_t k = from; k < to; k++) {
        typename Op::State item = Op::of(c.at.x[k * f.step_x]);
        total = k > from ? Op::join(total, item) : item;
    }
    total = mat_scan_block<Op>(total, count);
    if (threadIdx.x == count - 1) ((typename Op::Out *)call.at[2])[blockIdx.x] = Op::out(total);
}

template <class Op> INLINE void mat_scan_offsets(const mat_scan &f, const mat_call &call) {
    typedef typename Op::Out Out;
    MAT_SHARED(Out, carried, [1]);
    Out *all = (Out *)call.at[2] + (int64_t)blockIdx.x * f.chunks;
    for (int64_t from = 0; from < f.chunks; from += MAT_SCAN_THREADS) {
        int64_t k = from + threadIdx.x, left = f.chunks - from;
        uint32_t count = (uint32_t)(left < MAT_SCAN_THREADS ? left : MAT_SCAN_THREADS);
        typename Op::State s = typename Op::State();
        if (k < f.chunks) s = mat_widen(all[k]);
        s = mat_scan_block<Op>(s, count);
        if (from && k < f.chunks) s = Op::join(mat_widen(carried[0]), s);
        if (k < f.chunks) all[k] = Op::out(s);
        __syncthreads();
        if (threadIdx.x == count - 1) carried[0] = Op::out(s);
        __syncthreads();
    }
}

template <class Op> INLINE void mat_scan_chunks(const mat_scan &f, const mat_call &call) {
    typedef typename Op::Out Out;
    enum { E = MAT_SCAN_EACH, ALL = MAT_SCAN_THREADS * E };
    MAT_SHARED(Out, carried, [1]);
    MAT_SHARED(Out, parts, [MAT_SCAN_THREADS]);
    mat_chunk<Op> c = mat_chunk_of<Op>(f, call);
    bool has_carry = c.number > 0;
    if (has_carry && threadIdx.x == 0) carried[0] = ((const Out *)call.at[2])[blockIdx.x - 1];
    for (int64_t from = c.from; from < c.to; from += ALL, has_carry = true) {
        int64_t k = from + (int64_t)threadIdx.x * E, left = c.to - from;
        uint32_t count = (uint32_t)((left < ALL ? left : ALL) + E - 1) / E;
        typename Op::State s[E], before = typename Op::State();
#pragma unroll
        for (int j = 0; j < E; j++) {
            s[j] = typename Op::State();
            if (k + j < c.to) s[j] = Op::of(c.at.x[(k + j) * f.step_x]);
            if (j && k + j < c.to) s[j] = Op::join(s[j - 1], s[j]);
            else if (j) s[j] = s[j - 1];
        }
        parts[threadIdx.x] = Op::out(mat_scan_block<Op>(s[E - 1], count));
        __syncthreads();
        bool has_before = has_carry;
        if (has_carry) before = mat_widen(carried[0]);
        if (threadIdx.x && threadIdx.x < count) {
            typename Op::State others = mat_widen(parts[threadIdx.x - 1]);
            before = has_carry ? Op::join(before, others) : others;
            has_before = true;
        }
#pragma unroll
        for (int j = 0; j < E; j++) {
            if (has_before) s[j] = Op::join(before, s[j]);
            if (k + j < c.to) c.at.y[(k + j) * f.step_y] = Op::out(s[j]);
        }
        __syncthreads();
        if (threadIdx.x == count - 1) carried[0] = Op::out(s[E - 1]);
        __syncthreads();
    }
}

#define MAT_SCAN(name, kind, threads, ...) \
    MAT_KERNEL(name##_##kind, mat_scan, threads) { mat_scan_##kind<__VA_ARGS__>(frame, call); }
#define MAT_SCAN_IN_ORDER(name, ...) \
    MAT_SCAN(name, each, MAT_SCAN_THREADS, __VA_ARGS__) \
    MAT_SCAN(name, lines, MAT_SCAN_TILE *MAT_SCAN_WARPS, __VA_ARGS__) \
    MAT_SCAN(name, long, MAT_SCAN_THREADS, __VA_ARGS__)
#define MAT_SCAN_ANY_ORDER(name, ...) \
    MAT_SCAN(name, each, MAT_SCAN_THREADS, __VA_ARGS__) \
    MAT_SCAN(name, lines, MAT_SCAN_TILE *MAT_SCAN_WARPS, __VA_ARGS__) \
    MAT_SCAN(name, totals, MAT_SCAN_THREADS, __VA_ARGS__) \
    MAT_SCAN(name, offsets, MAT_SCAN_THREADS, __VA_ARGS__) \
    MAT_SCAN(name, chunks, MAT_SCAN_THREADS, __VA_ARGS__)

#endif
