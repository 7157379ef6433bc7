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

/* Copies n runs of `unit` bytes: a number that is repeated is stored by vectors. */
#define COPY_LINE(type) \
    INLINE void copy_line_##type(char *to, int64_t step_to, const char *from, int64_t step, \
                                 int64_t n) { \
        const type value = *(const type *)from; \
        if (!step && step_to == sizeof(type)) \
            EACH(k, n) ((type *)to)[k] = value; \
        else \
            EACH(k, n) *(type *)(to + k * step_to) = *(const type *)(from + k * step); \
    }
COPY_LINE(uint8_t)
COPY_LINE(uint16_t)
COPY_LINE(uint32_t)
COPY_LINE(uint64_t)
COPY_LINE(mat_unit_16)

INLINE void copy_line(char *to, int64_t step_to, const char *from, int64_t step, int64_t n,
                      int64_t unit) {
    switch (unit) {
    case 1: copy_line_uint8_t(to, step_to, from, step, n); break;
    case 2: copy_line_uint16_t(to, step_to, from, step, n); break;
    case 4: copy_line_uint32_t(to, step_to, from, step, n); break;
    case 8: copy_line_uint64_t(to, step_to, from, step, n); break;
    case 16: copy_line_mat_unit_16(to, step_to, from, step, n); break;
    default: EACH(k, n) memcpy(to + k * step_to, from + k * step, (size_t)unit);
    }
}

/* Copies an item of several runs, from x to y or, with `back`, from y to x. */
static void copy_runs(const mat_selection *f, char *x, char *y, int64_t runs, int back) {
    const int64_t last = f->item.rank - 1, n = f->item.n[last];
    const int64_t step_x = f->item.x[last], step_y = f->item.y[last];
    mat_cursor c;
    for (cursor_seek(&c, &f->item, last, 0); runs > 0; runs -= n, cursor_step(&c))
        if (back)
            copy_line(x + c.x, step_x, y + c.y, step_y, n, f->unit);
        else
            copy_line(y + c.y, step_y, x + c.x, step_x, n, f->unit);
}

INLINE void copy_item(const mat_selection *f, char *x, char *y, int64_t runs, int back) {
    if (LIKELY(!f->item.rank))
        copy_unit(back ? x : y, back ? y : x, f->unit);
    else
        copy_runs(f, x, y, runs, back);
}

/* Masks */

INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

INLINE int64_t truths_of(const uint8_t *mask, int64_t count) {
#if defined(MAT_COMPRESSES)
    if (__builtin_cpu_supports("avx512bw")) return count_by_wide_vectors(mask, count);
#endif
    int64_t total = 0;
    for (int64_t k = 0; k < count; k += TRUTHS) {
        const int64_t m = least(TRUTHS, count - k);
        uint8_t found = 0;
        EACH(j, m) found += mask[k + j] != 0;
        total += found;
    }
    return total;
}

MAT_CLONES KERNEL(mat_masked_count) {
    const mat_selection *f = frame;
    int64_t total = 0;
    for (int64_t tile = start; tile < stop; tile++) {
        const int64_t at = tile * MAT_MASK_TILE;
        const int64_t found = truths_of((const uint8_t *)operands[1] + at,
                                        least(MAT_MASK_TILE, f->length - at));
        if (operands[2]) ((int64_t *)operands[2])[tile] = found;
        total += found;
    }
    if (!operands[2]) result[0] = (double)total;
}

/* What vectors can do of a line: how many bytes of the mask are done. */
INLINE int64_t by_vectors(char **to, const char *end, const char *from, const uint8_t *mask,
                          int64_t n, int64_t step, int64_t size) {
#if defined(MAT_COMPRESSES)
    if (step == size && (size == 8 || size == 4))
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
    }
#define FILL_LINE(type) \
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
FILL_LINE(uint8_t)
FILL_LINE(uint16_t)
FILL_LINE(uint32_t)
FILL_LINE(uint64_t)

/* By words: compilers make a branch of the choice between two structures. */
INLINE void fill_line_mat_unit_16(const char *from, char *to, const uint8_t *mask, int64_t n) {
    uint64_t *const x = (uint64_t *)to;
    const uint64_t low = ((const uint64_t *)from)[0], high = ((const uint64_t *)from)[1];
    EACH(j, n) {
        const uint64_t is = -(uint64_t)(mask[j] != 0);
        x[2 * j] ^= (x[2 * j] ^ low) & is;
        x[2 * j + 1] ^= (x[2 * j + 1] ^ high) & is;
    }
}

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

