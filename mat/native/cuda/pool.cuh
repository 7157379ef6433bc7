/* Pooling for the device: the largest of each window, a NaN if there is one; and its derivative. */
#ifndef MAT_POOL_CUH
#define MAT_POOL_CUH
#include "nn.cuh"

/* The least element of a type. */
template <class T> struct nn_least {
    static INLINE T value() { return T(-1) < T(0) ? T(T(1) << (8 * sizeof(T) - 1)) : T(0); }
};
template <> struct nn_least<float> {
    static INLINE float value() { return __int_as_float((int)0xff800000); }
};
template <> struct nn_least<double> {
    static INLINE double value() { return __longlong_as_double((long long)0xfff0000000000000); }
};

template <class T> INLINE T nn_larger(T a, T b) { return (a > b) | (a != a) ? a : b; }
template <class T> INLINE bool nn_same(T a, T b) { return (a == b) | ((a != a) & (b != b)); }

/* Read adjacent elements, in one access if they are aligned, else one by one; for those beyond the
   last, that one again. */
template <class T, int V> INLINE bool nn_packed(const T *at, int64_t left) {
    return left >= V && ((uint64_t)at & (V * sizeof(T) - 1)) == 0;
}

template <class T, int V> INLINE mat_pack<T, V> nn_load(const T *from, int64_t left) {
    if (nn_packed<T, V>(from, left))
        return *(const mat_pack<T, V> *)from;
    mat_pack<T, V> found;
#pragma unroll
    for (int k = 0; k < V; k++)
        found.at[k] = from[k < left ? k : left - 1];
    return found;
}

template <class T, int V> INLINE void nn_store(T *to, const mat_pack<T, V> &values, int64_t left) {
    if (nn_packed<T, V>(to, left)) {
        *(mat_pack<T, V> *)to = values;
        return;
    }
#pragma unroll
    for (int k = 0; k < V; k++)
        if (k < left)
            to[k] = values.at[k];
}

/* Windows of any kind, one in a thread: x, y. */
template <class T> INLINE void nn_pool(const nn_loop &frame, const mat_call &call) {
    typedef nn_order<T> A;
    const nn_axis &c = frame.axes[0], &r = frame.axes[1];
    nn_spot at = nn_spot_here(frame, 1);
    if (at.unit >= (uint32_t)frame.units || at.i >= (uint32_t)r.n || at.j >= (uint32_t)c.n)
        return;
    nn_range rows = nn_inside(r, at.i), columns = nn_inside(c, at.j);
    int64_t in_x, unused, row = at.i * r.step + r.off, column = at.j * c.step + c.off + columns.low;
    A found = nn_least<A>::value();
#pragma unroll 1
    for (uint32_t tap = 0; tap < (uint32_t)frame.taps; tap++)
        if (nn_outer_tap(frame, at.unit, tap, &in_x, &unused)) {
            const T *x =
                (const T *)call.at[0] + (in_x + row * r.strides[0] + column * c.strides[0]);
#pragma unroll 1
            for (int32_t p = rows.low; p < rows.high; p++) {
                const T *from = x + p * r.strides[0];
                for (int32_t q = columns.low; q < columns.high; q++, from += c.strides[0])
                    found = nn_larger(found, mat_plain(*from));
            }
        }
    T *y =
        (T *)call.at[1] + (nn_place<1>(frame, at.unit) + at.i * r.strides[1] + at.j * c.strides[1]);
    *y = mat_element<T>(found);
}

/* Windows that are pairs of adjacent elements: 16 bytes of x in a thread. */
template <class T> INLINE void nn_pool_pairs(const nn_loop &frame, const mat_call &call) {
    typedef nn_order<T> A;
    enum { V = 16 / sizeof(T), G = V / 2 };
    const nn_axis &c = frame.axes[0], &r = frame.axes[1];
    nn_spot at = nn_spot_here(frame, 1);
    int64_t in_x, unused, j = (int64_t)at.j * G, row = at.i * r.step + r.off;
    if (at.unit >= (uint32_t)frame.units || at.i >= (uint32_t)r.n || j >= c.n)
        return;
    nn_range rows = nn_inside(r, at.i);
    A found[G];
    mat_pack<T, G> result;
#pragma unroll
    for (int g = 0; g < G; g++)
        found[g] = nn_least<A>::value();
#pragma unroll 1
    for (uint32_t tap = 0; tap < (uint32_t)frame.taps; tap++)
        if (nn_outer_tap(frame, at.unit, tap, &in_x, &unused)) {
            const T *x = (const T *)call.at[0] + (in_x + row * r.strides[0] + 2 * j);
            for (int32_t p = rows.low; p < rows.high; p++) {
                mat_pack<T, V> values = nn_load<T, V>(x + p * r.strides[0], c.nx - 2 * j);
#pragma unroll
                for (int v = 0; v < V; v++)
                    found[v / 2] = nn_larger(found[v / 2], mat_plain(values.at[v]));
            }
        }
#pragma unroll
    for (int g = 0; g < G; g++)
        result.at[g] = mat_element<T>(found[g]);
    nn_store<T, G>((T *)call.at[1] + (nn_place<1>(frame, at.unit) + at.i * r.strides[1] + j),
                   result, c.n - j);
}

