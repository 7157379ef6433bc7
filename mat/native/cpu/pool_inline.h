/* Pooling and its derivative, for elements of type T; included once for each. A NaN is larger than
   all numbers.

   Parameters, defined before: those of convolve_inline.h, and for SHUFFLE
     EVEN, ODD  the indices of the even and odd elements of two vectors
     LOW, HIGH  the indices that repeat the first and the second half of a vector */
#include "row_inline.h"
#include "window_inline.h"

INLINE T NAME(larger)(T a, T b) {
    return (a > b) | (a != a) ? a : b;
}

/* The same of vectors: what compilers make of a loop over `larger` may as well be branches. */
#define LARGER(a, b) CHOSEN(((a) > (b)) | ((a) != (a)), a, b)
#define CHOSEN(which, a, b) \
    (NAME(vector))(((which) & (NAME(mask))(a)) | (~(which) & (NAME(mask))(b)))

/* to = the larger of a and b */
INLINE void NAME(merge_rows)(T *to, const T *a, const T *b, int64_t n) {
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        NAME(vector) v = LOAD(a + j), w = LOAD(b + j);
        STORE(to + j, LARGER(v, w));
    }
    for (; j < n; j++)
        to[j] = NAME(larger)(a[j], b[j]);
}

/* Copy `n` elements of a row of x to `to`, or take the larger of both. */
INLINE void NAME(merge)(T *RESTRICT to, const T *RESTRICT x, int64_t stride, int64_t n, int first) {
    if (stride != 1) {
        for (int64_t j = 0; j < n; j++)
            to[j] = first ? x[j * stride] : NAME(larger)(to[j], x[j * stride]);
    } else if (first) {
        NAME(copied)(to, x, n);
    } else {
        NAME(merge_rows)(to, to, x, n);
    }
}

/* y[j] = the largest of k elements from j * step on. */
INLINE void NAME(windows)(T *RESTRICT y, int64_t stride, const T *RESTRICT from, int64_t n,
                          int64_t k, int64_t step) {
    for (int64_t j = 0; j < n; j++) {
        T found = from[j * step];
        for (int64_t p = 1; p < k; p++)
            found = NAME(larger)(found, from[j * step + p]);
        y[j * stride] = found;
    }
}

/* The same of pairs of adjacent elements. */
INLINE void NAME(pairs)(T *RESTRICT y, const T *RESTRICT from, int64_t n) {
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        NAME(vector)
        a = LOAD(from + 2 * j),
        b = LOAD(from + 2 * j + LANES), even = SHUFFLE(a, b, EVEN), odd = SHUFFLE(a, b, ODD);
        STORE(y + j, LARGER(even, odd));
    }
    for (; j < n; j++)
        y[j] = NAME(larger)(from[2 * j], from[2 * j + 1]);
}

/* The same tap by tap over windows that begin at adjacent elements. */
INLINE void NAME(adjacent_windows)(T *RESTRICT y, const T *RESTRICT from, int64_t n, int64_t k) {
    NAME(copied)(y, from, n);
    for (int64_t p = 1; p < k; p++)
        NAME(merge_rows)(y, y, from + p, n);
}

/* One row of outputs: first the largest of each column into the buffer, then of each window. */
INLINE void NAME(pool_row)(const struct mat_window *axes, int64_t outer, const int64_t *at,
                           const T *x, T *y) {
    const struct mat_window *c = axes + outer;
    T line[TILE];
    int64_t wide = most(1, (TILE - c->k) / c->step);
    for (int64_t j0 = 0; j0 < c->n; j0 += wide) {
        int64_t n = least(wide, c->n - j0), begin = j0 * c->step + c->off,
                length = (n - 1) * c->step + c->k, place, unused;
        int64_t low = most(0, -begin), high = least(length, c->nx - begin);
        int first = 1;
        for (int64_t j = 0; j < low; j++)
            line[j] = -INFINITY;
        for (int64_t j = high; j < length; j++)
            line[j] = -INFINITY;
        for (int64_t q = 0; q < taps(axes, outer); q++)
            if (outer_tap(axes, outer, q, at, &place, &unused)) {
                NAME(merge)(line + low, x + place + (begin + low) * c->strides[0], c->strides[0],
                            high - low, first);
                first = 0;
            }
        T *to = y + j0 * c->strides[1];
        if (c->strides[1] == 1 && c->step == 2 && c->k == 2)
            NAME(pairs)(to, line, n);
        else if (c->strides[1] == 1 && c->step == 1)
            NAME(adjacent_windows)(to, line, n, c->k);
        else
            NAME(windows)(to, c->strides[1], line, n, c->k, c->step);
    }
}

/* Windows wider than the buffer: one by one. */
INLINE void NAME(pool_wide_row)(const struct mat_window *axes, int64_t outer, const int64_t *at,
                                const T *x, T *y) {
    const struct mat_window *c = axes + outer;
    for (int64_t j = 0; j < c->n; j++) {
        int64_t begin = most(0, j * c->step + c->off),
                end = least(c->nx, j * c->step + c->off + c->k), place, unused;
        T found = -INFINITY;
        for (int64_t q = 0; q < taps(axes, outer); q++)
            if (outer_tap(axes, outer, q, at, &place, &unused))
                for (int64_t p = begin; p < end; p++)
                    found = NAME(larger)(found, x[place + p * c->strides[0]]);
        y[j * c->strides[1]] = found;
    }
}