/* Says that a range has not done all that it should, as several threads may at once. */
INLINE void fail(double *result) {
    *(volatile double *)result = 1;
}

/* Does some tiles, line by line along the last axis of the walk; line_of(type) does a line of such
   elements, or a part of one. `limit` is how many items may be done. */
#define LINES(limit, line_of, other) \
    const mat_selection *f = frame; \
    const int64_t *starts = (const int64_t *)operands[3]; \
    const int64_t last = f->walk.rank - 1, line = f->walk.n[last], step = f->walk.x[last]; \
    const int64_t end = least(stop * MAT_MASK_TILE, f->length); \
    int64_t at = start * MAT_MASK_TILE, n, left = limit; \
    char *y = operands[2] + (starts ? starts[start] * f->next_y : 0); \
    mat_cursor lines; \
    cursor_seek(&lines, &f->walk, last, at / line); \
    for (; at < end && left; at += n, cursor_step(&lines)) { \
        const uint8_t *mask = (const uint8_t *)operands[1] + at; \
        char *const x = operands[0] + lines.x + at % line * step; \
        n = least(line - at % line, end - at); \
        switch (f->item.rank ? 0 : f->unit) { \
        case 1: line_of(uint8_t); break; \
        case 2: line_of(uint16_t); break; \
        case 4: line_of(uint32_t); break; \
        case 8: line_of(uint64_t); break; \
        case 16: line_of(mat_unit_16); break; \
        default: other; \
        } \
    }
/* As many as there were in the mask when they were counted. */
#define COUNTED (starts ? starts[stop] - starts[start] : (int64_t)numbers[0])

#define GET(type) left -= get_line_##type(&y, x, mask, n, step, left)
KERNEL(mat_masked_get) {
    LINES(COUNTED, GET, left -= items_get(f, &y, x, mask, n, step, left, 0));
    if (left) fail(result);
}

#define SET(type) \
    if (!f->next_y && step == sizeof(type)) \
        fill_line_##type(y, x, mask, n); \
    else \
        left -= set_line_##type((const char **)&y, f->next_y, x, mask, n, step, left)
MAT_CLONES KERNEL(mat_masked_set) {
    LINES(f->next_y ? COUNTED : f->length, SET,
          left -= items_get(f, &y, x, mask, n, step, left, 1));
    if (left && f->next_y) fail(result);
}

/* Integers */

/* The positions of n integers, of which negative ones are rare; returns whether all are in range.
   They are read once, since another thread could change them after they were checked. */
INLINE int positions(int64_t *at, const volatile int64_t *index, int64_t n, int64_t length) {
    uint64_t beyond = 0;
    EACH(k, n) at[k] = index[k], beyond |= (uint64_t)at[k] >= (uint64_t)length;
    if (LIKELY(!beyond)) return 1;
    beyond = 0;
    EACH(k, n) {
        at[k] += at[k] < 0 ? length : 0;
        beyond |= (uint64_t)at[k] >= (uint64_t)length;
    }
    return !beyond;
}

MAT_CLONES KERNEL(mat_taken_check) {
    const int64_t length = ((const mat_selection *)frame)->length;
    uint64_t bad = 0;
    for (int64_t k = start; k < stop; k++) {
        const int64_t i = ((const int64_t *)operands[1])[k];
        bad |= (uint64_t)(i < -length) | (uint64_t)(i >= length);
    }
    if (bad) fail(result);
}

/* Copies the elements at n positions of x, `step` bytes apart, to y, or, to `set` them, those of y,
   `next` bytes apart, to x: by fours, whose checks are one branch, and of which all are loaded
   before any is stored. Return whether all positions are in range. */
#define TAKE(type) \
    INLINE int get_taken_##type(const char *RESTRICT x, char *RESTRICT y, const int64_t *index, \
                                int64_t n, int64_t length, int64_t step) { \
        type *const to = (type *)y, four[4]; \
        int64_t at[4], k = 0; \
        for (; k + 4 <= n; k += 4) { \
            if (!positions(at, index + k, 4, length)) return 0; \
            EACH(j, 4) four[j] = *(const type *)(x + at[j] * step); \
            EACH(j, 4) to[k + j] = four[j]; \
        } \
        for (; k < n; k++) { \
            if (!positions(at, index + k, 1, length)) return 0; \
            to[k] = *(const type *)(x + at[0] * step); \
        } \
        return 1; \
    } \
    INLINE int set_taken_##type(char *RESTRICT x, const char *RESTRICT y, const int64_t *index, \
                                int64_t n, int64_t length, int64_t step, int64_t next) { \
        type four[4]; \
        int64_t at[4], k = 0; \
        for (; k + 4 <= n; k += 4, y += 4 * next) { \
            if (!positions(at, index + k, 4, length)) return 0; \
            EACH(j, 4) four[j] = *(const type *)(y + j * next); \
            EACH(j, 4) *(type *)(x + at[j] * step) = four[j]; \
        } \
        for (; k < n; k++, y += next) { \
            if (!positions(at, index + k, 1, length)) return 0; \
            *(type *)(x + at[0] * step) = *(const type *)y; \
        } \
        return 1; \
    }
