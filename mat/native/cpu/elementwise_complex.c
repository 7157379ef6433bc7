/* The element-wise kernels of complex numbers: those of which there is more to gain than NumPy's
   loops have. Real and imaginary parts are next to each other.

   Quotients follow Smith's way, as NumPy's do and those of devices. */
#include "lines_inline.h"
#include "vmath_inline.h"

/* Of two products that are added in one part and subtracted in the other, GCC 12 makes a fused
   instruction (vfmaddsub) even where contraction is off. What it does not know is a sign, by which
   the second one is multiplied, exactly. */
#define SIGNS const T minus = (T)mat_signs[0], plus = (T)mat_signs[1]; (void)plus, (void)minus

/* One part of the quotient at a time: of a and b, `larger` is whether |b.re| is at least |b.im|. */
#define LARGER (MAGNITUDE(br) >= MAGNITUDE(bi))
#define RATIO ((LARGER ? bi : br) / (LARGER ? br : bi))
#define SCALE (1 / ((LARGER ? br : bi) + (LARGER ? bi : br) * RATIO))
#define BY_ZERO ((br == 0) & (bi == 0))
#define QUOTIENT_RE \
    (BY_ZERO ? ar / MAGNITUDE(br) \
             : (LARGER ? ar + plus * (ai * RATIO) : ar * RATIO + plus * ai) * SCALE)
#define QUOTIENT_IM \
    (BY_ZERO ? ai / MAGNITUDE(br) \
             : (LARGER ? ai + minus * (ar * RATIO) : ai * RATIO + minus * ar) * SCALE)

#define PARTS_OF(a, in, k) const T a##r = in[2 * (k)], a##i = in[2 * (k) + 1]
#define EACH_OF_TWO(a_at, b_at, re, im) \
    MAT_EACH { \
        PARTS_OF(a, a, a_at); \
        PARTS_OF(b, b, b_at); \
        out[2 * i] = re; \
        out[2 * i + 1] = im; \
    }

/* A number, or one element for a whole row, has a loop of its own on either side. */
#define COMPLEX_TWO(kernel, re, im) \
    MAT_CLONES void MAT_JOIN(kernel, loop)(int64_t n, char *const *at, const int64_t *step, \
                                           const double *numbers) { \
        (void)numbers; \
        SIGNS; \
        MAT_INPUT(T, a, 0); \
        MAT_INPUT(T, b, 1); \
        MAT_OUTPUT(T, out, 2); \
        if (!step[1]) { \
            const T number[2] = {b[0], b[1]}; \
            const T *const b = number; \
            EACH_OF_TWO(i, 0, re, im) \
        } else if (!step[0]) { \
            const T number[2] = {a[0], a[1]}; \
            const T *const a = number; \
            EACH_OF_TWO(0, i, re, im) \
        } else { \
            EACH_OF_TWO(i, i, re, im) \
        } \
    } \
    MAT_KERNEL_OF(kernel, MAT_JOIN(kernel, loop), 3, 4, 3)

#define COMPLEX_ONE(kernel, re, im) \
    MAT_ELEMENTWISE(kernel, 1, 2, 0, (MAT_INPUT(T, a, 0); MAT_OUTPUT(T, out, 1); SIGNS;), \
                    PARTS_OF(a, a, i); \
                    out[2 * i] = re; \
                    out[2 * i + 1] = im)

/* Comparisons are NumPy's: by real parts, then by imaginary ones. */
#define COMPLEX_COMPARE(kernel, condition) \
    MAT_CLONES void MAT_JOIN(kernel, loop)(int64_t n, char *const *at, const int64_t *step, \
                                           const double *numbers) { \
        (void)numbers; \
        MAT_INPUT(T, a, 0); \
        MAT_INPUT(T, b, 1); \
        MAT_OUTPUT(uint8_t, out, 2); \
        const int64_t a_step = step[0], b_step = step[1]; \
        MAT_EACH { \
            PARTS_OF(a, a, i * a_step); \
            PARTS_OF(b, b, i * b_step); \
            out[i] = condition; \
        } \
    } \
    MAT_KERNEL_OF(kernel, MAT_JOIN(kernel, loop), 3, 4, 3)
