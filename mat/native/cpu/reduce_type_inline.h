/* Folds (max, min, prod, sums of integers, and max and min of what is a number) and their positions
   (argmax, argmin) of elements T, by lines and by columns; N(name) is a name for T, I the signed
   integer of its size that counts rows, so of 32 bits at least, LOWEST and HIGHEST its limits,
   NOTHING what is not a number. Included once for each type. */

/* One of the two, x if it is not a number: then it stays that. FMAX and FMIN begin with what is not
   a number, and any number replaces it. */
INLINE T N(join)(int op, T a, T x) {
    if (op == PROD)
        return a * x;
    if (op == ADD)
        return a + x;
    T best = op == MAX || op == FMAX ? (x > a ? x : a) : (x < a ? x : a);
    if (op == FMAX || op == FMIN)
        return a != a ? x : best;
    return x != x ? x : best;
}

INLINE T N(neutral)(int op) {
    if (op == FMAX || op == FMIN)
        return NOTHING;
    if (op == ADD)
        return (T)0;
    return op == PROD ? (T)1 : op == MAX ? LOWEST : HIGHEST;
}

/* By vectors, where there are wide ones (extremes_inline.h). Find the extreme of LANES elements or
   more; return 0, with nothing known, where some may not be numbers. Find the places of the
   extremes of adjacent elements of rows; return of how many rows, up to one for which that is not
   known. */
#ifdef WIDE
int N(mat_extreme)(int largest, T *found, const T *p, int64_t n);
int64_t N(mat_places)(int largest, int64_t *at, const T *p, int64_t rows, int64_t n,
                      int64_t at_step, int64_t step);
#else
INLINE int N(mat_extreme)(int largest, T *found, const T *p, int64_t n) { return 0; }
INLINE int64_t N(mat_places)(int largest, int64_t *at, const T *p, int64_t rows, int64_t n,
                             int64_t at_step, int64_t step) {
    return 0;
}
#endif

/* LANES totals of n elements, and what they are together. */
INLINE void N(fold_lanes)(int op, T *t, const T *p, int64_t n, int64_t step) {
    EACH(j, LANES) t[j] = N(neutral)(op);
    const T *const first = p;
    for (; n >= LANES; n -= LANES, p += LANES * step)
        EACH(j, LANES) t[j] = N(join)(op, t[j], p[j * step]);
    if (op != PROD && op != ADD && p != first && n) /* some are met twice, which changes nothing */
        EACH(j, LANES) t[j] = N(join)(op, t[j], p[(j + n - LANES) * step]);
    else
        EACH(j, n) t[j] = N(join)(op, t[j], p[j * step]);
}

INLINE T N(join_lanes)(int op, T total, T *t) {
    for (int64_t half = LANES / 2; half >= 4; half /= 2)
        EACH(j, half) t[j] = N(join)(op, t[j], t[j + half]);
    EACH(j, 4) total = N(join)(op, total, t[j]);
    return total;
}

/* The best of n elements. */
INLINE T N(best_value)(int op, const T *p, int64_t n, int64_t step) {
    T t[LANES], found;
    if (step == 1 && n >= MANY && N(mat_extreme)(op == MAX, &found, p, n))
        return found;
    N(fold_lanes)(op, t, p, n, step);
    return N(join_lanes)(op, N(neutral)(op), t);
}

INLINE T N(fold_adjacent)(int op, T total, const T *p, int64_t n) {
    if (n < SHORT) {
        for (int64_t k = 0; k < n; k++)
            total = N(join)(op, total, p[k]);
        return total;
    }
    if (op == MAX || op == MIN)
        return N(join)(op, total, N(best_value)(op, p, n, 1));
    T t[LANES];
    N(fold_lanes)(op, t, p, n, 1);
    return N(join_lanes)(op, total, t);
}

/* Copy n elements that are `step` apart. This is compiled for the oldest machine: the gathering
   loads of newer ones take longer. */
static void N(pack)(T *RESTRICT to, const T *RESTRICT p, int64_t n, int64_t step) {
    if (step == 2)
        EACH(j, n) to[j] = p[2 * j];
    else
        EACH(j, n) to[j] = p[j * step];
}

INLINE T N(fold)(int op, T total, const T *p, int64_t n, int64_t step) {
    T packed[PACKED];
    for (int64_t m; n > 0; n -= m, p += m * step) {
        const T *from = p;
        m = n;
        if (step != 1) {
            m = n < PACKED ? n : PACKED;
            N(pack)(packed, p, m, step);
            from = packed;
        }
        total = N(fold_adjacent)(op, total, from, m);
    }
    return total;
}