TAKE(uint8_t)
TAKE(uint16_t)
TAKE(uint32_t)
TAKE(uint64_t)
TAKE(mat_unit_16)

/* The same for items of any size; with `back` from y to x. */
static int taken_items(const mat_selection *f, char *x, char *y, const int64_t *index, int64_t n,
                       int back) {
    const int64_t runs = runs_of(f);
    int64_t at;
    for (int64_t k = 0; k < n; k++, y += f->next_y) {
        if (!positions(&at, index + k, 1, f->length)) return 0;
        copy_item(f, x + at * f->step_x, y, runs, back);
    }
    return 1;
}

#define GET_TAKEN(type) \
    return f->step_x == sizeof(type) \
               ? get_taken_##type(x, y, index, n, f->length, sizeof(type)) \
               : get_taken_##type(x, y, index, n, f->length, f->step_x)
#define SET_TAKEN(type) \
    return f->step_x == sizeof(type) \
               ? set_taken_##type(x, y, index, n, f->length, sizeof(type), f->next_y) \
               : set_taken_##type(x, y, index, n, f->length, f->step_x, f->next_y)
#define BY_SIZE(take, back) \
    switch (f->item.rank ? 0 : f->unit) { \
    case 1: take(uint8_t); \
    case 2: take(uint16_t); \
    case 4: take(uint32_t); \
    case 8: take(uint64_t); \
    case 16: take(mat_unit_16); \
    default: return taken_items(f, x, y, index, n, back); \
    }

static int get_taken(const mat_selection *f, char *x, char *y, const int64_t *index, int64_t n) {
    BY_SIZE(GET_TAKEN, 0)
}

static int set_taken(const mat_selection *f, char *x, char *y, const int64_t *index, int64_t n) {
    BY_SIZE(SET_TAKEN, 1)
}

/* Items start to stop of all that are copied, with `take`. */
INLINE void taken(const mat_selection *f, char *const *operands, const double *numbers,
                  double *result, int64_t start, int64_t stop,
                  int (*take)(const mat_selection *, char *, char *, const int64_t *, int64_t)) {
    const int64_t count = (int64_t)numbers[0];
    const int64_t *const index = (const int64_t *)operands[1];
    mat_cursor c;
    cursor_seek(&c, &f->walk, f->walk.rank, start / count);
    for (int64_t u = start, n; u < stop; u += n, cursor_step(&c)) {
        const int64_t done = u % count;
        n = least(count - done, stop - u);
        char *const y = operands[2] + c.y + done * f->next_y;
        if (!take(f, operands[0] + c.x, y, index + done, n)) {
            fail(result);
            return;
        }
    }
}

enum { FEW_TAKEN = 16 };

#define COLUMNS(type) \
    for (int64_t k = 0; k < count; k++) { \
        const char *const from = x + at[k] * f->step_x; \
        char *const to = y + k * f->next_y; \
        EACH(j, n) *(type *)(to + j * step_y) = *(const type *)(from + j * step_x); \
    } \
    break

/* The elements at few positions of each line from start to stop: those at one position of many
   lines after another. */
MAT_CLONES static void get_columns(const mat_selection *f, char *const *operands,
                                   const int64_t *at, int64_t count, int64_t start,
                                   int64_t stop) {
    const int64_t last = f->walk.rank - 1, lines = f->walk.n[last];
    const int64_t step_x = f->walk.x[last], step_y = f->walk.y[last];
    mat_cursor c;
    cursor_seek(&c, &f->walk, last, start / lines);
    for (int64_t u = start, n; u < stop; u += n, cursor_step(&c)) {
        const char *const x = operands[0] + c.x + u % lines * step_x;
        char *const y = operands[2] + c.y + u % lines * step_y;
        n = least(lines - u % lines, stop - u);
        switch (f->unit) {
        case 1: COLUMNS(uint8_t);
        case 2: COLUMNS(uint16_t);
        case 4: COLUMNS(uint32_t);
        case 8: COLUMNS(uint64_t);
        default: COLUMNS(mat_unit_16);
        }
    }
}

