/* Convolution and its derivative by the taps, for elements of type T; included once for each.

   Parameters, defined before:
     T        the element type
     NAME(x)  the name of a function or type for that type
     LANES    elements of a vector; NAME(bits) is an integer type of their size */
#include "row_inline.h"
#include "window_inline.h"

/* Copy the input of a tile into the buffer. */
INLINE void NAME(fill)(T *lines, const struct tile *t, const T *x, const struct mat_window *r,
                       const struct mat_window *c) {
    int64_t count = (t->rows - 1) * t->shift + t->k0;
    for (int64_t line = 0; line < count; line++) {
        int64_t row = row_of(t, r, line), first = t->j0 * c->step + c->off + t->p1;
        T *to = lines + line * t->pitch;
        if (row < 0 || row >= r->nx) {
            NAME(clear)(to, t->pitch);
            continue;
        }
        for (int64_t f = 0; f < t->phases; f++)
            NAME(part)(to + f * t->span, x + row * r->strides[0], c->nx, c->strides[0], first + f,
                       c->step, t->span);
    }
}

/* at[k]: where in a line tap k of a row begins. */
INLINE void NAME(offsets)(int64_t *at, const struct tile *t, const struct mat_window *c) {
    for (int64_t k = 0; k < t->k1; k++)
        at[k] = k % c->step * t->span + k / c->step;
}

/* Add `count` elements of m vectors to y. */
INLINE void NAME(add)(T *y, int64_t stride, int64_t count, const NAME(vector) *sum, const int m) {
    int64_t done = 0;
    T out[LANES];
#pragma GCC unroll 4
    for (int v = 0; v < m; v++) {
        if (stride == 1 && count - done >= LANES) {
            STORE(y + done, LOAD(y + done) + sum[v]);
            done += LANES;
            continue;
        }
        STORE(out, sum[v]);
        for (int64_t k = 0; k < LANES && done < count; k++, done++)
            y[done * stride] += out[k];
    }
}

/* Add to `count` elements of y the sums over k0 x k1 taps, for m vectors of outputs, of one row
   or of two that share their lines. Each sum is added up in the same order, whether its row is
   alone or not. at: NULL where tap k begins at k. */
INLINE void NAME(sums)(T *RESTRICT y, int64_t row, int64_t stride, int64_t count, const T *lines,
                       int64_t pitch, const T *w, int64_t k0, int64_t k1, const int64_t *at,
                       const int m, const int rows) {
    NAME(vector) one[4] = {{0}}, two[4] = {{0}};
    for (int64_t a = 0; a < k0 + rows - 1; a++, lines += pitch, w += k1) {
#pragma GCC unroll 5
        for (int64_t b = 0; b < k1; b++) {
            const T *from = lines + (at ? at[b] : b);
            if (a < k0) {
                T tap = w[b];
#pragma GCC unroll 4
                for (int v = 0; v < m; v++)
                    one[v] += LOAD(from + v * LANES) * tap;
            }
            if (rows == 2 && a > 0) {
                T tap = w[b - k1];
#pragma GCC unroll 4
                for (int v = 0; v < m; v++)
                    two[v] += LOAD(from + v * LANES) * tap;
            }
        }
    }
    NAME(add)(y, stride, count, one, m);
    if (rows == 2)
        NAME(add)(y + row, stride, count, two, m);
}

/* A row of a tile, or two. */
INLINE void NAME(row)(T *RESTRICT y, int64_t row, int64_t stride, const struct tile *t,
                      const T *lines, const T *w, int64_t k1, const int64_t *at, const int rows) {
    for (int64_t j = 0; j < t->cols; j += 4 * LANES) {
        int64_t count = least(4 * LANES, t->cols - j);
        /* two rows at a time are no pattern that processors foresee */
        for (int64_t ahead = 4; rows == 2 && ahead < 6; ahead++) {
            PREFETCH(y + ahead * row + j);
            PREFETCH(y + ahead * row + j + 64 / sizeof(T));
        }
        if (count > 3 * LANES)
            NAME(sums)(y + j * stride, row, stride, count, lines + j, t->pitch, w, t->k0, k1, at, 4,
                       rows);
        else if (count > 2 * LANES)
            NAME(sums)(y + j * stride, row, stride, count, lines + j, t->pitch, w, t->k0, k1, at, 3,
                       rows);
        else if (count > LANES)
            NAME(sums)(y + j * stride, row, stride, count, lines + j, t->pitch, w, t->k0, k1, at, 2,
                       rows);
        else
            NAME(sums)(y + j * stride, row, stride, count, lines + j, t->pitch, w, t->k0, k1, at, 1,
                       rows);
    }
}

