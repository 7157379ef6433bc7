/* Loops over the elements of operands of any layout, on the device: what a thread loads, computes
   and stores.

   A functor F computes. It has

       F(frame, call)       takes the numbers of the operation, of which there are F::NUMBERS
       F::result            the type of what is computed
       F::HEAVY             much code is inlined, so threads do fewer elements
       keeps()              whether the old values of what is written are read: not where beta is 0
       operator()(in, out)  computes, for each m, from in[m][k], the elements that are read,
                            out[m][k], those that are written

   and the loops are templates of N operands, of which READS and WRITES, as bits, are read and
   written; S and R are the types in memory of the former and the latter. All elements that a thread
   does together are loaded before the first is stored.

       mat_loop_flat        one axis, every operand adjacent or one element for all: 16 bytes at a
                            time, if all addresses allow that
       mat_loop_rows        the same with more axes: 16 bytes at a time along the innermost one
       mat_loop_steps       any steps, one element at a time, where 31 bits are enough to count the
                            elements and for every step
       mat_loop_long        the same with 63 bits
       mat_loop_types       any types, converted when loaded and stored; 63 bits */
#ifndef MAT_STRIDED_LOOP_CUH
#define MAT_STRIDED_LOOP_CUH

#include "axes.cuh"
#include "elements.cuh"

enum { MAT_THREADS = 256, MAT_AXES = 8 };

/* The innermost axis is apart; the others follow from the innermost of them to the outermost. Steps
   count elements. */
template <int N> struct mat_axes {
    int64_t inner;                     /* elements on the innermost axis */
    int64_t items; /* what threads share: elements, or groups of adjacent ones */
    int64_t row, row_magic, row_shift; /* items on the innermost axis */
    int64_t rank;                      /* axes beside it */
    int64_t shape[MAT_AXES - 1], magic[MAT_AXES - 1], shift[MAT_AXES - 1];
    int64_t step[N];                   /* on the innermost axis */
    int64_t steps[N][MAT_AXES - 1];
    int64_t type[N];                   /* which of MAT_TYPES it is */
    int64_t line; /* what to compute, if there is a choice: its position in elementwise.def */
};

INLINE int64_t mat_times(uint32_t n, int64_t step) {
    return (int64_t)(int32_t)n * (int32_t)step;
}
INLINE int64_t mat_times(uint64_t n, int64_t step) { return (int64_t)n * step; }

/* Walks over the axes of N operands. L loads, computes and stores the elements of places, as
   `mat_strided_loop` does. */
