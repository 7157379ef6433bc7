/* How kernels are called: a frame of sizes, which operands of the same form share; where the
   operands are, in the order of the operation; its numbers, as pairs of real and imaginary part; a
   place for a result, a pair as well; and the range to do, of whatever the frame counts. An operand
   that is a number points to its pair. */
typedef void mat_kernel(const void *frame, char *const *operands, const double *numbers,
                        double *result, int64_t start, int64_t stop);
void mat_run(uintptr_t kernel, const void *frame, char *const *operands, const double *numbers,
             double *result, int64_t start, int64_t stop);
