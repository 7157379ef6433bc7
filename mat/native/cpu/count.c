/* Counting integers: the kernels that ``count.h`` declares. */
#include "mat.h"

#include "call.h"
#include "count.h"

enum {
    TABLES = 4,  /* so that equal neighbours need not wait for each other's count */
    FEW = 2048,  /* bins at most that tables have: they are in the first cache */
    ONCE = 1 << 30 /* integers that 32 bits can count */
};

MAT_CLONES void mat_extent(const void *frame, char *const *operands, const double *numbers,
                           double *result, int64_t start, int64_t stop) {
    const int64_t n = ((const mat_counting *)frame)->n, *x = (const int64_t *)operands[0];
    int64_t low = x[0], high = x[0];
    for (int64_t k = 1; k < n; k++) {
        low = x[k] < low ? x[k] : low;
        high = x[k] > high ? x[k] : high;
    }
    ((int64_t *)operands[1])[0] = low;
    ((int64_t *)operands[1])[1] = high;
}

/* Whether x has a bin: another thread could change it after the largest one was looked for. */
INLINE int has_bin(int64_t x, int64_t bins) { return LIKELY((uint64_t)x < (uint64_t)bins); }

static void count_few(int64_t *y, const int64_t *x, int64_t n, int64_t bins) {
    uint32_t tables[TABLES][FEW];
    for (int t = 0; t < TABLES; t++) memset(tables[t], 0, (size_t)bins * sizeof(uint32_t));
    int64_t k = 0;
    for (; k + TABLES <= n; k += TABLES)
        for (int t = 0; t < TABLES; t++) {
            const int64_t at = x[k + t];
            if (has_bin(at, bins)) tables[t][at]++;
        }
    for (; k < n; k++) {
        const int64_t at = x[k];
        if (has_bin(at, bins)) tables[0][at]++;
    }
    for (int64_t j = 0; j < bins; j++)
        for (int t = 0; t < TABLES; t++) y[j] += tables[t][j];
}

void mat_count_bins(const void *frame, char *const *operands, const double *numbers,
                    double *result, int64_t start, int64_t stop) {
    const mat_counting *f = frame;
    const int64_t n = f->n, bins = f->bins, *x = (const int64_t *)operands[0];
    int64_t *y = (int64_t *)operands[1];
    memset(y, 0, (size_t)bins * sizeof(int64_t));
    if (bins <= FEW && n >= bins) {
        for (int64_t k = 0; k < n; k += ONCE)
            count_few(y, x + k, n - k < ONCE ? n - k : ONCE, bins);
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        const int64_t at = x[k];
        if (has_bin(at, bins)) y[at]++;
    }
}
