/* Windows: which rows, columns and taps a tile of a convolution or pooling has. For nn.c; the
   same for all element types. */
#ifndef MAT_WINDOW_INLINE_H
#define MAT_WINDOW_INLINE_H

#include "mat.h"

#include "call.h"

#include "nn.h" /* has no guard, since cffi reads it: included here only */

#define TILE 2048 /* elements of the buffer */
/* taps that are used at once: one output of all fits the buffer, whatever the steps */
#define MOST_ROWS 8
#define MOST_COLUMNS 16
#define MOST_WIDE 256 /* outputs of a row that are computed at once, if the row is longer */
#define DIMS 8

/* A part that is computed at once: outputs i0 ... and j0 ... by taps p0 ... and p1 ..., and the
   lines of the buffer that have their input. */
struct tile {
    int64_t i0, rows, j0, cols, p0, k0, p1, k1;
    int64_t shift;               /* lines per output row */
    int64_t phases, span, pitch; /* parts of a line; the lengths of a part and of a line */
};

INLINE int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

INLINE int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* a / b, rounded up; most steps are 1, and divisions slow */
INLINE int64_t above(int64_t a, int64_t b) {
    if (LIKELY(b == 1))
        return a;
    return a > 0 ? (a + b - 1) / b : -(-a / b);
}

INLINE int64_t rounded(int64_t a, int64_t lanes) {
    return (a + lanes - 1) / lanes * lanes;
}

/* The points of an axis for which a tap is inside of the input: from *low to the result. */
INLINE int64_t inside(const struct mat_window *a, int64_t p, int64_t *low) {
    *low = most(0, above(-(a->off + p), a->step));
    return most(*low, least(a->n, above(a->nx - a->off - p, a->step)));
}

/* The windows of an axis that position `t` of x is in: from *low to the result. */
INLINE int64_t around(const struct mat_window *a, int64_t t, int64_t *low) {
    *low = most(0, above(t - a->off - a->k + 1, a->step));
    return most(*low, least(a->n, above(t - a->off + 1, a->step)));
}

/* Row `unit` of the first `outer` axes. */
INLINE void unravel(const int64_t *shape, int64_t outer, int64_t unit, int64_t *at) {
    for (int64_t k = outer - 1; k >= 0; k--) {
        at[k] = unit % shape[k];
        unit /= shape[k];
    }
}

/* The position of tap `q` of the outer axes, counted in row-major order, for output `at`: in x and
   in w. The result is 0 if it is outside of the input. */
INLINE int outer_tap(const struct mat_window *axes, int64_t count, int64_t q, const int64_t *at,
                     int64_t *x, int64_t *w) {
    *x = *w = 0;
    for (int64_t k = count - 1; k >= 0; k--) {
        const struct mat_window *a = axes + k;
        int64_t p = q % a->k, place = at[k] * a->step + a->off + p;
        q /= a->k;
        if (place < 0 || place >= a->nx)
            return 0;
        *x += place * a->strides[0];
        *w += p * a->strides[1];
    }
    return 1;
}

INLINE int64_t taps(const struct mat_window *axes, int64_t count) {
    int64_t n = 1;
    for (int64_t k = 0; k < count; k++)
        n *= axes[k].k;
    return n;
}

/* The offset of point `at` of the outer axes in operand `operand`, in elements. */
INLINE int64_t outer_place(const struct mat_window *axes, int64_t count, const int64_t *at,
                           int operand) {
    int64_t place = 0;
    for (int64_t k = 0; k < count; k++)
        place += at[k] * axes[k].strides[operand];
    return place;
}

/* The points of a job from row `unit` on: those of the outer axes into `at`, and the stretch of
   rows that ends before `stop` into *low and *high. The result is 0 if the job has no points
   there; the next stretch begins at *unit. */
INLINE int stretch(const struct mat_window_loop *loop, const struct mat_windows *job, int64_t *unit,
                   int64_t stop, int64_t *at, int64_t *low, int64_t *high) {
    int64_t last = loop->ndim - 2, height = loop->shape[last], rest = *unit / height,
            row = *unit % height, found = 1;
    int64_t end = least(height, row + stop - *unit);
    *unit += end - row;
    for (int64_t k = last - 1; k >= 0; k--) {
        int64_t place = rest % loop->shape[k] - job->axes[k].first;
        rest /= loop->shape[k];
        found = found && place >= 0 && place % job->axes[k].every == 0;
        at[k] = place / job->axes[k].every;
    }
    *low = most(0, above(row - job->axes[last].first, job->axes[last].every));
    *high = most(*low, above(end - job->axes[last].first, job->axes[last].every));
    return (int)found;
}

/* A tile of the taps from p0 and p1 on that are used at once, and of so many outputs of a row. */
INLINE struct tile chunk(const struct mat_window *r, const struct mat_window *c, int64_t p0,
                         int64_t p1, int64_t lanes) {
    struct tile t = {0};
    t.p0 = p0, t.k0 = least(MOST_ROWS, r->k - p0);
    t.p1 = p1, t.k1 = least(MOST_COLUMNS, c->k - p1);
    t.shift = least(r->step, t.k0);
    t.phases = least(c->step, t.k1);
    t.cols = least(rounded(c->n, lanes), MOST_WIDE);
    while (t.cols > lanes && (t.cols + (t.k1 - 1) / c->step) * t.phases * t.k0 > TILE / 2)
        t.cols = rounded(t.cols / 2, lanes);
    t.span = t.cols + (t.k1 - 1) / c->step;
    t.pitch = t.phases * t.span;
    t.rows = (TILE / t.pitch - t.k0) / t.shift + 1;
    return t;
}

/* The row of the input that line `line` of the buffer has. */
INLINE int64_t row_of(const struct tile *t, const struct mat_window *r, int64_t line) {
    int64_t first = t->i0 * r->step + r->off + t->p0;
    if (t->shift == r->step) /* rows share lines, or follow each other without a gap */
        return first + line;
    return first + line / t->shift * r->step + line % t->shift;
}

#if defined(__clang__)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (NAME(mask)){__VA_ARGS__})
#endif

#if defined(__GNUC__)
#define PREFETCH(place) __builtin_prefetch(place, 1) /* to be written soon, if it exists */
#else
#define PREFETCH(place) ((void)0)
#endif

#endif
