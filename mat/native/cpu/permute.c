/* Copying the elements of one layout to another, of any strides. */
#include "mat.h"

#include "permute.h"
#include "transpose_inline.h"

/* The ways to copy a block; as in mat/cpu/permute.py */
enum { BYTES, RUNS, UNITS_, ZIP, UNZIP, TRANSPOSE_ };
/* Bytes of a run that is copied by lines; how many runs ahead are prefetched */
enum { NEAR_RUN = 2048, AHEAD = 4 };

/* Copies a block of ni times nj units from s to d; the source of the next one is `ahead` of s. */
#define MOVER_ARGUMENTS \
    const permute_frame *f, char *d, const char *s, int64_t ni, int64_t nj, int64_t ahead
typedef void mover(MOVER_ARGUMENTS);

#if defined(__GNUC__)
#define FETCH(p) __builtin_prefetch(p)
#else
#define FETCH(p) (void)(p)
#endif

#define TARGET
#define NAME(x) x##_base
#define WIDTH 16
#include "permute_inline.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define TARGET __attribute__((target("arch=x86-64-v3")))
#define NAME(x) x##_v3
#define WIDTH 32
#include "permute_inline.h"
#define TARGET __attribute__((target("arch=x86-64-v4")))
#define NAME(x) x##_v4
#define WIDTH 64
#include "permute_inline.h"

int32_t mat_permute_width(void) {
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd"))
        return 64;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                   __builtin_cpu_supports("fma")
               ? 32
               : 16;
}

static mover *choose(const permute_frame *f) {
    return f->width >= 64 ? choose_v4(f) : f->width >= 32 ? choose_v3(f) : choose_base(f);
}
#else
int32_t mat_permute_width(void) { return 16; }

static mover *choose(const permute_frame *f) { return choose_base(f); }
#endif

/* Sets the indices `at` of the outer loops at a block, and adds the bytes to it. Short divisions,
   where they suffice, take a third of the time. */
static void seek(const permute_frame *f, int64_t block, int64_t *at, char **d, const char **s) {
    for (int k = 0; k < f->rank; k++) {
        if (f->narrow) {
            const uint32_t rest = (uint32_t)block, n = (uint32_t)f->n[k];
            at[k] = rest % n;
            block = rest / n;
        } else {
            at[k] = block % f->n[k];
            block /= f->n[k];
        }
        *d += at[k] * f->d[k];
        *s += at[k] * f->s[k];
    }
}

void mat_permute(const void *frame, char *const *operands, const double *numbers, double *result,
                 int64_t start, int64_t stop) {
    const permute_frame *f = frame;
    const char *s = operands[0] + f->from;
    char *d = operands[1] + f->to;
    /* Blocks after the first begin this much earlier, so that lines begin with a cache line */
    const int64_t shift = f->shift && f->loop_i >= 0 ? ((intptr_t)d & 63) / f->unit : 0;
    const int64_t last_i = f->loop_i >= 0 ? f->n[f->loop_i] - 1 : 0,
                  last_j = f->loop_j >= 0 ? f->n[f->loop_j] - 1 : 0;
    int64_t at[64];
    mover *const move = choose(f);
    seek(f, start, at, &d, &s);
    for (int64_t block = start; block < stop; block++) {
        const int64_t block_i = f->loop_i >= 0 ? at[f->loop_i] : 0,
                      block_j = f->loop_j >= 0 ? at[f->loop_j] : 0;
        const int64_t back = block_i ? shift : 0;
        const int64_t ni = (block_i == last_i ? f->last_i : f->ni - shift) + back;
        const int64_t nj = block_j == last_j ? f->last_j : f->nj;
        char *const to = d - back * f->di;
        const char *const from = s - back * f->si;
        for (int k = 0; k < f->rank; k++) {
            if (++at[k] < f->n[k]) {
                d += f->d[k];
                s += f->s[k];
                break;
            }
            at[k] = 0;
            d -= (f->n[k] - 1) * f->d[k];
            s -= (f->n[k] - 1) * f->s[k];
        }
        move(f, to, from, ni, nj, s - from);
    }
}