KERNEL(mat_taken_get) {
    const mat_selection *f = frame;
    const int64_t count = (int64_t)numbers[0];
    const int64_t first = (start + count - 1) / count, last = stop / count; /* whole lines */
    int64_t at[FEW_TAKEN];
    if (count > FEW_TAKEN || last - first < FEW_TAKEN || f->item.rank || f->unit > 16
        || (f->unit & (f->unit - 1))) {
        taken(f, operands, numbers, result, start, stop, get_taken);
    } else if (!positions(at, (const int64_t *)operands[1], count, f->length)) {
        fail(result);
    } else {
        taken(f, operands, numbers, result, start, first * count, get_taken);
        get_columns(f, operands, at, count, first, last);
        taken(f, operands, numbers, result, last * count, stop, get_taken);
    }
}

/* Where items differ, one thread does a whole line: of several for one place the last one stays. */
KERNEL(mat_taken_set) {
    const mat_selection *f = frame;
    const int64_t count = (int64_t)numbers[0], each = f->next_y ? count : 1;
    int64_t over = 1;
    EACH(k, f->walk.rank) over *= f->walk.n[k];
    if (!start && stop * each == over * count) { /* nobody has checked them */
        mat_taken_check(frame, operands, numbers, result, 0, count);
        if (result[0] != 0) return;
    }
    taken(f, operands, numbers, result, start * each, stop * each, set_taken);
}

/* Rows */

enum { PIECE = 1 << 18 }; /* bytes of a row that are copied by one call */

/* Copies many bytes piece by piece: memcpy of more than a cache holds takes longer. */
static void copy_pieces(char *to, const char *from, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += PIECE)
        memcpy(to + at, from + at, (size_t)least(PIECE, bytes - at));
}

/* Copies `rows` rows of `bytes` bytes; inlined for a constant `bytes`, without a branch in the
   loop. */
INLINE void copy_rows_of(char *to, const char *from, const double *numbers, int64_t rows,
                         int64_t bytes) {
    const int64_t step_from = (int64_t)numbers[4], step_to = (int64_t)numbers[6];
    EACH(k, rows) memcpy(to + k * step_to, from + k * step_from, (size_t)bytes);
}

/* Copies short rows by words of 8 bytes, which takes less time than a call for each row. */
static void copy_words(char *to, const char *from, const double *numbers, int64_t rows,
                       int64_t words) {
    const int64_t step_from = (int64_t)numbers[4], step_to = (int64_t)numbers[6];
    for (int64_t k = 0; k < rows; k++, to += step_to, from += step_from)
        EACH(j, words) memcpy(to + 8 * j, from + 8 * j, 8);
}

static void copy_whole_rows(char *to, const char *from, const double *numbers, int64_t rows,
                            int64_t bytes) {
    switch (bytes) {
    case 1: copy_rows_of(to, from, numbers, rows, 1); break;
    case 2: copy_rows_of(to, from, numbers, rows, 2); break;
    case 4: copy_rows_of(to, from, numbers, rows, 4); break;
    case 8: copy_rows_of(to, from, numbers, rows, 8); break;
    case 16: copy_rows_of(to, from, numbers, rows, 16); break;
    default:
        if (bytes % 8 == 0 && bytes <= 128)
            copy_words(to, from, numbers, rows, bytes / 8);
        else if (bytes > PIECE)
            for (int64_t k = 0; k < rows; k++)
                copy_pieces(to + k * (int64_t)numbers[6], from + k * (int64_t)numbers[4], bytes);
        else
            copy_rows_of(to, from, numbers, rows, bytes);
    }
}

KERNEL(mat_copy_rows) {
    const int64_t bytes = (int64_t)numbers[2];
    const int64_t step_from = (int64_t)numbers[4], step_to = (int64_t)numbers[6];
    if (start >= stop) return; /* also rows of no bytes */
    int64_t row = start / bytes, at = start % bytes;
    if (at) { /* the rest of a row */
        const int64_t n = least(bytes - at, stop - start);
        copy_pieces(operands[1] + row * step_to + at, operands[0] + row * step_from + at, n);
        start += n, row++;
    }
    const int64_t rows = (stop - start) / bytes, left = (stop - start) % bytes;
    char *const to = operands[1] + row * step_to;
    const char *const from = operands[0] + row * step_from;
    copy_whole_rows(to, from, numbers, rows, bytes);
    copy_pieces(to + rows * step_to, from + rows * step_from, left);
}