MAT_CLONES void NAME(mat_pool)(const void *frame, char *const *operands, const double *numbers,
                               double *result, int64_t start, int64_t stop) {
    const struct mat_window_loop *loop = frame;
    const struct mat_window *axes = loop->job->axes;
    int64_t outer = loop->ndim - 1, at[DIMS];
    for (int64_t unit = start; unit < stop; unit++) {
        unravel(loop->shape, outer, unit, at);
        T *y = (T *)operands[1] + outer_place(axes, outer, at, 1);
        if (axes[outer].k + axes[outer].step > TILE)
            NAME(pool_wide_row)(axes, outer, at, (const T *)operands[0], y);
        else
            NAME(pool_row)(axes, outer, at, (const T *)operands[0], y);
    }
}

/* The derivative. strides: of x, y, yd, xd. */

INLINE T NAME(share)(T xd, T x, T y, T yd) {
    return (x == y) | ((x != x) & (y != y)) ? xd + yd : xd;
}

/* A vector of the same at `to`, given those of y and yd. */
#define SHARE(to, x, y, yd) do { \
    NAME(vector) here = LOAD(x), sum = LOAD(to) + (yd); \
    STORE(to, CHOSEN((here == (y)) | ((here != here) & ((y) != (y))), sum, LOAD(to))); \
} while (0)

/* One row of x with one row of windows, which are inside of it: pairs of adjacent elements, or one
   tap of adjacent windows. */
INLINE void NAME(share_pairs)(T *RESTRICT xd, const T *RESTRICT x, const T *RESTRICT y,
                              const T *RESTRICT yd, int64_t n) {
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        NAME(vector) once = LOAD(y + j), grown = LOAD(yd + j);
        NAME(vector) y0 = SHUFFLE(once, once, LOW), y1 = SHUFFLE(once, once, HIGH);
        SHARE(xd + 2 * j, x + 2 * j, y0, SHUFFLE(grown, grown, LOW));
        SHARE(xd + 2 * j + LANES, x + 2 * j + LANES, y1, SHUFFLE(grown, grown, HIGH));
    }
    for (; j < n; j++) {
        xd[2 * j] = NAME(share)(xd[2 * j], x[2 * j], y[j], yd[j]);
        xd[2 * j + 1] = NAME(share)(xd[2 * j + 1], x[2 * j + 1], y[j], yd[j]);
    }
}

INLINE void NAME(share_tap)(T *RESTRICT xd, const T *RESTRICT x, const T *RESTRICT y,
                            const T *RESTRICT yd, int64_t n) {
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        NAME(vector) largest = LOAD(y + j);
        SHARE(xd + j, x + j, largest, LOAD(yd + j));
    }
    for (; j < n; j++)
        xd[j] = NAME(share)(xd[j], x[j], y[j], yd[j]);
}

INLINE void NAME(share_row)(const struct mat_window *c, T *xd, const T *x, const T *y,
                            const T *yd) {
    int unit = c->strides[0] == 1 && c->strides[1] == 1 && c->strides[2] == 1 && c->strides[3] == 1;
    if (unit && c->k == 2 && c->step == 2 && c->off == 0 && 2 * c->n <= c->nx) {
        NAME(share_pairs)(xd, x, y, yd, c->n);
        return;
    }
    for (int64_t p = 0; p < c->k; p++) {
        int64_t low, high = inside(c, p, &low), shift = c->off + p;
        if (unit && c->step == 1) {
            NAME(share_tap)(xd + low + shift, x + low + shift, y + low, yd + low, high - low);
            continue;
        }
        for (int64_t j = low; j < high; j++) {
            int64_t place = j * c->step + shift;
            T *to = xd + place * c->strides[3];
            *to = NAME(share)(*to, x[place * c->strides[0]], y[j * c->strides[1]],
                              yd[j * c->strides[2]]);
        }
    }
}

/* Units are rows of x, each with all the rows of windows that it is in, in a fixed order. */
MAT_CLONES void NAME(mat_pool_back)(const void *frame, char *const *operands, const double *numbers,
                                    double *result, int64_t start, int64_t stop) {
    const struct mat_window_loop *loop = frame;
    const struct mat_window *axes = loop->job->axes;
    int64_t outer = loop->ndim - 1, at[DIMS], low[DIMS], count[DIMS];
    for (int64_t unit = start; unit < stop; unit++) {
        int64_t total = 1;
        unravel(loop->shape, outer, unit, at);
        for (int64_t k = 0; k < outer; k++) {
            count[k] = around(axes + k, at[k], low + k) - low[k];
            total *= count[k];
        }
        for (int64_t q = 0; q < total; q++) {
            int64_t rest = q, y = 0, yd = 0;
            for (int64_t k = outer - 1; k >= 0; k--) {
                int64_t i = low[k] + rest % count[k];
                rest /= count[k];
                y += i * axes[k].strides[1], yd += i * axes[k].strides[2];
            }
            NAME(share_row)(axes + outer, (T *)operands[3] + outer_place(axes, outer, at, 3),
                            (const T *)operands[0] + outer_place(axes, outer, at, 0),
                            (const T *)operands[1] + y, (const T *)operands[2] + yd);
        }
    }
}

#undef LARGER
#undef CHOSEN
#undef SHARE
#undef LOAD
#undef STORE
