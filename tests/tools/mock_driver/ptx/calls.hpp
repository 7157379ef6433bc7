/* Threads: their words, and the functions that they call. */
#ifndef MAT_PTX_CALLS_HPP
#define MAT_PTX_CALLS_HPP

#include "program.hpp"

namespace ptx {

static const uint64_t MOST_STEPS = uint64_t(1) << 32;
static const size_t LOCAL_OF_CALLEES = 4096;  // bytes

inline word value_of(const late_word &w, const running &t) {
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

inline void begin(running &t) {
    memcpy(t.words, t.of->words.data(), t.of->words.size() * sizeof(word));
    for (auto &w : t.of->late) t.words[w.at] = value_of(w, t);
}

inline void interpret(running &t) {
    const instruction *const all = t.of->instructions.data();
    const uint32_t end = uint32_t(t.of->instructions.size());
    uint64_t steps = 0;
    while (t.next < end) {
        const instruction &i = all[t.next++];
        if (i.guard && bool(t.words[i.guard] & 1) == i.negated) continue;
        i.run(i, t);
        if (++steps > MOST_STEPS) return stop(i, t, "it never ends");
    }
}

// A function gets the addresses of its results and parameters, which are in the caller's local
// memory.
inline void call_function(const instruction &i, running &t) {
    const code &of = *i.callee;
    if (size_t(i.offset) != of.formals.size())
        return stop(i, t, "%d operands, not %zu", int(i.offset), of.formals.size());
    std::vector<word> words(of.words.size());
    running inner = t;
    inner.words = words.data(), inner.next = 0, inner.of = &of;
    inner.local = t.local + t.of->local;
    if (inner.local + of.local > t.local_end) return stop(i, t, "functions need too much memory");
    begin(inner);
    for (size_t k = 0; k < of.formals.size(); k++) words[of.formals[k]] = t.words[i.at[k]];
    interpret(inner);
    if (inner.stopped) t.stopped = true, t.next = uint32_t(t.of->instructions.size());
}

inline void add_calls() { add("call", call_function, 0, 0); }

}  // namespace ptx
#endif
