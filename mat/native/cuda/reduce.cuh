/* Reductions over some axes of an operand, x, into elements along the others, which are kept, of
   another, y: as reduce.h has them for the CPU, with what is kept and reduced merged and sorted by
   the caller.

   There are three ways. By `lines`, where what is reduced is adjacent: `lanes` threads for a
   result, a power of two, `width` of them to a line. Element by element, `apart`, where it does
   not. By `columns`, where kept elements are adjacent: `across` threads beside each other, of as
   many results or V times so many, and as many rows at once as a block has room for. Each may take
   a result in parts of `chunk` elements, which are left in a third operand, in the order
   [part][result], and put together by `finish`.

   Which thread adds what, and in what tree, depends on shapes, strides and how an address is
   aligned, and on nothing else.

   Items are in memory, or computed from other operands by a program (reduce_program.cuh): `X` is a
   pointer to items, or what stands for one. OUT is the place of the result in a call, after which
   comes that of the third operand. */
#ifndef MAT_REDUCE_CUH
#define MAT_REDUCE_CUH

#include "axes.cuh"
#include "reduce_types.cuh"

enum { MAT_VECTORS = 4, MAT_REDUCE_THREADS = 256 };

struct mat_reduce {
    int64_t start_x, start_y, results, reduced, chunk, chunks, lanes, width, across, column_y,
        finish_across;
    int64_t divisor, accumulate, bytes, mask;
    mat_reduced_axes kept, in;
};

template <class Item> INLINE mat_end mat_end_of(const mat_reduce &f, const mat_call &call) {
    uint64_t mask = sizeof(Item) == 1 ? (uint8_t)f.mask : (uint64_t)f.mask;
    return {f.reduced, f.divisor, f.accumulate, f.bytes, mask, call.numbers};
}

template <class Item> INLINE const Item *mat_items(const char *from, int64_t start) {
    return (const Item *)from + start;
}
/* How many items there are before the next 16 bytes begin */
template <class Item> INLINE uint32_t mat_odd(const Item *p) {
    return (uint32_t)(-(int64_t)(size_t)p & 15) / (uint32_t)sizeof(Item);
}
template <class Item> INLINE uint4 mat_load(const Item *p) { return __ldg((const uint4 *)p); }
/* U times 16 bytes, `width` of them apart, from the v-th on; ALL: no one is after the last. */
template <int U, bool ALL, class Item>
INLINE void mat_load_vectors(const Item *p, uint32_t v, uint32_t width, uint32_t vectors,
                             uint4 *to) {
    enum { V = 16 / sizeof(Item) };
#pragma unroll
    for (int u = 0; u < U; u++)
        if (ALL || v + u * width < vectors) to[u] = mat_load(p + (int64_t)(v + u * width) * V);
}
template <class Op, class X>
INLINE void mat_add_one(typename Op::State &s, X p, uint32_t number, uint64_t mask) {
    const typename Op::Item one = *p;
    Op::template add<1, 1>(s, &one, number, 0, mask);
}

/* Add adjacent items, `length` of them, with `width` threads of which this is number
   `lane`. */
template<class Op, class X>
INLINE void mat_scan(typename Op::State &s, X p, int64_t length, uint32_t first, uint32_t lane,
                     uint32_t width, uint64_t mask) {
    typedef typename Op::Item Item;
    enum {
        V = 16 / sizeof(Item),
        U = Op::WHOLE || V <= 4 ? MAT_VECTORS : 2
    }; /* of more, registers are short */
    uint32_t n = (uint32_t)length, head = mat_odd(p);
    if (head > n) head = n;
    for (uint32_t k = lane; k < head; k += width) mat_add_one<Op>(s, p + k, first + k, mask);
    p += head, n -= head, first += head;
    uint32_t vectors = n / V, v = lane;
    for (; v + (U - 1) * width < vectors; v += U * width) {
        union { uint4 all[U]; Item item[U * V]; } here;
        mat_load_vectors<U, true>(p, v, width, vectors, here.all);
        if (Op::WHOLE) {
            Op::template add<U * V, V>(s, here.item, first + v * V, width * V, mask);
        } else {
#pragma unroll
            for (int u = 0; u < U; u++)
                Op::template add<V, V>(s, here.item + u * V, first + (v + u * width) * V, 0, mask);
        }
    }
    if (v < vectors) {
        union { uint4 all[U]; Item item[U * V]; } here;
        mat_load_vectors<U - 1, false>(p, v, width, vectors, here.all);
#pragma unroll
        for (int u = 0; u < U - 1; u++)
            if (v + u * width < vectors)
                Op::template add<V, V>(s, here.item + u * V, first + (v + u * width) * V, 0, mask);
    }
    for (uint32_t k = vectors * V + lane; k < n; k += width)
        mat_add_one<Op>(s, p + k, first + k, mask);
}

