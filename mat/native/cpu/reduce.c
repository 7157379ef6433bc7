/* Reductions: the kernels that ``reduce.h`` declares, out of templates for each element type. */
#include "mat.h"

#include "call.h"
#include "reduce.h"

#include "reduce_inline.h"

extern const double mat_signs[2]; /* -1 and 1 */

#define T float
#define I int32_t
#define LOWEST (-HUGE_VALF)
#define HIGHEST HUGE_VALF
#define NOTHING NAN
#define N(name) PASTED(name, f)
#define SINGLE
#include "reduce_type_inline.h"
#include "reduce_sum_inline.h"
#undef SINGLE
#undef T
#undef I
#undef LOWEST
#undef HIGHEST
#undef NOTHING
#undef N

#define T double
#define I int64_t
#define LOWEST (-HUGE_VAL)
#define HIGHEST HUGE_VAL
#define NOTHING NAN
#define N(name) PASTED(name, d)
#include "reduce_type_inline.h"
#include "reduce_sum_inline.h"
#undef T
#undef LOWEST
#undef HIGHEST
#undef NOTHING
#undef N

#define T int64_t
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#define NOTHING 0
#define N(name) PASTED(name, i64)
#include "reduce_type_inline.h"
#undef T
#undef I
#undef LOWEST
#undef HIGHEST
#undef NOTHING
#undef N

#define T float
#define N(name) PASTED(name, F)
#include "reduce_complex_inline.h"
#undef T
#undef N

#define T double
#define N(name) PASTED(name, D)
#include "reduce_complex_inline.h"
#undef T
#undef N

typedef struct {
    uint64_t re, im;
} mat_bits_128;

#define BITS(x) (U)((x) & mask)
#define U T
#define T uint8_t
#define N(name) PASTED(name, 1)
#include "reduce_truth_inline.h"
#undef T
#undef N
#define T uint16_t
#define N(name) PASTED(name, 2)
#include "reduce_truth_inline.h"
#undef T
#undef N
#define T uint32_t
#define N(name) PASTED(name, 4)
#include "reduce_truth_inline.h"
#undef T
#undef N
#define T uint64_t
#define N(name) PASTED(name, 8)
#include "reduce_truth_inline.h"
#undef T
#undef N
#undef U
#undef BITS

#define U uint64_t
#define BITS(x) (((x).re | (x).im) & mask)
#define T mat_bits_128
#define N(name) PASTED(name, 16)
#include "reduce_truth_inline.h"
#undef T
#undef N
#undef U
#undef BITS

#include "reduce_first_inline.h"

#define KERNEL(name, letter, ...) \
    void PASTED(mat_##name, letter)(const void *frame, char *const *operands, \
                                    const double *numbers, double *result, int64_t start, \
                                    int64_t stop) { \
        const mat_reduction *f = frame; \
        __VA_ARGS__; \
    }
#define FOLD(name, kind, op, letter) \
    MAT_CLONES KERNEL(name, letter, PASTED(kind##_all, letter)(op, f, operands, start, stop)) \
    KERNEL(name##_finish, letter, PASTED(kind##_finish, letter)(op, f, operands, start, stop))
#define SUM(letter) \
    MAT_CLONES KERNEL(sum, letter, PASTED(sum_all, letter)(f, operands, numbers, start, stop)) \
    KERNEL(sum_finish, letter, PASTED(sum_finish, letter)(f, operands, numbers, start, stop))

SUM(f)
SUM(d)
FOLD(prod, fold, PROD, f)
FOLD(prod, fold, PROD, d)
MAT_CLONES KERNEL(sum, i64, fold_all_i64(ADD, f, operands, start, stop))
KERNEL(sum_finish, i64, fold_finish_i64(ADD, f, operands, start, stop))
FOLD(prod, fold, PROD, i64)
FOLD(max, fold, MAX, f)
FOLD(max, fold, MAX, d)
FOLD(max, fold, MAX, i64)
FOLD(min, fold, MIN, f)
FOLD(min, fold, MIN, d)
FOLD(min, fold, MIN, i64)
FOLD(fmax, fold, FMAX, f)
FOLD(fmax, fold, FMAX, d)
FOLD(fmin, fold, FMIN, f)
FOLD(fmin, fold, FMIN, d)
FOLD(argmax, arg, MAX, f)
FOLD(argmax, arg, MAX, d)
FOLD(argmax, arg, MAX, i64)
FOLD(argmin, arg, MIN, f)
FOLD(argmin, arg, MIN, d)
FOLD(argmin, arg, MIN, i64)

#define COMPLEX(name, op, mean, letter) \
    MAT_CLONES KERNEL(name, letter, \
                      PASTED(complex_all, letter)(op, mean, f, operands, start, stop))
#define PLACES(name, op, letter) \
    MAT_CLONES KERNEL(name, letter, \
                      PASTED(complex_places, letter)(op, f, operands, start, stop))
#define EVERY_COMPLEX(letter) \
    COMPLEX(sum, ADD, 0, letter) COMPLEX(mean, ADD, 1, letter) COMPLEX(prod, PROD, 0, letter) \
    COMPLEX(max, MAX, 0, letter) COMPLEX(min, MIN, 0, letter) PLACES(argmax, MAX, letter) \
    PLACES(argmin, MIN, letter)

EVERY_COMPLEX(F)
EVERY_COMPLEX(D)

#define TRUTH_OF(name, op, size) \
    MAT_CLONES KERNEL(name, size, PASTED(truth_all, size)(op, f, operands, start, stop)) \
    KERNEL(name##_finish, size, truth_finish(op, f, operands, start, stop))
#define TRUTH(size) \
    TRUTH_OF(any, ANY, size) TRUTH_OF(all, ALL, size) TRUTH_OF(count_nonzero, COUNT, size)

TRUTH(1)
TRUTH(2)
TRUTH(4)
TRUTH(8)
TRUTH(16)

#define FIRST(name, wanted) \
    MAT_CLONES KERNEL(name, 1, first_all(wanted, f, operands, start, stop)) \
    KERNEL(name##_finish, 1, first_finish(f, operands, start, stop))

FIRST(argmax, 1)
FIRST(argmin, 0)
