"""Results of convolution and pooling of images with channels, point by point, and samples.

It knows nothing of `mat`; ``cases.py`` has it in its table.
"""

import numpy as np

from .case import reordered
from .cases_nn import REAL, narrow, spread, wide
from .layouts import numbers


def meetings(x, w, stride=None, padding=None, dilation=None, groups=1):
    """Yield, for arrays x and w, wherever a tap of a point is inside: indices of the channels of a
    group in x, of its outputs with the tap in w, and of its outputs at the point in y.
    """
    space = x.shape[2:]
    steps, spaces = spread(stride, 1, len(space)), spread(dilation, 1, len(space))
    pads = spread(padding, 0, len(space))
    outputs, channels = w.shape[0] // groups, w.shape[1]
    for point in np.ndindex(*output_shape(x.shape, w.shape, stride, padding, dilation)[2:]):
        for tap in np.ndindex(*w.shape[2:]):
            place = [i * s + p * d - a
                     for i, s, p, d, a in zip(point, steps, tap, spaces, pads, strict=True)]
            if all(0 <= k < n for k, n in zip(place, space, strict=True)):
                for g in range(groups):
                    of = slice(g * outputs, (g + 1) * outputs)
                    yield ((slice(None), slice(g * channels, (g + 1) * channels), *place),
                           (of, slice(None), *tap), (slice(None), of, *point))


def output_shape(x, w, stride=None, padding=None, dilation=None, groups=1):
    """Return the shape of the result for shapes of x and w."""
    count = len(x) - 2
    points = [len(range(0, n + 2 * a - d * (k - 1), s)) for n, k, s, a, d
              in zip(x[2:], w[2:], spread(stride, 1, count), spread(padding, 0, count),
                     spread(dilation, 1, count), strict=True)]
    return (x[0], w[0], *points)


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
    """Yield x, w, y and settings."""
    for x, w, settings in SHAPES:
        yield (numbers(rng, x, dtype), numbers(rng, w, dtype),
               numbers(rng, output_shape(x, w, **settings), dtype), settings)


forwards, to_xs, to_ws = (reordered(samples, *order) for order in ((0, 1, 2), (2, 1, 0), (0, 2, 1)))


# Pooling: x, y, and windows as weights of one channel


def windows(shape, window, stride=None, padding=None):
    """Yield (point, tap, position), with slices for images and channels."""
    one = np.empty((1, 1, *shape[2:])), np.empty((1, 1, *window))
    stride = window if stride is None else stride
    for seen, of, point in meetings(*one, stride, padding):
        yield (..., *point[2:]), of[2:], (..., *seen[2:])


def largest(x, y, *, window, **settings):
    found = {}
    for point, _, place in windows(x.shape, window, **settings):
        found.setdefault(point, []).append(x[place])
    y = np.zeros_like(y)
    for point, values in found.items():
        y[point] = np.max(values, axis=0)
    return y


def largest_back(x, y, yd, xd, *, window, **settings):
    sums = wide(xd)
    for point, _, place in windows(x.shape, window, **settings):
        equal = (x[place] == y[point]) | ((x[place] != x[place]) & (y[point] != y[point]))
        sums[place] += np.where(equal, yd[point], 0).astype(sums.dtype)
    return narrow(sums, xd.dtype)


def weighted(x, w, y, **settings):
    sums, x, w = wide(y), wide(x), wide(w)
    for point, tap, place in windows(x.shape, w.shape, **settings):
        sums[point] += w[tap] * x[place]
    return narrow(sums, y.dtype)


def weighted_back(yd, w, xd, **settings):
    sums, w, yd = wide(xd), wide(w), wide(yd)
    for point, tap, place in windows(xd.shape, w.shape, **settings):
        sums[place] += w[tap] * yd[point]
    return narrow(sums, xd.dtype)


POOLS = (
    ((2, 3, 7), (3,), {"stride": 2, "padding": 1}), ((2, 3, 6, 5), (2, 2), {}),
    ((1, 2, 7, 8), (3, 2), {"stride": (2, 3), "padding": (1, 0)}),
    ((2, 1, 4, 3, 5), (2, 1, 3), {"stride": 1, "padding": (1, 0, 1)}), ((0, 2, 4), (2,), {}),
)


def pool_samples(rng, dtype):
    """Yield x, y, the window and settings."""
    for shape, window, settings in POOLS:
        outer = output_shape(shape, (shape[1], 1, *window),
                             **{"stride": window, **settings})
        x = np.round(numbers(rng, shape, dtype)).astype(dtype)  # with ties
        yield x, numbers(rng, outer, dtype), window, settings


def pools(rng, dtype):
    for x, y, window, settings in pool_samples(rng, dtype):
        yield (x, y), {"window": window, **settings}


def pool_backs(rng, dtype):
    for x, y, window, settings in pool_samples(rng, dtype):
        settings = {"window": window, **settings}
        yield (x, largest(x, y, **settings), y, numbers(rng, x.shape, dtype)), settings


def averages(rng, dtype):
    for x, y, window, settings in pool_samples(rng, dtype):
        yield (x, numbers(rng, window, dtype), y), {"stride": window, **settings}


def average_backs(rng, dtype):
    for (x, w, y), settings in averages(rng, dtype):
        yield (y, w, x), settings


CONV_CASES = {
    "channel_pooling.largest": (pools, largest, REAL),
    "channel_pooling.largest_back": (pool_backs, largest_back, REAL),
    "channel_pooling.weighted": (averages, weighted, REAL),
    "channel_pooling.weighted_back": (average_backs, weighted_back, REAL),
    "conv.correlation": (forwards, convolution, REAL),
    "conv.correlation_to_x": (to_xs, to_x, REAL),
    "conv.correlation_to_w": (to_ws, to_w, REAL),
}
