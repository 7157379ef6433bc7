/* The element-wise kernels of the device, made of the lines of elementwise.def.

   A kernel does several lines, of one kind, for one type of elements, by one loop; the frame says
   which line. What they share, loading and storing, is most of the code, and to choose once for all
   elements of a thread costs nothing beside memory. A program declares such a family, and the
   kernels that it needs of it:

       MAT_FAMILY(binary, f32, 2, 0, mat_f32, mat_f32, MAT_TWO(add) MAT_TWO(multiply))
                                           2 inputs; 0: it is not heavy
       MAT_LOOP_OF(flat, binary, f32, 2)   the kernel mat_binary_f32_flat
       MAT_LOOP_OF(steps, binary, f32, 2)  the kernel mat_binary_f32_steps
       MAT_FUSED(geem, c64)                a line alone
       MAT_LOOP_FUSED(rows, geem, c64)     the kernel mat_geem_c64_rows

   where the types are those of results and of what is stored: of comparisons mat_b1, and mat_b1 or
   the operands' type. */
#ifndef MAT_ELEMENTWISE_CUH
#define MAT_ELEMENTWISE_CUH

#include "functions.cuh"
#include "strided_loop.cuh"

/* The expressions, as function templates, for which types may have overloads of their own */

#define FN(name) mat_##name
#define UNARY(name, kinds, weight, expression) \
    template<class T> INLINE auto each_##name(T x) { return expression; }
#define UNARY_REAL UNARY
#define UNARY_WITHIN(name, kinds, weight, expression, for_all) UNARY(name, kinds, weight, for_all)
#define UNARY_DEVICE UNARY
#define BINARY(name, kinds, weight, expression) \
    template<class T> INLINE auto each_##name(T x, T y) { return expression; }
#define BINARY_DEVICE BINARY
#define DIVISION BINARY
#define POWER BINARY
#define TERNARY(name, kinds, weight, expression, of_numbers) \
    template<class T> INLINE auto each_##name(T x, T y, T z, bool numbers) { \
        return numbers ? of_numbers : expression; \
    }
#define TEST UNARY
#define COMPARE BINARY
#define FUSED(name, kinds, weight, count, expression) \
    template<class T> INLINE auto each_##name(T alpha, T a, T b) { \
        (void)b; \
        return expression; \
    } \
    enum { MAT_OPERANDS_OF_##name = count };
#include "elementwise.def"
#undef UNARY
#undef UNARY_REAL
#undef UNARY_WITHIN
#undef UNARY_DEVICE
#undef BINARY
#undef BINARY_DEVICE
#undef DIVISION
#undef POWER
#undef TERNARY
#undef TEST
#undef COMPARE
#undef FUSED
#undef FN

#include "complex.cuh"

/* Of equal 16-bit floats and complex numbers, which can have zeros of both signs, NumPy's are the
   first ones. */
template<class T> INLINE T each_maximum_first(T x, T y) { return (x >= y) | (x != x) ? x : y; }
template<class T> INLINE T each_minimum_first(T x, T y) { return (x <= y) | (x != x) ? x : y; }
template<class T> INLINE T each_clip_first(T x, T y, T z) {
    return x != x ? x : y != y ? y : z != z ? z : x < y ? (y > z ? z : y) : x > z ? z : x;
}

/* Their positions in elementwise.def */

#define UNARY(name, ...) MAT_LINE_##name,
#define UNARY_REAL UNARY
#define UNARY_WITHIN UNARY
#define UNARY_DEVICE UNARY
#define BINARY UNARY
#define BINARY_DEVICE UNARY
#define DIVISION UNARY
#define POWER UNARY
#define TERNARY UNARY
#define TEST UNARY
#define COMPARE UNARY
#define FUSED UNARY
enum {
#include "elementwise.def"
};
#undef UNARY
#undef UNARY_REAL
#undef UNARY_WITHIN
#undef UNARY_DEVICE
#undef BINARY
#undef BINARY_DEVICE
#undef DIVISION
#undef POWER
#undef TERNARY
#undef TEST
#undef COMPARE
#undef FUSED

/* Families */

#define MAT_LINE(name, value) \
    case MAT_LINE_##name: \
        _Pragma("unroll") for (int m = 0; m < M; m++) out[m][N - 1] = value; \
        break;
#define MAT_ONE(name) MAT_LINE(name, each_##name(in[m][0]))
#define MAT_TWO(name) MAT_LINE(name, each_##name(in[m][0], in[m][1]))
#define MAT_TWO_FIRST(name) MAT_LINE(name, each_##name##_first(in[m][0], in[m][1]))
#define MAT_THREE(name) MAT_LINE(name, each_##name(in[m][0], in[m][1], in[m][2], numbers))

#define MAT_THREE_FIRST(name) \
    MAT_LINE(name, each_##name##_first(in[m][0], in[m][1], in[m][2]))

/* Whether y and z are one element each along the innermost axis, as numbers are: the host's kernels
   distinguish it so, too. */
template <int N> INLINE bool mat_of_numbers(const mat_axes<N> &frame) {
    if constexpr (N == 4) return !frame.step[1] && !frame.step[2];
    return false;
}

#define MAT_FAMILY(family, type, inputs, heavy, result_type, stored, lines) \
    struct mat_##family##_##type { \
        typedef mat_computed<mat_##type> C; \
        typedef mat_computed<result_type> result; \
        typedef stored R; \
        enum { NUMBERS = 0, HEAVY = heavy, N = inputs + 1 }; \
        const int line; \
        const bool numbers; \
        INLINE mat_##family##_##type(const mat_axes<N> &frame, const mat_call &) \
            : line((int)frame.line), numbers(mat_of_numbers(frame)) {} \
        INLINE bool keeps() const { return false; } \
        template<int M> \
        INLINE void operator()(const C (&in)[M][N], result (&out)[M][N]) const { \
            switch (line) { lines } \
        } \
    };
#define MAT_LOOP_OF(way, family, type, inputs) \
    MAT_KERNEL(mat_##family##_##type##_##way, mat_axes<inputs + 1>, MAT_THREADS) { \
        typedef mat_##family##_##type F; \
        mat_loop_##way<inputs + 1, (1 << inputs) - 1, 1 << inputs, mat_##type, F::R, F>(frame, \
                                                                                        call); \
    }

