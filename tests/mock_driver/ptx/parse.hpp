/* Read PTX: what NVRTC writes of it, and no more. What is not known is an error that names the
   line. */
#ifndef MAT_PTX_PARSE_HPP
#define MAT_PTX_PARSE_HPP

#include <fenv.h>

#include "declare.hpp"

namespace ptx {

class parser : declarations {
  public:
    using declarations::declarations;

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
            if (w == "{" && (waiting.empty() || waiting[0] == ".visible" || waiting[0] == ".entry"))
                open();
            else if (w == "}" && waiting.empty()) close();
            else if (w == ":" && waiting.size() == 1) label();
            else if (w == ";") statement();
            else waiting.push_back(w);
        }
    }

    void open() {
        if (depth++ == 0) begin_kernel();
        waiting.clear();
    }

    void close() {
        aliases.clear();
        if (--depth == 0) end_kernel();
    }

    void begin_kernel() {
        size_t k = waiting[0] == ".visible";
        if (waiting.at(k) != ".entry") wrong("kernels are known, and no functions");
        auto &made = all.kernels[waiting.at(k + 1)];
        made = std::make_unique<code>();
        now = made.get();
        now->name = waiting[k + 1], now->lines = &all.lines, now->arrays = outer;
        if (!outer.empty()) now->shared = outer.back().low + outer.back().bytes;
        places.clear(), labels.clear(), constants.clear(), jumps.clear(), tables.clear();
        local_at.clear();
        now->words.push_back(0);  // what nobody wants, and no guard
        auto &w = waiting;
        int count = 0;
        for (; k < w.size(); k++) {
            if (w[k] == ".param") {
                if (count > 1 || w.at(k + 5) != "[") wrong("kernels have two structs by value");
                places[w[k + 4]] = late_place(special_register(PARAMETER_0 + count));
                now->parameters[count++] = number_of(w.at(k + 6));
            } else if (w[k] == ".maxntid") {
                now->threads = number_of(w.at(k + 1)) * number_of(w.at(k + 3)) *
                               number_of(w.at(k + 5));
            }
        }
    }

    void end_kernel() {
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
        const form &of = find(opcode + kind_of_operands(opcode, w, k), i);
        bool jumps_away = opcode.rfind("bra", 0) == 0 || opcode.rfind("brx", 0) == 0;
        if (jumps_away)
            jumps.push_back({uint32_t(now->instructions.size()), w.back()});
        i.run = of.run;
        operands(tokens(w.begin() + long(k), w.end() - jumps_away), i, of);
        now->instructions.push_back(i);
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
