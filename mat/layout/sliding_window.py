"""Sliding windows of convolution and pooling: the indices of their taps in the input.

Along each axis of the input there is a point every `step` indices; tap p of the window at point i
is at index ``i * step + p * dilation + off``. `windows` has the settings of one channel, start,
stride and anchor; `spaced` those of images with channels, padding, stride and dilation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import gcd
from typing import NamedTuple

from ..errors import ShapeError
from .shapes import Ints, integer

Setting = int | Ints | None  # one for all axes, one for each, or the default


class WindowAxis(NamedTuple):
    """The windows along one axis: `n` points over an input of length `nx`, each with `k` taps."""

    n: int
    nx: int
    k: int
    step: int
    off: int
    dilation: int = 1

    @property
    def length(self) -> int:
        """The number of elements from the first tap to the last."""
        return (self.k - 1) * self.dilation + 1

    def first(self, p: int) -> int:
        """Return the index in the input of tap `p` of point 0."""
        return self.off + p * self.dilation

    def inside(self, p: int) -> range:
        """Return the points whose tap `p` is inside the input."""
        first = self.first(p)
        low = max(0, -(first // self.step))
        return range(low, max(low, min(self.n, -((first - self.nx) // self.step))))

    def part(self, start: int, stop: int) -> tuple[slice, WindowAxis]:
        """Return the part of the input that some of the points see, and their axis over it."""
        off = self.off + start * self.step
        low = min(max(0, off), self.nx)
        high = max(low, min(off + (stop - 1 - start) * self.step + self.length, self.nx))
        return slice(low, high), self._replace(n=stop - start, nx=high - low, off=off - low)


Windows = tuple[WindowAxis, ...]
ONE = WindowAxis(1, 1, 1, 1, 0)


def setting(value: object, name: str) -> Setting:
    """Return `value` as an integer, a tuple of integers or None."""
    if value is None or type(value) is int:
        return value
    if isinstance(value, Iterable) and not isinstance(value, str):
        return tuple(integer(v, name) for v in value)
    return integer(value, f"{name}, where it is no sequence of integers,")


def each(value: Setting, default: int, name: str, count: int) -> Ints:
    """Return `value`, or `default` if it is None, for each of `count` axes."""
    if value is None or isinstance(value, int):
        return (default if value is None else value,) * count
    if len(value) != count:
        raise ShapeError(f"{name} must be an integer, or one for each of {count} axes, got {value}")
    return value


def points(nx: int, start: int, stride: int) -> int:
    """Return the number of points from `start` on, `stride` apart, on an axis of length `nx`."""
    return 1 + (nx - start - 1) // stride


def windows(shape: Ints, taps: Ints, start: Setting = None, stride: Setting = None,
            anchor: Setting = None) -> Windows:
    """Return the axes of windows of shape `taps` over an input of `shape`, after checking them."""
    count = len(taps)
    starts, anchors = each(start, 0, "start", count), each(anchor, 0, "anchor", count)
    strides = each(stride, 1, "stride", count)
    if any(s < 1 for s in strides):
        raise ShapeError(f"a stride is at least 1, got {stride}")
    if not all(0 <= a < max(k, 1) for a, k in zip(anchors, taps, strict=True)):
        raise ShapeError(f"an anchor is an index in the window of shape {taps}, counted from 0, "
                         f"got {anchor}")
    if not all(0 <= s < max(nx, 1) for s, nx in zip(starts, shape, strict=True)):
        raise ShapeError(f"a start is an index in the input of shape {shape}, counted from 0, "
                         f"got {start}; an anchor lets windows reach out of it")
    return tuple(WindowAxis(points(nx, s, d), nx, k, d, s - a)
                 for nx, k, s, d, a in zip(shape, taps, starts, strides, anchors, strict=True))


def with_batch(axes: Windows, *batch: int) -> Windows:
    """Return `axes` with axes before them for a batch, whose windows have one tap."""
    return (*(WindowAxis(n, n, 1, 1, 0) for n in batch), *axes)


Region = tuple[slice, ...]


def regions(axes: Windows) -> Iterator[tuple[Ints, Region, Region]]:
    """Yield each tap's index, the points inside the input, and the part that it reads for them."""
    for p in product(*(range(a.k) for a in axes)):
        seen = [a.inside(q) for a, q in zip(axes, p, strict=True)]
        if all(seen):
            firsts = [i.start * a.step + a.first(q) for i, a, q in zip(seen, axes, p, strict=True)]
            read = (slice(f, f + (len(i) - 1) * a.step + 1, a.step)
                    for f, i, a in zip(firsts, seen, axes, strict=True))
            yield p, tuple(read), tuple(slice(i.start, i.stop) for i in seen)


