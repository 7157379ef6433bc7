/* Element types: those of BLAS, and the half precisions. */
#ifndef MAT_MOCK_NUMBERS_HPP
#define MAT_MOCK_NUMBERS_HPP

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>

typedef std::complex<float> C32;
typedef std::complex<double> C64;

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

struct Bfloat {
    uint16_t bits;
    operator float() const { return float_of(uint32_t(bits) << 16); }
    Bfloat() = default;
    Bfloat(float value) {
        uint32_t u = bits_of(value);
        bits = value != value ? uint16_t(u >> 16 | 0x40)
                              : uint16_t((u + 0x7fff + (u >> 16 & 1)) >> 16);
    }
};

struct Half {
    uint16_t bits;
    operator float() const {
        int exponent = bits >> 10 & 31, fraction = bits & 1023;
        float size = exponent == 31 ? float_of(0x7f800000u | uint32_t(fraction) << 13)
                                    : std::ldexp(float(exponent ? fraction + 1024 : fraction),
                                                 (exponent ? exponent : 1) - 25);
        return bits & 0x8000 ? -size : size;
    }
    Half() = default;
    Half(float value) {  // to nearest, ties to even
        uint16_t sign = uint16_t(bits_of(value) >> 16 & 0x8000);
        float size = std::fabs(value);
        if (value != value) { bits = uint16_t(sign | 0x7e00); return; }
        if (size >= 65520) { bits = uint16_t(sign | 0x7c00); return; }
        int exponent = size < 6.103515625e-5f ? -14 : std::ilogb(size);
        int steps = int(std::nearbyint(
            std::ldexp(size, 10 - exponent)));  // 1024 to 2048, or fewer where it is subnormal
        bits = uint16_t(sign | (steps + ((exponent + 14) << 10)));
    }
};

template<class X> struct Sums { typedef X type; };  // in what products are summed
template<> struct Sums<float> { typedef double type; };
template<> struct Sums<C32> { typedef C64 type; };

template<class X> static X conjugate(X x) { return x; }
static inline C32 conjugate(C32 x) { return std::conj(x); }
static inline C64 conjugate(C64 x) { return std::conj(x); }
template<class X> static double size_of(X x) {
    return std::fabs(double(x));
}  // as asum and amax take it
static inline double size_of(C32 x) {
    return double(std::fabs(x.real())) + double(std::fabs(x.imag()));
}
static inline double size_of(C64 x) { return std::fabs(x.real()) + std::fabs(x.imag()); }
template<class X> static double square_of(X x) { return std::norm(std::complex<double>(x)); }

#endif