template <int N, class L> struct mat_walk {
    typedef typename L::functor F;
    typedef mat_axes<N> frame_type;

    /* A block does the elements from `start` on, as many as its threads have groups; at the end,
       and where addresses are odd, threads take turns with single elements instead. */
    template<int U, int V>
    static INLINE void flat(const frame_type &frame, const mat_call &call, int64_t start) {
        const F f(frame, call);
        const int threads = blockDim.x, thread = threadIdx.x;
        if (start + (int64_t)U * V * threads <= frame.inner &&
            L::template aligned<V>(frame, call)) {
            int64_t at[U][N];
#pragma unroll
            for (int u = 0; u < U; u++)
#pragma unroll
                for (int k = 0; k < N; k++)
                    at[u][k] = frame.step[k] ? start + (int64_t)(u * threads + thread) * V : 0;
            L::template groups<U, V>(frame, call, f, at);
            return;
        }
        constexpr int M = F::HEAVY ? 1 : U * V < 4 ? U * V : 4;
#pragma unroll 1
        for (int done = 0; done < U * V; done += M) {
            int64_t at[M][N];
            bool there[M];
#pragma unroll
            for (int m = 0; m < M; m++) {
                const int64_t element = start + (done + m) * threads + thread;
                there[m] = element < frame.inner;
#pragma unroll
                for (int k = 0; k < N; k++) at[m][k] = frame.step[k] ? element : 0;
            }
            L::elements(call, f, at, there, typename L::as_they_are());
        }
    }

    /* The offsets of items of the innermost axis, groups of V elements, and how many elements there
       are from there. */
    template<int M, int V, class I>
    static INLINE void places(const frame_type &frame, const I (&item)[M], int64_t (&at)[M][N],
                              int64_t (&left)[M]) {
        I row[M];
#pragma unroll
        for (int m = 0; m < M; m++) {
            row[m] = frame.rank ? mat_over(item[m], frame.row_magic, frame.row_shift) : 0;
            const I inside = (item[m] - row[m] * (I)frame.row) * V;
            left[m] = frame.inner - (int64_t)inside;
#pragma unroll
            for (int k = 0; k < N; k++) at[m][k] = mat_times(inside, frame.step[k]);
        }
#pragma unroll 1
        for (int axis = 0; axis < frame.rank; axis++) {
            const I length = (I)frame.shape[axis];
#pragma unroll
            for (int m = 0; m < M; m++) {
                const I rest = mat_over(row[m], frame.magic[axis], frame.shift[axis]),
                        index = row[m] - rest * length;
#pragma unroll
                for (int k = 0; k < N; k++) at[m][k] += mat_times(index, frame.steps[k][axis]);
                row[m] = rest;
            }
        }
    }

    template<int U, int V>
    static INLINE void rows(const frame_type &frame, const mat_call &call, uint32_t start) {
        const F f(frame, call);
        uint32_t item[U];
        int64_t at[U][N], left[U];
#pragma unroll
        for (int u = 0; u < U; u++) item[u] = start + u * blockDim.x + threadIdx.x;
        places<U, V>(frame, item, at, left);
        bool whole = L::template aligned<V>(frame, call);
#pragma unroll
        for (int u = 0; u < U; u++) {
            if (item[u] >= frame.items) left[u] = 0;
            whole = whole && left[u] >= V;
        }
        if (whole) {
            L::template groups<U, V>(frame, call, f, at);
            return;
        }
#pragma unroll
        for (int u = 0; u < U; u++)
#pragma unroll 1
            for (int v = 0; v < V && v < left[u]; v++) {
                int64_t one[1][N];
                const bool there[1] = {true};
#pragma unroll
                for (int k = 0; k < N; k++) one[0][k] = at[u][k] + (frame.step[k] ? v : 0);
                L::elements(call, f, one, there, typename L::as_they_are());
            }
    }

    template<int M, class I, class Memory>
    static INLINE void steps(const frame_type &frame, const mat_call &call, I start,
                             const Memory &memory) {
        const F f(frame, call);
        I item[M];
        int64_t at[M][N], left[M];
        bool there[M];
#pragma unroll
        for (int m = 0; m < M; m++) {
            item[m] = start + m * blockDim.x + threadIdx.x;
            there[m] = item[m] < (uint64_t)frame.items;
        }
        places<M, 1>(frame, item, at, left);
        L::elements(call, f, at, there, memory);
    }
};

template <int N, unsigned READS, unsigned WRITES, class S, class R, class F>
struct mat_strided_loop {
    typedef mat_computed<S> C;
    typedef typename F::result O;
    typedef F functor;
    typedef mat_axes<N> frame_type;
    static INLINE constexpr bool old(int k) { return READS & WRITES & 1u << k; }
    static INLINE constexpr bool reads(int k) { return READS & 1u << k; }
    static INLINE constexpr bool writes(int k) { return WRITES & 1u << k; }
    static INLINE constexpr int size(int k) {
        return writes(k) ? (int)sizeof(R) : (int)sizeof(S);
    }

