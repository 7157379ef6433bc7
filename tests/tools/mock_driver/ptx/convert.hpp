/* Conversions between types, and instructions that move bits around. */
#ifndef MAT_PTX_CONVERT_HPP
#define MAT_PTX_CONVERT_HPP

#include <limits>

#include "arithmetic.hpp"

namespace ptx {

// The float with so many bits of fraction and of exponent that is nearest.
template<int FRACTION, int EXPONENT> inline uint16_t small_float(double value) {
    const int bias = (1 << (EXPONENT - 1)) - 1, least = 1 - bias;
    if (value != value) return 0x7fff;
    uint16_t sign = signbit(value) ? 0x8000 : 0, infinity = uint16_t((2 * bias + 1) << FRACTION);
    double size = fabs(value);
    if (size == 0) return sign;
    int exponent = std::isinf(size) ? bias + 1 : ilogb(size);
    if (exponent > bias) return sign | infinity;
    if (exponent < least) exponent = least;
    auto units = uint32_t(rint(ldexp(size, FRACTION - exponent)));
    return uint16_t(sign | (((exponent - least) << FRACTION) + units));
}

template<int FRACTION, int EXPONENT> inline float large_float(uint16_t bits) {
    const int bias = (1 << (EXPONENT - 1)) - 1;
    int exponent = bits >> FRACTION & (2 * bias + 1), units = bits & ((1 << FRACTION) - 1);
    float sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 2 * bias + 1) return units ? canonical(float(NAN)) : sign * INFINITY;
    if (exponent) units += 1 << FRACTION;
    return sign * ldexpf(float(units), (exponent ? exponent : 1) - bias - FRACTION);
}

template<class T> inline T in_mode(int mode, double value, int64_t small, uint64_t large,
                                   int kind) {  // kind 0: of the double, 1: small, 2: large
    volatile double v = value;
    volatile int64_t s = small;
    volatile uint64_t l = large;
    fesetround(mode);
    volatile T result = kind == 0 ? T(v) : kind == 1 ? T(s) : T(l);
    fesetround(FE_TONEAREST);
    return result;
}

template<class T> inline T to_integral(int mode, T value) {
    switch (mode) {
    case FE_TOWARDZERO: return std::trunc(value);
    case FE_DOWNWARD: return std::floor(value);
    case FE_UPWARD: return std::ceil(value);
    default: return std::rint(value);
    }
}

template<class To, class From> inline To integer_of(const instruction &i, From value) {
    typedef std::numeric_limits<To> limits;
    if (value != value)  // as the PTX ISA has it
        return sizeof(From) == 8 || sizeof(To) == 8 ? To(word(1) << (8 * sizeof(To) - 1)) : To(0);
    value = to_integral(i.rounding, value);
    const From above = ldexp(From(1), limits::digits);
    if (value >= above) return limits::max();
    if (value < From(limits::min())) return limits::min();
    return To(value);
}

template<class To, class From> inline To clamped(From value) {
    typedef std::numeric_limits<To> limits;
    if (__int128(value) > __int128(limits::max())) return limits::max();
    if (__int128(value) < __int128(limits::min())) return limits::min();
    return To(value);
}

template<class To, class From> inline To converted(const instruction &i, From value) {
    if constexpr (is_float<From> && is_float<To>) {
        To result;
        if (i.integral) result = To(to_integral(i.rounding, value));
        else result = i.rounding ? in_mode<To>(i.rounding, value, 0, 0, 0) : To(value);
        if (i.saturates) result = saturated(result);
        return canonical(i.flushes ? flushed(result) : result);
    } else if constexpr (is_float<From>) {
        return integer_of<To>(i, value);
    } else if constexpr (is_float<To>) {
        To result = To(value);
        if (i.rounding)
            result = in_mode<To>(i.rounding, 0, int64_t(value), uint64_t(value),
                                 std::is_signed<From>::value ? 1 : 2);
        return i.saturates ? saturated(result) : result;
    } else {
        return i.saturates ? clamped<To>(value) : To(value);
    }
}

template<class To, class From> void convert(const instruction &i, running &t) {
    From value = get<From>(i, t, 1);
    if constexpr (is_float<From>) {
        if (i.flushes) value = flushed(value);
    }
    put(i, t, 0, converted<To>(i, value));
}

template<class To, class From> void add_conversion() {
    const char *modifiers = is_float<From> && !is_float<To> ? ".rni.rzi.rmi.rpi.ftz."
                            : !is_float<From> && is_float<To> ? ".rn.rz.rm.rp.sat."
                            : !is_float<From>                 ? ".sat."
                            : sizeof(To) < sizeof(From)       ? ".rn.rz.rm.rp.ftz.sat."
                                                        : ".rni.rzi.rmi.rpi.ftz.sat.";
    add(std::string("cvt.") + name<To>::of + "." + name<From>::of, convert<To, From>, 1, 1,
        modifiers);
}

