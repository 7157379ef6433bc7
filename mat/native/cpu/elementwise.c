/* The element-wise kernels: every line of elementwise.def in both precisions, those of three
   operands for integers, those of two and comparisons for int64, and where to find them by name. */
#include "elementwise_inline.h"

#include "vmath_inline.h"

#define mat_sqrt_f32 sqrtf
#define mat_sqrt_f64 sqrt
#define mat_fabs_f32 fabsf
#define mat_fabs_f64 fabs
#define mat_floor_f32 floorf
#define mat_floor_f64 floor
#define mat_ceil_f32 ceilf
#define mat_ceil_f64 ceil
#define mat_rint_f32 rintf
#define mat_rint_f64 rint

typedef struct {
    float re, im;
} mat_complex64;

typedef struct {
    double re, im;
} mat_complex128;

/* Two operands: a number, or one element for a whole row, has a loop of its own on either side. */
#define MAT_TWO(kernel, R, expression) \
    MAT_CLONES void MAT_JOIN(kernel, loop)(int64_t n, char *const *at, const int64_t *step, \
                                           const double *numbers) { \
        (void)numbers; \
        MAT_INPUT(T, a, 0); \
        MAT_INPUT(T, b, 1); \
        MAT_OUTPUT(R, out, 2); \
        if (!step[1]) { \
            const T y = *b; \
            MAT_EACH { \
                const T x = a[i]; \
                out[i] = (R)(expression); \
            } \
        } else if (!step[0]) { \
            const T x = *a; \
            MAT_EACH { \
                const T y = b[i]; \
                out[i] = (R)(expression); \
            } \
        } else { \
            MAT_EACH { \
                const T x = a[i], y = b[i]; \
                out[i] = (R)(expression); \
            } \
        } \
    } \
    MAT_KERNEL_OF(kernel, MAT_JOIN(kernel, loop), 3, 4, 3)

/* Three operands, of which the last two may be numbers, or one element for a whole row. */
#define MAT_THREE(kernel, expression, of_numbers) \
    MAT_CLONES void MAT_JOIN(kernel, loop)(int64_t n, char *const *at, const int64_t *step, \
                                           const double *numbers) { \
        (void)numbers; \
        MAT_INPUT(T, a, 0); \
        MAT_INPUT(T, b, 1); \
        MAT_INPUT(T, c, 2); \
        MAT_OUTPUT(T, out, 3); \
        if (!step[1] && !step[2]) { \
            const T y = *b, z = *c; \
            MAT_EACH { \
                const T x = a[i]; \
                out[i] = of_numbers; \
            } \
        } else if (!step[1]) { \
            const T y = *b; \
            MAT_EACH { \
                const T x = a[i], z = c[i]; \
                out[i] = expression; \
            } \
        } else if (!step[2]) { \
            const T z = *c; \
            MAT_EACH { \
                const T x = a[i], y = b[i]; \
                out[i] = expression; \
            } \
        } else { \
            MAT_EACH { \
                const T x = a[i], y = b[i], z = c[i]; \
                out[i] = expression; \
            } \
        } \
    } \
    MAT_KERNEL_OF(kernel, MAT_JOIN(kernel, loop), 7, 8, 6 | MAT_TOGETHER)

/* With numbers alpha and beta; where beta is 0 the old value is not read. */
#define MAT_FUSED(kernel, count, expression) \
    MAT_CLONES void MAT_JOIN(kernel, loop)(int64_t n, char *const *at, const int64_t *step, \
                                           const double *numbers) { \
        (void)step; \
        MAT_INPUT(T, as, 0); \
        MAT_INPUT(T, bs, 1); \
        MAT_OUTPUT(T, out, (count) - 1); \
        const T alpha = (T)numbers[0], beta = (T)numbers[2]; \
        if (beta == 0) { \
            MAT_EACH { \
                const T a = as[i]; \
                const T b = (count) == 3 ? bs[i] : 0; \
                (void)b; \
                out[i] = expression; \
            } \
        } else { \
            MAT_EACH { \
                const T a = as[i]; \
                const T b = (count) == 3 ? bs[i] : 0; \
                (void)b; \
                out[i] = (expression) + beta * out[i]; \
            } \
        } \
    } \
    MAT_KERNEL_OF(kernel, MAT_JOIN(kernel, loop), \
                  ((1 << ((count) - 1)) - 1) | (numbers[2] == 0 ? 0 : 1 << ((count) - 1)), \
                  1 << ((count) - 1), 0)

