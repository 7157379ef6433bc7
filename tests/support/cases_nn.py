"""Results of convolution and pooling, point by point and tap by tap, and samples for them.

It knows nothing of `mat`; ``cases.py`` has it in its table.
"""

from collections.abc import Iterator

import numpy as np

from .case import reordered
from .layouts import FLOATS, INTEGERS, numbers

REAL = (*INTEGERS, *FLOATS)


def spread(value, default, count):
    """Return a setting for each axis."""
    if value is None or isinstance(value, int):
        return (default if value is None else value,) * count
    return tuple(value)


def meetings(shape, taps, start=None, stride=None, anchor=None, batched=False) -> Iterator[tuple]:
    """Yield (point, tap, position) wherever a tap is inside.

    With a batch, points and positions are those of all its members.
    """
    batch, inner = (shape[:1], shape[1:]) if batched else ((), shape)
    starts, strides, anchors = (spread(v, d, len(taps))
                                for v, d in ((start, 0), (stride, 1), (anchor, 0)))
    for point in np.ndindex(*points(inner, taps, start, stride)):
        for tap in np.ndindex(*taps):
            place = [s + i * d + p - a
                     for s, i, d, p, a in zip(starts, point, strides, tap, anchors, strict=True)]
            if all(0 <= k < n for k, n in zip(place, inner, strict=True)):
                for member in np.ndindex(*batch):
                    yield (*member, *point), tap, (*member, *place)


def points(inner, taps, start=None, stride=None):
    """Count the points of each axis."""
    starts, strides = spread(start, 0, len(taps)), spread(stride, 1, len(taps))
    return [1 + (n - s - 1) // d for n, s, d in zip(inner, starts, strides, strict=True)]


def output_shape(shape, taps, start=None, stride=None, anchor=None, batched=False):
    return (*shape[:batched], *points(shape[batched:], taps, start, stride))


def wide(a):
    """Return a copy to add up in."""
    return a.astype(np.float64 if a.dtype.kind == "f" else np.int64)


def narrow(a, dtype):
    """Convert back to `dtype`, integers modulo its range."""
    with np.errstate(all="ignore"):
        return a.astype(dtype)


def convolution(x, w, y, **settings):
    sums, x, w = wide(y), wide(x), wide(w)
    for point, tap, place in meetings(x.shape, w.shape, **settings):
        sums[point] += w[tap] * x[place]
    return narrow(sums, y.dtype)


def to_x(yd, w, xd, **settings):
    sums, w, yd = wide(xd), wide(w), wide(yd)
    for point, tap, place in meetings(xd.shape, w.shape, **settings):
        sums[place] += w[tap] * yd[point]
    return narrow(sums, xd.dtype)


def to_w(x, yd, wd, **settings):
    sums, x, yd = wide(wd), wide(x), wide(yd)
    for point, tap, place in meetings(x.shape, wd.shape, **settings):
        sums[tap] += x[place] * yd[point]
    return narrow(sums, wd.dtype)


def taps_of(x, pool_shape, batched):
    return spread(pool_shape, 1, x.ndim - bool(batched))


def pooled(x, y, *, pool_shape, batched=False, **settings):
    seen = {}
    for point, _, place in meetings(x.shape, taps_of(x, pool_shape, batched), batched=batched,
                                    **settings):
        seen.setdefault(point, []).append(x[place])
    result = np.zeros_like(y)
    for point, values in seen.items():
        result[point] = np.max(values)
    return result


def pooled_back(x, y, yd, xd, *, pool_shape, batched=False, **settings):
    sums = wide(xd)
    for point, _, place in meetings(x.shape, taps_of(x, pool_shape, batched), batched=batched,
                                    **settings):
        if x[place] == y[point] or (x[place] != x[place] and y[point] != y[point]):
            sums[place] += yd[point]
    return narrow(sums, xd.dtype)


# Samples: the shape of x, that of the window, settings

WINDOWS = (
    ((7,), (3,), {}),
    ((9,), (4,), {"start": 2, "stride": 3, "anchor": 1}),
    ((1,), (5,), {"anchor": 4}),
    ((), (), {}),
    ((3,), (), {"batched": True}),
    ((5, 6), (3, 3), {"anchor": 1}),
    ((6, 5), (2, 3), {"start": (1, 0), "stride": (2, 1), "anchor": (0, 2)}),
    ((4, 21), (3, 5), {"anchor": (1, 2), "stride": (1, 2)}),
    ((2, 3, 37), (2, 5), {"anchor": (1, 2), "batched": True}),
    ((3, 5, 4), (3, 2), {"start": (0, 3), "stride": (4, 5), "batched": True}),
    ((0, 5, 4), (3, 2), {"batched": True}),
    ((2, 0, 4), (1, 2), {"batched": True}),
    ((3, 4, 5), (2, 1, 3), {"anchor": (1, 0, 2), "stride": (2, 1, 2), "start": (1, 0, 1)}),
    ((2, 3, 3, 4), (2, 2, 2), {"anchor": 1, "batched": True}),
    ((3, 2, 3, 4), (2, 2, 1, 3), {"anchor": (1, 0, 0, 1)}),
)


def windows(rng, dtype):
    """Yield x, w, y and settings."""
    for shape, taps, settings in WINDOWS:
        x, w = numbers(rng, shape, dtype), numbers(rng, taps, dtype)
        yield x, w, numbers(rng, output_shape(shape, taps, **settings), dtype), settings


def convolutions(rng, dtype):
    for x, w, y, settings in windows(rng, dtype):
        yield (x, w, y), settings
    yield (numbers(rng, (4, 3), dtype), np.zeros((0, 2), dtype), numbers(rng, (4, 3), dtype)), {}


to_xs, to_ws = reordered(windows, 2, 1, 0), reordered(windows, 0, 2, 1)


def backs(rng, dtype):
    for x, w, y, settings in windows(rng, dtype):
        yield (x, w, y, numbers(rng, x.shape, dtype), numbers(rng, w.shape, dtype)), settings


def both(x, w, yd, xd, wd, **settings):
    return {3: to_x(yd, w, xd, **settings), 4: to_w(x, yd, wd, **settings)}


def pools(rng, dtype):
    for x, w, y, settings in windows(rng, dtype):
        yield (x, y), {"pool_shape": w.shape, **settings}


def pool_backs(rng, dtype):
    for x, w, y, settings in windows(rng, dtype):
        x = np.round(x).astype(dtype)  # with ties
        settings = {"pool_shape": w.shape, **settings}
        yield (x, pooled(x, y, **settings), y, numbers(rng, x.shape, dtype)), settings


NN_CASES = {
    "nn.convolution": (convolutions, convolution, REAL),
    "nn.convolution_to_x": (to_xs, to_x, REAL),
    "nn.convolution_to_w": (to_ws, to_w, REAL),
    "nn.convolution_back": (backs, both, ("float32", "float64", "int16")),
    "pooling.pooling": (pools, pooled, REAL),
    "pooling.pooling_back": (pool_backs, pooled_back, REAL),
}
