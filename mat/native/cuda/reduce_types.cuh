/* The classes of reductions on the device, one for each operation and element type.

   An operation has an `Item`, as it is in memory; a `State`, what a thread has so far, which is
   left between two stages, too; `none()`, the state of nothing; `add<N, V>`, which adds N items, of
   which V are adjacent and the next V `step` numbers further; `join`, `down` (a shuffle) and `put`,
   which writes a result. `WHOLE`: many items at once are better than few.

   Integers are all unsigned here. The `mask` of a call turns items into such: with the highest bit
   turned, signed ones have the order of unsigned ones, and are so much larger, which is taken away
   in the end. With all bits turned, or the sign of a float, the smallest element is the largest. So
   one kernel does for many dtypes and for two operations.

   Sums: at most 16 floats, 8 doubles or 32 of 16 bits are added in a tree, in float or double;
   these go into totals in double, for double with the rounding errors kept beside it. So the error
   is at most that of 5 roundings of T, 5/2 eps, times the sum of absolute values, that of at most
   2^20 roundings of double for all but double, and the one of the result. */
#ifndef MAT_REDUCE_TYPES_CUH
#define MAT_REDUCE_TYPES_CUH

#include "elements.cuh"

/* The items that are loaded: how a mask turns them, and trees and shuffles of them */

enum { MAT_TRUTH = 1 << 8 }; /* in the mask of items of 8 bits: all but 0 are 1 before */

/* Elements turned by a mask */
template <class S> INLINE S mat_turned(S x, uint64_t mask) {
    if constexpr (mat_kind<S>::of == MAT_WHOLE && sizeof(S) == 1)
        return (S)((mask & MAT_TRUTH ? x != 0 : x) ^ mask);
    else if constexpr (mat_kind<S>::of == MAT_WHOLE) return (S)(x ^ mask);
    else if constexpr (mat_kind<S>::of == MAT_COMPLEX)
        return {mat_turned(x.re, mask), mat_turned(x.im, mask)};
    else if constexpr (sizeof(S) == 2) return {(uint16_t)(x.bits ^ mask)};
    else if constexpr (sizeof(S) == 4) return mat_of_bits(mat_bits(x) ^ (uint32_t)mask);
    else return mask ? -x : x;
}

/* In a tree: what the first half gives, and what the second. */
struct mat_plus {
    template <class T> static INLINE T of(T a, T b) { return a + b; }
};
struct mat_product_of {
    template <class T> static INLINE T of(T a, T b) { return a * b; }
};
/* The larger of the two, or the first of two as large; a NaN if there is one. */
struct mat_larger {
    template <class T> static INLINE T of(T a, T x) { return (x > a) | (x != x) ? x : a; }
};

/* The same of numbers: a NaN only if there is nothing else. */
struct mat_larger_number {
    template <class T> static INLINE T of(T a, T x) { return (x > a) | (a != a) ? x : a; }
};

template <class Op, int N> struct mat_tree {
    template <class T> static INLINE T of(const T *t) {
        return Op::of(mat_tree<Op, N / 2>::of(t), mat_tree<Op, N - N / 2>::of(t + N / 2));
    }
};
template <class Op> struct mat_tree<Op, 1> {
    template <class T> static INLINE T of(const T *t) { return *t; }
};

template <class T> INLINE T mat_down(T x, int by, int width) {
    if constexpr (mat_kind<T>::of == MAT_COMPLEX)
        return {mat_down(x.re, by, width), mat_down(x.im, by, width)};
    else return __shfl_down_sync(0xffffffffu, x, by, width);
}

/* What a result needs at the end: its number of elements, and the numbers of the call. */
struct mat_end {
    int64_t reduced, divisor, accumulate, bytes;
    uint64_t mask;
    const double *numbers;
};