template<class To> void add_conversions_to() {
    add_conversion<To, int8_t>(), add_conversion<To, uint8_t>();
    add_conversion<To, int16_t>(), add_conversion<To, uint16_t>();
    add_conversion<To, int32_t>(), add_conversion<To, uint32_t>();
    add_conversion<To, int64_t>(), add_conversion<To, uint64_t>();
    add_conversion<To, float>(), add_conversion<To, double>();
}

template<class From, int FRACTION, int EXPONENT> void to_small(const instruction &i, running &t) {
    put(i, t, 0, small_float<FRACTION, EXPONENT>(double(get<From>(i, t, 1))));
}
template<int FRACTION, int EXPONENT> void from_small(const instruction &i, running &t) {
    put(i, t, 0, large_float<FRACTION, EXPONENT>(get<uint16_t>(i, t, 1)));
}

// Bits

template<class T> void insert_bits(const instruction &i, running &t) {
    const uint32_t width = 8 * sizeof(T), at = get<uint32_t>(i, t, 3) & 255;
    uint32_t length = get<uint32_t>(i, t, 4) & 255;
    T from = get<T>(i, t, 1), into = get<T>(i, t, 2);
    if (length > width) length = width;
    for (uint32_t k = 0; k < length && at + k < width; k++) {
        T bit = T(1) << (at + k);
        into = from >> k & 1 ? into | bit : into & ~bit;
    }
    put(i, t, 0, into);
}

template<class T> void extract_bits(const instruction &i, running &t) {
    const uint32_t width = 8 * sizeof(T), at = get<uint32_t>(i, t, 2) & 255;
    uint32_t length = get<uint32_t>(i, t, 3) & 255;
    T from = get<T>(i, t, 1);
    if (length == 0) return put(i, t, 0, T(0));
    uint32_t last = std::min(at + length - 1, width - 1);
    T sign = std::is_signed<T>::value ? T(from >> last & 1) : T(0), result = sign ? T(-1) : T(0);
    for (uint32_t k = 0; k < length && k < width; k++) {
        word bit = word(1) << k, is = at + k < width ? word(from) >> (at + k) & 1 : word(sign);
        result = T(is ? word(result) | bit : word(result) & ~bit);
    }
    put(i, t, 0, result);
}

inline void permute_bytes(const instruction &i, running &t) {
    uint64_t bytes = uint64_t(get<uint32_t>(i, t, 2)) << 32 | get<uint32_t>(i, t, 1);
    uint32_t chosen = get<uint32_t>(i, t, 3), result = 0;
    for (int k = 0; k < 4; k++) {
        uint32_t c = chosen >> 4 * k & 15, byte = uint32_t(bytes >> 8 * (c & 7)) & 255;
        if (c & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * k;
    }
    put(i, t, 0, result);
}

template<bool LEFT, bool WRAPS> void funnel_shift(const instruction &i, running &t) {
    uint64_t both_words = uint64_t(get<uint32_t>(i, t, 2)) << 32 | get<uint32_t>(i, t, 1);
    uint32_t by = get<uint32_t>(i, t, 3);
    by = WRAPS ? by & 31 : std::min(by, 32u);
    put(i, t, 0, uint32_t(LEFT ? (both_words << by) >> 32 : both_words >> by));
}

template<class A, class B> void dot_of_bytes(const instruction &i, running &t) {
    uint32_t a = get<uint32_t>(i, t, 1), b = get<uint32_t>(i, t, 2), c = get<uint32_t>(i, t, 3);
    for (int k = 0; k < 4; k++) c += uint32_t(int(A(a >> 8 * k)) * int(B(b >> 8 * k)));
    put(i, t, 0, c);
}

inline void any_logic(const instruction &i, running &t) {
    uint32_t a = get<uint32_t>(i, t, 1), b = get<uint32_t>(i, t, 2), c = get<uint32_t>(i, t, 3),
             table = get<uint32_t>(i, t, 4), result = 0;
    for (int k = 0; k < 32; k++)
        result |= (table >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1)) & 1) << k;
    put(i, t, 0, result);
}

