/* Runs of equal integers among sorted ones. */
#ifndef MAT_RUNS_CUH
#define MAT_RUNS_CUH

#include "device.cuh"

enum { MAT_RUN = 8 }; /* of a run, elements whose loads are under way together */

/* The end of the run that begins with the `k`-th of `n` integers in the order that sorts them. */
INLINE int64_t mat_end_of_run(const int64_t *bins, const int64_t *order, int64_t k, int64_t n) {
    const int64_t bin = bins[order[k]];
    int64_t step = 1, low = k, high; /* low is in the run, high after it */
    while (low + step < n && bins[order[low + step]] == bin) {
        low += step;
        step *= 2;
    }
    high = low + step < n ? low + step : n;
    while (high - low > 1) {
        int64_t i = low + (high - low) / 2;
        if (bins[order[i]] == bin) low = i;
        else high = i;
    }
    return high;
}

#endif
