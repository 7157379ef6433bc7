/* Sharing a kernel's range among threads that wait for work: at first by polling, since the next
   range often follows at once and waking a thread takes longer than a small range does, then
   asleep. */
#include "mat.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "call.h"

#include "share.h"

/* Polls before a thread sleeps: some 20 us; pieces for each thread, and at most in all */
enum { POLLS = 4000, PIECES = 4, MOST = 1024 };

#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __builtin_ia32_pause()
#else
#define PAUSE() ((void)0)
#endif

typedef struct {
    mat_kernel *kernel;
    const void *frame;
    char *const *operands;
    const double *numbers;
    double *result;
    int64_t count, pieces, helpers;
} range;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER, left = PTHREAD_COND_INITIALIZER;
static range current;
static int open_, busy, asleep;  /* helpers may join; a range is shared; sleeping helpers */
static int64_t joined;           /* helpers that have joined the current range */
static atomic_int inside;        /* those of them that have not left it */
static atomic_long round_;       /* counts ranges, for threads that poll */
static atomic_uchar taken[MOST]; /* pieces that a thread does or did */

/* Do pieces that no thread has taken. Each thread begins at a piece of its own, by its number, and
   goes on from there, so that neighbouring pieces, which may share cache lines, are mostly done by
   one thread. */
static void do_pieces(const range *r, int64_t number) {
    int64_t first = number * r->pieces / (r->helpers + 1);
    for (int64_t j = 0; j < r->pieces; j++) {
        int64_t k = first + j < r->pieces ? first + j : first + j - r->pieces;
        if (atomic_exchange_explicit(&taken[k], 1, memory_order_relaxed)) continue;
        int64_t start = r->count / r->pieces * k + r->count % r->pieces * k / r->pieces;
        int64_t stop = r->count / r->pieces * (k + 1) + r->count % r->pieces * (k + 1) / r->pieces;
        r->kernel(r->frame, r->operands, r->numbers, r->result, start, stop);
    }
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Wait until all helpers have left the range; the caller has locked the guard. */
static void wait_for_helpers(void) {
    if (atomic_load(&inside)) {
        pthread_mutex_unlock(&guard);
        for (int k = 0; k < POLLS && atomic_load_explicit(&inside, memory_order_acquire); k++)
            PAUSE();
        pthread_mutex_lock(&guard);
    }
    while (atomic_load(&inside)) pthread_cond_wait(&left, &guard);
}

void mat_share(uintptr_t kernel, const void *frame, char *const *operands, const double *numbers,
               double *result, int64_t count, int64_t grain, int64_t threads) {
    int64_t grains = least(count / (grain > 0 ? grain : 1), MOST);
    threads = least(threads, grains);
    range mine = {(mat_kernel *)kernel, frame, operands, numbers, result, count,
                  least(threads * PIECES, grains), threads - 1};
    pthread_mutex_lock(&guard);
    if (busy || threads < 2) {
        pthread_mutex_unlock(&guard);
        mine.kernel(frame, operands, numbers, result, 0, count);
        return;
    }
    busy = open_ = 1;
    joined = 0;
    current = mine;
    for (int64_t k = 0; k < mine.pieces; k++)
        atomic_store_explicit(&taken[k], 0, memory_order_relaxed);
    atomic_fetch_add(&round_, 1);
    if (asleep) pthread_cond_broadcast(&begun);
    pthread_mutex_unlock(&guard);
    do_pieces(&mine, 0);
    pthread_mutex_lock(&guard);
    open_ = 0;
    wait_for_helpers();
    busy = 0;
    pthread_mutex_unlock(&guard);
}

/* Join the open range and return the number of this helper in it; 0 if no range is open, or it has
   enough helpers. */
static int64_t join(range *r) {
    if (!open_ || joined >= current.helpers) return 0;
    atomic_fetch_add(&inside, 1);
    *r = current;
    return ++joined;
}

void mat_serve(void) {
    long seen = atomic_load(&round_) - 1; /* a range may be open already */
    for (;;) {
        for (int k = 0; k < POLLS; k++) {
            if (atomic_load_explicit(&round_, memory_order_acquire) != seen) break;
            PAUSE();
        }
        range r;
        pthread_mutex_lock(&guard);
        while (atomic_load(&round_) == seen) {
            asleep++;
            pthread_cond_wait(&begun, &guard);
            asleep--;
        }
        seen = atomic_load(&round_);
        int64_t number = join(&r);
        pthread_mutex_unlock(&guard);
        if (!number) continue;
        do_pieces(&r, number);
        pthread_mutex_lock(&guard);
        if (atomic_fetch_sub(&inside, 1) == 1) pthread_cond_signal(&left);
        pthread_mutex_unlock(&guard);
    }
}

void mat_share_forget(void) {
    pthread_mutex_init(&guard, NULL);
    pthread_cond_init(&begun, NULL);
    pthread_cond_init(&left, NULL);
    busy = open_ = asleep = 0;
    atomic_store(&inside, 0);
}
