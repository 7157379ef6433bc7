/* See planted.h. With `beyond` at 0, a small count and an aligned address, nothing is wrong. */
#include "mat.h"

#include "planted.h"

double planted_sum(const double *values, int64_t count, int64_t beyond) {
    double total = 0;
    for (int64_t k = 0; k < count + beyond; k++)
        total += values[k];
    return total;
}

void planted_fill(double *values, int64_t count, int64_t beyond) {
    for (int64_t k = -beyond; k < count; k++)
        values[k] = 1;
}

int32_t planted_shift(int32_t count) {
    return 1 << count;
} /* not an overflow: -fwrapv makes that legal */

double planted_load(const char *bytes) { return *(const double *)bytes; }
