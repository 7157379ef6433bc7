/* Rows of words, equally far apart, copied to others: what comes from the host packed goes where it
   belongs, what goes there is packed. The driver copies thin rows one by one. */
#ifndef MAT_ROWS_CUH
#define MAT_ROWS_CUH

#include "device.cuh"

struct mat_rows {
    int64_t n, width;   /* words in all, and of a row */
    int64_t to, source; /* words from one row to the next */
};

#define MAT_ROWS(size) \
    MAT_KERNEL(mat_rows_##size, mat_rows, 256) { \
        typedef mat_words<size>::type T; \
        int64_t k = (int64_t)blockIdx.x * 256 + threadIdx.x; \
        if (k >= frame.n) return; \
        int64_t row = k / frame.width, at = k - row * frame.width; \
        ((T *)call.at[0])[row * frame.to + at] = \
            ((const T *)call.at[1])[row * frame.source + at]; \
    }
MAT_ROWS(1)
MAT_ROWS(2)
MAT_ROWS(4)
MAT_ROWS(8)
MAT_ROWS(16)

#endif
