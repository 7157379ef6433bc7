/* Words of PTX, and what it declares: variables, shared arrays, and names of registers. */
#ifndef MAT_PTX_DECLARE_HPP
#define MAT_PTX_DECLARE_HPP

#include "program.hpp"

namespace ptx {

typedef std::vector<std::string> tokens;

static const std::map<std::string, uint64_t> SIZES = {
    {".b8", 1}, {".u8", 1}, {".s8", 1}, {".b16", 2}, {".u16", 2}, {".s16", 2}, {".f16", 2},
    {".b32", 4}, {".u32", 4}, {".s32", 4}, {".f32", 4}, {".b64", 8}, {".u64", 8}, {".s64", 8},
    {".f64", 8}};

inline tokens split(const std::string &text, char at) {
    tokens parts(1);
    for (char c : text)
        if (c == at) parts.emplace_back();
        else parts.back() += c;
    return parts;
}

inline tokens words_of(const std::string &text) {
    static const std::string APART = ",()[]{};|+=<>:!";
    tokens found;
    std::string word;
    auto end = [&] { if (!word.empty()) found.push_back(word), word.clear(); };
    for (size_t k = 0; k < text.size(); k++) {
        char c = text[k], after = k + 1 < text.size() ? text[k + 1] : ' ';
        if (c == '/' && after == '/') break;
        bool of_name = c == ':' && (after == ':' || (k && text[k - 1] == ':'));  // .L2::128B
        if (isspace(static_cast<unsigned char>(c))) end();
        else if (APART.find(c) != std::string::npos && !of_name) end(), found.push_back({c});
        else word += c;
    }
    end();
    return found;
}

[[noreturn]] inline void wrong(const std::string &what) { throw std::runtime_error(what); }

// A number, negative or of a float's bits.
inline word number_of(const std::string &text) {
    if (text.size() > 2 && text[0] == '0' && (text[1] == 'f' || text[1] == 'd'))
        return strtoull(text.c_str() + 2, nullptr, 16);
    char *end = nullptr;
    bool negative = text[0] == '-';
    word value = strtoull(text.c_str() + negative, &end, 0);
    if (*end == 'U') end++;
    if (end == text.c_str() + negative || *end) wrong(text + " is no number");
    return negative ? word(0) - value : value;
}

class declarations {
  public:
    explicit declarations(program &made) : all(made) {}

  protected:
    program &all;
    code *now = nullptr;
    size_t number = 0;  // of the line
    int depth = 0;      // of braces
    std::map<std::string, uint32_t> places;      // of names
    std::map<word, uint32_t> constants;          // their places
    std::map<std::string, std::string> aliases;  // registers of inner braces
    std::map<std::string, uint64_t> local_at;
    std::map<std::string, uint64_t> dynamic;     // arrays of shared memory without a size
    std::vector<array> outer;                    // arrays of shared memory of all kernels

    // Braces have registers of their own.
    void declare_registers(const tokens &w) {
        if (w.size() < 3) wrong("a register without a name");
        for (size_t k = 2; k < w.size() && depth > 1; k++)
            if (w[k] != ",") aliases[w[k]] = w[k] + "@" + std::to_string(number);
    }

    void declare_variable(const tokens &w) {
        std::string space;
        uint64_t alignment = 1, size = 0, count = 1;
        size_t k = 0;
        for (; k < w.size() && w[k][0] == '.'; k++) {
            if (w[k] == ".align") alignment = number_of(w.at(++k));
            else if (SIZES.count(w[k])) size = SIZES.at(w[k]);
            else if (w[k] != ".extern" && w[k] != ".visible" && w[k] != ".weak") space = w[k];
        }
        if (!size) wrong("no type");
        std::string name = w.at(k++);
        if (space == ".param") {  // of a call, in braces of its own
            aliases[name] = name + "@" + std::to_string(number);
            name = aliases[name], space = ".local";
        }
        if (k < w.size() && w[k] == "[") {
            bool open = w.at(k + 1) == "]";
            count = open ? 0 : number_of(w[k + 1]);
            k += open ? 2 : 3;
        }
        alignment = std::max(alignment, size);
        if (space == ".shared") declare_shared(name, alignment, size * count);
        else if (space == ".local") declare_local(name, alignment, size * count);
        else if (space == ".global" || space == ".const") declare_global(name, w, k, size, count);
        else wrong("no variable can be " + space);
    }

