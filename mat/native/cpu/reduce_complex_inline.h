/* Sums, products, extremes and their positions of complex numbers, whose real and imaginary parts
   are elements T next to each other, in NumPy's order: so the bits are NumPy's. N(name) is a name
   for T. Included once for each type.

   Nothing is cut into parts: the frame says one for each result. */

typedef struct {
    T re, im;
} N(complex);

#define SUMMED 64 /* elements that are added in four places before a tree follows */
#define DEPTH 64  /* levels of a tree at most */

INLINE N(complex) N(sum_of)(N(complex) a, N(complex) b) {
    return (N(complex)){a.re + b.re, a.im + b.im};
}

/* In NumPy's order: by real parts, then by imaginary ones; what is not a number is in none. */
INLINE int N(is_beyond)(int op, N(complex) x, N(complex) a) {
    if (op == MAX)
        return ((x.re > a.re) & (x.im == x.im) & (a.im == a.im)) |
               ((x.re == a.re) & (x.im > a.im));
    return ((x.re < a.re) & (x.im == x.im) & (a.im == a.im)) | ((x.re == a.re) & (x.im < a.im));
}

INLINE int N(is_no_number)(N(complex) a) {
    return (a.re != a.re) | (a.im != a.im);
}

/* Whether x comes before a, which is earlier: it is beyond, or the first that is not a number. */
INLINE int N(beats_complex)(int op, N(complex) x, N(complex) a) {
    return !N(is_no_number)(a) && (N(is_beyond)(op, x, a) || N(is_no_number)(x));
}

/* Whether x is known to be no better than a by its real part. */
INLINE int N(is_behind)(int op, N(complex) x, N(complex) a) {
    return (op == MAX ? x.re < a.re : x.re > a.re) & (x.im == x.im);
}

INLINE N(complex) N(join_complex)(int op, N(complex) a, N(complex) x) {
    if (op == ADD)
        return N(sum_of)(a, x);
    if (op == PROD) { /* the sign is one that GCC does not know, as in elementwise_complex.c */
        const T minus = (T)mat_signs[0], plus = (T)mat_signs[1];
        return (N(complex)){a.re * x.re + minus * (a.im * x.im),
                            a.re * x.im + plus * (a.im * x.re)};
    }
    return LIKELY(N(is_behind)(op, x, a)) || !N(beats_complex)(op, x, a) ? a : x;
}

/* The sum of a few elements. */
INLINE N(complex) N(sum_few)(const N(complex) *p, int64_t n, int64_t step) {
    T t[8];
    N(complex) total = {0, 0};
    int64_t k = 0;
    if (n >= 4) {
        EACH(j, 4) t[2 * j] = p[j * step].re, t[2 * j + 1] = p[j * step].im;
        for (k = 4; k + 4 <= n; k += 4)
            EACH(j, 4) t[2 * j] += p[(k + j) * step].re, t[2 * j + 1] += p[(k + j) * step].im;
        total.re = (t[0] + t[2]) + (t[4] + t[6]);
        total.im = (t[1] + t[3]) + (t[5] + t[7]);
    }
    for (; k < n; k++) total = N(sum_of)(total, p[k * step]);
    return total;
}

/* The sum of n elements, by halves: those on the right wait until what is left of them is known. */
INLINE N(complex) N(sum_by_halves)(const N(complex) *p, int64_t n, int64_t step) {
    struct {
        int64_t at, n; /* none if it is what is left */
        N(complex) left;
    } waits[DEPTH];
    int64_t at = 0, level = 0;
    for (;;) {
        for (int64_t half; n > SUMMED; n = half, level++) {
            half = (n - n % 8) / 2;
            waits[level].at = at + half, waits[level].n = n - half;
        }
        N(complex) found = N(sum_few)(p + at * step, n, step);
        for (; level && !waits[level - 1].n; level--)
            found = N(sum_of)(waits[level - 1].left, found);
        if (!level)
            return found;
        at = waits[level - 1].at, n = waits[level - 1].n;
        waits[level - 1].left = found, waits[level - 1].n = 0;
    }
}

INLINE N(complex) N(fold_complex)(int op, N(complex) total, const N(complex) *p, int64_t n,
                                  int64_t step) {
    if (op == ADD)
        return N(sum_of)(total, N(sum_by_halves)(p, n, step));
    for (int64_t k = 0; k < n; k++) total = N(join_complex)(op, total, p[k * step]);
    return total;
}

