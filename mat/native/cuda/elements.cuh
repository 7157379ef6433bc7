/* Element types on the device, for all kernels: how each is stored, what it is computed in, and how
   one becomes another.

   Storage types have the names mat_f32, mat_i8, mat_bf16 ... 16-bit floats are computed in float
   and rounded once; integers are computed in `mat_whole`, whose arithmetic wraps around, as NumPy's
   does. `mat_widen` converts an element to the type that it is computed in, `mat_narrow<S>` a
   result to an element, `mat_convert<S>` an element of another type. Where only sums, products and
   an order are needed, integers are words without a sign: `mat_summand` converts to these, and
   `mat_element<S>` back. */
#ifndef MAT_ELEMENTS_CUH
#define MAT_ELEMENTS_CUH

#include "device.cuh"

/* The floats of 8 and 16 bits, which kernels see as their bits, as numbers of 32 bits and back: to
   nearest, ties to even */

/* The instructions of newer GPUs for 8 bits make the largest finite number of what is too large. */
#include "float8_inline.h"

/* Elements of 8 and 16 bits, as they are stored */
struct mat_e4m3 { uint8_t bits; };
struct mat_e5m2 { uint8_t bits; };
struct mat_f16 { uint16_t bits; };
struct mat_bf16 { uint16_t bits; };

