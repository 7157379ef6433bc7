/* Products of a tall and a thin matrix. */
#include "mat.h"

#include "call.h"

#include "thin.h"

/* Columns of B are multiplied four at a time, rows of A three at a time: twelve vectors of sums,
   which wait for each other as little as registers allow. */
enum { ROWS = 3, GROUP = 4, ROOM = 16384 /* bytes of B that are packed at a time */ };
#define EACH(i, n) _Pragma("GCC unroll 4") for (int i = 0; i < (n); i++)

#define T float
#define N(name) name##_f32
#include "thin_inline.h"
#undef T
#undef N

#define T double
#define N(name) name##_f64
#include "thin_inline.h"
