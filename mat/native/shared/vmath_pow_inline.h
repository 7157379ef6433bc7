/* Vector mathematics: erf and pow, of double and float; see vmath_inline.h. */
#ifndef MAT_VMATH_POW_INLINE_H
#define MAT_VMATH_POW_INLINE_H

#include "vmath_f32_inline.h"
#include "vmath_f64_inline.h"
#include "vmath_log_inline.h"

/* erf: an odd polynomial up to 1; above, 1 - erfc(x), where log(erfc(x)) is a polynomial in
   x - 1 */

INLINE double mat_erf_f64(double x)
{
    double a = mat_abs_f64(x), z = a * a, t = (a > 6 ? 6 : a) - 1;
    double p = 0x1.685403a90987ap-33, q = -0x1.5467c46aa25d5p-38;
    q = FMA(q, t, 0x1.051ce5c640fbdp-33);
    q = FMA(q, t, -0x1.691569c9085bep-30);
    q = FMA(q, t, 0x1.23ac57b9a122ep-27);
    q = FMA(q, t, -0x1.1deb94006672ep-25);
    q = FMA(q, t, 0x1.f025035b5b31ap-25);
    p = FMA(p, z, -0x1.e4ad99f7c73e6p-30);
    q = FMA(q, t, 0x1.b8b89099d016dp-23);
    p = FMA(p, z, 0x1.181829abafeebp-26);
    q = FMA(q, t, -0x1.1e34ad5f48e6bp-19);
    p = FMA(p, z, -0x1.647234309a05ep-23);
    q = FMA(q, t, 0x1.4487398ef575dp-17);
    p = FMA(p, z, 0x1.ba8230d95a838p-20);
    q = FMA(q, t, -0x1.c8531b88dd54bp-16);
    p = FMA(p, z, -0x1.f4dec48770f8cp-17);
    q = FMA(q, t, 0x1.b92dab98301fep-16);
    p = FMA(p, z, 0x1.f9a3cf9a0b0dcp-14);
    q = FMA(q, t, 0x1.f1b05345237d3p-13);
    p = FMA(p, z, -0x1.c02db9e1f3272p-11);
    q = FMA(q, t, -0x1.033f5a5aea895p-9);
    p = FMA(p, z, 0x1.565bcd2faaaf3p-8);
    q = FMA(q, t, 0x1.48c9d384da846p-7);
    p = FMA(p, z, -0x1.b82ce31366595p-6);
    q = FMA(q, t, -0x1.5477f099eb435p-5);
    p = FMA(p, z, 0x1.ce2f21a045b8fp-4);
    q = FMA(q, t, -0x1.afabc11a2ab60p-1);
    p = FMA(p, z, -0x1.812746b037a27p-2);
    q = FMA(q, t, -0x1.51c9b0006c225p+1);
    p = FMA(p, z, 0x1.06eba8214db69p-3);
    q = FMA(q, t, -0x1.d97fbf27aa2a1p+0);
    double low, r;
    uint64_t power;
    r = mat_exp_reduce_f64(q, &low, &power);
    double scale = mat_two_to_f64(power, 0);
    double far = 1 - FMA(scale, r + mat_exp_tail_f64(r, low), scale);
    return mat_signed_f64(a < 1 ? FMA(a, p, a) : far, x);
}

INLINE float mat_erf_f32(float x)
{
    double a = mat_abs_f64(x), z = a * a, t = (a > 4 ? 4 : a) - 1;
    double p = 0x1.4ae41bad5ccedp-14, q = 0x1.875051d695617p-13, scale;
    p = FMA(p, z, -0x1.a485a8db7fce8p-11);
    q = FMA(q, t, -0x1.dfac414cdd860p-10);
    p = FMA(p, z, 0x1.5419eb9db7224p-8);
    q = FMA(q, t, 0x1.44418f0b73032p-7);
    p = FMA(p, z, -0x1.b7fbb326b1be4p-6);
    q = FMA(q, t, -0x1.53fe93b03efc6p-5);
    p = FMA(p, z, 0x1.ce2d1f83a04a1p-4);
    q = FMA(q, t, -0x1.afad21055e6a5p-1);
    p = FMA(p, z, -0x1.81273eca261ddp-2);
    q = FMA(q, t, -0x1.51c9aa8b31c95p+1);
    p = FMA(p, z, 0x1.06eba7f8acebdp-3);
    q = mat_exp_narrow(FMA(q, t, -0x1.d97fbf40f6a34p+0), &scale);
    return (float)mat_signed_f64(a < 1 ? FMA(a, p, a) : 1 - FMA(scale, q, scale), x);
}

