/* Systems of equations a x = b with few unknowns, by Gaussian elimination with partial pivoting, of
   which there is a stack along so many `axes`, outermost first. The operands are a, b and x, with
   `columns` right sides each, or a and its inverse if there are 0 of them. Strides are in elements,
   those of a, b and x one after the other. Units of work are matrices. The result is 1 if one of
   them is singular, or else left as it is. mat_kernel is declared by call.h, which comes first. */
enum { MAT_SMALL_SIDE = 16, MAT_STACK_AXES = 8 };
typedef struct {
    int64_t n, columns;
    int64_t row[3], column[3];
    int64_t axes, length[8], step[8][3];
} mat_small_systems;

mat_kernel mat_small_systems_f, mat_small_systems_d;
