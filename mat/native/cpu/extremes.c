/* The largest and smallest of many adjacent elements, on processors with AVX-512; others have too
   few registers to gain by this. */
#include "mat.h"

#include "call.h"
#include "reduce.h"

#include "reduce_inline.h"

#ifdef MAT_HAS_CLONES
#define WIDE __attribute__((target("arch=x86-64-v4")))
#define HAS_WIDE __builtin_cpu_supports("x86-64-v4")
#elif defined(__AVX512F__)
#define WIDE
#define HAS_WIDE 1
#else
#define WIDE __attribute__((unused))
#define HAS_WIDE 0
#endif

#define T float
#define N(name) PASTED(name, f)
#include "extremes_inline.h"
#undef T
#undef N
#define T double
#define N(name) PASTED(name, d)
#include "extremes_inline.h"
#undef T
#undef N
#define T int64_t
#define N(name) PASTED(name, l)
#include "extremes_inline.h"
