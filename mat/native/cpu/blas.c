/* BLAS by value: kernels that unpack a frame and call the routine with addresses of copies on the
   stack. */
#include "mat.h"

#include <complex.h>

#include "call.h"

#include "blas.h"
#include "level1.h"

static const int SIZE[4] = {4, 8, 8, 16};

typedef union {
    float f[2];
    double d[2];
} scalar;

/* A number, given as a pair of doubles, as an element. */
INLINE scalar element(int64_t kind, const double *pair) {
    scalar s;
    if (kind & 1) {
        s.d[0] = pair[0], s.d[1] = pair[1];
    } else {
        s.f[0] = (float)pair[0], s.f[1] = (float)pair[1];
    }
    return s;
}

/* The lowest address of elements start to stop of vector k, where BLAS begins a vector. */
INLINE void *low(const struct mat_vectors *v, char *const *operands, int k, int64_t start,
                 int64_t stop) {
    int64_t step = v->step[k], at = step >= 0 ? start : stop - 1;
    return operands[k] + (v->first[k] + at * step) * SIZE[v->kind];
}

typedef void two_t(const int *n, const void *x, const int *incx, const void *y, const int *incy);
typedef void axpy_t(const int *n, const void *alpha, const void *x, const int *incx, void *y,
                    const int *incy);
typedef void scal_t(const int *n, const void *alpha, void *x, const int *incx);

#define VECTORS                                  \
    const struct mat_vectors *v = frame;         \
    int n = (int)(stop - start);                 \
    int incx = (int)v->step[0], incy = (int)v->step[1]; \
    if (n <= 0) return;                          \
    (void)incx, (void)incy

void mat_blas_axpy(const void *frame, char *const *operands, const double *numbers, double *result,
                   int64_t start, int64_t stop) {
    VECTORS;
    scalar alpha = element(v->kind, numbers);
    ((axpy_t *)v->routine)(&n, &alpha, low(v, operands, 0, start, stop), &incx,
                           low(v, operands, 1, start, stop), &incy);
}

/* The next kernels do not depend on the order of the elements: a negative step is a positive one
   from the far end. */
INLINE int upwards(int step) { return step < 0 ? -step : step; }

void mat_blas_scal(const void *frame, char *const *operands, const double *numbers, double *result,
                   int64_t start, int64_t stop) {
    VECTORS;
    scalar alpha = element(v->kind, numbers);
    incx = upwards(incx);
    ((scal_t *)v->routine)(&n, &alpha, low(v, operands, 0, start, stop), &incx);
}

void mat_blas_copy(const void *frame, char *const *operands, const double *numbers, double *result,
                   int64_t start, int64_t stop) {
    VECTORS;
    ((two_t *)v->routine)(&n, low(v, operands, 0, start, stop), &incx,
                          low(v, operands, 1, start, stop), &incy);
}

void mat_blas_swap(const void *frame, char *const *operands, const double *numbers, double *result,
                   int64_t start, int64_t stop) {
    mat_blas_copy(frame, operands, numbers, result, start, stop);
}

void mat_blas_dot(const void *frame, char *const *operands, const double *numbers, double *result,
                  int64_t start, int64_t stop) {
    VECTORS;
    const void *x = low(v, operands, 0, start, stop), *y = low(v, operands, 1, start, stop);
    typedef float s_t(const int *, const void *, const int *, const void *, const int *);
    typedef double d_t(const int *, const void *, const int *, const void *, const int *);
    typedef float _Complex c_t(const int *, const void *, const int *, const void *, const int *);
    typedef double _Complex z_t(const int *, const void *, const int *, const void *, const int *);
    if (v->kind == 0) {
        result[0] = ((s_t *)v->routine)(&n, x, &incx, y, &incy);
    } else if (v->kind == 1) {
        result[0] = ((d_t *)v->routine)(&n, x, &incx, y, &incy);
    } else if (v->kind == 2) {
        float _Complex sum = ((c_t *)v->routine)(&n, x, &incx, y, &incy);
        result[0] = crealf(sum), result[1] = cimagf(sum);
    } else {
        double _Complex sum = ((z_t *)v->routine)(&n, x, &incx, y, &incy);
        result[0] = creal(sum), result[1] = cimag(sum);
    }
}

