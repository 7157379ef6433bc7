/* Products of many small matrices: the kernels that ``small_products.h`` declares. */
#include "mat.h"

#include "call.h"

#include "small_products.h"

#define EACH(i, n) _Pragma("GCC unroll 4") for (int i = 0; i < (n); i++)
enum { COLUMNS = 4 }; /* of C, whose sums do not wait for each other */

/* Where the operands of a matrix begin. */
INLINE void seek(const struct mat_small_product *f, int64_t matrix, int64_t *at) {
    at[0] = at[1] = at[2] = 0;
    for (int64_t d = f->axes - 1; d >= 0; d--) {
        const int64_t index = d ? matrix % f->length[d] : matrix;
        if (d) matrix /= f->length[d];
        for (int k = 0; k < 3; k++) at[k] += index * f->step[d][k];
    }
}

#define T float
#define N(name) name##_f32
#include "small_products_inline.h"
#undef T
#undef N

#define T double
#define N(name) name##_f64
#include "small_products_inline.h"