/* Where there is no instruction for it: compute capability below 8.0. */
INLINE uint16_t to_bfloat_by_integers(float x) {
    uint32_t bits = __float_as_uint(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff; /* NaN, as the instruction has it */
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

#if defined(MAT_ON_CPU) /* on a GPU there is an instruction for each */
#include "half_inline.h"
#else
INLINE float from_bfloat(uint16_t bits) {
    return __uint_as_float((uint32_t)bits << 16);
}

INLINE float from_half(uint16_t bits) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}

INLINE uint16_t to_half(float x) {
    uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}

INLINE uint16_t to_bfloat(float x) {
#if __CUDA_ARCH__ < 800
    return to_bfloat_by_integers(x);
#else
    uint16_t bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
#endif
}
#endif

/* aligned to its size, so that an element is one access */
template <class R> struct alignas(2 * sizeof(R)) mat_complex {
    R re, im;
    mat_complex() = default;
    INLINE constexpr mat_complex(R real, R imaginary = 0) : re(real), im(imaginary) {}
};

/* Any byte but 0 is true: views of other elements as bool have all of them. */
struct mat_b1 {
    uint8_t byte;
    mat_b1() = default;
    INLINE constexpr mat_b1(bool x) : byte(x) {}
    INLINE constexpr operator bool() const { return byte != 0; }
};
typedef int8_t mat_i8;
typedef int16_t mat_i16;
typedef int32_t mat_i32;
typedef int64_t mat_i64;
typedef uint8_t mat_u8;
typedef uint16_t mat_u16;
typedef uint32_t mat_u32;
typedef uint64_t mat_u64;
typedef float mat_f32;
typedef double mat_f64;
typedef mat_complex<float> mat_c64;
typedef mat_complex<double> mat_c128;

/* All of them, with their numbers in frames: the order of the table in mat/support/dtypes.py */
#define MAT_TYPES(EACH) \
    EACH(0, mat_b1) \
    EACH(1, mat_i8) EACH(2, mat_i16) EACH(3, mat_i32) EACH(4, mat_i64) \
    EACH(5, mat_u8) EACH(6, mat_u16) EACH(7, mat_u32) EACH(8, mat_u64) \
    EACH(9, mat_f16) EACH(10, mat_bf16) EACH(11, mat_f32) EACH(12, mat_f64) \
    EACH(13, mat_c64) EACH(14, mat_c128) \
    EACH(15, mat_e4m3) EACH(16, mat_e5m2)

/* Kinds in the order of NumPy's "same_kind": a conversion to the same or a higher one is possible.
   */
enum { MAT_BOOLEAN, MAT_WHOLE, MAT_FLOATING, MAT_COMPLEX };
template <class S> struct mat_kind { static constexpr int of = MAT_WHOLE; };
template <> struct mat_kind<bool> { static constexpr int of = MAT_BOOLEAN; };
template <> struct mat_kind<mat_b1> { static constexpr int of = MAT_BOOLEAN; };
template <> struct mat_kind<mat_f16> { static constexpr int of = MAT_FLOATING; };
template <> struct mat_kind<mat_bf16> { static constexpr int of = MAT_FLOATING; };
template <> struct mat_kind<mat_e4m3> { static constexpr int of = MAT_FLOATING; };
template <> struct mat_kind<mat_e5m2> { static constexpr int of = MAT_FLOATING; };
template <> struct mat_kind<float> { static constexpr int of = MAT_FLOATING; };
template <> struct mat_kind<double> { static constexpr int of = MAT_FLOATING; };
template <class R> struct mat_kind<mat_complex<R>> { static constexpr int of = MAT_COMPLEX; };

template <class A, class B> struct mat_same { static constexpr bool as = false; };
template <class A> struct mat_same<A, A> { static constexpr bool as = true; };

/* Bits */

INLINE uint32_t mat_bits(float x) { return __float_as_uint(x); }
INLINE uint64_t mat_bits(double x) { return (uint64_t)__double_as_longlong(x); }
INLINE float mat_of_bits(uint32_t u) { return __uint_as_float(u); }
INLINE double mat_of_bits(uint64_t u) { return __longlong_as_double((int64_t)u); }

/* Complex numbers: arithmetic as NumPy does it */

INLINE float mat_product(float a, float b) { return __fmul_rn(a, b); }
INLINE double mat_product(double a, double b) { return __dmul_rn(a, b); }
template <class R> INLINE bool mat_nan(R x) { return x != x; }
template <class R> INLINE bool mat_finite(R x) { return x - x == 0; }
template <class R> INLINE bool mat_infinite(R x) { return !mat_nan(x) && !mat_finite(x); }

#define MAT_BOTH(return_type, name) \
    template<class R> INLINE return_type name(mat_complex<R> a, mat_complex<R> b)
MAT_BOTH(mat_complex<R>, operator+) { return {a.re + b.re, a.im + b.im}; }
MAT_BOTH(mat_complex<R>, operator-) { return {a.re - b.re, a.im - b.im}; }
template <class R> INLINE mat_complex<R> operator-(mat_complex<R> a) { return {-a.re, -a.im}; }
/* Products are not made one with additions, also where contraction is not off. */
MAT_BOTH(mat_complex<R>, operator*) {
    return {mat_product(a.re, b.re) - mat_product(a.im, b.im),
            mat_product(a.re, b.im) + mat_product(a.im, b.re)};
}

/* In the order of real parts, then of imaginary ones; nothing is ordered beside NaN. */
MAT_BOTH(bool, operator==) { return a.re == b.re && a.im == b.im; }
MAT_BOTH(bool, operator!=) { return a.re != b.re || a.im != b.im; }
MAT_BOTH(bool, operator<) {
    return (a.re < b.re && !mat_nan(a.im) && !mat_nan(b.im)) || (a.re == b.re && a.im < b.im);
}
MAT_BOTH(bool, operator<=) {
    return (a.re < b.re && !mat_nan(a.im) && !mat_nan(b.im)) || (a.re == b.re && a.im <= b.im);
}
MAT_BOTH(bool, operator>) { return b < a; }
MAT_BOTH(bool, operator>=) { return b <= a; }
template<class R> INLINE bool operator!=(mat_complex<R> a, int b) {
    return a.re != b || a.im != 0;
}
template<class R> INLINE bool operator==(mat_complex<R> a, int b) {
    return a.re == b && a.im == 0;
}
#undef MAT_BOTH

/* Floats of 8 and 16 bits */

INLINE float mat_widen(mat_e4m3 x) { return from_e4m3(x.bits); }
INLINE float mat_widen(mat_e5m2 x) { return from_e5m2(x.bits); }
/* A device's instruction need not keep the sign of a NaN. */
INLINE float mat_widen(mat_f16 x) {
    const uint32_t size = __float_as_uint(from_half(x.bits)) & 0x7fffffffu;
    return __uint_as_float(size | (x.bits & 0x8000u) << 16);
}
INLINE float mat_widen(mat_bf16 x) { return from_bfloat(x.bits); }
INLINE mat_f16 mat_to_half(float x) { return {to_half(x)}; }
INLINE mat_bf16 mat_to_bfloat(float x) { return {to_bfloat(x)}; }

/* The half nearest to a double: rounding to float first would be rounding twice */
#if defined(MAT_ON_CPU)
INLINE mat_f16 mat_to_half(double x) {
    const uint64_t bits = mat_bits(x), rest = bits & 0x7fffffffffffffffull;
    const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    if (rest > 0x7ff0000000000000ull) return {(uint16_t)(sign | 0x7e00)};
    const double size = mat_of_bits(rest);
    if (size >= 65520.0) return {(uint16_t)(sign | 0x7c00)};
    if (size < 0x1p-14)
        return {(uint16_t)(sign | (uint16_t)(mat_bits(size + 0x1p28) - mat_bits(0x1p28)))};
    const uint64_t nearest = rest + 0x1ffffffffffull + (rest >> 42 & 1);
    return {(uint16_t)(sign | (uint16_t)((nearest >> 42) - ((uint64_t)1008 << 10)))};
}
#else
INLINE mat_f16 mat_to_half(double x) {
    mat_f16 y;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(y.bits) : "d"(x));
    return y;
}
#endif

