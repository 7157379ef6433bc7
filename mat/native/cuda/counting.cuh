/* Counting equal integers, and placing elements by their ranks: by `ranks`, which begin with 1 and
   grow by 1 wherever an element is another than the one before it. All operands are packed. */
#ifndef MAT_COUNTING_CUH
#define MAT_COUNTING_CUH

#include "device.cuh"

enum { MAT_COUNTING_THREADS = 256, MAT_COUNTING_ROOM = 8192 };

struct mat_counting {
    int64_t count, results;
};

#define MAT_COUNTING(name) MAT_KERNEL(name, mat_counting, MAT_COUNTING_THREADS)
#define MAT_NUMBER_OF_THREAD ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)

struct mat_zeros {
    int64_t count, operand;
};

MAT_KERNEL(counting_zeros, mat_zeros, MAT_COUNTING_THREADS) {
    int64_t k = MAT_NUMBER_OF_THREAD;
    if (k < frame.count) ((int64_t *)call.at[frame.operand])[k] = 0;
}

MAT_COUNTING(counting_bins) {
    int64_t k = MAT_NUMBER_OF_THREAD;
    if (k >= frame.count) return;
    int64_t bin = ((const int64_t *)call.at[0])[k];
    if (bin >= 0 && bin < frame.results)
        atomicAdd((unsigned long long *)call.at[1] + bin, 1ull);
}

struct mat_counting_few {
    int64_t count, results, tables; /* as many of so many results as there is room for */
};

/* Few bins: each block counts in tables of its own, in shared memory, one for some of its warps,
   and adds its counts in the end. */
MAT_KERNEL(counting_few, mat_counting_few, MAT_COUNTING_THREADS) {
    MAT_SHARED(uint32_t, tables, [MAT_COUNTING_ROOM]);
    int results = (int)frame.results, all = results * (int)frame.tables;
    for (int k = threadIdx.x; k < all; k += MAT_COUNTING_THREADS) tables[k] = 0;
    __syncthreads();
    uint32_t *own = tables + threadIdx.x / 32 % (int)frame.tables * results;
    const int64_t *x = (const int64_t *)call.at[0];
#pragma unroll 4
    for (int64_t k = MAT_NUMBER_OF_THREAD; k < frame.count;
         k += (int64_t)gridDim.x * MAT_COUNTING_THREADS) {
        int64_t bin = x[k];
        if (bin >= 0 && bin < results) atomicAdd(own + bin, 1u);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < results; k += MAT_COUNTING_THREADS) {
        unsigned long long total = 0;
        for (int at = k; at < all; at += results) total += tables[at];
        if (total) atomicAdd((unsigned long long *)call.at[1] + k, total);
    }
}

/* The first element of each rank from 1 on; those of rank 0 are of a rank that began before. */
#define MAT_PLACED(size) \
    MAT_COUNTING(counting_placed_##size) { \
        typedef mat_words<size>::type T; \
        int64_t k = MAT_NUMBER_OF_THREAD; \
        if (k >= frame.count) return; \
        const int64_t *ranks = (const int64_t *)call.at[1]; \
        if (ranks[k] != (k ? ranks[k - 1] : 0)) \
            ((T *)call.at[2])[ranks[k] - 1] = ((const T *)call.at[0])[k]; \
    }
MAT_PLACED(1)
MAT_PLACED(2)
MAT_PLACED(4)
MAT_PLACED(8)
MAT_PLACED(16)

/* The rank of each element, from 0 on, where it was before it was sorted by the indices `order`. */
MAT_COUNTING(counting_inverse) {
    int64_t k = MAT_NUMBER_OF_THREAD;
    if (k >= frame.count) return;
    const int64_t *order = (const int64_t *)call.at[0], *ranks = (const int64_t *)call.at[1];
    ((int64_t *)call.at[2])[order[k]] = ranks[k] - 1;
}

#endif
