/* Threads of a block as fibres: one runs until a barrier or a shuffle has it wait for others, then
   the next one does.

   A fibre whose thread ends goes on with a thread that has not begun, so kernels without barriers
   are a plain loop. */
#ifndef MAT_FIBRES_HPP
#define MAT_FIBRES_HPP

#include <stdarg.h>
#include <sys/mman.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x = 1, y = 1, z = 1; };

namespace on_cpu {

struct kernel {
    void (*thread)(const void *frame, const void *call);
    uint64_t frame_bytes, threads;
};

enum waiting { NOT_BEGUN, READY, AT_BLOCK, AT_WARP, ENDED };
enum warp_op { SYNC, SHUFFLE, BALLOT, ADD, LEAST, GREATEST, ULEAST, UGREATEST, AND, OR, XOR };
static const char *const names_of_ops[] = {
    "__syncwarp",        "a shuffle",         "a vote",
    "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync",
    "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync",
    "__reduce_or_sync",  "__reduce_xor_sync"};

struct fibre {
#if defined(__x86_64__)
    void *top;
#else
    ucontext_t context;
#endif
    char *stack;
    void *fake_stack;  // of AddressSanitizer
    bool begun;
};

struct thread {
    uint3 index;
    unsigned number;
    waiting state;
    fibre *on;
    warp_op op;
    unsigned mask, source;  // of the lanes that meet; the lane whose value is wanted
    uint64_t value, result;
};

static const unsigned MOST = 1024;
#if defined(__SANITIZE_ADDRESS__)
static const size_t STACK = 256 << 10;
#else
static const size_t STACK = 64 << 10;
#endif
static const uint64_t CANARY = 0x5ca1ab1e0ddba115u;
static const uint64_t UNDEFINED = 0xfbfbfbfbfbfbfbfbu;  // what a lane that takes no part gives

static thread threads[MOST], *now = threads;
static uint3 block_index;
static dim3 block_size, grid_size;
static char *dynamic_shared;
static uint64_t block_serial;
static unsigned char poison;
static unsigned order[MOST], count, begun, live, ready_first, ready_count, ready[MOST], at_block,
    tally;  // ready: a ring
static uint64_t random_state;
static bool shuffled, broken;
static const void *the_frame, *the_call;
static const kernel *the_kernel;
static fibre fibres[MOST], scheduler, *idle[MOST];
static unsigned made, idle_count;
static char message[512];

static uint64_t random_number() {
    random_state ^= random_state << 13, random_state ^= random_state >> 7,
        random_state ^= random_state << 17;
    return random_state;
}

__attribute__((format(printf, 1, 2))) static void fail(const char *format,
                                                       ...) {  // the first one counts
    if (message[0]) return;
    va_list values;
    va_start(values, format);
    int used = vsnprintf(message, sizeof message, format, values);
    va_end(values);
    if (used < 0 || size_t(used) >= sizeof message) return;
    snprintf(message + used, sizeof message - size_t(used), " (block %u,%u,%u thread %u,%u,%u)",
             block_index.x, block_index.y, block_index.z, now->index.x, now->index.y, now->index.z);
}

inline void poison_once(uint64_t &block, void *at, size_t bytes) {
    if (block == block_serial) return;
    block = block_serial;
    memset(at, poison, bytes);
}

// Switching

#if defined(__x86_64__)
extern "C" __attribute__((visibility("hidden"))) void on_cpu_switch(void **save, void *load);
asm(R"(
.text
.globl on_cpu_switch
.hidden on_cpu_switch
.type on_cpu_switch,@function
on_cpu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size on_cpu_switch,.-on_cpu_switch
)");
#endif

static void go(fibre *from, fibre *to) {
#if defined(__SANITIZE_ADDRESS__)
    static const void *home;
    static size_t home_size;
    __sanitizer_start_switch_fiber(&from->fake_stack, to == &scheduler ? home : to->stack,
                                   to == &scheduler ? home_size : STACK);
#endif
#if defined(__x86_64__)
    on_cpu_switch(&from->top, to->top);
#else
    swapcontext(&from->context, &to->context);
#endif
#if defined(__SANITIZE_ADDRESS__)
    if (from == &scheduler) __sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr);
    else __sanitizer_finish_switch_fiber(from->fake_stack, &home, &home_size);
#endif
}

static void begin_next(fibre *on);
static void ended();

static void life() {  // of a fibre: threads, one after the other, for ever
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
    for (;;) {
        fibre *self = now->on;
        the_kernel->thread(the_frame, the_call);
        ended();
        if (begun < count && !broken) {
            begin_next(self);
            continue;
        }
        idle[idle_count++] = self;
        go(self, &scheduler);
    }
}

