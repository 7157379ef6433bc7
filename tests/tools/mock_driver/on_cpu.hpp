/* Kernels for the device, compiled by a C++ compiler and run on the CPU: device.cuh includes this
   file under MAT_ON_CPU.

   One thread of the operating system runs the blocks one after the other (grid.hpp); the threads of
   a block are fibres (fibres.hpp), so that barriers and shuffles (barriers.hpp) work as on a GPU.
   Threads run in their natural order, or in one that a seed shuffles. Shared memory is poisoned
   before each block. Errors that cause a fault or wrong numbers on a GPU are reported: barriers
   that not all threads reach, lanes that a mask leaves out, misaligned accesses, overrun shared
   arrays, writes beyond the dynamic shared memory. */
#ifndef MAT_ON_CPU_HPP
#define MAT_ON_CPU_HPP

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __grid_constant__

#include "grid.hpp"
#include "undefined.hpp"
#include "builtins.hpp"

#define threadIdx (on_cpu::now->index)
#define blockIdx (on_cpu::block_index)
#define blockDim (on_cpu::block_size)
#define gridDim (on_cpu::grid_size)

#define MAT_SHARED(type, name, size)                          \
    static type name size;                                    \
    static uint64_t name##_of_block = 0;                      \
    on_cpu::poison_once(name##_of_block, (void *)&name, sizeof name)

#define MAT_DYNAMIC_SHARED(name) char *const name = on_cpu::dynamic_shared

#define MAT_KERNEL(name, frame_struct, threads) MAT_KERNEL_ON_CPU(name, frame_struct, threads)
#define MAT_KERNEL_ON_CPU(name, frame_struct, threads) \
    static void name##_on_cpu(const frame_struct &frame, const mat_call &call); \
    static void name##_thread(const void *frame, const void *call) { \
        name##_on_cpu(*static_cast<const frame_struct *>(frame), \
                      *static_cast<const mat_call *>(call)); \
    } \
    extern "C" __attribute__((visibility("default"))) const on_cpu::kernel *name() { \
        static_assert(sizeof(frame_struct) % 8 == 0 && alignof(frame_struct) == 8, \
                      "a frame has int64_t only"); \
        static const on_cpu::kernel found = {name##_thread, sizeof(frame_struct), threads, \
                                             #name}; \
        return &found; \
    } \
    static void name##_on_cpu([[maybe_unused]] const frame_struct &frame, \
                              [[maybe_unused]] const mat_call &call)

#endif
