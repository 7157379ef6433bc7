/* The race checker, included by fibres.hpp: under -fsanitize=thread the compiler calls functions
   for every access of a kernel to memory, and those here answer instead of the sanitizer's own
   library, which knows nothing of blocks, barriers and fibres.

   Each byte has a cell with the last write and two reads. An access races with one before it if
   another thread made that, at least one of the two writes, not both are atomic, and neither a
   barrier of the block nor one of their warp came in between. Threads of different blocks are never
   in order. This finds what no order of the fibres shows, since it asks what might be at the same
   time. Not found: what only a third reader of a byte has read; orders that are not total. */
#ifndef MAT_RACES_HPP
#define MAT_RACES_HPP

#if defined(MAT_RACES)
#include <dlfcn.h>

extern "C" __attribute__((visibility("hidden"))) char _end;  // of the library
#endif

namespace on_cpu {

#if defined(MAT_RACES)

#define MAT_UNCHECKED __attribute__((no_sanitize("thread"), visibility("hidden"), used))

struct past_access {
    int32_t block = -1;
    int16_t thread = 0;
    bool atomic = false;
    uint32_t epoch = 0, warp_epoch = 0;
};
struct cell {
    uint64_t life = 0;
    past_access write, reads[2];
};
struct shadow_page { uintptr_t number = 0; cell *cells = nullptr; };

static const unsigned PAGE = 1024, PAGES = 1 << 16;  // bytes of a page; places in the table
static const unsigned MOST_PAGES = 1 << 12;          // of which the shadows are kept
static shadow_page *pages;
static unsigned pages_used;
static uint64_t launch_life = 1, block_life = 1;  // cells of former launches and blocks are empty
static uint32_t block_epoch, warp_epochs[MOST / 32];
static int32_t running_block;
static volatile bool watching;  // a thread of the kernel runs, not this code

// Kernels whose blocks may write one byte twice, with the same value, and why.
static const char *const EQUAL_WRITES[][2] = {
    {"permute_loose_", "the last tiles along an axis do part of the tiles before again"}};
struct second_write { uintptr_t at; unsigned char before; };
static second_write *second_writes;
static size_t second_count, second_room;

struct byte_range { uintptr_t low, high; };
static byte_range shared_arrays[64], image;
static unsigned shared_count;

MAT_UNCHECKED static cell *cell_of(uintptr_t at) {
    uintptr_t number = at / PAGE;
    size_t slot = size_t(number * 0x9e3779b97f4a7c15u >> 40) & (PAGES - 1);
    while (pages[slot].cells && pages[slot].number != number) slot = (slot + 1) & (PAGES - 1);
    if (!pages[slot].cells) {
        pages[slot] = {number, static_cast<cell *>(calloc(PAGE, sizeof(cell)))};
        for (unsigned k = 0; k < PAGE; k++) pages[slot].cells[k].write.block = -1;
        pages_used++;
    }
    return pages[slot].cells + at % PAGE;
}

MAT_UNCHECKED static bool inside(const byte_range &r, uintptr_t at) {
    return at >= r.low && at < r.high;
}

MAT_UNCHECKED static bool is_shared(uintptr_t at) {
    for (unsigned k = 0; k < shared_count; k++)
        if (inside(shared_arrays[k], at)) return true;
    return false;
}

// Stacks, arguments, and variables of the library itself belong to one thread each.
MAT_UNCHECKED static bool is_private(uintptr_t at) {
    uintptr_t here = uintptr_t(__builtin_frame_address(0)), stacks = uintptr_t(fibres[0].stack);
    return inside(image, at) || (made && inside({stacks, stacks + STACK * MOST}, at)) ||
           inside({here - (8u << 20), here + (8u << 20)}, at) ||
           inside({uintptr_t(the_frame), uintptr_t(the_frame) + the_kernel->frame_bytes}, at) ||
           inside({uintptr_t(the_call), uintptr_t(the_call) + 16 * 8 + 24 * 16}, at);
}

MAT_UNCHECKED static bool in_order(const past_access &p, const past_access &now_) {
    if (p.block < 0 || (p.atomic && now_.atomic)) return true;
    if (p.block != now_.block) return false;
    if (p.thread == now_.thread || p.epoch != now_.epoch) return true;
    return p.thread / 32 == now_.thread / 32 && p.warp_epoch != now_.warp_epoch;
}

MAT_UNCHECKED static void race(const char *what, const past_access &p, bool shared, uintptr_t at) {
    fail("a race: %s thread %d of block %d, at byte %#llx of %s memory", what, p.thread, p.block,
         static_cast<unsigned long long>(at), shared ? "shared" : "global");
}

MAT_UNCHECKED static bool may_write_equal() {
    for (auto &row : EQUAL_WRITES)
        if (!strncmp(the_kernel->name, row[0], strlen(row[0]))) return true;
    return false;
}

// Note a byte that is written a second time, to be compared at the end of the launch.
MAT_UNCHECKED static void write_again(uintptr_t at) {
    if (second_count == second_room) {
        second_room = second_room ? 2 * second_room : 1024;
        second_writes = static_cast<second_write *>(
            realloc(second_writes, second_room * sizeof(second_write)));
    }
    second_writes[second_count++] = {at, *reinterpret_cast<unsigned char *>(at)};
}

MAT_UNCHECKED static void races_end_launch() {
    for (size_t k = 0; k < second_count; k++)
        if (*reinterpret_cast<unsigned char *>(second_writes[k].at) != second_writes[k].before)
            fail("a race: two blocks write different bytes at %#llx",
                 static_cast<unsigned long long>(second_writes[k].at));
    second_count = 0;
}

MAT_UNCHECKED static void check_byte(uintptr_t at, bool write, const past_access &a, bool shared) {
    cell &c = *cell_of(at);
    uint64_t life = shared ? block_life : launch_life;
    if (c.life != life) {
        c.life = life;
        c.write.block = c.reads[0].block = c.reads[1].block = -1;
    }
    if (write && !shared && !in_order(c.write, a) && c.write.block != a.block && may_write_equal())
        write_again(at);
    else if (!in_order(c.write, a))
        return race(write ? "a write after a write by" : "a read after a write by", c.write,
                    shared, at);
    for (int k = 0; write && k < 2; k++)
        if (!in_order(c.reads[k], a))
            return race("a write after a read by", c.reads[k], shared, at);
    if (write) {
        c.write = a;
        return;
    }
    bool first = c.reads[0].block < 0 || in_order(c.reads[0], a);
    c.reads[first ? 0 : 1] = a;
}

MAT_UNCHECKED static void accessed(uintptr_t at, unsigned bytes, bool write, bool atomic) {
    if (!watching || message[0]) return;
    bool shared = is_shared(at);
    if (!shared && is_private(at)) return;
    unsigned t = now->number;
    past_access a;
    a.block = running_block, a.thread = int16_t(t), a.atomic = atomic;
    a.epoch = block_epoch, a.warp_epoch = warp_epochs[t / 32];
    watching = false;
    for (unsigned k = 0; k < bytes; k++) check_byte(at + k, write, a, shared);
    watching = true;
}

MAT_UNCHECKED static void races_begin_launch() {
    if (!pages || pages_used > MOST_PAGES) {
        for (unsigned k = 0; pages && k < PAGES; k++) free(pages[k].cells);
        free(pages);
        pages = static_cast<shadow_page *>(calloc(PAGES, sizeof(shadow_page)));
        pages_used = 0;
    }
    Dl_info info;
    dladdr(reinterpret_cast<void *>(&races_begin_launch), &info);
    image = {uintptr_t(info.dli_fbase), uintptr_t(&_end)};
    launch_life = ++block_life;
    running_block = -1;
    shared_count = 0;
    watching = false;
}

MAT_UNCHECKED static void races_begin_block(char *dynamic, uint64_t bytes) {
    running_block++;
    block_life++;
    block_epoch = 0;
    memset(warp_epochs, 0, sizeof warp_epochs);
    if (!shared_count && bytes)
        shared_arrays[shared_count++] = {uintptr_t(dynamic), uintptr_t(dynamic) + bytes};
}

MAT_UNCHECKED static void races_shared(void *at, size_t bytes) {
    for (unsigned k = 0; k < shared_count; k++)
        if (shared_arrays[k].low == uintptr_t(at)) return;
    if (shared_count < 64)
        shared_arrays[shared_count++] = {uintptr_t(at), uintptr_t(at) + bytes};
}

MAT_UNCHECKED static void races_watch(bool on) { watching = on; }
MAT_UNCHECKED static void races_block_barrier() { block_epoch++; }
MAT_UNCHECKED static void races_warp_barrier(unsigned warp) { warp_epochs[warp]++; }

struct atomic_access {  // what is done within one is one atomic access
    atomic_access(const volatile void *at, unsigned bytes) {
        accessed(uintptr_t(at), bytes, true, true);
        was = watching;
        watching = false;
    }
    ~atomic_access() { watching = was; }
    bool was;
};

#else

static void races_begin_launch() {}
static void races_end_launch() {}
static void races_begin_block(char *, uint64_t) {}
inline void races_shared(void *, size_t) {}
static void races_watch(bool) {}
static void races_block_barrier() {}
static void races_warp_barrier(unsigned) {}
struct atomic_access {
    atomic_access(const volatile void *, unsigned) {}
};

#endif

}  // namespace on_cpu

