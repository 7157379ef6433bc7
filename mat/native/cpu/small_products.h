/* Products of many small matrices, one for each matrix of stacks: C <- alpha op(A) op(B) + beta C,
   column-major, in BLAS's terms, which takes longer to begin than to multiply such. Sums are taken
   in the order of the inner axis. With `swap` the operation's second operand is A. The units of
   work are matrices, along so many `axes`, outermost first; steps are in elements, those of the
   operation's operands and C one after the other. mat_kernel is declared by call.h, which comes
   first. */
enum { MAT_PRODUCT_SIDE = 16, MAT_PRODUCT_AXES = 8 };
struct mat_small_product {
    char trans[2];
    int64_t m, n, k, ld[3], swap;
    int64_t axes, length[8], step[8][3];
};

/* Operands: a, b, c; numbers: alpha, beta. m, n and k are at most MAT_PRODUCT_SIDE. */
mat_kernel mat_small_products_f32, mat_small_products_f64;
