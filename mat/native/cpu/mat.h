/* Included by every file of kernels: how functions are compiled for several machines, and short
   names.

   A kernel works on one piece of its operands, in one thread, without the GIL; it neither allocates
   nor checks. */
#ifndef MAT_H
#define MAT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* MAT_CLONES before the definition of a kernel compiles it three times, and the loader takes the
   best version that the machine can run. All functions that it calls must be INLINE, or they remain
   compiled for the oldest machine. MAT_NO_CLONES turns this off, for sanitizers. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && \
    !defined(MAT_NO_CLONES)
#define MAT_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#define MAT_HAS_CLONES
#else
#define MAT_CLONES
#endif

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline, unused))
#define RESTRICT __restrict__
#define LIKELY(x) __builtin_expect(!!(x), 1)
#else
#define INLINE static inline
#define RESTRICT __restrict
#define LIKELY(x) (x)
#endif

#endif
