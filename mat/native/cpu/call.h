/* The arguments of a kernel: a frame of sizes, which operands of the same form share; the addresses
   of the operands, in the order of the operation; its numbers, as pairs of real and imaginary part;
   the address for a result, a pair as well; and the range to do, in the units that the frame
   counts. The address of an operand that is a number is that of its pair. */
typedef void mat_kernel(const void *frame, char *const *operands, const double *numbers,
                        double *result, int64_t start, int64_t stop);
void mat_run(uintptr_t kernel, const void *frame, char *const *operands, const double *numbers,
             double *result, int64_t start, int64_t stop);
