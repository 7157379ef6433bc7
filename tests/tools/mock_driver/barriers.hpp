/* Barriers, shuffles, votes and reductions: threads of a block, or lanes of a warp, wait until the
   others arrive. */
#ifndef MAT_BARRIERS_HPP
#define MAT_BARRIERS_HPP

#include "fibres.hpp"

namespace on_cpu {

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
    races_block_barrier();
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

// Release the lanes that the mask names, if all of them that have not ended are there.
static void release_warp(unsigned first, unsigned mask) {
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
    if (some->op == SYNC) races_warp_barrier(first / 32);
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
    races_watch(false);
    t->state = AT_BLOCK;
    at_block++;
    tally += unsigned(value);
    release_block();
    wait();
    races_watch(true);
    return t->result;
}

static uint64_t meet_warp(warp_op op, unsigned mask, uint64_t value, unsigned source) {
    thread *t = now;
    races_watch(false);
    unsigned lane = t->number & 31;
    if (!(mask >> lane & 1)) {
        fail("%s with the mask %08x, in which the lane %u itself is not", names_of_ops[op], mask,
             lane);
        mask |= 1u << lane;
    }
    t->state = AT_WARP, t->op = op, t->mask = mask, t->value = value, t->source = source;
    release_warp(t->number - lane, mask);
    wait();
    races_watch(true);
    return t->result;
}

}  // namespace on_cpu
#endif
