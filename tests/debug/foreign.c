/* C code of people who know nothing of `mat`: correct functions, and those with a mistake. */
#include <stdint.h>
#include <string.h>

void scale(const double *x, double *y, long n, double factor) {
    for (long i = 0; i < n; i++) y[i] = factor * x[i];
}
double total(const double *x, long n) {
    double sum = 0;
    for (long i = 0; i < n; i++) sum += x[i];
    return sum;
}
void running_sum(double *x, long n) {
    for (long i = 1; i < n; i++) x[i] += x[i - 1];
}
void smooth(const double *x, double *y, long n) {
    y[0] = x[0];
    y[n - 1] = x[n - 1];
    for (long i = 1; i < n - 1; i++) y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;
}
void transpose(const float *a, float *b, long rows, long columns) {
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < columns; j++) b[j * rows + i] = a[i * columns + j];
}
void histogram(const uint8_t *x, long n, int64_t *counts) {
    memset(counts, 0, 256 * sizeof *counts);
    for (long i = 0; i < n; i++) counts[x[i]]++;
}
void fill_strided(double *y, long n, long stride, double value) {
    for (long i = 0; i < n; i++) y[i * stride] = value;
}
void range_of(const double *x, long n, double *low, double *high) {
    *low = *high = x[0];
    for (long i = 1; i < n; i++) {
        if (x[i] < *low) *low = x[i];
        if (x[i] > *high) *high = x[i];
    }
}
void square_complex(const double *z, double *w, long n) {
    for (long i = 0; i < n; i++) {
        w[2 * i] = z[2 * i] * z[2 * i] - z[2 * i + 1] * z[2 * i + 1];
        w[2 * i + 1] = 2 * z[2 * i] * z[2 * i + 1];
    }
}

/* Mistakes */

double median(double *x, long n) { /* sorts what it is given */
    for (long i = 1; i < n; i++)
        for (long k = i; k > 0 && x[k] < x[k - 1]; k--) {
            double t = x[k];
            x[k] = x[k - 1];
            x[k - 1] = t;
        }
    return x[n / 2];
}
double normed(double *x, double *y, long n) { /* scales a number of its input, too */
    for (long i = 0; i < n; i++) y[i] = x[i] / 2;
    x[n / 2] /= 2;
    return 2;
}
void terminate(double *x, double *y, long n) { /* ends its input with a zero that has no room */
    x[n] = 0;
    for (long i = 0; x[i] != 0; i++) y[i] = x[i];
}
void differences(const double *x, double *y, long n) { /* as many as elements, and one more */
    for (long i = 0; i <= n; i++) y[i] = i ? x[i % n] - x[i - 1] : 0;
}
void shifted(const double *x, double *y, long n) { /* to one place before */
    for (long i = 0; i < n; i++) y[i - 1] = x[i];
    y[n - 1] = 0;
}
void inner(const double *x, double *y, long n) { /* leaves both ends */
    for (long i = 1; i < n - 1; i++) y[i] = x[i];
}
void guarded(const double *x, double *y, long n) { /* gives up silently */
    if (n > 4) return;
    for (long i = 0; i < n; i++) y[i] = x[i];
}
