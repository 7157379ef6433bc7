/* The way element-wise kernels are made: MAT_ELEMENTWISE defines one, from a loop over adjacent
   elements.

   Such a loop is the only difference between kernels. Everything else is done here, once: looping
   over any number of axes with any strides, numbers instead of operands, broadcasting, and writing
   past the caches. Elements that are not adjacent are gathered into a piece that fits the first
   cache, and scattered from there, so that the vectorised loop serves all layouts. Elements of
   another type than the kernel computes with are converted to such a piece.

       MAT_ELEMENTWISE(name, READS, WRITES, SPREADS, SETUP, EACH)

   defines the `mat_kernel` called `name`. READS, WRITES and SPREADS are operands as bits: 1 for
   operand 0, 2 for operand 1, 4 for operand 2 ... SETUP, in parentheses, are statements before the
   loop, EACH the statement that does element `i`. They see

       at[k]       the address of operand k, a char *;
                   MAT_INPUT(type, x, k) and MAT_OUTPUT(type, y, k) declare x and y
       step[k]     1, or 0 if all its elements are one; 0 only for operands in SPREADS, and for one
                   of them at a time unless MAT_TOGETHER is among them; of those that the frame says
                   are walked, the stride
       numbers     the operation's numbers, as pairs of doubles

   so `y <- alpha * x + y` in float32 is

       MAT_ELEMENTWISE(axpy_f32, 3, 2, 0,
                       (MAT_INPUT(float, x, 0); MAT_OUTPUT(float, y, 1);
                        const float alpha = (float)numbers[0];),
                       y[i] = alpha * x[i] + y[i])

   What is written may be the same elements as an input, one by one, but must not overlap it
   otherwise.

   With MAT_APART defined, for kernels that are compiled outside of the library, the code that walks
   is the library's: to compile it took most of the time. MAT_KERNELS(names), at the end of the
   source, defines `mat_kernels`, which has it. */
#ifndef MAT_ELEMENTWISE_INLINE_H
#define MAT_ELEMENTWISE_INLINE_H

#include "mat.h"

#include "call.h"
#include "elementwise.h"
#include "number_inline.h"

#include "direct_inline.h"

enum { MAT_OPERANDS = 16, MAT_AXES = 64, MAT_PIECE = 4096, MAT_BLOCK = 512 };
enum { MAT_TOGETHER = 1 << MAT_OPERANDS };

#define MAT_JOIN_(a, b) a##_##b
#define MAT_JOIN(a, b) MAT_JOIN_(a, b)
#define MAT_BARE(...) __VA_ARGS__
#define MAT_INPUT(type, name, k) const type *const name = (const type *)at[k]
#define MAT_OUTPUT(type, name, k) type *const name = (type *)at[k]

#if defined(__clang__)
#define MAT_EACH _Pragma("clang loop vectorize(assume_safety)") for (int64_t i = 0; i < n; i++)
#elif defined(__GNUC__)
#define MAT_EACH _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)
#else
#define MAT_EACH for (int64_t i = 0; i < n; i++)
#endif

#define MAT_KERNEL_OF(name, loop, READS, WRITES, SPREADS) \
    void name(const void *frame, char *const *operands, const double *numbers, double *result, \
              int64_t start, int64_t stop) { \
        mat_strided_range(frame, operands, numbers, result, start, stop, loop, READS, WRITES, \
                          SPREADS); \
    }

#define MAT_ELEMENTWISE(name, READS, WRITES, SPREADS, SETUP, ...) \
    MAT_CLONES void MAT_JOIN(name, loop)(int64_t n, char *const *at, const int64_t *step, \
                                         const double *numbers) { \
        (void)step, (void)numbers; \
        MAT_BARE SETUP MAT_EACH { __VA_ARGS__; } \
    } \
    MAT_KERNEL_OF(name, MAT_JOIN(name, loop), READS, WRITES, SPREADS)

#ifdef MAT_APART
extern mat_apart mat_kernels;
#define mat_strided_range mat_kernels.walk
#define MAT_KERNELS(...) mat_apart mat_kernels = {NULL, {__VA_ARGS__}};
#else
#include "walk_inline.h"
#endif

#endif
