/* Copying what masks and integers select: the kernels that ``select.h`` declares. */
#include "mat.h"

#include "call.h"
#include "reduce.h"
#include "select.h"

#include "compress_inline.h"
#include "reduce_inline.h"

#define KERNEL(name) \
    void name(const void *frame, char *const *operands, const double *numbers, double *result, \
              int64_t start, int64_t stop)

typedef struct {
    uint64_t low, high;
} mat_unit_16;

/* Items */

/* Copies a run of `unit` bytes; those of one element without a call. */
INLINE void copy_unit(char *to, const char *from, int64_t unit) {
    switch (unit) {
    case 1: *to = *from; break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case 16: memcpy(to, from, 16); break;
    default: memcpy(to, from, (size_t)unit);
    }
}

INLINE int64_t runs_of(const mat_selection *f) {
    int64_t count = 1;
    EACH(k, f->item.rank) count *= f->item.n[k];
    return count;
}

/* Copies an item of several runs, from x to y or, with `back`, from y to x. */
static void copy_runs(const mat_selection *f, char *x, char *y, int64_t runs, int back) {
    mat_cursor c;
    for (cursor_seek(&c, &f->item, f->item.rank, 0); runs > 0; runs--, cursor_step(&c))
        copy_unit(back ? x + c.x : y + c.y, back ? y + c.y : x + c.x, f->unit);
}

INLINE void copy_item(const mat_selection *f, char *x, char *y, int64_t runs, int back) {
    if (LIKELY(!f->item.rank))
        copy_unit(back ? x : y, back ? y : x, f->unit);
    else
        copy_runs(f, x, y, runs, back);
}

/* Masks */

MAT_CLONES KERNEL(mat_masked_count) {
    const uint8_t *mask = (const uint8_t *)operands[1];
    const int64_t count = (int64_t)numbers[0];
    int64_t total = 0;
    for (int64_t k = 0; k < count; k += TRUTHS) {
        const int64_t m = count - k < TRUTHS ? count - k : TRUTHS;
        uint8_t found = 0;
        EACH(j, m) found += mask[k + j] != 0;
        total += found;
    }
    result[0] = (double)total;
}

/* What vectors can do of a line: how many bytes of the mask are done. */
INLINE int64_t by_vectors(char **to, const char *end, const char *from, const uint8_t *mask,
                          int64_t n, int64_t step, int64_t size) {
#if defined(MAT_COMPRESSES)
    if (step == size && (size == 8 || size == 4) && __builtin_cpu_supports("avx2"))
        return size == 8 ? get_line_by_vectors(to, end, from, mask, n, 8)
                         : get_line_by_vectors(to, end, from, mask, n, 4);
#endif
    return 0;
}

/* One line of x, of n items of one element, `step` apart: copies those of them that the mask
   selects, at most `left`; returns how many. Nothing branches on the mask but whether eight bytes
   of it are 0, since what cannot be predicted would take longer than to copy. */
#define LINE(type) \
    INLINE int64_t get_line_##type(char **to, const char *from, const uint8_t *mask, int64_t n, \
                                   int64_t step, int64_t left) { \
        char *first = *to; \
        const type *const end = (const type *)first + left; \
        int64_t i = by_vectors(&first, (const char *)end, from, mask, n, step, sizeof(type)); \
        type *y = (type *)first; \
        for (; i + 8 <= n && end - y >= 8; i += 8) { \
            uint64_t eight; \
            memcpy(&eight, mask + i, 8); \
            if (!eight) continue; \
            EACH(j, 8) { \
                *y = *(const type *)(from + (i + j) * step); \
                y += mask[i + j] != 0; \
            } \
        } \
        for (; i < n && y < end; i++) { \
            *y = *(const type *)(from + i * step); \
            y += mask[i] != 0; \
        } \
        *to = (char *)y; \
        return left - (end - y); \
    } \
    INLINE int64_t set_line_##type(const char **from, int64_t next, char *to, const uint8_t *mask, \
                                   int64_t n, int64_t step, int64_t left) { \
        const char *y = *from; \
        int64_t i = 0, rest = left; \
        for (; i < n && rest; i++) { \
            const int64_t is = mask[i] != 0; \
            type *const x = (type *)(to + i * step); \
            const type value = *(const type *)y, old = *x; \
            *x = is ? value : old; \
            y += next & -is; \
            rest -= is; \
        } \
        *from = y; \
        return left - rest; \
    } \
    INLINE void fill_line_##type(const char *from, char *to, const uint8_t *mask, int64_t n) { \
        type *const x = (type *)to; \
        const type value = *(const type *)from; \
        EACH(j, n) x[j] = mask[j] ? value : x[j]; \
    }
