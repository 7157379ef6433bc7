"""Results of convolution and pooling, point by point and tap by tap, and samples for them.

It knows nothing of `mat` but `WindowAxis`; ``cases.py`` has it in its table.
"""

from collections.abc import Iterator

import numpy as np

from mat.layout.sliding_window import WindowAxis

from .case import reordered
from .layouts import FLOATS, INTEGERS, numbers

REAL = (*INTEGERS, *FLOATS)


def spread(value, default, count):
    """Return a setting for each axis."""
    if value is None or isinstance(value, int):
        return (default if value is None else value,) * count
    return tuple(value)


def meetings(shape, taps, axes=None, **settings) -> Iterator[tuple]:
    """Yield (point, tap, position) wherever a tap is inside, of these axes or settings."""
    axes = axes_of(shape, taps, **settings) if axes is None else axes
    for point in np.ndindex(*(a.n for a in axes)):
        for tap in np.ndindex(*(a.k for a in axes)):
            place = tuple(i * a.step + p * a.dilation + a.off
                          for a, i, p in zip(axes, point, tap, strict=True))
            if all(0 <= k < a.nx for k, a in zip(place, axes, strict=True)):
                yield point, tap[len(axes) - len(taps):], place


def axes_of(shape, taps, start=None, stride=None, anchor=None, batched=False):
    """Return the axes of windows, with that of a batch."""
    settings = (spread(v, d, len(taps)) for v, d in ((stride, 1), (start, 0), (anchor, 0)))
    inner = shape[batched:]
    return (*batch(*shape[:batched]), *(
        WindowAxis(n, nx, k, step, first - at) for n, nx, k, step, first, at
        in zip(points(inner, taps, start, stride), inner, taps, *settings, strict=True)))


def batch(*lengths):
    return tuple(WindowAxis(n, n, 1, 1, 0) for n in lengths)


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


def taps_of(x, pool_shape, batched=False):
    return spread(pool_shape, 1, x.ndim - bool(batched))


def meetings_of(x, pool_shape=1, **settings):
    return meetings(x.shape, taps_of(x, pool_shape, settings.get("batched")), **settings)


def pooled(x, y, **settings):
    seen = {}
    for point, _, place in meetings_of(x, **settings):
        seen.setdefault(point, []).append(x[place])
    result = np.zeros_like(y)
    for point, values in seen.items():
        result[point] = np.max(values)
    return result


def pooled_back(x, y, yd, xd, **settings):
    sums = wide(xd)
    for point, _, place in meetings_of(x, **settings):
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


# Of images with channels: the shape of x, that of the window, step and offset

IMAGES = (
    ((2, 3, 7), (3,), (2,), (-1,)), ((2, 3, 6, 5), (2, 2), (2, 2), (0, 0)),
    ((1, 2, 7, 8), (3, 2), (2, 3), (-1, 0)), ((2, 1, 4, 3, 5), (2, 1, 3), (1, 1, 1), (-1, 0, -1)),
    ((0, 2, 4), (2,), (2,), (0,)),
)


def image_axes(shape, taps, steps, offsets):
    return (*batch(*shape[:2]), *(
        WindowAxis((n - 2 * off - k) // step + 1, n, k, step, off)
        for n, k, step, off in zip(shape[2:], taps, steps, offsets, strict=True)))


def windows(rng, dtype):
    """Yield x, w, y and settings."""
    every = [(shape, taps, axes_of(shape, taps, **settings)) for shape, taps, settings in WINDOWS]
    every += [(shape, taps, image_axes(shape, taps, *rest)) for shape, taps, *rest in IMAGES]
    for shape, taps, axes in every:
        x, w = numbers(rng, shape, dtype), numbers(rng, taps, dtype)
        yield x, w, numbers(rng, tuple(a.n for a in axes), dtype), {"axes": axes}


def convolutions(rng, dtype):
    for x, w, y, settings in windows(rng, dtype):
        yield (x, w, y), settings
    x, w = numbers(rng, (4, 3), dtype), np.zeros((0, 2), dtype)
    yield (x, w, numbers(rng, (4, 3), dtype)), {"axes": axes_of(x.shape, w.shape)}


to_xs, to_ws = reordered(windows, 2, 1, 0), reordered(windows, 0, 2, 1)


def backs(rng, dtype):
    for x, w, y, settings in windows(rng, dtype):
        yield (x, w, y, numbers(rng, x.shape, dtype), numbers(rng, w.shape, dtype)), settings


def both(x, w, yd, xd, wd, **settings):
    return {3: to_x(yd, w, xd, **settings), 4: to_w(x, yd, wd, **settings)}


pools = reordered(windows, 0, 2)


def pool_backs(rng, dtype):
    for x, _, y, settings in windows(rng, dtype):
        x = np.round(x).astype(dtype)  # with ties
        yield (x, pooled(x, y, **settings), y, numbers(rng, x.shape, dtype)), settings


NN_CASES = {
    "nn.convolution": (convolutions, convolution, REAL),
    "nn.convolution_to_x": (to_xs, to_x, REAL),
    "nn.convolution_to_w": (to_ws, to_w, REAL),
    "nn.convolution_back": (backs, both, ("float32", "float64", "int16")),
    "nn.pooling": (pools, pooled, REAL),
    "nn.pooling_back": (pool_backs, pooled_back, REAL),
}