#define MAT_FUSED(name, type) \
    struct mat_##name##_##type { \
        typedef mat_computed<mat_##type> C; \
        typedef C result; \
        enum { NUMBERS = 2, HEAVY = 0, N = MAT_OPERANDS_OF_##name }; \
        const C alpha, beta; \
        INLINE mat_##name##_##type(const mat_axes<N> &, const mat_call &call) \
            : alpha(mat_widen(mat_number<mat_##type>(call.numbers))), \
              beta(mat_widen(mat_number<mat_##type>(call.numbers + 2))) {} \
        INLINE bool keeps() const { return beta != 0; } \
        template<int M> \
        INLINE void operator()(const C (&in)[M][N], result (&out)[M][N]) const { \
            _Pragma("unroll") for (int m = 0; m < M; m++) { \
                const C term = each_##name(alpha, in[m][0], in[m][N - 2]); \
                out[m][N - 1] = keeps() ? term + beta * in[m][N - 1] : term; \
            } \
        } \
    };
#define MAT_LOOP_FUSED(way, name, type) \
    MAT_KERNEL(mat_##name##_##type##_##way, mat_axes<MAT_OPERANDS_OF_##name>, MAT_THREADS) { \
        enum { N = MAT_OPERANDS_OF_##name }; \
        mat_loop_##way<N, (1 << N) - 1, 1 << (N - 1), mat_##type, mat_##type, \
                       mat_##name##_##type>(frame, call); \
    }

/* One value everywhere */

template <class S> struct mat_filling {
    typedef mat_computed<S> C;
    typedef C result;
    enum { NUMBERS = 1, HEAVY = 0 };
    const C value;
    INLINE mat_filling(const mat_axes<1> &, const mat_call &call)
        : value(mat_widen(mat_number<S>(call.numbers))) {}
    INLINE bool keeps() const { return false; }
    template <int M> INLINE void operator()(const C (&)[M][1], result (&out)[M][1]) const {
#pragma unroll
        for (int m = 0; m < M; m++) out[m][0] = value;
    }
};
#define MAT_FILL(way, type) \
    MAT_KERNEL(mat_fill_##type##_##way, mat_axes<1>, MAT_THREADS) { \
        mat_loop_##way<1, 0, 1, mat_##type, mat_##type, mat_filling<mat_##type>>(frame, call); \
    }

/* alpha times the first operand is added to the second and rounded once; nothing if alpha is 0 */

template <class S> struct mat_updating {
    typedef mat_computed<S> C;
    typedef C result;
    enum { NUMBERS = 1, HEAVY = 0 };
    const C alpha;
    INLINE mat_updating(const mat_axes<2> &, const mat_call &call)
        : alpha(mat_widen(mat_number<S>(call.numbers))) {}
    INLINE bool keeps() const { return true; }
    INLINE float once(float x, float y) const { return fmaf(alpha, x, y); }
    INLINE double once(double x, double y) const { return fma(alpha, x, y); }
    template <int M> INLINE void operator()(const C (&in)[M][2], result (&out)[M][2]) const {
#pragma unroll
        for (int m = 0; m < M; m++) out[m][1] = alpha == 0 ? in[m][1] : once(in[m][0], in[m][1]);
    }
};
#define MAT_AXPY(way, type) \
    MAT_KERNEL(mat_axpy_##type##_##way, mat_axes<2>, MAT_THREADS) { \
        mat_loop_##way<2, 3, 2, mat_##type, mat_##type, mat_updating<mat_##type>>(frame, call); \
    }

#endif
