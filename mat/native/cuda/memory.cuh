/* What the driver cannot do with memory, or does one by one. */
#include "device.cuh"

/* Filling memory with a value of 8 or 16 bytes, given by its bits: the value that a new storage on
   the device has before it is written. The driver itself fills with smaller values, and with those
   whose halves are the same. */

struct mat_fill_frame {
    int64_t n;    /* values */
    int64_t low;  /* the first 8 bytes of the value */
    int64_t high; /* the last 8, which are the same again for a value of 8 */
};

MAT_KERNEL(mat_fill_8, mat_fill_frame, 256) {
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < frame.n) ((int64_t *)call.at[0])[i] = frame.low;
}

MAT_KERNEL(mat_fill_16, mat_fill_frame, 256) {
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < frame.n) {
        int64_t *value = (int64_t *)call.at[0] + 2 * i;
        value[0] = frame.low;
        value[1] = frame.high;
    }
}

/* Rows of words, equally far apart, copied to others: what comes from the host packed goes where it
   belongs, what goes there is packed. The driver copies thin rows one by one. */

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
