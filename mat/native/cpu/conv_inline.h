/* Convolution of images with channels, for elements of type T; included once for each. Parameters:
   those of row_inline.h. */
#include "conv_tile_inline.h"

/* Sums of m outputs at v vectors of points over `count` taps: begun with 0, or continued. */
INLINE void NAME(dot_tile)(T *RESTRICT to, int64_t width, const T *RESTRICT x,
                           const int64_t *RESTRICT at, const T *RESTRICT w, int64_t count,
                           int begin, const int m, const int v) {
    NAME(vector) sum[6][8];
#pragma GCC unroll 6
    for (int i = 0; i < m; i++)
#pragma GCC unroll 8
        for (int j = 0; j < v; j++)
            sum[i][j] = begin ? (NAME(vector)){0} : (NAME(vector))LOAD(to + i * width + j * LANES);
    for (int64_t k = 0; k < count; k++, w += m) {
        const T *from = x + at[k];
        NAME(vector) seen[8];
#pragma GCC unroll 8
        for (int j = 0; j < v; j++)
            seen[j] = LOAD(from + j * LANES);
#pragma GCC unroll 6
        for (int i = 0; i < m; i++) {
            T tap = w[i];
#pragma GCC unroll 8
            for (int j = 0; j < v; j++)
                sum[i][j] += seen[j] * tap;
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < m; i++)
#pragma GCC unroll 8
        for (int j = 0; j < v; j++)
            STORE(to + i * width + j * LANES, sum[i][j]);
}

/* The same for `wide` points, as many as can be at once. */
INLINE void NAME(dot_panel)(T *to, int64_t width, int64_t wide, const T *x, const int64_t *at,
                            const T *w, int64_t count, int begin, const int m) {
    const int v = m == 1 ? 8 : m < 4 ? 4 : 2;
    int64_t q = 0;
    for (; q + v * LANES <= wide; q += v * LANES)
        NAME(dot_tile)(to + q, width, x + q, at, w, count, begin, m, v);
    if (v == 8 && q + 4 * LANES <= wide) {
        NAME(dot_tile)(to + q, width, x + q, at, w, count, begin, m, 4);
        q += 4 * LANES;
    }
    if (v > 2 && q + 2 * LANES <= wide) {
        NAME(dot_tile)(to + q, width, x + q, at, w, count, begin, m, 2);
        q += 2 * LANES;
    }
    if (q < wide)
        NAME(dot_tile)(to + q, width, x + q, at, w, count, begin, m, 1);
}

INLINE void NAME(dot_any)(T *to, int64_t width, int64_t wide, const T *x, const int64_t *at,
                          const T *w, int64_t count, int begin, int64_t m) {
    switch (m) {
    case 1:
        NAME(dot_panel)(to, width, wide, x, at, w, count, begin, 1);
        break;
    case 2:
        NAME(dot_panel)(to, width, wide, x, at, w, count, begin, 2);
        break;
    case 3:
        NAME(dot_panel)(to, width, wide, x, at, w, count, begin, 3);
        break;
    case 4:
        NAME(dot_panel)(to, width, wide, x, at, w, count, begin, 4);
        break;
    case 5:
        NAME(dot_panel)(to, width, wide, x, at, w, count, begin, 5);
        break;
    default:
        NAME(dot_panel)(to, width, wide, x, at, w, count, begin, 6);
    }
}

/* The sums of panels `low` to `high` for all points of a tile. packed: of the group. */
INLINE void NAME(dot_block)(T *sums, const struct mat_conv *f, const T *buffer, const T *packed,
                            int64_t low, int64_t high) {
    int64_t begin = panel_start(f, low), wide = (f->outputs == 1 ? 16 : 4) * LANES;
    for (int64_t k = 0; k < f->count; k += f->depth)
        for (int64_t q = 0; q < f->width; q += wide)
            for (int64_t panel = low; panel < high; panel++) {
                int64_t o = panel_start(f, panel), m = panel_start(f, panel + 1) - o;
                NAME(dot_any)(sums + (o - begin) * f->width + q, f->width,
                              least(wide, f->width - q), buffer + q, f->at + k,
                              packed + o * f->count + k * m, least(f->depth, f->count - k), k == 0,
                              m);
            }
}

/* Add a row of sums to y, or write it. */
INLINE void NAME(put_row)(T *RESTRICT y, const T *RESTRICT sums, int64_t stride, int64_t count,
                          int64_t add) {
    int64_t j = 0;
    if (stride == 1 && add)
        for (; j + LANES <= count; j += LANES)
            STORE(y + j, LOAD(y + j) + LOAD(sums + j));
    if (stride == 1 && !add)
        for (; j + LANES <= count; j += LANES)
            STORE(y + j, LOAD(sums + j));
    for (; j < count; j++)
        y[j * stride] = add ? y[j * stride] + sums[j] : sums[j];
}

/* The points of one output in a tile. */
INLINE void NAME(put)(T *y, const T *sums, const struct mat_conv *f, const struct cut *c) {
    const struct mat_conv_axis *a = f->axes;
    int64_t n[3];
    for (int k = 0; k < 3; k++) {
        n[k] = points_of(f, c, k);
        y += start_of(f, c, k) * a[k].y;
    }
    for (int64_t image = 0; image < c->images; image++)
        for (int64_t i = 0; i < n[0]; i++)
            for (int64_t j = 0; j < n[1]; j++)
                NAME(put_row)(y + (c->first + image) * f->y_image + i * a[0].y + j * a[1].y,
                              sums + image * f->image + i * a[0].pitch + j * a[1].pitch, a[2].y,
                              n[2], f->add);
}

/* The sums of one output again, without the elements outside: weights are not finite, and their
   products with 0 are NaN. */
INLINE void NAME(dot_plainly)(T *sums, const struct mat_conv *f, const struct cut *c, const T *x,
                              const T *w) {
    int64_t n[3], at[3];
    for (int k = 0; k < 3; k++)
        n[k] = points_of(f, c, k);
    for (int64_t q = 0; q < c->images * n[0] * n[1] * n[2]; q++) {
        int64_t inner[3] = {q / n[2] / n[1] % n[0], q / n[2] % n[1], q % n[2]},
                image = q / n[2] / n[1] / n[0], to = image * f->image;
        T sum = 0;
        for (int k = 0; k < 3; k++) {
            at[k] = start_of(f, c, k) + inner[k];
            to += inner[k] * f->axes[k].pitch;
        }
        for (int64_t k = 0; k < f->count; k++) {
            const T *seen = NAME(seen)(f, x, c->first + image, at, f->taps + k);
            if (seen)
                sum += *seen * w[f->taps[k].w];
        }
        sums[to] = sum;
    }
}

INLINE void NAME(conv_unit)(const struct mat_conv *f, char *const *operands, T *memory,
                            int64_t unit) {
    int64_t g = unit / f->blocks % f->groups, low = unit % f->blocks * f->block,
            high = least(f->panels, low + f->block), first = panel_start(f, low);
    struct cut c = cut_of(f, unit / f->blocks / f->groups);
    const T *x = (const T *)operands[0] + f->x_base + g * f->channels * f->x_channel,
            *packed = (const T *)operands[2],
            *zeros = packed + f->groups * f->outputs * f->count + g * f->panels;
    T *sums = memory + f->channels * f->plane + f->behind;
    NAME(fill_tile)(memory, f, &c, x, f->channels);
    NAME(dot_block)(sums, f, memory, packed + g * f->outputs * f->count, low, high);
    for (int64_t panel = low; panel < high; panel++)
        for (int64_t o = panel_start(f, panel); o < panel_start(f, panel + 1); o++) {
            T *row = sums + (o - first) * f->width;
            if (zeros[panel] != 0)
                NAME(dot_plainly)(row, f, &c, x,
                                  (const T *)operands[1] + g * f->w_group + o * f->w_output);
            NAME(put)((T *)operands[3] + f->y_base + (g * f->outputs + o) * f->y_channel, row, f,
                      &c);
        }
}

MAT_CLONES void NAME(mat_conv)(const void *frame, char *const *operands, const double *numbers,
                               double *result, int64_t start, int64_t stop) {
    const struct mat_conv *f = frame;
    T *memory = (T *)(operands[4] + start * f->room);
    int64_t end = share_of(f->units, f->slots, stop);
    for (int64_t unit = share_of(f->units, f->slots, start); unit < end; unit++)
        NAME(conv_unit)(f, operands, memory, unit);
}

MAT_CLONES void NAME(mat_conv_pack)(const void *frame, char *const *operands, const double *numbers,
                                    double *result, int64_t start, int64_t stop) {
    const struct mat_conv *f = frame;
    T *zeros = (T *)operands[1] + f->groups * f->outputs * f->count;
    for (int64_t unit = start; unit < stop; unit++) {
        int64_t g = unit / f->panels, low = panel_start(f, unit % f->panels),
                high = panel_start(f, unit % f->panels + 1);
        const T *w = (const T *)operands[0] + g * f->w_group;
        T *to = (T *)operands[1] + (g * f->outputs + low) * f->count, zero = 0;
        for (int64_t k = 0; k < f->count; k++)
            for (int64_t o = low; o < high; o++) {
                *to = w[o * f->w_output + f->taps[k].w];
                zero += *to++ * 0;
            }
        zeros[unit] = zero;
    }
}
