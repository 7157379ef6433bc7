/* Convolution of images with channels and its derivatives; the same source for float and double. */
#include "window_inline.h"

#include "conv.h"

#define T float
#define NAME(x) x##_f
#define LANES 8
typedef int32_t bits_f;
#include "conv_inline.h"
#include "conv_to_w_inline.h"
#undef T
#undef NAME
#undef LANES

#define T double
#define NAME(x) x##_d
#define LANES 4
typedef int64_t bits_d;
#include "conv_inline.h"
#include "conv_to_w_inline.h"
