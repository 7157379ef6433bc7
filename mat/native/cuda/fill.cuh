/* Filling memory with a value of 8 or 16 bytes, given by its bits: the value that a new storage on
   the device has before it is written. The driver itself fills with smaller values, and with those
   whose halves are the same. */
#include "device.cuh"

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
