/* Calling a kernel by its address. */
#include "mat.h"

#include "call.h"

void mat_run(uintptr_t kernel, const void *frame, char *const *operands, const double *numbers,
             double *result, int64_t start, int64_t stop) {
    ((mat_kernel *)kernel)(frame, operands, numbers, result, start, stop);
}