/* Join the states of `lanes` neighbouring threads, in the first of them. */
template <class Op> INLINE typename Op::State mat_of_lanes(typename Op::State s, int lanes) {
    typedef typename Op::State State;
    int width = lanes < 32 ? lanes : 32;
    for (int by = width / 2; by > 0; by /= 2) {
        State other = Op::down(s, by, width);
        Op::join(s, other);
    }
    if (lanes <= 32) return s;
    MAT_SHARED(State, of_warps, [MAT_REDUCE_THREADS / 32]);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = (int)threadIdx.x < lanes / 32 ? of_warps[threadIdx.x] : Op::none();
        for (int by = lanes / 64; by > 0; by /= 2) {
            State other = Op::down(s, by, 32);
            Op::join(s, other);
        }
    }
    return s;
}

template<class Op, int OUT>
INLINE void mat_leave(const mat_reduce &f, const mat_call &call, typename Op::State s,
                      int64_t chunk, int64_t result, int64_t at) {
    mat_later(s, chunk * f.chunk);
    if (f.chunks > 1) ((typename Op::State *)call.at[OUT + 1])[chunk * f.results + result] = s;
    else Op::put(call.at[OUT], f.start_y + at, s, mat_end_of<typename Op::Item>(f, call));
}

/* Which result a thread is to work on, and of what elements. */
struct mat_task {
    uint32_t lane;
    int64_t result, from, count;
    mat_place_of at;
};

INLINE mat_task mat_task_of(const mat_reduce &f) {
    uint32_t lanes = (uint32_t)f.lanes;
    mat_task t = {threadIdx.x % lanes,
                  (int64_t)blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes,
                  0,
                  0,
                  {0, 0}};
    t.from = (int64_t)blockIdx.y * f.chunk;
    if (t.result < f.results) {
        t.count = f.reduced - t.from < f.chunk ? f.reduced - t.from : f.chunk;
        t.at = mat_placed(f.kept, (int)f.kept.rank, t.result);
    }
    return t;
}

template<class Op, int OUT>
INLINE void mat_end_task(const mat_reduce &f, const mat_call &call, typename Op::State s,
                         const mat_task &t) {
    s = mat_of_lanes<Op>(s, (int)f.lanes);
    if (t.lane == 0 && t.result < f.results)
        mat_leave<Op, OUT>(f, call, s, blockIdx.y, t.result, t.at.y);
}

template <class Op, int OUT = 1, class X>
INLINE void mat_lines(const mat_reduce &f, const mat_call &call, X x) {
    mat_task t = mat_task_of(f);
    typename Op::State s = Op::none();
    x += t.at.x;
    int last = (int)f.in.rank - 1;
    if (last == 0) {
        if (t.count > 0) mat_scan<Op>(s, x + t.from, t.count, 0, t.lane, (uint32_t)f.lanes, f.mask);
    } else if (t.count > 0) {
        uint32_t width = (uint32_t)f.width, lane = t.lane % width;
        int64_t n = f.in.axis[last].n, step = (uint32_t)f.lanes / width, to = t.from + t.count;
        for (int64_t line = mat_over(t.from, f.in.axis[last]) + t.lane / width; line * n < to;
             line += step) {
            int64_t from = line * n < t.from ? t.from : line * n,
                    stop = line * n + n < to ? line * n + n : to;
            mat_scan<Op>(s, x + mat_placed(f.in, last, line).x + (from - line * n), stop - from,
                         (uint32_t)(from - t.from), lane, width, f.mask);
        }
    }
    mat_end_task<Op, OUT>(f, call, s, t);
}

