"""Results of convolution of images with channels, point by point, and samples.

It knows nothing of `mat` but the classes of sizes; ``cases.py`` has it in its table.
"""

import numpy as np

from mat.layout.sliding_window import Channels, WindowAxis

from .case import reordered
from .cases_nn import REAL, narrow, spread, wide
from .layouts import numbers


def meetings(x, w, sizes=None, **settings):
    """Yield, for arrays x and w, wherever a tap of a point is inside: indices of the channels of a
    group in x, of its outputs with the tap in w, and of its outputs at the point in y.
    """
    sizes = sizes_of(x.shape, w.shape, **settings) if sizes is None else sizes
    outputs, channels, axes = sizes.outputs, sizes.channels, sizes.axes
    for point in np.ndindex(*(a.n for a in axes)):
        for tap in np.ndindex(*(a.k for a in axes)):
            place = [i * a.step + p * a.dilation + a.off
                     for a, i, p in zip(axes, point, tap, strict=True)]
            if all(0 <= k < a.nx for k, a in zip(place, axes, strict=True)):
                for g in range(sizes.groups):
                    of = slice(g * outputs, (g + 1) * outputs)
                    yield ((slice(None), slice(g * channels, (g + 1) * channels), *place),
                           (of, slice(None), *tap), (slice(None), of, *point))


def sizes_of(x, w, stride=None, padding=None, dilation=None, groups=1):
    """Return the sizes for shapes of x and w."""
    settings = (spread(v, d, len(x) - 2) for v, d in ((stride, 1), (padding, 0), (dilation, 1)))
    axes = tuple(WindowAxis(len(range(0, n + 2 * pad - d * (k - 1), step)), n, k, step, -pad, d)
                 for n, k, step, pad, d in zip(x[2:], w[2:], *settings, strict=True))
    return Channels(x[0], groups, w[1], w[0] // groups, axes)


def output_shape(x, w, **settings):
    """Return the shape of the result for shapes of x and w."""
    return (x[0], w[0], *(a.n for a in sizes_of(x, w, **settings).axes))


def convolution(x, w, y, **settings):
    sums, x, w = wide(0 * y), wide(x), wide(w)
    for seen, of, point in meetings(x, w, **settings):
        sums[point] += x[seen] @ w[of].T
    return narrow(sums, y.dtype)


def to_x(yd, w, xd, **settings):
    sums, w, yd = wide(xd), wide(w), wide(yd)
    for seen, of, point in meetings(xd, w, **settings):
        sums[seen] += yd[point] @ w[of]
    return narrow(sums, xd.dtype)


def to_w(x, yd, wd, **settings):
    sums, x, yd = wide(wd), wide(x), wide(yd)
    for seen, of, point in meetings(x, wd, **settings):
        sums[of] += yd[point].T @ x[seen]
    return narrow(sums, wd.dtype)


# Samples: the shapes of x and w, settings

SHAPES = (
    ((2, 3, 7), (4, 3, 3), {"padding": 1}),
    ((3, 4, 9), (6, 2, 2), {"stride": 2, "dilation": 3, "groups": 2}),
    ((2, 3, 5, 6), (7, 3, 3, 3), {"padding": 1}),
    ((1, 2, 6, 9), (3, 2, 3, 2), {"stride": (2, 3), "padding": (0, 1)}),
    ((2, 4, 6, 5), (4, 1, 3, 3), {"padding": 2, "dilation": 2, "groups": 4}),
    ((2, 6, 4, 5), (3, 2, 1, 1), {"groups": 3, "stride": 2}),
    ((2, 1, 7, 7), (2, 1, 5, 4), {"stride": (4, 2), "padding": (2, 3), "dilation": (2, 3)}),
    ((1, 2, 3, 4, 5), (2, 2, 2, 3, 2), {"padding": (1, 0, 1), "stride": (1, 1, 2)}),
    ((0, 2, 4), (3, 2, 3), {}),
    ((2, 0, 4), (3, 0, 3), {}),
    ((2, 2, 4), (0, 2, 3), {}),
)


def samples(rng, dtype):
    """Yield x, w, y and sizes."""
    for x, w, settings in SHAPES:
        yield (numbers(rng, x, dtype), numbers(rng, w, dtype),
               numbers(rng, output_shape(x, w, **settings), dtype),
               {"sizes": sizes_of(x, w, **settings)})


forwards, to_xs, to_ws = (reordered(samples, *order) for order in ((0, 1, 2), (2, 1, 0), (0, 2, 1)))


CONV_CASES = {
    "conv.correlation": (forwards, convolution, REAL),
    "conv.correlation_to_x": (to_xs, to_x, REAL),
    "conv.correlation_to_w": (to_ws, to_w, REAL),
}
