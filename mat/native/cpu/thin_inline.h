/* The product of a tall and a thin matrix of T. Included for float and for double. */

typedef T N(lanes) __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
enum { N(LANES) = 32 / sizeof(T) };

/* Write columns of B vector by vector: those of the first LANES rows, one after the other, then
   those of the next, with zeros at the end. */
INLINE void N(pack)(T *to, const struct mat_thin *f, const T *b, int64_t depth, int64_t columns) {
    for (int64_t p = 0; p < depth; p += N(LANES))
        for (int64_t j = 0; j < columns; j++)
            for (int64_t i = 0; i < N(LANES); i++, to++)
                *to = p + i < depth ? b[(p + i) * f->b_row + j * f->b_column] : 0;
}

#define MULTIPLY                                                \
    EACH(j, columns) {                                          \
        const N(lanes) y = *(const N(lanes) *)(b + j * N(LANES)); \
        EACH(r, rows) acc[r][j] += x[r] * y;                    \
    }

/* The sums of rows of A times packed columns of B. Meanwhile elements `ahead` are brought into the
   cache, a vector for each `hop` elements: else the first group of columns waits for memory, and
   memory for the other groups. */
INLINE void N(tile)(T sums[ROWS][GROUP], const T *a, int64_t step, const T *b, int64_t depth,
                    const T *ahead, int64_t hop, const int rows, const int columns) {
    N(lanes) acc[ROWS][GROUP], x[ROWS];
    EACH(r, rows) EACH(j, columns) acc[r][j] = (N(lanes)){0};
    int64_t p = 0;
    for (; p + N(LANES) <= depth; p += N(LANES), b += columns * N(LANES), ahead += hop) {
        EACH(r, rows) x[r] = *(const N(lanes) *)(a + r * step + p);
        EACH(r, rows) __builtin_prefetch(ahead + r * step);
        MULTIPLY
    }
    if (p < depth) {
        EACH(r, rows) {
            x[r] = (N(lanes)){0};
            for (int64_t i = 0; p + i < depth; i++) x[r][i] = a[r * step + p + i];
        }
        MULTIPLY
    }
    EACH(r, rows) EACH(j, columns) {
        const N(lanes) v = acc[r][j];
        T sum[N(LANES) / 2];
        EACH(i, N(LANES) / 2) sum[i] = v[i] + v[i + N(LANES) / 2];
        for (int half = N(LANES) / 4; half; half /= 2)
            for (int i = 0; i < half; i++) sum[i] += sum[i + half];
        sums[r][j] = sum[0];
    }
}
#undef MULTIPLY

/* The same for each number of rows and columns. */
INLINE void N(tiles)(T sums[ROWS][GROUP], const T *a, int64_t step, const T *b, int64_t depth,
                     const T *ahead, int64_t hop, int64_t rows, int64_t columns) {
#define TILE(COLUMNS)                                                            \
    if (columns == COLUMNS && rows == ROWS)                                      \
        N(tile)(sums, a, step, b, depth, ahead, hop, ROWS, COLUMNS);             \
    else if (columns == COLUMNS)                                                 \
        for (int64_t r = 0; r < rows; r++)                                       \
            N(tile)(sums + r, a + r * step, step, b, depth, ahead, hop, 1, COLUMNS)
    TILE(1);
    TILE(2);
    TILE(3);
    TILE(4);
#undef TILE
}

/* Write sums to C, or, with `more`, add them to what is there of the same product. */
INLINE void N(put)(T *c, const struct mat_thin *f, const T sums[ROWS][GROUP], int64_t rows,
                   int64_t columns, const double *numbers, int more) {
    const T alpha = (T)numbers[0], beta = (T)numbers[2];
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < columns; j++) {
            T *at = c + r * f->c_row + j * f->c_column;
            const T sum = alpha == 0 ? 0 : alpha * sums[r][j];
            *at = more ? *at + sum : beta == 0 ? sum : beta * *at + sum;
        }
}

MAT_CLONES void N(mat_thin)(const void *frame, char *const *operands, const double *numbers,
                            double *result, int64_t start, int64_t stop) {
    const struct mat_thin *f = frame;
    const T *a = (const T *)operands[f->swap ? 1 : 0], *b = (const T *)operands[f->swap ? 0 : 1];
    T *c = (T *)operands[2], packed[ROOM / sizeof(T)], sums[ROWS][GROUP];
    const int64_t groups = (f->columns + GROUP - 1) / GROUP;
    const int64_t hop = (N(LANES) + groups - 1) / groups;
    const int64_t most = ROOM / (int64_t)sizeof(T) / (groups * GROUP) / N(LANES) * N(LANES);
    for (int64_t from = 0; from < f->depth; from += most) {
        const int64_t depth = f->depth - from < most ? f->depth - from : most;
        const int64_t vectors = (depth + N(LANES) - 1) / N(LANES);
        for (int64_t g = 0, j = 0; g < groups; g++, j += GROUP)
            N(pack)(packed + j * vectors * N(LANES), f, b + from * f->b_row + j * f->b_column,
                    depth, f->columns - j < GROUP ? f->columns - j : GROUP);
        for (int64_t i = start; i < stop; i += ROWS) {
            const T *at = a + i * f->a_row + from, *ahead = at + ROWS * f->a_row;
            const int64_t rows = stop - i < ROWS ? stop - i : ROWS;
            for (int64_t g = 0, j = 0; g < groups; g++, j += GROUP, ahead += vectors * hop) {
                const int64_t columns = f->columns - j < GROUP ? f->columns - j : GROUP;
                N(tiles)(sums, at, f->a_row, packed + j * vectors * N(LANES), depth, ahead, hop,
                         rows, columns);
                N(put)(c + i * f->c_row + j * f->c_column, f, sums, rows, columns, numbers,
                       from > 0);
            }
        }
    }
}
