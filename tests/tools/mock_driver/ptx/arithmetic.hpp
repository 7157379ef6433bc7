/* Arithmetic, comparisons and logic. Integers wrap around; float32 is NVIDIA's where IEEE leaves a
   choice: every NaN that is computed is 0x7fffffff. Approximations (.approx) are computed with more
   bits and rounded, which no device does: what depends on them is to be compared with a
   tolerance. */
#ifndef MAT_PTX_ARITHMETIC_HPP
#define MAT_PTX_ARITHMETIC_HPP

#include <fenv.h>

#include "program.hpp"

namespace ptx {

template<class T> struct name;
#define MAT_NAME(type, text) \
    template<> struct name<type> { static constexpr const char *of = text; };
MAT_NAME(bool, "pred")
MAT_NAME(uint8_t, "u8") MAT_NAME(uint16_t, "u16")
MAT_NAME(uint32_t, "u32") MAT_NAME(uint64_t, "u64")
MAT_NAME(int8_t, "s8") MAT_NAME(int16_t, "s16") MAT_NAME(int32_t, "s32") MAT_NAME(int64_t, "s64")
MAT_NAME(float, "f32") MAT_NAME(double, "f64") MAT_NAME(f16, "f16") MAT_NAME(bf16, "bf16")

template<class T> constexpr bool is_float = std::is_floating_point<T>::value;

template<class T> inline T canonical(T value) {
    if constexpr (std::is_same<T, float>::value)
        return value != value ? as<float>(0x7fffffff) : value;
    return value;
}

template<class T> inline T flushed(T value) {  // a subnormal number becomes 0 of its sign
    if constexpr (std::is_same<T, float>::value)
        return fabsf(value) < 0x1p-126f ? copysignf(0, value) : value;
    return value;
}

template<class T> inline T saturated(T value) { return value > 0 ? value < 1 ? value : 1 : 0; }

// Operations of up to three operands

#define MAT_OPERATION(name, ...) \
    struct name { template<class T> static T of(T a, T b, T c) { \
        (void)a, (void)b, (void)c; \
        return T(__VA_ARGS__); } };
MAT_OPERATION(plus, a + b)
MAT_OPERATION(minus, a - b)
MAT_OPERATION(times, a * b)
MAT_OPERATION(over, a / b)
MAT_OPERATION(one_over, 1 / a)
MAT_OPERATION(times_plus, a * b + c)
MAT_OPERATION(fused, fma(a, b, c))
MAT_OPERATION(root, sqrt(a))
MAT_OPERATION(one_over_root, 1 / sqrtl(a))
MAT_OPERATION(exponential2, exp2(double(a)))
MAT_OPERATION(logarithm2, log2(double(a)))
MAT_OPERATION(sine, sin(double(a)))
MAT_OPERATION(cosine, cos(double(a)))
MAT_OPERATION(tangent_h, tanh(double(a)))
MAT_OPERATION(least, b < a ? b : a)
MAT_OPERATION(greatest, b > a ? b : a)
MAT_OPERATION(opposite, T(0) - a)
MAT_OPERATION(both, a &b)
MAT_OPERATION(either, a | b)
MAT_OPERATION(one_of, a ^ b)
MAT_OPERATION(inverse, ~a)
MAT_OPERATION(with_sign, copysign(b, a))
MAT_OPERATION(remainder_, b == 0 ? a : b == T(-1) ? T(0) : T(a % b))
MAT_OPERATION(quotient_u, b == 0 ? T(-1) : T(a / b))
MAT_OPERATION(remainder_u, b == 0 ? a : T(a % b))

template<class T, class Of, int N>
__attribute__((noinline)) T of_modified(const instruction &i, const running &t) {
    T v[3] = {};
    for (int k = 0; k < N; k++) {
        v[k] = get<T>(i, t, k + 1);
        if (i.flushes) v[k] = flushed(v[k]);
    }
    if (i.rounding) fesetround(i.rounding);
    volatile T a = v[0], b = v[1], c = v[2];
    volatile T result = Of::of(T(a), T(b), T(c));
    if (i.rounding) fesetround(FE_TONEAREST);
    T value = result;
    if (i.flushes) value = flushed(value);
    if (i.saturates) value = saturated(value);
    return value;
}

// Integers are computed in 64 bits without sign where they wrap around.
template<class T, class Of, int N> void compute(const instruction &i, running &t) {
    if constexpr (is_float<T>) {
        if (i.special) return put(i, t, 0, canonical(of_modified<T, Of, N>(i, t)));
    }
    T a = get<T>(i, t, 1), b = N > 1 ? get<T>(i, t, 2) : T(), c = N > 2 ? get<T>(i, t, 3) : T();
    put(i, t, 0, canonical(Of::of(a, b, c)));
}

template<class T, class Of, int N> void compute_wrapping(const instruction &i, running &t) {
    word a = t.words[i.at[1]], b = N > 1 ? t.words[i.at[2]] : 0, c = N > 2 ? t.words[i.at[3]] : 0;
    put(i, t, 0, T(Of::of(a, b, c)));
}

template<class T> T least_of(T a, T b) {  // as IEEE's minimumNumber
    if (a != a || b != b) return a != a ? b : a;
    return a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}
template<class T> void least_float(const instruction &i, running &t) {
    put(i, t, 0, canonical(least_of(get<T>(i, t, 1), get<T>(i, t, 2))));
}
template<class T> void greatest_float(const instruction &i, running &t) {
    put(i, t, 0, canonical(-least_of(-get<T>(i, t, 1), -get<T>(i, t, 2))));
}
template<class T, bool GREATEST> void extreme_with_nan(const instruction &i, running &t) {
    T a = get<T>(i, t, 1), b = get<T>(i, t, 2);
    if (a != a || b != b) put(i, t, 0, canonical(T(NAN)));
    else if (GREATEST) greatest_float<T>(i, t);
    else least_float<T>(i, t);
}
template<class T> void absolute_float(const instruction &i, running &t) {
    T a = fabs(get<T>(i, t, 1));
    put(i, t, 0, i.flushes ? flushed(a) : a);
}
template<class T> void negative_float(const instruction &i, running &t) {
    T a = -get<T>(i, t, 1);
    put(i, t, 0, i.flushes ? flushed(a) : a);
}

template<class T> void multiply_high(const instruction &i, running &t) {
    typedef typename std::conditional<std::is_signed<T>::value, __int128, unsigned __int128>::type
        wide;
    put(i, t, 0, T(wide(get<T>(i, t, 1)) * wide(get<T>(i, t, 2)) >> 8 * sizeof(T)));
}
template<class T> void multiply_add_high(const instruction &i, running &t) {
    typedef typename std::conditional<std::is_signed<T>::value, __int128, unsigned __int128>::type
        wide;
    T high = T(wide(get<T>(i, t, 1)) * wide(get<T>(i, t, 2)) >> 8 * sizeof(T));
    put(i, t, 0, T(word(high) + word(get<T>(i, t, 3))));
}
template<class T> void multiply_wide(const instruction &i, running &t) {
    typedef typename std::conditional<std::is_signed<T>::value, int64_t, uint64_t>::type wide;
    put(i, t, 0, wide(get<T>(i, t, 1)) * wide(get<T>(i, t, 2)));
}
template<class T> void multiply_add_wide(const instruction &i, running &t) {
    typedef typename std::conditional<std::is_signed<T>::value, int64_t, uint64_t>::type wide;
    put(i, t, 0, word(wide(get<T>(i, t, 1)) * wide(get<T>(i, t, 2))) + t.words[i.at[3]]);
}

// Comparisons: an ordered one is false with a NaN, an unordered one (equ, ltu ...) true

enum comparison { EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM, UNORDERED };
static const char *const COMPARISONS[] = {"eq", "ne", "lt", "le", "gt", "ge", "equ",
                                          "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

template<class T, int C> inline bool compare(T a, T b) {
    bool nan = a != a || b != b;
    switch (C) {
    case EQ: return a == b;
    case NE: return !nan && a != b;
    case LT: return a < b;
    case LE: return a <= b;
    case GT: return a > b;
    case GE: return a >= b;
    case EQU: return nan || a == b;
    case NEU: return a != b;
    case LTU: return nan || a < b;
    case LEU: return nan || a <= b;
    case GTU: return nan || a > b;
    case GEU: return nan || a >= b;
    case NUM: return !nan;
    default: return nan;
    }
}

template<class T, int C> inline bool compared(const instruction &i, const running &t, int k) {
    T a = get<T>(i, t, k), b = get<T>(i, t, k + 1);
    return i.flushes ? compare<T, C>(flushed(a), flushed(b)) : compare<T, C>(a, b);
}
template<class T, int C> void set(const instruction &i, running &t) {
    put(i, t, 0, compared<T, C>(i, t, 1));
}
template<class T, int C> void set_two(const instruction &i, running &t) {
    bool is = compared<T, C>(i, t, 2);
    put(i, t, 0, is), put(i, t, 1, !is);
}
template<class T, int C, class Of> void set_with(const instruction &i, running &t) {
    put(i, t, 0, Of::of(int(compared<T, C>(i, t, 1)), int(get<bool>(i, t, 3)), 0) != 0);
}

template<class T, int C> void add_comparison(const std::string &type) {
    const std::string n = std::string("setp.") + COMPARISONS[C];
    add(n + type, set<T, C>, 1, 2, ".ftz.");
    add(n + type + "|", set_two<T, C>, 2, 2, ".ftz.");
    add(n + ".and" + type, set_with<T, C, both>, 1, 3, ".ftz.");
    add(n + ".or" + type, set_with<T, C, either>, 1, 3, ".ftz.");
    add(n + ".xor" + type, set_with<T, C, one_of>, 1, 3, ".ftz.");
}

template<class T> void add_integer_comparisons(const std::string &type) {
    add_comparison<T, EQ>(type), add_comparison<T, NE>(type);
    if (type[1] == 'b') return;
    add_comparison<T, LT>(type), add_comparison<T, LE>(type);
    add_comparison<T, GT>(type), add_comparison<T, GE>(type);
}

template<class T, int C = 0> void add_float_comparisons(const std::string &type) {
    add_comparison<T, C>(type);
    if constexpr (C < UNORDERED) add_float_comparisons<T, C + 1>(type);
}

template<class T> void select(const instruction &i, running &t) {
    t.words[i.at[0]] = word_of(get<T>(i, t, get<bool>(i, t, 3) ? 1 : 2));
}
template<class T> void move(const instruction &i, running &t) { put(i, t, 0, get<T>(i, t, 1)); }

// Shifts by as many bits as there are, or more, leave nothing but the sign

template<class T> void shift_left(const instruction &i, running &t) {
    uint32_t by = get<uint32_t>(i, t, 2);
    put(i, t, 0, by >= 8 * sizeof(T) ? T(0) : T(word(get<T>(i, t, 1)) << by));
}
template<class T> void shift_right(const instruction &i, running &t) {
    uint32_t by = get<uint32_t>(i, t, 2), most = 8 * sizeof(T) - 1;
    T a = get<T>(i, t, 1);
    if (std::is_signed<T>::value) put(i, t, 0, T(a >> (by > most ? most : by)));
    else put(i, t, 0, by > most ? T(0) : T(a >> by));
}

// Sums and differences that set the carry (.cc), or add it (addc, subc)

template<class T, bool SUBTRACTS, bool ADDS, bool SETS> void with_carry(const instruction &i,
                                                                       running &t) {
    typedef unsigned __int128 wide;
    const wide mask = (wide(1) << 8 * sizeof(T)) - 1;
    wide a = get<T>(i, t, 1), b = get<T>(i, t, 2), sum;
    if (SUBTRACTS) b = ~b & mask;  // a - b is a + ~b + 1, and a carry is no borrow
    bool one = SUBTRACTS ? !(ADDS && t.carry) : ADDS && t.carry;
    sum = a + b + one;
    put(i, t, 0, T(sum));
    if (SETS) t.carry = ((sum >> 8 * sizeof(T) & 1) != 0) != SUBTRACTS;
}

template<class T, bool HIGH, bool ADDS, bool SETS>
void multiply_add_with_carry(const instruction &i, running &t) {
    typedef unsigned __int128 wide;
    wide product = wide(get<T>(i, t, 1)) * get<T>(i, t, 2),
         sum = wide(T(HIGH ? product >> 8 * sizeof(T) : product)) + get<T>(i, t, 3) +
               (ADDS && t.carry);
    put(i, t, 0, T(sum));
    if (SETS) t.carry = (sum >> 8 * sizeof(T) & 1) != 0;
}

template<class T> void add_carry_forms(const std::string &type) {
    add("add.cc" + type, with_carry<T, false, false, true>, 1, 2);
    add("addc" + type, with_carry<T, false, true, false>, 1, 2);
    add("addc.cc" + type, with_carry<T, false, true, true>, 1, 2);
    add("sub.cc" + type, with_carry<T, true, false, true>, 1, 2);
    add("subc" + type, with_carry<T, true, true, false>, 1, 2);
    add("subc.cc" + type, with_carry<T, true, true, true>, 1, 2);
    if (type[1] != 'u') return;
    add("mad.lo.cc" + type, multiply_add_with_carry<T, false, false, true>, 1, 3);
    add("madc.lo" + type, multiply_add_with_carry<T, false, true, false>, 1, 3);
    add("madc.lo.cc" + type, multiply_add_with_carry<T, false, true, true>, 1, 3);
    add("mad.hi.cc" + type, multiply_add_with_carry<T, true, false, true>, 1, 3);
    add("madc.hi" + type, multiply_add_with_carry<T, true, true, false>, 1, 3);
    add("madc.hi.cc" + type, multiply_add_with_carry<T, true, true, true>, 1, 3);
}

// Register

template<class T> void add_integer_forms() {
    const std::string type = std::string(".") + name<T>::of;
    add("add" + type, compute_wrapping<T, plus, 2>, 1, 2);
    add("sub" + type, compute_wrapping<T, minus, 2>, 1, 2);
    add("mul.lo" + type, compute_wrapping<T, times, 2>, 1, 2);
    add("mad.lo" + type, compute_wrapping<T, times_plus, 3>, 1, 3);
    add("mul.hi" + type, multiply_high<T>, 1, 2);
    add("mad.hi" + type, multiply_add_high<T>, 1, 3);
    if (sizeof(T) < 8) {
        add("mul.wide" + type, multiply_wide<T>, 1, 2);
        add("mad.wide" + type, multiply_add_wide<T>, 1, 3);
    }
    add("min" + type, compute<T, least, 2>, 1, 2);
    add("max" + type, compute<T, greatest, 2>, 1, 2);
    add("shr" + type, shift_right<T>, 1, 2);
    if constexpr (std::is_signed<T>::value) {
        add("neg" + type, compute_wrapping<T, opposite, 1>, 1, 1);
        add("abs" + type, [](const instruction &i, running &t) {
            T a = get<T>(i, t, 1);
            put(i, t, 0, T(a < 0 ? word(0) - word(a) : word(a)));
        }, 1, 1);
        add("div" + type, [](const instruction &i, running &t) {
            T a = get<T>(i, t, 1), b = get<T>(i, t, 2);
            put(i, t, 0, b == 0 ? T(-1) : b == -1 ? T(word(0) - word(a)) : T(a / b));
        }, 1, 2);
        add("rem" + type, compute<T, remainder_, 2>, 1, 2);
    } else {
        add("div" + type, compute<T, quotient_u, 2>, 1, 2);
        add("rem" + type, compute<T, remainder_u, 2>, 1, 2);
    }
    add_integer_comparisons<T>(type);
    add("selp" + type, select<T>, 1, 3);
    add("mov" + type, move<T>, 1, 1);
}

template<class T> void add_bit_forms(const std::string &type) {
    add("and" + type, compute_wrapping<T, both, 2>, 1, 2);
    add("or" + type, compute_wrapping<T, either, 2>, 1, 2);
    add("xor" + type, compute_wrapping<T, one_of, 2>, 1, 2);
    add("not" + type, compute_wrapping<T, inverse, 1>, 1, 1);
    add("shl" + type, shift_left<T>, 1, 2);
    add("shr" + type, shift_right<T>, 1, 2);
    add_integer_comparisons<T>(type);
    add("selp" + type, select<T>, 1, 3);
    add("mov" + type, move<T>, 1, 1);
}

template<class T> void add_float_forms() {
    const std::string type = std::string(".") + name<T>::of;
    const char *const rounded = ".rn.rz.rm.rp.ftz.sat.";
    add("add" + type, compute<T, plus, 2>, 1, 2, rounded);
    add("sub" + type, compute<T, minus, 2>, 1, 2, rounded);
    add("mul" + type, compute<T, times, 2>, 1, 2, rounded);
    add("fma" + type, compute<T, fused, 3>, 1, 3, rounded);
    add("div" + type, compute<T, over, 2>, 1, 2, rounded);
    add("rcp" + type, compute<T, one_over, 1>, 1, 1, rounded);
    add("sqrt" + type, compute<T, root, 1>, 1, 1, rounded);
    add("div.approx" + type, compute<T, over, 2>, 1, 2, ".ftz.");
    add("div.full" + type, compute<T, over, 2>, 1, 2, ".ftz.");
    add("rcp.approx" + type, compute<T, one_over, 1>, 1, 1, ".ftz.");
    add("sqrt.approx" + type, compute<T, root, 1>, 1, 1, ".ftz.");
    add("rsqrt.approx" + type, compute<T, one_over_root, 1>, 1, 1, ".ftz.");
    add("min" + type, least_float<T>, 1, 2);
    add("max" + type, greatest_float<T>, 1, 2);
    add("min.NaN" + type, extreme_with_nan<T, false>, 1, 2);
    add("max.NaN" + type, extreme_with_nan<T, true>, 1, 2);
    add("abs" + type, absolute_float<T>, 1, 1, ".ftz.");
    add("neg" + type, negative_float<T>, 1, 1, ".ftz.");
    add("copysign" + type, compute<T, with_sign, 2>, 1, 2);
    add_float_comparisons<T>(type);
    add("selp" + type, select<T>, 1, 3);
    add("mov" + type, move<T>, 1, 1);
}

inline void add_arithmetic() {
    add_integer_forms<int16_t>(), add_integer_forms<uint16_t>();
    add_integer_forms<int32_t>(), add_integer_forms<uint32_t>();
    add_integer_forms<int64_t>(), add_integer_forms<uint64_t>();
    add_bit_forms<uint16_t>(".b16"), add_bit_forms<uint32_t>(".b32");
    add_bit_forms<uint64_t>(".b64");
    add_carry_forms<uint32_t>(".u32"), add_carry_forms<uint32_t>(".s32");
    add_carry_forms<uint64_t>(".u64"), add_carry_forms<uint64_t>(".s64");
    add_float_forms<float>(), add_float_forms<double>();
    add("ex2.approx.f32", compute<float, exponential2, 1>, 1, 1, ".ftz.");
    add("lg2.approx.f32", compute<float, logarithm2, 1>, 1, 1, ".ftz.");
    add("sin.approx.f32", compute<float, sine, 1>, 1, 1, ".ftz.");
    add("cos.approx.f32", compute<float, cosine, 1>, 1, 1, ".ftz.");
    add("tanh.approx.f32", compute<float, tangent_h, 1>, 1, 1);
    add("and.pred", compute<bool, both, 2>, 1, 2);
    add("or.pred", compute<bool, either, 2>, 1, 2);
    add("xor.pred", compute<bool, one_of, 2>, 1, 2);
    add("not.pred", [](const instruction &i, running &t) { put(i, t, 0, !get<bool>(i, t, 1)); },
        1, 1);
    add("mov.pred", move<bool>, 1, 1);
}

}  // namespace ptx
#endif