/* Integers */

template <int SIZE> struct mat_wrapping { typedef uint32_t type; };
template <> struct mat_wrapping<8> { typedef uint64_t type; };

template <class I> struct mat_whole {
    typedef typename mat_wrapping<sizeof(I)>::type U; /* where overflow is defined */
    I v;
    mat_whole() = default;
    INLINE constexpr mat_whole(I value) : v(value) {}
    friend INLINE mat_whole operator+(mat_whole a, mat_whole b) { return (I)((U)a.v + (U)b.v); }
    friend INLINE mat_whole operator-(mat_whole a, mat_whole b) { return (I)((U)a.v - (U)b.v); }
    friend INLINE mat_whole operator*(mat_whole a, mat_whole b) { return (I)((U)a.v * (U)b.v); }
    friend INLINE mat_whole operator-(mat_whole a) { return (I)(0 - (U)a.v); }
    friend INLINE bool operator==(mat_whole a, mat_whole b) { return a.v == b.v; }
    friend INLINE bool operator!=(mat_whole a, mat_whole b) { return a.v != b.v; }
    friend INLINE bool operator<(mat_whole a, mat_whole b) { return a.v < b.v; }
    friend INLINE bool operator<=(mat_whole a, mat_whole b) { return a.v <= b.v; }
    friend INLINE bool operator>(mat_whole a, mat_whole b) { return a.v > b.v; }
    friend INLINE bool operator>=(mat_whole a, mat_whole b) { return a.v >= b.v; }
    /* Division by 0 gives what NumPy's 1.0 / 0 gives on x86: the lowest number of the wider signed
       types, else 0. */
    friend INLINE mat_whole operator/(mat_whole a, mat_whole b) {
        if (b.v == 0)
            return sizeof(I) >= 4 && (I)-1 < (I)0 ? (I)((U)1 << (8 * sizeof(U) - 1)) : (I)0;
        return (I)(a.v / b.v);
    }
};

/* To the type of computation, and back */

INLINE float mat_widen(float x) { return x; }
INLINE double mat_widen(double x) { return x; }
INLINE bool mat_widen(bool x) { return x; }
INLINE bool mat_widen(mat_b1 x) { return x; }
template <class R> INLINE mat_complex<R> mat_widen(mat_complex<R> x) { return x; }
#define MAT_WIDEN_WHOLE(type) INLINE mat_whole<type> mat_widen(type x) { return x; }
MAT_WIDEN_WHOLE(mat_i8) MAT_WIDEN_WHOLE(mat_i16) MAT_WIDEN_WHOLE(mat_i32) MAT_WIDEN_WHOLE(mat_i64)
MAT_WIDEN_WHOLE(mat_u8) MAT_WIDEN_WHOLE(mat_u16) MAT_WIDEN_WHOLE(mat_u32) MAT_WIDEN_WHOLE(mat_u64)

template <class S> using mat_computed = decltype(mat_widen(S()));

/* A result as an element of the type S: of S's own type of computation, or of a comparison. */
template <class S> struct mat_narrowing {
    static INLINE S of(mat_whole<S> x) { return x.v; }
    static INLINE S of(bool x) { return (S)x; }
};
template <> struct mat_narrowing<bool> { static INLINE bool of(int x) { return x != 0; } };
template <> struct mat_narrowing<mat_b1> { static INLINE mat_b1 of(int x) { return x != 0; } };
template <> struct mat_narrowing<float> { static INLINE float of(float x) { return x; } };
template <> struct mat_narrowing<double> { static INLINE double of(double x) { return x; } };
template<> struct mat_narrowing<mat_f16> {
    static INLINE mat_f16 of(float x) { return mat_to_half(x); }
};
template<> struct mat_narrowing<mat_bf16> {
    static INLINE mat_bf16 of(float x) { return mat_to_bfloat(x); }
};
template<> struct mat_narrowing<mat_e4m3> {
    static INLINE mat_e4m3 of(float x) { return {to_e4m3(x)}; }
};
template<> struct mat_narrowing<mat_e5m2> {
    static INLINE mat_e5m2 of(float x) { return {to_e5m2(x)}; }
};
template <class R> struct mat_narrowing<mat_complex<R>> {
    static INLINE mat_complex<R> of(mat_complex<R> x) { return x; }
    static INLINE mat_complex<R> of(bool x) { return (R)x; }
};
template <class S, class X> INLINE S mat_narrow(X x) { return mat_narrowing<S>::of(x); }

