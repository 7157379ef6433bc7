/* CUDA's built-in functions and types in C++: what kernels may use, no more. Atomics are plain
   code, since fibres take turns. */
#ifndef MAT_BUILTINS_HPP
#define MAT_BUILTINS_HPP

#include "barriers.hpp"

static const int warpSize = 32;

// Vectors

#define MAT_VECTORS(base, type, two, four) \
    struct __align__(2 * sizeof(type)) base##2 { type x, y; }; \
    struct __align__(four) base##4 { type x, y, z, w; }; \
    static_assert(sizeof(base##2) == two, ""); \
    inline base##2 make_##base##2(type x, type y) { return {x, y}; } \
    inline base##4 make_##base##4(type x, type y, type z, type w) { return {x, y, z, w}; }
MAT_VECTORS(uint, unsigned, 8, 16)
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
MAT_VECTORS(char, signed char, 2, 4)
MAT_VECTORS(uchar, unsigned char, 2, 4)
MAT_VECTORS(short, short, 4, 8)
MAT_VECTORS(ushort, unsigned short, 4, 8)
MAT_VECTORS(int, int, 8, 16)
MAT_VECTORS(longlong, long long, 16, 16)
MAT_VECTORS(ulonglong, unsigned long long, 16, 16)
MAT_VECTORS(float, float, 8, 16)
MAT_VECTORS(double, double, 16, 16)

namespace on_cpu {

template<class T> struct same { typedef T type; };
template<class T> using as = typename same<T>::type;  // an argument that does not help to find T

template<class To, class From> inline To bits(const From &from) {
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

template<class T> inline uint64_t word(const T &value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 2, "what a shuffle can move");
    uint64_t w = 0;
    memcpy(&w, &value, sizeof value);
    return w;
}

template<class T> inline T shuffled_value(unsigned mask, const T &value, unsigned source) {
    uint64_t w = meet_warp(SHUFFLE, mask, word(value), source);
    T got;
    memcpy(&got, &w, sizeof got);
    return got;
}

inline unsigned lane() { return now->number & 31; }

inline unsigned segment(int width) {  // the first lane of ours
    if (width <= 0 || width > 32 || width & (width - 1)) fail("a shuffle of width %d", width);
    return lane() & ~unsigned(width - 1);
}

inline float half_to_float(uint16_t half) {
    uint32_t sign = uint32_t(half & 0x8000u) << 16, exponent = half >> 10 & 31,
             fraction = half & 1023;
    if (exponent == 31) return bits<float>(sign | 0x7f800000u | fraction << 13);
    float size = exponent ? ldexpf(float(1024 + fraction), int(exponent) - 25)
                          : ldexpf(float(fraction), -24);
    return sign ? -size : size;
}

inline uint16_t float_to_half(float value) {  // to nearest, ties to even
    uint32_t u = bits<uint32_t>(value), sign = u >> 16 & 0x8000u;
    u &= 0x7fffffffu;
    if (u > 0x7f800000u) return uint16_t(sign | 0x7e00u | (u >> 13 & 0x3ffu));
    if (u >= 0x47800000u) return uint16_t(sign | 0x7c00u);
    if (u < 0x38800000u) return uint16_t(sign | uint32_t(rintf(ldexpf(bits<float>(u), 24))));
    uint32_t odd = u >> 13 & 1;
    return uint16_t(sign | ((u - 0x38000000u + 0xfffu + odd) >> 13));
}

}  // namespace on_cpu

// Barriers, shuffles and votes

inline void __syncthreads() { on_cpu::meet_block(0); }
inline int __syncthreads_count(int p) { return int(on_cpu::meet_block(p != 0)); }
inline int __syncthreads_or(int p) { return __syncthreads_count(p) != 0; }
inline int __syncthreads_and(int p) { return __syncthreads_count(!p) == 0; }
inline void __syncwarp(unsigned mask = ~0u) { on_cpu::meet_warp(on_cpu::SYNC, mask, 0, 0); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

template<class T> inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    return on_cpu::shuffled_value(
        mask, value, on_cpu::segment(width) + (unsigned(source) & unsigned(width - 1)));
}
template<class T> inline T __shfl_xor_sync(unsigned mask, T value, int flip, int width = 32) {
    unsigned me = on_cpu::lane(), other = me ^ unsigned(flip);
    return on_cpu::shuffled_value(mask, value,
                                  other < on_cpu::segment(width) + unsigned(width) ? other : me);
}
template<class T> inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
    unsigned me = on_cpu::lane(), other = me + by;
    return on_cpu::shuffled_value(mask, value,
                                  other < on_cpu::segment(width) + unsigned(width) ? other : me);
}
template<class T> inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
    unsigned me = on_cpu::lane();
    return on_cpu::shuffled_value(mask, value, me - on_cpu::segment(width) >= by ? me - by : me);
}
inline unsigned __ballot_sync(unsigned mask, int p) {
    return unsigned(on_cpu::meet_warp(on_cpu::BALLOT, mask, p != 0, 0));
}
inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
inline int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, !p) == 0; }
inline unsigned __reduce_add_sync(unsigned mask, unsigned v) {
    return unsigned(on_cpu::meet_warp(on_cpu::ADD, mask, v, 0));
}
inline int __reduce_add_sync(unsigned mask, int v) {
    return int(on_cpu::meet_warp(on_cpu::ADD, mask, unsigned(v), 0));
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned v) {
    return unsigned(on_cpu::meet_warp(on_cpu::ULEAST, mask, v, 0));
}
inline int __reduce_min_sync(unsigned mask, int v) {
    return int(on_cpu::meet_warp(on_cpu::LEAST, mask, unsigned(v), 0));
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned v) {
    return unsigned(on_cpu::meet_warp(on_cpu::UGREATEST, mask, v, 0));
}
inline int __reduce_max_sync(unsigned mask, int v) {
    return int(on_cpu::meet_warp(on_cpu::GREATEST, mask, unsigned(v), 0));
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned v) {
    return unsigned(on_cpu::meet_warp(on_cpu::AND, mask, v, 0));
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned v) {
    return unsigned(on_cpu::meet_warp(on_cpu::OR, mask, v, 0));
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned v) {
    return unsigned(on_cpu::meet_warp(on_cpu::XOR, mask, v, 0));
}