/* pow */

/* C99's pow(x, y) from |x|^y: the sign, and NaN for results that are not real. Conditions become
   masks: of branches the compiler would make a loop for every combination. */
INLINE double mat_pow_signed_f64(double x, double y, double power)
{
    double b = mat_abs_f64(y), half = 0.5 * b, most = 0x1p52;
    b = b > most ? most : b;
    half = half > most ? most : half;
    uint64_t whole = (b + most) - most == b ? ~UINT64_C(0) : 0,
             even = (half + most) - most == half ? ~UINT64_C(0) : 0;
    uint64_t below = x < 0 ? ~UINT64_C(0) : 0, finite = x > -MAT_INFINITY_F64 ? ~UINT64_C(0) : 0;
    uint64_t bits = mat_bits_f64(power) ^ (mat_bits_f64(x) & whole & ~even & MAT_SIGN);
    power = mat_of_bits_f64(bits | (below & finite & ~whole & mat_bits_f64(MAT_NAN_F64)));
    return (x == 1) | (y == 0) ? 1 : power;
}

INLINE float mat_pow_signed_f32(float x, float y, float power)
{
    float b = mat_abs_f32(y), half = 0.5f * b, most = 0x1p23f;
    b = b > most ? most : b;
    half = half > most ? most : half;
    uint32_t whole = (b + most) - most == b ? ~UINT32_C(0) : 0,
             even = (half + most) - most == half ? ~UINT32_C(0) : 0;
    uint32_t below = x < 0 ? ~UINT32_C(0) : 0, finite = x > -MAT_INFINITY_F32 ? ~UINT32_C(0) : 0;
    uint32_t bits = mat_bits_f32(power) ^ (mat_bits_f32(x) & whole & ~even & MAT_SIGN_F);
    power = mat_of_bits_f32(bits | (below & finite & ~whole & mat_bits_f32(MAT_NAN_F32)));
    return (x == 1) | (y == 0) ? 1 : power;
}

/* log2 of a positive number a = z 2^k is k + log2(c) + log2(1 + r), where 1 / c is a number of at
   most 7 bits from a table, near 1 / z, so that r = z / c - 1 is exact, and |r| < 0.0228. The
   interval of z that begins at the least one, 0.7421875, and ends at twice it is cut into 32 by the
   first bits behind the point, and 1 is inside of one, of which c is 1. */

#define MAT_POW_LEAST_F32 UINT32_C(0x3f3e0000)
#define MAT_POW_LEAST_F64 UINT64_C(0x3fe7c00000000000)

/* 1 / c; log2(c) in two parts, of which the first one has 16 bits behind the point; and, with 24
   bits in the second one, in one */
MAT_TABLE double mat_pow_inverse_f64[32] = {
    0x1.54p+0, 0x1.5p+0, 0x1.48p+0, 0x1.4p+0, 0x1.3cp+0, 0x1.34p+0, 0x1.3p+0, 0x1.28p+0, 0x1.24p+0,
    0x1.2p+0, 0x1.1cp+0, 0x1.14p+0, 0x1.1p+0, 0x1.0cp+0, 0x1.08p+0, 0x1.04p+0, 0x1p+0, 0x1.fp-1,
    0x1.ep-1, 0x1.d8p-1, 0x1.c8p-1, 0x1.b8p-1, 0x1.bp-1, 0x1.a8p-1, 0x1.98p-1, 0x1.9p-1, 0x1.88p-1,
    0x1.8p-1, 0x1.78p-1, 0x1.7p-1, 0x1.68p-1, 0x1.6p-1};
MAT_TABLE double mat_pow_high_f64[32] = {
    -0x1.a338p-2, -0x1.91bcp-2, -0x1.6e24p-2, -0x1.49a8p-2, -0x1.3714p-2, -0x1.113p-2, -0x1.fbcp-3,
    -0x1.acf8p-3, -0x1.84cp-3, -0x1.5cp-3, -0x1.32bp-3, -0x1.bc8p-4, -0x1.664p-4, -0x1.0ebp-4,
    -0x1.6bap-5, -0x1.6e8p-6, 0, 0x1.774p-5, 0x1.7d6p-4, 0x1.e0bp-4, 0x1.564p-3, 0x1.bfc8p-3,
    0x1.f6p-3, 0x1.169cp-2, 0x1.4f7p-2, 0x1.6cbp-2, 0x1.8a88p-2, 0x1.a9p-2, 0x1.c818p-2, 0x1.e7ep-2,
    0x1.042cp-1, 0x1.14c6p-1};