template<class T> void count_bits(const instruction &i, running &t) {
    put(i, t, 0, uint32_t(__builtin_popcountll(get<T>(i, t, 1))));
}
template<class T> void count_zeros(const instruction &i, running &t) {
    T a = get<T>(i, t, 1);
    put(i, t, 0, uint32_t(a ? __builtin_clzll(a) - (64 - 8 * int(sizeof(T))) : 8 * sizeof(T)));
}
// The place of the highest bit that is not of the sign, or how far it is to be shifted to the top.
template<class T, bool SHIFT> void find_bit(const instruction &i, running &t) {
    typedef typename std::make_unsigned<T>::type plain;
    T a = get<T>(i, t, 1);
    plain b = plain(a < 0 ? ~a : a);
    int at = b ? 63 - __builtin_clzll(b) : -1;
    put(i, t, 0, uint32_t(SHIFT && b ? 8 * int(sizeof(T)) - 1 - at : at));
}
template<class T> void add_find_bit() {
    const std::string type = std::string(".") + name<T>::of;
    add("bfind" + type, find_bit<T, false>, 1, 1);
    add("bfind.shiftamt" + type, find_bit<T, true>, 1, 1);
}
template<class T> void reverse_bits(const instruction &i, running &t) {
    T a = get<T>(i, t, 1), result = 0;
    for (unsigned k = 0; k < 8 * sizeof(T); k++) result = T(result << 1 | (a >> k & 1));
    put(i, t, 0, result);
}

// Registers as parts of larger ones

template<class Part, int N> void split_word(const instruction &i, running &t) {
    word w = t.words[i.at[N]];
    for (int k = 0; k < N; k++) put(i, t, k, Part(w >> 8 * sizeof(Part) * k));
}
template<class Part, int N> void join_words(const instruction &i, running &t) {
    word w = 0;
    for (int k = 0; k < N; k++) w |= word(get<Part>(i, t, k + 1)) << 8 * sizeof(Part) * k;
    t.words[i.at[0]] = w;
}

template<class T> void add_bits_of() {
    const std::string size = std::to_string(8 * sizeof(T));
    typedef typename std::make_signed<T>::type with_sign;
    add("bfi.b" + size, insert_bits<T>, 1, 4);
    add("bfe.u" + size, extract_bits<T>, 1, 3);
    add("bfe.s" + size, extract_bits<with_sign>, 1, 3);
    add("popc.b" + size, count_bits<T>, 1, 1);
    add("clz.b" + size, count_zeros<T>, 1, 1);
    add("brev.b" + size, reverse_bits<T>, 1, 1);
}

inline void add_conversions() {
    add_conversions_to<int8_t>(), add_conversions_to<uint8_t>();
    add_conversions_to<int16_t>(), add_conversions_to<uint16_t>();
    add_conversions_to<int32_t>(), add_conversions_to<uint32_t>();
    add_conversions_to<int64_t>(), add_conversions_to<uint64_t>();
    add_conversions_to<float>(), add_conversions_to<double>();
    add("cvt.f16.f32", to_small<float, 10, 5>, 1, 1, ".rn.");
    add("cvt.f16.f64", to_small<double, 10, 5>, 1, 1, ".rn.");
    add("cvt.bf16.f32", to_small<float, 7, 8>, 1, 1, ".rn.");
    add("cvt.f32.f16", from_small<10, 5>, 1, 1);
    add("cvt.f32.bf16", from_small<7, 8>, 1, 1);
    add_bits_of<uint32_t>(), add_bits_of<uint64_t>();
    add_find_bit<uint32_t>(), add_find_bit<int32_t>();
    add_find_bit<uint64_t>(), add_find_bit<int64_t>();
    add("prmt.b32", permute_bytes, 1, 3);
    add("shf.l.wrap.b32", funnel_shift<true, true>, 1, 3);
    add("shf.l.clamp.b32", funnel_shift<true, false>, 1, 3);
    add("shf.r.wrap.b32", funnel_shift<false, true>, 1, 3);
    add("shf.r.clamp.b32", funnel_shift<false, false>, 1, 3);
    add("lop3.b32", any_logic, 1, 4);
    add("dp4a.s32.s32", dot_of_bytes<int8_t, int8_t>, 1, 3);
    add("dp4a.u32.u32", dot_of_bytes<uint8_t, uint8_t>, 1, 3);
    add("dp4a.u32.s32", dot_of_bytes<uint8_t, int8_t>, 1, 3);
    add("dp4a.s32.u32", dot_of_bytes<int8_t, uint8_t>, 1, 3);
    add("mov.b64.to2", split_word<uint32_t, 2>, 2, 1);
    add("mov.b64.to4", split_word<uint16_t, 4>, 4, 1);
    add("mov.b32.to2", split_word<uint16_t, 2>, 2, 1);
    add("mov.b64.of2", join_words<uint32_t, 2>, 1, 2);
    add("mov.b64.of4", join_words<uint16_t, 4>, 1, 4);
    add("mov.b32.of2", join_words<uint16_t, 2>, 1, 2);
}

}  // namespace ptx
#endif