/* Totals. Sums begin as 0.0, like NumPy's, so that of -0.0 only it is 0.0. */
struct mat_total {
    double hi;
    static INLINE mat_total none() { return {0.0}; }
    INLINE void take(double x) { hi += x; }
    INLINE void take(mat_total other) { hi += other.hi; }
    INLINE mat_total down(int by, int width) const {
        return {mat_down(hi, by, width)};
    }
    INLINE double value() const { return hi; }
};

/* In hi what is also right of infinities, in lo its error. */
struct __align__(16) mat_total_double {
    double hi, lo;
    static INLINE mat_total_double none() { return {0.0, 0.0}; }
    INLINE void take(double x) {
        double sum = hi + x, part = sum - hi;
        lo += (hi - (sum - part)) + (x - part);
        hi = sum;
    }
    INLINE void take(mat_total_double other) {
        take(other.hi);
        lo += other.lo;
    }
    INLINE mat_total_double down(int by, int width) const {
        return {mat_down(hi, by, width), mat_down(lo, by, width)};
    }
    INLINE double value() const {
        return lo != 0 && fabs(lo) <= 1.7976931348623157e308 ? hi + lo : hi;
    }
};

template <class T> struct mat_totalled { typedef mat_total type; };
template <> struct mat_totalled<double> { typedef mat_total_double type; };

/* A product that is made one with no addition: of integers none is. */
template <class T> INLINE T mat_product(T a, T b) { return a * b; }

/* alpha * x + beta * y, rounded as often as in T; where beta is 0, y is not read. */
template <class Item> INLINE void mat_accumulate(Item *y, double x, const mat_end &end) {
    typedef mat_summed<Item> T;
    T total = (T)((T)x * (T)end.numbers[0]);
    if (end.numbers[2] != 0)
        total = (T)(total + mat_product((T)end.numbers[2], (T)mat_summand(*y)));
    *y = mat_element<Item>(total);
}

/* The sum of real elements, and their mean. */
template <class I> struct mat_sum {
    typedef I Item;
    typedef mat_summed<I> T;
    typedef typename mat_totalled<T>::type State;
    enum { WHOLE = 1 };
    static INLINE State none() { return State::none(); }
    template<int N, int V>
    static INLINE void add(State &s, const I *items, uint32_t, uint32_t, uint64_t) {
        T t[N];
#pragma unroll
        for (int j = 0; j < N; j++) t[j] = mat_summand(items[j]);
        s.take((double)mat_tree<mat_plus, N>::of(t));
    }
    static INLINE void join(State &a, State b) { a.take(b); }
    static INLINE State down(State s, int by, int width) { return s.down(by, width); }
    static INLINE void put(char *out, int64_t at, State s, const mat_end &end) {
        I *y = (I *)out + at;
        double value = s.value() / (double)end.divisor;
        if (end.accumulate) mat_accumulate(y, value, end);
        else *y = mat_element<I>(value);
    }
};

template <class T> struct mat_sum<mat_complex<T>> {
    typedef mat_complex<T> C;
    typedef C Item;
    typedef typename mat_totalled<T>::type Total;
    struct State { Total re, im; };
    enum { WHOLE = 1 };
    static INLINE State none() { return {Total::none(), Total::none()}; }
    template<int N, int V>
    static INLINE void add(State &s, const C *items, uint32_t, uint32_t, uint64_t) {
        T re[N], im[N];
#pragma unroll
        for (int j = 0; j < N; j++) re[j] = items[j].re, im[j] = items[j].im;
        s.re.take((double)mat_tree<mat_plus, N>::of(re));
        s.im.take((double)mat_tree<mat_plus, N>::of(im));
    }
    static INLINE void join(State &a, State b) { a.re.take(b.re), a.im.take(b.im); }
    static INLINE State down(State s, int by, int width) {
        return {s.re.down(by, width), s.im.down(by, width)};
    }
    static INLINE void put(char *out, int64_t at, State s, const mat_end &end) {
        C *y = (C *)out + at;
        T re = (T)(s.re.value() / (double)end.divisor);
        T im = (T)(s.im.value() / (double)end.divisor);
        C found = {re, im};
        if (end.accumulate) {
            const C beta = mat_number<C>(end.numbers + 2);
            found = mat_number<C>(end.numbers) * found;
            if (beta != 0) found = found + beta * *y;
        }
        *y = found;
    }
};

