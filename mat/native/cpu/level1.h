/* Updates of vectors; their frame is that of element-wise operations (elementwise.h).
   mat_kernel is declared by call.h, which comes first. */
mat_kernel mat_axpy_f32, mat_axpy_f64, mat_scal_f32, mat_scal_f64, mat_copy_f32, mat_copy_f64,
    mat_swap_f32, mat_swap_f64;

/* Sums over vectors of adjacent elements, block by block: units are blocks, and the sum of block
   b is result[b], so that the total does not depend on how many threads there are. float32 is
   multiplied and added in double. */
struct mat_sum {
    int64_t n;     /* elements */
    int64_t block; /* elements of a block */
};
mat_kernel mat_dot_f32, mat_dot_f64, mat_asum_f32, mat_asum_f64;
mat_kernel mat_squares_f32, mat_squares_f64; /* the sum of squares, which may overflow */
