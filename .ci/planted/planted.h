/* Kernels with faults that the sanitizers must find, or they find none in ours either; built by
   .ci/sanitize only. */
double planted_sum(const double *values, int64_t count, int64_t beyond);
void planted_fill(double *values, int64_t count, int64_t beyond);
int32_t planted_shift(int32_t count);
double planted_load(const char *bytes);