// Atomics

#define MAT_ATOMIC(name, what)                                                \
    template<class T> inline T name(T *at, on_cpu::as<T> v) {                 \
        on_cpu::atomic_access one(at, sizeof(T));                             \
        T old = *at;                                                          \
        *at = T(what);                                                        \
        return old;                                                           \
    }                                                                         \
    template<class T> inline T name##_block(T *at, on_cpu::as<T> v) { return name(at, v); }
MAT_ATOMIC(atomicAdd, old + v)
MAT_ATOMIC(atomicSub, old - v)
MAT_ATOMIC(atomicExch, v)
MAT_ATOMIC(atomicMin, v < old ? v : old)
MAT_ATOMIC(atomicMax, v > old ? v : old)
MAT_ATOMIC(atomicAnd, old & v)
MAT_ATOMIC(atomicOr, old | v)
MAT_ATOMIC(atomicXor, old ^ v)
MAT_ATOMIC(atomicInc, old >= v ? 0 : old + 1)
MAT_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
template<class T> inline T atomicCAS(T *at, on_cpu::as<T> expected, on_cpu::as<T> v) {
    on_cpu::atomic_access one(at, sizeof(T));
    T old = *at;
    if (old == expected) *at = v;
    return old;
}

// Loads and stores with hints

template<class T> inline T __ldg(const T *at) { return *at; }
template<class T> inline T __ldcs(const T *at) { return *at; }
template<class T> inline T __ldcg(const T *at) { return *at; }
template<class T> inline T __ldca(const T *at) { return *at; }
template<class T> inline T __ldlu(const T *at) { return *at; }
template<class T> inline T __ldcv(const T *at) { return *at; }
template<class T> inline void __stcs(T *at, on_cpu::as<T> v) { *at = v; }
template<class T> inline void __stcg(T *at, on_cpu::as<T> v) { *at = v; }
template<class T> inline void __stwb(T *at, on_cpu::as<T> v) { *at = v; }
template<class T> inline void __stwt(T *at, on_cpu::as<T> v) { *at = v; }

// Integers