#define ORDERED(first, then) \
    (((ar first br) & (ai == ai) & (bi == bi)) | ((ar == br) & (ai then bi)))
#define EXTREME(first, then) (ORDERED(first, then) | (ar != ar) | (ai != ai))

#define COMPLEX_TEST(kernel, condition) \
    MAT_ELEMENTWISE(kernel, 1, 2, 0, (MAT_INPUT(T, a, 0); MAT_OUTPUT(uint8_t, out, 1);), \
                    PARTS_OF(a, a, i); \
                    out[i] = condition)

#define OF_BOTH \
    COMPLEX_COMPARE(KERNEL(equal), (ar == br) & (ai == bi)) \
    COMPLEX_COMPARE(KERNEL(not_equal), (ar != br) | (ai != bi)) \
    COMPLEX_COMPARE(KERNEL(less), ORDERED(<, <)) \
    COMPLEX_COMPARE(KERNEL(less_equal), ORDERED(<, <=)) \
    COMPLEX_COMPARE(KERNEL(greater), ORDERED(>, >)) \
    COMPLEX_COMPARE(KERNEL(greater_equal), ORDERED(>, >=)) \
    COMPLEX_TWO(KERNEL(maximum), EXTREME(>, >=) ? ar : br, EXTREME(>, >=) ? ai : bi) \
    COMPLEX_TWO(KERNEL(minimum), EXTREME(<, <=) ? ar : br, EXTREME(<, <=) ? ai : bi) \
    COMPLEX_TEST(KERNEL(isnan), (ar != ar) | (ai != ai)) \
    COMPLEX_TEST(KERNEL(isfinite), (ar - ar == 0) & (ai - ai == 0)) \
    COMPLEX_TEST(KERNEL(isinf), (MAGNITUDE(ar) == INFINITY) | (MAGNITUDE(ai) == INFINITY)) \
    COMPLEX_TEST(KERNEL(logical_not), (ar == 0) & (ai == 0)) \
    COMPLEX_TWO(KERNEL(add), ar + br, ai + bi) \
    COMPLEX_TWO(KERNEL(subtract), ar - br, ai - bi) \
    COMPLEX_TWO(KERNEL(multiply), ar * br + minus * (ai * bi), ar * bi + plus * (ai * br)) \
    COMPLEX_TWO(KERNEL(divide), QUOTIENT_RE, QUOTIENT_IM) \
    COMPLEX_ONE(KERNEL(square), ar * ar + minus * (ai * ai), ar * ai + plus * (ai * ar)) \
    COMPLEX_ONE(KERNEL(negative), -ar, -ai) \
    COMPLEX_ONE(KERNEL(conjugate), ar, -ai)

#define T float
#define TYPE c64
#define MAGNITUDE fabsf
OF_BOTH
#undef T
#undef TYPE
#undef MAGNITUDE

#define MODULUS(type, R) \
    MAT_ELEMENTWISE(mat_each_abs_##type, 1, 2, 0, (MAT_INPUT(R, a, 0); MAT_OUTPUT(R, out, 1);), \
                    out[i] = MAT_JOIN(mat_hypot, MAT_PARTS_##type)(a[2 * i], a[2 * i + 1]))
#define MAT_PARTS_c64 f32
#define MAT_PARTS_c128 f64
MODULUS(c64, float)
MODULUS(c128, double)

#define T double
#define TYPE c128
#define MAGNITUDE fabs
OF_BOTH

#define ENTRY(name, type) {#name "_" #type, mat_each_##name##_##type, LIGHT},
#define BOTH(name) ENTRY(name, c64) ENTRY(name, c128)

const mat_named_kernel mat_complex_kernels[] = {
    BOTH(equal) BOTH(not_equal) BOTH(less) BOTH(less_equal) BOTH(greater) BOTH(greater_equal)
        BOTH(maximum) BOTH(minimum) BOTH(isnan) BOTH(isfinite) BOTH(isinf) BOTH(logical_not)
    BOTH(add) BOTH(subtract) BOTH(multiply) BOTH(divide) BOTH(square) BOTH(negative)
        BOTH(conjugate) BOTH(abs){NULL, NULL, 0}};
