/* The element-wise kernels of floating-point numbers, every line of elementwise.def in both
   precisions, and where to find kernels by name. */
#include "lines_inline.h"

#define UNARY_DEVICE(...)
#define BINARY_DEVICE(...)

#include "functions_inline.h"
#include "pow.h"
#include "vmath_inline.h"
#include "wide.h"

#define mat_fmod_f32 fmodf
#define mat_fmod_f64 fmod

/* The remainder of x / y, if |x| < QUOTIENT_LIMIT * |y| < infinity. A quotient that is rounded up
   to an integer is one too large; any other has the right integer part. One fma gives the
   remainder, or that minus y, without error: it is a multiple of the last place of x or of y. */
#define QUOTIENT_LIMIT_f32 0x1p21f
#define QUOTIENT_LIMIT_f64 0x1p50
#define WITHIN(R, type) \
    INLINE R mat_within_fmod_##type(R x, R y) { \
        const R size = mat_fabs_##type(x), unit = mat_fabs_##type(y); \
        const R rest = mat_fma_##type(-mat_trunc_##type(size / unit), unit, size); \
        return mat_copysign_##type(rest < 0 ? rest + unit : rest, x); \
    } \
    INLINE int mat_within_##type##_quotient(R x, R y) { \
        const R size = mat_fabs_##type(x), limit = mat_fabs_##type(y); \
        return (limit < (R)INFINITY) & (size < QUOTIENT_LIMIT_##type * limit); \
    }
#define mat_fma_f32 fmaf
#define mat_fma_f64 fma
WITHIN(float, f32)
WITHIN(double, f64)

/* As NumPy has them: the quotient rounded down is that of what the remainder leaves, and the
   remainder has the sign of the divisor. */
#define QUOTIENTS(R, type, of) \
    INLINE R mat_##of##remainder_##type(R x, R y) { \
        const R rest = mat_##of##fmod_##type(x, y); \
        const R found = (y < 0) != (rest < 0) ? rest + y : rest; \
        return rest == 0 ? mat_copysign_##type(0, y) : found; \
    } \
    INLINE R mat_##of##floor_divide_##type(R x, R y) { \
        const R rest = mat_##of##fmod_##type(x, y); \
        const R off = rest != 0 && (y < 0) != (rest < 0) ? 1 : 0; \
        const R quotient = (x - rest) / y - off, low = mat_floor_##type(quotient); \
        const R found = quotient - low > (R)0.5 ? low + 1 : low; \
        const R all = quotient == 0 ? mat_copysign_##type(0, x / y) : found; \
        return y == 0 ? x / y : all; \
    }
QUOTIENTS(float, f32, )
QUOTIENTS(double, f64, )
QUOTIENTS(float, f32, within_)
QUOTIENTS(double, f64, within_)

typedef struct {
    float re, im;
} mat_complex64;

typedef struct {
    double re, im;
} mat_complex128;

#define UNARY(name, kinds, weight, expression) MAT_F_##kinds(MAT_ONE(KERNEL(name), expression))
#define UNARY_REAL UNARY
#define UNARY_WITHIN(name, kinds, weight, expression, for_all) \
    MAT_ONE_WITHIN(KERNEL(name), expression, for_all, MAT_JOIN(MAT_LIMIT, MAT_JOIN(name, TYPE)), \
                   MAT_JOIN(mat_within, TYPE))
#define BINARY(name, kinds, weight, expression) MAT_F_##kinds(MAT_TWO(KERNEL(name), T, expression))
#define DIVISION(name, kinds, weight, expression) \
    MAT_CLONES void MAT_JOIN(KERNEL(name), loop)(int64_t n, char *const *at, const int64_t *step, \
                                                 const double *numbers) { \
        (void)numbers; \
        MAT_BLOCKS_OF_TWO(COUNT, MAT_JOIN(MAT_JOIN(mat_within, name), TYPE)(x, y), expression, \
                          MAT_JOIN(MAT_JOIN(mat_within, TYPE), quotient)(x, y)) \
    } \
    MAT_KERNEL_OF(KERNEL(name), MAT_JOIN(KERNEL(name), loop), 3, 4, 3)
/* A loop that has another form with AVX-512 */
#define POWER(name, kinds, weight, expression) \
    static void MAT_JOIN(KERNEL(name), loop)(int64_t n, char *const *at, const int64_t *step, \
                                             const double *numbers) { \
        (void)numbers; \
        MAT_INPUT(T, x, 0); \
        MAT_INPUT(T, y, 1); \
        MAT_OUTPUT(T, out, 2); \
        MAT_JOIN(mat_powers, TYPE)(n, x, step[0], y, step[1], out, 1); \
    } \
    MAT_KERNEL_OF(KERNEL(name), MAT_JOIN(KERNEL(name), loop), 3, 4, 3)
#define TERNARY(name, kinds, weight, expression, of_numbers) \
    MAT_THREE(KERNEL(name), expression, of_numbers)
#define TEST(name, kinds, weight, condition) \
    MAT_F_##kinds(MAT_ELEMENTWISE(KERNEL(name), 1, 2, 0, \
                                  (MAT_INPUT(T, in, 0); MAT_OUTPUT(uint8_t, out, 1);), \
                                  const T x = in[i]; \
                                  out[i] = (uint8_t)(condition)))
