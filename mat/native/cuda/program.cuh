/* Programs: several element-wise operations in one kernel, for operands of any types and layouts.

   A program declares a functor F, whose members are its numbers as elements, and one kernel

       MAT_PROGRAM(mat_program_rows, rows, 3, 4, F)    of 3 operands, by groups of 4 elements

   F::run computes U groups of V elements. Results of operations are elements, so that 16-bit floats
   are rounded after each; programs are compiled with contraction off, so that no operation becomes
   one with the next. */
#ifndef MAT_PROGRAM_CUH
#define MAT_PROGRAM_CUH

#include "convert.cuh"
#include "elementwise.cuh"

/* An element as an operand of an operation in S; and its result, in R, as an element of A */
template <class S, class A> INLINE mat_computed<S> mat_operand(A x) {
    return mat_widen(mat_convert<S>(x));
}
template <class R, class A, class X> INLINE A mat_result(X x) {
    return mat_convert<A>(mat_narrow<R>((mat_computed<R>)x));
}

/* Elements of an operand: at `place` in calls, at `k` in frames */
template <class S, int U, int V> struct mat_held {
    mat_pack<S, V> pack[U];

    template <int N>
    INLINE void load(int place, int k, const mat_axes<N> &frame, const mat_call &call,
                     const int64_t (&at)[U][N], const bool (&there)[U]) {
        load_by(V == 1 || frame.step[k], place, k, call, at, there);
    }
    /* Groups of adjacent elements, or one element for each */
    template <int N>
    INLINE void load_by(bool adjacent, int place, int k, const mat_call &call,
                        const int64_t (&at)[U][N], const bool (&there)[U]) {
        const S *from = (const S *)call.at[place];
#pragma unroll
        for (int u = 0; u < U; u++) {
            if (!there[u]) continue;
            if (V == 1 || adjacent) {
                pack[u] = *(const mat_pack<S, V> *)(from + at[u][k]);
            } else {
                const S one = from[at[u][k]];
#pragma unroll
                for (int v = 0; v < V; v++) pack[u].at[v] = one;
            }
        }
    }
    template <int N>
    INLINE void store(int place, int k, const mat_call &call, const int64_t (&at)[U][N],
                      const bool (&there)[U]) const {
#pragma unroll
        for (int u = 0; u < U; u++)
            if (there[u]) *(mat_pack<S, V> *)((S *)call.at[place] + at[u][k]) = pack[u];
    }
};

/* Groups of V elements can be loaded and stored whole. */
template <class S, int V, int N>
INLINE bool mat_aligned(int place, int k, const mat_axes<N> &frame, const mat_call &call) {
    return !frame.step[k] || ((uint64_t)call.at[place] & (uint64_t)(V * sizeof(S) - 1)) == 0;
}

/* How `mat_walk` asks a program to compute */
template <int N, class P> struct mat_program_loop {
    struct functor : P {
        const mat_axes<N> &frame;
        INLINE functor(const mat_axes<N> &frame, const mat_call &call) : P(call), frame(frame) {}
    };
    struct as_they_are {};

    template <int V> static INLINE bool aligned(const mat_axes<N> &frame, const mat_call &call) {
        return P::template aligned<V>(frame, call);
    }
    template <int U, int V>
    static INLINE void groups(const mat_axes<N> &frame, const mat_call &call, const functor &f,
                              const int64_t (&at)[U][N]) {
        bool there[U];
#pragma unroll
        for (int u = 0; u < U; u++) there[u] = true;
        f.template run<U, V>(frame, call, at, there);
    }
    template <int M>
    static INLINE void elements(const mat_call &call, const functor &f, const int64_t (&at)[M][N],
                                const bool (&there)[M], as_they_are) {
        f.template run<M, 1>(f.frame, call, at, there);
    }
};

template <int N, int V, class P>
INLINE void mat_program_flat(const mat_axes<N> &frame, const mat_call &call) {
    constexpr int U = mat_groups(V, P::HEAVY);
    mat_walk<N, mat_program_loop<N, P>>::template flat<U, V>(
        frame, call, (int64_t)blockIdx.x * (int)(blockDim.x * U * V));
}
template <int N, int V, class P>
INLINE void mat_program_rows(const mat_axes<N> &frame, const mat_call &call) {
    constexpr int U = mat_groups(V, P::HEAVY);
    mat_walk<N, mat_program_loop<N, P>>::template rows<U, V>(frame, call,
                                                             blockIdx.x * (blockDim.x * U));
}
template <class I, int N, class P>
INLINE void mat_program_by(const mat_axes<N> &frame, const mat_call &call) {
    constexpr int M = mat_elements(P::HEAVY);
    typedef mat_program_loop<N, P> loop;
    mat_walk<N, loop>::template steps<M, I>(frame, call, (I)blockIdx.x * (blockDim.x * M),
                                            typename loop::as_they_are());
}
template <int N, int V, class P>
INLINE void mat_program_steps(const mat_axes<N> &frame, const mat_call &call) {
    mat_program_by<uint32_t, N, P>(frame, call);
}
template <int N, int V, class P>
INLINE void mat_program_long(const mat_axes<N> &frame, const mat_call &call) {
    mat_program_by<uint64_t, N, P>(frame, call);
}

#define MAT_PROGRAM(name, way, N, V, P) \
    MAT_KERNEL(name, mat_axes<N>, MAT_THREADS) { mat_program_##way<N, V, P>(frame, call); }

#endif