/* The k-th product again, of one element after another: where lanes or parts of it overflow, and
   another has a 0, they make no number. */
static T N(in_turn)(const mat_reduction *f, char *const *operands, int64_t k) {
    const T *x = (const T *)operands[0] + f->start_x + first_of(f, k);
    T total = 1;
    STRETCHES(w, f, 0, f->reduced)
        for (int64_t i = 0; i < w.count && total == total; i++)
            total *= x[w.x + i * w.step];
    return total;
}

INLINE void N(fold_lines)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                          int64_t stop) {
    const T *x = (const T *)operands[0] + f->start_x;
    T *y = (T *)operands[1] + f->start_y, *left = left_of(f, operands);
    mat_cursor kept;
    mat_part p = part_of(f, start);
    cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
    for (int64_t u = start; u < stop; u++) {
        p = part_of(f, u);
        T total = N(neutral)(op);
        STRETCHES(w, f, p.from, p.to)
            total = N(fold)(op, total, x + kept.x + w.x, w.count, w.step);
        if (f->chunks == 1)
            y[kept.y] = op == PROD && total != total ? N(in_turn)(f, operands, p.outer) : total;
        else
            left[p.chunk * f->results + p.outer] = total;
        if (p.chunk == f->chunks - 1)
            cursor_step(&kept);
    }
}

INLINE void N(fold_rows)(int op, T *RESTRICT total, const T *RESTRICT p, int64_t rows, int64_t step,
                         int64_t width, int64_t apart, int eight) {
    int64_t k = 0;
#define NEXT(i) t = N(join)(op, t, p[j * apart + (i) * step]);
    if (eight)
        for (; k + 8 <= rows; k += 8, p += 8 * step)
            EACH(j, width) {
                T t = total[j];
                FOUR(NEXT)
                NEXT(4) NEXT(5) NEXT(6) NEXT(7)
                total[j] = t;
            }
    for (; k + 4 <= rows; k += 4, p += 4 * step)
        EACH(j, width) {
            T t = total[j];
            FOUR(NEXT)
            total[j] = t;
        }
    for (; k < rows; k++, p += step)
        EACH(j, width) {
            T t = total[j];
            NEXT(0)
            total[j] = t;
        }
#undef NEXT
}

INLINE void N(fold_columns)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                            int64_t stop, int64_t apart) {
    const T *x = (const T *)operands[0] + f->start_x;
    T *y = (T *)operands[1] + f->start_y, *left = left_of(f, operands);
    T total[TILE];
    int eight = apart == 1 && eight_rows(f, sizeof(T));
    for (int64_t u = start; u < stop; u++) {
        mat_part p = part_of(f, u);
        mat_cursor kept;
        cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
        for (int64_t j = 0; j < p.width; j++)
            total[j] = N(neutral)(op);
        STRETCHES(w, f, p.from, p.to)
        N(fold_rows)(op, total, x + kept.x + p.column * apart + w.x, w.count, w.step, p.width,
                     apart, eight);
        int64_t by = f->chunks == 1 ? f->column_y : 1;
        T *to = f->chunks == 1 ? y + kept.y + p.column * by
                               : left + p.chunk * f->results + p.outer * f->columns + p.column;
        for (int64_t j = 0; j < p.width; j++)
            to[j * by] = total[j];
    }
}

/* Columns that are not adjacent: it is the loading that takes the time then, so this is compiled
   for one machine only. */
static void N(fold_apart)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                          int64_t stop) {
    N(fold_columns)(op, f, operands, start, stop, f->column_x);
}

INLINE void N(fold_all)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                        int64_t stop) {
    if (f->columns && f->column_x == 1)
        N(fold_columns)(op, f, operands, start, stop, 1);
    else if (!f->columns)
        N(fold_lines)(op, f, operands, start, stop);
    else
        N(fold_apart)(op, f, operands, start, stop);
}

INLINE void N(fold_finish)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                           int64_t stop) {
    T *y = (T *)operands[1] + f->start_y, *left = left_of(f, operands);
    T total[TILE];
    RUNS(k, r, f, start, stop) {
        EACH(j, r.count) total[j] = left[k + j];
        for (int64_t c = f->results; c < f->chunks * f->results; c += f->results)
            EACH(j, r.count) total[j] = N(join)(op, total[j], left[c + k + j]);
        if (op == PROD)
            EACH(j, r.count) if (total[j] != total[j]) total[j] = N(in_turn)(f, operands, k + j);
        EACH(j, r.count) y[r.y + j * r.apart] = total[j];
    }
}

