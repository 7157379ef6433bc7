/* Convolution of images with channels. mat_kernel is declared by call.h, which comes first.

   The input is copied in tiles into a buffer with zeros around it, where each axis is divided by
   its position modulo the step. The points of the output are then adjacent elements of the buffer
   for each tap, whatever the step: point q of tap k is element `at[k] + q`. Between the rows of
   points there are some that are none. There are three spatial axes: missing ones come first, with
   one position.

   A group has `outputs`, divided into `panels` that are as equal as can be, and `count` taps, each
   of one of its `channels`. A unit of work is some panels, or for the derivative by the weights
   some channels, of a group in a tile; kernels are called for `slots`, equal ranges of the units,
   and the memory that one call needs is that of its first slot. */
struct mat_conv_axis {
    int64_t n, nx, step, off; /* points, positions, and the position of tap 0 of point 0 */
    int64_t span, pitch;      /* elements of the buffer along it, and their distance */
    int64_t x, y;             /* strides of the operands */
};
struct mat_conv_tap {
    int64_t w;        /* its weight, from the first one of an output */
    int64_t channel;  /* of the group */
    int64_t place[3]; /* its distance from tap 0 in the input */
};
struct mat_conv {
    int64_t images, groups, outputs, panels, channels, count;
    int64_t block, blocks;     /* panels or channels of a unit; units of a group in a tile */
    int64_t lead, rows, cuts;  /* the axis that is cut into tiles of so many points; how many */
    int64_t together, bundles; /* images of a tile; how many tiles they need */
    int64_t phases, image, plane; /* elements of the buffer for an image, and a channel */
    int64_t behind;            /* zeros behind the buffer */
    int64_t width;             /* points of a tile, rounded up to vectors */
    int64_t depth;             /* taps that are used at once */
    int64_t slots, units, room; /* bytes of a slot */
    int64_t add;               /* whether the result is added */
    int64_t pieces;            /* parts of the tiles that have sums of their own */
    int64_t x_base, y_base;    /* where the operands begin */
    int64_t x_image, x_channel, y_image, y_channel, w_output, w_group;
    struct mat_conv_axis axes[3];
    int64_t *phase; /* for each, its number along the three axes */
    int64_t *at;
    struct mat_conv_tap *taps;
};

/* w, packed: the weights in the order in which they are used, and then 0 for each panel, or NaN if
   one of them is not finite; units are panels of all groups */
mat_kernel mat_conv_pack_f, mat_conv_pack_d;
/* x, w, packed, y, memory: y = the convolution, or y += it */
mat_kernel mat_conv_f, mat_conv_d;
/* x, yd, partial, memory: for each piece its own sums over x yd, added to doubles */
mat_kernel mat_conv_to_w_f, mat_conv_to_w_d;
