/* An interpreter of PTX on the CPU: what NVRTC makes of a program runs as the PTX ISA says.

   The threads of a block are fibres (fibres.hpp), so that barriers and operations of warps work as
   on a GPU. A thread interprets one instruction after the other; its registers, the numbers that
   the program names and the addresses of variables are an array of words.

   Found are instructions that are not known (when a program is read), misaligned accesses, accesses
   outside of the arrays and blocks, and what the fibres find. Not modelled: ptxas, which makes
   machine code of PTX and may contract products and sums without .rn; the accuracy of
   approximations; payloads of NaNs; caches, and the order of accesses of different threads. */

#include "calls.hpp"
#include "control.hpp"
#include "convert.hpp"
#include "memory.hpp"
#include "parse.hpp"

#define PTX_EXPORT extern "C" __attribute__((visibility("default")))

namespace ptx {

struct described : on_cpu::kernel {
    const code *of;
    const program *in;
};

struct loaded {
    program all;
    std::map<std::string, described> kernels;
};

static std::vector<word> room;     // the words of the fibres' threads
static std::vector<char> locals;   // their local memory

static void run_thread(const void *, const void *) {
    const code &of = *static_cast<const described *>(on_cpu::the_kernel)->of;
    const size_t fibre = size_t(on_cpu::now->on - on_cpu::fibres),
                 local = of.local + LOCAL_OF_CALLEES;
    running t = {};
    t.words = room.data() + fibre * of.words.size(), t.of = &of;
    t.local = t.all_local = locals.data() + fibre * local, t.local_end = t.local + local;
    begin(t);
    interpret(t);
}

static void add_all() {
    if (!forms().empty()) return;
    add_arithmetic(), add_conversions(), add_memory(), add_control(), add_calls();
}

static std::string problem;

}  // namespace ptx

using namespace ptx;

/* Read a program; null, with ptx_problem() saying why, if something in it is not known. */
PTX_EXPORT loaded *ptx_load(const char *text) {
    add_all();
    auto made = std::make_unique<loaded>();
    try {
        parser(made->all).read(text);
    } catch (const std::exception &error) {
        problem = error.what();
        return nullptr;
    }
    for (auto &[name, of] : made->all.kernels) {
        described &d = made->kernels[name];
        d.thread = run_thread, d.frame_bytes = of->parameters[0], d.threads = of->threads;
        d.name = of->name.c_str(), d.of = of.get(), d.in = &made->all;
    }
    return made.release();
}

PTX_EXPORT const char *ptx_problem() { return problem.c_str(); }

PTX_EXPORT const on_cpu::kernel *ptx_find(const loaded *in, const char *name) {
    auto found = in->kernels.find(name);
    return found == in->kernels.end() ? nullptr : &found->second;
}

/* Let programs reach only so many ranges of memory, each with its first address and the one after
   its end; none: what the mock driver says, or anything. */
PTX_EXPORT void ptx_ranges(const uint64_t *pairs, uint64_t count) {
    open_ranges.clear();
    for (uint64_t k = 0; k < count; k++) open_ranges.push_back({pairs[2 * k], pairs[2 * k + 1]});
    lately = {};
}

/* As on_cpu_run. */
PTX_EXPORT int ptx_run(const on_cpu::kernel *kernel, const unsigned *grid, const unsigned *block,
                       uint64_t shared, uint64_t seed, const void *frame, uint64_t frame_bytes,
                       const void *call) {
    auto &d = *static_cast<const described *>(kernel);
    const size_t threads = size_t(block[0]) * block[1] * block[2],
                 fibres = std::max<size_t>(std::min<size_t>(threads, on_cpu::MOST), on_cpu::made);
    room.resize(std::max(room.size(), fibres * d.of->words.size()));
    locals.resize(std::max(locals.size(), fibres * (d.of->local + LOCAL_OF_CALLEES)));
    lately = {};
    marked.clear();
    running_program = d.in;
    shared_bytes = d.of->shared + shared;
    return on_cpu_run(kernel, grid, block, shared_bytes, seed, frame, frame_bytes, call);
}

PTX_EXPORT const char *ptx_error() { return on_cpu::message; }
