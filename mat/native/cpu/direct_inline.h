/* How a program calls the loop of an element-wise kernel itself, for short blocks; and how elements
   are written past the caches. To be included after elementwise.h. */
#ifndef MAT_DIRECT_INLINE_H
#define MAT_DIRECT_INLINE_H

#include "mat.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Stored as the result by a kernel that is called for the range from -1 to -1: its loop, and what
   that is given for the elements from n on: operand k at at[k] + n * stride[k], and the steps. */
typedef struct {
    mat_loop *loop;  /* as it was: other loops have to be run by the kernel */
    int64_t streams; /* the operand that is to be written past the caches, or -1 */
    int64_t step[16], stride[16];
    char *at[16];
    char numbers_at[16][16]; /* operands that are numbers */
} mat_direct;

/* Copy whole 16 bytes past the caches, whose lines would be read first only to be overwritten; `to`
   is aligned to 16. */
static inline void mat_stream(char *to, const char *from, int64_t bytes) {
#if defined(__SSE2__)
    for (int64_t k = 0; k < bytes; k += 16)
        _mm_stream_si128((__m128i *)(to + k), _mm_load_si128((const __m128i *)(from + k)));
#else
    memcpy(to, from, (size_t)bytes);
#endif
}

/* After streaming, and before another thread may read what was written. */
static inline void mat_stream_end(void) {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

#endif