/* The derivative, one element of x in a thread: x, y, yd, xd. */
template <class T> INLINE void nn_pool_back(const nn_loop &frame, const mat_call &call) {
    typedef nn_order<T> A;
    typedef mat_summed<T> S;
    const nn_axis &c = frame.axes[0], &r = frame.axes[1];
    nn_spot at = nn_spot_here(frame, 1);
    if (at.unit >= (uint32_t)frame.units || at.i >= (uint32_t)r.nx || at.j >= (uint32_t)c.nx)
        return;
    nn_range rows = nn_around(r, at.i), columns = nn_around(c, at.j);
    int64_t in_y, in_yd, unused,
        in_x = nn_place<0>(frame, at.unit, true) + at.i * r.strides[0] + at.j * c.strides[0];
    A here = mat_plain(((const T *)call.at[0])[in_x]);
    S sum = 0;
#pragma unroll 1
    for (uint32_t tap = 0; tap < (uint32_t)frame.taps; tap++)
        if (nn_outer_point<1, 2>(frame, at.unit, tap, &in_y, &in_yd, &unused)) {
            const T *y = (const T *)call.at[1] + in_y, *yd = (const T *)call.at[2] + in_yd;
#pragma unroll 1
            for (int32_t i = rows.low; i < rows.high; i++)
                for (int32_t j = columns.low; j < columns.high; j++)
                    if (nn_same(here, mat_plain(y[i * r.strides[1] + j * c.strides[1]])))
                        sum += mat_summand(yd[i * r.strides[2] + j * c.strides[2]]);
        }
    nn_add((T *)call.at[3] +
               (nn_place<3>(frame, at.unit, true) + at.i * r.strides[3] + at.j * c.strides[3]),
           sum);
}

/* The same for pairs of adjacent elements: 16 bytes of x in a thread. */
template <class T> INLINE void nn_pool_pairs_back(const nn_loop &frame, const mat_call &call) {
    typedef nn_order<T> A;
    typedef mat_summed<T> S;
    enum { V = 16 / sizeof(T), G = V / 2 };
    const nn_axis &c = frame.axes[0], &r = frame.axes[1];
    nn_spot at = nn_spot_here(frame, 1);
    int64_t in_y, in_yd, unused, j = (int64_t)at.j * G, left = c.nx - 2 * j;
    if (at.unit >= (uint32_t)frame.units || at.i >= (uint32_t)r.nx || left <= 0)
        return;
    nn_range rows = nn_around(r, at.i);
    int64_t in_x = nn_place<0>(frame, at.unit, true) + at.i * r.strides[0] + 2 * j;
    T *xd = (T *)call.at[3] + (nn_place<3>(frame, at.unit, true) + at.i * r.strides[3] + 2 * j);
    mat_pack<T, V> here = nn_load<T, V>((const T *)call.at[0] + in_x, left),
                  sums = nn_load<T, V>(xd, left);
    S sum[V] = {};
#pragma unroll 1
    for (uint32_t tap = 0; tap < (uint32_t)frame.taps; tap++)
        if (nn_outer_point<1, 2>(frame, at.unit, tap, &in_y, &in_yd, &unused)) {
            const T *y = (const T *)call.at[1] + (in_y + j),
                    *yd = (const T *)call.at[2] + (in_yd + j);
            for (int32_t i = rows.low; i < rows.high; i++) {
                mat_pack<T, G> largest = nn_load<T, G>(y + i * r.strides[1], c.n - j);
                mat_pack<T, G> grown = nn_load<T, G>(yd + i * r.strides[2], c.n - j);
#pragma unroll
                for (int v = 0; v < V; v++)
                    if (nn_same(mat_plain(here.at[v]), mat_plain(largest.at[v / 2])))
                        sum[v] += mat_summand(grown.at[v / 2]);
            }
        }
#pragma unroll
    for (int v = 0; v < V; v++)
        nn_add(sums.at + v, sum[v]);
    nn_store<T, V>(xd, sums, left);
}

#endif