/* The rows of a tile; common windows with as much as possible known to the compiler. */
INLINE void NAME(rows)(T *y, const struct tile *t, const T *lines, const T *w,
                       const struct mat_window *r, const struct mat_window *c) {
    int64_t at[MOST_COLUMNS], row = r->strides[2], stride = c->strides[2], i = 0;
    NAME(offsets)(at, t, c);
    for (; r->step == 1 && c->step == 1 && stride == 1 && i + 2 <= t->rows;
         i += 2, y += 2 * row, lines += 2 * t->pitch) {
        if (t->k1 == 3)
            NAME(row)(y, row, 1, t, lines, w, 3, NULL, 2);
        else if (t->k1 == 5)
            NAME(row)(y, row, 1, t, lines, w, 5, NULL, 2);
        else
            NAME(row)(y, row, 1, t, lines, w, t->k1, at, 2);
    }
    for (; i < t->rows; i++, y += row, lines += t->shift * t->pitch)
        NAME(row)(y, row, stride, t, lines, w, t->k1, at, 1);
}

/* The same tap by tap, of those that are inside only: where a weight is infinite or NaN, its
   product with the 0 outside would be NaN. */
INLINE void NAME(plainly)(T *y, const T *x, const T *w, const struct mat_window *r,
                          const struct mat_window *c, const struct tile *t) {
    for (int64_t i = t->i0; i < t->i0 + t->rows; i++)
        for (int64_t p = t->p0; p < t->p0 + t->k0; p++) {
            int64_t row = i * r->step + r->off + p;
            for (int64_t q = t->p1; q < t->p1 + t->k1 && row >= 0 && row < r->nx; q++) {
                int64_t j, end = inside(c, q, &j);
                T tap = w[p * r->strides[1] + q * c->strides[1]];
                for (; j < end; j++)
                    y[i * r->strides[2] + j * c->strides[2]] +=
                        tap * x[row * r->strides[0] + (j * c->step + c->off + q) * c->strides[0]];
            }
        }
}

/* Pack the taps of a tile; tell whether all of them are finite. */
INLINE int NAME(weights)(T *to, const T *w, const struct mat_window *r, const struct mat_window *c,
                         const struct tile *t) {
    T zero = 0;
    for (int64_t p = 0; p < t->k0; p++)
        for (int64_t q = 0; q < t->k1; q++) {
            *to = w[(t->p0 + p) * r->strides[1] + (t->p1 + q) * c->strides[1]];
            zero += *to++ * 0;
        }
    return zero == 0;
}

/* Add rows low to high of the convolution of two planes to y. */
INLINE void NAME(plane)(const struct mat_window *r, const struct mat_window *c, const T *x,
                        const T *w, T *y, int64_t low, int64_t high) {
    T lines[TILE], some[MOST_ROWS * MOST_COLUMNS];
    for (int64_t p0 = 0; p0 < r->k; p0 += MOST_ROWS)
        for (int64_t p1 = 0; p1 < c->k; p1 += MOST_COLUMNS) {
            struct tile t = chunk(r, c, p0, p1, LANES);
            int64_t tall = t.rows, wide = t.cols;
            int finite = NAME(weights)(some, w, r, c, &t);
            if (!finite) {
                t.i0 = low, t.rows = high - low;
                NAME(plainly)(y, x, w, r, c, &t);
                continue;
            }
            for (t.j0 = 0; t.j0 < c->n; t.j0 += wide)
                for (t.i0 = low; t.i0 < high; t.i0 += tall) {
                    t.rows = least(tall, high - t.i0), t.cols = least(wide, c->n - t.j0);
                    NAME(fill)(lines, &t, x, r, c);
                    NAME(rows)(y + t.i0 * r->strides[2] + t.j0 * c->strides[2], &t, lines, some, r,
                               c);
                }
        }
}

