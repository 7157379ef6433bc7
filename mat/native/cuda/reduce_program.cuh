/* Reductions of what a program computes: the results are items that are not in memory.

   The source of such a kernel has the program, `mat_composed`, which computes elements of the type
   `result`, the class of the reduction, `mat_folded`, and

       MAT_FOLD(lines, 3, 2, 4, uint32_t)    of 3 operands, among them a place for the items, into
                                             operand 2, in columns by 4, elements counted in 32 bits

   FLAT says that all axes are one, PACKED that groups of adjacent items are computed of groups of
   adjacent elements, or of one for a group: where addresses allow that, these are loaded whole.
   Items are added in the same order as if they were in memory, packed, at an aligned address. */
#ifndef MAT_REDUCE_PROGRAM_CUH
#define MAT_REDUCE_PROGRAM_CUH

#include "program.cuh"
#include "reduce.cuh"

template <int N> struct mat_fold_frame {
    mat_reduce reduce;
    mat_axes<N> axes;
};

/* A result as an item: those of integers have no sign. */
template <class Item, class S> INLINE Item mat_as_item(S x) {
    if constexpr (mat_same<Item, S>::as) return x;
    else if constexpr (mat_same<mat_b1, S>::as) return x.byte;
    else return (Item)x;
}

/* Stands for a pointer to the item with the number `start`. WHOLE: groups are loaded whole. */
template <class P, class S, int N, class I, bool WHOLE> struct mat_mapped {
    typedef S Item;
    typedef typename P::result result;
    const mat_axes<N> &axes;
    const mat_call &call;
    const P &program;
    int64_t start;

    INLINE mat_mapped operator+(int64_t k) const { return {axes, call, program, start + k}; }
    INLINE void operator+=(int64_t k) { start += k; }
    INLINE Item operator*() const {
        const int64_t at[1] = {0};
        const bool there[1] = {true};
        Item one[1][1];
        load<1, 1>(at, there, one);
        return one[0][0];
    }

    /* V adjacent items each; more than one are at a multiple of their number. */
    template <int U, int V>
    INLINE void load(const int64_t (&at)[U], const bool (&there)[U], Item (&to)[U][V]) const {
        if constexpr (V == 1 || WHOLE) {
            compute(at, there, to);
        } else {
#pragma unroll 1
            for (int v = 0; v < V; v++) {
                Item one[U][1];
                int64_t next[U];
#pragma unroll
                for (int u = 0; u < U; u++) next[u] = at[u] + v;
                compute(next, there, one);
#pragma unroll
                for (int u = 0; u < U; u++)
#pragma unroll
                    for (int k = 0; k < V; k++)
                        if (k == v) to[u][k] = one[u][0];
            }
        }
    }
    template <int U, int V>
    INLINE void compute(const int64_t (&at)[U], const bool (&there)[U], Item (&to)[U][V]) const {
        I item[U];
        int64_t places[U][N], left[U];
#pragma unroll
        for (int u = 0; u < U; u++) item[u] = there[u] ? (I)(start + at[u]) : 0;
        if (P::FLAT) {
#pragma unroll
            for (int u = 0; u < U; u++)
#pragma unroll
                for (int k = 0; k < N; k++) places[u][k] = axes.step[k] * (int64_t)item[u];
        } else {
            mat_walk<N, mat_program_loop<N, P>>::template places<U, 1, I>(axes, item, places,
                                                                          left);
        }
        mat_pack<result, V> found[U];
        program.template compute<U, V>(axes, call, places, there, found);
#pragma unroll
        for (int u = 0; u < U; u++)
#pragma unroll
            for (int v = 0; v < V; v++) to[u][v] = mat_as_item<Item>(found[u].at[v]);
    }
};

template <class P, class Item, int N, class I, bool WHOLE>
INLINE uint32_t mat_odd(const mat_mapped<P, Item, N, I, WHOLE> &x) {
    return (uint32_t)(-x.start & (int64_t)(16 / sizeof(Item) - 1));
}
template <int U, bool ALL, class P, class Item, int N, class I, bool WHOLE>
INLINE void mat_load_vectors(const mat_mapped<P, Item, N, I, WHOLE> &x, uint32_t v,
                             uint32_t width, uint32_t vectors, uint4 *to) {
    enum { V = 16 / sizeof(Item) };
    int64_t at[U];
    bool there[U];
    Item found[U][V];
#pragma unroll
    for (int u = 0; u < U; u++) {
        there[u] = ALL || v + u * width < vectors;
        at[u] = (int64_t)(v + u * width) * V;
    }
    x.template load<U, V>(at, there, found);
#pragma unroll
    for (int u = 0; u < U; u++) {
        union { uint4 all; Item items[V]; } here;
#pragma unroll
        for (int k = 0; k < V; k++) here.items[k] = found[u][k];
        to[u] = here.all;
    }
}
template <int V, int U, class P, class Item, int N, class I, bool WHOLE>
INLINE void mat_load_rows(const mat_mapped<P, Item, N, I, WHOLE> &x, const int64_t (&at)[U],
                          mat_row<V, Item> (&to)[U]) {
    bool there[U];
    Item found[U][V];
#pragma unroll
    for (int u = 0; u < U; u++) there[u] = true;
    x.template load<U, V>(at, there, found);
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
        for (int v = 0; v < V; v++) to[u].item[v] = found[u][v];
}

