/* Matrix products of the element types that BLAS lacks, tiled for registers and caches. */

/* What operands of one form settle. Steps count elements. The leading axes of stacked products are in `batch`. */
typedef struct {
    int64_t m, n, k;                                    /* C is m x n, the inner axis k long */
    int64_t a_row, a_col, b_row, b_col, c_row, c_col;
    int64_t units_m, units_n;                           /* into how many rows and columns of blocks C is cut: the units of work */
    int64_t block_m, block_k;                           /* how much of A is packed at a time, to stay in the second cache */
    int64_t batches;
    int64_t batch[16], a_batch[16], b_batch[16], c_batch[16];
    int32_t batch_rank;
    int32_t a_type, b_type, c_type;                     /* positions in the list of types in intgemm.c */
    int32_t kind;                                       /* how it is computed; mat_product_setup chooses */
    int32_t level;                                      /* for which machine; likewise */
    int32_t height;                                     /* 0: the highest tiles; else 1 or 4 rows, to measure what tiles give */
    int32_t untiled;                                    /* 1: three nested loops, to measure what tiles give */
} mat_product;

/* Choose kind, level and blocks. The result is the bytes of workspace that a unit of work needs. */
int64_t mat_product_setup(mat_product *f, int32_t most_level);

/* Units from `start` to before `stop` of C = alpha A B + beta C, in one thread. Integers take the first pair of numbers,
   floats the second. Where beta is 0, C is not read. The workspace is aligned to 64 bytes. */
void mat_product_run(const mat_product *f, const char *a, const char *b, char *c, int64_t alpha, int64_t beta, double falpha,
                     double fbeta, char *work, int64_t start, int64_t stop);
