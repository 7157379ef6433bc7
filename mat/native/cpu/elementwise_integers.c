/* The element-wise kernels of integers and bool: the lines of elementwise.def that are for them. */
#include "lines_inline.h"

#include "functions_inline.h"

#define UNARY_DEVICE(...)
#define BINARY_DEVICE(...)

#pragma GCC diagnostic ignored "-Wtype-limits" /* unsigned numbers are compared with 0, too */

/* Two versions of these suffice, but for divisions: with AVX-512 they gain little. */
#if defined(MAT_HAS_CLONES)
#undef MAT_CLONES
#define MAT_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#define DIVISION_CLONES \
    __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define DIVISION_CLONES
#endif

/* The functions of integers */

#define FN(name) MAT_JOIN(MAT_JOIN(mat, name), TYPE)
#define IS_SIGNED(T) ((T)-1 < (T)1)
#define IS_SHIFT(T, y) ((y) >= 0 && (y) < (T)(8 * sizeof(T)))

/* The reciprocal of 0 is what NumPy's 1.0 / 0 becomes on x86. */
#define FUNCTIONS(T, type) \
    INLINE T mat_fabs_##type(T x) { return x < 0 ? (T)-x : x; } \
    INLINE T mat_floor_##type(T x) { return x; } \
    INLINE T mat_ceil_##type(T x) { return x; } \
    INLINE T mat_trunc_##type(T x) { return x; } \
    INLINE T mat_invert_##type(T x) { return (T)~x; } \
    INLINE T mat_inverse_##type(T x) { \
        const int is_long = sizeof(T) >= 4 && IS_SIGNED(T); \
        const T none = is_long ? (T)((uint64_t)1 << (8 * sizeof(T) - 1)) : 0; \
        return x == 0 ? none : (T)(1 / x); \
    } \
    INLINE T mat_shift_left_##type(T x, T y) { \
        return IS_SHIFT(T, y) ? (T)(x << y) : (T)0; \
    } \
    INLINE T mat_shift_right_##type(T x, T y) { \
        return IS_SHIFT(T, y) ? (T)(x >> y) : x < 0 ? (T)-1 : (T)0; \
    } \
    /* By squaring, as NumPy does; the power is not below 0. */ \
    INLINE T mat_pow_##type(T x, T y) { \
        T power = 1; \
        for (; y > 0; y >>= 1, x *= x) \
            if (y & 1) power *= x; \
        return power; \
    }
FUNCTIONS(int8_t, i8)
FUNCTIONS(int16_t, i16)
FUNCTIONS(int32_t, i32)
FUNCTIONS(int64_t, i64)
FUNCTIONS(uint8_t, u8)
FUNCTIONS(uint16_t, u16)
FUNCTIONS(uint32_t, u32)
FUNCTIONS(uint64_t, u64)

/* Powers by one number, in blocks: each of its bits is a pass over all elements of a block, for
   which vectors have instructions. */
#define POWERS(kernel, expression) \
    MAT_CLONES void MAT_JOIN(kernel, loop)(int64_t n, char *const *at, const int64_t *step, \
                                           const double *numbers) { \
        enum { BLOCK = 512 }; \
        T base[BLOCK]; \
        (void)numbers; \
        const int64_t all = n, one_power = !step[1] && *(const T *)at[1] != 2; \
        for (int64_t done = 0; done < all; done += BLOCK) { \
            const T *const a = (const T *)at[0] + done * step[0]; \
            const T *const b = (const T *)at[1] + done * step[1]; \
            T *const out = (T *)at[2] + done; \
            n = all - done < BLOCK ? all - done : BLOCK; \
            if (!one_power) { \
                MAT_EACH_TWO(out[i] = expression) \
                continue; \
            } \
            MAT_EACH base[i] = a[i]; \
            MAT_EACH out[i] = 1; \
            for (T rest = *b; rest > 0; rest >>= 1) { \
                if (rest & 1) MAT_EACH out[i] *= base[i]; \
                if (rest > 1) MAT_EACH base[i] *= base[i]; \
            } \
        } \
    } \
    MAT_KERNEL_OF(kernel, MAT_JOIN(kernel, loop), 3, 4, 3)

