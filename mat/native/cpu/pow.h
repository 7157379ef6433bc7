/* out[k] = x[k]^y[k], as C99's pow; a step is 1, or 0 if all numbers are one. Where y[k] is 2 and
   `squares` is set, it is x[k] * x[k]. `out` may be x or y. */
void mat_powers_f32(int64_t n, const float *x, int64_t x_step, const float *y, int64_t y_step,
                    float *out, int squares);
void mat_powers_f64(int64_t n, const double *x, int64_t x_step, const double *y, int64_t y_step,
                    double *out, int squares);
