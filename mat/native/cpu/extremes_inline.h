/* The largest and smallest of many adjacent elements T; N(name) is a name for T. Included once for
   each type. */

/* Find LANES extremes of n elements, some times so many, if all are numbers; return whether that is
   certain: the sum of all would not be a number otherwise. Of equal zeros the first one stays.

   A comparison of what are numbers is one instruction of a vector. A comparison that regards what
   is not a number takes four: these fill the window of the processor, so that it does not read far
   enough ahead. */
WIDE static int N(extremes)(int largest, T *found, const T *p, int64_t n) {
    T t[LANES], sum[LANES];
    int numbers = 1;
    EACH(j, LANES) t[j] = p[j], sum[j] = 0;
#define ALL(better) \
    for (int64_t k = 0; k < n; k += LANES) { \
        EACH(j, LANES) t[j] = p[k + j] better t[j] ? p[k + j] : t[j]; \
        if ((T)0.5 > 0) /* floating-point */ \
            EACH(j, LANES) sum[j] += p[k + j]; \
    }
    if (largest)
        ALL(>)
    else
        ALL(<)
#undef ALL
    EACH(j, LANES) found[j] = t[j];
    EACH(j, LANES) numbers &= sum[j] == sum[j];
    return numbers;
}

int N(mat_extremes)(int largest, T *found, const T *p, int64_t n) {
    return HAS_WIDE && N(extremes)(largest, found, p, n);
}
