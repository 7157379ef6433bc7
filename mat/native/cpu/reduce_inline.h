/* The parts that reductions of all types share: stepping along axes, and counting by the frame. */
#ifndef REDUCE_INLINE_H
#define REDUCE_INLINE_H

#include <float.h>

#if defined(__GNUC__)
#pragma GCC diagnostic ignored \
    "-Wtautological-compare" /* whether an element is a number, asked of integers, too */
#endif

/* Functions for AVX-512, where there may be any; HAS_WIDE says whether the processor has it. */
#ifdef MAT_HAS_CLONES
#include <immintrin.h>
#define WIDE __attribute__((target("arch=x86-64-v4"), unused))
#define HAS_WIDE __builtin_cpu_supports("x86-64-v4")
#elif defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define WIDE __attribute__((unused))
#define HAS_WIDE 1
#endif

#define TILE 1024 /* columns at most that are done together; their totals stay in the first cache */
#define ROWS 64 /* rows that are added before they go into the totals */
#define FOUR(do) do(0) do(1) do(2) do(3)
#define LANES \
    ((int64_t)(256 / sizeof(T))) /* places to add up in, which compilers keep in registers, \
                                    however wide these are */
#define PACKED ((int64_t)(17 * LANES)) /* elements that are apart, brought together for vectors */
#define AT_ONCE 2048 /* elements that are looked through together for the largest or smallest one */
#define MANY 1024 /* elements whose extremes are found faster apart, if all are numbers */
#define SHORT 16 /* elements that are so few that adding them up one by one is faster */
#define EACH(j, n) for (int64_t j = 0; j < (n); j++)
#define PASTE(a, b) a##_##b
#define PASTED(a, b) PASTE(a, b)

enum { MAX, MIN, PROD, FMAX, FMIN, ADD };
enum { ANY, ALL, COUNT };
#define TRUTHS 240 /* elements that are counted in one byte, before that is added up */

/* A position along some axes, in elements of x and of y. */
typedef struct {
    const mat_axes *axes;
    int64_t rank, x, y, index[32];
} mat_cursor;

INLINE void cursor_seek(mat_cursor *c, const mat_axes *axes, int64_t rank, int64_t at) {
    c->axes = axes, c->rank = rank, c->x = c->y = 0;
    for (int64_t k = rank - 1; k >= 0; k--) {
        int64_t i = at ? at % axes->n[k] : 0;
        at = at ? at / axes->n[k] : 0;
        c->index[k] = i, c->x += i * axes->x[k], c->y += i * axes->y[k];
    }
}

INLINE void cursor_step(mat_cursor *c) {
    for (int64_t k = c->rank - 1; k >= 0; k--) {
        c->x += c->axes->x[k], c->y += c->axes->y[k];
        if (LIKELY(++c->index[k] < c->axes->n[k]))
            return;
        c->x -= c->axes->n[k] * c->axes->x[k], c->y -= c->axes->n[k] * c->axes->y[k],
            c->index[k] = 0;
    }
}

/* The elements from `at` to `stop` of those that make a result, line by line: `count` of them from
   `x` on, `step` apart. */
typedef struct {
    mat_cursor lines;
    int64_t at, stop, length, step, x, count, first;
} mat_stretch;

INLINE void stretch_begin(mat_stretch *w, const mat_reduction *f, int64_t at, int64_t stop) {
    int64_t last = f->in.rank - 1;
    w->at = at, w->stop = stop, w->length = f->in.n[last], w->step = f->in.x[last];
    w->lines.axes = &f->in, w->lines.rank = last, w->lines.x = 0;
    if (last)
        cursor_seek(&w->lines, &f->in, last, at / w->length);
}

INLINE int stretch_next(mat_stretch *w, const mat_reduction *f) {
    if (w->at >= w->stop)
        return 0;
    int64_t skip = f->in.rank > 1 ? w->at % w->length : w->at, left = w->stop - w->at;
    w->first = w->at, w->x = w->lines.x + skip * w->step;
    w->count = w->length - skip < left ? w->length - skip : left;
    w->at += w->count;
    return 1;
}

INLINE void stretch_step(mat_stretch *w, const mat_reduction *f) {
    if (f->in.rank > 1)
        cursor_step(&w->lines);
}