template <bool WHOLE, class I, class Item, class P, int N>
INLINE mat_mapped<P, Item, N, I, WHOLE>
mat_mapped_by(const mat_fold_frame<N> &frame, const mat_call &call, const P &program) {
    return {frame.axes, call, program, frame.reduce.start_x};
}

/* Chains of programs over rows, the last axis, with results for each row: a row is in one block, so
   that programs read the results of those before. `lanes` threads have a row, as alone. */
template <int N> struct mat_row_frame {
    int64_t divisor, accumulate, bytes, mask;
    mat_axes<N> axes;
};
struct mat_row_place {
    int64_t n, at; /* elements of a row, and the row */
    uint32_t lane, lanes;
    bool there;
};

INLINE mat_row_place mat_row_of(int64_t rows, int64_t n, int64_t lanes) {
    const uint32_t count = (uint32_t)lanes;
    const int64_t at = (int64_t)blockIdx.x * (blockDim.x / count) + threadIdx.x / count;
    return {n, at, threadIdx.x % count, count, at < rows};
}

template <class Op, int OUT, class I, bool WHOLE, class P, int N>
INLINE void mat_fold_row(const mat_row_frame<N> &frame, const mat_call &call, const P &program,
                         const mat_row_place &row) {
    typedef typename Op::Item Item;
    typename Op::State s = Op::none();
    if (row.there) {
        const mat_mapped<P, Item, N, I, WHOLE> x = {frame.axes, call, program, row.at * row.n};
        mat_scan<Op>(s, x, row.n, 0, row.lane, row.lanes, frame.mask);
    }
    s = mat_of_lanes<Op>(s, (int)row.lanes);
    if (row.lane == 0 && row.there) {
        uint64_t mask = sizeof(Item) == 1 ? (uint8_t)frame.mask : (uint64_t)frame.mask;
        Op::put(call.at[OUT], row.at, s,
                {row.n, frame.divisor, frame.accumulate, frame.bytes, mask, call.numbers});
    }
    __syncthreads();
}

template <int V, class I, class P, int N>
INLINE void mat_run_row(const mat_axes<N> &axes, const mat_call &call, const P &program,
                        const mat_row_place &row) {
    enum { U = V == 1 || P::HEAVY ? 1 : 2 };
    if (!row.there) return;
    const uint32_t count = (uint32_t)(row.n / V);
    for (uint32_t v = row.lane; v < count; v += U * row.lanes) {
        I item[U];
        int64_t at[U][N], left[U];
        bool there[U];
#pragma unroll
        for (int u = 0; u < U; u++) {
            there[u] = v + u * row.lanes < count;
            item[u] = (I)(row.at * row.n) + (there[u] ? (v + u * row.lanes) * V : 0);
        }
        mat_walk<N, mat_program_loop<N, P>>::template places<U, 1, I>(axes, item, at, left);
        program.template run<U, V>(axes, call, at, there);
    }
}

#define MAT_FOLD_ROW(k, N, OUT, I) \
    { \
        const mat_composed##k program(call); \
        constexpr bool packed = mat_composed##k::PACKED; \
        if (packed && program.template aligned<16 / sizeof(mat_folded##k::Item)>( \
                          frame.phase##k.axes, call)) \
            mat_fold_row<mat_folded##k, OUT, I, packed>(frame.phase##k, call, program, row); \
        else mat_fold_row<mat_folded##k, OUT, I, false>(frame.phase##k, call, program, row); \
    }
#define MAT_RUN_ROW(k, V, I) \
    { \
        const mat_composed##k program(call); \
        if (V > 1 && program.template aligned<V>(frame.phase##k.axes, call)) \
            mat_run_row<V, I>(frame.phase##k.axes, call, program, row); \
        else mat_run_row<1, I>(frame.phase##k.axes, call, program, row); \
    }

/* A program over the results of rows */
#define MAT_RUN_ONE(k, I) \
    { \
        const mat_composed##k program(call); \
        const mat_row_place one = {1, row.at, row.lane, row.lanes, row.there}; \
        mat_run_row<1, I>(frame.phase##k.axes, call, program, one); \
        __syncthreads(); \
    }

#define MAT_FOLD_lines(OUT, V) mat_lines<mat_folded, OUT>
#define MAT_FOLD_apart(OUT, V) mat_apart<mat_folded, OUT>
#define MAT_FOLD_columns(OUT, V) mat_columns<mat_folded, V, OUT>
#define MAT_FOLD_column(OUT, V) mat_columns<mat_folded, 1, OUT>
#define MAT_FOLD_BY(way, WHOLE, OUT, V, I) \
    MAT_FOLD_##way(OUT, V)(frame.reduce, call, \
                           mat_mapped_by<WHOLE, I, mat_folded::Item>(frame, call, program))
#define MAT_FOLD(way, N, OUT, V, I) \
    MAT_KERNEL(mat_fold_##way, mat_fold_frame<N>, MAT_REDUCE_THREADS) { \
        const mat_composed program(call); \
        if (mat_composed::PACKED && \
            program.template aligned<16 / sizeof(mat_folded::Item)>(frame.axes, call)) \
            MAT_FOLD_BY(way, mat_composed::PACKED, OUT, V, I); \
        else \
            MAT_FOLD_BY(way, false, OUT, V, I); \
    } \
    MAT_KERNEL(mat_fold_finish, mat_fold_frame<N>, MAT_REDUCE_THREADS) { \
        mat_finish<mat_folded, OUT>(frame.reduce, call); \
    }

#endif
