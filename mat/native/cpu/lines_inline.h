/* The kernels of the lines of elementwise.def: loops for each of its macros, and what is left of a
   line's arguments where its kinds of numbers have floating-point ones, integers, or bool. */
#ifndef MAT_LINES_INLINE_H
#define MAT_LINES_INLINE_H

#include "elementwise_inline.h"

enum { LIGHT, HEAVY }; /* of a line */

/* The kernels of integers and bool, and those of complex numbers; the last one has no name. */
extern const mat_named_kernel mat_integer_kernels[], mat_complex_kernels[];

/* -1 and 1, which a compiler does not know. */
extern const double mat_signs[2];

/* The number that an element is. */
#define MAT_READ(element) (element)

/* The loop over two operands, of which either may be a number, or one element for a whole row;
   these have loops of their own. The statement sees the elements x and y, and i. */
#define MAT_EACH_TWO(...) \
    if (!step[1]) { \
        const T y = MAT_READ(*b); \
        MAT_EACH { \
            const T x = MAT_READ(a[i]); \
            __VA_ARGS__; \
        } \
    } else if (!step[0]) { \
        const T x = MAT_READ(*a); \
        MAT_EACH { \
            const T y = MAT_READ(b[i]); \
            __VA_ARGS__; \
        } \
    } else { \
        MAT_EACH { \
            const T x = MAT_READ(a[i]), y = MAT_READ(b[i]); \
            __VA_ARGS__; \
        } \
    }

#define MAT_TWO(kernel, R, expression) \
    MAT_CLONES void MAT_JOIN(kernel, loop)(int64_t n, char *const *at, const int64_t *step, \
                                           const double *numbers) { \
        (void)numbers; \
        MAT_INPUT(T, a, 0); \
        MAT_INPUT(T, b, 1); \
        MAT_OUTPUT(R, out, 2); \
        MAT_EACH_TWO(out[i] = (R)(expression)) \
    } \
    MAT_KERNEL_OF(kernel, MAT_JOIN(kernel, loop), 3, 4, 3)

/* A function of two operands that the vector loop can do under a condition on x and y: blocks with
   other elements take the expression for all. These are counted in integers of the elements' size,
   since a loop that may end early, or counts in another size, is not vectorised. */
#define MAT_BLOCKS_OF_TWO(COUNT, expression, for_all, condition) \
    enum { BLOCK = 512 }; \
    const int64_t all = n; \
    for (int64_t done = 0; done < all; done += BLOCK) { \
        const T *const a = (const T *)at[0] + done * step[0]; \
        const T *const b = (const T *)at[1] + done * step[1]; \
        T *const out = (T *)at[2] + done; \
        COUNT beyond = 0; \
        n = all - done < BLOCK ? all - done : BLOCK; \
        MAT_EACH_TWO(beyond |= !(condition)) \
        if (beyond) { \
            MAT_EACH_TWO(out[i] = (T)(for_all)) \
        } else { \
            MAT_EACH_TWO(out[i] = (T)(expression)) \
        } \
    }

/* Three operands, of which the last two may be numbers, or one element for a whole row. */
#define MAT_THREE(kernel, expression, of_numbers) \
    MAT_CLONES void MAT_JOIN(kernel, loop)(int64_t n, char *const *at, const int64_t *step, \
                                           const double *numbers) { \
        (void)numbers; \
        MAT_INPUT(T, a, 0); \
        MAT_INPUT(T, b, 1); \
        MAT_INPUT(T, c, 2); \
        MAT_OUTPUT(T, out, 3); \
        if (!step[1] && !step[2]) { \
            const T y = *b, z = *c; \
            MAT_EACH { \
                const T x = a[i]; \
                out[i] = of_numbers; \
            } \
        } else if (!step[1]) { \
            const T y = *b; \
            MAT_EACH { \
                const T x = a[i], z = c[i]; \
                out[i] = expression; \
            } \
        } else if (!step[2]) { \
            const T z = *c; \
            MAT_EACH { \
                const T x = a[i], y = b[i]; \
                out[i] = expression; \
            } \
        } else { \
            MAT_EACH { \
                const T x = a[i], y = b[i], z = c[i]; \
                out[i] = expression; \
            } \
        } \
    } \
    MAT_KERNEL_OF(kernel, MAT_JOIN(kernel, loop), 7, 8, 6 | MAT_TOGETHER)

