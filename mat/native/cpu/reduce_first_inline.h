/* The positions of the first bytes that are true, or that are not: those of the largest and the
   smallest of bools. A part is left as its position plus 1, or 0 where there is none. */

#define ABREAST 64 /* bytes that are looked at together */

/* The first of n bytes that is nonzero, or with `wanted` 0 zero; n if there is none. */
INLINE int64_t first_byte(int wanted, const uint8_t *p, int64_t n, int64_t step) {
    int64_t k = 0;
    if (step == 1)
        for (; k + ABREAST <= n; k += ABREAST) {
            uint8_t found = 0;
            EACH(j, ABREAST) found |= (p[k + j] != 0) == wanted;
            if (found)
                break;
        }
    while (k < n && (p[k * step] != 0) != wanted)
        k++;
    return k;
}

INLINE void first_lines(int wanted, const mat_reduction *f, char *const *operands, int64_t start,
                        int64_t stop, int64_t step) {
    const uint8_t *x = (const uint8_t *)operands[0] + f->start_x;
    int64_t *y = (int64_t *)operands[1] + f->start_y, *left = left_of(f, operands);
    mat_cursor kept;
    mat_part p = part_of(f, start);
    cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
    for (int64_t u = start; u < stop; u++) {
        p = part_of(f, u);
        int64_t found = 0;
        STRETCHES(w, f, p.from, p.to) {
            const uint8_t *line = x + kept.x + w.x;
            int64_t k = first_byte(wanted, line, w.count, step == 1 ? 1 : w.step);
            if (k < w.count) {
                found = w.first + k + 1;
                break;
            }
        }
        if (f->chunks == 1)
            y[kept.y] = found ? found - 1 : 0;
        else
            left[p.chunk * f->results + p.outer] = found;
        if (p.chunk == f->chunks - 1)
            cursor_step(&kept);
    }
}

INLINE void first_columns(int wanted, const mat_reduction *f, char *const *operands, int64_t start,
                          int64_t stop) {
    const uint8_t *x = (const uint8_t *)operands[0] + f->start_x;
    int64_t *y = (int64_t *)operands[1] + f->start_y, *left = left_of(f, operands), found[TILE];
    for (int64_t u = start; u < stop; u++) {
        mat_part p = part_of(f, u);
        mat_cursor kept;
        cursor_seek(&kept, &f->kept, f->kept.rank, p.outer);
        EACH(j, p.width) found[j] = 0;
        STRETCHES(w, f, p.from, p.to)
            for (int64_t k = 0; k < w.count; k++) {
                const uint8_t *row = x + kept.x + p.column * f->column_x + w.x + k * w.step;
                const int64_t at = w.first + k + 1;
                EACH(j, p.width)
                    found[j] = !found[j] && (row[j * f->column_x] != 0) == wanted ? at : found[j];
            }
        EACH(j, p.width)
            if (f->chunks == 1)
                y[kept.y + (p.column + j) * f->column_y] = found[j] ? found[j] - 1 : 0;
            else
                left[p.chunk * f->results + p.outer * f->columns + p.column + j] = found[j];
    }
}

INLINE void first_all(int wanted, const mat_reduction *f, char *const *operands, int64_t start,
                      int64_t stop) {
    if (f->columns)
        first_columns(wanted, f, operands, start, stop);
    else if (f->in.x[f->in.rank - 1] == 1)
        first_lines(wanted, f, operands, start, stop, 1);
    else
        first_lines(wanted, f, operands, start, stop, 0);
}

static void first_finish(const mat_reduction *f, char *const *operands, int64_t start,
                         int64_t stop) {
    int64_t *y = (int64_t *)operands[1] + f->start_y;
    const int64_t *left = left_of(f, operands);
    RUNS(k, r, f, start, stop)
        EACH(j, r.count) {
            int64_t found = 0;
            for (int64_t c = 0; c < f->chunks && !found; c++)
                found = left[c * f->results + k + j];
            y[r.y + j * r.apart] = found ? found - 1 : 0;
        }
}
