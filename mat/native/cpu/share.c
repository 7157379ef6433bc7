/* Sharing a kernel's range among threads that wait for such work: shortly by looking again and
   again, since the next range often comes at once and waking a thread takes longer than a small one
   does, then asleep. */
#include "mat.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "call.h"

#include "share.h"

enum {
    LOOKS = 4000,
    PIECES = 4,
    MOST = 1024
}; /* looks: some 20 us; pieces for each thread, and at most in all */

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

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER, left = PTHREAD_COND_INITIALIZER;
static range current;
static int open_, busy,
    asleep; /* whether helpers may join, whether somebody shares, how many serve asleep */
static int64_t joined;          /* how many have joined in this range */
static atomic_int inside;       /* how many of those have not left it */
static atomic_long turn;        /* counts ranges, for those who look */
static atomic_uchar taken[MOST]; /* pieces that somebody does or did */

/* Do pieces that nobody has taken. Who is `who` begins at a place of its own and goes on from
   there, so that neighbouring pieces, which may share cache lines, are mostly done by one thread.
 */
static void do_pieces(const range *r, int64_t who) {
    int64_t first = who * r->pieces / (r->helpers + 1);
    for (int64_t j = 0; j < r->pieces; j++) {
        int64_t k = first + j < r->pieces ? first + j : first + j - r->pieces;
        if (atomic_exchange_explicit(&taken[k], 1, memory_order_relaxed)) continue;
        int64_t start = r->count / r->pieces * k + r->count % r->pieces * k / r->pieces;
        int64_t stop = r->count / r->pieces * (k + 1) + r->count % r->pieces * (k + 1) / r->pieces;
        r->kernel(r->frame, r->operands, r->numbers, r->result, start, stop);
    }
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Wait until all who joined have left, the guard being held. */
static void wait_for_helpers(void) {
    if (atomic_load(&inside)) {
        pthread_mutex_unlock(&guard);
        for (int k = 0; k < LOOKS && atomic_load_explicit(&inside, memory_order_acquire); k++)
            PAUSE();
        pthread_mutex_lock(&guard);
    }
    while (atomic_load(&inside)) pthread_cond_wait(&left, &guard);
}

void mat_share(uintptr_t kernel, const void *frame, char *const *operands, const double *numbers,
               double *result, int64_t count, int64_t grain, int64_t threads) {
    int64_t grains = least(count / (grain > 0 ? grain : 1), MOST);
    threads = least(threads, grains);
    range mine = {(mat_kernel *)kernel,
                  frame,
                  operands,
                  numbers,
                  result,
                  count,
                  least(threads * PIECES, grains),
                  threads - 1};
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
    atomic_fetch_add(&turn, 1);
    if (asleep) pthread_cond_broadcast(&begun);
    pthread_mutex_unlock(&guard);
    do_pieces(&mine, 0);
    pthread_mutex_lock(&guard);
    open_ = 0;
    wait_for_helpers();
    busy = 0;
    pthread_mutex_unlock(&guard);
}

/* Join in the range that is open, as which of its helpers; 0 if there is none, or it has enough of
   them. */
static int64_t join(range *r) {
    if (!open_ || joined >= current.helpers) return 0;
    atomic_fetch_add(&inside, 1);
    *r = current;
    return ++joined;
}

void mat_serve(void) {
    long seen = atomic_load(&turn) - 1; /* a range may be open already */
    for (;;) {
        for (int k = 0; k < LOOKS && atomic_load_explicit(&turn, memory_order_acquire) == seen; k++)
            PAUSE();
        range r;
        pthread_mutex_lock(&guard);
        while (atomic_load(&turn) == seen) {
            asleep++;
            pthread_cond_wait(&begun, &guard);
            asleep--;
        }
        seen = atomic_load(&turn);
        int64_t who = join(&r);
        pthread_mutex_unlock(&guard);
        if (!who) continue;
        do_pieces(&r, who);
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
