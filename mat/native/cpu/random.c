/* Random numbers by Philox4x32-10, counter-based: an element depends on the key, the counter of the
   call's first block and the element's position only, never on how the work is split.
   docs/random.md says which words make which element.

   numbers: two parameters of the distribution, then four words as doubles: the key's low and high,
   the counter's low and high.

   Blocks are made in groups, of which each word is a vector, so that the compiler vectorises
   over blocks. */
#include "mat.h"

#include "normal_inline.h"
#include "philox_inline.h"
#include "random.h"

typedef struct {
    uint64_t counter;
    uint32_t key0, key1;
} stream;

INLINE stream stream_of(const double *words) {
    stream from = {(uint64_t)words[4] | (uint64_t)words[6] << 32, (uint32_t)words[0],
                   (uint32_t)words[2]};
    return from;
}

static void batch_plain(uint64_t first, uint32_t key0, uint32_t key1, uint32_t w[4][BATCH]) {
    philox_batch_plain(first, key0, key1, w);
}

static philox_batch *batch = batch_plain;

/* The function that makes a batch on machines of a level; NULL if this one cannot. */
static philox_batch *batch_of(int level) {
#if defined(__GNUC__) && defined(__x86_64__)
    __builtin_cpu_init();
    if (level == 1)
        return __builtin_cpu_supports("avx2") ? philox_batch_v3 : NULL;
    if (level == 2)
        return __builtin_cpu_supports("avx512f") ? philox_batch_v4 : NULL;
#endif
    return level ? NULL : batch_plain;
}

#if defined(__GNUC__)
__attribute__((constructor)) static void choose(void) {
    batch = batch_of(2) ? batch_of(2) : batch_of(1) ? batch_of(1) : batch_plain;
}
#endif

void random_words(uint32_t *counter, uint32_t key0, uint32_t key1) {
    philox(counter, key0, key1);
}

int random_batch(int level, uint64_t first, uint32_t key0, uint32_t key1, uint32_t *words) {
    philox_batch *chosen = batch_of(level);
    if (chosen)
        chosen(first, key0, key1, (uint32_t(*)[BATCH])words);
    return chosen != NULL;
}

/* A kernel: FILL each group's PER * 64 elements of type T, in place or, of a last group that is not
   whole, in a copy; A and B are the types of the two numbers. */
#define KERNEL(name, T, PER, A, B, FILL) \
    MAT_CLONES void name(const void *frame, char *const *operands, const double *numbers, \
                         double *result, int64_t start, int64_t stop) { \
        int64_t n = ((const random_frame *)frame)->n; \
        T *out = (T *)operands[0], rest[PER * BATCH]; \
        stream from = stream_of(numbers + 4); \
        A a = (A)numbers[0]; \
        B b = (B)numbers[2]; \
        for (int64_t at = start; at < stop; at++) { \
            uint32_t w[4][BATCH]; \
            T *to = out + at * (PER * BATCH); \
            int64_t left = n - at * (PER * BATCH); \
            batch(from.counter + (uint64_t)at * BATCH, from.key0, from.key1, w); \
            FILL(left < PER * BATCH ? rest : to, w, a, b); \
            if (left < PER * BATCH) memcpy(to, rest, (size_t)left * sizeof(T)); \
        } \
    }

/* 24 or 53 bits, times the limit `a`, at most `b`, the largest number below the limit. */
INLINE void uniforms_f(float *RESTRICT to, uint32_t w[4][BATCH], float a, float b) {
    for (int i = 0; i < BATCH; i++)
        for (int j = 0; j < 4; j++) {
            float x = (float)(int32_t)(w[j][i] >> 8) * 0x1p-24f * a;
            to[4 * i + j] = x < b ? x : b;
        }
}

INLINE void uniforms_d(double *RESTRICT to, uint32_t w[4][BATCH], double a, double b) {
    for (int i = 0; i < BATCH; i++)
        for (int j = 0; j < 2; j++) {
            double x = ((double)w[2 * j][i] * 0x1p-32 +
                        (double)(int32_t)(w[2 * j + 1][i] >> 11) * 0x1p-53) *
                       a;
            to[2 * i + j] = x < b ? x : b;
        }
}

INLINE void normals_f(float *RESTRICT to, uint32_t w[4][BATCH], float a, float b) {
    float v[4][BATCH];
    for (int j = 0; j < 4; j += 2)
        for (int i = 0; i < BATCH; i++)
            normal_pair_f(w[j][i], w[j + 1][i], &v[j][i], &v[j + 1][i]);
    for (int i = 0; i < BATCH; i++)
        for (int j = 0; j < 4; j++)
            to[4 * i + j] = v[j][i] * b + a;
}

INLINE void normals_d(double *RESTRICT to, uint32_t w[4][BATCH], double a, double b) {
    double v[2][BATCH];
    for (int i = 0; i < BATCH; i++)
        normal_pair_d(w[0][i], w[1][i], w[2][i], w[3][i], &v[0][i], &v[1][i]);
    for (int i = 0; i < BATCH; i++)
        for (int j = 0; j < 2; j++)
            to[2 * i + j] = v[j][i] * b + a;
}

/* `b` where the word is not above `a`, else 0. */
INLINE void bernoullis_f(float *RESTRICT to, uint32_t w[4][BATCH], uint32_t a, float b) {
    for (int i = 0; i < BATCH; i++)
        for (int j = 0; j < 4; j++)
            to[4 * i + j] = w[j][i] <= a ? b : 0;
}

INLINE void bernoullis_d(double *RESTRICT to, uint32_t w[4][BATCH], uint32_t a, double b) {
    for (int i = 0; i < BATCH; i++)
        for (int j = 0; j < 4; j++)
            to[4 * i + j] = w[j][i] <= a ? b : 0;
}

KERNEL(random_uniform_f, float, 4, float, float, uniforms_f)
KERNEL(random_uniform_d, double, 2, double, double, uniforms_d)
KERNEL(random_normal_f, float, 4, float, float, normals_f)
KERNEL(random_normal_d, double, 2, double, double, normals_d)
KERNEL(random_bernoulli_f, float, 4, uint32_t, float, bernoullis_f)
KERNEL(random_bernoulli_d, double, 4, uint32_t, double, bernoullis_d)
