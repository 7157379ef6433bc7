/* Vectors and rows of elements of type T. Parameters: T, NAME(x), LANES and the integer type
   NAME(bits), as convolve_inline.h and pool_inline.h have them, which share this; the last of them
   undefines LOAD. */
#ifndef LOAD

#include "window_inline.h"

typedef T NAME(vector) __attribute__((vector_size(LANES * sizeof(T))));
typedef NAME(bits) NAME(mask) __attribute__((vector_size(LANES * sizeof(T))));

/* a vector at any element */
typedef T NAME(loose)
    __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T)), may_alias));
#define LOAD(from) (*(const NAME(loose) *)(from))
#define STORE(to, value) (*(NAME(loose) *)(to) = (value))

/* memset and memcpy without calls, which would take longer than a short row. */
INLINE void NAME(clear)(T *to, int64_t count) {
    int64_t q = 0;
    for (; q + LANES <= count; q += LANES)
        STORE(to + q, (NAME(vector)){0});
    for (; q < count; q++)
        to[q] = 0;
}

INLINE void NAME(copied)(T *RESTRICT to, const T *RESTRICT from, int64_t count) {
    int64_t q = 0;
    for (; q + LANES <= count; q += LANES)
        STORE(to + q, LOAD(from + q));
    for (; q < count; q++)
        to[q] = from[q];
}

/* Copy `count` elements of the input, `step` apart from position `first` on, into the buffer; zeros
   for those outside. */
INLINE void NAME(part)(T *RESTRICT to, const T *x, int64_t nx, int64_t stride, int64_t first,
                       int64_t step, int64_t count) {
    int64_t low = least(count, most(0, above(-first, step))),
            high = most(low, least(count, above(nx - first, step)));
    NAME(clear)(to, low);
    if (step * stride == 1) {
        NAME(copied)(to + low, x + first + low, high - low);
    } else {
        for (int64_t q = low; q < high; q++)
            to[q] = x[(first + q * step) * stride];
    }
    NAME(clear)(to + high, count - high);
}

#endif