/* Integers: some small ones in 32 bits, and all in 64, which wrap. */
template <class I> using mat_block = typename mat_wrapping<sizeof(I) < 4 ? 4 : 8>::type;

INLINE void mat_store_bytes(char *y, int64_t at, uint64_t x, int64_t bytes) {
    if (bytes == 8) ((uint64_t *)y)[at] = x;
    else if (bytes == 4) ((uint32_t *)y)[at] = (uint32_t)x;
    else if (bytes == 2) ((uint16_t *)y)[at] = (uint16_t)x;
    else ((uint8_t *)y)[at] = (uint8_t)x;
}

template <class I> struct mat_sum_integer {
    typedef I Item;
    typedef mat_block<I> T;
    struct State { uint64_t total; };
    enum { WHOLE = 1 };
    static INLINE State none() { return {0}; }
    template<int N, int V>
    static INLINE void add(State &s, const I *items, uint32_t, uint32_t, uint64_t mask) {
        T t[N];
#pragma unroll
        for (int j = 0; j < N; j++) t[j] = (T)mat_turned(items[j], mask);
        s.total += (uint64_t)mat_tree<mat_plus, N>::of(t);
    }
    static INLINE void join(State &a, State b) { a.total += b.total; }
    static INLINE State down(State s, int by, int width) { return {mat_down(s.total, by, width)}; }
    static INLINE void put(char *out, int64_t at, State s, const mat_end &end) {
        uint64_t total = s.total - end.mask * (uint64_t)end.reduced;
        if (end.accumulate) {  /* alpha and beta are whole, and fit into an element */
            total *= (uint64_t)(int64_t)end.numbers[0];
            if (end.numbers[2] != 0)
                total += (uint64_t)(int64_t)end.numbers[2] * (uint64_t)((const I *)out)[at];
        }
        mat_store_bytes(out, at, total, end.bytes);
    }
};

/* The mean of integers. Those of 64 bits are added as doubles, like NumPy's; their mask is all ones
   where they are signed. */
INLINE double mat_as_double(uint64_t x, uint64_t mask) {
    return mask ? (double)(int64_t)x : (double)x;
}

template <class I> struct mat_mean_integer {
    typedef I Item;
    typedef mat_total_double State;
    enum { WHOLE = 1, LONG = sizeof(I) == 8 };
    static INLINE State none() { return State::none(); }
    template<int N, int V>
    static INLINE void add(State &s, const I *items, uint32_t, uint32_t, uint64_t mask) {
        if (LONG) {
            double t[N];
#pragma unroll
            for (int j = 0; j < N; j++) t[j] = mat_as_double(items[j], mask);
            s.take(mat_tree<mat_plus, N>::of(t));
        } else {
            mat_block<I> t[N];
#pragma unroll
            for (int j = 0; j < N; j++) t[j] = mat_turned(items[j], mask);
            s.take((double)mat_tree<mat_plus, N>::of(t));
        }
    }
    static INLINE void join(State &a, State b) { a.take(b); }
    static INLINE State down(State s, int by, int width) { return s.down(by, width); }
    static INLINE void put(char *out, int64_t at, State s, const mat_end &end) {
        if (!LONG && end.mask) s.take(-(double)end.mask * (double)end.reduced);
        ((double *)out)[at] = s.value() / (double)end.divisor;
    }
};

/* The variance of real elements: how many there are, the sum of their distances from `near`, the
   mean of the first ones, and that of the squares of these. So an offset of the elements costs no
   digits. What threads have is joined by the distance of their means (Chan, Golub, LeVeque 1983).
   A call says what to divide by less than the number of elements, and whether to take the root. */
