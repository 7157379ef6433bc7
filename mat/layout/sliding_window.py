"""Sliding windows of convolution and pooling: the indices of their taps in the input.

Along each axis of the input there is an application point every `stride` indices from `start` on;
tap p of the window at a point is at the index of the point plus ``p - anchor``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple, Protocol

from ..errors import ShapeError
from .shapes import Ints, integer

Setting = int | Ints | None  # one for all axes, one for each, or the default


class WindowAxis(NamedTuple):
    """The windows along one axis: `n` points over an input of length `nx`, each with `k` taps.

    Tap p of point i is at index ``i * step + off + p`` of the input.
    """

    n: int
    nx: int
    k: int
    step: int
    off: int

    def first(self, p: int) -> int:
        """Return the index in the input of tap `p` of point 0."""
        return self.off + p


class SteppedAxis(Protocol):
    """The part of an axis of windows that `regions` reads."""

    @property
    def n(self) -> int: ...
    @property
    def nx(self) -> int: ...
    @property
    def k(self) -> int: ...
    @property
    def step(self) -> int: ...
    def first(self, p: int) -> int: ...


def inside(a: SteppedAxis, p: int) -> range:
    """Return the points of an axis whose tap `p` is inside the input."""
    first = a.first(p)
    low = max(0, -(first // a.step))
    return range(low, max(low, min(a.n, -((first - a.nx) // a.step))))


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
            anchor: Setting = None) -> tuple[WindowAxis, ...]:
    """Return the axes of windows of shape `taps` over an input of `shape`.

    Raise `ShapeError` for points outside of the input and for anchors outside of the window.
    """
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


def with_batch(axes: tuple[WindowAxis, ...], batch: int) -> tuple[WindowAxis, ...]:
    """Return `axes` with an axis before them for a batch, whose windows have one tap."""
    return (WindowAxis(batch, batch, 1, 1, 0), *axes)


Region = tuple[slice, ...]


def regions(axes: Sequence[SteppedAxis]) -> Iterator[tuple[Ints, Region, Region]]:
    """Yield the index, the part of the input and the points of each tap.

    The points are those whose tap is inside the input, and the part is what it reads for them.
    """
    for p in product(*(range(a.k) for a in axes)):
        seen = [inside(a, q) for a, q in zip(axes, p, strict=True)]
        if all(seen):
            firsts = [i.start * a.step + a.first(q) for i, a, q in zip(seen, axes, p, strict=True)]
            read = (slice(f, f + (len(i) - 1) * a.step + 1, a.step)
                    for f, i, a in zip(firsts, seen, axes, strict=True))
            yield p, tuple(read), tuple(slice(i.start, i.stop) for i in seen)