LINE(uint8_t)
LINE(uint16_t)
LINE(uint32_t)
LINE(uint64_t)
LINE(mat_unit_16)

INLINE int64_t items_get(const mat_selection *f, char **to, char *from, const uint8_t *mask,
                         int64_t n, int64_t step, int64_t left, int back) {
    const int64_t runs = runs_of(f);
    int64_t rest = left;
    for (int64_t i = 0; i < n && rest; i++)
        if (mask[i]) {
            copy_item(f, from + i * step, *to, runs, back);
            *to += f->next_y;
            rest--;
        }
    return left - rest;
}

/* Does all lines along the last axis of the walk; line_of(type) does one of such elements. */
#define LINES(line_of, other) \
    const mat_selection *f = frame; \
    const uint8_t *mask = (const uint8_t *)operands[1]; \
    const int64_t last = f->walk.rank - 1, n = f->walk.n[last], step = f->walk.x[last]; \
    int64_t left = (int64_t)numbers[0]; \
    char *y = operands[2]; \
    mat_cursor at; \
    cursor_seek(&at, &f->walk, last, 0); \
    for (int64_t done = 0; done < f->length && left; done += n, mask += n, cursor_step(&at)) { \
        char *const x = operands[0] + at.x; \
        switch (f->item.rank ? 0 : f->unit) { \
        case 1: line_of(uint8_t); break; \
        case 2: line_of(uint16_t); break; \
        case 4: line_of(uint32_t); break; \
        case 8: line_of(uint64_t); break; \
        case 16: line_of(mat_unit_16); break; \
        default: other; \
        } \
    } \
    result[0] = !left

#define GET(type) left -= get_line_##type(&y, x, mask, n, step, left)
KERNEL(mat_masked_get) { LINES(GET, left -= items_get(f, &y, x, mask, n, step, left, 0)); }

#define SET(type) \
    if (!f->next_y && step == sizeof(type)) \
        fill_line_##type(y, x, mask, n); \
    else \
        left -= set_line_##type((const char **)&y, f->next_y, x, mask, n, step, left)
MAT_CLONES KERNEL(mat_masked_set) {
    LINES(SET, left -= items_get(f, &y, x, mask, n, step, left, 1));
    if (!f->next_y) result[0] = 1;
}

/* Integers */

/* The positions of n integers; returns whether all are in range. They are copied, since another
   thread could change the integers after they were checked. */
enum { POSITIONS = 256 };

INLINE int positions(int64_t *at, const int64_t *index, int64_t n, int64_t length) {
    uint64_t bad = 0;
    EACH(k, n) {
        const int64_t i = index[k], p = i < 0 ? i + length : i;
        bad |= (uint64_t)((uint64_t)p >= (uint64_t)length);
        at[k] = p;
    }
    return !bad;
}

#define TAKE_GET(type) \
    if (step == sizeof(type)) \
        EACH(k, n)((type *)y)[k] = ((const type *)x)[at[k]]; \
    else \
        EACH(k, n)((type *)y)[k] = *(const type *)(x + at[k] * step)
