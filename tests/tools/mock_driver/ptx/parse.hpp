/* Read PTX: what NVRTC writes of it, and no more. What is not known is an error that names the
   line. */
#ifndef MAT_PTX_PARSE_HPP
#define MAT_PTX_PARSE_HPP

#include <fenv.h>

#include <algorithm>

#include "declare.hpp"

namespace ptx {

class parser : declarations {
  public:
    using declarations::declarations;

    // Read a whole program; the error says the line.
    void read(const std::string &text) {
        all.lines = split(text, '\n');
        for (number = 1; number <= all.lines.size(); number++) {
            try {
                read_line(words_of(all.lines[number - 1]));
            } catch (const std::exception &error) {
                throw std::runtime_error("line " + std::to_string(number) + " of the PTX, '" +
                                         all.lines[number - 1] + "': " + error.what());
            }
        }
        for (auto &[name, of] : all.functions)
            if (of->instructions.empty()) wrong("there is no function " + name);
    }

  private:
    struct jump { uint32_t instruction; std::string to; };
    tokens waiting;  // for the end of a statement
    std::map<std::string, uint32_t> labels;
    std::map<std::string, tokens> tables;  // of brx.idx
    std::string last_label;
    std::vector<jump> jumps;

    void read_line(const tokens &words) {
        if (!words.empty() &&
            (words[0] == ".version" || words[0] == ".target" || words[0] == ".address_size"))
            return;
        for (auto &w : words) {
            if (w == "{" && (waiting.empty() || begins_code()))
                open();
            else if (w == "}" && waiting.empty()) close();
            else if (w == ":" && waiting.size() == 1) label();
            else if (w == ";") statement();
            else waiting.push_back(w);
        }
    }

    bool begins_code() const {
        const std::string &w = waiting[0];
        return depth == 0 && (w == ".visible" || w == ".weak" || w == ".entry" || w == ".func");
    }

    void open() {
        if (depth++ == 0) begin_code();
        waiting.clear();
    }

    void close() {
        aliases.clear();
        if (--depth == 0) end_code();
    }

    void begin_code() {
        const tokens &w = waiting;
        size_t k = w[0] == ".visible" || w[0] == ".weak";
        bool is_kernel = w.at(k) == ".entry";
        size_t name = k + 1;
        if (w.at(name) == "(") name = size_t(std::find(w.begin(), w.end(), ")") - w.begin()) + 1;
        auto &made = (is_kernel ? all.kernels : all.functions)[w.at(name)];
        if (!made) made = std::make_unique<code>();
        now = made.get();
        now->name = w[name], now->lines = &all.lines, now->arrays = outer;
        if (!outer.empty()) now->shared = outer.back().low + outer.back().bytes;
        places.clear(), labels.clear(), constants.clear(), jumps.clear(), tables.clear();
        local_at.clear();
        now->words.push_back(0);  // what nobody wants, and no guard
        for (int count = 0; k < w.size(); k++) {
            if (w[k] == ".param") parameter(tokens(w.begin() + long(k) + 1, w.end()), is_kernel,
                                            count++);
            if (w[k] == ".maxntid")
                now->threads = number_of(w.at(k + 1)) * number_of(w.at(k + 3)) *
                               number_of(w.at(k + 5));
        }
    }

    void parameter(const tokens &w, bool of_kernel, int number_of_it) {
        size_t k = w.at(0) == ".align" ? 3 : 1;
        if (!of_kernel) {
            places[w.at(k)] = new_place(0);
            now->formals.push_back(places[w[k]]);
            return;
        }
        if (number_of_it > 1 || w.at(k + 1) != "[") wrong("kernels have two structs by value");
        places[w.at(k)] = late_place(special_register(PARAMETER_0 + number_of_it));
        now->parameters[number_of_it] = number_of(w.at(k + 2));
    }

    void end_code() {
        now->local = aligned(now->local, 16);
        waiting = {"ret"};  // for what ends by an error
        statement();
        for (auto &j : jumps) {
            instruction &i = now->instructions[j.instruction];
            for (auto &name : tables.count(j.to) ? tables[j.to] : tokens{j.to}) {
                auto found = labels.find(name);
                if (found == labels.end()) wrong("there is no label " + name);
                i.targets.push_back(found->second);
            }
            i.offset = i.targets.at(0);
        }
        now = nullptr;
    }

    void label() {
        last_label = waiting[0];
        labels[last_label] = uint32_t(now->instructions.size());
        waiting.clear();
    }

    void statement() {
        tokens w;
        w.swap(waiting);
        if (w.empty() || w[0] == ".pragma" || w[0] == ".loc" || w[0] == ".file") return;
        if (w[0] == ".reg") return declare_registers(w);
        if (w[0] == ".branchtargets") {
            for (size_t k = 1; k < w.size(); k += 2) tables[last_label].push_back(w[k]);
            return;
        }
        if (w[0] == ".func" || (w.size() > 1 && w[1] == ".func")) return;  // declared before
        if (w[0][0] == '.') return declare_variable(w);
        if (!now) wrong("an instruction outside of kernels");
        instruct(w);
    }

    // Instructions