/* By 0 and by -1, C has no quotient, or may have none; NumPy's are 0 and the number negated. All
   others are truncated quotients of floating-point numbers R, for which vectors have instructions.
   If x has fewer bits than R, rounding cannot reach the next integer, which is at least 1 / y
   away. */
#define DIVISIONS(T, type, R, of) \
    INLINE T mat_##of##quotient_##type(T x, T y) { \
        const int plain = y != 0 && !(IS_SIGNED(T) && y == (T)-1); \
        const T quotient = (T)((R)x / (R)(plain ? y : 1)); \
        return plain ? quotient : y == 0 ? (T)0 : (T)-x; \
    } \
    INLINE T mat_##of##fmod_##type(T x, T y) { \
        return y == 0 ? (T)0 : (T)(x - mat_##of##quotient_##type(x, y) * y); \
    } \
    INLINE T mat_##of##remainder_##type(T x, T y) { \
        const T rest = mat_##of##fmod_##type(x, y); \
        return rest != 0 && (rest < 0) != (y < 0) ? (T)(rest + y) : rest; \
    } \
    INLINE T mat_##of##floor_divide_##type(T x, T y) { \
        const T quotient = mat_##of##quotient_##type(x, y), rest = (T)(x - quotient * y); \
        return (T)(quotient - (y != 0 && rest != 0 && (rest < 0) != (y < 0))); \
    }
#define LONG_DIVISIONS(T, type) \
    DIVISIONS(T, type, T, ) \
    DIVISIONS(T, type, double, within_) \
    INLINE int mat_within_##type##_quotient(T x, T y) { \
        const uint64_t most = (uint64_t)1 << 52, low = IS_SIGNED(T) ? most : 0; \
        return ((uint64_t)x + low < most + low) & ((uint64_t)y + low < most + low); \
    }
#define SHORT_DIVISIONS(T, type, R) \
    DIVISIONS(T, type, R, ) \
    DIVISIONS(T, type, R, within_) \
    INLINE int mat_within_##type##_quotient(T x, T y) { return (void)x, (void)y, 1; }
SHORT_DIVISIONS(int8_t, i8, float)
SHORT_DIVISIONS(int16_t, i16, float)
SHORT_DIVISIONS(int32_t, i32, double)
LONG_DIVISIONS(int64_t, i64)
SHORT_DIVISIONS(uint8_t, u8, float)
SHORT_DIVISIONS(uint16_t, u16, float)
SHORT_DIVISIONS(uint32_t, u32, double)
LONG_DIVISIONS(uint64_t, u64)

/* The upper half of a product; of 64 bits by products of 32, for which vectors have instructions */
INLINE uint16_t high_u16(uint16_t x, uint16_t y) { return (uint16_t)((uint32_t)x * y >> 16); }
INLINE uint32_t high_u32(uint32_t x, uint32_t y) { return (uint32_t)((uint64_t)x * y >> 32); }
INLINE uint64_t high_u64(uint64_t x, uint64_t y) {
    const uint64_t a = (uint32_t)x, b = x >> 32, c = (uint32_t)y, d = y >> 32;
    const uint64_t middle = b * c + (a * c >> 32);
    return b * d + (middle >> 32) + ((a * d + (uint32_t)middle) >> 32);
}

/* Division by one number that is not 0, by multiplication (Granlund and Montgomery, Division by
   Invariant Integers using Multiplication, 1994): U is the unsigned type for that, `of` its name.
   With -x and -y in place of x and a negative y, and all bits of a number below 0 and then of the
   quotient flipped, quotients of unsigned numbers are rounded down. */
#define DIVIDER(T, type, U, of, FACTORS, QUOTIENT) \
    typedef struct { \
        U factor, flip, whole; \
        int before, after; \
    } divider_##type; \
    INLINE divider_##type divider_of_##type(T y) { \
        const U flip = y < 0 ? (U)-1 : 0, size = (U)(((U)y ^ flip) - flip); \
        FACTORS(type, U, size, flip) \
    } \
    INLINE T by_floor_divide_##type(T x, T y, divider_##type by) { \
        (void)y; \
        const U n = (U)(((U)x ^ by.flip) - by.flip); \
        const U sign = IS_SIGNED(T) && (by.flip ? x > 0 : x < 0) ? (U)-1 : 0; \
        const U size = n ^ sign, high = high_##of(size, by.factor); \
        return (T)((U)(QUOTIENT(U, size, high)) ^ sign); \
    } \
    INLINE T by_remainder_##type(T x, T y, divider_##type by) { \
        return (T)(x - by_floor_divide_##type(x, y, by) * y); \
    } \
    INLINE T by_fmod_##type(T x, T y, divider_##type by) { \
        const T rest = by_remainder_##type(x, y, by); \
        return rest != 0 && (rest < 0) != (x < 0) ? (T)(rest - y) : rest; \
    }