MAT_TABLE double mat_pow_low_f64[32] = {
    0x1.3eb013f5ec507p-19, 0x1.5db83a3dd2d35p-20, 0x1.e3262f321a873p-18, 0x1.ed0cb91d406dbp-20,
    0x1.b315b3213266fp-18, -0x1.f6b4c2dd72c26p-20, -0x1.6b902680a23a9p-19, 0x1.0e92589b6080fp-18,
    -0x1.5e81781d97ee9p-18, -0x1.a39fbd6879fap-19, 0x1.61d8751e5e0aep-19, -0x1.0902b6aee98edp-18,
    0x1.20a6dd9d30667p-21, -0x1.c4fd14fcd59e8p-19, -0x1.a6eb1dfb0e627p-18, 0x1.a5e8f4b759d64p-20, 0,
    -0x1.acd89a9caa887p-19, 0x1.25b3eed319cedp-22, 0x1.ae8f2fd5664b4p-20, -0x1.1eb0029a6f9bcp-18,
    -0x1.858000b33f91p-19, -0x1.3ab7ce0e5b7b8p-18, 0x1.4d8fc561c8d44p-24, -0x1.134c4e99e1c6cp-20,
    0x1.ed0cb91d406dbp-19, 0x1.80abfbd32666bp-18, -0x1.a39fbd6879fap-20, 0x1.dc2d45fe43896p-18,
    -0x1.40358ea996209p-19, -0x1.5a32c1b3b3865p-20, -0x1.3e032ea0efe3fp-18};
MAT_TABLE double mat_pow_log_f32_table[32] = {
    -0x1.a33760a7f6p-2, -0x1.91bba891f18p-2, -0x1.6e221cd9dp-2, -0x1.49a784bcd18p-2,
    -0x1.37124cea4cp-2, -0x1.11307dad308p-2, -0x1.fbc16b9026p-3, -0x1.acf5e2db5p-3,
    -0x1.84c2bd02fp-3, -0x1.5c01a39fbep-3, -0x1.32ae9e278ap-3, -0x1.bc84240ad8p-4,
    -0x1.663f6fac91p-4, -0x1.0eb389fa28p-4, -0x1.6bad3758fp-5, -0x1.6e79685c3p-6, 0,
    0x1.77394c9d98p-5, 0x1.7d60496cfb8p-4, 0x1.e0b1ae8f3p-4, 0x1.563dc29ffcp-3, 0x1.bfc67a8p-3,
    0x1.f5fd8a9064p-3, 0x1.169c05363f18p-2, 0x1.4f6fbb2cec8p-2, 0x1.6cb0f6865dp-2,
    0x1.8a8980abfcp-2, 0x1.a8ff9718108p-2, 0x1.c819dc2d46p-2, 0x1.e7df5fe539p-2, 0x1.042bd4b9a7cp-1,
    0x1.14c560fe69p-1};