/* The positions of largest and smallest elements. */

typedef struct {
    T value;
    int64_t at;
} N(best);

/* Whether x comes before a, which is earlier: it is beyond, or the first that is not a number. */
INLINE int N(beats)(int op, T x, T a) {
    return (op == MAX ? x > a : x < a) | ((x != x) & (a == a));
}

/* Which of LANES elements is the first that is `value`; one is. No branch depends on the elements:
   one that is predicted wrongly takes longer. */
INLINE int64_t N(first)(const T *p, int64_t step, T value) {
    I first = LANES;
    EACH(j, LANES) {
        I at = p[j * step] == value ? (I)j : (I)LANES;
        first = at < first ? at : first;
    }
    return first;
}

INLINE int64_t N(find)(const T *p, int64_t n, int64_t step, T value) {
    int64_t k = 0;
    if (value == value)
        for (; k + LANES <= n; k += LANES) {
            I found = 0;
            EACH(j, LANES) found |= p[(k + j) * step] == value;
            if (!found)
                continue;
            if (sizeof(T) == sizeof(I))
                return k + N(first)(p + k * step, step, value);
            break;
        }
    for (; k < n; k++)
        if (p[k * step] == value || (value != value && p[k * step] != p[k * step]))
            break;
    return k;
}

INLINE N(best) N(seek)(int op, N(best) b, const T *p, int64_t n, int64_t step, int64_t first) {
    if (b.at < 0 && n >= LANES && n <= AT_ONCE) { /* there is nothing to compare with */
        b.value = N(best_value)(op, p, n, step);
        b.at = first + N(find)(p, n, step, b.value);
        return b;
    }
    if (b.at < 0)
        b.value = p[0], b.at = first;
    if (n < LANES) {
        for (int64_t k = 0; k < n; k++)
            if (N(beats)(op, p[k * step], b.value))
                b.value = p[k * step], b.at = first + k;
        return b;
    }
    int64_t in = -1; /* where the block begins that has the best one, which is looked for at last */
    for (int64_t k = 0; k < n; k += AT_ONCE) {
        T value = N(best_value)(op, p + k * step, n - k < AT_ONCE ? n - k : AT_ONCE, step);
        if (N(beats)(op, value, b.value))
            b.value = value, in = k;
    }
    if (in >= 0) {
        int64_t m = n - in < AT_ONCE ? n - in : AT_ONCE;
        b.at = first + in + N(find)(p + in * step, m, step, b.value);
    }
    return b;
}

/* Rows of adjacent elements, in a line, that are not so long as to leave the cache. */
INLINE int N(are_short_rows)(const mat_reduction *f, int64_t step) {
    return step == 1 && f->chunks == 1 && f->in.rank == 1 && f->kept.rank <= 1 &&
           f->reduced <= AT_ONCE;
}

INLINE void N(arg_short_rows)(int op, const mat_reduction *f, int64_t *y, const T *x,
                              int64_t rows) {
    const int64_t to = f->kept.rank ? f->kept.y[0] : 0, from = f->kept.rank ? f->kept.x[0] : 0;
    for (int64_t k = 0; k < rows; k++) {
        k += N(mat_places)(op == MAX, y + k * to, x + k * from, rows - k, f->reduced, to, from);
        if (k < rows)
            y[k * to] = N(seek)(op, (N(best)){0, -1}, x + k * from, f->reduced, 1, 0).at;
    }
}

INLINE void N(arg_lines)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                         int64_t stop, int64_t step) {
    const T *x = (const T *)operands[0] + f->start_x;
    int64_t *y = (int64_t *)operands[1] + f->start_y;
    N(best) *left = left_of(f, operands);
    mat_cursor kept;
    mat_part p = part_of(f, start);
    cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
    if (N(are_short_rows)(f, step)) {
        N(arg_short_rows)(op, f, y + kept.y, x + kept.x, stop - start);
        return;
    }
    N(best) b = {0, -1}; /* also of the parts before, so that only what is better is looked for */
    for (int64_t u = start; u < stop; u++) {
        p = part_of(f, u);
        if (!p.chunk)
            b = (N(best)){0, -1};
        STRETCHES(w, f, p.from, p.to)
            b = N(seek)(op, b, x + kept.x + w.x, w.count, step == 1 ? 1 : w.step, w.first);
        if (f->chunks == 1)
            y[kept.y] = b.at;
        else
            left[p.chunk * f->results + p.outer] = b;
        if (p.chunk == f->chunks - 1)
            cursor_step(&kept);
    }
}

