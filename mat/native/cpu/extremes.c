/* The largest and smallest of many adjacent elements, and the places of those of rows, on
   processors with AVX-512; others have too few registers to gain by this. */
#include "mat.h"

#include "call.h"
#include "reduce.h"

#include "reduce_inline.h"

#ifdef WIDE

#define T float
#define V __m512
#define P ps
#define Q ps
#define N(name) PASTED(name, f)
#include "extremes_inline.h"

#define T double
#define V __m512d
#define P pd
#define Q pd
#define N(name) PASTED(name, d)
#include "extremes_inline.h"

#define T int8_t
#define V __m512i
#define P epi8
#define Q epi8
#define N(name) PASTED(name, i8)
#include "extremes_inline.h"

#define T int16_t
#define V __m512i
#define P epi16
#define Q epi16
#define N(name) PASTED(name, i16)
#include "extremes_inline.h"

#define T int32_t
#define V __m512i
#define P epi32
#define Q epi32
#define N(name) PASTED(name, i32)
#include "extremes_inline.h"

#define T int64_t
#define V __m512i
#define P epi64
#define Q epi64
#define N(name) PASTED(name, i64)
#include "extremes_inline.h"

#define T uint8_t
#define V __m512i
#define P epi8
#define Q epu8
#define N(name) PASTED(name, u8)
#include "extremes_inline.h"

#define T uint16_t
#define V __m512i
#define P epi16
#define Q epu16
#define N(name) PASTED(name, u16)
#include "extremes_inline.h"

#define T uint32_t
#define V __m512i
#define P epi32
#define Q epu32
#define N(name) PASTED(name, u32)
#include "extremes_inline.h"

#define T uint64_t
#define V __m512i
#define P epi64
#define Q epu64
#define N(name) PASTED(name, u64)
#include "extremes_inline.h"

#endif
