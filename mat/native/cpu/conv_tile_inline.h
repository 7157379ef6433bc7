/* Convolution of images with channels: the tile of a unit, and its copy in the buffer. For
   conv_inline.h, with its parameters. */
#include "row_inline.h"
#include "window_inline.h"

#ifndef MAT_CONV_TILE
#define MAT_CONV_TILE
/* Images and points of the leading axis: the first one, and how many. */
struct cut {
    int64_t first, images, start, rows;
};

INLINE struct cut cut_of(const struct mat_conv *f, int64_t tile) {
    struct cut c;
    c.first = tile / f->cuts * f->together;
    c.images = least(f->together, f->images - c.first);
    c.start = tile % f->cuts * f->rows;
    c.rows = least(f->rows, f->axes[f->lead].n - c.start);
    return c;
}

/* The first point of an axis in a tile, and how many there are. */
INLINE int64_t start_of(const struct mat_conv *f, const struct cut *c, int axis) {
    return axis == f->lead ? c->start : 0;
}

INLINE int64_t points_of(const struct mat_conv *f, const struct cut *c, int axis) {
    return axis == f->lead ? c->rows : f->axes[axis].n;
}

/* The first output of a panel; that of the next one is where it ends. */
INLINE int64_t panel_start(const struct mat_conv *f, int64_t panel) {
    return panel * (f->outputs / f->panels) + least(panel, f->outputs % f->panels);
}

/* The first unit of a slot, or of the last of several equal parts. */
INLINE int64_t share_of(int64_t units, int64_t parts, int64_t part) {
    return units / parts * part + least(part, units % parts);
}
#endif

/* One phase of one channel of one image; x is NULL for zeros. */
INLINE void NAME(fill_phase)(T *to, const struct mat_conv *f, const struct cut *c, const T *x,
                             const int64_t *phase) {
    const struct mat_conv_axis *a = f->axes;
    int64_t first[3];
    for (int k = 0; k < 3; k++)
        first[k] = start_of(f, c, k) * a[k].step + a[k].off + phase[k];
    for (int64_t i = 0; i < a[0].span; i++)
        for (int64_t j = 0; j < a[1].span; j++, to += a[2].span) {
            int64_t p = first[0] + i * a[0].step, q = first[1] + j * a[1].step;
            if (!x || p < 0 || p >= a[0].nx || q < 0 || q >= a[1].nx)
                NAME(clear)(to, a[2].span);
            else
                NAME(part)(to, x + p * a[0].x + q * a[1].x, a[2].nx, a[2].x, first[2], a[2].step,
                           a[2].span);
        }
}

/* The input of a tile, of `count` channels from x on. */
INLINE void NAME(fill_tile)(T *to, const struct mat_conv *f, const struct cut *c, const T *x,
                            int64_t count) {
    int64_t filled = f->phases * f->together * f->image;
    for (int64_t channel = 0; channel < count; channel++, x += f->x_channel) {
        for (int64_t phase = 0; phase < f->phases; phase++)
            for (int64_t k = 0; k < f->together; k++, to += f->image)
                NAME(fill_phase)(to, f, c, k < c->images ? x + (c->first + k) * f->x_image : NULL,
                                 f->phase + 3 * phase);
        NAME(clear)(to, f->plane - filled);
        to += f->plane - filled;
    }
    NAME(clear)(to, f->behind);
}

/* The element of tap k for a point, or 0 if it is outside: NULL. x: of the group. */
INLINE const T *NAME(seen)(const struct mat_conv *f, const T *x, int64_t image,
                           const int64_t *point, const struct mat_conv_tap *tap) {
    x += image * f->x_image + tap->channel * f->x_channel;
    for (int k = 0; k < 3; k++) {
        const struct mat_conv_axis *a = f->axes + k;
        int64_t place = point[k] * a->step + a->off + tap->place[k];
        if (place < 0 || place >= a->nx)
            return NULL;
        x += place * a->x;
    }
    return x;
}
