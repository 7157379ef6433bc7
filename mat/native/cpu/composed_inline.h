/* What composed loops are written in (cpu/composed.py): the light lines of elementwise.def as
   functions of elements, mat_each_NAME_TYPE, with the bits that their kernels have. */
#ifndef MAT_COMPOSED_INLINE_H
#define MAT_COMPOSED_INLINE_H

#include "lines_inline.h"

#include "functions_inline.h"

/* They are compiled for the machine that is there. */
#undef MAT_CLONES
#define MAT_CLONES

#define MAT_OF_LIGHT(...) __VA_ARGS__
#define MAT_OF_HEAVY(...)

#define MAT_LINE(R, name, result, ...) \
    INLINE R KERNEL(name)(__VA_ARGS__) { return (R)(result); }
#define UNARY_DEVICE(...)
#define UNARY_WITHIN(...)
#define BINARY_DEVICE(...)
#define DIVISION(...)
#define POWER(...)
#define FUSED(...)
#define UNARY_REAL UNARY
#define UNARY(name, kinds, weight, expression) \
    MAT_OF_##weight(MAT_OF(kinds)(MAT_LINE(T, name, expression, T x)))
#define BINARY(name, kinds, weight, expression) \
    MAT_OF_##weight(MAT_OF(kinds)(MAT_LINE(T, name, expression, T x, T y)))
#define TERNARY(name, kinds, weight, expression, of_numbers) \
    MAT_OF_##weight(MAT_OF(kinds)(MAT_LINE(T, name, expression, T x, T y, T z) \
                                  MAT_LINE(T, name##_of_numbers, of_numbers, T x, T y, T z)))
#define TEST(name, kinds, weight, condition) \
    MAT_OF(kinds)(MAT_LINE(uint8_t, name, condition, T x))
#define COMPARE(name, kinds, weight, condition) \
    MAT_OF(kinds)(MAT_LINE(uint8_t, name, condition, T x, T y) \
                  MAT_LINE(T, name##_in, condition, T x, T y))
#define FN(name) MAT_JOIN(MAT_JOIN(mat, name), TYPE)

#define MAT_OF(kinds) MAT_F_##kinds
#define T float
#define TYPE f32
#include "elementwise.def"
#undef T
#undef TYPE
#define T double
#define TYPE f64
#include "elementwise.def"
#undef T
#undef TYPE
#undef MAT_OF

/* Of bool, results are 1 for all numbers but 0. */
#undef MAT_LINE
#define MAT_LINE(R, name, result, ...) \
    INLINE R KERNEL(name)(__VA_ARGS__) { return (R)((result) != 0); }
#define MAT_OF(kinds) MAT_B_##kinds
#define T uint8_t
#define TYPE b1
#include "elementwise.def"
#undef T
#undef TYPE

#define MAT_SELECT(condition, x, y) ((condition) ? (x) : (y))
#define mat_convert_b1_f32(x) ((float)((x) != 0))
#define mat_convert_b1_f64(x) ((double)((x) != 0))
#define mat_convert_f32_b1(x) ((uint8_t)((x) != 0))
#define mat_convert_f64_b1(x) ((uint8_t)((x) != 0))
#define mat_convert_f32_f64(x) ((double)(x))
#define mat_convert_f64_f32(x) ((float)(x))

#endif
