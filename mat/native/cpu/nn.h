/* Windows that slide over a matrix: convolution, pooling, and their derivatives. mat_kernel is
   declared by call.h, which comes first.

   An axis of the output has n points, one of the input nx positions; tap p of point i is at
   position i * step + off + p of the input, if there is such a position. strides: of each operand
   along this axis, in elements. Where an output is computed in several jobs, this one has the
   points first, first + every, ... of an axis, and its strides are those between them. A batch is
   an axis with one tap.

   The units that are shared among threads are the rows of the output: all axes but the last. */
struct mat_window {
    int64_t n, nx, k, step, off, first, every, strides[4];
};
struct mat_windows {
    int64_t base[4]; /* where each operand begins, in elements from its pointer */
    struct mat_window axes[8];
};
struct mat_window_loop {
    int64_t ndim, jobs; /* at least two axes */
    int64_t piece;      /* rows that make a unit */
    int64_t rows;
    int64_t shape[8]; /* of the whole output */
    struct mat_windows *job;
};

/* x, w, y: y += the convolution of x with w */
mat_kernel mat_convolve_f, mat_convolve_d;
/* x, yd, partial: for each unit its own sums over x yd, one for each tap, added to doubles in the
   order of the taps */
mat_kernel mat_correlate_f, mat_correlate_d;
/* partial, wd: wd += the partial sums, unit by unit; units are taps */
mat_kernel mat_gather_f, mat_gather_d;
/* x, y: y = the largest in each window */
mat_kernel mat_pool_f, mat_pool_d;
/* x, y, yd, xd: xd += yd wherever x is the largest of its window; units are rows of x */
mat_kernel mat_pool_back_f, mat_pool_back_d;
