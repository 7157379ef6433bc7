/* The parts of host_blocks_inline.h that differ on Windows, which compile but were not tried:
   mappings are aligned to 64 KiB, have no huge pages, and their pages are faulted in one by
   one. */
#include <malloc.h>
#include <windows.h>

static void *request(int class) {
    size_t bytes = (size_t)bytes_of(class);
    if (class < MAPPED) return _aligned_malloc(bytes, UNIT);
    return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

static void give_back(void *block, int class) {
    UNPOISON(block, (size_t)bytes_of(class));
    if (class < MAPPED) _aligned_free(block);
    else VirtualFree(block, 0, MEM_RELEASE);
}

static int has_huge_pages(void) { return 0; }

static void fault_in(char *block, size_t bytes, int class, int huge) {
    (void)block, (void)bytes, (void)class, (void)huge;
}

static int64_t memory_of_machine(void) {
    MEMORYSTATUSEX found = {.dwLength = sizeof found};
    return GlobalMemoryStatusEx(&found) ? (int64_t)found.ullTotalPhys : (int64_t)1 << 30;
}