static fibre *fresh_fibre() {
    if (idle_count) return idle[--idle_count];
    static char *stacks = nullptr;
    if (!stacks)
        stacks = static_cast<char *>(mmap(nullptr, STACK * MOST, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    fibre *f = &fibres[made];
    f->stack = stacks + STACK * made++;
    memcpy(f->stack, &CANARY, sizeof CANARY);
    f->begun = false;
    return f;
}

static void enter(fibre *f) {  // a fibre that has not run yet
    f->begun = true;
#if defined(__x86_64__)
    void **top = reinterpret_cast<void **>(f->stack + STACK);
    *--top = nullptr;
    *--top = reinterpret_cast<void *>(life);
    for (int k = 0; k < 6; k++) *--top = nullptr;
    f->top = top;
#else
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link = nullptr;
    makecontext(&f->context, life, 0);
#endif
}

// Waiting for others

static void now_ready(unsigned k) {
    threads[k].state = READY;
    ready[(ready_first + ready_count++) % MOST] = k;
}

static unsigned take_ready() {  // the first one; in shuffled order, any
    unsigned &first = ready[ready_first],
             at = shuffled ? unsigned(random_number() % ready_count) : 0;
    unsigned &chosen = ready[(ready_first + at) % MOST], k = chosen;
    chosen = first;
    ready_first = (ready_first + 1) % MOST;
    ready_count--;
    return k;
}

static void release_block() {
    if (at_block < live || live == 0) return;
    unsigned total = tally;
    at_block = tally = 0;
    for (unsigned k = 0; k < count; k++)
        if (threads[k].state == AT_BLOCK) {
            threads[k].result = total;
            now_ready(k);
        }
}

static uint64_t combined(warp_op op, const thread *warp, unsigned lanes) {
    uint32_t r = op == AND || op == ULEAST ? ~0u
                 : op == LEAST             ? 0x7fffffffu
                 : op == GREATEST          ? 0x80000000u
                                           : 0;
    for (unsigned k = 0; k < 32; k++) {
        if (!(lanes >> k & 1)) continue;
        uint32_t v = uint32_t(warp[k].value);
        switch (op) {
        case BALLOT: r |= uint32_t(v != 0) << k; break;
        case ADD: r += v; break;
        case LEAST: r = int32_t(v) < int32_t(r) ? v : r; break;
        case GREATEST: r = int32_t(v) > int32_t(r) ? v : r; break;
        case ULEAST: r = v < r ? v : r; break;
        case UGREATEST: r = v > r ? v : r; break;
        case AND: r &= v; break;
        case OR: r |= v; break;
        case XOR: r ^= v; break;
        default: break;
        }
    }
    return r;
}

static void
release_warp(unsigned first,
             unsigned mask) {  // if all that the mask names, and have not ended, are there
    thread *warp = threads + first;
    unsigned lanes = 0, width = count - first < 32 ? count - first : 32;
    const thread *some = nullptr;
    for (unsigned k = 0; k < width; k++) {
        if (!(mask >> k & 1) || warp[k].state == ENDED) continue;
        if (warp[k].state != AT_WARP || warp[k].mask != mask) return;
        if (some && warp[k].op != some->op)
            fail("lanes of one warp meet in %s and in %s", names_of_ops[some->op],
                 names_of_ops[warp[k].op]);
        some = &warp[k];
        lanes |= 1u << k;
    }
    if (!some) return;
    uint64_t total = some->op == SHUFFLE || some->op == SYNC ? 0 : combined(some->op, warp, lanes);
    for (unsigned k = 0; k < width; k++) {
        if (!(lanes >> k & 1)) continue;
        warp[k].result = some->op != SHUFFLE ? total
                         : warp[k].source < 32 && lanes >> warp[k].source & 1
                             ? warp[warp[k].source].value
                             : UNDEFINED;
        now_ready(first + k);
    }
}

static void ended() {
    thread *t = now;
    t->state = ENDED;
    live--;
    if (at_block) release_block();
    unsigned first = t->number & ~31u, bit = 1u << (t->number & 31);
    for (unsigned k = first; k < first + 32 && k < count; k++)
        if (threads[k].state == AT_WARP && threads[k].mask & bit)
            release_warp(first, threads[k].mask);
}

static void wait() {  // the state of the thread says for what
    thread *t = now;
    if (t->state == READY && ready_count == 1 && begun == count) {
        ready_count = 0;
        return;
    }
    go(t->on, &scheduler);
    now = t;
}

static uint64_t meet_block(uint64_t value) {
    thread *t = now;
    t->state = AT_BLOCK;
    at_block++;
    tally += unsigned(value);
    release_block();
    wait();
    return t->result;
}

static uint64_t meet_warp(warp_op op, unsigned mask, uint64_t value, unsigned source) {
    thread *t = now;
    unsigned lane = t->number & 31;
    if (!(mask >> lane & 1)) {
        fail("%s with the mask %08x, in which the lane %u itself is not", names_of_ops[op], mask,
             lane);
        mask |= 1u << lane;
    }
    t->state = AT_WARP, t->op = op, t->mask = mask, t->value = value, t->source = source;
    release_warp(t->number - lane, mask);
    wait();
    return t->result;
}

// A block and a grid

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
    run_grid(shared);
    return message[0] != 0;
}

extern "C" __attribute__((visibility("default"))) const char *on_cpu_error() {
    return on_cpu::message;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(MAT_NO_CHECKS)
/* What the compiler calls, under -fsanitize=alignment,bounds, where an access is misaligned or an
   array overrun: GPUs fault at the first and not at the second. */
namespace on_cpu {
struct place { const char *file; unsigned line, column; };
struct mismatch { place at; const void *type; unsigned char log_alignment, kind; };
struct overrun { place at; const void *array_type, *index_type; };
inline const char *short_name(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}
}
extern "C" __attribute__((visibility("hidden"), used))
void __ubsan_handle_type_mismatch_v1(on_cpu::mismatch *what, uintptr_t at) {
    on_cpu::fail("%s:%u: an access at %#llx, which is not a multiple of %u",
                 on_cpu::short_name(what->at.file), what->at.line,
                 static_cast<unsigned long long>(at), 1u << what->log_alignment);
}
extern "C" __attribute__((visibility("hidden"), used))
void __ubsan_handle_out_of_bounds(on_cpu::overrun *what, uintptr_t index) {
    on_cpu::fail("%s:%u: index %lld is outside of the array", on_cpu::short_name(what->at.file),
                 what->at.line, static_cast<long long>(int64_t(index)));
}
#endif
#endif