    void instruct(const tokens &w) {
        instruction i;
        i.line = uint32_t(number);
        size_t k = 0;
        if (w[0][0] == '@') {  // "@" and "!" belong to the register
            bool apart = w[0] == "@";
            i.negated = apart && w.at(1) == "!";
            i.guard = place_of(apart ? w.at(1 + i.negated) : w[0].substr(1));
            k = apart ? 2 + i.negated : 1;
        }
        const std::string opcode = w.at(k++);
        if (opcode.rfind("call", 0) == 0)
            return instruct_call(tokens(w.begin() + long(k), w.end()), i);
        const form &of = find(opcode + kind_of_operands(opcode, w, k), i);
        bool jumps_away = opcode.rfind("bra", 0) == 0 || opcode.rfind("brx", 0) == 0;
        if (jumps_away)
            jumps.push_back({uint32_t(now->instructions.size()), w.back()});
        i.run = of.run;
        now->reads_only = now->reads_only || i.read_only;
        operands(tokens(w.begin() + long(k), w.end() - jumps_away), i, of);
        now->instructions.push_back(i);
    }

    // call (results), function, (values); where a list is empty it may be left out.
    void instruct_call(const tokens &w, instruction &i) {
        int count = 0;
        bool in_list = false;
        for (auto &x : w) {
            if (x == "(" || x == ")") in_list = x == "(";
            else if (x == ",") continue;
            else if (!in_list) i.callee = function(x);
            else if (count < 7) i.at[count++] = place_of(x);
            else wrong("too many operands");
        }
        i.run = forms().at("call").run;
        i.offset = count;
        now->instructions.push_back(i);
    }

    const code *function(const std::string &name) {
        auto &made = all.functions[name];
        if (!made) made = std::make_unique<code>();
        return made.get();
    }

    // Return what an opcode does not tell: a second result, or values that are put together.
    static std::string kind_of_operands(const std::string &opcode, const tokens &w, size_t k) {
        if (w.size() > k + 1 && w[k + 1] == "|") return "|";
        if (opcode.rfind("mov.b", 0)) return "";
        auto commas = [&](size_t from) {
            int found = 1;
            for (; from < w.size() && w[from] != "}"; from++) found += w[from] == ",";
            return std::to_string(found);
        };
        if (w.at(k) == "{") return ".to" + commas(k);
        return w.size() > k + 2 && w[k + 2] == "{" ? ".of" + commas(k + 2) : "";
    }

    // Return the form of an instruction, and note its modifiers.
    static const form &find(const std::string &opcode, instruction &i) {
        auto &known = forms();
        auto exact = known.find(opcode);
        if (exact != known.end()) return exact->second;
        tokens parts = split(opcode, '.');
        std::string name = parts[0], modifiers;
        for (size_t k = 1; k < parts.size(); k++)
            if (!note(parts[k], i, modifiers)) name += "." + parts[k];
        auto found = known.find(name);
        if (found == known.end()) wrong("the instruction " + opcode + " is not known");
        for (auto &m : split(modifiers, ' '))
            if (!strstr(found->second.modifiers, ("." + m + ".").c_str()))
                wrong("the instruction " + opcode + " is not known with ." + m);
        return found->second;
    }

    static bool note(const std::string &part, instruction &i, std::string &modifiers) {
        static const std::map<std::string, int> ROUNDINGS = {
            {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD},
            {"rni", FE_TONEAREST}, {"rzi", FE_TOWARDZERO}, {"rmi", FE_DOWNWARD},
            {"rpi", FE_UPWARD}};
        static const char *const HINTS =  // which change no result
            " nc ca cg cs lu cv wb wt volatile weak relaxed acquire release acq_rel gpu sys cta "
            "uni aligned L1::no_allocate L1::evict_first L1::evict_last L2::64B L2::128B L2::256B ";
        auto rounding = ROUNDINGS.find(part);
        if (rounding != ROUNDINGS.end())
            i.rounding = rounding->second, i.integral = part.size() == 3;
        else if (part == "ftz") i.flushes = true;
        else if (part == "sat") i.saturates = true;
        else if (part == "nc") i.read_only = true;
        else if (!strstr(HINTS, (" " + part + " ").c_str())) return false;
        i.special = i.rounding || i.flushes || i.saturates;
        modifiers += (modifiers.empty() ? "" : " ") + part;
        return true;
    }

    void operands(const tokens &w, instruction &i, const form &of) {
        int count = 0;
        bool address = false;
        for (size_t k = 0; k < w.size(); k++) {
            const std::string &x = w[k];
            if (x == "[" || x == "]") address = x == "[";
            else if (x == "+" && address) i.offset = int64_t(number_of(w.at(++k)));
            else if (x == "," || x == "{" || x == "}" || x == "|") continue;
            else if (x.find_first_of("!()+") != std::string::npos) wrong("an operand with " + x);
            else if (count >= 7) wrong("too many operands");
            else i.at[count++] = place_of(x);
        }
        if (count != of.results + of.sources)
            wrong(std::to_string(count) + " operands, not " +
                  std::to_string(of.results + of.sources));
    }
};

}  // namespace ptx
#endif