/* With numbers alpha and beta; where beta is 0 the old value is not read. */
#define MAT_FUSED(kernel, count, expression) \
    MAT_CLONES void MAT_JOIN(kernel, loop)(int64_t n, char *const *at, const int64_t *step, \
                                           const double *numbers) { \
        (void)step; \
        MAT_INPUT(T, as, 0); \
        MAT_INPUT(T, bs, 1); \
        MAT_OUTPUT(T, out, (count) - 1); \
        const T alpha = (T)numbers[0], beta = (T)numbers[2]; \
        if (beta == 0) { \
            MAT_EACH { \
                const T a = as[i]; \
                const T b = (count) == 3 ? bs[i] : 0; \
                (void)b; \
                out[i] = expression; \
            } \
        } else { \
            MAT_EACH { \
                const T a = as[i]; \
                const T b = (count) == 3 ? bs[i] : 0; \
                (void)b; \
                out[i] = (expression) + beta * out[i]; \
            } \
        } \
    } \
    MAT_KERNEL_OF(kernel, MAT_JOIN(kernel, loop), \
                  ((1 << ((count) - 1)) - 1) | (numbers[2] == 0 ? 0 : 1 << ((count) - 1)), \
                  1 << ((count) - 1), 0)

#define MAT_ONE(kernel, expression) \
    MAT_ELEMENTWISE(kernel, 1, 2, 0, (MAT_INPUT(T, in, 0); MAT_OUTPUT(T, out, 1);), \
                    const T x = in[i]; \
                    out[i] = expression)

/* A function that the vector loop can do up to a limit: blocks with larger arguments take the
   expression for all. */
#define MAT_ONE_WITHIN(kernel, expression, for_all, LIMIT, WITHIN) \
    MAT_CLONES void MAT_JOIN(kernel, loop)(int64_t n, char *const *at, const int64_t *step, \
                                           const double *numbers) { \
        (void)step, (void)numbers; \
        enum { BLOCK = 512 }; \
        const int64_t all = n; \
        for (int64_t done = 0; done < all; done += BLOCK) { \
            const T *const in = (const T *)at[0] + done; \
            T *const out = (T *)at[1] + done; \
            n = all - done < BLOCK ? all - done : BLOCK; \
            if (WITHIN(in, n, LIMIT)) { \
                MAT_EACH { \
                    const T x = in[i]; \
                    out[i] = expression; \
                } \
            } else { \
                MAT_EACH { \
                    const T x = in[i]; \
                    out[i] = for_all; \
                } \
            } \
        } \
    } \
    MAT_KERNEL_OF(kernel, MAT_JOIN(kernel, loop), 1, 2, 0)

#define KERNEL(name) MAT_JOIN(MAT_JOIN(mat_each, name), TYPE)

/* The kinds of a line, by letters: b, i, f, c */
#define MAT_F_bifc(...) __VA_ARGS__
#define MAT_F_ifc(...) __VA_ARGS__
#define MAT_F_fc(...) __VA_ARGS__
#define MAT_F_bif(...) __VA_ARGS__
#define MAT_F_if(...) __VA_ARGS__
#define MAT_F_f(...) __VA_ARGS__
#define MAT_F_bi(...)
#define MAT_F_i(...)
#define MAT_F_b(...)
#define MAT_I_bifc(...) __VA_ARGS__
#define MAT_I_ifc(...) __VA_ARGS__
#define MAT_I_fc(...)
#define MAT_I_bif(...) __VA_ARGS__
#define MAT_I_if(...) __VA_ARGS__
#define MAT_I_f(...)
#define MAT_I_bi(...) __VA_ARGS__
#define MAT_I_i(...) __VA_ARGS__
#define MAT_I_b(...)
#define MAT_B_bifc(...) __VA_ARGS__
#define MAT_B_ifc(...)
#define MAT_B_fc(...)
#define MAT_B_bif(...) __VA_ARGS__
#define MAT_B_if(...)
#define MAT_B_f(...)
#define MAT_B_bi(...) __VA_ARGS__
#define MAT_B_i(...)
#define MAT_B_b(...) __VA_ARGS__

#endif