/* 2^(j / 16), and what it lacks, in units of it */
MAT_TABLE double mat_pow_root_f64[16] = {
    0x1p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0,
    0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0, 0x1.6a09e667f3bcdp+0,
    0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f09p+0, 0x1.ae89f995ad3adp+0,
    0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
MAT_TABLE double mat_pow_root_rest_f64[16] = {
    0, 0x1.79aa65d837b6dp-54, -0x1.01b15eaa59348p-55, 0x1.68efde3a8a894p-54, 0x1.34d754db0abb6p-55,
    0x1.59f48a72a4c6dp-55, 0x1.690cebb7aafbp-56, 0x1.063e1e21c5409p-54, -0x1.3b3efbf5e2228p-54,
    -0x1.b32dcb94da51dp-56, 0x1.db72fc1f0eab4p-55, 0x1.1affc2b91ce27p-56, 0x1.c1a7792cb3387p-55,
    0x1.36eae30af0cb3p-56, 0x1.4a385a63d07a7p-56, -0x1.ff7128fd391fp-55};

/* Polynomials, from their last coefficient on: log2(1 + r) / r; (2^r - 1) / r for |r| <= 1/2;
   (log(1 + r) / r - 1 + r / 2) / r^2; (2^r - 1) / r for |r| <= 1/32 */
#define MAT_POW_LOG_F32(FIRST, NEXT) \
    FIRST(-0x1.ecc5f77cce827p-3) NEXT(0x1.27a0925767cd9p-2) NEXT(-0x1.71547381a31a1p-2) \
    NEXT(0x1.ec709bb1e36f7p-2) NEXT(-0x1.71547652be22cp-1) NEXT(0x1.71547652b9288p+0)
#define MAT_POW_EXP_F32(FIRST, NEXT) \
    FIRST(0x1.445febb5b19c9p-13) NEXT(0x1.5f47d434db2eap-10) NEXT(0x1.3b29eec9651ebp-7) \
    NEXT(0x1.c6aecf22e7e38p-5) NEXT(0x1.ebfbe07dbb4d2p-3) NEXT(0x1.62e430cc96528p-1)
#define MAT_POW_LOG_F64(FIRST, NEXT) \
    FIRST(-0x1.9a0f006bc06acp-4) NEXT(0x1.c794ba1ea594cp-4) NEXT(-0x1.fffff1c3381cfp-4) \
    NEXT(0x1.249242705771cp-3) NEXT(-0x1.55555555afd0fp-3) NEXT(0x1.99999999e533dp-3) \
    NEXT(-0x1.fffffffffffe8p-3) NEXT(0x1.555555555554dp-2)
#define MAT_POW_EXP_F64(FIRST, NEXT) \
    FIRST(0x1.430a6945e01efp-13) NEXT(0x1.5d89bd622a854p-10) NEXT(0x1.3b2ab6fadd089p-7) \
    NEXT(0x1.c6b08d6e8ccd2p-5) NEXT(0x1.ebfbdff82c597p-3) NEXT(0x1.62e42fefa39fdp-1)

#define MAT_LOG2E_REST 0x1.777d0ffda0d24p-56 /* log2(e) - MAT_LOG2E */
#define MAT_POW_ROUNDER 0x1.8p48 /* leaves sixteenths, as MAT_ROUNDER leaves integers */

/* log2(a) - down = the result + *low, of about 67 bits, for positive normal a. The terms of log(1 +
   r) up to the square have their rounding errors beside them. */
INLINE double mat_pow_log_f64(double a, double down, double *low)
{
    uint64_t u = mat_bits_f64(a) - MAT_POW_LEAST_F64 + (UINT64_C(1023) << 52);
    uint64_t mantissa = u & UINT64_C(0xfffffffffffff);
    double z = mat_of_bits_f64(mantissa + MAT_POW_LEAST_F64);
    double k = mat_of_bits_f64((u >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023) - down;
    int64_t at = (int64_t)(mantissa >> 47);
    double r = fma(z, mat_pow_inverse_f64[at], -1), high = k + mat_pow_high_f64[at];
    double l = r * MAT_LOG2E, l_low = FMA(r, MAT_LOG2E_REST, fma(r, MAT_LOG2E, -l));
    double half = -0.5 * r, q = l * half, q_low = FMA(l_low, half, fma(l, half, -q));
    double s = high + l, s_low = (high - s) + l, sum = s + q, sum_low = (s - sum) + q;
    MAT_POW_LOG_F64(MAT_FIRST_F64, MAT_NEXT_F64)
    *low = ((s_low + sum_low) + (l_low + q_low)) + FMA(l * (r * r), p, mat_pow_low_f64[at]);
    return sum;
}

/* 2^(e + extra) is the result times 2^k, where k + 2046 is in the lowest bits of *power */
INLINE double mat_pow_exp_f64(double e, double extra, uint64_t *power)
{
    double s = (e + extra) + (MAT_POW_ROUNDER + 2046), k = s - (MAT_POW_ROUNDER + 2046);
    double r = (e - k) + extra;
    int64_t at = (int64_t)(mat_bits_f64(s) & 15);
    double root = mat_pow_root_f64[at];
    *power = mat_bits_f64(s) >> 4;
    MAT_POW_EXP_F64(MAT_FIRST_F64, MAT_NEXT_F64)
    return FMA(root, FMA(p, r, mat_pow_root_rest_f64[at]), root);
}

/* |x|^y where |x| is normal, and so is the result; NaN where that could be another one */
INLINE double mat_pow_ordinary_f64(double x, double y)
{
    double low, l = mat_pow_log_f64(mat_abs_f64(x), 0, &low);
    double e = y * l, extra = FMA(y, low, fma(y, l, -e));
    e = mat_abs_f64(e) < 1021 ? e : MAT_NAN_F64;
    uint64_t power;
    double p = mat_pow_exp_f64(e, extra, &power);
    return p * mat_two_to_f64(power, 0);
}

INLINE int mat_pow_is_normal_f64(double x)
{
    return (mat_bits_f64(x) << 1) - (UINT64_C(1) << 53) < UINT64_C(2046) << 53;
}

/* y log2|x| is infinite for x = 0 and infinite x. No larger y is needed, and infinity times log(1)
   would be NaN. */
INLINE double mat_pow_f64(double x, double y)
{
    double a = mat_abs_f64(x), times = mat_clamp_f64(y, -0x1p80, 0x1p80), low;
    int small = a < 0x1p-1022;
    double up = small ? 0x1p54 : 1, down = small ? 54 : 0;
    double l = mat_pow_log_f64(a * up, down, &low);
    l = a < MAT_INFINITY_F64 ? l : a;
    l = a == 0 ? -MAT_INFINITY_F64 : l;
    double e = times * l, extra = FMA(times, low, fma(times, l, -e));
    extra = mat_abs_f64(e) < 1100 ? extra : 0;
    uint64_t power;
    double p = mat_pow_exp_f64(mat_clamp_f64(e, -1080, 1030), extra, &power);
    return mat_pow_signed_f64(x, y, mat_scale_f64(p, power));
}

/* log2(a) - down, for positive normal a: y times it needs an error below 2^-30 where that is near
   128, which double has to spare. Both terms of the sum are exact. The rounded quotient is what the
   table has, which compilers would look up in it one by one. */
INLINE double mat_pow_log_f32(float a, int32_t down)
{
    uint32_t u = mat_bits_f32(a) - MAT_POW_LEAST_F32, mantissa = u & 0x7fffff;
    float z = mat_of_bits_f32(mantissa + MAT_POW_LEAST_F32);
    float centre = mat_of_bits_f32((mantissa & 0x7c0000) + MAT_POW_LEAST_F32 + (1 << 17));
    float inverse = (64 / centre + MAT_ROUNDER_F) - MAT_ROUNDER_F;
    int64_t at = (int64_t)((mat_bits_f64(z) - MAT_POW_LEAST_F64) >> 47);
    double r = fmaf(z, 0x1p-6f * inverse, -1);
    MAT_POW_LOG_F32(MAT_FIRST_F64, MAT_NEXT_F64)
    return FMA(p, r, (double)(((int32_t)u >> 23) - down) + mat_pow_log_f32_table[at]);
}

INLINE float mat_pow_exp_f32(double e)
{
    double s = e + MAT_ROUNDER, r = e - (s - MAT_ROUNDER);
    MAT_POW_EXP_F32(MAT_FIRST_F64, MAT_NEXT_F64)
    return (float)(FMA(p, r, 1) * mat_two_to_narrow(s));
}

INLINE float mat_pow_ordinary_f32(float x, float y)
{
    double e = y * mat_pow_log_f32(mat_abs_f32(x), 0);
    return mat_pow_exp_f32(mat_abs_f64(e) < 126 ? e : MAT_NAN_F64);
}

INLINE int mat_pow_is_normal_f32(float x)
{
    return (mat_bits_f32(x) << 1) - (UINT32_C(1) << 24) < UINT32_C(254) << 24;
}

INLINE float mat_pow_f32(float x, float y)
{
    float a = mat_abs_f32(x);
    int small = a < 0x1p-126f;
    float up = small ? 0x1p25f : 1;
    double l = mat_pow_log_f32(a * up, small ? 25 : 0);
    l = a < MAT_INFINITY_F32 ? l : (double)a;
    l = a == 0 ? -MAT_INFINITY_F64 : l;
    l = mat_clamp_f64(mat_clamp_f64(y, -0x1p80, 0x1p80) * l, -200, 200);
    return mat_pow_signed_f32(x, y, mat_pow_exp_f32(l));
}

#endif
