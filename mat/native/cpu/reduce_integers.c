/* Reductions of integers: the kernels that ``reduce.h`` declares for all but int64, and the means
   of these, too. */
#include "mat.h"

#include "call.h"
#include "reduce.h"

#include "reduce_inline.h"

#define NOTHING 0
#define MEAN (ADD + 1)
#define HALVED(op) ((op) == MEAN && sizeof(T) == 8)
#define MOST ((int64_t)1 << 15) /* of 16 bits, whose sum has 32 */

#define T int8_t
#define I int32_t
#define W int32_t
#define LOWEST INT8_MIN
#define HIGHEST INT8_MAX
#define N(name) PASTED(name, i8)
#include "reduce_integer_inline.h"

#define T int16_t
#define I int32_t
#define W int32_t
#define LOWEST INT16_MIN
#define HIGHEST INT16_MAX
#define N(name) PASTED(name, i16)
#include "reduce_integer_inline.h"

#define T int32_t
#define I int32_t
#define W int64_t
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#define N(name) PASTED(name, i32)
#include "reduce_integer_inline.h"

#define T uint8_t
#define I int32_t
#define W int32_t
#define LOWEST 0
#define HIGHEST UINT8_MAX
#define N(name) PASTED(name, u8)
#include "reduce_integer_inline.h"

#define T uint16_t
#define I int32_t
#define W int32_t
#define LOWEST 0
#define HIGHEST UINT16_MAX
#define N(name) PASTED(name, u16)
#include "reduce_integer_inline.h"

#define T uint32_t
#define I int32_t
#define W int64_t
#define LOWEST 0
#define HIGHEST UINT32_MAX
#define N(name) PASTED(name, u32)
#include "reduce_integer_inline.h"

#define T uint64_t
#define I int64_t
#define W int64_t
#define LOWEST 0
#define HIGHEST UINT64_MAX
#define N(name) PASTED(name, u64)
#include "reduce_integer_inline.h"

#define T int64_t
#define W int64_t
#define N(name) PASTED(name, i64)
#include "reduce_whole_inline.h"

#define KERNEL(name, type, ...) \
    void PASTED(mat_##name, type)(const void *frame, char *const *operands, \
                                  const double *numbers, double *result, int64_t start, \
                                  int64_t stop) { \
        const mat_reduction *f = frame; \
        __VA_ARGS__; \
    }
/* Two versions: those for AVX-512 would be a fourth of all kernels, and gain little. */
#ifdef MAT_HAS_CLONES
#define CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define CLONES
#endif
#define REDUCTION(name, kind, op, type) \
    CLONES KERNEL(name, type, PASTED(kind##_all, type)(op, f, operands, start, stop)) \
    KERNEL(name##_finish, type, PASTED(kind##_finish, type)(op, f, operands, start, stop))
#define OF_ALL(type) \
    REDUCTION(max, fold, MAX, type) REDUCTION(min, fold, MIN, type) \
    REDUCTION(argmax, arg, MAX, type) REDUCTION(argmin, arg, MIN, type) \
    REDUCTION(mean, whole, MEAN, type)
#define OF_FEW_BITS(type) \
    OF_ALL(type) REDUCTION(sum, whole, ADD, type) REDUCTION(prod, whole, PROD, type)

OF_FEW_BITS(i8)
OF_FEW_BITS(i16)
OF_FEW_BITS(i32)
OF_FEW_BITS(u8)
OF_FEW_BITS(u16)
OF_FEW_BITS(u32)
OF_ALL(u64)
REDUCTION(mean, whole, MEAN, i64)
