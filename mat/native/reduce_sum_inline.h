/* Sums of elements T, by lines and by columns. Included for float and for double, after their folds.

   However long a sum is, its error is at most about 20 eps of T times the sum of absolute values: at most 16 elements are
   added one after the other, in many places at once, 2 or 3 steps of a tree follow, and what comes out of these is added up
   in double for float, and for double with the rounding errors kept beside it. */

#define BLOCK 16

INLINE void N(add)(mat_pair *p, double x) {
#ifdef SINGLE
    p->hi += x;
#else
    TWO_SUM(p->hi, p->lo, x);
#endif
}

/* Add n elements to four totals, and those that are few by themselves to the first. */
INLINE void N(sum)(mat_pair *total, const T *p, int64_t n, int64_t step) {
    while (n >= LANES) {
        int64_t times = n / LANES;
        times = times < BLOCK ? times : BLOCK;
        T t[LANES];
        EACH(j, LANES) t[j] = p[j * step];
        p += LANES * step;
        for (int64_t k = 1; k < times; k++, p += LANES * step)
            EACH(j, LANES) t[j] += p[j * step];
        for (int64_t half = LANES / 2; half >= 4; half /= 2)
            EACH(j, half) t[j] += t[j + half];
        EACH(j, 4) N(add)(&total[j], t[j]);
        n -= times * LANES;
    }
    for (; n > 0; n--, p += step)
        N(add)(total, *p);
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

INLINE void N(sum_lines)(const mat_reduction *f, char *const *operands, const double *numbers, int64_t start, int64_t stop,
                         int64_t step) {
    const T *x = (const T *)operands[0] + f->start_x;
    T *y = (T *)operands[1] + f->start_y;
    mat_pair *left = left_of(f, operands);
    mat_cursor kept;
    mat_part p = part_of(f, start);
    cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
    for (int64_t u = start; u < stop; u++) {
        p = part_of(f, u);
        mat_pair t[4] = {{-0.0, 0.0}, {-0.0, 0.0}, {-0.0, 0.0}, {-0.0, 0.0}};
        WALK(w, f, p.from, p.to)
            N(sum)(t, x + kept.x + w.x, w.count, step == 1 ? 1 : w.step);
        if (f->chunks == 1)
            N(put)(f, y + kept.y, N(close)(t), numbers);
        else
            left[p.chunk * f->results + p.outer] = N(close)(t);
        if (p.chunk == f->chunks - 1)
            cursor_step(&kept);
    }
}

INLINE void N(sum_rows)(T *RESTRICT sum, double *RESTRICT hi, double *RESTRICT lo, const T *RESTRICT p, int64_t rows,
                        int64_t step, int64_t width, int64_t apart) {
    while (rows > 0) {
        int64_t n = rows < 4 * BLOCK ? rows : 4 * BLOCK, k = 0;
#define AT(i) p[j * apart + i * step]
        if (n < 4) {
            for (int64_t j = 0; j < width; j++)
                sum[j] = AT(0);
            k = 1, p += step;
        } else {
            for (int64_t j = 0; j < width; j++)
                sum[j] = (AT(0) + AT(1)) + (AT(2) + AT(3));
            k = 4, p += 4 * step;
        }
        for (; k + 4 <= n; k += 4, p += 4 * step)
            for (int64_t j = 0; j < width; j++)
                sum[j] += (AT(0) + AT(1)) + (AT(2) + AT(3));
        for (; k < n; k++, p += step)
            for (int64_t j = 0; j < width; j++)
                sum[j] += AT(0);
#undef AT
        for (int64_t j = 0; j < width; j++) {
#ifdef SINGLE
            hi[j] += sum[j];
#else
            TWO_SUM(hi[j], lo[j], sum[j]);
#endif
        }
        rows -= n;
    }
}

INLINE void N(sum_columns)(const mat_reduction *f, char *const *operands, const double *numbers, int64_t start, int64_t stop,
                           int64_t apart) {
    const T *x = (const T *)operands[0] + f->start_x;
    T *y = (T *)operands[1] + f->start_y;
    mat_pair *left = left_of(f, operands);
    T sum[TILE];
    double hi[TILE], lo[TILE];
    for (int64_t u = start; u < stop; u++) {
        mat_part p = part_of(f, u);
        mat_cursor kept;
        cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
        for (int64_t j = 0; j < p.width; j++)
            hi[j] = -0.0, lo[j] = 0.0;
        WALK(w, f, p.from, p.to)
            N(sum_rows)(sum, hi, lo, x + kept.x + p.column * apart + w.x, w.count, w.step, p.width, apart);
        for (int64_t j = 0; j < p.width; j++) {
            mat_pair pair = {hi[j], lo[j]};
            if (f->chunks == 1)
                N(put)(f, y + kept.y + (p.column + j) * f->column_y, pair, numbers);
            else
                left[p.chunk * f->results + p.outer * f->columns + p.column + j] = pair;
        }
    }
}

/* What does not lie together, compiled for one machine only. */
static void N(sum_apart)(const mat_reduction *f, char *const *operands, const double *numbers, int64_t start, int64_t stop) {
    if (f->columns)
        N(sum_columns)(f, operands, numbers, start, stop, f->column_x);
    else
        N(sum_lines)(f, operands, numbers, start, stop, 0);
}

INLINE void N(sum_all)(const mat_reduction *f, char *const *operands, const double *numbers, int64_t start, int64_t stop) {
    if (f->columns && f->column_x == 1)
        N(sum_columns)(f, operands, numbers, start, stop, 1);
    else if (!f->columns && f->in.x[f->in.rank - 1] == 1)
        N(sum_lines)(f, operands, numbers, start, stop, 1);
    else
        N(sum_apart)(f, operands, numbers, start, stop);
}

INLINE void N(sum_finish)(const mat_reduction *f, char *const *operands, const double *numbers, int64_t start, int64_t stop) {
    T *y = (T *)operands[1] + f->start_y;
    const mat_pair *left = left_of(f, operands);
    for (int64_t k = start; k < stop; k++) {
        mat_pair total = left[k];
        for (int64_t c = 1; c < f->chunks; c++) {
            N(add)(&total, left[c * f->results + k].hi);
            total.lo += left[c * f->results + k].lo;
        }
        N(put)(f, y + place_of(f, k), total, numbers);
    }
}

#undef BLOCK