#define COMPARE(name, kinds, weight, condition) \
    MAT_F_##kinds(MAT_TWO(KERNEL(name), uint8_t, condition) \
                  MAT_TWO(KERNEL(name##_in), T, condition))
#define FUSED(name, kinds, weight, count, expression) MAT_FUSED(KERNEL(name), count, expression)

#define T float
#define COUNT int32_t
#define TYPE f32
#define FN(name) mat_##name##_f32
#include "elementwise.def"
#undef T
#undef COUNT
#undef TYPE
#undef FN

#define T double
#define COUNT int64_t
#define TYPE f64
#define FN(name) mat_##name##_f64
#include "elementwise.def"
#undef T
#undef COUNT
#undef TYPE
#undef FN

#undef UNARY
#undef UNARY_REAL
#undef UNARY_WITHIN
#undef BINARY
#undef DIVISION
#undef POWER
#undef TERNARY
#undef TEST
#undef COMPARE
#undef FUSED

/* Of equal floats of 16 bits, which can be zeros of both signs, NumPy's are the first ones. */
#define MAT_FIRST(x, y, z) \
    (x != x ? x : y != y ? y : z != z ? z : x < y ? (y > z ? z : y) : x > z ? z : x)
#define T float
MAT_TWO(mat_each_maximum_first_f32, float, (x >= y) | (x != x) ? x : y)
MAT_TWO(mat_each_minimum_first_f32, float, (x <= y) | (x != x) ? x : y)
MAT_THREE(mat_each_clip_first_f32, MAT_FIRST(x, y, z), MAT_FIRST(x, y, z))
#undef T

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

const double mat_signs[2] = {-1, 1};

/* By name */

#define ENTRY(name, type, weight) {#name "_" #type, mat_each_##name##_##type, weight},
#define BOTH(name, weight) ENTRY(name, f32, weight) ENTRY(name, f64, weight)
#define UNARY(name, kinds, weight, expression) MAT_F_##kinds(BOTH(name, weight))
#define UNARY_REAL UNARY
#define UNARY_WITHIN(name, kinds, weight, expression, for_all) BOTH(name, weight)
#define BINARY UNARY
#define DIVISION UNARY
#define POWER UNARY
#define TERNARY(name, kinds, weight, expression, of_numbers) BOTH(name, weight)
#define TEST UNARY
#define COMPARE(name, kinds, weight, condition) \
    MAT_F_##kinds(BOTH(name, weight) BOTH(name##_in, weight))
#define FUSED(name, kinds, weight, count, expression) BOTH(name, weight)

static const mat_named_kernel kernels[] = {
#include "elementwise.def"
    ENTRY(maximum_first, f32, LIGHT) ENTRY(minimum_first, f32, LIGHT)
    ENTRY(clip_first, f32, LIGHT)
    BOTH(fill, LIGHT) ENTRY(fill, c64, LIGHT) ENTRY(fill, c128, LIGHT) ENTRY(fill, 1, LIGHT)
        ENTRY(fill, 2, LIGHT) ENTRY(fill, 4, LIGHT) ENTRY(fill, 8, LIGHT)
            {NULL, NULL, 0}};

static const mat_named_kernel *find(const mat_named_kernel *kernel, const char *name) {
    for (; kernel->name; kernel++)
        if (kernel->name[0] == name[0] && strcmp(kernel->name, name) == 0) break;
    return kernel;
}

const mat_named_kernel *mat_elementwise(const char *name) {
    const mat_named_kernel *found = find(mat_wide_kernels(), name);
    if (!found->name) found = find(kernels, name);
    if (!found->name) found = find(mat_integer_kernels, name);
    if (!found->name) found = find(mat_complex_kernels, name);
    return found->name ? found : NULL;
}

static const char *name_in(const mat_named_kernel *known, mat_kernel *kernel) {
    for (; known->name; known++)
        if (known->kernel == kernel) return known->heavy ? "" : known->name;
    return NULL;
}

const char *mat_light_name(uintptr_t address) {
    mat_kernel *const kernel = (mat_kernel *)address;
    const char *found = name_in(kernels, kernel);
    if (!found) found = name_in(mat_integer_kernels, kernel);
    return found ? found : "";
}

#undef UNARY
#undef UNARY_WITHIN
#undef BINARY
#undef DIVISION
#undef POWER
#undef TERNARY
#undef TEST
#undef COMPARE
#undef FUSED
#define UNARY(name, kinds, ...) {#name, #kinds},
#define UNARY_WITHIN UNARY
#define BINARY UNARY
#define DIVISION UNARY
#define POWER UNARY
#define TERNARY UNARY
#define TEST UNARY
#define COMPARE UNARY
#define FUSED UNARY

static const struct {
    const char *name, *kinds;
} lines[] = {
#include "elementwise.def"
};

const char *mat_kinds_of(const char *name) {
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++)
        if (strcmp(lines[k].name, name) == 0) return lines[k].kinds;
    return "";
}
