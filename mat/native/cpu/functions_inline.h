/* What the light lines of elementwise.def are written in, for floating-point numbers and bool. */
#ifndef MAT_FUNCTIONS_INLINE_H
#define MAT_FUNCTIONS_INLINE_H

#include "bits_inline.h"

#define mat_sqrt_f32 sqrtf
#define mat_sqrt_f64 sqrt
#define mat_fabs_f32 fabsf
#define mat_fabs_f64 fabs
#define mat_floor_f32 floorf
#define mat_floor_f64 floor
#define mat_ceil_f32 ceilf
#define mat_ceil_f64 ceil
#define mat_rint_f32 rintf
#define mat_rint_f64 rint
#define mat_trunc_f32 truncf
#define mat_trunc_f64 trunc
#define mat_inverse_f32(x) (1 / (x))
#define mat_inverse_f64(x) (1 / (x))
#define mat_copysign_f32 copysignf
#define mat_copysign_f64 copysign
#define mat_signbit_f32(x) (mat_bits_f32(x) >> 31)
#define mat_signbit_f64(x) (mat_bits_f64(x) >> 63)

#define mat_fabs_b1(x) (x)
#define mat_floor_b1(x) (x)
#define mat_ceil_b1(x) (x)
#define mat_trunc_b1(x) (x)
#define mat_invert_b1(x) ((x) == 0)

#endif
