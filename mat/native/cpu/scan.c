/* Running sums, products and extremes: a kernel for each pair of types that NumPy has without
   converting elements one by one. */
#include "mat.h"

#include "call.h"
#include "half_inline.h"
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
#define TRUTH(Y, x) ((Y)((x) != 0)) /* of bool, whose bytes may be any */
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
#define ROUNDED(name, from, to) \
    INLINE uint16_t name##_plus(uint16_t a, uint16_t b) { return to(from(a) + from(b)); } \
    INLINE uint16_t name##_times(uint16_t a, uint16_t b) { return to(from(a) * from(b)); }
ROUNDED(f16, from_half, to_half)
ROUNDED(bf16, from_bfloat, to_bfloat)

#if defined(__GNUC__) && !defined(__clang__)
#define ROW(j, n) _Pragma("GCC ivdep") EACH(j, n)
#else
#define ROW(j, n) EACH(j, n)
#endif

/* The larger or smaller one, and what is no number; of equal ones the later one. */
#define LARGER(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define SMALLER(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))

enum {
    LINES = 4,    /* at once: each waits for its last sum, but not for those of the others */
    PIECE = 32,   /* as in mat/layout/merged_axes.py */
    PIECES = 4,   /* at once, for the same reason as lines */
    COLUMNS = 512 /* of a tile, at most */
};

/* Operands are elements X and elements Y; where their steps are 1, compilers know. */
#define EACH_STEP(f, k, n, statement) \
    if (f->step_x == 1 && f->step_y == 1) { \
        const int64_t step_x = 1, step_y = 1; \
        (void)step_y; \
        for (int64_t k = 1; k < n; k++) statement; \
    } else { \
        const int64_t step_x = f->step_x, step_y = f->step_y; \
        (void)step_y; \
        for (int64_t k = 1; k < n; k++) statement; \
    }

/* A line from elements X to elements Y, of which the first one is `total`. */
#define LINE_IN_TURN(name, X, Y, AS, TOGETHER) \
    INLINE void name##_line(const mat_scan *f, const X *x, Y *y, int64_t n, Y total) { \
        y[0] = total; \
        EACH_STEP(f, k, n, { \
            total = TOGETHER(total, AS(Y, x[k * step_x])); \
            y[k * step_y] = total; \
        }) \
    }

/* The same by pieces and chunks, whose order is that of mat/layout/merged_axes.py. A chunk comes
   after the result before it, unless that is NULL; without y only its total is returned. */