#if defined(MAT_RACES)
#define MAT_CALL extern "C" MAT_UNCHECKED void
#define MAT_ACCESS(name, n, write) \
    MAT_CALL name(void *p) { on_cpu::accessed(uintptr_t(p), n, write, false); }
#define MAT_ACCESSES(n) \
    MAT_ACCESS(__tsan_read##n, n, false) \
    MAT_ACCESS(__tsan_write##n, n, true) \
    MAT_ACCESS(__tsan_unaligned_read##n, n, false) \
    MAT_ACCESS(__tsan_unaligned_write##n, n, true) \
    MAT_ACCESS(__tsan_volatile_read##n, n, false) \
    MAT_ACCESS(__tsan_volatile_write##n, n, true)
MAT_ACCESSES(1)
MAT_ACCESSES(2)
MAT_ACCESSES(4)
MAT_ACCESSES(8)
MAT_ACCESSES(16)
MAT_CALL __tsan_read_range(void *p, size_t n) {
    on_cpu::accessed(uintptr_t(p), unsigned(n), false, false);
}
MAT_CALL __tsan_write_range(void *p, size_t n) {
    on_cpu::accessed(uintptr_t(p), unsigned(n), true, false);
}
MAT_CALL __tsan_init() {}
MAT_CALL __tsan_func_entry(void *) {}
MAT_CALL __tsan_func_exit() {}
MAT_CALL __tsan_vptr_update(void **, void *) {}
MAT_CALL __tsan_vptr_read(void **) {}
#endif
#endif
