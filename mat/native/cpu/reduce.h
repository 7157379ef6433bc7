/* Reductions over some axes of an operand, x, into elements along the others, which are kept, of
   another, y.

   The caller merges axes that are adjacent, and sorts them. The elements that go into one
   result are numbered along the axes of `in`, the last of which is the fastest: `reduced` of them.
   They are taken in `chunks` parts of `chunk` elements, whatever the number of threads. If there
   are several, a kernel leaves them in a third operand of 16 bytes each, in the order
   [chunk][result], and the one called `finish` puts them together, counting results; those of sums
   in groups of `group`, if that is more than 1, each of which is summed up first: so parts of as
   many rows as are added at once have the bits of larger ones.

   Lines: where `columns` is 0, the work is counted in parts of results, chunk by chunk. Otherwise
   the fastest of the kept axes is apart, as so many columns, which are done `tile` at a time, row
   by row; the work is counted in parts of tiles. */
typedef struct {
    int64_t rank, n[32], x[32], y[32];
} mat_axes;

typedef struct {
    mat_axes kept, in;
    int64_t start_x, start_y;
    int64_t results, reduced, chunk, chunks;
    int64_t columns, column_x, column_y, tile, tiles;
    double divisor;
    int64_t accumulate, mask, root, group, mean;
} mat_reduction;

/* Of sums `divisor` is 1, of means the count. Where the frame says `accumulate`, the numbers are
   alpha and beta of
   ``y <- alpha * sum + beta * y``. Variances are divided by `divisor`, too; `root` takes the square
   root of that. Counts are divided by it, to float64, if `mean` is set. */
mat_kernel mat_sum_f, mat_sum_finish_f, mat_sum_d, mat_sum_finish_d, mat_sum_i64,
    mat_sum_finish_i64;
mat_kernel mat_prod_f, mat_prod_finish_f, mat_prod_d, mat_prod_finish_d, mat_prod_i64,
    mat_prod_finish_i64;
mat_kernel mat_max_f, mat_max_finish_f, mat_max_d, mat_max_finish_d, mat_max_i64,
    mat_max_finish_i64;
mat_kernel mat_min_f, mat_min_finish_f, mat_min_d, mat_min_finish_d, mat_min_i64,
    mat_min_finish_i64;
mat_kernel mat_fmax_f, mat_fmax_finish_f, mat_fmax_d, mat_fmax_finish_d;
mat_kernel mat_fmin_f, mat_fmin_finish_f, mat_fmin_d, mat_fmin_finish_d;
mat_kernel mat_argmax_f, mat_argmax_finish_f, mat_argmax_d, mat_argmax_finish_d, mat_argmax_i64,
    mat_argmax_finish_i64;
mat_kernel mat_argmin_f, mat_argmin_finish_f, mat_argmin_d, mat_argmin_finish_d, mat_argmin_i64,
    mat_argmin_finish_i64;

/* Integers of other types; their sums and products have 64 bits, the means are float64. */
mat_kernel mat_max_i8, mat_max_finish_i8, mat_max_i16, mat_max_finish_i16, mat_max_i32,
    mat_max_finish_i32, mat_max_u8, mat_max_finish_u8, mat_max_u16, mat_max_finish_u16,
    mat_max_u32, mat_max_finish_u32, mat_max_u64, mat_max_finish_u64;
mat_kernel mat_min_i8, mat_min_finish_i8, mat_min_i16, mat_min_finish_i16, mat_min_i32,
    mat_min_finish_i32, mat_min_u8, mat_min_finish_u8, mat_min_u16, mat_min_finish_u16,
    mat_min_u32, mat_min_finish_u32, mat_min_u64, mat_min_finish_u64;
mat_kernel mat_argmax_i8, mat_argmax_finish_i8, mat_argmax_i16, mat_argmax_finish_i16,
    mat_argmax_i32, mat_argmax_finish_i32, mat_argmax_u8, mat_argmax_finish_u8, mat_argmax_u16,
    mat_argmax_finish_u16, mat_argmax_u32, mat_argmax_finish_u32, mat_argmax_u64,
    mat_argmax_finish_u64;
mat_kernel mat_argmin_i8, mat_argmin_finish_i8, mat_argmin_i16, mat_argmin_finish_i16,
    mat_argmin_i32, mat_argmin_finish_i32, mat_argmin_u8, mat_argmin_finish_u8, mat_argmin_u16,
    mat_argmin_finish_u16, mat_argmin_u32, mat_argmin_finish_u32, mat_argmin_u64,
    mat_argmin_finish_u64;
mat_kernel mat_sum_i8, mat_sum_finish_i8, mat_sum_i16, mat_sum_finish_i16, mat_sum_i32,
    mat_sum_finish_i32, mat_sum_u8, mat_sum_finish_u8, mat_sum_u16, mat_sum_finish_u16,
    mat_sum_u32, mat_sum_finish_u32;
mat_kernel mat_prod_i8, mat_prod_finish_i8, mat_prod_i16, mat_prod_finish_i16, mat_prod_i32,
    mat_prod_finish_i32, mat_prod_u8, mat_prod_finish_u8, mat_prod_u16, mat_prod_finish_u16,
    mat_prod_u32, mat_prod_finish_u32;
mat_kernel mat_mean_i64, mat_mean_finish_i64, mat_mean_i8, mat_mean_finish_i8, mat_mean_i16,
    mat_mean_finish_i16, mat_mean_i32, mat_mean_finish_i32, mat_mean_u8, mat_mean_finish_u8,
    mat_mean_u16, mat_mean_finish_u16, mat_mean_u32, mat_mean_finish_u32, mat_mean_u64,
    mat_mean_finish_u64;

/* Complex numbers, each result by itself. */
mat_kernel mat_sum_F, mat_mean_F, mat_prod_F, mat_max_F, mat_min_F, mat_argmax_F, mat_argmin_F;
mat_kernel mat_sum_D, mat_mean_D, mat_prod_D, mat_max_D, mat_min_D, mat_argmax_D, mat_argmin_D;

/* Variances; their parts have 24 bytes each. */
mat_kernel mat_var_f, mat_var_finish_f, mat_var_d, mat_var_finish_d;

/* Of elements of 1, 2, 4, 8 and 16 bytes, which are true unless all their bits in `mask` are 0. */
mat_kernel mat_any_1, mat_any_finish_1, mat_any_2, mat_any_finish_2, mat_any_4,
    mat_any_finish_4, mat_any_8, mat_any_finish_8, mat_any_16, mat_any_finish_16;
mat_kernel mat_all_1, mat_all_finish_1, mat_all_2, mat_all_finish_2, mat_all_4,
    mat_all_finish_4, mat_all_8, mat_all_finish_8, mat_all_16, mat_all_finish_16;
mat_kernel mat_count_nonzero_1, mat_count_nonzero_finish_1, mat_count_nonzero_2,
    mat_count_nonzero_finish_2, mat_count_nonzero_4, mat_count_nonzero_finish_4,
    mat_count_nonzero_8, mat_count_nonzero_finish_8, mat_count_nonzero_16,
    mat_count_nonzero_finish_16;
/* Positions of the largest and smallest of bools. */
mat_kernel mat_argmax_1, mat_argmax_finish_1, mat_argmin_1, mat_argmin_finish_1;
