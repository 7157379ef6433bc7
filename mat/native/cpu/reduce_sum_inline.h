/* Sums of elements T, by lines and by columns. Included for float and for double, after their
   folds.

   However long a sum is, its error is at most that of 21 roundings, 21/2 eps of T, times the sum of
   absolute values, and the one of the result: at most 17 elements are added one after the other, in
   many places at once, 3 or 4 steps of a tree follow, and what comes out of these is added up in
   double for float, and for double with the rounding errors kept beside it. NumPy's pairwise sums
   have as many from some thousand elements on, its sums of columns as many as there are rows. */

#define BLOCK 16

/* Add to a total of which rounding errors are kept where they may matter. */
INLINE void N(carry)(double *hi, double *lo, double x) {
#ifdef SINGLE
    *hi += x;
#else
    double sum = *hi + x, part = sum - *hi;
    *lo += (*hi - (sum - part)) + (x - part);
    *hi = sum;
#endif
}

INLINE void N(add)(mat_pair *p, double x) {
    N(carry)(&p->hi, &p->lo, x);
}

#ifdef WIDE
#include "reduce_sum_wide_inline.h"
#endif

/* Add n elements to four totals; what is short to the first of them. */
INLINE void N(sum_adjacent)(mat_pair *total, const T *p, int64_t n) {
#ifdef WIDE
    if (n >= SHORT && HAS_WIDE) {
        N(sum_wide)(total, p, n);
        return;
    }
#endif
    while (n >= SHORT) {
        T t[LANES];
        int64_t k = 0, times = n / LANES < BLOCK ? n / LANES : BLOCK;
        EACH(j, LANES) t[j] = -0.0;
        for (; k < times; k++, p += LANES)
            EACH(j, LANES) t[j] += p[j];
        n -= times * LANES;
        if (n < LANES) {
            EACH(j, n) t[j] += p[j];
            n = 0;
        }
        for (int64_t half = LANES / 2; half >= 4; half /= 2)
            EACH(j, half) t[j] += t[j + half];
        EACH(j, 4) N(add)(&total[j], t[j]);
    }
    for (; n > 0; n--, p++)
        N(add)(total, *p);
}

/* The same of elements that are `step` apart, by blocks: the last one is as long as it may be. */
INLINE void N(sum)(mat_pair *total, const T *p, int64_t n, int64_t step) {
    T packed[PACKED];
    for (int64_t m; n > 0; n -= m, p += m * step) {
        const T *from = p;
        m = n;
        if (step != 1) {
            m = n < (BLOCK + 1) * LANES ? n : BLOCK * LANES;
            N(pack)(packed, p, m, step);
            from = packed;
        }
        N(sum_adjacent)(total, from, m);
    }
}

INLINE mat_pair N(close)(mat_pair *total) {
    for (int64_t j = 1; j < 4; j++) {
        N(add)(total, total[j].hi);
        total->lo += total[j].lo;
    }
    return *total;
}

INLINE void N(put)(const mat_reduction *f, T *y, mat_pair p, const double *numbers) {
    double value = sum_result(f, p);
    if (f->accumulate) {
        T total = (T)value * (T)numbers[0];
        *y = numbers[2] == 0 ? total : total + (T)numbers[2] * *y;
    } else
        *y = (T)value;
}

INLINE void N(sum_lines)(const mat_reduction *f, char *const *operands, const double *numbers,
                         int64_t start, int64_t stop) {
    const T *x = (const T *)operands[0] + f->start_x;
    T *y = (T *)operands[1] + f->start_y;
    double *left = left_of(f, operands);
    mat_cursor kept;
    mat_part p = part_of(f, start);
    cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
    for (int64_t u = start; u < stop; u++) {
        p = part_of(f, u);
        mat_pair t[4] = {{-0.0, 0.0}, {-0.0, 0.0}, {-0.0, 0.0}, {-0.0, 0.0}};
        STRETCHES(w, f, p.from, p.to)
            N(sum)(t, x + kept.x + w.x, w.count, w.step);
        mat_pair total = N(close)(t);
        if (f->chunks == 1)
            N(put)(f, y + kept.y, total, numbers);
        else {
            double *at = left + p.chunk * f->results + p.outer;
            at[0] = total.hi, at[f->chunks * f->results] = total.lo;
        }
        if (p.chunk == f->chunks - 1)
            cursor_step(&kept);
    }
}

/* Add rows to the totals hi and lo of columns, or begin these; four or, with `eight`, eight at a
   time. */
