/* Products of a tall matrix, whose rows are adjacent elements, and a thin one of few columns:
   C <- alpha A B + beta C, of m x depth and depth x columns. BLAS packs A first, which takes
   longer than to multiply it; here it is read once, as it is. mat_kernel is declared by call.h,
   which comes first. */
struct mat_thin {
    int64_t depth, columns;
    int64_t a_row, b_row, b_column, c_row, c_column; /* steps, in elements */
    int64_t swap; /* B is the first operand */
};

/* Operands: a, b, c; numbers: alpha, beta; the units are rows of A. Each element of C is summed in
   an order that depends on nothing but depth and columns. */
mat_kernel mat_thin_f32, mat_thin_f64;