# Images with channels

MOST_SPATIAL = 3


class Channels(NamedTuple):
    """The sizes of a convolution: `n` images, groups' channels and outputs, spatial axes."""

    n: int
    groups: int
    channels: int
    outputs: int
    axes: Windows

    @property
    def shape(self) -> Ints:
        """The shape of the result."""
        return (self.n, self.groups * self.outputs, *(a.n for a in self.axes))


class Remainder(NamedTuple):
    """The positions ``first, first + every, ...`` of the input as points over the output, for the
    derivative by the input: `axis` has the taps ``last, last - between, ...`` of the window that
    reach them.
    """

    axis: WindowAxis
    first: int
    every: int
    last: int
    between: int


def spaced(name: str, shape: Ints, taps: Ints, stride: Setting, padding: Setting,
           dilation: Setting) -> Windows:
    """Return the axes of windows of shape `taps` over an input of `shape`, after checking them."""
    count = len(taps)
    if len(shape) != count:
        raise ShapeError(f"{name}: a window of shape {taps} requires as many spatial axes in x, "
                         f"whose spatial shape is {shape}")
    steps, pads = each(stride, 1, "stride", count), each(padding, 0, "padding", count)
    spaces = each(dilation, 1, "dilation", count)
    for text, given, least in (("stride", steps, 1), ("padding", pads, 0), ("dilation", spaces, 1),
                               ("window", taps, 1)):
        if any(integer(value, text) < least for value in given):
            raise ShapeError(f"{name}: a {text} is at least {least} along each axis, got {given}")
    for nx, k, pad, space in zip(shape, taps, pads, spaces, strict=True):
        if nx + 2 * pad < (k - 1) * space + 1:
            raise ShapeError(f"{name}: a window of {k} taps with dilation {space} spans "
                             f"{(k - 1) * space + 1} elements, the input of {nx} with padding "
                             f"{pad} has {nx + 2 * pad}; use more padding")
    return tuple(WindowAxis((nx + 2 * pad - (k - 1) * space - 1) // step + 1, nx, k, step, -pad,
                            space)
                 for nx, k, step, pad, space in zip(shape, taps, steps, pads, spaces, strict=True))


def remainders(a: WindowAxis) -> Iterator[Remainder]:
    """Yield the positions of an axis by their remainder modulo the step, as points.

    Position ``step * m + f`` is tap p of point i where ``i * step = step * m + f - off - p *
    dilation``. The taps for which that is divisible follow each other at a fixed distance, and the
    points move back by a fixed number from one to the next: a window of step 1 over the points.
    """
    common = gcd(a.step, a.dilation)
    between, space = a.step // common, a.dilation // common
    for f in range(min(a.step, a.nx)):
        reach = [p for p in range(min(between, a.k)) if (f - a.off - p * a.dilation) % a.step == 0]
        if reach:
            count = len(range(reach[0], a.k, between))
            last = reach[0] + (count - 1) * between
            off = (f - a.off - last * a.dilation) // a.step
            axis = WindowAxis(len(range(f, a.nx, a.step)), a.n, count, 1, off, space)
            yield Remainder(axis, f, a.step, last, between)
