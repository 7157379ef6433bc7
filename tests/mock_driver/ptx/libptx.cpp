/* An interpreter of PTX on the CPU: what NVRTC makes of a program runs as the PTX ISA says.

   The threads of a block are fibres (fibres.hpp), so that barriers and operations of warps work as
   on a GPU. A thread interprets one instruction after the other; its registers, the numbers that
   the program names and the addresses of variables are an array of words.

   Found are instructions that are not known (when a program is read), misaligned accesses, accesses
   outside of the arrays and blocks, and what the fibres find. Not modelled: ptxas, which makes
   machine code of PTX and may contract products and sums without .rn; the accuracy of
   approximations; payloads of NaNs; caches, and the order of accesses of different threads. */

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
static const uint64_t MOST_STEPS = uint64_t(1) << 32;

static word value_of(const late_word &w, const running &t) {
    using namespace on_cpu;
    const unsigned n = now->number, lane = n & 31, bit = 1u << lane;
    const unsigned tid[] = {now->index.x, now->index.y, now->index.z,
                            block_size.x, block_size.y, block_size.z,
                            block_index.x, block_index.y, block_index.z,
                            grid_size.x, grid_size.y, grid_size.z};
    switch (w.of) {
    case LANE: return lane;
    case WARP: return n / 32;
    case WARPS: return (count + 31) / 32;
    case LANES_EQ: return bit;
    case LANES_LT: return bit - 1;
    case LANES_LE: return bit | (bit - 1);
    case LANES_GT: return ~(bit | (bit - 1));
    case LANES_GE: return ~(bit - 1);
    case PARAMETER_0: return word(uintptr_t(the_frame));
    case PARAMETER_1: return word(uintptr_t(the_call));
    case IN_LOCAL: return word(uintptr_t(t.local)) + w.offset;
    default: return tid[w.of];
    }
}

static void run_thread(const void *, const void *) {
    const code &of = *static_cast<const described *>(on_cpu::the_kernel)->of;
    const size_t fibre = size_t(on_cpu::now->on - on_cpu::fibres);
    running t = {room.data() + fibre * of.words.size(), 0, locals.data() + fibre * of.local, &of};
    memcpy(t.words, of.words.data(), of.words.size() * sizeof(word));
    for (auto &w : of.late) t.words[w.at] = value_of(w, t);
    const uint32_t end = uint32_t(of.instructions.size());
    uint64_t steps = 0;
    while (t.next < end) {
        const instruction &i = of.instructions[t.next++];
        if (i.guard && bool(t.words[i.guard] & 1) == i.negated) continue;
        i.run(i, t);
        if (++steps > MOST_STEPS) return stop(i, t, "it never ends");
    }
}

static void add_all() {
    if (!forms().empty()) return;
    add_arithmetic(), add_conversions(), add_memory(), add_control();
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
    locals.resize(std::max(locals.size(), fibres * d.of->local));
    lately = {};
    running_program = d.in;
    shared_bytes = d.of->shared + shared;
    return on_cpu_run(kernel, grid, block, shared_bytes, seed, frame, frame_bytes, call);
}

PTX_EXPORT const char *ptx_error() { return on_cpu::message; }
