/* The largest and smallest of many adjacent elements, on processors with AVX-512; others have too
   few registers to gain by this. */
#include "mat.h"

#include "call.h"
#include "reduce.h"

#include "reduce_inline.h"

#ifndef WIDE
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
#define N(name) PASTED(name, i64)
#include "extremes_inline.h"
