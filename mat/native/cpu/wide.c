/* Kernels of exp and tanh with AVX-512: what vmath_f64_inline.h and vmath_f32_inline.h compute, to
   the bit. Several vectors are computed side by side, since each waits for itself most of the time,
   and one instruction scales by a power of 2, also to infinity and to subnormal numbers. */
#include "mat.h"

#if defined(MAT_HAS_CLONES)
#include <immintrin.h>

#include "lines_inline.h"
#include "vmath_f32_inline.h"
#include "vmath_f64_inline.h"
#include "wide.h"

#define WIDE __attribute__((target("arch=x86-64-v4")))
#define WIDE_INLINE WIDE INLINE

enum { VECTORS = 4 }; /* side by side */

#define EACH for (int j = 0; j < VECTORS; j++)
#define D(c) _mm512_set1_pd(c)
#define F(c) _mm512_set1_ps(c)
#define FIRST_D(c) EACH p[j] = D(c);
#define NEXT_D(c) EACH p[j] = _mm512_fmadd_pd(p[j], r[j], D(c));
#define FIRST_F(c) EACH p[j] = F(c);
#define NEXT_F(c) EACH p[j] = _mm512_fmadd_ps(p[j], r[j], F(c));

/* Polynomials of r in p */
WIDE_INLINE void exp_series_f64(__m512d *p, const __m512d *r) {
    MAT_EXP_SERIES_F64(FIRST_D, NEXT_D)
}
WIDE_INLINE void exp_series_f32(__m512 *p, const __m512 *r) {
    MAT_EXP_SERIES_F32(FIRST_F, NEXT_F)
}
WIDE_INLINE void tanh_series_f64(__m512d *p, const __m512d *r) {
    MAT_TANH_SERIES_F64(FIRST_D, NEXT_D)
}
WIDE_INLINE void tanh_series_f32(__m512 *p, const __m512 *r) {
    MAT_TANH_SERIES_F32(FIRST_F, NEXT_F)
}

WIDE_INLINE void exp_f64(__m512d *x) {
    __m512d k[VECTORS], a[VECTORS], r[VECTORS], low[VECTORS], p[VECTORS];
    const __m512d one = D(1), rounder = D(MAT_ROUNDER);
    EACH x[j] = _mm512_max_pd(D(-746), _mm512_min_pd(D(710), x[j]));
    EACH k[j] = _mm512_sub_pd(_mm512_fmadd_pd(x[j], D(MAT_LOG2E), rounder), rounder);
    EACH a[j] = _mm512_fnmadd_pd(k[j], D(MAT_LN2_HI), x[j]);
    EACH r[j] = _mm512_fnmadd_pd(k[j], D(MAT_LN2_LO), a[j]);
    EACH low[j] = _mm512_fnmadd_pd(k[j], D(MAT_LN2_LO), _mm512_sub_pd(a[j], r[j]));
    exp_series_f64(p, r);
    EACH p[j] = _mm512_fmadd_pd(_mm512_mul_pd(r[j], r[j]), p[j], low[j]);
    EACH a[j] = _mm512_add_pd(one, r[j]);
    EACH p[j] = _mm512_add_pd(_mm512_add_pd(_mm512_sub_pd(one, a[j]), r[j]), p[j]);
    EACH x[j] = _mm512_scalef_pd(_mm512_add_pd(a[j], p[j]), k[j]);
}

WIDE_INLINE void exp_f32(__m512 *x) {
    __m512 k[VECTORS], a[VECTORS], r[VECTORS], low[VECTORS], p[VECTORS];
    const __m512 rounder = F(MAT_ROUNDER_F);
    EACH x[j] = _mm512_max_ps(F(-104), _mm512_min_ps(F(89), x[j]));
    EACH k[j] = _mm512_sub_ps(_mm512_fmadd_ps(x[j], F((float)MAT_LOG2E), rounder), rounder);
    EACH a[j] = _mm512_fnmadd_ps(k[j], F(MAT_LN2_HI_F), x[j]);
    EACH r[j] = _mm512_fnmadd_ps(k[j], F(MAT_LN2_LO_F), a[j]);
    EACH low[j] = _mm512_fnmadd_ps(k[j], F(MAT_LN2_LO_F), _mm512_sub_ps(a[j], r[j]));
    exp_series_f32(p, r);
    EACH p[j] = _mm512_fmadd_ps(_mm512_mul_ps(r[j], r[j]), p[j], low[j]);
    EACH x[j] = _mm512_scalef_ps(_mm512_add_ps(F(1), _mm512_add_ps(r[j], p[j])), k[j]);
}