/* Of a mean, NumPy's quotient of a complex number and a count. */
INLINE void N(put_complex)(const mat_reduction *f, int mean, N(complex) *y, N(complex) total) {
    const double scale = 1.0 / f->divisor, re = total.re, im = total.im;
    *y = mean ? (N(complex)){(T)((re + im * 0.0) * scale), (T)((im - re * 0.0) * scale)} : total;
}

INLINE void N(complex_lines)(int op, int mean, const mat_reduction *f, const N(complex) *x,
                             N(complex) *y, int64_t start, int64_t stop) {
    mat_cursor kept;
    cursor_seek(&kept, &f->kept, f->kept.rank, start);
    for (int64_t u = start; u < stop; u++, cursor_step(&kept)) {
        const N(complex) *line = x + kept.x;
        N(complex) total = op == MAX || op == MIN ? line[0] : (N(complex)){op == PROD, 0};
        STRETCHES(w, f, 0, f->reduced)
            total = w.step == 1 ? N(fold_complex)(op, total, line + w.x, w.count, 1)
                                : N(fold_complex)(op, total, line + w.x, w.count, w.step);
        N(put_complex)(f, mean, y + kept.y, total);
    }
}

/* Take rows into the totals of columns, four at a time. */
INLINE void N(complex_rows)(int op, N(complex) *RESTRICT total, const N(complex) *RESTRICT p,
                            int64_t rows, int64_t step, int64_t width, int64_t apart) {
#define NEXT(i) t = N(join_complex)(op, t, p[j * apart + (i) * step]);
    for (; rows >= 4; rows -= 4, p += 4 * step)
        EACH(j, width) {
            N(complex) t = total[j];
            FOUR(NEXT)
            total[j] = t;
        }
    for (; rows > 0; rows--, p += step)
        EACH(j, width) {
            N(complex) t = total[j];
            NEXT(0)
            total[j] = t;
        }
#undef NEXT
}

INLINE void N(complex_columns)(int op, int mean, const mat_reduction *f, const N(complex) *x,
                               N(complex) *y, int64_t start, int64_t stop) {
    N(complex) total[TILE];
    for (int64_t u = start; u < stop; u++) {
        mat_part p = part_of(f, u);
        mat_cursor kept;
        cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
        const N(complex) *at = x + kept.x + p.column * f->column_x;
        EACH(j, p.width) total[j] = op == MAX || op == MIN ? at[j * f->column_x]
                                                           : (N(complex)){op == PROD, 0};
        STRETCHES(w, f, 0, f->reduced)
            N(complex_rows)(op, total, at + w.x, w.count, w.step, p.width,
                            f->column_x == 1 ? 1 : f->column_x);
        EACH(j, p.width)
            N(put_complex)(f, mean, y + kept.y + (p.column + j) * f->column_y, total[j]);
    }
}

INLINE void N(complex_all)(int op, int mean, const mat_reduction *f, char *const *operands,
                           int64_t start, int64_t stop) {
    const N(complex) *x = (const N(complex) *)operands[0] + f->start_x;
    N(complex) *y = (N(complex) *)operands[1] + f->start_y;
    if (f->columns)
        N(complex_columns)(op, mean, f, x, y, start, stop);
    else
        N(complex_lines)(op, mean, f, x, y, start, stop);
}

/* Positions */

INLINE int64_t N(place_of)(int op, const mat_reduction *f, const N(complex) *line) {
    N(complex) best = line[0];
    int64_t at = 0;
    STRETCHES(w, f, 0, f->reduced)
        EACH(k, w.count) {
            const N(complex) one = line[w.x + k * w.step];
            if (LIKELY(N(is_behind)(op, one, best)) || !N(beats_complex)(op, one, best))
                continue;
            best = one, at = w.first + k;
        }
    return at;
}

INLINE void N(complex_places)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                              int64_t stop) {
    const N(complex) *x = (const N(complex) *)operands[0] + f->start_x;
    int64_t *y = (int64_t *)operands[1] + f->start_y;
    for (int64_t u = start; u < stop; u++) {
        mat_part p = part_of(f, u);
        mat_cursor kept;
        cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
        const int64_t width = f->columns ? p.width : 1;
        EACH(j, width)
            y[kept.y + (p.column + j) * f->column_y] =
                N(place_of)(op, f, x + kept.x + (p.column + j) * f->column_x);
    }
}

#undef SUMMED
#undef DEPTH