#define MAT_ONE(kernel, expression) \
    MAT_ELEMENTWISE(kernel, 1, 2, 0, (MAT_INPUT(T, in, 0); MAT_OUTPUT(T, out, 1);), \
                    const T x = in[i]; \
                    out[i] = expression)

/* A function that the vector loop can do up to a limit: blocks with larger arguments take the
   expression for all. */
#define MAT_ONE_WITHIN(kernel, expression, for_all, LIMIT, WITHIN) \
    MAT_CLONES void MAT_JOIN(kernel, loop)(int64_t n, char *const *at, const int64_t *step, \
                                           const double *numbers) { \
        (void)step, (void)numbers; \
        enum { BLOCK = 512 }; \
        const int64_t all = n; \
        for (int64_t done = 0; done < all; done += BLOCK) { \
            const T *const in = (const T *)at[0] + done; \
            T *const out = (T *)at[1] + done; \
            n = all - done < BLOCK ? all - done : BLOCK; \
            if (WITHIN(in, n, LIMIT)) { \
                MAT_EACH { \
                    const T x = in[i]; \
                    out[i] = expression; \
                } \
            } else { \
                MAT_EACH { \
                    const T x = in[i]; \
                    out[i] = for_all; \
                } \
            } \
        } \
    } \
    MAT_KERNEL_OF(kernel, MAT_JOIN(kernel, loop), 1, 2, 0)

#define KERNEL(name) MAT_JOIN(MAT_JOIN(mat_each, name), TYPE)
#define UNARY(name, kinds, weight, expression) MAT_ONE(KERNEL(name), expression)
#define UNARY_REAL UNARY
#define UNARY_WITHIN(name, kinds, weight, expression, for_all) \
    MAT_ONE_WITHIN(KERNEL(name), expression, for_all, MAT_JOIN(MAT_LIMIT, MAT_JOIN(name, TYPE)), \
                   MAT_JOIN(mat_within, TYPE))
#define BINARY(name, kinds, weight, expression) MAT_TWO(KERNEL(name), T, expression)
#define TERNARY(name, kinds, weight, expression, of_numbers) \
    MAT_THREE(KERNEL(name), expression, of_numbers)
#define TEST(name, kinds, weight, condition) \
    MAT_ELEMENTWISE(KERNEL(name), 1, 2, 0, (MAT_INPUT(T, in, 0); MAT_OUTPUT(uint8_t, out, 1);), \
                    const T x = in[i]; \
                    out[i] = (uint8_t)(condition))