MAT_CLONES void NAME(mat_convolve)(const void *frame, char *const *operands, const double *numbers,
                                   double *result, int64_t start, int64_t stop) {
    const struct mat_window_loop *loop = frame;
    int64_t outer = loop->ndim - 2, at[DIMS], low, high, x, w;
    for (const struct mat_windows *job = loop->job; job < loop->job + loop->jobs; job++)
        for (int64_t unit = start; unit < stop;) {
            if (!stretch(loop, job, &unit, stop, at, &low, &high) || low == high)
                continue;
            T *y = (T *)operands[2] + job->base[2] + outer_place(job->axes, outer, at, 2);
            for (int64_t q = 0; q < taps(job->axes, outer); q++)
                if (outer_tap(job->axes, outer, q, at, &x, &w))
                    NAME(plane)(job->axes + outer, job->axes + outer + 1,
                                (const T *)operands[0] + job->base[0] + x,
                                (const T *)operands[1] + job->base[1] + w, y, low, high);
        }
}

/* Derivative by the taps: partial[tap] += the sum over all outputs of x yd. */

/* The sums of `g` adjacent taps of one row over the rows and columns of a tile. Beyond the last
   column x counts as 0: it may be infinite there. */
INLINE void NAME(products)(double *partial, int64_t stride, const T *lines, const T *yd,
                           const struct tile *t, int64_t wide, const int64_t *at, const int g) {
    NAME(vector) sum[8] = {{0}};
    NAME(mask) tail;
    int64_t whole = t->cols / LANES * LANES;
    for (int v = 0; v < LANES; v++)
        tail[v] = v < t->cols - whole ? -1 : 0;
    for (int64_t i = 0; i < t->rows; i++, lines += t->shift * t->pitch, yd += wide) {
        for (int64_t j = 0; j < whole; j += LANES) {
            NAME(vector) d = LOAD(yd + j);
#pragma GCC unroll 8
            for (int k = 0; k < g; k++)
                sum[k] += LOAD(lines + at[k] + j) * d;
        }
        if (whole < t->cols) {
            NAME(vector) d = LOAD(yd + whole);
#pragma GCC unroll 8
            for (int k = 0; k < g; k++)
                sum[k] += (NAME(vector))((NAME(mask))LOAD(lines + at[k] + whole) & tail) * d;
        }
    }
#pragma GCC unroll 8
    for (int k = 0; k < g; k++) {
        double total = 0;
        for (int v = 0; v < LANES; v++)
            total += sum[k][v];
        partial[k * stride] += total;
    }
}

/* One row of taps over a tile. */
INLINE void NAME(tap_row)(double *partial, int64_t stride, const T *lines, const T *yd,
                          const struct tile *t, int64_t wide, const int64_t *at) {
    int64_t k = 0;
    for (; k + 8 <= t->k1; k += 8)
        NAME(products)(partial + k * stride, stride, lines, yd, t, wide, at + k, 8);
    if (t->k1 - k >= 5) {
        NAME(products)(partial + k * stride, stride, lines, yd, t, wide, at + k, 5);
        k += 5;
    }
    if (t->k1 - k >= 3) {
        NAME(products)(partial + k * stride, stride, lines, yd, t, wide, at + k, 3);
        k += 3;
    }
    for (; k < t->k1; k++)
        NAME(products)(partial + k * stride, stride, lines, yd, t, wide, at + k, 1);
}

/* One tap over a tile, of the elements inside only: where yd is infinite or NaN, its product
   with the 0 outside would be NaN. */
INLINE double NAME(product)(const T *x, const T *yd, const struct mat_window *r,
                            const struct mat_window *c, const struct tile *t, int64_t p,
                            int64_t q) {
    int64_t first, end = least(inside(c, q, &first), t->j0 + t->cols);
    double sum = 0;
    for (int64_t i = t->i0; i < t->i0 + t->rows; i++) {
        int64_t row = i * r->step + r->off + p;
        for (int64_t j = most(first, t->j0); j < end && row >= 0 && row < r->nx; j++)
            sum += (double)x[row * r->strides[0] + (j * c->step + c->off + q) * c->strides[0]] *
                   yd[i * r->strides[2] + j * c->strides[2]];
    }
    return sum;
}