INLINE void N(sum_rows)(double *RESTRICT hi, double *RESTRICT lo, const T *RESTRICT p, int64_t rows,
                        int64_t step, int64_t width, int64_t apart, int eight, int begin) {
    T sum[TILE];
    for (int64_t n; rows > 0; rows -= n, begin = 0) {
        int64_t k;
        n = rows < ROWS ? rows : ROWS;
#define AT(i) p[j * apart + (i) * step]
#define GROUP(i) ((AT(i) + AT(i + 1)) + (AT(i + 2) + AT(i + 3)))
        if (eight && n >= 8) {
            EACH(j, width) sum[j] = GROUP(0) + GROUP(4);
            k = 8;
        } else if (n >= 4) {
            EACH(j, width) sum[j] = GROUP(0);
            k = 4;
        } else {
            EACH(j, width) sum[j] = AT(0);
            k = 1;
        }
        p += k * step;
        if (eight)
            for (; k + 8 <= n; k += 8, p += 8 * step)
                EACH(j, width) sum[j] += GROUP(0) + GROUP(4);
        for (; k + 4 <= n; k += 4, p += 4 * step)
            EACH(j, width) sum[j] += GROUP(0);
        for (; k < n; k++, p += step)
            EACH(j, width) sum[j] += AT(0);
#undef GROUP
#undef AT
        if (begin)
            EACH(j, width) hi[j] = sum[j];
        else
            EACH(j, width) N(carry)(hi + j, lo + j, sum[j]);
    }
}

INLINE void N(sum_columns)(const mat_reduction *f, char *const *operands, const double *numbers,
                           int64_t start, int64_t stop, int64_t apart) {
    const T *x = (const T *)operands[0] + f->start_x;
    T *y = (T *)operands[1] + f->start_y;
    double *left = left_of(f, operands), here[TILE], there[TILE];

    int eight = apart == 1 && eight_rows(f, sizeof(T));
    for (int64_t u = start; u < stop; u++) {
        mat_part p = part_of(f, u);
        mat_cursor kept;
        cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
        int64_t at = p.chunk * f->results + p.outer * f->columns + p.column;
        double *hi = left ? left + at : here, *lo = left ? hi + f->chunks * f->results : there;
        EACH(j, p.width) lo[j] = 0.0;
        STRETCHES(w, f, p.from, p.to)
        N(sum_rows)(hi, lo, x + kept.x + p.column * apart + w.x, w.count, w.step, p.width, apart,
                    eight, w.first == p.from);
        if (!left)
            EACH(j, p.width) N(put)(f, y + kept.y + (p.column + j) * f->column_y,
                                    (mat_pair){f->reduced ? hi[j] : 0.0, lo[j]}, numbers);
    }
}

/* Columns that are not adjacent, compiled for one machine only. */
static void N(sum_apart)(const mat_reduction *f, char *const *operands, const double *numbers,
                         int64_t start, int64_t stop) {
    N(sum_columns)(f, operands, numbers, start, stop, f->column_x);
}

INLINE void N(sum_all)(const mat_reduction *f, char *const *operands, const double *numbers,
                       int64_t start, int64_t stop) {
    if (f->columns && f->column_x == 1)
        N(sum_columns)(f, operands, numbers, start, stop, 1);
    else if (!f->columns)
        N(sum_lines)(f, operands, numbers, start, stop);
    else
        N(sum_apart)(f, operands, numbers, start, stop);
}

/* The total of the parts of result k from `chunk` on that are a group. */
INLINE mat_pair N(group)(const mat_reduction *f, const double *left, int64_t k, int64_t chunk) {
    const int64_t end = f->chunks - chunk < f->group ? f->chunks : chunk + f->group;
    const int64_t at = chunk * f->results + k;
    mat_pair p = {left[at], left[at + f->chunks * f->results]};
    for (int64_t c = chunk + 1; c < end; c++) N(add)(&p, left[c * f->results + k]);
    return p;
}

INLINE void N(sum_finish)(const mat_reduction *f, char *const *operands, const double *numbers,
                          int64_t start, int64_t stop) {
    T *y = (T *)operands[1] + f->start_y;
    const double *left = left_of(f, operands);
    const int64_t group = f->group > 1 ? f->group : 1;
    double hi[TILE], lo[TILE];
    RUNS(k, r, f, start, stop) {
        for (int64_t chunk = 0; chunk < f->chunks; chunk += group)
            EACH(j, r.count) {
                const mat_pair p = N(group)(f, left, k + j, chunk);
                if (!chunk)
                    hi[j] = p.hi, lo[j] = p.lo;
                else
                    N(carry)(hi + j, lo + j, p.hi), lo[j] += p.lo;
            }
        EACH(j, r.count) N(put)(f, y + r.y + j * r.apart, (mat_pair){hi[j], lo[j]}, numbers);
    }
}

#undef BLOCK