struct __align__(16) mat_moments { double n, near, sum, squares; };

/* The squares of the distances from the mean: infinite where squares are too large, but not a
   number where an element is infinite. */
INLINE double mat_central(const mat_moments &s) {
    const double most = 1.7976931348623157e308;
    return fabs(s.squares) > most && fabs(s.sum) <= most ? s.squares
                                                         : s.squares - s.sum * (s.sum / s.n);
}

template <class I> struct mat_variance {
    typedef I Item;
    typedef mat_summed<I> T;
    typedef mat_moments State;
    enum { WHOLE = 1 };
    static INLINE State none() { return {0, 0, 0, 0}; }
    template<int N, int V>
    static INLINE void add(State &s, const I *items, uint32_t, uint32_t, uint64_t) {
        T t[N], squares[N];
        if (s.n == 0) {
            const T first = mat_summand(items[0]);
#pragma unroll
            for (int j = 0; j < N; j++) t[j] = mat_summand(items[j]) - first;
            s.near = (double)(T)(first + mat_tree<mat_plus, N>::of(t) / N);
        }
        const T near = (T)s.near;
#pragma unroll
        for (int j = 0; j < N; j++) {
            t[j] = mat_summand(items[j]) - near;
            squares[j] = t[j] * t[j];
        }
        s.n += N;
        s.sum += (double)mat_tree<mat_plus, N>::of(t);
        s.squares += (double)mat_tree<mat_plus, N>::of(squares);
    }
    static INLINE void join(State &a, const State &b) {
        if (b.n == 0) return;
        if (a.n == 0) {
            a = b;
            return;
        }
        const double n = a.n + b.n, low = a.sum / a.n, weight = b.n / n;
        const double apart = (b.near - a.near) + (b.sum / b.n - low);
        const double shift = low + apart * weight, near = a.near + shift;
        const double rest = (a.near - near) + shift;
        const double squares =
            mat_central(a) + mat_central(b) + apart * apart * (a.n * weight);
        a = {n, near, rest * n, squares + rest * rest * n};
    }
    static INLINE State down(const State &s, int by, int width) {
        return {mat_down(s.n, by, width), mat_down(s.near, by, width), mat_down(s.sum, by, width),
                mat_down(s.squares, by, width)};
    }
    static INLINE void put(char *out, int64_t at, const State &s, const mat_end &end) {
        const int64_t left = end.reduced - end.divisor;
        const double found = (s.n == 0 ? 0.0 : mat_central(s)) / (double)(left > 0 ? left : 0);
        ((I *)out)[at] = mat_element<I>(end.accumulate ? sqrt(found) : found);
    }
};

/* Products, in double: then those of floats are rounded once, and what is too large only on the way
   does no harm. */
template <class I> struct mat_doubled { typedef double type; };
template <class R> struct mat_doubled<mat_complex<R>> { typedef mat_c128 type; };

template <class I> struct mat_prod {
    typedef I Item;
    typedef typename mat_doubled<I>::type T;
    struct State { T total; };
    enum { WHOLE = 1 };
    static INLINE State none() { return {T(1)}; }
    template<int N, int V>
    static INLINE void add(State &s, const I *items, uint32_t, uint32_t, uint64_t) {
        T t[N];
#pragma unroll
        for (int j = 0; j < N; j++) t[j] = mat_convert<T>(items[j]);
        s.total = s.total * mat_tree<mat_product_of, N>::of(t);
    }
    static INLINE void join(State &a, State b) { a.total = a.total * b.total; }
    static INLINE State down(State s, int by, int width) { return {mat_down(s.total, by, width)}; }
    static INLINE void put(char *out, int64_t at, State s, const mat_end &) {
        ((I *)out)[at] = mat_element<I>(mat_convert<mat_computed<I>>(s.total));
    }
};