#define LINE_BY_CHUNKS(name, X, Y, AS, TOGETHER) \
    LINE_IN_TURN(name, X, Y, AS, TOGETHER) \
    INLINE void name##_pieces(const X *x, int64_t step, int64_t n, Y *z) { \
        Y total[PIECES] = {AS(Y, x[0])}; \
        if (n < PIECES * PIECE) { \
            EACH(i, n) { \
                const Y item = AS(Y, x[i * step]); \
                z[i] = total[0] = i % PIECE ? TOGETHER(total[0], item) : item; \
            } \
            return; \
        } \
        EACH(j, PIECES) z[j * PIECE] = total[j] = AS(Y, x[j * PIECE * step]); \
        for (int64_t i = 1; i < PIECE; i++) \
            EACH(j, PIECES) { \
                total[j] = TOGETHER(total[j], AS(Y, x[(j * PIECE + i) * step])); \
                z[j * PIECE + i] = total[j]; \
            } \
    } \
    INLINE Y name##_steps(const X *x, int64_t step_x, Y *y, int64_t step_y, int64_t n, \
                          const Y *before) { \
        Y z[PIECES * PIECE], total = AS(Y, x[0]); \
        for (int64_t k = 0; k < n; k += PIECES * PIECE) { \
            const int64_t m = n - k < PIECES * PIECE ? n - k : PIECES * PIECE; \
            name##_pieces(x + k * step_x, step_x, m, z); \
            for (int64_t i = 0; i < m; i += PIECE) { \
                const int64_t here = m - i < PIECE ? m - i : PIECE; \
                const Y so_far = total; \
                total = k + i ? TOGETHER(so_far, z[i + here - 1]) : z[here - 1]; \
                if (y && k + i) EACH(j, here) z[i + j] = TOGETHER(so_far, z[i + j]); \
            } \
            if (!y) continue; \
            if (before) EACH(i, m) y[(k + i) * step_y] = TOGETHER(*before, z[i]); \
            else EACH(i, m) y[(k + i) * step_y] = z[i]; \
        } \
        return before ? TOGETHER(*before, total) : total; \
    } \
    INLINE Y name##_chunk(const mat_scan *f, const X *x, Y *y, int64_t n, const Y *before) { \
        return f->step_x == 1 && f->step_y == 1 ? name##_steps(x, 1, y, 1, n, before) \
                                                : name##_steps(x, f->step_x, y, f->step_y, n, \
                                                               before); \
    } \
    INLINE void name##_chunks(const mat_scan *f, const X *x, Y *y) { \
        Y before = f->begun ? y[-f->step_y] : AS(Y, x[0]); \
        for (int64_t k = 0; k < f->length; k += f->block) { \
            const int64_t n = f->length - k < f->block ? f->length - k : f->block; \
            before = name##_chunk(f, x + k * f->step_x, y + k * f->step_y, n, \
                                  k || f->begun ? &before : NULL); \
        } \
    } \
    INLINE void name##_rows(const mat_scan *f, const X *x, Y *y, int64_t columns) { \
        Y local[COLUMNS], total[COLUMNS], before[COLUMNS]; \
        if (f->begun) EACH(j, columns) before[j] = y[j * f->column_y - f->step_y]; \
        for (int64_t k = 0; k < f->length; k++, x += f->step_x, y += f->step_y) { \
            const int64_t at = k % f->block; \
            const int in_piece = at % PIECE != 0, in_chunk = at >= PIECE; \
            const int later = f->begun || k >= f->block; \
            EACH(j, columns) { \
                const Y item = AS(Y, x[j * f->column_x]); \
                local[j] = in_piece ? TOGETHER(local[j], item) : item; \
            } \
            if (!later && !in_chunk) EACH(j, columns) y[j * f->column_y] = local[j]; \
            else if (!later) EACH(j, columns) y[j * f->column_y] = TOGETHER(total[j], local[j]); \
            else if (!in_chunk) \
                EACH(j, columns) y[j * f->column_y] = TOGETHER(before[j], local[j]); \
            else \
                EACH(j, columns) { \
                    const Y together = TOGETHER(total[j], local[j]); \
                    y[j * f->column_y] = TOGETHER(before[j], together); \
                } \
            if (at % PIECE == PIECE - 1) \
                EACH(j, columns) total[j] = in_chunk ? TOGETHER(total[j], local[j]) : local[j]; \
            if (at == f->block - 1) EACH(j, columns) before[j] = y[j * f->column_y]; \
        } \
    }

/* The same where no order of the elements gives another result: four adjacent ones wait together
   for the total before them. */
#define LINE_BY_FOURS(name, X, Y, AS, TOGETHER) \
    LINE_IN_TURN(name##_rest, X, Y, AS, TOGETHER) \
    INLINE void name##_line(const mat_scan *f, const X *x, Y *y, int64_t n, Y total) { \
        if (f->step_x == 1 && f->step_y == 1) \
            for (; n > 4; n -= 4, x += 4, y += 4) { \
                const Y a = AS(Y, x[1]), b = AS(Y, x[2]), c = AS(Y, x[3]), d = AS(Y, x[4]); \
                const Y ab = TOGETHER(a, b), abc = TOGETHER(ab, c), cd = TOGETHER(c, d); \
                const Y all = TOGETHER(ab, cd); \
                y[0] = total, y[1] = TOGETHER(total, a), y[2] = TOGETHER(total, ab); \
                y[3] = TOGETHER(total, abc), total = TOGETHER(total, all); \
            } \
        name##_rest_line(f, x, y, n, total); \
    }