    /* M elements at offsets of their own, those that are there; `load` and `store` know the types
       in memory. */
    template<int M, class Memory>
    static INLINE void elements(const mat_call &call, const F &f, const int64_t (&at)[M][N],
                                const bool (&there)[M], const Memory &memory) {
        C in[M][N];
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (!reads(k) || (old(k) && !f.keeps())) continue;
            if (!old(k) && !call.at[k]) {
                const C number = mat_widen(mat_number<S>(call.numbers + 2 * (F::NUMBERS + k)));
#pragma unroll
                for (int m = 0; m < M; m++) in[m][k] = number;
            } else {
                memory.load(k, call.at[k], at, there, in);
            }
        }
        O out[M][N];
        f(in, out);
#pragma unroll
        for (int k = 0; k < N; k++)
            if (writes(k)) memory.store(k, call.at[k], at, there, out);
    }

    /* The types S and R */
    struct as_they_are {
        template<int M>
        INLINE void load(int k, const char *from, const int64_t (&at)[M][N],
                         const bool (&there)[M], C (&in)[M][N]) const {
#pragma unroll
            for (int m = 0; m < M; m++)
                if (there[m]) in[m][k] = mat_widen(((const S *)from)[at[m][k]]);
        }
        template<int M>
        INLINE void store(int k, char *to, const int64_t (&at)[M][N], const bool (&there)[M],
                          const O (&out)[M][N]) const {
#pragma unroll
            for (int m = 0; m < M; m++)
                if (there[m]) ((R *)to)[at[m][k]] = mat_narrow<R>(out[m][k]);
        }
    };

    /* Groups of V adjacent elements at U places, all of them there and aligned, or one element for
       a whole group. */
    template<int U, int V>
    static INLINE void groups(const frame_type &frame, const mat_call &call, const F &f,
                              const int64_t (&at)[U][N]) {
        C in[U * V][N];
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (!reads(k) || (old(k) && !f.keeps())) continue;
            const S *from = (const S *)call.at[k];
            if (old(k) || (from && frame.step[k])) {
                mat_pack<S, V> pack[U];
#pragma unroll
                for (int u = 0; u < U; u++) pack[u] = *(const mat_pack<S, V> *)(from + at[u][k]);
#pragma unroll
                for (int u = 0; u < U; u++)
#pragma unroll
                    for (int v = 0; v < V; v++) in[u * V + v][k] = mat_widen(pack[u].at[v]);
            } else {
#pragma unroll
                for (int u = 0; u < U; u++) {
                    const C one =
                        from ? mat_widen(from[at[u][k]])
                             : mat_widen(mat_number<S>(call.numbers + 2 * (F::NUMBERS + k)));
#pragma unroll
                    for (int v = 0; v < V; v++) in[u * V + v][k] = one;
                }
            }
        }
        O out[U * V][N];
        f(in, out);
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (!writes(k)) continue;
#pragma unroll
            for (int u = 0; u < U; u++) {
                mat_pack<R, V> pack;
#pragma unroll
                for (int v = 0; v < V; v++) pack.at[v] = mat_narrow<R>(out[u * V + v][k]);
                *(mat_pack<R, V> *)((R *)call.at[k] + at[u][k]) = pack;
            }
        }
    }

    /* Whether groups of V elements can be loaded and stored whole */
    template <int V> static INLINE bool aligned(const frame_type &frame, const mat_call &call) {
        bool all = true;
#pragma unroll
        for (int k = 0; k < N; k++)
            all = all &&
                  (!frame.step[k] || ((uint64_t)call.at[k] & (uint64_t)(V * size(k) - 1)) == 0);
        return all;
    }
};

/* Any types: S and R are what NumPy computes in, from which and to which elements in memory are
   converted. */
template <class S, class A> struct mat_loads { /* nothing but what promotion makes */
    static constexpr bool as = mat_kind<A>::of < mat_kind<S>::of ||
                               (mat_kind<A>::of == mat_kind<S>::of && sizeof(A) <= sizeof(S) &&
                                (sizeof(A) < sizeof(S) || mat_same<A, S>::as));
};

