/* Variances of elements T, by lines and by columns. Included for float and for double. */

/* A number near the mean of n elements, at least one: exactly this if all are equal. */
INLINE T N(near)(const T *p, int64_t n, int64_t step) {
    double sum[4] = {0, 0, 0, 0}, first = (double)p[0];
    int64_t k = 0;
    for (; k + 4 <= n; k += 4)
        EACH(j, 4) sum[j] += (double)p[(k + j) * step] - first;
    for (; k < n; k++)
        sum[0] += (double)p[k * step] - first;
    return (T)(first + ((sum[0] + sum[1]) + (sum[2] + sum[3])) / (double)n);
}

/* Add up the distances of n elements from `near`, and their squares. */
INLINE void N(distances)(double *sum, double *squares, T near, const T *p, int64_t n,
                         int64_t step) {
    while (n >= SHORT) {
        T s[PLACES], q[PLACES];
        int64_t times = n / PLACES < STEPS ? n / PLACES : STEPS;
        EACH(j, PLACES) s[j] = q[j] = 0;
        EACH(k, times) {
            EACH(j, PLACES) {
                T d = p[j * step] - near;
                s[j] += d, q[j] += d * d;
            }
            p += PLACES * step;
        }
        n -= times * PLACES;
        if (n < PLACES) {
            EACH(j, n) {
                T d = p[j * step] - near;
                s[j] += d, q[j] += d * d;
            }
            n = 0;
        }
        for (int64_t half = PLACES / 2; half >= 4; half /= 2)
            EACH(j, half) s[j] += s[j + half], q[j] += q[j + half];
        *sum += ((double)s[0] + (double)s[1]) + ((double)s[2] + (double)s[3]);
        *squares += ((double)q[0] + (double)q[1]) + ((double)q[2] + (double)q[3]);
    }
    for (; n > 0; n--, p += step) {
        double d = (double)(T)(*p - near);
        *sum += d, *squares += d * d;
    }
}

/* The k-th variance: infinite where sums of finite elements are too large. */
static double N(of_squares)(const mat_reduction *f, char *const *operands, int64_t k,
                            double squares) {
    if (squares == squares)
        return moments_result(f, squares);
    const T *x = (const T *)operands[0] + f->start_x + first_of(f, k);
    STRETCHES(w, f, 0, f->reduced)
        for (int64_t i = 0; i < w.count; i++)
            if (!isfinite(x[w.x + i * w.step]))
                return NAN;
    return moments_result(f, HUGE_VAL);
}

INLINE void N(var_lines)(const mat_reduction *f, char *const *operands, int64_t start,
                         int64_t stop, int64_t apart) {
    const T *x = (const T *)operands[0] + f->start_x;
    T *y = (T *)operands[1] + f->start_y;
    double *left = left_of(f, operands);
    mat_cursor kept;
    mat_part p = part_of(f, start);
    cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
    for (int64_t u = start; u < stop; u++) {
        p = part_of(f, u);
        mat_moments m = {0, 0, 0, 0};
        T near = 0;
        double sum = 0, squares = 0;
        int64_t count = 0, room = 0;
        STRETCHES(w, f, p.from, p.to) {
            const T *q = x + kept.x + w.x;
            const int64_t step = apart == 1 ? 1 : w.step;
            if (w.first == p.from) {
                int64_t n = w.count < NEAR ? w.count : NEAR;
                near = N(near)(q, n, step), room = moments_room((double)n, LONGEST);
            }
            for (int64_t k = 0, n; k < w.count; k += n) {
                n = w.count - k < room - count ? w.count - k : room - count;
                N(distances)(&sum, &squares, near, q + k * step, n, step);
                if ((count += n) == room) {
                    moments_take(&m, (double)count, near, sum, squares);
                    near = (T)m.mean, sum = squares = 0, count = 0;
                    room = moments_room(m.n, LONGEST);
                }
            }
        }
        if (count)
            moments_take(&m, (double)count, near, sum, squares);
        if (f->chunks == 1)
            y[kept.y] = (T)N(of_squares)(f, operands, p.outer, m.squares);
        else {
            double *at = left + p.chunk * f->results + p.outer;
            int64_t plane = f->chunks * f->results;
            at[0] = m.mean, at[plane] = m.low, at[2 * plane] = m.squares;
        }
        if (p.chunk == f->chunks - 1)
            cursor_step(&kept);
    }
}

/* A number near the mean of each column, of n rows. */
INLINE void N(near_rows)(T *RESTRICT near, double *RESTRICT mean, const T *RESTRICT p, int64_t n,
                         int64_t step, int64_t width, int64_t apart) {
    EACH(j, width) mean[j] = 0;
    for (int64_t k = 1; k < n; k++)
        EACH(j, width) mean[j] += (double)p[j * apart + k * step] - (double)p[j * apart];
    EACH(j, width) {
        near[j] = (T)((double)p[j * apart] + mean[j] / (double)n);
        mean[j] = near[j];
    }
}