/* From elements X to elements Y: the units of one frame, by lines, with LINE for one, or by
   columns. */
#define SCAN(name, X, Y, AS, TOGETHER, LINE, IN_ORDER) \
    LINE(name, X, Y, AS, TOGETHER) \
    INLINE void name##_lines(const mat_scan *f, const X *const *x, Y *const *y, int64_t lines) { \
        Y total[LINES]; \
        EACH(j, lines) y[j][0] = total[j] = AS(Y, x[j][0]); \
        for (int64_t k = 1; k < f->length; k++) \
            EACH(j, lines) { \
                total[j] = TOGETHER(total[j], AS(Y, x[j][k * f->step_x])); \
                y[j][k * f->step_y] = total[j]; \
            } \
    } \
    INLINE void name##_columns(const mat_scan *f, const X *x, Y *y, int64_t columns) { \
        EACH(j, columns) y[j * f->column_y] = AS(Y, x[j * f->column_x]); \
        for (int64_t k = 1; k < f->length; k++) { \
            const Y *before = y; \
            x += f->step_x, y += f->step_y; \
            if (f->column_x == 1 && f->column_y == 1) \
                ROW(j, columns) y[j] = TOGETHER(before[j], AS(Y, x[j])); \
            else \
                EACH(j, columns) \
                    y[j * f->column_y] = \
                        TOGETHER(before[j * f->column_y], AS(Y, x[j * f->column_x])); \
        } \
    } \
    static void mat_##name(const void *frame, char *const *operands, const double *numbers, \
                           double *result, int64_t start, int64_t stop) { \
        const mat_scan *f = frame; \
        const int64_t tiles = f->columns ? (f->columns + f->tile - 1) / f->tile : 1; \
        int64_t column = start % tiles * f->tile, n = 0; \
        const X *x[LINES]; \
        Y *y[LINES]; \
        mat_cursor at; \
        (void)numbers, (void)result; \
        cursor_seek(&at, &f->others, f->others.rank, start / tiles); \
        for (int64_t u = start; u < stop; u++) { \
            x[n] = (const X *)operands[0] + at.x + column * f->column_x; \
            y[n] = (Y *)operands[1] + at.y + column * f->column_y + f->begun * f->step_y; \
            if (f->columns) { \
                const int64_t left = f->columns - column, here = left < f->tile ? left : f->tile; \
                IN_ORDER(if (f->in_order) name##_rows(f, x[0], y[0], here); else) \
                name##_columns(f, x[0], y[0], here); \
                column += f->tile; \
                if (column < f->columns) continue; \
                column = 0; \
            } \
            IN_ORDER(else if (f->in_order) name##_chunks(f, x[0], y[0]);) \
            else if (++n == LINES) { \
                name##_lines(f, x, y, LINES); \
                n = 0; \
            } \
            cursor_step(&at); \
        } \
        EACH(j, n) name##_line(f, x[j], y[j], f->length, AS(Y, x[j][0])); \
    }

#define KEEP(...) __VA_ARGS__
#define DROP(...)
#define STAGE(name) \
    void mat_##name(const void *frame, char *const *operands, const double *numbers, \
                    double *result, int64_t start, int64_t stop)
#define BY_ONE_THREAD(name) \
    if (!start && stop == lines_of(f) * f->blocks) { \
        mat_##name(frame, operands, numbers, result, 0, lines_of(f)); \
        result[0] = 1; \
        return; \
    }

/* The same by blocks of lines, where no order of the elements gives another result: the first
   kernel leaves the total of each block, in so many times 16 bytes, and the second one begins each
   block with those before. One thread, which has all units, does all at once, and says so in the
   result. */
#define SCAN_BY_BLOCKS(name, X, Y, AS, TOGETHER) \
    SCAN(name, X, Y, AS, TOGETHER, LINE_BY_FOURS, DROP) \
    static STAGE(name##_totals) { \
        const mat_scan *f = frame; \
        BY_ONE_THREAD(name) \
        EACH_BLOCK(X, Y, { \
            Y total = AS(Y, x[0]); \
            EACH_STEP(f, k, n, total = TOGETHER(total, AS(Y, x[k * step_x]))) \
            *(Y *)(operands[2] + 16 * u) = total; \
        }) \
    } \
    static STAGE(name##_finish) { \
        const mat_scan *f = frame; \
        (void)numbers; \
        if (result[0] != 0) return; \
        EACH_BLOCK(X, Y, { \
            Y total = AS(Y, x[0]); \
            for (int64_t j = u - 1; j >= u - block; j--) \
                total = TOGETHER(*(const Y *)(operands[2] + 16 * j), total); \
            name##_line(f, x, y, n, total); \
        }) \
    }

/* The same in order, where blocks are chunks. */
#define SCAN_IN_ORDER(name, X, Y, AS, TOGETHER) \
    SCAN(name, X, Y, AS, TOGETHER, LINE_BY_CHUNKS, KEEP) \
    static STAGE(name##_totals) { \
        const mat_scan *f = frame; \
        BY_ONE_THREAD(name) \
        EACH_BLOCK(X, Y, { \
            *(Y *)(operands[2] + 16 * u) = name##_chunk(f, x, NULL, n, NULL); \
        }) \
    } \
    static STAGE(name##_finish) { \
        const mat_scan *f = frame; \
        Y before; \
        if (result[0] != 0) return; \
        EACH_BLOCK(X, Y, { \
            const char *totals = operands[2] + 16 * (u - block); \
            if (f->begun && (!block || u == start)) \
                before = y[-(block * f->block + 1) * f->step_y]; \
            for (int64_t j = 0; u == start && j < block; j++) { \
                const Y total = *(const Y *)(totals + 16 * j); \
                before = j || f->begun ? TOGETHER(before, total) : total; \
            } \
            before = name##_chunk(f, x, y, n, block || f->begun ? &before : NULL); \
        }) \
    }

INLINE int64_t lines_of(const mat_scan *f) {
    int64_t lines = 1;
    EACH(k, f->others.rank) lines *= f->others.n[k];
    return lines;
}

/* Does a statement for each block of the range, with its place in the operands and its length. */
#define EACH_BLOCK(X, Y, statement) \
    mat_cursor at; \
    cursor_seek(&at, &f->others, f->others.rank, start / f->blocks); \
    for (int64_t u = start; u < stop; u++) { \
        const int64_t block = u % f->blocks, first = block * f->block; \
        const int64_t n = f->length - first < f->block ? f->length - first : f->block; \
        const X *x = (const X *)operands[0] + at.x + first * f->step_x; \
        Y *y = (Y *)operands[1] + at.y + (first + f->begun) * f->step_y; \
        (void)y; \
        statement; \
        if (block == f->blocks - 1) cursor_step(&at); \
    }

/* NumPy adds up bools and small integers as those of 64 bits. */
#define INTEGER_TYPES(EACH_TYPE) \
    EACH_TYPE(i8, int8_t, i64, int64_t) \
    EACH_TYPE(i16, int16_t, i64, int64_t) \
    EACH_TYPE(i32, int32_t, i64, int64_t) \
    EACH_TYPE(i64, int64_t, i64, int64_t) \
    EACH_TYPE(u8, uint8_t, u64, uint64_t) \
    EACH_TYPE(u16, uint16_t, u64, uint64_t) \
    EACH_TYPE(u32, uint32_t, u64, uint64_t) \
    EACH_TYPE(u64, uint64_t, u64, uint64_t)
#define FLOATING_TYPES(EACH_TYPE) \
    EACH_TYPE(f32, float, f32, float) EACH_TYPE(f64, double, f64, double)
#define ORDERED_TYPES(EACH_TYPE) \
    EACH_TYPE(i8, int8_t) EACH_TYPE(i16, int16_t) EACH_TYPE(i32, int32_t) EACH_TYPE(i64, int64_t) \
    EACH_TYPE(u8, uint8_t) EACH_TYPE(u16, uint16_t) EACH_TYPE(u32, uint32_t) \
    EACH_TYPE(u64, uint64_t) EACH_TYPE(f32, float) EACH_TYPE(f64, double)
#define COMPLEX_TYPES(EACH_TYPE) \
    EACH_TYPE(c64, mat_c64, c64, mat_c64) EACH_TYPE(c128, mat_c128, c128, mat_c128)

#define INTEGERS(x, X, y, Y) WHOLE_NUMBERS(x, X, y, Y, CAST)
#define WHOLE_NUMBERS(x, X, y, Y, OF) \
    SCAN_BY_BLOCKS(cumsum_##x##_##y, X, Y, OF, PLUS) \
    SCAN_BY_BLOCKS(cumprod_##x##_##y, X, Y, OF, TIMES)
#define FLOATING(x, X, y, Y) \
    SCAN_IN_ORDER(cumsum_##x##_##y, X, Y, CAST, PLUS) \
    SCAN_IN_ORDER(cumprod_##x##_##y, X, Y, CAST, TIMES)
#define HALF_TYPES(EACH_TYPE) \
    EACH_TYPE(f16, uint16_t, f16, uint16_t) EACH_TYPE(bf16, uint16_t, bf16, uint16_t)
#define HALVES(x, X, y, Y) \
    SCAN_IN_ORDER(cumsum_##x##_##y, X, Y, SAME, x##_plus) \
    SCAN_IN_ORDER(cumprod_##x##_##y, X, Y, SAME, x##_times)
#define COMPLEX(x, X, y, Y) \
    SCAN_IN_ORDER(cumsum_##x##_##y, X, Y, SAME, X##_plus) \
    SCAN_IN_ORDER(cumprod_##x##_##y, X, Y, SAME, X##_times)
#define EXTREMES(x, X) \
    SCAN_BY_BLOCKS(cummax_##x##_##x, X, X, SAME, LARGER) \
    SCAN_BY_BLOCKS(cummin_##x##_##x, X, X, SAME, SMALLER)
WHOLE_NUMBERS(b1, uint8_t, i64, int64_t, TRUTH)
INTEGER_TYPES(INTEGERS)
FLOATING_TYPES(FLOATING)
HALF_TYPES(HALVES)
COMPLEX_TYPES(COMPLEX)
ORDERED_TYPES(EXTREMES)

#define ENTRY(name) {#name, mat_##name},
#define ENTRIES_BY_BLOCKS(name) \
    ENTRY(name) {#name "_totals", mat_##name##_totals}, {#name "_finish", mat_##name##_finish},
#define TOTAL_ENTRIES(x, X, y, Y) \
    ENTRIES_BY_BLOCKS(cumsum_##x##_##y) ENTRIES_BY_BLOCKS(cumprod_##x##_##y)
#define ORDERED_ENTRIES(x, X) \
    ENTRIES_BY_BLOCKS(cummax_##x##_##x) ENTRIES_BY_BLOCKS(cummin_##x##_##x)

static const struct {
    const char *name;
    mat_kernel *kernel;
} kernels[] = {TOTAL_ENTRIES(b1, uint8_t, i64, int64_t) INTEGER_TYPES(TOTAL_ENTRIES)
                   FLOATING_TYPES(TOTAL_ENTRIES) HALF_TYPES(TOTAL_ENTRIES)
                       COMPLEX_TYPES(TOTAL_ENTRIES)
                       ORDERED_TYPES(ORDERED_ENTRIES)};

uintptr_t mat_scan_kernel(const char *name) {
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
        if (strcmp(kernels[k].name, name) == 0) return (uintptr_t)kernels[k].kernel;
    return 0;
}