/* Whether to read eight rows at a time, which is faster than four: but in a cache, those that lie a
   power of two apart displace each other. */
INLINE int eight_rows(const mat_reduction *f, int64_t size) {
    return f->in.x[f->in.rank - 1] * size % 2048 != 0;
}

#define STRETCHES(w, f, from, to) \
    mat_stretch w; \
    for (stretch_begin(&w, f, from, to); stretch_next(&w, f); stretch_step(&w, f))

/* One part of the work: elements `from` to `to` of results at the kept cursor, with columns
   `column` to `column + width`. */
typedef struct {
    int64_t chunk, from, to, outer, column, width;
} mat_part;

INLINE mat_part part_of(const mat_reduction *f, int64_t unit) {
    mat_part p;
    int64_t whole = f->chunks > 1 ? unit / f->chunks : unit;
    p.chunk = unit - whole * f->chunks;
    p.from = p.chunk * f->chunk;
    p.to = p.from + f->chunk < f->reduced ? p.from + f->chunk : f->reduced;
    p.outer = f->tiles > 1 ? whole / f->tiles : whole;
    p.column = (whole - p.outer * f->tiles) * f->tile;
    p.width = f->columns - p.column < f->tile ? f->columns - p.column : f->tile;
    return p;
}

/* Results of adjacent numbers that are in y `apart` from each other: `count` of them, from the k-th
   on, at `y`. */
typedef struct {
    int64_t y, apart, count;
} mat_run_of;

INLINE mat_run_of run_of(const mat_reduction *f, int64_t k, int64_t stop) {
    mat_cursor outer;
    int64_t columns = f->columns ? f->columns : 1, row = k / columns, column = k - row * columns;
    cursor_seek(&outer, &f->kept, f->kept.rank, row);
    mat_run_of r = {outer.y + column * f->column_y, f->column_y, columns - column};
    r.count = r.count < stop - k ? r.count : stop - k;
    r.count = r.count < TILE ? r.count : TILE;
    return r;
}

#define RUNS(k, r, f, start, stop) \
    mat_run_of r; \
    for (int64_t k = (start); k < (stop) && (r = run_of(f, k, stop), 1); k += r.count)

/* The first of the elements that make the k-th result, from x on. */
INLINE int64_t first_of(const mat_reduction *f, int64_t k) {
    mat_cursor outer;
    int64_t columns = f->columns ? f->columns : 1, row = k / columns;
    cursor_seek(&outer, &f->kept, f->kept.rank, row);
    return outer.x + (f->columns ? (k - row * columns) * f->column_x : 0);
}

/* Where parts are left, if there are several of a result. */
INLINE void *left_of(const mat_reduction *f, char *const *operands) {
    return f->chunks > 1 ? operands[2] : NULL;
}

/* Write the y-th result of a reduction of truth: `total` is how many elements are true, or how many
   parts have what was looked for. */
INLINE void truth_put(int op, const mat_reduction *f, char *const *operands, int64_t y,
                      int64_t total) {
    if (op == COUNT && f->mean)
        ((double *)operands[1] + f->start_y)[y] = total / f->divisor;
    else if (op == COUNT)
        ((int64_t *)operands[1] + f->start_y)[y] = total;
    else
        ((uint8_t *)operands[1] + f->start_y)[y] = (op == ANY) == (total != 0);
}

INLINE void truth_finish(int op, const mat_reduction *f, char *const *operands, int64_t start,
                         int64_t stop) {
    const int64_t *left = left_of(f, operands);
    RUNS(k, r, f, start, stop)
        EACH(j, r.count) {
            int64_t total = 0;
            EACH(c, f->chunks) total += left[c * f->results + k + j];
            truth_put(op, f, operands, r.y + j * r.apart, total);
        }
}

/* The parts of a sum that must not be lost: in hi what is also right of infinities, in lo its
   error. */
typedef struct {
    double hi, lo;
} mat_pair;

INLINE double pair_value(mat_pair p) {
    return p.lo != 0 && fabs(p.lo) <= DBL_MAX ? p.hi + p.lo : p.hi;
}

INLINE double sum_result(const mat_reduction *f, mat_pair p) {
    return (0.0 + pair_value(p)) / f->divisor; /* 0.0 of nothing and of -0.0 only, like NumPy's */
}

#endif
