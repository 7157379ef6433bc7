/* A launch: the blocks of a grid, one after the other. */
#ifndef MAT_GRID_HPP
#define MAT_GRID_HPP

#include "barriers.hpp"
#include "fibres.hpp"

namespace on_cpu {

static void begin_next(fibre *on) {
    unsigned k = order[begun++];
    now = &threads[k];
    now->on = on;
    now->state = READY;
}

static void stuck() {
    unsigned block = 0, warp = 0, lane = 0;
    for (unsigned k = 0; k < count; k++) {
        block += threads[k].state == AT_BLOCK;
        warp += threads[k].state == AT_WARP;
        if (threads[k].state == AT_WARP) lane = k;
    }
    now = &threads[lane];
    fail("a hang: %u threads wait at __syncthreads, %u for lanes of their warp that never come (%s "
         "with the mask %08x), %u ended",
         block, warp, warp ? names_of_ops[now->op] : "-", warp ? now->mask : 0, count - live);
    broken = true;
    made = idle_count = 0;  // the fibres that wait are given up
}

static void run_block() {
    begun = ready_first = ready_count = at_block = tally = 0;
    live = count;
    block_serial++;
    for (unsigned k = 0; k < count; k++) threads[k].state = NOT_BEGUN;
    for (unsigned k = count - 1; shuffled && k > 0; k--) {
        unsigned j = unsigned(random_number() % (k + 1)), old = order[k];
        order[k] = order[j], order[j] = old;
    }
    while (live && !broken) {
        bool begin = begun < count && (!shuffled || !ready_count || random_number() % 2);
        if (begin) {
            fibre *f = fresh_fibre();
            begin_next(f);
            if (!f->begun) enter(f);
            go(&scheduler, f);
            continue;
        }
        if (!ready_count) return stuck();
        now = &threads[take_ready()];
        go(&scheduler, now->on);
    }
}

static bool possible(const unsigned *grid, const unsigned *block, uint64_t shared) {
    uint64_t size = uint64_t(block[0]) * block[1] * block[2];
    if (size == 0 || size > MOST || block[2] > 64)
        fail("a block of %u x %u x %u threads", block[0], block[1], block[2]);
    else if (size > the_kernel->threads)
        fail("a block of %u threads of a kernel for at most %u", unsigned(size),
             unsigned(the_kernel->threads));
    else if (!grid[0] || !grid[1] || !grid[2] || grid[0] > 0x7fffffffu || grid[1] > 65535 ||
             grid[2] > 65535)
        fail("a grid of %u x %u x %u blocks", grid[0], grid[1], grid[2]);
    else if (shared > 232448)
        fail("%llu bytes of shared memory", static_cast<unsigned long long>(shared));
    return !message[0];
}

static void prepare_threads(const unsigned *block, uint64_t seed) {
    shuffled = seed != 0;
    random_state = seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du;
    poison = seed % 2 ? 0x7b : 0xff;  // large numbers or NaNs
    count = block[0] * block[1] * block[2];
    for (unsigned k = 0; k < count; k++) {
        order[k] = k;
        threads[k].number = k;
        threads[k].index = {k % block[0], k / block[0] % block[1], k / block[0] / block[1]};
    }
    now = threads;
}

static void run_grid(uint64_t shared) {
#if defined(__SANITIZE_ADDRESS__)
    static const size_t GUARD = 0;  // it has red zones of its own
#else
    static const size_t GUARD = 64;
#endif
    char *room = static_cast<char *>(malloc(shared + GUARD));
    dynamic_shared = room;
    memset(room + shared, 0x5a, GUARD);
    uint64_t blocks = uint64_t(grid_size.x) * grid_size.y * grid_size.z,
             shift = shuffled ? random_number() % blocks : 0;
    for (uint64_t k = 0; k < blocks && !broken; k++) {  // shuffled: from somewhere on, backwards
        uint64_t b = shuffled ? (blocks + shift - k) % blocks : k;
        block_index = {unsigned(b % grid_size.x), unsigned(b / grid_size.x % grid_size.y),
                       unsigned(b / grid_size.x / grid_size.y)};
        memset(room, poison, shared);
        races_begin_block(room, shared);
        run_block();
        for (size_t j = 0; j < GUARD; j++)
            if (room[shared + j] != 0x5a)
                fail("a write %zu bytes behind the dynamic shared memory", j);
    }
    for (unsigned k = 0; k < made; k++)
        if (memcmp(fibres[k].stack, &CANARY, sizeof CANARY))
            fail("a thread used more than %zu bytes of stack", STACK);
    free(room);
}

}  // namespace on_cpu

/* Runs a kernel; 0, or 1 with on_cpu_error() saying what was wrong. Not to be called from two
   threads at once. */
extern "C" __attribute__((visibility("default"))) int
on_cpu_run(const on_cpu::kernel *kernel, const unsigned *grid, const unsigned *block,
           uint64_t shared, uint64_t seed, const void *frame, uint64_t frame_bytes,
           const void *call) {
    using namespace on_cpu;
    message[0] = 0;
    broken = false;
    the_kernel = kernel, the_frame = frame, the_call = call;
    if (frame_bytes != kernel->frame_bytes)
        fail("a frame of %llu bytes for a kernel that has one of %llu",
             static_cast<unsigned long long>(frame_bytes),
             static_cast<unsigned long long>(kernel->frame_bytes));
    if (message[0] || !possible(grid, block, shared)) return 1;
    grid_size = {grid[0], grid[1], grid[2]};
    block_size = {block[0], block[1], block[2]};
    prepare_threads(block, seed);
    races_begin_launch();
    run_grid(shared);
    races_end_launch();
    return message[0] != 0;
}

extern "C" __attribute__((visibility("default"))) const char *on_cpu_error() {
    return on_cpu::message;
}
#endif