/* V adjacent items */
template <int V, class Item> struct mat_row {
    typedef typename mat_words<V * sizeof(Item)>::type Word;
    union { Word all; Item item[V]; };

    INLINE void load(const Item *p) {
        if (((size_t)p & (sizeof(Word) - 1)) == 0) {
            all = __ldg((const Word *)p);
        } else {
#pragma unroll
            for (int j = 0; j < V; j++) item[j] = p[j];
        }
    }
};

template <int V, int U, class Item>
INLINE void mat_load_rows(const Item *p, const int64_t (&at)[U], mat_row<V, Item> (&to)[U]) {
#pragma unroll
    for (int u = 0; u < U; u++) to[u].load(p + at[u]);
}

template <class Op, int OUT = 1, class X>
INLINE void mat_apart(const mat_reduce &f, const mat_call &call, X x) {
    enum { U = sizeof(typename Op::Item) > 8 ? 4 : 8 };
    mat_task t = mat_task_of(f);
    typename Op::State s = Op::none();
    x += t.at.x;
    int rank = (int)f.in.rank;
    uint32_t n = (uint32_t)t.count, k = t.lane, lanes = (uint32_t)f.lanes;
    for (; k + (U - 1) * lanes < n; k += U * lanes) {
        int64_t at[U];
        mat_row<1, typename Op::Item> rows[U];
        typename Op::Item here[U];
#pragma unroll
        for (int u = 0; u < U; u++) at[u] = mat_placed(f.in, rank, t.from + k + u * lanes).x;
        mat_load_rows(x, at, rows);
#pragma unroll
        for (int u = 0; u < U; u++) here[u] = rows[u].item[0];
        Op::template add<U, 1>(s, here, k, lanes, f.mask);
    }
    for (; k < n; k += lanes)
        mat_add_one<Op>(s, x + mat_placed(f.in, rank, t.from + k).x, k, f.mask);
    mat_end_task<Op, OUT>(f, call, s, t);
}

/* What the threads of a column have, the rows of a block apart from each other, in the first of
   them. */
template<class Op, int V>
INLINE void mat_of_rows(typename Op::State *s, uint32_t across, uint32_t rows, uint32_t column,
                        uint32_t row) {
    typedef typename Op::State State;
    MAT_SHARED(State, halves, [MAT_REDUCE_THREADS / 2 * V]);
    for (uint32_t n = rows; n > 1; n = (n + 1) / 2) {
        uint32_t half = (n + 1) / 2;
        if (row >= half && row < n) {
#pragma unroll
            for (int j = 0; j < V; j++) halves[((row - half) * V + j) * across + column] = s[j];
        }
        __syncthreads();
        if (row + half < n) {
#pragma unroll
            for (int j = 0; j < V; j++) Op::join(s[j], halves[(row * V + j) * across + column]);
        }
        __syncthreads();
    }
}

/* U rows of V items each, from the k-th on, `step` apart. */
template<class Op, int V, int U, class X>
INLINE void mat_add_rows(typename Op::State *s, const mat_reduce &f, X x, int64_t from, uint32_t k,
                         uint32_t step) {
    typedef typename Op::Item Item;
    mat_row<V, Item> here[U];
    int64_t at[U];
#pragma unroll
    for (int u = 0; u < U; u++) {
        int64_t row = from + k + u * step;
        at[u] = f.in.rank == 1 ? row * f.in.axis[0].x : mat_placed(f.in, (int)f.in.rank, row).x;
    }
    mat_load_rows(x, at, here);
#pragma unroll
    for (int j = 0; j < V; j++) {
        Item column[U];
#pragma unroll
        for (int u = 0; u < U; u++) column[u] = here[u].item[j];
        Op::template add<U, 1>(s[j], column, k, step, f.mask);
    }
}