WIDE_INLINE void tanh_f64(__m512d *x) {
    __m512d a[VECTORS], b[VECTORS], t[VECTORS], r[VECTORS], p[VECTORS], far[VECTORS];
    EACH a[j] = _mm512_abs_pd(x[j]);
    EACH b[j] = _mm512_min_pd(D(20), a[j]);
    EACH t[j] = _mm512_fmadd_pd(b[j], D(2 * MAT_LOG2E), D(MAT_ROUNDER));
    EACH {
        const __m512d k = _mm512_sub_pd(t[j], D(MAT_ROUNDER));
        r[j] = _mm512_fnmadd_pd(k, D(MAT_LN2_HI), _mm512_add_pd(b[j], b[j]));
        r[j] = _mm512_fnmadd_pd(k, D(MAT_LN2_LO), r[j]);
    }
    exp_series_f64(p, r);
    NEXT_D(1) NEXT_D(1)
    EACH {
        const __m512i power = _mm512_slli_epi64(_mm512_castpd_si512(t[j]), 52);
        const __m512d e = _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(p[j]), power));
        far[j] = _mm512_sub_pd(D(1), _mm512_div_pd(D(2), _mm512_add_pd(e, D(1))));
    }
    EACH r[j] = _mm512_mul_pd(a[j], a[j]);
    tanh_series_f64(p, r);
    EACH p[j] = _mm512_fmadd_pd(_mm512_mul_pd(a[j], r[j]), p[j], a[j]);
    EACH p[j] = _mm512_mask_mov_pd(p[j], _mm512_cmp_pd_mask(a[j], D(0.7), _CMP_GE_OQ), far[j]);
    EACH x[j] = _mm512_or_pd(p[j], _mm512_and_pd(x[j], D(-0.0)));
}

WIDE_INLINE void tanh_f32(__m512 *x) {
    __m512 a[VECTORS], b[VECTORS], t[VECTORS], r[VECTORS], p[VECTORS], far[VECTORS];
    EACH a[j] = _mm512_abs_ps(x[j]);
    EACH b[j] = _mm512_min_ps(F(10), a[j]);
    EACH t[j] = _mm512_fmadd_ps(b[j], F((float)(2 * MAT_LOG2E)), F(MAT_ROUNDER_F));
    EACH {
        const __m512 k = _mm512_sub_ps(t[j], F(MAT_ROUNDER_F));
        r[j] = _mm512_fnmadd_ps(k, F(MAT_LN2_HI_F), _mm512_add_ps(b[j], b[j]));
        r[j] = _mm512_fnmadd_ps(k, F(MAT_LN2_LO_F), r[j]);
    }
    exp_series_f32(p, r);
    NEXT_F(1) NEXT_F(1)
    EACH {
        const __m512i power = _mm512_slli_epi32(_mm512_castps_si512(t[j]), 23);
        const __m512 e = _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p[j]), power));
        far[j] = _mm512_sub_ps(F(1), _mm512_div_ps(F(2), _mm512_add_ps(e, F(1))));
    }
    EACH r[j] = _mm512_mul_ps(a[j], a[j]);
    tanh_series_f32(p, r);
    EACH p[j] = _mm512_fmadd_ps(_mm512_mul_ps(a[j], r[j]), p[j], a[j]);
    EACH p[j] = _mm512_mask_mov_ps(p[j], _mm512_cmp_ps_mask(a[j], F(0.75f), _CMP_GE_OQ), far[j]);
    EACH x[j] = _mm512_or_ps(p[j], _mm512_and_ps(x[j], F(-0.0f)));
}

/* Which lanes there are of a vector of so many */
#define LANES(count, n) ((n) >= (count) ? (1u << (count)) - 1 : (n) > 0 ? (1u << (n)) - 1 : 0)

/* The kernel of a function that replaces the numbers of a group of vectors. What is left over at
   the end is a group with lanes that are neither loaded nor stored. */
#define KERNEL_OF(name, T, type, V, count, end) \
    WIDE static void name##_##type##_loop(int64_t n, char *const *at, const int64_t *step, \
                                          const double *numbers) { \
        (void)step, (void)numbers; \
        MAT_INPUT(T, in, 0); \
        MAT_OUTPUT(T, out, 1); \
        V x[VECTORS]; \
        int64_t i = 0; \
        for (; i + (count) * VECTORS <= n; i += (count) * VECTORS) { \
            EACH x[j] = _mm512_loadu_##end(in + i + (count) * j); \
            name##_##type(x); \
            EACH _mm512_storeu_##end(out + i + (count) * j, x[j]); \
        } \
        if (i == n) return; \
        unsigned lanes[VECTORS]; \
        EACH lanes[j] = LANES(count, n - i - (count) * j); \
        EACH x[j] = _mm512_maskz_loadu_##end((__mmask##count)lanes[j], in + i + (count) * j); \
        name##_##type(x); \
        EACH _mm512_mask_storeu_##end(out + i + (count) * j, (__mmask##count)lanes[j], x[j]); \
    } \
    MAT_KERNEL_OF(mat_wide_##name##_##type, name##_##type##_loop, 1, 2, 0)

KERNEL_OF(exp, double, f64, __m512d, 8, pd)
KERNEL_OF(exp, float, f32, __m512, 16, ps)
KERNEL_OF(tanh, double, f64, __m512d, 8, pd)
KERNEL_OF(tanh, float, f32, __m512, 16, ps)

#define ENTRY(name, type) {#name "_" #type, mat_wide_##name##_##type, HEAVY},

static const mat_named_kernel kernels[] = {
    ENTRY(exp, f64) ENTRY(exp, f32) ENTRY(tanh, f64) ENTRY(tanh, f32){NULL, NULL, 0}};

const mat_named_kernel *mat_wide_kernels(void) {
    return kernels + (__builtin_cpu_supports("x86-64-v4") ? 0 : 4);
}

#else

#include "call.h"
#include "elementwise.h"
#include "wide.h"

const mat_named_kernel *mat_wide_kernels(void) {
    static const mat_named_kernel none = {NULL, NULL, 0};
    return &none;
}

#endif
