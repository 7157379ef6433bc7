/* Return the kernels that replace others of the same name with AVX-512, and give the same bits; the
   last one has no name. Where the machine has not these instructions, there are none. */
const mat_named_kernel *mat_wide_kernels(void);
