/* Variances: the kernels that ``reduce.h`` declares, out of a template for each element type.

   One pass over the elements: the sum of their distances from a number near their mean, and that of
   the squares of these, by blocks. That number is the mean of all before, so that the distances
   are as small as they can be, and no offset of the elements costs digits; blocks are put together
   with the distance of their means (Chan, Golub, LeVeque 1983), which is kept with its rounding
   error. */
#include "mat.h"

#include "call.h"
#include "reduce.h"

#include "reduce_inline.h"

#define NEAR 16       /* elements of which the first number near the mean is made, at most */
#define GROWTH 16     /* a block is at most so many times longer than what comes before */
#define LONGEST 4096  /* elements of a block of a line, at most; of columns there are ROWS */
#define PLACES 32     /* to add up in, twice: compilers keep these in registers */
#define STEPS 16      /* times that elements are added up in one place */

/* Of some elements: the mean as a sum, and the sum of the squares of the distances from it. */
typedef struct {
    double n, mean, low, squares;
} mat_moments;

/* The squares of the distances from the mean, made of those from a number near it; infinite where
   squares are too large, but not a number where an element is infinite. */
INLINE double moments_central(double sum, double squares, double low) {
    double found = squares - sum * low;
    return (fabs(squares) > DBL_MAX) & (fabs(sum) <= DBL_MAX) ? squares : found;
}

/* Put what is known of n more elements to what is known of `from` elements. */
INLINE void moments_join(double from, double n, double *mean, double *low, double *squares,
                         double other, double other_low, double other_squares) {
    double weight = n / (from + n), apart = (other - *mean) + (other_low - *low);
    double shift = *low + apart * weight, found = *mean + shift;
    *squares += other_squares + (from ? apart * apart * (from * weight) : 0.0);
    *low = (*mean - found) + shift;
    *mean = found;
}

/* Put n elements to the others, of which the distances from `near` and their squares have these
   sums. */
INLINE void moments_take(mat_moments *m, double n, double near, double sum, double squares) {
    double low = sum / n;
    if (m->n == 0)
        m->mean = near, m->low = 0;
    moments_join(m->n, n, &m->mean, &m->low, &m->squares, near, low,
                 moments_central(sum, squares, low));
    m->n += n;
}

INLINE int64_t moments_room(double known, int64_t most) {
    return GROWTH * known < (double)most ? (int64_t)(GROWTH * known) : most;
}

INLINE double moments_result(const mat_reduction *f, double squares) {
    double found = squares / f->divisor;
    return f->root ? sqrt(found) : found;
}

#define T float
#define N(name) PASTED(name, f)
#include "variance_inline.h"
#undef T
#undef N
#define T double
#define N(name) PASTED(name, d)
#include "variance_inline.h"
#undef T
#undef N

#define KERNEL(name, letter, call) \
    void PASTED(mat_##name, letter)(const void *frame, char *const *operands, \
                                    const double *numbers, double *result, int64_t start, \
                                    int64_t stop) { \
        const mat_reduction *f = frame; \
        PASTED(call, letter)(f, operands, start, stop); \
    }

MAT_CLONES KERNEL(var, f, var_all)
MAT_CLONES KERNEL(var, d, var_all)
KERNEL(var_finish, f, var_finish)
KERNEL(var_finish, d, var_finish)
