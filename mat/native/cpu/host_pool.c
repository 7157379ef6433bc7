/* Host memory that is recycled. A fresh page costs a fault, some 2 us for 4 KiB, which is more than
   most operations need to compute its elements.

   There are eight size classes to a power of two. Small blocks are in lists that are bounded one by
   one. Large blocks are kept under a common limit; the oldest are given back first, and those that
   nobody used for some seconds. No system call is made while a lock is held. */
#include "mat.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "host_blocks_inline.h"
#include "host_pool.h"

#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __builtin_ia32_pause()
#else
#define PAUSE() ((void)0)
#endif

#ifdef CLOCK_MONOTONIC_COARSE
#define CLOCK CLOCK_MONOTONIC_COARSE
#else
#define CLOCK CLOCK_MONOTONIC
#endif

enum {
    POLLS = 200,          /* of a lock, before other threads are let run */
    SMALL_KEPT = 1 << 17, /* bytes that a class of small blocks keeps at most */
    UNUSED = 10,          /* seconds after which a kept block is given back */
};
#define FLOOR ((int64_t)64 << 20) /* of the default limit */

/* A kept block: the first bytes of its memory. */
typedef struct kept {
    struct kept *next, *previous; /* next: kept before this one */
    int64_t since;                /* seconds */
} kept;

typedef struct {
    kept *newest, *oldest;
    int64_t kept, in_use; /* blocks */
} list;

typedef struct {
    _Alignas(UNIT) atomic_int locked;
    int64_t in_use, kept; /* bytes */
    int64_t hits, misses, returned;
} part;

static part small, large;
static list lists[CLASSES];
static atomic_llong chosen = -1; /* the limit that was set */
/* Of the large blocks: the most bytes in use at once, in this period and in the one before */
static int64_t peak, peak_before, period, looked;
static int64_t machine; /* bytes of memory */
static int huge;        /* whether there are huge pages */

static void lock(part *p) {
    while (atomic_exchange_explicit(&p->locked, 1, memory_order_acquire)) {
        for (int k = 0; atomic_load_explicit(&p->locked, memory_order_relaxed); k++) {
            if (k < POLLS) PAUSE();
            else sched_yield();
        }
    }
}

static void unlock(part *p) { atomic_store_explicit(&p->locked, 0, memory_order_release); }

static int64_t give_all_back(kept *first) {
    int64_t bytes = 0;
    while (first != NULL) {
        kept *next = first->next;
        int class = (int)first->since;
        bytes += bytes_of(class);
        give_back(first, class);
        first = next;
    }
    return bytes;
}

/* Kept blocks; the callers have locked the part */

static void put(list *l, kept *block) {
    block->next = l->newest;
    block->previous = NULL;
    if (l->newest != NULL) l->newest->previous = block;
    else l->oldest = block;
    l->newest = block;
    l->kept++;
}

static kept *take_newest(list *l) {
    kept *found = l->newest;
    l->newest = found->next;
    if (l->newest != NULL) l->newest->previous = NULL;
    else l->oldest = NULL;
    l->kept--;
    return found;
}

static kept *take_oldest(list *l) {
    kept *found = l->oldest;
    l->oldest = found->previous;
    if (l->oldest != NULL) l->oldest->next = NULL;
    else l->newest = NULL;
    l->kept--;
    return found;
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK, &time);
    return time.tv_sec;
}

/* Return how many bytes of large blocks are kept at most; small blocks are kept besides. */
static int64_t limit_of_large(void) {
    int64_t most = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (most < 0) {
        most = (peak > peak_before ? peak : peak_before) - large.in_use;
        if (most < FLOOR) most = FLOOR;
        return most < machine / 8 ? most : machine / 8;
    }
    most -= small.kept;
    return most > 0 ? most : 0;
}

/* Remove and return the large block that was kept the longest; its class is noted in it. */
static kept *remove_oldest(void) {
    int class = -1;
    for (int k = SMALL; k < CLASSES; k++)
        if (lists[k].oldest != NULL &&
            (class < 0 || lists[k].oldest->since < lists[class].oldest->since))
            class = k;
    kept *found = take_oldest(&lists[class]);
    large.kept -= bytes_of(class);
    large.returned++;
    found->since = class;
    return found;
}

static int64_t oldest_age(int64_t time) {
    int64_t most = -1;
    for (int k = SMALL; k < CLASSES; k++)
        if (lists[k].oldest != NULL && time - lists[k].oldest->since > most)
            most = time - lists[k].oldest->since;
    return most;
}

