/* Two normal numbers from two uniform ones (Box and Muller, 1958), in operations that IEEE 754
   rounds in one way only: + - * / and sqrt, in the order in which they are written. So C, CUDA and
   NumPy give the same bits, provided that the compiler does not contract a product and a sum: files
   that include this are compiled with contraction off.

   One half of a block of words is an angle: two bits choose a quarter of the circle, the others a
   position in it; the other half is the radius. The coefficients are minimax, by Remez's algorithm,
   of these functions, with z = s^2, on [0, 0.02944] and, the last two, on [0, 0.25]:

       (2 atanh(s)/s - 2) / z    sin(pi s/2)/s    (cos(pi s/2) - 1) / z

   `mat/ops/primitives/philox.py` has them as well. */
#ifndef MAT_NORMAL_INLINE_H
#define MAT_NORMAL_INLINE_H

#include "bits_inline.h"

/* sqrt(-2 log u) for u = (word + 1/2) / 2^32. It is log(2^k (1 + f)); where u is so near to 1 that
   k is 0, f is the distance from 1, which is more exact than u. */
INLINE float radius_f(uint32_t word) {
    float nearest = ((float)(int32_t)(word >> 31 ? ~word : word) + 0.5f) * 0x1p-32f; /* to 0 or 1 */
    union { float f; int32_t i; } m = {word >> 31 ? 1.0f - nearest : nearest};
    int32_t above = m.i - 0x3f3504f3; /* sqrt(1/2) */
    m.i = (above & 0x007fffff) + 0x3f3504f3;
    float k = (float)(above >> 23), f = above >> 23 ? m.f - 1.0f : -nearest;
    float s = f / (2.0f + f), z = s * s, h = 0.5f * f * f;
    float r = z * (0.66666687f + z * (0.39988717f + z * 0.29582152f));
    float log = k * 0.69314575f + (k * 1.4286068e-06f + (f - (h - s * (h + r))));
    return sqrtf(-2.0f * log);
}

INLINE void normal_pair_f(uint32_t first, uint32_t second, float *x, float *y) {
    float s = (float)(int32_t)((second << 2) | 2u) * 0x1p-32f, z = s * s;
    float sine = s * (1.5707964f + z * (-0.6459635f + z * (0.07968023f + z * -0.0046021766f)));
    float cosine =
        1.0f + z * (-1.2337005f + z * (0.2536694f + z * (-0.020861529f + z * 0.0009067435f)));
    float radius = radius_f(first);
    int swapped = (second >> 30) & 1;
    radius = second >> 31 ? -radius : radius;
    *x = radius * (swapped ? sine : cosine);
    *y = radius * (swapped ? cosine : sine);
}

/* sqrt(-2 log u) for u = (high * 2^32 + low + 1/2) / 2^64. */
INLINE double radius_d(uint32_t high, uint32_t low) {
    double nearest = (double)(int32_t)(high >> 31 ? ~high : high) * 0x1p-32
                   + ((double)(high >> 31 ? ~low : low) + 0.5) * 0x1p-64;
    union { double f; int64_t i; } m = {high >> 31 ? 1.0 - nearest : nearest};
    int64_t above = m.i - 0x3fe6a09e667f3bcdll; /* sqrt(1/2) */
    m.i = (above & 0x000fffffffffffffll) + 0x3fe6a09e667f3bcdll;
    double k = (double)(int32_t)(above >> 52), f = above >> 52 ? m.f - 1.0 : -nearest;
    double s = f / (2.0 + f), z = s * s, h = 0.5 * f * f;
    double r = z * (0.666666666666667 +
                    z * (0.39999999999898445 +
                         z * (0.28571428626398954 +
                              z * (0.2222221107285613 +
                                   z * (0.18182893217809906 +
                                        z * (0.15331597003764186 + z * 0.14617871940549487))))));
    double log = k * 0.6931471803691238 + (k * 1.9082149292705877e-10 + (f - (h - s * (h + r))));
    return sqrt(-2.0 * log);
}

INLINE void normal_pair_d(uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3, double *x,
                          double *y) {
    double s = (double)(int32_t)((w2 << 2) | (w3 >> 30)) * 0x1p-32 +
               ((double)(int32_t)(w3 & 0x3fffffffu) + 0.5) * 0x1p-62;
    double z = s * s;
    double sine =
        s * (1.5707963267948966 +
             z * (-0.6459640975062443 +
                  z * (0.07969262624604308 +
                       z * (-0.004681754132342277 +
                            z * (0.0001604411507521794 +
                                 z * (-3.5986433883708526e-06 + z * 5.63393848575394e-08))))));
    double cosine =
        1.0 +
        z * (-1.2337005501361697 +
             z * (0.2536695079010478 +
                  z * (-0.02086348076334078 +
                       z * (0.0009192602745469584 +
                            z * (-2.5202039028902472e-05 +
                                 z * (4.710678436428263e-07 + z * -6.3294004536770836e-09))))));
    double radius = radius_d(w0, w1);
    int swapped = (w2 >> 30) & 1;
    radius = w2 >> 31 ? -radius : radius;
    *x = radius * (swapped ? sine : cosine);
    *y = radius * (swapped ? cosine : sine);
}

#endif
