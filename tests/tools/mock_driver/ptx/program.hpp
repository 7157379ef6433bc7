/* A program in PTX as the interpreter has it: instructions whose operands are places in the words
   of a thread. */
#ifndef MAT_PTX_PROGRAM_HPP
#define MAT_PTX_PROGRAM_HPP

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "../grid.hpp"

namespace ptx {

typedef uint64_t word;
struct instruction;
struct code;

struct running {  // a thread
    word *words;
    uint32_t next;  // the instruction after this one
    char *local;    // memory of the function's own
    const code *of;
    char *all_local, *local_end;  // memory of the thread's own
    bool stopped, carry;
};

typedef void (*handler)(const instruction &, running &);

struct instruction {
    handler run = nullptr;
    uint32_t at[7] = {};  // the operands' places, results first
    uint32_t guard = 0;   // the place of the predicate under which it is done; 0: always
    bool negated = false;
    bool flushes = false, saturates = false, special = false;  // .ftz, .sat; any of the three
    bool read_only = false, integral = false;  // .nc; .rni and the like
    int rounding = 0;       // of fesetround; 0 is to nearest
    int64_t offset = 0;  // of an address; the target of a branch
    uint32_t line = 0;
    std::vector<uint32_t> targets;  // of brx.idx
    const code *callee = nullptr;
};

enum special_register {
    TID_X, TID_Y, TID_Z, NTID_X, NTID_Y, NTID_Z, CTAID_X, CTAID_Y, CTAID_Z, NCTAID_X, NCTAID_Y,
    NCTAID_Z, LANE, WARP, WARPS, LANES_EQ, LANES_LT, LANES_LE, LANES_GT, LANES_GE, CLOCK,
    PARAMETER_0, PARAMETER_1, IN_LOCAL
};

struct late_word { uint32_t at; special_register of; uint64_t offset; };

struct array { std::string name; uint64_t low, bytes; };  // in shared memory

struct code {  // a kernel, or a function that it calls
    std::string name;
    bool reads_only = false;  // some memory, by .nc
    uint64_t parameters[2] = {}, threads = on_cpu::MOST, shared = 0, local = 0;
    std::vector<instruction> instructions;
    std::vector<word> words;       // as a thread begins with them
    std::vector<late_word> late;   // which differ from thread to thread
    std::vector<array> arrays;
    std::vector<uint32_t> formals;  // of a function: places of the addresses that it is given
    const std::vector<std::string> *lines = nullptr;
};

struct program {
    std::vector<std::string> lines;
    std::map<std::string, std::unique_ptr<code>> kernels, functions;
    std::map<std::string, std::vector<char>> variables;  // in global memory
};

struct form {
    handler run;
    int results, sources;    // how many
    const char *modifiers;   // allowed ones, with dots before and after
};

// All forms of instructions, by their names without modifiers.
inline std::unordered_map<std::string, form> &forms() {
    static std::unordered_map<std::string, form> all;
    return all;
}

inline void add(const std::string &name, handler run, int results, int sources,
                const char *modifiers = "") {
    forms()[name] = {run, results, sources, modifiers};
}

// Floats of 16 bits, and no type (.pred has bool)
struct f16 { uint16_t bits; };
struct bf16 { uint16_t bits; };

template<class T> inline T as(word w) {
    T value;
    memcpy(&value, &w, sizeof value);
    return value;
}
template<> inline bool as<bool>(word w) { return w & 1; }

template<class T> inline word word_of(T value) {
    if constexpr (std::is_integral<T>::value && std::is_signed<T>::value) {
        return word(int64_t(value));
    } else {
        word w = 0;
        memcpy(&w, &value, sizeof value);
        return w;
    }
}

template<class T> inline T get(const instruction &i, const running &t, int k) {
    return as<T>(t.words[i.at[k]]);
}

template<class T> inline void put(const instruction &i, running &t, int k, T value) {
    t.words[i.at[k]] = word_of(value);
}

// Note what went wrong, and end the thread.
__attribute__((format(printf, 3, 4))) inline void stop(const instruction &i, running &t,
                                                       const char *format, ...) {
    char text[200];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    on_cpu::fail("line %u of the PTX, '%.120s': %s", i.line,
                 t.of->lines->at(i.line - 1).c_str(), text);
    t.next = uint32_t(t.of->instructions.size() - 1);  // ret
    t.stopped = true;
}

}  // namespace ptx
#endif
