/* Included by every kernel for the device: how kernels are defined, and the fixed-width types, for
   which NVRTC has no header.

       MAT_KERNEL(name, frame_struct, threads) { ... frame.n ... call.at[0] ... call.numbers[0] ...
   }

   defines the kernel `name`, for blocks of at most `threads`. As on the CPU (call.h) a kernel gets
   a frame of sizes, a struct of int64_t only, which operands of the same form share, and the call:
   the addresses of the operands, in the order of the operation, and its numbers, as pairs of real
   and imaginary part. An operand that is a number has the address 0, and its pair after those of
   the numbers. With MAT_ON_CPU the same source is compiled by a C++ compiler and run by the tests.
   */
#ifndef MAT_DEVICE_CUH
#define MAT_DEVICE_CUH

#if defined(MAT_ON_CPU)
#include <stdint.h>
#else
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#endif

#define INLINE __device__ __forceinline__

struct mat_call {
    char *at[16];
    double numbers[2 * 24];
};

#if defined(MAT_ON_CPU)
#include "on_cpu.hpp"
#else
#define MAT_KERNEL(name, frame_struct, threads) \
    extern "C" __global__ void __launch_bounds__(threads) \
        name(const __grid_constant__ frame_struct frame, const __grid_constant__ mat_call call)
#define MAT_SHARED(type, name, size) __shared__ type name size
#define MAT_DYNAMIC_SHARED(name) extern __shared__ __align__(16) char name[]
#endif

/* Words of so many bytes, to move elements by */
template <int BYTES> struct mat_words {};
template <> struct mat_words<1> { typedef uint8_t type; };
template <> struct mat_words<2> { typedef uint16_t type; };
template <> struct mat_words<4> { typedef uint32_t type; };
template <> struct mat_words<8> { typedef uint2 type; };
template <> struct mat_words<16> { typedef uint4 type; };

#endif
