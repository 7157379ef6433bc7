/* How the kernels were compiled: the build passes the flags that it used as MAT_FLAGS. */
#include "mat.h"

#include "config.h"

#ifndef MAT_FLAGS
#define MAT_FLAGS "unknown"
#endif

#if defined(__clang__)
#define COMPILER __VERSION__ /* begins with the name */
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

const char *mat_compiler(void) { return COMPILER; }

const char *mat_flags(void) { return MAT_FLAGS; }

/* The version of the functions marked MAT_CLONES that the loader has chosen; the conditions are
   those of the levels of x86-64. */
const char *mat_machine(void) {
#ifndef MAT_HAS_CLONES
    return "that of the flags";
#else
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return "x86-64-v4";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2"))
        return "x86-64-v3";
    return "x86-64";
#endif
}
