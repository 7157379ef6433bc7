/* The threads of a block as fibres: one runs until it waits at a barrier or a shuffle
   (barriers.hpp), then the next one does (grid.hpp).

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
    const char *name;
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

// Note what went wrong; the first message is kept.
__attribute__((format(printf, 1, 2))) static void fail(const char *format, ...) {
    if (message[0]) return;
    va_list values;
    va_start(values, format);
    int used = vsnprintf(message, sizeof message, format, values);
    va_end(values);
    if (used < 0 || size_t(used) >= sizeof message) return;
    snprintf(message + used, sizeof message - size_t(used), " (block %u,%u,%u thread %u,%u,%u)",
             block_index.x, block_index.y, block_index.z, now->index.x, now->index.y, now->index.z);
}

}  // namespace on_cpu
#include "races.hpp"
namespace on_cpu {

inline void poison_once(uint64_t &block, void *at, size_t bytes) {
    if (block == block_serial) return;
    races_shared(at, bytes);
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

#if defined(__SANITIZE_ADDRESS__)
static const void *home;  // the stack of the scheduler
static size_t home_size;
#endif

static void go(fibre *from, fibre *to) {
#if defined(__SANITIZE_ADDRESS__)
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

static void begin_next(fibre *on);  // in grid.hpp
static void ended();                // in barriers.hpp

static void life() {  // of a fibre: threads, one after the other, for ever
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &home, &home_size);
#endif
    for (;;) {
        fibre *self = now->on;
        races_watch(true);
        the_kernel->thread(the_frame, the_call);
        races_watch(false);
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

}  // namespace on_cpu
#endif
