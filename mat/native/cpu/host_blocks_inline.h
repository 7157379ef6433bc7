/* The blocks of host_pool.c: their size classes, and how the system gives them.

   Faults of 4 KiB pages take some 2 us each, or 1.3 us in one call for all of them; two threads
   that fault at once wait for each other. A huge page of 2 MiB takes 70 us, in any number of
   threads. */
#include <stdio.h>
#include <stdlib.h>
#ifndef _WIN32
#include <sys/mman.h>
#include <unistd.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(block, bytes) ASAN_POISON_MEMORY_REGION(block, bytes)
#define UNPOISON(block, bytes) ASAN_UNPOISON_MEMORY_REGION(block, bytes)
#else
#define POISON(block, bytes) ((void)(block), (void)(bytes))
#define UNPOISON(block, bytes) ((void)(block), (void)(bytes))
#endif

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif
#if defined(__linux__) && !defined(MADV_POPULATE_WRITE)
#define MADV_POPULATE_WRITE 23 /* older headers lack it; older kernels refuse it */
#endif

enum {
    UNIT = 64,     /* the smallest block, and the alignment of all */
    CLASSES = 336, /* up to 2^50 bytes */
    SMALL = 48,    /* the first class above 16 KiB */
    MAPPED = 96,   /* the first class above 1 MiB, whose blocks are mappings of their own */
};
#define HUGE_PAGE ((int64_t)2 << 20)
#define MOST_SMALL_PAGES ((int64_t)64 << 20) /* bytes that are faulted in at once */

static int class_of(size_t bytes) {
    uint64_t m = bytes ? (bytes - 1) / UNIT : 0;
    if (m < 16) return (int)m;
    int shift = 60 - __builtin_clzll(m);
    return shift > 41 ? CLASSES : 8 * shift + (int)(m >> shift);
}

static int64_t bytes_of(int class) {
    if (class < 16) return (int64_t)(class + 1) * UNIT;
    int shift = class / 8 - 1;
    return ((int64_t)(class % 8 + 9) << shift) * UNIT;
}

#ifdef _WIN32
#include "host_windows_inline.h"
#else
static void *map(int64_t bytes) {
    int64_t room = bytes >= HUGE_PAGE ? bytes + HUGE_PAGE : bytes;
    char *found = mmap(NULL, (size_t)room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);
    if (found == MAP_FAILED) return NULL;
    if (room == bytes) return found;
    int64_t before = -(intptr_t)found & (HUGE_PAGE - 1), after = HUGE_PAGE - before;
    if (before) munmap(found, (size_t)before);
    if (after) munmap(found + before + bytes, (size_t)after);
#ifdef MADV_HUGEPAGE
    madvise(found + before, (size_t)bytes, MADV_HUGEPAGE);
#endif
    return found + before;
}

static void *request(int class) {
    if (class >= MAPPED) return map(bytes_of(class));
    void *found;
    return posix_memalign(&found, UNIT, (size_t)bytes_of(class)) ? NULL : found;
}

static void give_back(void *block, int class) {
    size_t bytes = (size_t)bytes_of(class);
    UNPOISON(block, bytes);
    if (class < MAPPED) free(block);
    /* it fails if a mapping had to be split and there are too many; then its pages are freed */
    else if (munmap(block, bytes)) madvise(block, bytes, MADV_DONTNEED);
}

/* Return whether the system has huge pages for those who ask. */
static int has_huge_pages(void) {
    char text[64] = "[never]";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (file == NULL) return 0;
    if (fgets(text, sizeof text, file) == NULL) text[0] = 0;
    fclose(file);
    return strstr(text, "[never]") == NULL;
}

/* Have the pages of a fresh block at once where they are small, in one thread; those that are huge
   come when they are used, and so do those of a block so large that it may never be used whole. */
static void fault_in(char *block, size_t bytes, int class, int huge) {
#ifdef MADV_POPULATE_WRITE
    int64_t page = sysconf(_SC_PAGESIZE), size = bytes_of(class);
    if (!huge && size > MOST_SMALL_PAGES) return;
    int64_t first = -(intptr_t)block & (page - 1);
    if (huge && size >= HUGE_PAGE) first = size & -HUGE_PAGE;
    int64_t last = (int64_t)bytes - (((intptr_t)block + (int64_t)bytes) & (page - 1));
    if (first < last) madvise(block + first, (size_t)(last - first), MADV_POPULATE_WRITE);
#endif
}

/* Return the bytes of memory that this process may have. */
static int64_t memory_of_machine(void) {
    static const char *const limits[] = {"/sys/fs/cgroup/memory.max",
                                         "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    int64_t found = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    for (int k = 0; k < 2; k++) {
        FILE *file = fopen(limits[k], "r");
        long long most;
        if (file == NULL) continue;
        if (fscanf(file, "%lld", &most) == 1 && most > 0 && most < found) found = most;
        fclose(file);
    }
    return found;
}
#endif
