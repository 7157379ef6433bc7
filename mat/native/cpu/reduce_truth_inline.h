/* Reductions of what is true: whether any element is, whether all are, and how many are. Elements
   of type T are true unless all their bits in the frame's mask are 0, which leaves out the signs of
   zeros; U is the unsigned type of the bits, BITS(x) what counts of an element, N(name) a name.
   Included once for each size of elements.

   `any` looks for one that is true, `all` for one that is not, and both stop early. */

/* The value of a part: how many are true, or whether what is looked for was found. */
INLINE int64_t N(truth)(int op, const T *p, int64_t n, int64_t step, U mask) {
    const int64_t most = op == COUNT ? TRUTHS : AT_ONCE / (int64_t)sizeof(T);
    int64_t total = 0;
    for (int64_t k = 0; k < n && (op == COUNT || !total); k += most) {
        const int64_t m = n - k < most ? n - k : most;
        U found = 0;
        if (op == COUNT)
            EACH(j, m) found += (U)(BITS(p[(k + j) * step]) != 0);
        else if (op == ANY)
            EACH(j, m) found |= BITS(p[(k + j) * step]);
        else
            EACH(j, m) found |= (U)(BITS(p[(k + j) * step]) == 0);
        total += op == COUNT ? (int64_t)found : found != 0;
    }
    return total;
}

INLINE void N(truth_lines)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                           int64_t stop, int64_t step) {
    const T *x = (const T *)operands[0] + f->start_x;
    int64_t *left = left_of(f, operands);
    mat_cursor kept;
    mat_part p = part_of(f, start);
    cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
    for (int64_t u = start; u < stop; u++) {
        p = part_of(f, u);
        int64_t total = 0;
        STRETCHES(w, f, p.from, p.to) {
            total += N(truth)(op, x + kept.x + w.x, w.count, step == 1 ? 1 : w.step, (U)f->mask);
            if (op != COUNT && total)
                break;
        }
        if (f->chunks == 1)
            truth_put(op, f, operands, kept.y, total);
        else
            left[p.chunk * f->results + p.outer] = total;
        if (p.chunk == f->chunks - 1)
            cursor_step(&kept);
    }
}

INLINE void N(truth_rows)(int op, U *RESTRICT found, const T *RESTRICT p, int64_t rows,
                          int64_t step, int64_t width, int64_t apart, U mask) {
    for (int64_t k = 0; k < rows; k++, p += step) {
        if (op == COUNT)
            EACH(j, width) found[j] += (U)(BITS(p[j * apart]) != 0);
        else if (op == ANY)
            EACH(j, width) found[j] |= (U)(BITS(p[j * apart]) != 0);
        else
            EACH(j, width) found[j] |= (U)(BITS(p[j * apart]) == 0);
    }
}

INLINE void N(truth_columns)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                             int64_t stop, int64_t apart) {
    const T *x = (const T *)operands[0] + f->start_x;
    int64_t *left = left_of(f, operands), total[TILE];
    U found[TILE];
    for (int64_t u = start; u < stop; u++) {
        mat_part p = part_of(f, u);
        mat_cursor kept;
        cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
        EACH(j, p.width) total[j] = 0;
        STRETCHES(w, f, p.from, p.to)
            for (int64_t k = 0; k < w.count; k += TRUTHS) { /* so many that an U can count */
                EACH(j, p.width) found[j] = 0;
                N(truth_rows)(op, found, x + kept.x + p.column * apart + w.x + k * w.step,
                              w.count - k < TRUTHS ? w.count - k : TRUTHS, w.step, p.width, apart,
                              (U)f->mask);
                EACH(j, p.width) total[j] += (int64_t)found[j];
            }
        EACH(j, p.width)
            if (f->chunks == 1)
                truth_put(op, f, operands, kept.y + (p.column + j) * f->column_y, total[j]);
            else
                left[p.chunk * f->results + p.outer * f->columns + p.column + j] = total[j];
    }
}

/* Elements that are not adjacent: it is the loading that takes the time then, so this is compiled
   for one machine only. */
static void N(truth_apart)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                           int64_t stop) {
    if (f->columns)
        N(truth_columns)(op, f, operands, start, stop, f->column_x);
    else
        N(truth_lines)(op, f, operands, start, stop, 0);
}

INLINE void N(truth_all)(int op, const mat_reduction *f, char *const *operands, int64_t start,
                         int64_t stop) {
    if (f->columns && f->column_x == 1)
        N(truth_columns)(op, f, operands, start, stop, 1);
    else if (!f->columns && f->in.x[f->in.rank - 1] == 1)
        N(truth_lines)(op, f, operands, start, stop, 1);
    else
        N(truth_apart)(op, f, operands, start, stop);
}
