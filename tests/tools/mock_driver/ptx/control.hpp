/* Branches, barriers, and operations of warps. */
#ifndef MAT_PTX_CONTROL_HPP
#define MAT_PTX_CONTROL_HPP

#include "arithmetic.hpp"

namespace ptx {

inline void branch(const instruction &i, running &t) { t.next = uint32_t(i.offset); }
inline void branch_to_one_of(const instruction &i, running &t) {
    uint32_t k = get<uint32_t>(i, t, 0);
    if (k < i.targets.size()) t.next = i.targets[k];
    else stop(i, t, "the index %u", k);
}
inline void end_thread(const instruction &, running &t) {
    t.next = uint32_t(t.of->instructions.size());
}
inline void trap(const instruction &i, running &t) { stop(i, t, "a trap"); }
inline void nothing(const instruction &, running &) {}

inline bool is_barrier_0(const instruction &i, running &t, int k) {
    if (get<uint32_t>(i, t, k) == 0) return true;
    stop(i, t, "barriers but the first one are not known");
    return false;
}
inline void meet(const instruction &i, running &t) {
    if (is_barrier_0(i, t, 0)) on_cpu::meet_block(0);
}
template<char KIND> void meet_and_count(const instruction &i, running &t) {
    if (!is_barrier_0(i, t, 1)) return;
    bool p = get<bool>(i, t, 2);
    uint64_t n = on_cpu::meet_block(KIND == '&' ? !p : p);
    if (KIND == '+') put(i, t, 0, uint32_t(n));
    else put(i, t, 0, KIND == '&' ? n == 0 : n != 0);
}
inline void meet_warp(const instruction &i, running &t) {
    on_cpu::meet_warp(on_cpu::SYNC, get<uint32_t>(i, t, 0), 0, 0);
}

enum shuffle_mode { UP, DOWN, BUTTERFLY, INDEX };

// As the PTX ISA has it: c is the last lane of a segment, and, from bit 8 on, the bits of a lane's
// number that are those of its segment.
template<shuffle_mode M, int RESULTS> void shuffle(const instruction &i, running &t) {
    uint32_t b = get<uint32_t>(i, t, RESULTS + 1) & 31, c = get<uint32_t>(i, t, RESULTS + 2),
             mask = get<uint32_t>(i, t, RESULTS + 3), lane = on_cpu::now->number & 31,
             segment = c >> 8 & 31, clamp = c & 31,
             last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    int from = 0;
    bool is = false;
    switch (M) {
    case UP: from = int(lane) - int(b), is = from >= int(last); break;
    case DOWN: from = int(lane + b), is = from <= int(last); break;
    case BUTTERFLY: from = int(lane ^ b), is = from <= int(last); break;
    case INDEX: from = int(first | (b & ~segment)), is = from <= int(last); break;
    }
    if (!is) from = int(lane);
    uint64_t got = on_cpu::meet_warp(on_cpu::SHUFFLE, mask, get<uint32_t>(i, t, RESULTS),
                                     unsigned(from));
    if (got == on_cpu::UNDEFINED) return stop(i, t, "the lane %d takes no part", from);
    put(i, t, 0, uint32_t(got));
    if (RESULTS == 2) put(i, t, 1, is);
}

template<char KIND> void vote(const instruction &i, running &t) {
    bool p = get<bool>(i, t, 1);
    uint32_t mask = get<uint32_t>(i, t, 2),
             votes = uint32_t(on_cpu::meet_warp(on_cpu::BALLOT, mask, KIND == '&' ? !p : p, 0));
    if (KIND == '#') put(i, t, 0, votes);
    else put(i, t, 0, KIND == '&' ? votes == 0 : votes != 0);
}

template<on_cpu::warp_op OP> void combine(const instruction &i, running &t) {
    uint32_t value = get<uint32_t>(i, t, 1), mask = get<uint32_t>(i, t, 2);
    put(i, t, 0, uint32_t(on_cpu::meet_warp(OP, mask, value, 0)));
}

template<shuffle_mode M> void add_shuffle(const std::string &mode) {
    add("shfl.sync." + mode + ".b32", shuffle<M, 1>, 1, 4);
    add("shfl.sync." + mode + ".b32|", shuffle<M, 2>, 2, 4);
}

inline void add_control() {
    add("bra", branch, 0, 0, ".uni.");
    add("brx.idx", branch_to_one_of, 0, 1, ".uni.");
    add("ret", end_thread, 0, 0, ".uni."), add("exit", end_thread, 0, 0);
    add("trap", trap, 0, 0), add("nanosleep.u32", nothing, 0, 1);
    for (auto name : {"membar.gl", "membar.cta", "membar.sys", "membar", "fence", "fence.sc"})
        add(name, nothing, 0, 0, ".gpu.sys.cta.acq_rel.");
    for (auto name : {"bar", "barrier"}) {
        const std::string n = name;
        add(n + ".sync", meet, 0, 1, ".aligned.");
        add(n + ".red.or.pred", meet_and_count<'|'>, 1, 2, ".aligned.");
        add(n + ".red.and.pred", meet_and_count<'&'>, 1, 2, ".aligned.");
        add(n + ".red.popc.u32", meet_and_count<'+'>, 1, 2, ".aligned.");
    }
    add("bar.warp.sync", meet_warp, 0, 1);
    add_shuffle<UP>("up"), add_shuffle<DOWN>("down");
    add_shuffle<BUTTERFLY>("bfly"), add_shuffle<INDEX>("idx");
    add("vote.sync.any.pred", vote<'|'>, 1, 2), add("vote.sync.all.pred", vote<'&'>, 1, 2);
    add("vote.sync.ballot.b32", vote<'#'>, 1, 2);
    add("redux.sync.add.s32", combine<on_cpu::ADD>, 1, 2);
    add("redux.sync.add.u32", combine<on_cpu::ADD>, 1, 2);
    add("redux.sync.min.s32", combine<on_cpu::LEAST>, 1, 2);
    add("redux.sync.max.s32", combine<on_cpu::GREATEST>, 1, 2);
    add("redux.sync.min.u32", combine<on_cpu::ULEAST>, 1, 2);
    add("redux.sync.max.u32", combine<on_cpu::UGREATEST>, 1, 2);
    add("redux.sync.and.b32", combine<on_cpu::AND>, 1, 2);
    add("redux.sync.or.b32", combine<on_cpu::OR>, 1, 2);
    add("redux.sync.xor.b32", combine<on_cpu::XOR>, 1, 2);
}

}  // namespace ptx
#endif
