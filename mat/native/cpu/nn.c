/* Convolution, pooling and their derivatives; the same source for float and double.

   Rows of the input are first copied into a buffer with zeros around them, in parts by their
   position modulo the step. All taps then read adjacent elements for adjacent outputs, whatever the
   step and the strides, and no tap tests for the border. */
#include "window_inline.h" /* which includes nn.h, the declarations of what is defined here */

#define T float
#define NAME(x) x##_f
#define LANES 8
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD 1, 3, 5, 7, 9, 11, 13, 15
#define LOW 0, 0, 1, 1, 2, 2, 3, 3
#define HIGH 4, 4, 5, 5, 6, 6, 7, 7
typedef int32_t bits_f;
#include "convolve_inline.h"
#include "pool_inline.h"
#undef T
#undef NAME
#undef LANES
#undef EVEN
#undef ODD
#undef LOW
#undef HIGH

#define T double
#define NAME(x) x##_d
#define LANES 4
#define EVEN 0, 2, 4, 6
#define ODD 1, 3, 5, 7
#define LOW 0, 0, 1, 1
#define HIGH 2, 2, 3, 3
typedef int64_t bits_d;
#include "convolve_inline.h"
#include "pool_inline.h"
