/* The element-wise kernels of the device: one for every line of elementwise.def, type of elements, and way to walk.

   A program names those that it wants, by kind of the line, way, name and type:

       MAT_UNARY(flat, exp, f32)   MAT_BINARY(rows, add, i64)   MAT_COMPARE(steps, less, f16)   MAT_FUSED(types, geem, c64)

   define mat_exp_f32_flat and so on. COMPARE gives bool; MAT_COMPARE_IN 1 and 0 of the operands' type. */
#ifndef MAT_ELEMENTWISE_CUH
#define MAT_ELEMENTWISE_CUH

#include "functions.cuh"
#include "walk.cuh"

/* An expression as a function template, for which types may have overloads of their own, and as a functor */

#define FN(name) mat_##name
#define UNARY(name, expression)                                                                                         \
    template <class T> MAT_INSIDE auto each_##name(T x) { return expression; }
#define UNARY_WITHIN(name, expression, for_all) UNARY(name, for_all)
#define BINARY(name, expression)                                                                                        \
    template <class T> MAT_INSIDE auto each_##name(T x, T y) { return expression; }
#define COMPARE(name, condition) BINARY(name, condition)
#define FUSED(name, count, expression)                                                                                  \
    template <class T> MAT_INSIDE auto each_##name(T alpha, T a, T b) { (void)b; return expression; }                   \
    enum { MAT_OPERANDS_OF_##name = count };
#include "elementwise.def"
#undef UNARY
#undef UNARY_WITHIN
#undef BINARY
#undef COMPARE
#undef FUSED

#include "complex.cuh"

#define UNARY(name, expression)                                                                                         \
    template <class S> struct mat_each_##name {                                                                         \
        typedef mat_computed<S> C;                                                                                      \
        typedef decltype(each_##name(C())) result;                                                                      \
        enum { NUMBERS = 0 };                                                                                           \
        MAT_MEMBER mat_each_##name(const mat_call &) {}                                                                 \
        MAT_MEMBER bool keeps() const { return false; }                                                                 \
        MAT_MEMBER void operator()(const C (&in)[2], result (&out)[2]) const { out[1] = each_##name(in[0]); }           \
    };
#define UNARY_WITHIN(name, expression, for_all) UNARY(name, for_all)
#define BINARY(name, expression)                                                                                        \
    template <class S> struct mat_each_##name {                                                                         \
        typedef mat_computed<S> C;                                                                                      \
        typedef decltype(each_##name(C(), C())) result;                                                                 \
        enum { NUMBERS = 0 };                                                                                           \
        MAT_MEMBER mat_each_##name(const mat_call &) {}                                                                 \
        MAT_MEMBER bool keeps() const { return false; }                                                                 \
        MAT_MEMBER void operator()(const C (&in)[3], result (&out)[3]) const { out[2] = each_##name(in[0], in[1]); }    \
    };
#define COMPARE(name, condition) BINARY(name, condition)
#define FUSED(name, count, expression)                                                                                  \
    template <class S> struct mat_each_##name {                                                                         \
        typedef mat_computed<S> C;                                                                                      \
        typedef C result;                                                                                               \
        enum { NUMBERS = 2 };                                                                                           \
        const C alpha, beta;                                                                                            \
        MAT_MEMBER mat_each_##name(const mat_call &call)                                                                \
            : alpha(mat_widen(mat_number<S>(call.numbers))), beta(mat_widen(mat_number<S>(call.numbers + 2))) {}        \
        MAT_MEMBER bool keeps() const { return beta != 0; }                                                             \
        MAT_MEMBER void operator()(const C (&in)[count], result (&out)[count]) const {                                  \
            const C term = each_##name(alpha, in[0], in[count - 2]);                                                    \
            out[count - 1] = keeps() ? term + beta * in[count - 1] : term;                                              \
        }                                                                                                               \
    };
#include "elementwise.def"
#undef UNARY
#undef UNARY_WITHIN
#undef BINARY
#undef COMPARE
#undef FUSED
#undef FN

/* Kernels */

#define MAT_WALKED(way, name, type, suffix, COUNT, READS, WRITES, R)                                                    \
    MAT_KERNEL(mat_##name##suffix##_##type##_##way, mat_axes<COUNT>, MAT_THREADS) {                                     \
        mat_walk_##way<COUNT, READS, WRITES, mat_##type, R, mat_each_##name<mat_##type>>(frame, call);                  \
    }
#define MAT_STORED(name, type) mat_stored<mat_##type, mat_each_##name<mat_##type>::result>::element
#define MAT_UNARY(way, name, type) MAT_WALKED(way, name, type, , 2, 1, 2, MAT_STORED(name, type))
#define MAT_BINARY(way, name, type) MAT_WALKED(way, name, type, , 3, 3, 4, MAT_STORED(name, type))
#define MAT_COMPARE(way, name, type) MAT_WALKED(way, name, type, , 3, 3, 4, bool)
#define MAT_COMPARE_IN(way, name, type) MAT_WALKED(way, name, type, _in, 3, 3, 4, mat_##type)
#define MAT_FUSED(way, name, type)                                                                                      \
    MAT_WALKED(way, name, type, , MAT_OPERANDS_OF_##name, (1 << MAT_OPERANDS_OF_##name) - 1,                            \
               1 << (MAT_OPERANDS_OF_##name - 1), mat_##type)

/* One value everywhere */

template <class S> struct mat_each_fill {
    typedef mat_computed<S> C;
    typedef C result;
    enum { NUMBERS = 1 };
    const C value;
    MAT_MEMBER mat_each_fill(const mat_call &call) : value(mat_widen(mat_number<S>(call.numbers))) {}
    MAT_MEMBER bool keeps() const { return false; }
    MAT_MEMBER void operator()(const C (&)[1], result (&out)[1]) const { out[0] = value; }
};
#define MAT_FILL(way, type) MAT_WALKED(way, fill, type, , 1, 0, 1, mat_##type)
#define MAT_FILL_LONG(type)                                                                                             \
    MAT_KERNEL(mat_fill_##type##_long, mat_axes<1>, MAT_THREADS) {                                                      \
        mat_walk_long<1, 0, 1, mat_##type, mat_##type, mat_each_fill<mat_##type>>(frame, call);                         \
    }

#endif