#define COMPARE(name, kinds, weight, condition) \
    MAT_TWO(KERNEL(name), uint8_t, condition) MAT_TWO(KERNEL(name##_in), T, condition)
#define FUSED(name, kinds, weight, count, expression) MAT_FUSED(KERNEL(name), count, expression)

#define T float
#define TYPE f32
#define FN(name) mat_##name##_f32
#include "elementwise.def"
#undef T
#undef TYPE
#undef FN

#define T double
#define TYPE f64
#define FN(name) mat_##name##_f64
#include "elementwise.def"
#undef T
#undef TYPE
#undef FN

#undef UNARY
#undef UNARY_WITHIN
#undef BINARY
#undef TEST
#undef COMPARE
#undef FUSED

#define UNARY(...)
#define UNARY_WITHIN(...)
#define BINARY(...)
#define TEST(...)
#define COMPARE(...)
#define FUSED(...)
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

/* What is left of the arguments where the kinds of numbers have integers. */
#define MAT_WHOLE_bifc(...) __VA_ARGS__
#define MAT_WHOLE_ifc(...) __VA_ARGS__
#define MAT_WHOLE_fc(...)
#define MAT_WHOLE_OF(kinds) MAT_WHOLE_##kinds

static inline int64_t mat_fabs_i64(int64_t x) {
    return x < 0 ? -x : x;
}

/* By squaring, as NumPy does; the power is not below 0. */
static inline int64_t mat_pow_i64(int64_t x, int64_t y) {
    int64_t power = 1;
    for (; y > 0; y >>= 1, x *= x)
        if (y & 1) power *= x;
    return power;
}

#undef UNARY_REAL
#undef BINARY
#undef COMPARE
#define UNARY_REAL(name, kinds, weight, expression) MAT_ONE(KERNEL(name), expression)
#define BINARY(name, kinds, weight, expression) \
    MAT_WHOLE_OF(kinds)(MAT_TWO(KERNEL(name), T, expression))
#define COMPARE(name, kinds, weight, condition) \
    MAT_TWO(KERNEL(name), uint8_t, condition) MAT_TWO(KERNEL(name##_in), T, condition)
#define FN(name) mat_##name##_i64
#define T int64_t
#define TYPE i64
#include "elementwise.def"
#undef T
#undef TYPE
#undef FN
#undef UNARY_REAL
#undef UNARY
#undef UNARY_WITHIN
#undef BINARY
#undef TERNARY
#undef TEST
#undef COMPARE
#undef FUSED

/* One value everywhere: a number, or the bits of an element of any other type. */
#define FILL(name, E, value) \
    MAT_ELEMENTWISE(mat_each_fill_##name, 0, 1, 0, (MAT_OUTPUT(E, out, 0); E v; value;), out[i] = v)
FILL(f32, float, v = (float)numbers[0])
FILL(f64, double, v = numbers[0])
FILL(c64, mat_complex64, (v.re = (float)numbers[0], v.im = (float)numbers[1]))
FILL(c128, mat_complex128, (v.re = numbers[0], v.im = numbers[1]))
FILL(1, uint8_t, memcpy(&v, numbers, sizeof v))
FILL(2, uint16_t, memcpy(&v, numbers, sizeof v))
FILL(4, uint32_t, memcpy(&v, numbers, sizeof v))
FILL(8, uint64_t, memcpy(&v, numbers, sizeof v))

/* By name */

enum { LIGHT, HEAVY };

#define ENTRY(name, type, weight) {#name "_" #type, mat_each_##name##_##type, weight},
#define BOTH(name, weight) ENTRY(name, f32, weight) ENTRY(name, f64, weight)
#define LONG_TOO(name, weight) BOTH(name, weight) ENTRY(name, i64, weight)
#define UNARY(name, kinds, weight, expression) BOTH(name, weight)
#define UNARY_REAL(name, kinds, weight, expression) LONG_TOO(name, weight)
#define UNARY_WITHIN(name, kinds, weight, expression, for_all) BOTH(name, weight)
#define BINARY(name, kinds, weight, expression) \
    BOTH(name, weight) MAT_WHOLE_OF(kinds)(ENTRY(name, i64, weight))
#define WHOLE(name, weight) \
    ENTRY(name, i8, weight) ENTRY(name, i16, weight) ENTRY(name, i32, weight) \
        ENTRY(name, i64, weight) ENTRY(name, u8, weight) ENTRY(name, u16, weight) \
            ENTRY(name, u32, weight) ENTRY(name, u64, weight)
#define TERNARY(name, kinds, weight, expression, of_numbers) BOTH(name, weight) WHOLE(name, weight)
#define TEST(name, kinds, weight, condition) BOTH(name, weight)
#define COMPARE(name, kinds, weight, condition) \
    LONG_TOO(name, weight) LONG_TOO(name##_in, weight)
#define FUSED(name, kinds, weight, count, expression) BOTH(name, weight)

static const mat_named_kernel kernels[] = {
#include "elementwise.def"
    BOTH(fill, LIGHT) ENTRY(fill, c64, LIGHT) ENTRY(fill, c128, LIGHT) ENTRY(fill, 1, LIGHT)
        ENTRY(fill, 2, LIGHT) ENTRY(fill, 4, LIGHT) ENTRY(fill, 8, LIGHT)};

const mat_named_kernel *mat_elementwise(const char *name) {
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
        if (strcmp(kernels[k].name, name) == 0) return &kernels[k];
    return NULL;
}
