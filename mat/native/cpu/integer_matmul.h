/* Matrix products of the element types that BLAS lacks, tiled for registers and caches. */

/* What operands of one form settle. Steps count elements. The leading axes of stacked products are
   in `batch`. */
typedef struct {
    int64_t m, n, k;                                    /* C is m x n, the inner axis k long */
    int64_t a_row, a_col, b_row, b_col, c_row, c_col;
    int64_t units_m,
        units_n; /* into how many rows and columns of blocks C is cut: the units of work */
    int64_t block_m, block_k; /* how much of A is packed at a time, to stay in the second cache */
    int64_t batches;
    int64_t batch[16], a_batch[16], b_batch[16], c_batch[16];
    int32_t batch_rank;
    int32_t a_type, b_type, c_type; /* positions in the list of types in integer_matmul.c */
    int32_t kind; /* how it is computed; mat_integer_matmul_setup chooses */
    int32_t level;                                      /* for which machine; likewise */
    int32_t height; /* 0: the highest tiles; else 1 or 4 rows, to measure what tiles give */
    int32_t untiled; /* 1: three nested loops, to measure what tiles give */
    int32_t swapped;                                    /* 1: the first operand given is B */
    int32_t factors; /* 1: mat_integer_matmul_small is given alpha and beta */
    int32_t thin; /* 1: B is read where it is; mat_integer_matmul_setup chooses */
} mat_integer_matmul;

/* Choose kind, level and blocks; `thin` -1 rules that out. The result is the bytes of workspace
   that a unit of work needs. */
int64_t mat_integer_matmul_setup(mat_integer_matmul *f, int32_t most_level);

/* Units from `start` to before `stop` of C = alpha A B + beta C, in one thread. Integers take the
   first pair of numbers, floats the second. Where beta is 0, C is not read. The workspace is
   aligned to 64 bytes. */
void mat_integer_matmul_run(const mat_integer_matmul *f, const char *a, const char *b, char *c, int64_t alpha,
                   int64_t beta, double falpha, double fbeta, char *work, int64_t start,
                   int64_t stop);

/* The same as a `mat_kernel` (call.h), for work so small that the stack has room for its workspace:
   MAT_INTEGER_MATMUL_STACK bytes. The numbers, if the frame says that there are any, are alpha and beta. */
enum { MAT_INTEGER_MATMUL_STACK = 49152 };
void mat_integer_matmul_small(const void *frame, char *const *operands, const double *numbers,
                     double *result, int64_t start, int64_t stop);
