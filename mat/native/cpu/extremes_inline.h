/* The largest or smallest of adjacent elements T, and their places, by vectors V, which intrinsics
   with the suffix P compute with, with Q the extremes; N(name) is a name for T. Included once for
   each type. */

#define OF(name) PASTED(_mm512_##name, P)
#define MASK_OF(name) PASTED(OF(name), mask)
#define WIDTH ((int64_t)(sizeof(V) / sizeof(T)))
#define BEST(x, t) /* t where both are equal */ \
    (largest ? PASTED(_mm512_max, Q)(x, t) : PASTED(_mm512_min, Q)(x, t))
#define JOINED(t, x) (largest ? ((x) > (t) ? (x) : (t)) : ((x) < (t) ? (x) : (t)))

WIDE INLINE V N(vector_at)(const T *p) {
    V x;
    memcpy(&x, p, sizeof x);
    return x;
}

/* The extreme of a vector, in the order of join_lanes: of equal zeros the same one stays. */
WIDE INLINE T N(of_vector)(int largest, V all) {
    T t[WIDTH];
    memcpy(t, &all, sizeof t);
#define HALVE(half) \
    if (WIDTH >= 2 * (half)) /* written out, for compilers to see how many there are */ \
        EACH(j, half) t[j] = JOINED(t[j], t[j + (half)]);
    HALVE(32) HALVE(16) HALVE(8) HALVE(4)
#undef HALVE
    for (int64_t j = 1; j < 4; j++)
        t[0] = JOINED(t[0], t[j]);
    return t[0];
}

/* Find the extreme of n elements, LANES or more, if all are numbers; return whether that is
   certain: the sum of all would not be a number otherwise. The last elements may be met twice,
   which changes nothing.

   A comparison of what are numbers is one instruction. A comparison that regards what is not a
   number takes four: these fill the window of the processor, so that it does not read far enough
   ahead. */
WIDE INLINE int N(extreme)(int largest, T *found, const T *p, int64_t n) {
    const V none = OF(set1)(0);
    V t0 = N(vector_at)(p), t1 = N(vector_at)(p + WIDTH), s0 = none, s1 = none;
    V t2 = N(vector_at)(p + 2 * WIDTH), t3 = N(vector_at)(p + 3 * WIDTH), s2 = none, s3 = none;
    for (int64_t k = 0; k < n; k += LANES) {
        const T *x = p + (k < n - LANES ? k : n - LANES);
#define TAKE(i) \
    V x##i = N(vector_at)(x + (i) * WIDTH); \
    t##i = BEST(x##i, t##i), s##i = (T)0.5 > 0 ? OF(add)(s##i, x##i) : s##i;
        FOUR(TAKE)
#undef TAKE
    }
    *found = N(of_vector)(largest, BEST(BEST(t3, t1), BEST(t2, t0)));
    V sum = OF(add)(OF(add)(s0, s1), OF(add)(s2, s3));
    return !MASK_OF(cmpneq)(sum, sum);
}

/* The elements of the vector at p of which n or more are left; `other` in place of what follows. */
WIDE INLINE V N(load)(V other, const T *p, int64_t n) {
    return OF(mask_loadu)(other, n < WIDTH ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0, p);
}

/* The place of the first of n elements that is `value`; one is. */
WIDE INLINE int64_t N(place)(T value, const T *p, int64_t n) {
    const V wanted = OF(set1)(value), other = OF(set1)(value == 0);
    uint64_t equal = 0;
    int64_t k = 0;
    while (!(equal = MASK_OF(cmpeq)(N(load)(other, p + k, n - k), wanted)))
        k += WIDTH;
    return k + __builtin_ctzll(equal);
}

/* The place of the extreme of n elements, fewer than LANES, or of the first that is no number. */
WIDE INLINE int64_t N(place_of_few)(int largest, const T *p, int64_t n) {
    V t = OF(set1)(p[0]);
    const V first = t;
    for (int64_t k = 0; k < n; k += WIDTH) {
        V x = N(load)(first, p + k, n - k);
        uint64_t no_number = MASK_OF(cmpneq)(x, x);
        if (no_number)
            return k + __builtin_ctzll(no_number);
        t = BEST(x, t);
    }
    return N(place)(N(of_vector)(largest, t), p, n);
}

WIDE INLINE int64_t N(places)(int largest, int64_t *at, const T *p, int64_t rows, int64_t n,
                              int64_t at_step, int64_t step) {
    for (int64_t k = 0; k < rows; k++, p += step, at += at_step) {
        T value;
        if (n < LANES)
            *at = N(place_of_few)(largest, p, n);
        else if (N(extreme)(largest, &value, p, n))
            *at = N(place)(value, p, n);
        else
            return k;
    }
    return rows;
}

WIDE static int64_t N(places_of_largest)(int64_t *at, const T *p, int64_t rows, int64_t n,
                                         int64_t at_step, int64_t step) {
    return N(places)(1, at, p, rows, n, at_step, step);
}

WIDE static int64_t N(places_of_smallest)(int64_t *at, const T *p, int64_t rows, int64_t n,
                                          int64_t at_step, int64_t step) {
    return N(places)(0, at, p, rows, n, at_step, step);
}

int64_t N(mat_places)(int largest, int64_t *at, const T *p, int64_t rows, int64_t n,
                      int64_t at_step, int64_t step) {
    if (!HAS_WIDE)
        return 0;
    return (largest ? N(places_of_largest) : N(places_of_smallest))(at, p, rows, n, at_step, step);
}

WIDE static int N(find_largest)(T *found, const T *p, int64_t n) {
    return N(extreme)(1, found, p, n);
}

WIDE static int N(find_smallest)(T *found, const T *p, int64_t n) {
    return N(extreme)(0, found, p, n);
}

int N(mat_extreme)(int largest, T *found, const T *p, int64_t n) {
    return HAS_WIDE && (largest ? N(find_largest) : N(find_smallest))(found, p, n);
}

#undef OF
#undef MASK_OF
#undef WIDTH
#undef BEST
#undef JOINED
#undef T
#undef V
#undef P
#undef Q
#undef N
