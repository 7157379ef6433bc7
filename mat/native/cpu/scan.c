/* Running sums and products: a kernel for each pair of types that NumPy has without converting
   elements one by one. */
#include "mat.h"

#include "call.h"
#include "reduce.h"
#include "scan.h"

#include "reduce_inline.h"

typedef struct {
    float re, im;
} mat_c64;

typedef struct {
    double re, im;
} mat_c128;

#define CAST(Y, x) ((Y)(x))
#define SAME(Y, x) (x)
#define PLUS(a, b) ((a) + (b))
#define TIMES(a, b) ((a) * (b))
#define OF(T) \
    INLINE T T##_plus(T a, T b) { return (T){a.re + b.re, a.im + b.im}; } \
    INLINE T T##_times(T a, T b) { \
        return (T){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; \
    }
OF(mat_c64)
OF(mat_c128)

/* From elements X to elements Y: the frame of one position, by lines or by columns. */
#define SCAN(name, X, Y, AS, TOGETHER) \
    static void mat_##name(const void *frame, char *const *operands, const double *numbers, \
                           double *result, int64_t start, int64_t stop) { \
        const mat_scan *f = frame; \
        mat_cursor at; \
        (void)numbers, (void)result; \
        cursor_seek(&at, &f->others, f->others.rank, start); \
        for (int64_t u = start; u < stop; u++, cursor_step(&at)) { \
            const X *x = (const X *)operands[0] + at.x; \
            Y *y = (Y *)operands[1] + at.y; \
            if (!f->columns) { \
                Y total = AS(Y, x[0]); \
                y[0] = total; \
                for (int64_t k = 1; k < f->length; k++) { \
                    total = TOGETHER(total, AS(Y, x[k * f->step_x])); \
                    y[k * f->step_y] = total; \
                } \
                continue; \
            } \
            EACH(j, f->columns) y[j * f->column_y] = AS(Y, x[j * f->column_x]); \
            for (int64_t k = 1; k < f->length; k++) { \
                const Y *before = y; \
                x += f->step_x, y += f->step_y; \
                if (f->column_x == 1 && f->column_y == 1) \
                    ROW(j, f->columns) y[j] = TOGETHER(before[j], AS(Y, x[j])); \
                else \
                    EACH(j, f->columns) \
                        y[j * f->column_y] = \
                            TOGETHER(before[j * f->column_y], AS(Y, x[j * f->column_x])); \
            } \
        } \
    }
#if defined(__GNUC__) && !defined(__clang__)
#define ROW(j, n) _Pragma("GCC ivdep") EACH(j, n)
#else
#define ROW(j, n) EACH(j, n)
#endif

/* NumPy adds up bools and small integers as those of 64 bits. */
#define TYPES(EACH_TYPE) \
    EACH_TYPE(b1, uint8_t, i64, int64_t) \
    EACH_TYPE(i8, int8_t, i64, int64_t) \
    EACH_TYPE(i16, int16_t, i64, int64_t) \
    EACH_TYPE(i32, int32_t, i64, int64_t) \
    EACH_TYPE(i64, int64_t, i64, int64_t) \
    EACH_TYPE(u8, uint8_t, u64, uint64_t) \
    EACH_TYPE(u16, uint16_t, u64, uint64_t) \
    EACH_TYPE(u32, uint32_t, u64, uint64_t) \
    EACH_TYPE(u64, uint64_t, u64, uint64_t) \
    EACH_TYPE(f32, float, f32, float) \
    EACH_TYPE(f64, double, f64, double)
#define COMPLEX_TYPES(EACH_TYPE) \
    EACH_TYPE(c64, mat_c64, c64, mat_c64) EACH_TYPE(c128, mat_c128, c128, mat_c128)

#define BOTH(x, X, y, Y) \
    SCAN(cumsum_##x##_##y, X, Y, CAST, PLUS) SCAN(cumprod_##x##_##y, X, Y, CAST, TIMES)
#define BOTH_COMPLEX(x, X, y, Y) \
    SCAN(cumsum_##x##_##y, X, Y, SAME, X##_plus) SCAN(cumprod_##x##_##y, X, Y, SAME, X##_times)
TYPES(BOTH)
COMPLEX_TYPES(BOTH_COMPLEX)

#define ENTRIES(x, X, y, Y) \
    {"cumsum_" #x "_" #y, mat_cumsum_##x##_##y}, {"cumprod_" #x "_" #y, mat_cumprod_##x##_##y},

static const struct {
    const char *name;
    mat_kernel *kernel;
} kernels[] = {TYPES(ENTRIES) COMPLEX_TYPES(ENTRIES)};

uintptr_t mat_scan_kernel(const char *name) {
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
        if (strcmp(kernels[k].name, name) == 0) return (uintptr_t)kernels[k].kernel;
    return 0;
}
