"""Windows that slide over a matrix, as convolution and pooling apply them: the position of each tap
at each point.

Along each axis of the input there is an application point every `stride` positions from `start` on;
tap p of the window at a point is `p - anchor` positions further.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from ..errors import ShapeError
from .strided import Ints, integer

Setting = int | Ints | None  # one for all axes, one for each, or the default


class WindowAxis(NamedTuple):
    """One axis: `n` points over an input of `nx` positions; tap p of `k` of point i is at position
    ``i * step + off + p``.
    """

    n: int
    nx: int
    k: int
    step: int
    off: int

    def inside(self, p: int) -> range:
        """Return the points of which tap `p` is inside of the input."""
        low = max(0, -((self.off + p) // self.step))
        return range(low, max(low, min(self.n, -((self.off + p - self.nx) // self.step))))


def setting(value: object, name: str) -> Setting:
    """Return `value` as an integer, a tuple of integers or None."""
    if value is None or type(value) is int:
        return value
    if isinstance(value, Iterable) and not isinstance(value, str):
        return tuple(integer(v, name) for v in value)
    return integer(value, f"{name}, where it is no sequence of integers,")


def each(value: Setting, default: int, name: str, count: int) -> Ints:
    """Return `value` for each of `count` axes."""
    if value is None or isinstance(value, int):
        return (default if value is None else value,) * count
    if len(value) != count:
        raise ShapeError(f"{name} wants an integer, or one for each of {count} axes, got {value}")
    return value


def points(nx: int, start: int, stride: int) -> int:
    """Count the points from `start` on, `stride` apart, in an axis of `nx` positions."""
    return 1 + (nx - start - 1) // stride


def windows(shape: Ints, taps: Ints, start: Setting = None, stride: Setting = None,
            anchor: Setting = None) -> tuple[WindowAxis, ...]:
    """Return the axes of windows of shape `taps` over an input of `shape`.

    `ShapeError` unless points are inside of the input, and anchors inside of the window.
    """
    count = len(taps)
    starts, anchors = each(start, 0, "start", count), each(anchor, 0, "anchor", count)
    strides = each(stride, 1, "stride", count)
    if any(s < 1 for s in strides):
        raise ShapeError(f"a stride is at least 1, got {stride}")
    if not all(0 <= a < max(k, 1) for a, k in zip(anchors, taps, strict=True)):
        raise ShapeError(f"an anchor is a place in the window of shape {taps}, counted from 0, got "
                         f"{anchor}")
    if not all(0 <= s < max(nx, 1) for s, nx in zip(starts, shape, strict=True)):
        raise ShapeError(f"a start is a place in the input of shape {shape}, counted from 0, got "
                         f"{start}; "
                         f"an anchor lets windows reach out of it")
    return tuple(WindowAxis(points(nx, s, d), nx, k, d, s - a)
                 for nx, k, s, d, a in zip(shape, taps, starts, strides, anchors, strict=True))


def with_batch(axes: tuple[WindowAxis, ...], batch: int) -> tuple[WindowAxis, ...]:
    """Return the same for each of a batch, as an axis whose windows have one tap."""
    return (WindowAxis(batch, batch, 1, 1, 0), *axes)


Region = tuple[slice, ...]


def regions(axes: Sequence[WindowAxis]) -> Iterator[tuple[Ints, Region, Region]]:
    """Yield, for each tap, its index, the part of the input that it meets, and the points there."""
    for p in product(*(range(a.k) for a in axes)):
        seen = [a.inside(q) for a, q in zip(axes, p, strict=True)]
        if all(seen):
            firsts = [i.start * a.step + a.off + q for i, a, q in zip(seen, axes, p, strict=True)]
            read = (slice(f, f + (len(i) - 1) * a.step + 1, a.step)
                    for f, i, a in zip(firsts, seen, axes, strict=True))
            yield p, tuple(read), tuple(slice(i.start, i.stop) for i in seen)
