/* Loads, stores and atomics. Misaligned ones are faults, as on a device; so are those outside of
   shared arrays and, where the mock driver runs, of its blocks. */
#ifndef MAT_PTX_MEMORY_HPP
#define MAT_PTX_MEMORY_HPP

#include <dlfcn.h>

#include "arithmetic.hpp"
#include "read_only.hpp"

namespace ptx {

enum space { GENERIC, GLOBAL, SHARED, LOCAL, PARAMETERS };

struct range { uintptr_t low = 0, high = 0; };
static range lately;             // in which the last access was
static std::vector<range> open_ranges;  // where a program may read and write; none: anywhere
static uint64_t shared_bytes;    // of a block
static const program *running_program;

inline bool inside(const range &r, uintptr_t at, unsigned bytes) {
    return at >= r.low && at + bytes <= r.high;
}

inline bool in_variable(uintptr_t at, unsigned bytes) {
    for (auto &[name, data] : running_program->variables)
        if (inside({uintptr_t(data.data()), uintptr_t(data.data()) + data.size()}, at, bytes))
            return true;
    return false;
}

inline bool is_open(uintptr_t at, unsigned bytes) {
    if (inside(lately, at, bytes) || in_variable(at, bytes)) return true;
    static auto ask = reinterpret_cast<int (*)(uint64_t, uint64_t *, uint64_t *)>(
        dlsym(RTLD_DEFAULT, "mock_range"));
    for (auto &r : open_ranges)
        if (inside(r, at, bytes)) return lately = r, true;
    if (!open_ranges.empty() || !ask) return open_ranges.empty();
    uint64_t low = 0, high = 0;
    if (!ask(at, &low, &high)) return false;
    lately = {low, high};
    return inside(lately, at, bytes);
}

inline bool in_array(const code &of, uint64_t at, unsigned bytes) {
    for (auto &a : of.arrays)
        if (inside({a.low, a.bytes ? a.low + a.bytes : shared_bytes}, at, bytes)) return true;
    return false;
}

inline bool is_shared(uintptr_t at) {
    return at - uintptr_t(on_cpu::dynamic_shared) < shared_bytes;
}

template<space S> inline bool may_reach(const running &t, uintptr_t at, unsigned bytes) {
    uintptr_t frame = uintptr_t(on_cpu::the_frame), call = uintptr_t(on_cpu::the_call);
    bool own = inside({uintptr_t(t.all_local), uintptr_t(t.local) + t.of->local}, at, bytes),
         given = inside({frame, frame + t.of->parameters[0]}, at, bytes) ||
                 inside({call, call + t.of->parameters[1]}, at, bytes);
    switch (S) {
    case LOCAL: return own;
    case PARAMETERS: return own || given;  // of a function: in local memory
    case GENERIC: return own || given || is_open(at, bytes);
    default: return is_open(at, bytes);
    }
}

// Return where an access goes, or null after a fault.
template<space S> inline char *reach(const instruction &i, running &t, int k, unsigned bytes) {
    word at = t.words[i.at[k]] + word(i.offset);
    if (at % bytes) {
        stop(i, t, "%u bytes at %#llx, which is no multiple", bytes, (unsigned long long)at);
        return nullptr;
    }
    bool shared = S == SHARED || (S == GENERIC && is_shared(at));
    if (S == GENERIC && shared) at -= uintptr_t(on_cpu::dynamic_shared);
    if (shared) at &= 0xffffffff;  // addresses in it have 32 bits
    if (!(shared ? in_array(*t.of, at, bytes) : may_reach<S>(t, at, bytes))) {
        stop(i, t, "%u bytes at %#llx, where no %s is", bytes, (unsigned long long)at,
             shared ? "shared array" : "memory of the device");
        return nullptr;
    }
    return shared ? on_cpu::dynamic_shared + at : reinterpret_cast<char *>(at);
}

template<space S, class T, int N> void load(const instruction &i, running &t) {
    const char *from = reach<S>(i, t, N, N * sizeof(T));
    T values[N];
    if (!from) return;
    if (i.read_only && is_read_and_written(uintptr_t(from), sizeof values, false))
        return stop(i, t, "what .nc reads was written in this launch");
    memcpy(values, from, sizeof values);
    for (int k = 0; k < N; k++) put(i, t, k, values[k]);
}

template<space S, class T, int N> void store(const instruction &i, running &t) {
    char *to = reach<S>(i, t, 0, N * sizeof(T));
    T values[N];
    if (!to) return;
    if ((S == GLOBAL || S == GENERIC) && t.of->reads_only &&
        is_read_and_written(uintptr_t(to), sizeof values, true))
        return stop(i, t, "what is written was read by .nc in this launch");
    for (int k = 0; k < N; k++) values[k] = get<T>(i, t, k + 1);
    memcpy(to, values, sizeof values);
}

static const char *const HINTS =
    ".nc.ca.cg.cs.lu.cv.wb.wt.volatile.weak.relaxed.acquire.release.acq_rel.gpu.sys.cta."
    "L1::no_allocate.L1::evict_first.L1::evict_last.L2::64B.L2::128B.L2::256B.";

template<space S, class T, int N>
void add_accesses(const std::string &in, const std::string &vector, const std::string &type) {
    add("ld" + in + vector + type, load<S, T, N>, N, 1, HINTS);
    add("st" + in + vector + type, store<S, T, N>, 0, N + 1, HINTS);
}

template<space S, class T> void add_accesses_of(const std::string &in, const std::string &type) {
    add_accesses<S, T, 1>(in, "", type);
    add_accesses<S, T, 2>(in, ".v2", type);
    if constexpr (sizeof(T) <= 4) add_accesses<S, T, 4>(in, ".v4", type);
}

template<space S> void add_accesses_in(const std::string &in) {
    add_accesses_of<S, int8_t>(in, ".s8"), add_accesses_of<S, int16_t>(in, ".s16");
    add_accesses_of<S, int32_t>(in, ".s32"), add_accesses_of<S, int64_t>(in, ".s64");
    for (auto kind : {".u", ".b"}) {
        add_accesses_of<S, uint8_t>(in, std::string(kind) + "8");
        add_accesses_of<S, uint16_t>(in, std::string(kind) + "16");
        add_accesses_of<S, uint32_t>(in, std::string(kind) + "32");
        add_accesses_of<S, uint64_t>(in, std::string(kind) + "64");
    }
    add_accesses_of<S, float>(in, ".f32"), add_accesses_of<S, double>(in, ".f64");
}

// Atomics: threads take turns, so that each is as one

MAT_OPERATION(replaced, b)
MAT_OPERATION(replaced_if, a == b ? c : a)
MAT_OPERATION(counted_up, a >= b ? T(0) : T(a + 1))
MAT_OPERATION(counted_down, a == T(0) || a > b ? b : T(a - 1))

template<space S, class T, class Of, int N, int RESULTS>
void atomic(const instruction &i, running &t) {
    char *at = reach<S>(i, t, RESULTS, sizeof(T));
    if (!at) return;
    T old, b = get<T>(i, t, RESULTS + 1), c = N > 1 ? get<T>(i, t, RESULTS + 2) : T();
    memcpy(&old, at, sizeof old);
    T made;
    if constexpr (is_float<T> || !std::is_same<Of, plus>::value) made = Of::of(old, b, c);
    else made = T(word(old) + word(b));
    made = canonical(made);
    memcpy(at, &made, sizeof made);
    if (RESULTS) put(i, t, 0, old);
}

template<space S, class T, class Of, int N = 1>
void add_atomic(const std::string &in, const std::string &operation, const std::string &type) {
    add("atom" + in + operation + type, atomic<S, T, Of, N, 1>, 1, N + 1, HINTS);
    add("red" + in + operation + type, atomic<S, T, Of, N, 0>, 0, N + 1, HINTS);
}

template<space S, class T> void add_integer_atomics(const std::string &in) {
    const std::string type = std::string(".") + name<T>::of;
    add_atomic<S, T, plus>(in, ".add", type);
    add_atomic<S, T, least>(in, ".min", type);
    add_atomic<S, T, greatest>(in, ".max", type);
}

template<space S, class T> void add_bit_atomics(const std::string &in, const std::string &type) {
    add_atomic<S, T, both>(in, ".and", type);
    add_atomic<S, T, either>(in, ".or", type);
    add_atomic<S, T, one_of>(in, ".xor", type);
    add_atomic<S, T, replaced>(in, ".exch", type);
    add_atomic<S, T, replaced_if, 2>(in, ".cas", type);
}

template<space S> void add_atomics_in(const std::string &in) {
    add_integer_atomics<S, int32_t>(in), add_integer_atomics<S, uint32_t>(in);
    add_integer_atomics<S, int64_t>(in), add_integer_atomics<S, uint64_t>(in);
    add_bit_atomics<S, uint32_t>(in, ".b32"), add_bit_atomics<S, uint64_t>(in, ".b64");
    add_atomic<S, uint32_t, counted_up>(in, ".inc", ".u32");
    add_atomic<S, uint32_t, counted_down>(in, ".dec", ".u32");
    add_atomic<S, float, plus>(in, ".add", ".f32");
    add_atomic<S, double, plus>(in, ".add", ".f64");
}

// Addresses of spaces and generic ones: only those of shared memory differ

template<bool TO_GENERIC> void convert_shared_address(const instruction &i, running &t) {
    word base = word(uintptr_t(on_cpu::dynamic_shared)), at = t.words[i.at[1]];
    put(i, t, 0, TO_GENERIC ? (at & 0xffffffff) + base : at - base);
}

inline void add_memory() {
    add_accesses_in<GENERIC>(""), add_accesses_in<GLOBAL>(".global");
    add_accesses_in<GLOBAL>(".const"), add_accesses_in<SHARED>(".shared");
    add_accesses_in<LOCAL>(".local"), add_accesses_in<PARAMETERS>(".param");
    add_atomics_in<GENERIC>(""), add_atomics_in<GLOBAL>(".global");
    add_atomics_in<SHARED>(".shared");
    add("cvta.shared.u64", convert_shared_address<true>, 1, 1);
    add("cvta.to.shared.u64", convert_shared_address<false>, 1, 1);
    for (auto in : {"global", "local", "const", "param"})
        for (auto to : {"cvta.", "cvta.to."})
            add(std::string(to) + in + ".u64", move<uint64_t>, 1, 1);
}

}  // namespace ptx
#endif
