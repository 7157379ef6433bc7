/* The product of small matrices of T. Included for float and for double. */

typedef T N(wide) __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
typedef T N(half) __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
typedef T N(single);

/* One vector of rows of C, in some columns; the elements of op(B) are `row` and `column` apart. */
#define ROWS(V) \
    INLINE void N(rows_##V)(T *c, int64_t ldc, const T *a, int64_t lda, const T *b, int64_t row, \
                            int64_t column, int64_t depth, const T *factors, int columns) { \
        N(V) sum[COLUMNS]; \
        EACH(j, columns) sum[j] = (N(V)){0}; \
        for (int64_t p = 0; p < depth; p++) { \
            const N(V) x = *(const N(V) *)(a + p * lda); \
            EACH(j, columns) sum[j] += x * b[p * row + j * column]; \
        } \
        EACH(j, columns) { \
            N(V) *const to = (N(V) *)(c + j * ldc); \
            N(V) found = factors[0] * sum[j]; \
            if (factors[0] == 0) found = (N(V)){0}; \
            if (factors[1] != 0) found += factors[1] * *to; \
            *to = found; \
        } \
    }
ROWS(wide)
ROWS(half)
ROWS(single)
#undef ROWS

/* Some columns of C. */
INLINE void N(columns)(const struct mat_small_product *f, T *c, const T *a, int64_t lda, const T *b,
                       int64_t row, int64_t column, const T *factors, int columns) {
    enum { WIDE = 32 / sizeof(T), HALF = WIDE / 2 };
    int64_t i = 0;
    for (; i + WIDE <= f->m; i += WIDE)
        N(rows_wide)(c + i, f->ld[2], a + i, lda, b, row, column, f->k, factors, columns);
    for (; i + HALF <= f->m; i += HALF)
        N(rows_half)(c + i, f->ld[2], a + i, lda, b, row, column, f->k, factors, columns);
    for (; i < f->m; i++)
        N(rows_single)(c + i, f->ld[2], a + i, lda, b, row, column, f->k, factors, columns);
}

MAT_CLONES void N(mat_small_products)(const void *frame, char *const *operands,
                                      const double *numbers, double *result, int64_t start,
                                      int64_t stop) {
    const struct mat_small_product *f = frame;
    const T factors[2] = {(T)numbers[0], (T)numbers[2]};
    const int one = f->swap ? 1 : 0, by_rows = f->trans[0] == 'T', plain = f->trans[1] == 'N';
    const int64_t row = plain ? 1 : f->ld[1], column = plain ? f->ld[1] : 1;
    for (int64_t matrix = start; matrix < stop; matrix++) {
        int64_t at[3], j = 0;
        seek(f, matrix, at);
        const T *a = (const T *)operands[one] + at[one];
        const T *b = (const T *)operands[1 - one] + at[1 - one];
        T *const c = (T *)operands[2] + at[2], packed[MAT_PRODUCT_SIDE * MAT_PRODUCT_SIDE];
        if (by_rows) {
            for (int64_t p = 0; p < f->k; p++)
                for (int64_t i = 0; i < f->m; i++) packed[p * f->m + i] = a[i * f->ld[0] + p];
            a = packed;
        }
        const int64_t lda = by_rows ? f->m : f->ld[0];
        for (; j + COLUMNS <= f->n; j += COLUMNS)
            N(columns)(f, c + j * f->ld[2], a, lda, b + j * column, row, column, factors, COLUMNS);
        for (; j < f->n; j++)
            N(columns)(f, c + j * f->ld[2], a, lda, b + j * column, row, column, factors, 1);
    }
}
