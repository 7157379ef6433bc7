/* Loops over the functions of vmath_inline.h, see vmath.h. */
#include "vmath_inline.h"
#include "vmath.h"

#include "pow.h"

/* Numbers that are checked and then computed: they fit into the first-level cache. */
#define BLOCK 512

/* x and out are the same or do not overlap: without this the compiler assumes a dependence. */
#if defined(__GNUC__) && !defined(__clang__)
#define SAME_OR_APART _Pragma("GCC ivdep")
#else
#define SAME_OR_APART
#endif

#define PLAIN(X) \
    X(exp) X(expm1) X(log) X(log1p) X(sinh) X(cosh) X(tanh) X(erf) X(logistic) X(exp2) X(log2) \
    X(log10) X(cbrt) X(asin) X(acos) X(atan) X(asinh) X(acosh) X(atanh)
#define LIMITED(X) X(sin) X(cos) X(tan)
#define TWO(X) X(atan2) X(hypot) X(logaddexp)
#define ALL(X) PLAIN(X) LIMITED(X) X(pow) TWO(X)

#define PLAIN_LOOPS(name) PLAIN_LOOP(name, double, f64) PLAIN_LOOP(name, float, f32)
#define PLAIN_LOOP(name, type, suffix) \
    MAT_CLONES void mat_vmath_##name##_##suffix(int64_t n, const type *x, const type *y, \
                                                type *out) { \
        SAME_OR_APART for (int64_t k = 0; k < n; k++) out[k] = mat_##name##_##suffix(x[k]); \
    }

#define LIMITED_LOOPS(name) LIMITED_LOOP(name, double, f64) LIMITED_LOOP(name, float, f32)
#define LIMITED_LOOP(name, type, suffix) \
    MAT_CLONES void mat_vmath_##name##_##suffix(int64_t n, const type *x, const type *y, \
                                                type *out) { \
        for (int64_t from = 0; from < n; from += BLOCK) { \
            int64_t to = n - from < BLOCK ? n : from + BLOCK; \
            if (mat_within_##suffix(x + from, to - from, MAT_LIMIT_##name##_##suffix)) \
                SAME_OR_APART for (int64_t k = from; k < to; k++) out[k] = \
                    mat_##name##_##suffix(x[k]); \
            else \
                for (int64_t k = from; k < to; k++) out[k] = mat_wide_##name##_##suffix(x[k]); \
        } \
    }

#define TWO_LOOPS(name) TWO_LOOP(name, double, f64) TWO_LOOP(name, float, f32)
#define TWO_LOOP(name, type, suffix) \
    MAT_CLONES void mat_vmath_##name##_##suffix(int64_t n, const type *x, const type *y, \
                                                type *out) { \
        SAME_OR_APART for (int64_t k = 0; k < n; k++) out[k] = mat_##name##_##suffix(x[k], y[k]); \
    }

#define POW_LOOP(type, suffix) \
    static void mat_vmath_pow_##suffix(int64_t n, const type *x, const type *y, type *out) { \
        mat_powers_##suffix(n, x, 1, y, 1, out, 0); \
    }

PLAIN(PLAIN_LOOPS)
LIMITED(LIMITED_LOOPS)
TWO(TWO_LOOPS)
POW_LOOP(double, f64)
POW_LOOP(float, f32)

#define NAME(name) #name " "
#define F64(name) mat_vmath_##name##_f64,
#define F32(name) mat_vmath_##name##_f32,

const char *mat_vmath_names(void)
{
    return ALL(NAME);
}

void mat_vmath_f64(int which, int64_t n, const double *x, const double *y, double *out)
{
    static void (*const loops[])(int64_t, const double *, const double *,
                                 double *) = {ALL(F64)};
    loops[which](n, x, y, out);
}

void mat_vmath_f32(int which, int64_t n, const float *x, const float *y, float *out)
{
    static void (*const loops[])(int64_t, const float *, const float *,
                                 float *) = {ALL(F32)};
    loops[which](n, x, y, out);
}
