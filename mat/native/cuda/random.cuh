/* Random numbers for the device: the words and the arithmetic of random.c, so the same bits,
   however the kernel is launched.

   A thread makes some blocks of four words, and of each two or four adjacent elements, which it
   stores as 16 bytes if they are complete and aligned; adjacent threads make adjacent blocks.
   Numbers, as on the CPU: two parameters of the distribution, then the halves of the key and of
   the counter. Compile it with contraction off, as everything that includes normal_inline.h. */
#ifndef MAT_RANDOM_CUH
#define MAT_RANDOM_CUH

#include "elements.cuh"
#include "normal_inline.h"
#include "philox_inline.h"

struct random_frame {
    int64_t n; /* elements; of complex ones, parts */
};

enum { RANDOM_BLOCKS = 4 }; /* of a thread */

struct random_stream {
    uint64_t counter;
    uint32_t key0, key1;
};

INLINE random_stream random_stream_of(const mat_call &call) {
    const double *words = call.numbers + 4;
    return {(uint64_t)(uint32_t)words[4] | (uint64_t)(uint32_t)words[6] << 32, (uint32_t)words[0],
            (uint32_t)words[2]};
}

INLINE void words_of(const random_stream &from, uint64_t block, uint32_t c[4]) {
    uint64_t counter = from.counter + block;
    c[0] = (uint32_t)counter, c[1] = (uint32_t)(counter >> 32), c[2] = 0, c[3] = 0;
    philox(c, from.key0, from.key1);
}

/* 24 or 53 bits, times the limit `a`, at most `b`, the largest number below the limit. */
INLINE void uniforms(float v[4], const uint32_t w[4], float a, float b) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
        float x = (float)(int32_t)(w[j] >> 8) * 0x1p-24f * a;
        v[j] = x < b ? x : b;
    }
}

INLINE void uniforms(double v[2], const uint32_t w[4], double a, double b) {
#pragma unroll
    for (int j = 0; j < 2; j++) {
        double x =
            ((double)w[2 * j] * 0x1p-32 + (double)(int32_t)(w[2 * j + 1] >> 11) * 0x1p-53) * a;
        v[j] = x < b ? x : b;
    }
}

INLINE void normals(float v[4], const uint32_t w[4], float a, float b) {
#pragma unroll
    for (int j = 0; j < 4; j += 2) {
        float x, y;
        normal_pair_f(w[j], w[j + 1], &x, &y);
        v[j] = x * b + a, v[j + 1] = y * b + a;
    }
}

INLINE void normals(double v[2], const uint32_t w[4], double a, double b) {
    double x, y;
    normal_pair_d(w[0], w[1], w[2], w[3], &x, &y);
    v[0] = x * b + a, v[1] = y * b + a;
}

/* `b` where the word is not above `a`, else 0. */
template <class T> INLINE void bernoullis(T v[4], const uint32_t w[4], uint32_t a, T b) {
#pragma unroll
    for (int j = 0; j < 4; j++)
        v[j] = w[j] <= a ? b : T(0);
}

/* Store the elements of a block, 16 bytes at a time unless fewer are left or they are not
   aligned. */
template <int PER, class T> INLINE void put(T *out, uint64_t block, int64_t n, const T *v) {
    enum { V = 16 / sizeof(T) };
    int64_t at = (int64_t)block * PER;
    bool whole = ((uint64_t)out & 15) == 0 && at + PER <= n;
#pragma unroll
    for (int j = 0; j < PER; j += V) {
        mat_pack<T, V> pack;
#pragma unroll
        for (int k = 0; k < V; k++) pack.at[k] = v[j + k];
        if (whole) *(mat_pack<T, V> *)(out + at + j) = pack;
    }
    if (whole) return;
#pragma unroll
    for (int j = 0; j < PER; j++)
        if (at + j < n) out[at + j] = v[j];
}

/* A kernel: FILL each block's PER elements of type T; A and B are the types of the two numbers. */
#define MAT_RANDOM(name, T, PER, A, B, FILL) \
    MAT_KERNEL(name, random_frame, 256) { \
        const random_stream from = random_stream_of(call); \
        uint64_t block = (uint64_t)blockIdx.x * (blockDim.x * RANDOM_BLOCKS) + threadIdx.x; \
        _Pragma("unroll") for (int k = 0; k < RANDOM_BLOCKS; \
                               k++, block += blockDim.x) if ((int64_t)block * PER < frame.n) { \
            uint32_t w[4]; \
            T v[PER]; \
            words_of(from, block, w); \
            FILL(v, w, (A)call.numbers[0], (B)call.numbers[2]); \
            put<PER>((T *)call.at[0], block, frame.n, v); \
        } \
    }

#endif