/* Take what is better in some rows, and its row; with `plain`, as if all were numbers, and return
   whether they were not: compilers vectorise no more than that. */
INLINE I N(arg_rows)(int op, T *RESTRICT value, I *RESTRICT at, const T *RESTRICT p, I first,
                     int64_t rows, int64_t step, int64_t width, int64_t apart, int plain) {
    int64_t k = 0;
    I none = 0;
#define TAKE(i) \
    { \
        T x = p[j * apart + i * step]; \
        int take = plain ? (op == MAX ? x > v : x < v) : N(beats)(op, x, v); \
        none |= x != x; \
        v = take ? x : v; \
        a = take ? row + i : a; \
    }
    for (; k + 4 <= rows; k += 4, p += 4 * step) {
        I row = first + (I)k;
        for (int64_t j = 0; j < width; j++) {
            T v = value[j];
            I a = at[j];
            FOUR(TAKE)
            value[j] = v, at[j] = a;
        }
    }
    for (; k < rows; k++, p += step) {
        I row = first + (I)k;
        for (int64_t j = 0; j < width; j++) {
            T v = value[j];
            I a = at[j];
            TAKE(0)
            value[j] = v, at[j] = a;
        }
    }
#undef TAKE
    return none;
}

INLINE void N(arg_columns)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                           int64_t stop, int64_t apart) {
    const T *x = (const T *)operands[0] + f->start_x;
    int64_t *y = (int64_t *)operands[1] + f->start_y;
    N(best) *left = left_of(f, operands);
    T value[TILE], value_before[TILE];
    I at[TILE], before[TILE];
    for (int64_t u = start; u < stop; u++) {
        mat_part p = part_of(f, u);
        mat_cursor kept;
        cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
        STRETCHES(w, f, p.from, p.to) {
            const T *q = x + kept.x + p.column * apart + w.x;
            if (w.first == p.from)
                for (int64_t j = 0; j < p.width; j++)
                    value[j] = q[j * apart], at[j] = 0;
            const I row = (I)(w.first - p.from);
            EACH(j, p.width) value_before[j] = value[j], before[j] = at[j];
            if (N(arg_rows)(op, value, at, q, row, w.count, w.step, p.width, apart, 1)) {
                EACH(j, p.width) value[j] = value_before[j], at[j] = before[j];
                N(arg_rows)(op, value, at, q, row, w.count, w.step, p.width, apart, 0);
            }
        }
        for (int64_t j = 0; j < p.width; j++) {
            N(best) b = {value[j], p.from + at[j]};
            if (f->chunks == 1)
                y[kept.y + (p.column + j) * f->column_y] = b.at;
            else
                left[p.chunk * f->results + p.outer * f->columns + p.column + j] = b;
        }
    }
}

/* Elements that are not adjacent: it is the loading that takes the time then, so this is compiled
   for one machine only. */
static void N(arg_apart)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                         int64_t stop) {
    if (f->columns)
        N(arg_columns)(op, f, operands, start, stop, f->column_x);
    else
        N(arg_lines)(op, f, operands, start, stop, 0);
}

INLINE void N(arg_all)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                       int64_t stop) {
    if (f->columns && f->column_x == 1)
        N(arg_columns)(op, f, operands, start, stop, 1);
    else if (!f->columns && f->in.x[f->in.rank - 1] == 1)
        N(arg_lines)(op, f, operands, start, stop, 1);
    else
        N(arg_apart)(op, f, operands, start, stop);
}

INLINE void N(arg_finish)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                          int64_t stop) {
    int64_t *y = (int64_t *)operands[1] + f->start_y;
    const N(best) *left = left_of(f, operands);
    RUNS(k, r, f, start, stop)
        EACH(j, r.count) {
            N(best) b = left[k + j];
            for (int64_t c = 1; c < f->chunks; c++)
                if (N(beats)(op, left[c * f->results + k + j].value, b.value))
                    b = left[c * f->results + k + j];
            y[r.y + j * r.apart] = b.at;
        }
}
