/* Matrix products of the element types that BLAS lacks, tiled for registers and caches. */

/* A product of operands of one form. Steps count elements; `batch` has the leading axes of
   stacks. */
typedef struct {
    int64_t m, n, k; /* C is m x n, the inner axis k long */
    int64_t a_row, a_col, b_row, b_col, c_row, c_col;
    int64_t units_m, units_n; /* the units of work: parts of the rows and columns of C */
    int64_t block_m, block_k; /* the block of A that is packed at a time, for the second cache */
    int64_t batches;
    int64_t batch[16], a_batch[16], b_batch[16], c_batch[16];
    int32_t batch_rank;
    int32_t a_type, b_type, c_type; /* as integer_matmul_machine_inline.h numbers them */
    int32_t kind;                   /* of the sums; mat_integer_matmul_setup chooses */
    int32_t level;                  /* of the machine; mat_integer_matmul_setup chooses */
    int32_t height;                 /* 0: the highest tiles; else 1 or 4 rows, to measure tiles */
    int32_t untiled;                /* 1: three nested loops, to measure tiles */
    int32_t swapped;                /* 1: the first operand given is B */
    int32_t factors;                /* 1: mat_integer_matmul_small is given alpha and beta */
    int32_t scaled;                 /* 1: C is of floats, scaled by the numbers given */
    int64_t left_step, right_step;  /* from one of these to the next: by rows and by columns of C */
    int32_t thin;                   /* 1: B is not packed; mat_integer_matmul_setup chooses */
} mat_integer_matmul;

/* Return the best level that this machine has. From 4 on it multiplies pairs of bfloat16. */
int32_t mat_integer_matmul_level(void);

/* Choose kind, level and blocks; `thin` -1 rules that out. The result is the bytes of workspace
   that a unit of work needs. */
int64_t mat_integer_matmul_setup(mat_integer_matmul *f, int32_t most_level);

/* Compute units from `start` to before `stop` of C = alpha A B + beta C, in one thread. Integers
   use the first pair of numbers, floats the second. Where beta is 0, C is not read. The
   workspace is aligned to 64 bytes. */
void mat_integer_matmul_run(const mat_integer_matmul *f, const char *a, const char *b, char *c,
                            int64_t alpha, int64_t beta, double falpha, double fbeta, char *work,
                            int64_t start, int64_t stop);

/* The same for one product C = A B with scales for the rows of the first operand given and for the
   columns of the second. */
void mat_integer_matmul_scaled(const mat_integer_matmul *f, const char *a, const char *b, char *c,
                               const float *left, const float *right, char *work, int64_t start,
                               int64_t stop);

/* The same as a `mat_kernel` (call.h), for products whose workspace fits on the stack, in
   MAT_INTEGER_MATMUL_STACK bytes. The numbers, if the frame says that there are any, are alpha and
   beta. */
enum { MAT_INTEGER_MATMUL_STACK = 49152 };
void mat_integer_matmul_small(const void *frame, char *const *operands, const double *numbers,
                              double *result, int64_t start, int64_t stop);