/* Remove and return, linked, what is beyond `most` bytes of large blocks. */
static kept *remove_beyond(int64_t most) {
    kept *removed = NULL;
    while (large.kept > most) {
        kept *block = remove_oldest();
        block->next = removed;
        removed = block;
    }
    return removed;
}

/* Once a second: begin a new period if it is time, and remove what was not used for long. */
static kept *look_after(int64_t time, kept *removed) {
    looked = time;
    if (time - period > UNUSED) {
        peak_before = time - period > 2 * UNUSED ? large.in_use : peak;
        peak = large.in_use;
        period = time;
    }
    while (oldest_age(time) > UNUSED) {
        kept *block = remove_oldest();
        block->next = removed;
        removed = block;
    }
    return removed;
}

/* Allocate and free */

/* Count a block as in use; also if there is no memory for it: undone then. */
INLINE void count(part *p, list *l, int64_t bytes) {
    l->in_use++;
    p->in_use += bytes;
}

/* Small blocks have one link, since a kept block is not touched for the sake of another. */
INLINE void *take_small(int class) {
    list *l = &lists[class];
    int64_t bytes = bytes_of(class);
    lock(&small);
    kept *found = l->newest;
    if (LIKELY(found != NULL)) {
        UNPOISON(found, bytes);
        l->newest = found->next;
        l->kept--;
        small.kept -= bytes;
        small.hits++;
    } else {
        small.misses++;
    }
    count(&small, l, bytes);
    unlock(&small);
    return found;
}

static void *take_large(int class) {
    list *l = &lists[class];
    int64_t bytes = bytes_of(class);
    kept *found = NULL, *removed = NULL;
    lock(&large);
    if (LIKELY(l->newest != NULL)) {
        found = take_newest(l);
        UNPOISON(found, bytes);
        large.kept -= bytes;
        large.hits++;
    } else {
        large.misses++;
    }
    count(&large, l, bytes);
    if (large.in_use > peak) peak = large.in_use;
    if (found == NULL) removed = remove_beyond(limit_of_large());
    unlock(&large);
    give_all_back(removed);
    return found;
}

INLINE void *take(int class) {
    return LIKELY(class < SMALL) ? take_small(class) : take_large(class);
}

static void uncount(part *p, int class) {
    lock(p);
    lists[class].in_use--;
    p->in_use -= bytes_of(class);
    unlock(p);
}

/* Return a block that the system gave, or NULL; kept blocks are given back if it has none. */
static void *take_fresh(int class) {
    void *found = request(class);
    if (found == NULL && mat_host_trim(0)) found = request(class);
    if (found == NULL) uncount(class < SMALL ? &small : &large, class);
    return found;
}

/* Have sanitizers find accesses to the rest of a block. */
INLINE void *guarded(void *block, size_t bytes, int class) {
    if (block != NULL) POISON((char *)block + bytes, (size_t)bytes_of(class) - bytes);
    return block;
}

void *mat_host_allocate(size_t bytes) {
    int class = class_of(bytes);
    if (class >= CLASSES) return NULL;
    void *found = take(class);
    if (LIKELY(found != NULL)) return guarded(found, bytes, class);
    found = take_fresh(class);
    if (found != NULL && class >= SMALL) fault_in(found, bytes, class, huge);
    return guarded(found, bytes, class);
}

void *mat_host_allocate_zeros(size_t bytes) {
    int class = class_of(bytes);
    if (class >= CLASSES) return NULL;
    void *found = take(class);
    if (found == NULL) {
        found = take_fresh(class);
        if (found == NULL || class >= MAPPED)
            return guarded(found, bytes, class); /* fresh pages are zero */
    }
    return guarded(memset(found, 0, bytes), bytes, class);
}

static void free_small(kept *block, int class) {
    list *l = &lists[class];
    int64_t bytes = bytes_of(class), most = atomic_load_explicit(&chosen, memory_order_relaxed);
    lock(&small);
    l->in_use--;
    small.in_use -= bytes;
    int keep = l->kept * bytes < SMALL_KEPT && (most < 0 || small.kept + bytes <= most);
    if (LIKELY(keep)) {
        block->next = l->newest;
        l->newest = block;
        l->kept++;
        POISON(block, bytes);
        small.kept += bytes;
    } else {
        small.returned++;
    }
    unlock(&small);
    if (!keep) give_back(block, class);
}