    static uint64_t aligned(uint64_t at, uint64_t alignment) {
        return (at + alignment - 1) / alignment * alignment;
    }

    void declare_shared(const std::string &name, uint64_t alignment, uint64_t bytes) {
        if (!bytes) {
            dynamic[name] = alignment;
            return;
        }
        auto &arrays = now ? now->arrays : outer;
        uint64_t low = aligned(arrays.empty() ? 0 : arrays.back().low + arrays.back().bytes,
                               alignment);
        arrays.push_back({name, low, bytes});
        if (now) now->shared = low + bytes;
    }

    void declare_local(const std::string &name, uint64_t alignment, uint64_t bytes) {
        local_at[name] = aligned(now->local, alignment);
        now->local = local_at[name] + bytes;
    }

    void declare_global(const std::string &name, const tokens &w, size_t k, uint64_t size,
                        uint64_t count) {
        std::vector<char> &data = all.variables[name];
        data.assign(size * count, 0);
        uint64_t done = 0;
        for (; k < w.size(); k++) {
            if (strchr("={},", w[k][0])) continue;
            word value = number_of(w[k]);
            if (done >= count) wrong("more values than the variable has room for");
            memcpy(data.data() + size * done++, &value, size);
        }
    }

    // Return the place of a register, a number or the address of a variable.
    uint32_t place_of(const std::string &given) {
        auto alias = aliases.find(given);
        const std::string &name = alias == aliases.end() ? given : alias->second;
        auto found = places.find(name);
        if (found != places.end()) return found->second;
        static const word UNSET = 0xbad0bad1bad2bad3u;
        if (name == "_") return 0;
        if (name[0] == '%') return places[name] = register_place(name, UNSET);
        if (name.find('@') != std::string::npos) return places[name] = variable_place(name);
        if (isdigit(static_cast<unsigned char>(name[0])) || name[0] == '-')
            return constant(number_of(name));
        return places[name] = variable_place(name);
    }

    uint32_t new_place(word value) {
        now->words.push_back(value);
        return uint32_t(now->words.size() - 1);
    }

    uint32_t constant(word value) {
        auto found = constants.find(value);
        return found != constants.end() ? found->second : constants[value] = new_place(value);
    }

    uint32_t late_place(special_register of, uint64_t offset = 0) {
        uint32_t at = new_place(0);
        now->late.push_back({at, of, offset});
        return at;
    }

    uint32_t register_place(const std::string &name, word unset) {
        static const std::map<std::string, special_register> SPECIAL = {
            {"%tid.x", TID_X}, {"%tid.y", TID_Y}, {"%tid.z", TID_Z},
            {"%ntid.x", NTID_X}, {"%ntid.y", NTID_Y}, {"%ntid.z", NTID_Z},
            {"%ctaid.x", CTAID_X}, {"%ctaid.y", CTAID_Y}, {"%ctaid.z", CTAID_Z},
            {"%nctaid.x", NCTAID_X}, {"%nctaid.y", NCTAID_Y}, {"%nctaid.z", NCTAID_Z},
            {"%laneid", LANE}, {"%warpid", WARP}, {"%nwarpid", WARPS},
            {"%lanemask_eq", LANES_EQ}, {"%lanemask_lt", LANES_LT}, {"%lanemask_le", LANES_LE},
            {"%lanemask_gt", LANES_GT}, {"%lanemask_ge", LANES_GE}};
        auto special = SPECIAL.find(name);
        if (special != SPECIAL.end()) return late_place(special->second);
        size_t letters = name.find_first_of("0123456789@");
        if (letters == std::string::npos && name != "%SP" && name != "%SPL")
            wrong("no register can be " + name);
        return new_place(unset);
    }

    uint32_t variable_place(const std::string &name) {
        for (auto &a : now->arrays)
            if (a.name == name) return constant(a.low);
        if (dynamic.count(name)) {
            uint64_t low = aligned(now->shared, dynamic[name]);
            now->arrays.push_back({name, low, 0});
            now->shared = low;
            return constant(low);
        }
        if (local_at.count(name)) return late_place(IN_LOCAL, local_at[name]);
        auto found = all.variables.find(name);
        if (found == all.variables.end()) wrong("there is no " + name);
        return constant(word(reinterpret_cast<uintptr_t>(found->second.data())));
    }
};

}  // namespace ptx
#endif