#define TAKE_SET(type) EACH(k, n) *(type *)(x + at[k] * step) = *(const type *)(y + k * next)

/* Does what is taken along every line of the walk, some integers at a time. */
#define TAKEN(take, back) \
    const mat_selection *f = frame; \
    const int64_t *index = (const int64_t *)operands[1], count = (int64_t)numbers[0]; \
    const int64_t runs = runs_of(f), step = f->step_x, next = f->next_y; \
    int64_t over = 1, fine = 1, at[POSITIONS]; \
    EACH(k, f->walk.rank) over *= f->walk.n[k]; \
    mat_cursor c; \
    for (cursor_seek(&c, &f->walk, f->walk.rank, 0); over > 0 && fine; over--, cursor_step(&c)) \
        for (int64_t done = 0; done < count && fine; done += POSITIONS) { \
            const int64_t n = count - done < POSITIONS ? count - done : POSITIONS; \
            char *RESTRICT const x = operands[0] + c.x; \
            char *RESTRICT const y = operands[2] + c.y + done * next; \
            fine = positions(at, index + done, n, f->length); \
            if (!fine) break; \
            switch (f->item.rank ? 0 : f->unit) { \
            case 1: take(uint8_t); break; \
            case 2: take(uint16_t); break; \
            case 4: take(uint32_t); break; \
            case 8: take(uint64_t); break; \
            case 16: take(mat_unit_16); break; \
            default: EACH(k, n) copy_item(f, x + at[k] * step, y + k * next, runs, back); \
            } \
        } \
    result[0] = (double)fine

MAT_CLONES KERNEL(mat_taken_get) { TAKEN(TAKE_GET, 0); }

/* All integers are checked before anything is written. */
MAT_CLONES KERNEL(mat_taken_set) {
    const int64_t length = ((const mat_selection *)frame)->length, all = (int64_t)numbers[0];
    uint64_t bad = 0;
    EACH(k, all) {
        const int64_t i = ((const int64_t *)operands[1])[k];
        bad |= (uint64_t)(i < -length) | (uint64_t)(i >= length);
    }
    result[0] = 0;
    if (bad) return;
    TAKEN(TAKE_SET, 1);
}

/* Rows */

/* Copies rows of `bytes` bytes; inlined for a constant `bytes`, without a branch in the loop. */
INLINE void copy_rows_of(char *to, const char *from, const double *numbers, int64_t bytes) {
    const int64_t rows = (int64_t)numbers[0];
    const int64_t step_from = (int64_t)numbers[4], step_to = (int64_t)numbers[6];
    EACH(k, rows) memcpy(to + k * step_to, from + k * step_from, (size_t)bytes);
}

/* Copies short rows by words of 8 bytes, which takes less time than a call for each row. */
static void copy_words(char *to, const char *from, const double *numbers, int64_t words) {
    const int64_t rows = (int64_t)numbers[0];
    const int64_t step_from = (int64_t)numbers[4], step_to = (int64_t)numbers[6];
    for (int64_t k = 0; k < rows; k++, to += step_to, from += step_from)
        EACH(j, words) memcpy(to + 8 * j, from + 8 * j, 8);
}

KERNEL(mat_copy_rows) {
    const int64_t bytes = (int64_t)numbers[2];
    char *const to = operands[1];
    const char *const from = operands[0];
    switch (bytes) {
    case 1: copy_rows_of(to, from, numbers, 1); break;
    case 2: copy_rows_of(to, from, numbers, 2); break;
    case 4: copy_rows_of(to, from, numbers, 4); break;
    case 8: copy_rows_of(to, from, numbers, 8); break;
    case 16: copy_rows_of(to, from, numbers, 16); break;
    default:
        if (bytes % 8 == 0 && bytes <= 128)
            copy_words(to, from, numbers, bytes / 8);
        else
            copy_rows_of(to, from, numbers, bytes);
    }
}