template <class Op, int V, int OUT = 1, class X>
INLINE void mat_columns(const mat_reduce &f, const mat_call &call, X x) {
    typedef typename Op::Item Item;
    enum { U = V == 1 ? 8 : 64 / (V * sizeof(Item)) }; /* rows at once */
    uint32_t across = (uint32_t)f.across, rows = blockDim.x / across;
    uint32_t tx = threadIdx.x % across, ty = threadIdx.x / across;
    int64_t result = ((int64_t)blockIdx.x * across + tx) * V, from = (int64_t)blockIdx.y * f.chunk;
    bool live = ty < rows && result < f.results;
    mat_place_of at = mat_placed(f.kept, (int)f.kept.rank, result);
    typename Op::State s[V];
#pragma unroll
    for (int j = 0; j < V; j++) s[j] = Op::none();
    if (live) {
        x += at.x;
        uint32_t n = (uint32_t)(f.reduced - from < f.chunk ? f.reduced - from : f.chunk), k = ty;
        for (; k + (U - 1) * rows < n; k += U * rows)
            mat_add_rows<Op, V, U>(s, f, x, from, k, rows);
        for (; k < n; k += rows) mat_add_rows<Op, V, 1>(s, f, x, from, k, rows);
    }
    mat_of_rows<Op, V>(s, across, rows, tx, ty);
    if (live && ty == 0) {
#pragma unroll
        for (int j = 0; j < V; j++)
            mat_leave<Op, OUT>(f, call, s[j], blockIdx.y, result + j, at.y + j * f.column_y);
    }
}

/* The parts of `finish_across` results by a block. */
template <class Op, int OUT = 1>
INLINE void mat_finish(const mat_reduce &f, const mat_call &call) {
    typedef typename Op::State State;
    uint32_t across = (uint32_t)f.finish_across, rows = blockDim.x / across;
    uint32_t tx = threadIdx.x % across, ty = threadIdx.x / across;
    int64_t result = (int64_t)blockIdx.x * across + tx;
    bool live = ty < rows && result < f.results;
    const State *left = (const State *)call.at[OUT + 1] + result;
    State s = Op::none();
    if (live)
        for (int64_t c = ty; c < f.chunks; c += rows) Op::join(s, left[c * f.results]);
    mat_of_rows<Op, 1>(&s, across, rows, tx, ty);
    if (live && ty == 0)
        Op::put(call.at[OUT], f.start_y + mat_placed(f.kept, (int)f.kept.rank, result).y, s,
                mat_end_of<typename Op::Item>(f, call));
}

/* The kernels of an operation, as they are needed together: programs of so few compile while one
   waits. In `columns` a thread takes `V` of them, as many as are 16 bytes of items, or 64 of
   states. */
#define MAT_ITEMS(...) mat_items<typename __VA_ARGS__::Item>(call.at[0], frame.start_x)
#define MAT_REDUCE_LINES(name, V, ...) \
    MAT_KERNEL(name##_lines, mat_reduce, MAT_REDUCE_THREADS) { \
        mat_lines<__VA_ARGS__>(frame, call, MAT_ITEMS(__VA_ARGS__)); \
    } \
    MAT_KERNEL(name##_finish, mat_reduce, MAT_REDUCE_THREADS) { \
        mat_finish<__VA_ARGS__>(frame, call); \
    }
#define MAT_REDUCE_COLUMNS(name, V, ...) \
    MAT_KERNEL(name##_columns, mat_reduce, MAT_REDUCE_THREADS) { \
        mat_columns<__VA_ARGS__, V>(frame, call, MAT_ITEMS(__VA_ARGS__)); \
    } \
    MAT_KERNEL(name##_finish, mat_reduce, MAT_REDUCE_THREADS) { \
        mat_finish<__VA_ARGS__>(frame, call); \
    }
#define MAT_REDUCE_APART(name, V, ...) \
    MAT_KERNEL(name##_apart, mat_reduce, MAT_REDUCE_THREADS) { \
        mat_apart<__VA_ARGS__>(frame, call, MAT_ITEMS(__VA_ARGS__)); \
    } \
    MAT_KERNEL(name##_column, mat_reduce, MAT_REDUCE_THREADS) { \
        mat_columns<__VA_ARGS__, 1>(frame, call, MAT_ITEMS(__VA_ARGS__)); \
    } \
    MAT_KERNEL(name##_finish, mat_reduce, MAT_REDUCE_THREADS) { \
        mat_finish<__VA_ARGS__>(frame, call); \
    }

#endif