template <int N, unsigned READS, unsigned WRITES, class S, class R, class F> struct mat_converting {
    typedef mat_strided_loop<N, READS, WRITES, S, R, F> loop;
    typedef typename loop::C C;
    typedef typename loop::O O;
    const mat_axes<N> &frame;

    template<int M>
    INLINE void load(int k, const char *from, const int64_t (&at)[M][N], const bool (&there)[M],
                     C (&in)[M][N]) const {
        switch ((int)frame.type[k]) {
#define MAT_LOAD(code, A) \
    case code: \
        if constexpr (mat_loads<S, A>::as) { \
            _Pragma("unroll") for (int m = 0; m < M; m++) if (there[m]) in[m][k] = \
                mat_widen(mat_convert<S>(((const A *)from)[at[m][k]])); \
        } \
        break;
            MAT_TYPES(MAT_LOAD)
#undef MAT_LOAD
        }
    }

    template<int M>
    INLINE void store(int k, char *to, const int64_t (&at)[M][N], const bool (&there)[M],
                      const O (&out)[M][N]) const {
        switch ((int)frame.type[k]) {
#define MAT_STORE(code, A) \
    case code: \
        if constexpr (mat_kind<R>::of <= mat_kind<A>::of) { \
            _Pragma("unroll") for (int m = 0; m < M; m++) if (there[m])((A *)to)[at[m][k]] = \
                mat_convert<A>(mat_narrow<R>(out[m][k])); \
        } \
        break;
            MAT_TYPES(MAT_STORE)
#undef MAT_STORE
        }
    }
};

/* Groups and elements of a thread: enough to keep the memory busy, with few registers. The host
   counts blocks by these. */
INLINE constexpr int mat_groups(int V, bool heavy) { return V == 16 || heavy ? 1 : 2; }
INLINE constexpr int mat_elements(bool heavy) { return heavy ? 1 : 4; }
INLINE constexpr int mat_converted(bool heavy) { return heavy ? 1 : 2; }

template<int N, unsigned READS, unsigned WRITES, class S, class R, class F>
INLINE void mat_loop_flat(const mat_axes<N> &frame, const mat_call &call,
                          uint32_t block = blockIdx.x) {
    constexpr int V = mat_widest<S, R>::V, U = mat_groups(V, F::HEAVY);
    typedef mat_strided_loop<N, READS, WRITES, S, R, F> loop;
    mat_walk<N, loop>::template flat<U, V>(frame, call,
                                           (int64_t)block * (int)(blockDim.x * U * V));
}

template<int N, unsigned READS, unsigned WRITES, class S, class R, class F>
INLINE void mat_loop_rows(const mat_axes<N> &frame, const mat_call &call,
                          uint32_t block = blockIdx.x) {
    constexpr int V = mat_widest<S, R>::V, U = mat_groups(V, F::HEAVY);
    typedef mat_strided_loop<N, READS, WRITES, S, R, F> loop;
    mat_walk<N, loop>::template rows<U, V>(frame, call, block * (blockDim.x * U));
}

template <class I, int N, unsigned READS, unsigned WRITES, class S, class R, class F>
INLINE void mat_loop_by(const mat_axes<N> &frame, const mat_call &call, uint32_t block) {
    constexpr int M = mat_elements(F::HEAVY);
    typedef mat_strided_loop<N, READS, WRITES, S, R, F> loop;
    mat_walk<N, loop>::template steps<M, I>(frame, call, (I)block * (blockDim.x * M),
                                            typename loop::as_they_are());
}

template<int N, unsigned READS, unsigned WRITES, class S, class R, class F>
INLINE void mat_loop_steps(const mat_axes<N> &frame, const mat_call &call,
                           uint32_t block = blockIdx.x) {
    mat_loop_by<uint32_t, N, READS, WRITES, S, R, F>(frame, call, block);
}

template<int N, unsigned READS, unsigned WRITES, class S, class R, class F>
INLINE void mat_loop_long(const mat_axes<N> &frame, const mat_call &call,
                          uint32_t block = blockIdx.x) {
    mat_loop_by<uint64_t, N, READS, WRITES, S, R, F>(frame, call, block);
}

template<int N, unsigned READS, unsigned WRITES, class S, class R, class F>
INLINE void mat_loop_types(const mat_axes<N> &frame, const mat_call &call,
                           uint32_t block = blockIdx.x) {
    constexpr int M = mat_converted(F::HEAVY);
    typedef mat_strided_loop<N, READS, WRITES, S, R, F> loop;
    mat_walk<N, loop>::template steps<M, uint64_t>(
        frame, call, (uint64_t)block * (blockDim.x * M),
        mat_converting<N, READS, WRITES, S, R, F>{frame});
}

#endif
