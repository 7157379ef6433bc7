/* Inverses and solutions of many small systems of equations: the kernels that ``small_systems.h``
   declares, out of a template for each element type.

   Some systems are solved at once, one in each lane of vectors of doubles, so that all lanes do
   the same: Gaussian elimination with partial pivoting, of the matrix and the right sides beside
   it. Rows are swapped by choosing elements lane by lane. What one lane computes depends on no
   other. */
#include "mat.h"

#include "call.h"
#include "small_systems.h"

#define EACH(j, n) for (int64_t j = 0; j < (n); j++)
enum { LANES = 4 };
typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef int64_t mask __attribute__((vector_size(8 * LANES))); /* all bits of a lane, or none */

/* Where the operands of a matrix begin. */
INLINE void systems_seek(const mat_small_systems *f, int64_t matrix, int64_t *at) {
    EACH(k, 3) at[k] = 0;
    for (int64_t d = f->axes - 1; d >= 0; d--) {
        const int64_t index = matrix % f->length[d];
        matrix /= f->length[d];
        EACH(k, 3) at[k] += index * f->step[d][k];
    }
}

/* Find in column x, from row k on, the first row with the largest magnitude, or a NaN, for each
   lane; return whether that is 0 in one of the first `many`. */
INLINE int find_pivots(const lanes *x, int64_t n, int64_t k, int64_t many, mask *at) {
    const mask magnitude = (mask){0} + INT64_MAX;
    mask most = (mask)x[k] & magnitude;
    int singular = 0;
    *at = (mask){0} + k;
    for (int64_t i = k + 1; i < n; i++) {
        const mask here = (mask)x[i] & magnitude; /* which are ordered as the numbers are */
        const mask larger = here > most;
        most ^= (most ^ here) & larger;
        *at ^= (*at ^ i) & larger;
    }
    EACH(l, many) singular |= most[l] == 0;
    return singular;
}

/* Swap row k and the pivot's in column x. */
INLINE void swap_rows(lanes *x, int64_t n, int64_t k, const mask *at) {
    const mask upper = (mask)x[k];
    mask pivot = upper;
    for (int64_t i = k + 1; i < n; i++) {
        const mask lower = (mask)x[i], change = (lower ^ upper) & (*at == i);
        pivot ^= change;
        x[i] = (lanes)(lower ^ change);
    }
    x[k] = (lanes)pivot;
}

/* Solve for the right side y, from the last row up. */
INLINE void substitute(const lanes *x, lanes *y, int64_t n) {
    for (int64_t k = n - 1; k >= 0; k--) {
        const lanes found = y[k] / x[k * n + k];
        y[k] = found;
        EACH(i, k) y[i] -= x[k * n + i] * found;
    }
}

/* Solve the systems whose matrices are the first n of the columns x, `width` in all. */
INLINE int solve_lanes(lanes *x, int64_t n, int64_t width, int64_t many) {
    mask at = {0};
    int singular = 0;
    for (int64_t k = 0; k < n; k++) {
        lanes *factor = x + k * n;
        singular |= find_pivots(factor, n, k, many, &at);
        swap_rows(factor, n, k, &at);
        for (int64_t i = k + 1; i < n; i++) factor[i] /= factor[k];
        for (int64_t j = k + 1; j < width; j++) {
            lanes *y = x + j * n;
            swap_rows(y, n, k, &at);
            const lanes pivot = y[k];
            for (int64_t i = k + 1; i < n; i++) y[i] -= factor[i] * pivot;
        }
    }
    for (int64_t j = n; j < width; j++) substitute(x, x + j * n, n);
    return singular;
}

#define T float
#define N(name) name##_f
#include "small_systems_inline.h"
#undef T
#undef N
#define T double
#define N(name) name##_d
#include "small_systems_inline.h"

#define KERNEL(letter) \
    MAT_CLONES void mat_small_systems_##letter(const void *frame, char *const *operands, \
                                               const double *numbers, double *result, \
                                               int64_t start, int64_t stop) { \
        small_systems_##letter(frame, operands, result, start, stop); \
    }
KERNEL(f)
KERNEL(d)
