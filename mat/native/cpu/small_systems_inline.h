/* Included for each element type T, with names by N(...): the kernel that solves the systems of a
   stack, some in lanes side by side. */

/* Matrices `first` to `first + many`; lanes beyond these have the last one again. */
INLINE int N(solve_some)(const mat_small_systems *f, char *const *operands, int64_t n,
                         int64_t first, int64_t many) {
    lanes x[2 * MAT_SMALL_SIDE * MAT_SMALL_SIDE];
    const int64_t columns = f->columns ? f->columns : n;
    lanes *right = x + n * n;
    T *y[LANES];
    EACH(l, LANES) {
        int64_t at[3];
        systems_seek(f, first + (l < many ? l : many - 1), at);
        const T *a = (const T *)operands[0] + at[0], *b = (const T *)operands[1] + at[1];
        y[l] = (T *)operands[f->columns ? 2 : 1] + at[2];
        EACH(i, n) EACH(j, n) x[j * n + i][l] = a[i * f->row[0] + j * f->column[0]];
        if (f->columns)
            EACH(i, n) EACH(j, columns)
                right[j * n + i][l] = b[i * f->row[1] + j * f->column[1]];
        else
            EACH(i, n) EACH(j, n) right[j * n + i][l] = i == j;
    }
    const int singular = solve_lanes(x, n, n + columns, many);
    EACH(l, many) EACH(i, n) EACH(j, columns)
        y[l][i * f->row[2] + j * f->column[2]] = (T)right[j * n + i][l];
    return singular;
}

INLINE void N(small_systems)(const mat_small_systems *f, char *const *operands, double *result,
                             int64_t start, int64_t stop) {
    int singular = 0;
    for (int64_t first = start; first < stop; first += LANES) {
        const int64_t many = stop - first < LANES ? stop - first : LANES;
        singular |= N(solve_some)(f, operands, f->n, first, many);
    }
    if (singular) result[0] = 1;
}