/* Numbers of 8 bits take 16 for all of it; by 1, the factor would not fit. */
#define FACTORS_SMALL(type, U, size, flip) \
    return (divider_##type){(U)(65535 / size + 1), flip, size == 1 ? (U)-1 : 0, 0, 0};
#define QUOTIENT_SMALL(U, size, high) (high) + ((size) & by.whole)
#define FACTORS_WIDE(type, U, size, flip) \
    enum { BITS = 8 * sizeof(U) }; \
    const int bits = size > 1 ? 64 - __builtin_clzll((uint64_t)size - 1) : 0; \
    const mat_twice power = bits == BITS ? (mat_twice)0 - size : ((mat_twice)1 << bits) - size; \
    const U factor = (U)(((mat_twice)(U)power << BITS) / size + 1); \
    return (divider_##type){factor, flip, 0, bits < 1 ? bits : 1, bits > 1 ? bits - 1 : 0};
#define QUOTIENT_WIDE(U, size, high) \
    (U)((high) + (U)((U)((size) - (high)) >> by.before)) >> by.after
typedef unsigned __int128 mat_twice;
DIVIDER(int8_t, i8, uint16_t, u16, FACTORS_SMALL, QUOTIENT_SMALL)
DIVIDER(int16_t, i16, uint16_t, u16, FACTORS_WIDE, QUOTIENT_WIDE)
DIVIDER(int32_t, i32, uint32_t, u32, FACTORS_WIDE, QUOTIENT_WIDE)
DIVIDER(int64_t, i64, uint64_t, u64, FACTORS_WIDE, QUOTIENT_WIDE)
DIVIDER(uint8_t, u8, uint16_t, u16, FACTORS_SMALL, QUOTIENT_SMALL)
DIVIDER(uint16_t, u16, uint16_t, u16, FACTORS_WIDE, QUOTIENT_WIDE)
DIVIDER(uint32_t, u32, uint32_t, u32, FACTORS_WIDE, QUOTIENT_WIDE)
DIVIDER(uint64_t, u64, uint64_t, u64, FACTORS_WIDE, QUOTIENT_WIDE)

#define DIVISION_LOOP(kernel, name, T, type, expression) \
    DIVISION_CLONES void MAT_JOIN(kernel, loop)(int64_t n, char *const *at, \
                                                const int64_t *step, const double *numbers) { \
        (void)numbers; \
        MAT_INPUT(T, a, 0); \
        MAT_INPUT(T, b, 1); \
        MAT_OUTPUT(T, out, 2); \
        if (!step[1] && *b != 0) { \
            const T y = *b; \
            const divider_##type by = divider_of_##type(y); \
            MAT_EACH out[i] = by_##name##_##type(a[i], y, by); \
            return; \
        } \
        MAT_BLOCKS_OF_TWO(T, mat_within_##name##_##type(x, y), expression, \
                          mat_within_##type##_quotient(x, y)) \
    } \
    MAT_KERNEL_OF(kernel, MAT_JOIN(kernel, loop), 3, 4, 3)
#define DIVISION_OF(kernel, name, T, type, expression) \
    DIVISION_LOOP(kernel, name, T, type, expression)
#define DIVISION(name, kinds, weight, expression) \
    DIVISION_OF(KERNEL(name), name, T, TYPE, expression)

/* The kernels */

#define TEST(name, kinds, weight, condition) \
    MAT_OF(kinds)(MAT_ELEMENTWISE(KERNEL(name), 1, 2, 0, \
                                  (MAT_INPUT(T, in, 0); MAT_OUTPUT(uint8_t, out, 1);), \
                                  const T x = in[i]; \
                                  out[i] = (uint8_t)(condition)))
#define COMPARE(name, kinds, weight, condition) \
    MAT_OF(kinds)(MAT_TWO(KERNEL(name), uint8_t, condition))
#define UNARY(name, kinds, weight, expression) \
    MAT_OF(kinds)(MAT_ONE(KERNEL(name), AS_RESULT(expression)))
#define UNARY_REAL UNARY
#define UNARY_WITHIN(...)
#define BINARY(name, kinds, weight, expression) \
    MAT_OF(kinds)(MAT_TWO(KERNEL(name), T, AS_RESULT(expression)))
#define POWER(name, kinds, weight, expression) \
    MAT_OF(kinds)(POWERS(KERNEL(name), AS_RESULT(expression)))
#define TERNARY(name, kinds, weight, expression, of_numbers) \
    MAT_OF(kinds)(MAT_THREE(KERNEL(name), expression, of_numbers))
#define FUSED(...)

#define MAT_OF(kinds) MAT_I_##kinds
#define AS_RESULT(expression) (T)(expression)
#define T int8_t
#define TYPE i8
#include "elementwise.def"
#undef T
#undef TYPE
#define T int16_t
#define TYPE i16
#include "elementwise.def"
#undef T
#undef TYPE
#define T int32_t
#define TYPE i32
#include "elementwise.def"
#undef T
#undef TYPE
#define T uint8_t
#define TYPE u8
#include "elementwise.def"
#undef T
#undef TYPE
#define T uint16_t
#define TYPE u16
#include "elementwise.def"
#undef T
#undef TYPE
#define T uint32_t
#define TYPE u32
#include "elementwise.def"
#undef T
#undef TYPE
#define T uint64_t
#define TYPE u64
#include "elementwise.def"
#undef T
#undef TYPE

/* 1 and 0 of their own type are for int64 only. */
#undef COMPARE
#define COMPARE(name, kinds, weight, condition) \
    MAT_OF(kinds)(MAT_TWO(KERNEL(name), uint8_t, condition) \
                  MAT_TWO(KERNEL(name##_in), T, condition))
#define T int64_t
#define TYPE i64
#include "elementwise.def"
#undef T
#undef TYPE
#undef COMPARE
#undef MAT_OF
#undef AS_RESULT

/* Of bool, the results are 1 for all numbers but 0, and so are operands: views of other elements as
   bool have any bytes. */
#undef MAT_READ
#define MAT_READ(element) ((element) != 0)
#undef DIVISION
#define DIVISION(...)
#undef FN
#define FN(name) mat_##name##_b1
#define COMPARE(name, kinds, weight, condition) \
    MAT_OF(kinds)(MAT_TWO(KERNEL(name), uint8_t, condition))
#define MAT_OF(kinds) MAT_B_##kinds
#define AS_RESULT(expression) (uint8_t)((T)(expression) != 0) /* no sum is above 2 */
#define T uint8_t
#define TYPE b1
#include "elementwise.def"
#undef T
#undef TYPE
#undef UNARY
#undef UNARY_WITHIN
#undef BINARY
#undef POWER
#undef TERNARY
#undef TEST
#undef COMPARE

/* By name */

#define ENTRY(name, type, weight) {#name "_" #type, mat_each_##name##_##type, weight},
#define WHOLE(name, weight) \
    ENTRY(name, i8, weight) ENTRY(name, i16, weight) ENTRY(name, i32, weight) \
        ENTRY(name, i64, weight) ENTRY(name, u8, weight) ENTRY(name, u16, weight) \
            ENTRY(name, u32, weight) ENTRY(name, u64, weight)
#define UNARY(name, kinds, weight, ...) \
    MAT_I_##kinds(WHOLE(name, weight)) MAT_B_##kinds(ENTRY(name, b1, weight))
#define UNARY_WITHIN(...)
#define BINARY UNARY
#define POWER UNARY
#undef DIVISION
#define DIVISION UNARY
#define TERNARY UNARY
#define TEST UNARY
#define COMPARE(name, kinds, weight, condition) \
    UNARY(name, kinds, weight) MAT_I_##kinds(ENTRY(name##_in, i64, weight))

const mat_named_kernel mat_integer_kernels[] = {
#include "elementwise.def"
    {NULL, NULL, 0}};