static void free_large(kept *block, int class) {
    int64_t bytes = bytes_of(class), time = now();
    kept *removed = NULL;
    lock(&large);
    lists[class].in_use--;
    large.in_use -= bytes;
    int64_t most = limit_of_large();
    int keep = bytes <= most;
    if (keep) {
        removed = remove_beyond(most - bytes);
        block->since = time;
        put(&lists[class], block);
        POISON(block + 1, (size_t)bytes - sizeof *block);
        large.kept += bytes;
    } else {
        large.returned++;
    }
    if (time != looked) removed = look_after(time, removed);
    unlock(&large);
    give_all_back(removed);
    if (!keep) give_back(block, class);
}

void mat_host_free(void *block, size_t bytes) {
    if (block == NULL) return;
    int class = class_of(bytes);
    UNPOISON(block, bytes_of(class));
    if (class < SMALL) free_small(block, class);
    else free_large(block, class);
}

void *mat_host_new(size_t bytes) {
    if (bytes > SIZE_MAX - UNIT) return NULL;
    size_t *found = mat_host_allocate(bytes + UNIT);
    if (found == NULL) return NULL;
    *found = bytes + UNIT;
    return (char *)found + UNIT;
}

void mat_host_delete(void *block) {
    if (block == NULL) return;
    size_t *noted = (size_t *)((char *)block - UNIT);
    mat_host_free(noted, *noted);
}

/* Limits and statistics */

/* Remove and return, linked, small blocks until at most so many bytes are kept. */
static kept *remove_small(int64_t most) {
    kept *removed = NULL;
    lock(&small);
    for (int k = SMALL - 1; k >= 0; k--)
        while (small.kept > most && lists[k].newest != NULL) {
            kept *block = lists[k].newest;
            UNPOISON(block, bytes_of(k));
            lists[k].newest = block->next;
            lists[k].kept--;
            small.kept -= bytes_of(k);
            small.returned++;
            block->since = k;
            block->next = removed;
            removed = block;
        }
    unlock(&small);
    return removed;
}

int64_t mat_host_trim(int64_t most) {
    lock(&small);
    int64_t rest = most - small.kept;
    unlock(&small);
    lock(&large);
    kept *removed = remove_beyond(rest > 0 ? rest : 0);
    rest = large.kept;
    unlock(&large);
    int64_t found = give_all_back(removed);
    return found + give_all_back(remove_small(most - rest));
}

void mat_host_set_limit(int64_t bytes) {
    atomic_store(&chosen, bytes < 0 ? -1 : bytes);
    if (bytes >= 0) mat_host_trim(bytes);
}

void mat_host_get_statistics(struct mat_host_statistics *found) {
    memset(found, 0, sizeof *found);
    for (int k = 0; k < 2; k++) {
        part *p = k ? &large : &small;
        lock(p);
        found->in_use += p->in_use;
        found->kept += p->kept;
        found->hits += p->hits;
        found->misses += p->misses;
        found->returned += p->returned;
        if (k) found->limit = limit_of_large();
        unlock(p);
    }
    int64_t set = atomic_load(&chosen);
    if (set >= 0) found->limit = set;
}

int64_t mat_host_classes(void) { return CLASSES; }

void mat_host_class(int64_t index, int64_t *bytes, int64_t *kept, int64_t *in_use) {
    part *p = index < SMALL ? &small : &large;
    *bytes = bytes_of((int)index);
    lock(p);
    *kept = lists[index].kept;
    *in_use = lists[index].in_use;
    unlock(p);
}

/* Forks: another thread may be in the pool, so the fork waits for the locks. What the child
   inherits it would have to copy page by page when it writes, so it keeps no blocks that are
   mappings; free() is not for handlers of forks. */

#ifdef _WIN32 /* which has no forks */
static void follow_forks(void) {}
#else
static void before_fork(void) {
    lock(&small);
    lock(&large);
}

static void after_fork(void) {
    unlock(&large);
    unlock(&small);
}

static void after_fork_in_child(void) {
    for (int class = MAPPED; class < CLASSES; class++)
        while (lists[class].newest != NULL) {
            large.kept -= bytes_of(class);
            large.returned++;
            give_back(take_newest(&lists[class]), class);
        }
    after_fork();
}

static void follow_forks(void) {
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
#endif

__attribute__((constructor)) static void begin(void) {
    machine = memory_of_machine();
    huge = has_huge_pages();
    period = now();
    follow_forks();
}
