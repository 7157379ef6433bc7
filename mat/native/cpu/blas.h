/* BLAS routines of another library, called by address, with copies on the stack of the arguments
   that they take by address. mat_kernel is declared by call.h, which comes first.

   `kind` is the element type: 0 float, 1 double, 2 float complex, 3 double complex. */

/* n elements of one or two vectors, `step` apart; the first one is `first` elements from an
   operand's pointer. A kernel may be called for a range of them, a piece of a long vector. */
struct mat_vectors {
    uintptr_t routine;
    int64_t kind, n, step[2], first[2];
};

mat_kernel mat_blas_axpy, mat_blas_scal, mat_blas_copy, mat_blas_swap, mat_blas_dot, mat_blas_nrm2,
    mat_blas_asum;

/* out <- sum x_i y_i, not conjugated; operands: x, y, out */
mat_kernel mat_blas_dot_into;

/* A product, column-major; with `swap` the operation's second operand is BLAS's first. `gemv` is 0
   but where m or n is 1: that routine takes less time there. `syrk` is 0 but where op(B) would be
   op(A) transposed if they had one memory: that routine then does half of the work. */
struct mat_product {
    uintptr_t routine;
    int64_t kind, swap;
    char trans[2];
    int m, n, k, ld[3];
    uintptr_t gemv, syrk;
};

mat_kernel mat_blas_gemm;

/* y <- alpha op(A) x + beta y, column-major; vectors begin `first` elements from their operands'
   pointers. */
struct mat_matrix_vector {
    uintptr_t routine;
    int64_t kind, first[2];
    char trans[2];
    int m, n, ld, step[2];
};

mat_kernel mat_blas_gemv;

/* C <- A B by one of these two kernels, with 1 for alpha and 0 for beta; with `swap` the
   operation's second operand is the kernel's first. */
struct mat_plain_product {
    uintptr_t kernel;
    const void *frame;
    int64_t swap;
};

mat_kernel mat_blas_plain_product;

/* One product for each matrix of stacks, by mat_blas_gemm: the units of work are matrices. */
struct mat_stack_axis {
    int64_t length, step[3]; /* of a, b and c, in bytes */
};

struct mat_stack {
    const void *frame; /* of one product */
    int64_t axes;
    const struct mat_stack_axis *axis; /* outermost first */
};

mat_kernel mat_blas_gemm_stack;
