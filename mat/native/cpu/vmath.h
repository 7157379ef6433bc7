/* Loops over the functions of vmath_inline.h, for testing and measuring them: out[k] = f(x[k]), or
   f(x[k], y[k]) for those from pow on; y is not read for the others. The functions are numbered in
   the order of mat_vmath_names, which separates them by blanks. x and out may be the same. */
const char *mat_vmath_names(void);
void mat_vmath_f64(int which, int64_t n, const double *x, const double *y, double *out);
void mat_vmath_f32(int which, int64_t n, const float *x, const float *y, float *out);
