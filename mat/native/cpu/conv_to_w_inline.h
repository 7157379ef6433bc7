/* The derivative of a convolution of images with channels by its weights, for elements of type T;
   after conv_inline.h. */

/* Sums over `width` points, of m outputs by n taps, added to partial sums. */
INLINE void NAME(correlate_tile)(double *partial, int64_t stride, const T *RESTRICT yd,
                                 int64_t width, const T *RESTRICT x, const int64_t *RESTRICT at,
                                 const int m, const int n) {
    NAME(vector) sum[3][9] = {{{0}}};
    for (int64_t q = 0; q < width; q += LANES) {
        NAME(vector) d[3];
#pragma GCC unroll 3
        for (int i = 0; i < m; i++)
            d[i] = LOAD(yd + i * width + q);
#pragma GCC unroll 9
        for (int k = 0; k < n; k++) {
            NAME(vector) seen = LOAD(x + at[k] + q);
#pragma GCC unroll 3
            for (int i = 0; i < m; i++)
                sum[i][k] += d[i] * seen;
        }
    }
#pragma GCC unroll 3
    for (int i = 0; i < m; i++)
#pragma GCC unroll 9
        for (int k = 0; k < n; k++) {
            T each[LANES];
            STORE(each, sum[i][k]);
#pragma GCC unroll 4
            for (int by = LANES / 2; by; by /= 2)
                for (int v = 0; v < by; v++)
                    each[v] += each[v + by];
            partial[i * stride + k] += each[0];
        }
}

/* One to three outputs by some taps. */
INLINE void NAME(correlate_few)(double *partial, int64_t stride, const T *yd, int64_t width,
                                const T *x, const int64_t *at, int64_t count, const int m) {
    const int n = m == 1 ? 9 : m == 2 ? 6 : 4;
    int64_t k = 0;
    for (; k + n <= count; k += n)
        NAME(correlate_tile)(partial + k, stride, yd, width, x, at + k, m, n);
    for (; k + 3 <= count; k += 3)
        NAME(correlate_tile)(partial + k, stride, yd, width, x, at + k, m, 3);
    for (; k < count; k++)
        NAME(correlate_tile)(partial + k, stride, yd, width, x, at + k, m, 1);
}

/* The points of one output in a tile, as far apart as in the buffer of the input, with zeros
   between them. */
INLINE void NAME(take)(T *to, const struct mat_conv *f, const struct cut *c, const T *yd) {
    const struct mat_conv_axis *a = f->axes;
    int64_t n[3];
    for (int k = 0; k < 3; k++) {
        n[k] = points_of(f, c, k);
        yd += start_of(f, c, k) * a[k].y;
    }
    NAME(clear)(to, f->width);
    for (int64_t image = 0; image < c->images; image++)
        for (int64_t i = 0; i < n[0]; i++)
            for (int64_t j = 0; j < n[1]; j++)
                NAME(part)(to + image * f->image + i * a[0].pitch + j * a[1].pitch,
                           yd + (c->first + image) * f->y_image + i * a[0].y + j * a[1].y, n[2],
                           a[2].y, 0, 1, n[2]);
}

/* One tap for one output over some tiles, of the elements inside only. */
INLINE double NAME(correlate_plainly)(const struct mat_conv *f, const T *x, const T *yd,
                                      int64_t tap, int64_t tile, int64_t end) {
    double sum = 0;
    for (; tile < end; tile++) {
        struct cut c = cut_of(f, tile);
        int64_t n[3] = {points_of(f, &c, 0), points_of(f, &c, 1), points_of(f, &c, 2)};
        for (int64_t q = 0; q < c.images * n[0] * n[1] * n[2]; q++) {
            int64_t image = c.first + q / n[2] / n[1] / n[0],
                    at[3] = {start_of(f, &c, 0) + q / n[2] / n[1] % n[0],
                             start_of(f, &c, 1) + q / n[2] % n[1], start_of(f, &c, 2) + q % n[2]},
                    place = image * f->y_image;
            const T *seen = NAME(seen)(f, x, image, at, f->taps + tap);
            for (int k = 0; k < 3; k++)
                place += at[k] * f->axes[k].y;
            if (seen)
                sum += (double)*seen * yd[place];
        }
    }
    return sum;
}

/* Units are pieces of the tiles, and in them blocks of the channels of groups; each has sums of
   its own. */
INLINE void NAME(to_w_unit)(const struct mat_conv *f, char *const *operands, T *memory,
                            int64_t unit) {
    int64_t g = unit / f->blocks % f->groups, low = unit % f->blocks * f->block,
            some = least(f->block, f->channels - low), each = f->count / f->channels,
            piece = unit / f->blocks / f->groups, tiles = f->bundles * f->cuts,
            begin = share_of(tiles, f->pieces, piece), end = share_of(tiles, f->pieces, piece + 1);
    const T *x = (const T *)operands[0] + g * f->channels * f->x_channel,
            *yd = (const T *)operands[1] + g * f->outputs * f->y_channel;
    double *partial = (double *)operands[2] +
                      (piece * f->groups + g) * f->outputs * f->count + low * each;
    T *points = memory + f->block * f->plane + f->behind;
    for (int64_t tile = begin; tile < end; tile++) {
        struct cut c = cut_of(f, tile);
        NAME(fill_tile)(memory, f, &c, x + low * f->x_channel, some);
        for (int64_t o = 0, m; o < f->outputs; o += m) {
            m = least(3, f->outputs - o);
            for (int64_t i = 0; i < m; i++)
                NAME(take)(points + i * f->width, f, &c, yd + (o + i) * f->y_channel);
            double *to = partial + o * f->count;
            if (m == 3)
                NAME(correlate_few)(to, f->count, points, f->width, memory, f->at, some * each, 3);
            else if (m == 2)
                NAME(correlate_few)(to, f->count, points, f->width, memory, f->at, some * each, 2);
            else
                NAME(correlate_few)(to, f->count, points, f->width, memory, f->at, some * each, 1);
        }
    }
    for (int64_t o = 0; o < f->outputs; o++)
        for (int64_t k = 0; k < some * each; k++)
            if (partial[o * f->count + k] - partial[o * f->count + k] != 0)
                partial[o * f->count + k] = NAME(correlate_plainly)(
                    f, x, yd + o * f->y_channel, low * each + k, begin, end);
}

MAT_CLONES void NAME(mat_conv_to_w)(const void *frame, char *const *operands, const double *numbers,
                                    double *result, int64_t start, int64_t stop) {
    const struct mat_conv *f = frame;
    T *memory = (T *)(operands[3] + start * f->room);
    int64_t end = share_of(f->units, f->slots, stop);
    for (int64_t unit = share_of(f->units, f->slots, start); unit < end; unit++)
        NAME(to_w_unit)(f, operands, memory, unit);
}

#undef LOAD
#undef STORE