void mat_blas_dot_into(const void *frame, char *const *operands, const double *numbers,
                       double *result, int64_t start, int64_t stop) {
    const struct mat_vectors *v = frame;
    double sum[2];
    mat_blas_dot(frame, operands, numbers, sum, start, stop);
    scalar s = element(v->kind, sum);
    memcpy(operands[2], &s, SIZE[v->kind]);
}

/* The routine's result, of any step. */
static double real_sum(const struct mat_vectors *v, const void *x, int n, int incx) {
    typedef float s_t(const int *, const void *, const int *);
    typedef double d_t(const int *, const void *, const int *);
    incx = upwards(incx);
    return v->kind & 1 ? ((d_t *)v->routine)(&n, x, &incx)
                       : (double)((s_t *)v->routine)(&n, x, &incx);
}

void mat_blas_asum(const void *frame, char *const *operands, const double *numbers, double *result,
                   int64_t start, int64_t stop) {
    VECTORS;
    result[0] = real_sum(v, low(v, operands, 0, start, stop), n, incx);
}

/* The sum of squares of adjacent elements, by the blocks that long vectors have. */
static double squares(int64_t kind, char *x, int64_t n) {
    mat_kernel *const kernel = kind & 1 ? mat_squares_f64 : mat_squares_f32;
    const int64_t block = 1 << 14, size = kind & 1 ? 8 : 4;
    double total = 0, part = 0;
    if (kind > 1) n *= 2; /* real and imaginary parts */
    for (int64_t done = 0; done < n; done += block) {
        const struct mat_sum one = {n - done < block ? n - done : block, block};
        char *const at[1] = {x + done * size};
        kernel(&one, at, NULL, &part, 0, 1);
        total += part;
    }
    return total;
}

/* BLAS scales the elements so that squares cannot overflow, which takes several times as long as to
   find out that they do not, or hardly lose digits. */
void mat_blas_nrm2(const void *frame, char *const *operands, const double *numbers, double *result,
                   int64_t start, int64_t stop) {
    VECTORS;
    char *const x = low(v, operands, 0, start, stop);
    const double total = incx == 1 ? squares(v->kind, x, n) : 0;
    if (total > 1e-250 && total < 1e300)
        result[0] = v->kind & 1 ? sqrt(total) : (double)(float)sqrt(total);
    else
        result[0] = real_sum(v, x, n, incx);
}

typedef void gemm_t(const char *trans_a, const char *trans_b, const int *m, const int *n,
                    const int *k, const void *alpha, const void *a, const int *lda, const void *b,
                    const int *ldb, const void *beta, void *c, const int *ldc);

typedef void gemv_t(const char *trans, const int *m, const int *n, const void *alpha, const void *a,
                    const int *lda, const void *x, const int *incx, const void *beta, void *y,
                    const int *incy);

/* A product with one row or column: op(A) times a column, or a row times op(B), which is the
   other matrix, transposed, times that row as a column. */
static void multiply_vector(const struct mat_product *p, const void *a, const void *b, void *c,
                            const scalar *alpha, const scalar *beta) {
    const int column = p->n == 1, one = 1;
    const char stored = p->trans[column ? 0 : 1], other = p->trans[column ? 1 : 0];
    const char trans = column == (stored == 'N') ? 'N' : 'T';
    const int length = column ? p->m : p->n; /* of the result */
    const int rows = trans == 'N' ? length : p->k, columns = trans == 'N' ? p->k : length;
    const int *incx = column == (other == 'N') ? &one : &p->ld[column ? 1 : 0];
    ((gemv_t *)p->gemv)(&trans, &rows, &columns, alpha, column ? a : b, &p->ld[column ? 0 : 1],
                        column ? b : a, incx, beta, c, column ? &one : &p->ld[2]);
}

typedef void syrk_t(const char *uplo, const char *trans, const int *n, const int *k,
                    const void *alpha, const void *a, const int *lda, const void *beta, void *c,
                    const int *ldc);

