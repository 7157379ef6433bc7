/* Conversions of elements of one type to another, as by NumPy's casts, and where to find them by
   name.

   Floating-point numbers are rounded towards zero to become integers. One that does not fit becomes
   what the processor makes of it: on x86 the lowest number of 32 and 64 bits, of whose bits shorter
   and unsigned integers have the lower ones. */
#include "elementwise_inline.h"

#include "float8_inline.h"
#include "half_inline.h"
#include "halves_inline.h"

/* Kernels for each kind of processor only where a conversion computes: for others memory is what
   takes time. */
#define CONVERSION(from, S, to, D, expression) CONVERSION_BY(, from, S, to, D, expression)
#define COMPUTED(from, S, to, D, expression) CONVERSION_BY(MAT_CLONES, from, S, to, D, expression)
#define CONVERSION_BY(clones, from, S, to, D, expression) \
    clones static void loop_##from##_##to(int64_t n, char *const *at, const int64_t *step, \
                                   const double *numbers) { \
        (void)step, (void)numbers; \
        MAT_INPUT(S, in, 0); \
        MAT_OUTPUT(D, out, 1); \
        MAT_EACH { \
            const S x = in[i]; \
            out[i] = (D)(expression); \
        } \
    } \
    static MAT_KERNEL_OF(convert_##from##_##to, loop_##from##_##to, 1, 2, 0)

/* Those that are a function of all numbers. */
#define BY_FUNCTION(from, S, to, D, function) \
    static void loop_##from##_##to(int64_t n, char *const *at, const int64_t *step, \
                                   const double *numbers) { \
        (void)step, (void)numbers; \
        function(n, (const S *)at[0], (D *)at[1]); \
    } \
    static MAT_KERNEL_OF(convert_##from##_##to, loop_##from##_##to, 1, 2, 0)

/* Complex numbers, of the parts that the expressions give. */
#define TO_COMPLEX(from, S, to, D, re, im) \
    static void loop_##from##_##to(int64_t n, char *const *at, const int64_t *step, \
                                   const double *numbers) { \
        (void)step, (void)numbers; \
        MAT_INPUT(S, in, 0); \
        MAT_OUTPUT(D, out, 1); \
        MAT_EACH { \
            out[2 * i] = (D)re; \
            out[2 * i + 1] = im; \
        } \
    } \
    static MAT_KERNEL_OF(convert_##from##_##to, loop_##from##_##to, 1, 2, 0)

/* The truth of complex numbers. */
#define TO_TRUTH(from, S) \
    MAT_CLONES static void loop_##from##_b1(int64_t n, char *const *at, const int64_t *step, \
                                            const double *numbers) { \
        (void)step, (void)numbers; \
        MAT_INPUT(S, in, 0); \
        MAT_OUTPUT(uint8_t, out, 1); \
        MAT_EACH out[i] = (in[2 * i] != 0) | (in[2 * i + 1] != 0); \
    } \
    static MAT_KERNEL_OF(convert_##from##_b1, loop_##from##_b1, 1, 2, 0)
TO_TRUTH(c64, float)
TO_TRUTH(c128, double)

INLINE uint64_t whole_u64(double x) {
    return x >= 9223372036854775808.0 ? (uint64_t)x : (uint64_t)(int64_t)x;
}

/* DO(from, its type, to, its type, expression) for every conversion, FAST for those that take
   newer vectors less time: to 8 and 16 bits, and between integers and numbers that are not. */
#define OF_WHOLE(DO, FAST, from, S) \
    FAST(from, S, b1, uint8_t, x != 0) \
    TO_NUMBERS(DO, FAST, from, S, x)
/* The numbers that bools become are 0 and 1, whichever their bytes are. */
#define TO_NUMBERS(DO, FAST, from, S, x) \
    FAST(from, S, i8, int8_t, x) \
    FAST(from, S, i16, int16_t, x) \
    DO(from, S, i32, int32_t, x) \
    DO(from, S, i64, int64_t, x) \
    FAST(from, S, u8, uint8_t, x) \
    FAST(from, S, u16, uint16_t, x) \
    DO(from, S, u32, uint32_t, x) \
    DO(from, S, u64, uint64_t, x) \
    FAST(from, S, f32, float, x) \
    FAST(from, S, f16, uint16_t, to_half((float)(x))) \
    FAST(from, S, f64, double, x)
#define OF_FLOATING(DO, FAST, from, S, x) \
    FAST(from, S, b1, uint8_t, x != 0) \
    FAST(from, S, i8, int8_t, (int32_t)x) \
    FAST(from, S, i16, int16_t, (int32_t)x) \
    DO(from, S, i32, int32_t, x) \
    FAST(from, S, i64, int64_t, x) \
    FAST(from, S, u8, uint8_t, (int32_t)x) \
    FAST(from, S, u16, uint16_t, (int32_t)x) \
    DO(from, S, u32, uint32_t, (int64_t)x) \
    DO(from, S, u64, uint64_t, whole_u64(x))
/* Numbers of 8 bits from all others by way of 32 bits, and to floating-point numbers only: integers
   are left to ml_dtypes, whose rules for what does not fit are its own. */
#define FROM_8(DO, from) \
    DO(from, uint8_t, b1, uint8_t, from_##from(x) != 0) \
    DO(from, uint8_t, f16, uint16_t, to_half(from_##from(x))) \
    DO(from, uint8_t, bf16, uint16_t, to_bfloat(from_##from(x))) \
    DO(from, uint8_t, f32, float, from_##from(x)) \
    DO(from, uint8_t, f64, double, from_##from(x))
#define TO_8(DO, to) \
    DO(b1, uint8_t, to, uint8_t, to_##to(x != 0)) \
    DO(i8, int8_t, to, uint8_t, to_##to(x)) \
    DO(i32, int32_t, to, uint8_t, to_##to((float)x)) \
    DO(i64, int64_t, to, uint8_t, to_##to((float)x)) \
    DO(f16, uint16_t, to, uint8_t, to_##to(from_half(x))) \
    DO(bf16, uint16_t, to, uint8_t, to_##to(from_bfloat(x))) \
    DO(f32, float, to, uint8_t, to_##to(x)) \
    DO(f64, double, to, uint8_t, to_##to((float)x))
/* DO for every conversion, COMPUTED for those that are made for several kinds of processors,
   FUNCTION for those that are functions of all numbers. */
#define EVERY(DO, COMPUTED, FUNCTION) \
    TO_NUMBERS(DO, COMPUTED, b1, uint8_t, x != 0) \
    OF_WHOLE(DO, COMPUTED, i8, int8_t) \
    OF_WHOLE(DO, COMPUTED, i16, int16_t) \
    OF_WHOLE(DO, COMPUTED, i32, int32_t) \
    OF_WHOLE(DO, COMPUTED, i64, int64_t) \
    OF_WHOLE(DO, COMPUTED, u8, uint8_t) \
    OF_WHOLE(DO, COMPUTED, u16, uint16_t) \
    OF_WHOLE(DO, COMPUTED, u32, uint32_t) \
    OF_WHOLE(DO, COMPUTED, u64, uint64_t) \
    OF_FLOATING(DO, COMPUTED, f16, uint16_t, from_half(x)) \
    OF_FLOATING(DO, COMPUTED, f32, float, x) \
    OF_FLOATING(DO, COMPUTED, f64, double, x) \
    DO(f32, float, f64, double, x) \
    DO(f64, double, f32, float, x) \
    COMPUTED(f16, uint16_t, f32, float, from_half(x)) \
    FUNCTION(f32, float, f16, uint16_t, halves_of_floats) \
    COMPUTED(f16, uint16_t, f64, double, from_half(x)) \
    FUNCTION(f64, double, f16, uint16_t, halves_of_doubles) \
    COMPUTED(bf16, uint16_t, f32, float, from_bfloat(x)) \
    COMPUTED(f32, float, bf16, uint16_t, to_bfloat(x)) \
    FROM_8(COMPUTED, e4m3) \
    FROM_8(COMPUTED, e5m2) \
    TO_8(COMPUTED, e4m3) \
    TO_8(COMPUTED, e5m2) \
    DO(e4m3, uint8_t, e5m2, uint8_t, to_e5m2(from_e4m3(x))) \
    DO(e5m2, uint8_t, e4m3, uint8_t, to_e4m3(from_e5m2(x)))

#define OF_REAL(DO, from, S, x) \
    DO(from, S, c64, float, x, 0) \
    DO(from, S, c128, double, x, 0)
#define EVERY_COMPLEX(DO) \
    OF_REAL(DO, b1, uint8_t, in[i] != 0) \
    OF_REAL(DO, i8, int8_t, in[i]) \
    OF_REAL(DO, i16, int16_t, in[i]) \
    OF_REAL(DO, i32, int32_t, in[i]) \
    OF_REAL(DO, i64, int64_t, in[i]) \
    OF_REAL(DO, u8, uint8_t, in[i]) \
    OF_REAL(DO, u16, uint16_t, in[i]) \
    OF_REAL(DO, u32, uint32_t, in[i]) \
    OF_REAL(DO, u64, uint64_t, in[i]) \
    OF_REAL(DO, f16, uint16_t, from_half(in[i])) \
    OF_REAL(DO, f32, float, in[i]) \
    OF_REAL(DO, f64, double, in[i]) \
    DO(c64, float, c128, double, in[2 * i], in[2 * i + 1]) \
    DO(c128, double, c64, float, in[2 * i], (float)in[2 * i + 1])

EVERY(CONVERSION, COMPUTED, BY_FUNCTION)
EVERY_COMPLEX(TO_COMPLEX)

#define ENTRY(from, S, to, D, ...) \
    {#from "_" #to, convert_##from##_##to, loop_##from##_##to},
static const mat_conversion conversions[] = {
    EVERY(ENTRY, ENTRY, ENTRY) EVERY_COMPLEX(ENTRY) ENTRY(c64, float, b1, uint8_t, )
        ENTRY(c128, double, b1, uint8_t, )};

const mat_conversion *mat_convert(const char *name) {
    for (size_t k = 0; k < sizeof conversions / sizeof conversions[0]; k++)
        if (strcmp(conversions[k].name, name) == 0) return &conversions[k];
    return NULL;
}

const char *mat_convert_name(uintptr_t kernel) {
    for (size_t k = 0; k < sizeof conversions / sizeof conversions[0]; k++)
        if (conversions[k].kernel == (mat_kernel *)kernel) return conversions[k].name;
    return "";
}