template <class I> struct mat_prod_integer {
    typedef I Item;
    struct State { uint64_t total; };
    enum { WHOLE = 1 };
    static INLINE State none() { return {1}; }
    template<int N, int V>
    static INLINE void add(State &s, const I *items, uint32_t, uint32_t, uint64_t mask) {
        uint64_t t[N];
#pragma unroll
        for (int j = 0; j < N; j++) t[j] = (uint64_t)mat_turned(items[j], mask) - (I)mask;
        s.total *= mat_tree<mat_product_of, N>::of(t);
    }
    static INLINE void join(State &a, State b) { a.total *= b.total; }
    static INLINE State down(State s, int by, int width) { return {mat_down(s.total, by, width)}; }
    static INLINE void put(char *out, int64_t at, State s, const mat_end &end) {
        mat_store_bytes(out, at, s.total, end.bytes);
    }
};

/* The largest element, of turned ones. There is one, so the state of nothing is only what all
   others displace. */
template <class I, class Of = mat_larger> struct mat_extreme {
    typedef I Item;
    typedef mat_summed<I> T;
    struct State { T value; int32_t some; };
    enum { WHOLE = 1 };
    static INLINE State none() { return {T(), 0}; }
    template<int N, int V>
    static INLINE void add(State &s, const I *items, uint32_t, uint32_t, uint64_t mask) {
        T t[N];
#pragma unroll
        for (int j = 0; j < N; j++) t[j] = mat_summand(mat_turned(items[j], mask));
        join(s, {mat_tree<Of, N>::of(t), 1});
    }
    static INLINE void join(State &a, State b) {
        if (b.some) a = {a.some ? Of::of(a.value, b.value) : b.value, 1};
    }
    static INLINE State down(State s, int by, int width) {
        return {mat_down(s.value, by, width), mat_down(s.some, by, width)};
    }
    static INLINE void put(char *out, int64_t at, State s, const mat_end &end) {
        ((I *)out)[at] = mat_turned(mat_element<I>(s.value), end.mask);
    }
};

template <class I> using mat_extreme_number = mat_extreme<I, mat_larger_number>;

/* A value and its number. */
template <class T> struct mat_best {
    T value;
    int64_t at;
};

/* The number of the first of the largest, of turned ones, or of what is not a number. */
template <class I> struct mat_place {
    typedef I Item;
    typedef mat_summed<I> T;
    typedef mat_best<T> State;
    enum { WHOLE = 0 };
    static INLINE State none() { return {T(), -1}; }
    static INLINE bool beats(T x, T a) { return (x > a) | ((x != x) & (a == a)); }
    template<int N, int V>
    static INLINE void add(State &s, const I *items, uint32_t first, uint32_t step, uint64_t mask) {
        T t[N];
#pragma unroll
        for (int j = 0; j < N; j++) t[j] = mat_summand(mat_turned(items[j], mask));
        T best = mat_tree<mat_larger, N>::of(t);
        if (s.at >= 0 && !beats(best, s.value)) return;
        uint32_t at = first;
#pragma unroll
        for (int j = N - 1; j >= 0; j--)
            if ((t[j] == best) | ((t[j] != t[j]) & (best != best)))
                at = first + j / V * step + j % V;
        s = {best, (int64_t)at};
    }
    static INLINE void join(State &a, State b) {
        if (b.at >= 0 &&
            (a.at < 0 || beats(b.value, a.value) || (!beats(a.value, b.value) && b.at < a.at)))
            a = b;
    }
    static INLINE State down(State s, int by, int width) {
        return {mat_down(s.value, by, width), mat_down(s.at, by, width)};
    }
    static INLINE void put(char *out, int64_t at, State s, const mat_end &) {
        ((int64_t *)out)[at] = s.at;
    }
};

/* Numbers of a part as those of the whole. */
template <class State> INLINE void mat_later(State &, int64_t) {}
template <class T> INLINE void mat_later(mat_best<T> &s, int64_t from) {
    if (s.at >= 0) s.at += from;
}

#endif
