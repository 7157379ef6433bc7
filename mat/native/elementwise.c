/* The element-wise kernels: every line of elementwise.def in both precisions, and where to find them by name. */
#include "elementwise_inline.h"

#if __has_include("vmath_inline.h")
#include "vmath_inline.h"
#else
#define mat_exp_f32 expf
#define mat_exp_f64 exp
#define mat_expm1_f32 expm1f
#define mat_expm1_f64 expm1
#define mat_log_f32 logf
#define mat_log_f64 log
#define mat_log1p_f32 log1pf
#define mat_log1p_f64 log1p
#define mat_sin_f32 sinf
#define mat_sin_f64 sin
#define mat_cos_f32 cosf
#define mat_cos_f64 cos
#define mat_tan_f32 tanf
#define mat_tan_f64 tan
#define mat_sinh_f32 sinhf
#define mat_sinh_f64 sinh
#define mat_cosh_f32 coshf
#define mat_cosh_f64 cosh
#define mat_tanh_f32 tanhf
#define mat_tanh_f64 tanh
#define mat_erf_f32 erff
#define mat_erf_f64 erf
#define mat_pow_f32 powf
#define mat_pow_f64 pow
#define mat_logistic_f32(x) (1 / (1 + expf(-(x))))
#define mat_logistic_f64(x) (1 / (1 + exp(-(x))))
#endif

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

/* Two operands: a number, or one element for a whole row, has a loop of its own on either side. */
#define MAT_TWO(kernel, R, expression)                                                                                         \
    MAT_CLONES void MAT_JOIN(kernel, loop)(int64_t n, char *const *at, const int64_t *step, const double *numbers) {                    \
        (void)numbers;                                                                                                         \
        MAT_INPUT(T, a, 0);                                                                                                    \
        MAT_INPUT(T, b, 1);                                                                                                    \
        MAT_OUTPUT(R, out, 2);                                                                                                 \
        if (!step[1]) {                                                                                                        \
            const T y = *b;                                                                                                    \
            MAT_EACH { const T x = a[i]; out[i] = (R)(expression); }                                                           \
        } else if (!step[0]) {                                                                                                 \
            const T x = *a;                                                                                                    \
            MAT_EACH { const T y = b[i]; out[i] = (R)(expression); }                                                           \
        } else {                                                                                                               \
            MAT_EACH { const T x = a[i], y = b[i]; out[i] = (R)(expression); }                                                 \
        }                                                                                                                      \
    }                                                                                                                          \
    MAT_KERNEL_OF(kernel, MAT_JOIN(kernel, loop), 3, 4, 3)

/* With numbers alpha and beta; where beta is 0 the old value is not read. */
#define MAT_FUSED(kernel, count, expression)                                                                                   \
    MAT_CLONES void MAT_JOIN(kernel, loop)(int64_t n, char *const *at, const int64_t *step, const double *numbers) {                    \
        (void)step;                                                                                                            \
        MAT_INPUT(T, as, 0);                                                                                                   \
        MAT_INPUT(T, bs, 1);                                                                                                   \
        MAT_OUTPUT(T, out, (count) - 1);                                                                                       \
        const T alpha = (T)numbers[0], beta = (T)numbers[2];                                                                   \
        if (beta == 0) {                                                                                                       \
            MAT_EACH { const T a = as[i]; const T b = (count) == 3 ? bs[i] : 0; (void)b; out[i] = expression; }                \
        } else {                                                                                                               \
            MAT_EACH { const T a = as[i]; const T b = (count) == 3 ? bs[i] : 0; (void)b; out[i] = (expression) + beta * out[i]; } \
        }                                                                                                                      \
    }                                                                                                                          \
    MAT_KERNEL_OF(kernel, MAT_JOIN(kernel, loop), ((1 << ((count) - 1)) - 1) | (numbers[2] == 0 ? 0 : 1 << ((count) - 1)),              \
                  1 << ((count) - 1), 0)

#define MAT_ONE(kernel, expression)                                                                                            \
    MAT_ELEMENTWISE(kernel, 1, 2, 0, (MAT_INPUT(T, in, 0); MAT_OUTPUT(T, out, 1);), const T x = in[i]; out[i] = expression)

#define KERNEL(name) MAT_JOIN(MAT_JOIN(mat_each, name), TYPE)
#define UNARY(name, expression) MAT_ONE(KERNEL(name), expression)
#define BINARY(name, expression) MAT_TWO(KERNEL(name), T, expression)
#define COMPARE(name, condition) MAT_TWO(KERNEL(name), uint8_t, condition) MAT_TWO(KERNEL(name##_in), T, condition)
#define FUSED(name, count, expression) MAT_FUSED(KERNEL(name), count, expression)

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
#undef BINARY
#undef COMPARE
#undef FUSED

/* By name */

#define ENTRY(name, type) {#name "_" #type, mat_each_##name##_##type},
#define BOTH(name) ENTRY(name, f32) ENTRY(name, f64)
#define UNARY(name, expression) BOTH(name)
#define BINARY(name, expression) BOTH(name)
#define COMPARE(name, condition) BOTH(name) BOTH(name##_in)
#define FUSED(name, count, expression) BOTH(name)

static const struct {
    const char *name;
    mat_kernel *kernel;
} kernels[] = {
#include "elementwise.def"
};

mat_kernel *mat_elementwise(const char *name) {
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
        if (strcmp(kernels[k].name, name) == 0) return kernels[k].kernel;
    return NULL;
}
