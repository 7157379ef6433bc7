/* Sums, products and means of integers T, which are added up in 64 bits; N(name) is a name for T, W
   the integer that adds up MOST of them before that. Included once for each type.

   A mean is the exact sum divided by the count: of 64 bits, the upper and the lower halves of the
   elements are added up apart. */

/* Put n elements into a total and, of the means of 64 bits, into that of their upper halves. */
INLINE void N(whole)(int op, uint64_t *total, int64_t *upper, const T *p, int64_t n, int64_t step) {
    uint64_t t = *total;
    int64_t u = 0;
    if (op == PROD)
        EACH(j, n) t *= (uint64_t)p[j * step];
    else if (HALVED(op)) {
        EACH(j, n) t += (uint32_t)p[j * step], u += (int64_t)(p[j * step] >> (4 * sizeof(T)));
        *upper += u + (int64_t)(t >> 32), t = (uint32_t)t;
    } else
        for (; n > 0; n -= MOST, p += MOST * step) {
            W some = 0;
            EACH(j, n < MOST ? n : MOST) some += (W)p[j * step];
            t += (uint64_t)(int64_t)some;
        }
    *total = t;
}

INLINE void N(whole_put)(int op, const mat_reduction *f, char *const *operands, int64_t y,
                         uint64_t total, int64_t upper) {
    if (op != MEAN)
        ((uint64_t *)operands[1] + f->start_y)[y] = total;
    else
        ((double *)operands[1] + f->start_y)[y] =
            (HALVED(op) ? (double)upper * 0x1p32 + (double)total : (double)(int64_t)total)
            / f->divisor;
}

INLINE void N(whole_lines)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                           int64_t stop, int64_t step) {
    const T *x = (const T *)operands[0] + f->start_x;
    uint64_t *left = left_of(f, operands);
    mat_cursor kept;
    mat_part p = part_of(f, start);
    cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
    for (int64_t u = start; u < stop; u++) {
        p = part_of(f, u);
        uint64_t total = op == PROD;
        int64_t upper = 0;
        STRETCHES(w, f, p.from, p.to)
            N(whole)(op, &total, &upper, x + kept.x + w.x, w.count, step == 1 ? 1 : w.step);
        if (f->chunks == 1)
            N(whole_put)(op, f, operands, kept.y, total, upper);
        else {
            uint64_t *at = left + p.chunk * f->results + p.outer;
            at[0] = total, at[f->chunks * f->results] = (uint64_t)upper;
        }
        if (p.chunk == f->chunks - 1)
            cursor_step(&kept);
    }
}

INLINE void N(whole_rows)(int op, uint64_t *RESTRICT total, int64_t *RESTRICT upper,
                          const T *RESTRICT p, int64_t rows, int64_t step, int64_t width,
                          int64_t apart) {
    for (int64_t k = 0; k < rows; k++, p += step) {
        if (op == PROD)
            EACH(j, width) total[j] *= (uint64_t)p[j * apart];
        else if (HALVED(op)) {
            EACH(j, width) total[j] += (uint32_t)p[j * apart];
            EACH(j, width) upper[j] += (int64_t)(p[j * apart] >> (4 * sizeof(T)));
        } else
            EACH(j, width) total[j] += (uint64_t)p[j * apart];
    }
}

INLINE void N(whole_columns)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                             int64_t stop, int64_t apart) {
    const T *x = (const T *)operands[0] + f->start_x;
    uint64_t *left = left_of(f, operands), total[TILE];
    int64_t upper[TILE];
    for (int64_t u = start; u < stop; u++) {
        mat_part p = part_of(f, u);
        mat_cursor kept;
        cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
        EACH(j, p.width) total[j] = op == PROD, upper[j] = 0;
        STRETCHES(w, f, p.from, p.to)
            N(whole_rows)(op, total, upper, x + kept.x + p.column * apart + w.x, w.count, w.step,
                          p.width, apart);
        uint64_t *at = left + p.chunk * f->results + p.outer * f->columns + p.column;
        EACH(j, p.width)
            if (f->chunks == 1)
                N(whole_put)(op, f, operands, kept.y + (p.column + j) * f->column_y, total[j],
                             upper[j]);
            else
                at[j] = total[j], at[f->chunks * f->results + j] = (uint64_t)upper[j];
    }
}

/* Elements that are not adjacent, compiled for one machine only. */
static void N(whole_apart)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                           int64_t stop) {
    if (f->columns)
        N(whole_columns)(op, f, operands, start, stop, f->column_x);
    else
        N(whole_lines)(op, f, operands, start, stop, 0);
}

INLINE void N(whole_all)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                         int64_t stop) {
    if (f->columns && f->column_x == 1)
        N(whole_columns)(op, f, operands, start, stop, 1);
    else if (!f->columns && f->in.x[f->in.rank - 1] == 1)
        N(whole_lines)(op, f, operands, start, stop, 1);
    else
        N(whole_apart)(op, f, operands, start, stop);
}

INLINE void N(whole_finish)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                            int64_t stop) {
    const uint64_t *left = left_of(f, operands), *uppers = left + f->chunks * f->results;
    RUNS(k, r, f, start, stop)
        EACH(j, r.count) {
            uint64_t total = op == PROD, upper = 0;
            for (int64_t c = k + j; c < f->chunks * f->results; c += f->results) {
                total = op == PROD ? total * left[c] : total + left[c];
                upper += uppers[c];
            }
            N(whole_put)(op, f, operands, r.y + j * r.apart, total, (int64_t)upper);
        }
}