template<class A, class B> inline typename std::common_type<A, B>::type min(A a, B b) {
    typedef typename std::common_type<A, B>::type T;
    if constexpr (std::is_floating_point<T>::value) return T(fmin(T(a), T(b)));
    else return T(b) < T(a) ? T(b) : T(a);
}
template<class A, class B> inline typename std::common_type<A, B>::type max(A a, B b) {
    typedef typename std::common_type<A, B>::type T;
    if constexpr (std::is_floating_point<T>::value) return T(fmax(T(a), T(b)));
    else return T(a) < T(b) ? T(b) : T(a);
}
inline int __mulhi(int a, int b) { return int(int64_t(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(uint64_t(a) * b >> 32); }
inline long long __mul64hi(long long a, long long b) {
    return (long long)((__int128(a) * b) >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)(a) * b >> 64);
}
inline int __clz(int v) { return v ? __builtin_clz(unsigned(v)) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)(v)) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline unsigned __brev(unsigned v) {
    unsigned r = 0;
    for (int k = 0; k < 32; k++) r |= (v >> k & 1) << (31 - k);
    return r;
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    uint64_t both = uint64_t(b) << 32 | a;
    unsigned r = 0;
    for (int k = 0; k < 4; k++) {
        unsigned s = selector >> 4 * k & 15, byte = unsigned(both >> 8 * (s & 7)) & 255;
        r |= (s & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * k;
    }
    return r;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return unsigned((uint64_t(high) << 32 | low) << (by & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return unsigned((uint64_t(high) << 32 | low) >> (by & 31));
}
inline int __dp4a(int a, int b, int c) {
    for (int k = 0; k < 4; k++) c += int(int8_t(a >> 8 * k)) * int(int8_t(b >> 8 * k));
    return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int k = 0; k < 4; k++) c += (a >> 8 * k & 255) * (b >> 8 * k & 255);
    return c;
}

// Floating point

inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1 / cbrtf(x); }
inline double rcbrt(double x) { return 1 / cbrt(x); }
inline float sinpif(float x) { return float(sin(M_PI * fmod(double(x), 2))); }
inline float cospif(float x) { return float(cos(M_PI * fmod(double(x), 2))); }
inline double sinpi(double x) { return double(sinl(M_PIl * fmodl(x, 2))); }
inline double cospi(double x) { return double(cosl(M_PIl * fmodl(x, 2))); }
inline void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
inline void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline void __sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }
inline float __frcp_rn(float a) { return 1 / a; }
inline double __drcp_rn(double a) { return 1 / a; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline float __frsqrt_rn(float a) { return float(1 / sqrt(double(a))); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline int __float_as_int(float v) { return on_cpu::bits<int>(v); }
inline unsigned __float_as_uint(float v) { return on_cpu::bits<unsigned>(v); }
inline float __int_as_float(int v) { return on_cpu::bits<float>(v); }
inline float __uint_as_float(unsigned v) { return on_cpu::bits<float>(v); }
inline long long __double_as_longlong(double v) { return on_cpu::bits<long long>(v); }
inline double __longlong_as_double(long long v) { return on_cpu::bits<double>(v); }
inline int __double2hiint(double v) { return int(on_cpu::bits<int64_t>(v) >> 32); }
inline int __double2loint(double v) { return int(on_cpu::bits<int64_t>(v)); }
inline double __hiloint2double(int high, int low) {
    return on_cpu::bits<double>(int64_t(high) << 32 | unsigned(low));
}
inline int __float2int_rn(float v) { return int(rintf(v)); }
inline int __float2int_rz(float v) { return int(v); }
inline int __float2int_rd(float v) { return int(floorf(v)); }
inline int __double2int_rn(double v) { return int(rint(v)); }
inline int __double2int_rz(double v) { return int(v); }
inline long long __float2ll_rn(float v) { return (long long)(rintf(v)); }
inline long long __double2ll_rn(double v) { return (long long)(rint(v)); }
inline float __int2float_rn(int v) { return float(v); }
inline float __uint2float_rn(unsigned v) { return float(v); }
inline float __ll2float_rn(long long v) { return float(v); }
inline float __ull2float_rn(unsigned long long v) { return float(v); }
inline float __double2float_rn(double v) { return float(v); }
inline double __ll2double_rn(long long v) { return double(v); }
inline double __ull2double_rn(unsigned long long v) { return double(v); }
inline void __trap() { on_cpu::fail("__trap()"); }
inline void __nanosleep(unsigned) {}
#endif