/* c[j, i] <- c[i, j] for i < j, of elements of one type, in blocks that stay in the cache */
#define MIRROR(type) \
    static void mirror_##type(type *c, int64_t n, int64_t ld) { \
        for (int64_t right = 0; right < n; right += BLOCK) \
            for (int64_t low = 0; low <= right; low += BLOCK) { \
                const int64_t end = right + BLOCK < n ? right + BLOCK : n; \
                const int64_t stop = low + BLOCK < n ? low + BLOCK : n; \
                for (int64_t i = low; i < stop; i++) \
                    for (int64_t j = low == right ? i + 1 : right; j < end; j++) \
                        c[i * ld + j] = c[j * ld + i]; \
            } \
    }
enum { BLOCK = 32 };
typedef struct {
    double d[2];
} pair;
MIRROR(float)
MIRROR(double)
MIRROR(pair)

/* A product of a matrix and its own transpose, of which one triangle is computed. */
static void multiply_itself(const struct mat_product *p, const void *a, void *c,
                            const scalar *alpha, const scalar *beta) {
    ((syrk_t *)p->syrk)("U", &p->trans[0], &p->n, &p->k, alpha, a, &p->ld[0], beta, c, &p->ld[2]);
    if (SIZE[p->kind] == 4)
        mirror_float(c, p->n, p->ld[2]);
    else if (SIZE[p->kind] == 8)
        mirror_double(c, p->n, p->ld[2]);
    else
        mirror_pair(c, p->n, p->ld[2]);
}

/* operands: a, b, c; numbers: alpha, beta */
void mat_blas_gemm(const void *frame, char *const *operands, const double *numbers, double *result,
                   int64_t start, int64_t stop) {
    const struct mat_product *p = frame;
    scalar alpha = element(p->kind, numbers), beta = element(p->kind, numbers + 2);
    if (p->gemv) {
        multiply_vector(p, operands[p->swap ? 1 : 0], operands[p->swap ? 0 : 1], operands[2],
                        &alpha, &beta);
        return;
    }
    if (p->syrk && operands[0] == operands[1] && numbers[2] == 0 && numbers[3] == 0) {
        multiply_itself(p, operands[0], operands[2], &alpha, &beta);
        return;
    }
    ((gemm_t *)p->routine)(&p->trans[0], &p->trans[1], &p->m, &p->n, &p->k, &alpha,
                           operands[p->swap ? 1 : 0], &p->ld[0], operands[p->swap ? 0 : 1],
                           &p->ld[1], &beta, operands[2], &p->ld[2]);
}

/* operands: a, x, y; numbers: alpha, beta */
void mat_blas_gemv(const void *frame, char *const *operands, const double *numbers, double *result,
                   int64_t start, int64_t stop) {
    const struct mat_matrix_vector *p = frame;
    scalar alpha = element(p->kind, numbers), beta = element(p->kind, numbers + 2);
    ((gemv_t *)p->routine)(&p->trans[0], &p->m, &p->n, &alpha, operands[0], &p->ld,
                           operands[1] + p->first[0] * SIZE[p->kind], &p->step[0], &beta,
                           operands[2] + p->first[1] * SIZE[p->kind], &p->step[1]);
}

void mat_blas_plain_product(const void *frame, char *const *operands, const double *numbers,
                            double *result, int64_t start, int64_t stop) {
    static const double factors[4] = {1, 0, 0, 0};
    const struct mat_plain_product *p = frame;
    char *const ordered[3] = {operands[p->swap ? 1 : 0], operands[p->swap ? 0 : 1], operands[2]};
    ((mat_kernel *)p->kernel)(p->frame, ordered, factors, result, start, stop);
}

void mat_blas_gemm_stack(const void *frame, char *const *operands, const double *numbers,
                         double *result, int64_t start, int64_t stop) {
    const struct mat_stack *s = frame;
    for (int64_t matrix = start; matrix < stop; matrix++) {
        char *at[3] = {operands[0], operands[1], operands[2]};
        int64_t rest = matrix;
        for (int64_t d = s->axes - 1; d >= 0; d--) {
            const struct mat_stack_axis *axis = s->axis + d;
            int64_t index = rest % axis->length;
            rest /= axis->length;
            for (int k = 0; k < 3; k++) at[k] += index * axis->step[k];
        }
        mat_blas_gemm(s->frame, at, numbers, result, 0, 1);
    }
}
