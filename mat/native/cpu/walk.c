/* The walk of kernels that are compiled apart from the library. */
#include "elementwise_inline.h"

/* Let `loop` do elements start to stop where all are adjacent, in memory, and of the types that it
   computes with; return 0, with nothing done, elsewhere. For few elements, what remains of the walk
   takes longer than they do. */
static int is_done_at_once(const mat_strided *w, char *const *operands, const double *numbers,
                           int64_t start, int64_t stop, mat_loop *loop) {
    char *at[MAT_OPERANDS];
    int64_t step[MAT_OPERANDS];
    if (w->rank != 1 || w->stream | w->walked | w->counters) return 0;
    for (int64_t k = 0; k < w->count; k++) {
        const int64_t stride = w->sizes[k + 1];
        if (stride != w->size[k] || w->number[k] || w->cast[k]) return 0;
        at[k] = operands[k] + start * stride;
        step[k] = 1;
    }
    loop(stop - start, at, step, numbers);
    return 1;
}

void mat_walk_strided(const void *frame, char *const *operands, const double *numbers,
                      double *result, int64_t start, int64_t stop, mat_loop *loop, int64_t reads,
                      int64_t writes, int64_t spreads) {
    if (start < 0 || !is_done_at_once(frame, operands, numbers, start, stop, loop))
        mat_strided_range(frame, operands, numbers, result, start, stop, loop, reads, writes,
                          spreads);
}
