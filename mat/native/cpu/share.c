/* Sharing a kernel's range among threads that wait for work: at first by polling, since the next
   range often follows at once and waking a thread takes longer than a small range does, then
   asleep. */
#include "mat.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "call.h"

#include "share.h"

/* Nanoseconds of polling before a thread lets others run between its polls, and before it sleeps:
   Python takes 10 to 100 us between the ranges of fused blocks; pauses after which it looks at the
   clock, since processors pause for 10 to 140 cycles; pieces for each thread, and at most in all */
enum { POLLING = 20000, YIELDING = 150000, PAUSES = 16, PIECES = 4, MOST = 1024 };

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

/* In one word, so that a helper joins a range by one exchange: how many helpers are inside of the
   range, how many more may join it, and its number. */
#define INSIDE ((uint64_t)0xFFFF)
#define PLACE ((uint64_t)1 << 16)
#define PLACES (INSIDE * PLACE)
#define ROUND ((uint64_t)1 << 32)

static atomic_uint_least64_t state;
static atomic_int busy; /* a range is shared, whose caller alone writes the next two */
static range current;
static atomic_uchar taken[MOST]; /* pieces that a thread does or did */

/* For threads that sleep. Each says so first and looks at the state then; others change the state
   first. */
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER, left = PTHREAD_COND_INITIALIZER;
static atomic_int asleep, waiting; /* helpers, and the caller */

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

static int is_inside(void) { return (atomic_load(&state) & INSIDE) != 0; }

/* Wake those who sleep, who have locked the guard until they do. */
static void wake(pthread_cond_t *sleepers) {
    pthread_mutex_lock(&guard);
    pthread_mutex_unlock(&guard);
    pthread_cond_broadcast(sleepers);
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Pause for poll number k; return whether there is time for another poll, since `begin`, which is
   0 at first. */
static int may_poll(int k, int64_t *begin) {
    if (k % PAUSES == 0) {
        const int64_t time = now();
        if (!*begin) *begin = time;
        if (time - *begin > YIELDING) return 0;
        if (time - *begin > POLLING) sched_yield();
    }
    PAUSE();
    return 1;
}

static void wait_for_helpers(void) {
    int64_t begin = 0;
    for (int k = 0; is_inside() && may_poll(k, &begin); k++) continue;
    if (!is_inside()) return;
    pthread_mutex_lock(&guard);
    atomic_store(&waiting, 1);
    while (is_inside()) pthread_cond_wait(&left, &guard);
    atomic_store(&waiting, 0);
    pthread_mutex_unlock(&guard);
}

void mat_share(uintptr_t kernel, const void *frame, char *const *operands, const double *numbers,
               double *result, int64_t count, int64_t grain, int64_t threads) {
    int64_t grains = least(count / (grain > 0 ? grain : 1), MOST);
    threads = least(threads, grains);
    if (threads < 2 || atomic_exchange(&busy, 1)) {
        ((mat_kernel *)kernel)(frame, operands, numbers, result, 0, count);
        return;
    }
    range mine = {(mat_kernel *)kernel, frame, operands, numbers, result, count,
                  least(threads * PIECES, grains), threads - 1};
    current = mine;
    for (int64_t k = 0; k < mine.pieces; k++)
        atomic_store_explicit(&taken[k], 0, memory_order_relaxed);
    const uint64_t next = atomic_load(&state) / ROUND + 1;
    atomic_store(&state, next * ROUND + (uint64_t)mine.helpers * PLACE);
    if (atomic_load(&asleep)) wake(&begun);
    do_pieces(&mine, 0);
    atomic_fetch_and(&state, ~PLACES);
    wait_for_helpers();
    atomic_store(&busy, 0);
}

/* Join the range whose number is `seen`, if helpers still may; return the number of this one among
   them, or 0. */
static int64_t join(uint64_t seen, range *r) {
    uint64_t now = atomic_load(&state);
    do
        if (now / ROUND != seen || !(now & PLACES)) return 0;
    while (!atomic_compare_exchange_weak(&state, &now, now - PLACE + 1));
    *r = current;
    return r->helpers - (int64_t)((now & PLACES) / PLACE) + 1;
}

static void leave(void) {
    const uint64_t before = atomic_fetch_sub(&state, 1);
    if ((before & INSIDE) == 1 && atomic_load(&waiting)) wake(&left);
}

/* Wait for another range than that of the number `seen`; return its number. */
static uint64_t next_range(uint64_t seen) {
    int64_t begin = 0;
    for (int k = 0; may_poll(k, &begin); k++) {
        const uint64_t round = atomic_load_explicit(&state, memory_order_acquire) / ROUND;
        if (round != seen) return round;
    }
    pthread_mutex_lock(&guard);
    atomic_fetch_add(&asleep, 1);
    while (atomic_load(&state) / ROUND == seen) pthread_cond_wait(&begun, &guard);
    atomic_fetch_sub(&asleep, 1);
    pthread_mutex_unlock(&guard);
    return atomic_load(&state) / ROUND;
}

void mat_serve(void) {
    uint64_t seen = atomic_load(&state) / ROUND - 1; /* a range may be open already */
    for (;;) {
        range r;
        seen = next_range(seen);
        const int64_t number = join(seen, &r);
        if (!number) continue;
        do_pieces(&r, number);
        leave();
    }
}

void mat_share_forget(void) {
    pthread_mutex_init(&guard, NULL);
    pthread_cond_init(&begun, NULL);
    pthread_cond_init(&left, NULL);
    atomic_store(&busy, 0);
    atomic_store(&asleep, 0);
    atomic_store(&waiting, 0);
    atomic_fetch_and(&state, ~(INSIDE | PLACES));
}