INLINE void N(distances_rows)(T *RESTRICT sum, T *RESTRICT squares, const T *RESTRICT near,
                              const T *RESTRICT p, int64_t rows, int64_t step, int64_t width,
                              int64_t apart) {
    int64_t k = 0;
#define AT(i) (p[j * apart + (i) * step] - near[j])
    for (; k + 4 <= rows; k += 4, p += 4 * step)
        EACH(j, width) {
            T a = AT(0), b = AT(1), c = AT(2), d = AT(3);
            sum[j] += (a + b) + (c + d);
            squares[j] += (a * a + b * b) + (c * c + d * d);
        }
    for (; k < rows; k++, p += step)
        EACH(j, width) {
            T a = AT(0);
            sum[j] += a, squares[j] += a * a;
        }
#undef AT
}

/* Put n rows to the `from` before, and begin with the next. */
INLINE void N(take_rows)(double *RESTRICT mean, double *RESTRICT low, double *RESTRICT squares,
                         T *RESTRICT near, T *RESTRICT sum, T *RESTRICT sum_of_squares, double from,
                         double n, int64_t width) {
    EACH(j, width) {
        double at = sum[j] / n;
        moments_join(from, n, mean + j, low + j, squares + j, near[j], at,
                     moments_central(sum[j], sum_of_squares[j], at));
        near[j] = (T)mean[j];
        sum[j] = sum_of_squares[j] = 0;
    }
}

INLINE void N(var_columns)(const mat_reduction *f, char *const *operands, int64_t start,
                           int64_t stop, int64_t apart) {
    const T *x = (const T *)operands[0] + f->start_x;
    T *y = (T *)operands[1] + f->start_y;
    double *left = left_of(f, operands), here[3][TILE];
    T near[TILE], sum[TILE], of_squares[TILE];
    for (int64_t u = start; u < stop; u++) {
        mat_part p = part_of(f, u);
        mat_cursor kept;
        cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
        int64_t at = p.chunk * f->results + p.outer * f->columns + p.column;
        int64_t plane = f->chunks * f->results, count = 0, room = 0, from = 0;
        double *mean = left ? left + at : here[0], *low = left ? mean + plane : here[1],
               *squares = left ? low + plane : here[2];
        EACH(j, p.width) mean[j] = low[j] = squares[j] = near[j] = sum[j] = of_squares[j] = 0;
        STRETCHES(w, f, p.from, p.to) {
            const T *q = x + kept.x + p.column * apart + w.x;
            if (w.first == p.from) {
                int64_t n = w.count < GROWTH ? w.count : GROWTH;
                N(near_rows)(near, mean, q, n, w.step, p.width, apart);
                room = moments_room((double)n, ROWS);
            }
            for (int64_t k = 0, n; k < w.count; k += n) {
                n = w.count - k < room - count ? w.count - k : room - count;
                N(distances_rows)(sum, of_squares, near, q + k * w.step, n, w.step, p.width,
                                  apart);
                if ((count += n) == room) {
                    N(take_rows)(mean, low, squares, near, sum, of_squares, (double)from,
                                 (double)count, p.width);
                    from += count, count = 0, room = moments_room((double)from, ROWS);
                }
            }
        }
        if (count)
            N(take_rows)(mean, low, squares, near, sum, of_squares, (double)from, (double)count,
                         p.width);
        if (!left)
            EACH(j, p.width) y[kept.y + (p.column + j) * f->column_y] =
                (T)N(of_squares)(f, operands, at + j, squares[j]);
    }
}

/* Elements that are not adjacent, compiled for one machine only. */
static void N(var_apart)(const mat_reduction *f, char *const *operands, int64_t start,
                         int64_t stop) {
    if (f->columns)
        N(var_columns)(f, operands, start, stop, f->column_x);
    else
        N(var_lines)(f, operands, start, stop, 0);
}

INLINE void N(var_all)(const mat_reduction *f, char *const *operands, int64_t start,
                       int64_t stop) {
    if (f->columns && f->column_x == 1)
        N(var_columns)(f, operands, start, stop, 1);
    else if (!f->columns && f->in.x[f->in.rank - 1] == 1)
        N(var_lines)(f, operands, start, stop, 1);
    else
        N(var_apart)(f, operands, start, stop);
}

INLINE void N(var_finish)(const mat_reduction *f, char *const *operands, int64_t start,
                          int64_t stop) {
    T *y = (T *)operands[1] + f->start_y;
    const double *left = left_of(f, operands);
    int64_t plane = f->chunks * f->results;
    RUNS(k, r, f, start, stop)
        EACH(j, r.count) {
            const double *at = left + k + j;
            double mean = at[0], low = at[plane], squares = at[2 * plane];
            for (int64_t c = 1; c < f->chunks; c++) {
                const int64_t from = c * f->chunk, rest = f->reduced - from;
                at += f->results;
                moments_join((double)from, (double)(rest < f->chunk ? rest : f->chunk), &mean, &low,
                             &squares, at[0], at[plane], at[2 * plane]);
            }
            y[r.y + j * r.apart] = (T)N(of_squares)(f, operands, k + j, squares);
        }
}