/* What elements are added up in, and such a number as an element */

template <class S> INLINE auto mat_summand(S x) {
    if constexpr (mat_kind<S>::of == MAT_WHOLE) return (typename mat_wrapping<sizeof(S)>::type)x;
    else return mat_widen(x);
}
template <class S> using mat_summed = decltype(mat_summand(S()));
template <class S, class X> INLINE S mat_element(X x) {
    if constexpr (mat_kind<S>::of == MAT_WHOLE) return (S)x;
    else return mat_narrow<S>(x);
}

/* From one type of elements to another */

template <class S> INLINE S mat_plain(S x) { return x; }
INLINE float mat_plain(mat_f16 x) { return mat_widen(x); }
INLINE float mat_plain(mat_bf16 x) { return mat_widen(x); }
INLINE float mat_plain(mat_e4m3 x) { return mat_widen(x); }
INLINE float mat_plain(mat_e5m2 x) { return mat_widen(x); }

template <class S> struct mat_conversion {
    template <class A> static INLINE S of(A x) { return (S)mat_plain(x); }
};
template <> struct mat_conversion<mat_f16> {
    template<class A> static INLINE mat_f16 of(A x) { return mat_to_half((float)mat_plain(x)); }
    static INLINE mat_f16 of(double x) { return mat_to_half(x); }
    static INLINE mat_f16 of(mat_f16 x) { return x; }
};
template <> struct mat_conversion<mat_bf16> {
    template<class A> static INLINE mat_bf16 of(A x) {
        return mat_to_bfloat((float)mat_plain(x));
    }
    static INLINE mat_bf16 of(mat_bf16 x) { return x; }
};
template <> struct mat_conversion<mat_e4m3> {
    template<class A> static INLINE mat_e4m3 of(A x) { return {to_e4m3((float)mat_plain(x))}; }
    static INLINE mat_e4m3 of(mat_e4m3 x) { return x; }
};
template <> struct mat_conversion<mat_e5m2> {
    template<class A> static INLINE mat_e5m2 of(A x) { return {to_e5m2((float)mat_plain(x))}; }
    static INLINE mat_e5m2 of(mat_e5m2 x) { return x; }
};
template <class R> struct mat_conversion<mat_complex<R>> {
    template <class A> static INLINE mat_complex<R> of(A x) { return (R)mat_plain(x); }
    template<class A> static INLINE mat_complex<R> of(mat_complex<A> x) {
        return {(R)x.re, (R)x.im};
    }
};
template <class S, class A> INLINE S mat_convert(A x) { return mat_conversion<S>::of(x); }

/* Several adjacent elements, and how many of two types are 16 bytes of the wider one */
template <class S, int V> struct alignas(sizeof(S) * V) mat_pack {
    S at[V];
};

template <class S, class R> struct mat_widest {
    static constexpr int V = 16 / (sizeof(S) > sizeof(R) ? sizeof(S) : sizeof(R));
};

/* A number of the call as an element: a pair of real and imaginary part, or, for integers of 64
   bits, of its two halves, since a double cannot represent them all. */
template <class S> INLINE S mat_number(const double *pair) {
    if constexpr (mat_kind<S>::of == MAT_COMPLEX) {
        return mat_convert<S>(mat_c128(pair[0], pair[1]));
    } else if constexpr (mat_kind<S>::of == MAT_WHOLE && sizeof(S) == 8) {
        return (S)((uint64_t)pair[0] | (uint64_t)pair[1] << 32);
    } else if constexpr (mat_kind<S>::of == MAT_WHOLE) {
        return (S)(int64_t)pair[0];
    } else {
        return mat_convert<S>(pair[0]);
    }
}

#endif