/* All taps of a tile. */
INLINE void NAME(tap_tile)(double *partial, const T *lines, const T *copy, const T *x, const T *yd,
                           const struct mat_window *r, const struct mat_window *c,
                           const struct tile *t, int64_t wide) {
    int64_t at[MOST_COLUMNS];
    NAME(offsets)(at, t, c);
    for (int64_t p = 0; p < t->k0; p++) {
        double sums[MOST_COLUMNS] = {0};
        NAME(tap_row)(sums, 1, lines + p * t->pitch, copy, t, wide, at);
        for (int64_t q = 0; q < t->k1; q++)
            partial[(t->p0 + p) * r->strides[1] + (t->p1 + q) * c->strides[1]] +=
                sums[q] - sums[q] == 0 ? sums[q]
                                       : NAME(product)(x, yd, r, c, t, t->p0 + p, t->p1 + q);
    }
}

/* Rows low to high of yd with the plane of x that the taps of two axes meet. */
INLINE void NAME(tap_plane)(const struct mat_window *r, const struct mat_window *c, const T *x,
                            double *partial, const T *yd, int64_t low, int64_t high) {
    T lines[TILE], copy[TILE];
    for (int64_t p0 = 0; p0 < r->k; p0 += MOST_ROWS)
        for (int64_t p1 = 0; p1 < c->k; p1 += MOST_COLUMNS) {
            struct tile t = chunk(r, c, p0, p1, LANES);
            int64_t tall = t.rows, wide = t.cols;
            for (t.j0 = 0; t.j0 < c->n; t.j0 += wide)
                for (t.i0 = low; t.i0 < high; t.i0 += tall) {
                    t.rows = least(tall, high - t.i0), t.cols = least(wide, c->n - t.j0);
                    NAME(fill)(lines, &t, x, r, c);
                    for (int64_t i = 0; i < t.rows; i++)
                        NAME(part)(copy + i * wide,
                                   yd + (t.i0 + i) * r->strides[2] + t.j0 * c->strides[2], t.cols,
                                   c->strides[2], 0, 1, wide);
                    NAME(tap_tile)(partial, lines, copy, x, yd, r, c, &t, wide);
                }
        }
}

/* Units are pieces of rows, each with sums of its own, so that the result does not depend on how
   they are shared among threads. */
MAT_CLONES void NAME(mat_correlate)(const void *frame, char *const *operands, const double *numbers,
                                    double *result, int64_t start, int64_t stop) {
    const struct mat_window_loop *loop = frame;
    const struct mat_windows *job = loop->job;
    int64_t outer = loop->ndim - 2, at[DIMS], low, high, x, w;
    for (int64_t piece = start; piece < stop; piece++) {
        double *partial = (double *)operands[2] + piece * taps(job->axes, loop->ndim);
        int64_t end = least(loop->rows, (piece + 1) * loop->piece);
        for (int64_t unit = piece * loop->piece; unit < end;) {
            stretch(loop, job, &unit, end, at, &low, &high);
            const T *yd = (const T *)operands[1] + outer_place(job->axes, outer, at, 2);
            for (int64_t q = 0; q < taps(job->axes, outer); q++)
                if (outer_tap(job->axes, outer, q, at, &x, &w))
                    NAME(tap_plane)(job->axes + outer, job->axes + outer + 1,
                                    (const T *)operands[0] + x, partial + w, yd, low, high);
        }
    }
}

/* piece: how many units there are; rows: taps in each; strides[0] and k: those of wd. */
MAT_CLONES void NAME(mat_gather)(const void *frame, char *const *operands, const double *numbers,
                                 double *result, int64_t start, int64_t stop) {
    const struct mat_window_loop *loop = frame;
    const double *partial = (const double *)operands[0];
    for (int64_t p = start; p < stop; p++) {
        int64_t place = 0, rest = p;
        double sum = 0;
        for (int64_t k = loop->ndim - 1; k >= 0; k--) {
            place += rest % loop->shape[k] * loop->job->axes[k].strides[0];
            rest /= loop->shape[k];
        }
        for (int64_t unit = 0; unit < loop->piece; unit++)
            sum += partial[unit * loop->rows + p];
        ((T *)operands[1])[place] += (T)sum;
    }
}
