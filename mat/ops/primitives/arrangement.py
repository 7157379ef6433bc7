"""Copies of a Mat's elements in another arrangement: moved around the end of an axis, repeated,
with a border, on a diagonal.

Each is written in windows of a new Mat, on the device in use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Literal

from ...devices.in_use import computes_elsewhere
from ...errors import ShapeError
from ...layout.orders import only_by_columns
from ...layout.shapes import Ints, as_axis
from ...layout.strided import Layout
from ...matrix.joined import new_transposed
from ...matrix.mat import Mat, new_like
from ...matrix.ranges import arange
from ...support.types import Number
from .elementwise import add, greater_equal, less_equal
from .joining import joined, write_windows
from .selecting import where
from .shape import along

Repetition = Literal["edge", "wrap", "reflect", "symmetric"]
Widths = list[tuple[int, int]]  # before and after, for each axis
Fill = Callable[[Mat, Widths], None]


def rolled(x: Mat, shifts: Iterable[tuple[int, int]]) -> Mat:
    """Return a copy of `x` with elements moved by `shifts` of axes, around their ends."""
    if only_by_columns(x.layout):  # so NumPy stores the result
        return new_transposed(rolled(x.T, [(x.ndim - 1 - as_axis(axis, x.ndim), shift)
                                           for axis, shift in shifts]))
    total = dict.fromkeys(range(x.ndim), 0)
    for axis, shift in shifts:
        total[as_axis(axis, x.ndim)] += shift
    cuts = [_cut(n, total[k] % n if n else 0) for k, n in enumerate(x.shape)]
    moved = [k for k, parts in enumerate(cuts) if len(parts) > 1]
    if len(moved) == 1:
        (_, head), (_, tail) = cuts[moved[0]]
        turned = joined([along(x, moved[0], part) for part in (tail, head)], moved[0])
        if turned is not None:
            return turned
    found = new_like(x, x.shape, x.dtype)
    moves = [tuple(zip(*parts, strict=True)) or ((), ()) for parts in product(*cuts)]
    if not computes_elsewhere(x):
        for to, of in moves:
            found[to] = x[of]
        return found
    write_windows(found, ((to, x.over(x.layout[of])) for to, of in moves))
    return found


def _cut(length: int, shift: int) -> list[tuple[slice, slice]]:
    """Return where the parts of an axis go, and where they are."""
    if not shift:
        return [(slice(None), slice(None))]
    return [(slice(shift, None), slice(None, length - shift)),
            (slice(None, shift), slice(length - shift, None))]


def repeated(x: Mat, count: int, axis: int) -> Mat:
    """Return a copy of `x` with each element along `axis` repeated `count` times."""
    if count < 0:
        raise ShapeError(f"repeats is not negative, got {count}")
    before, after = x.shape[:axis + 1], x.shape[axis + 1:]
    wide = x.expand_dims(axis + 1).broadcast_to((*before, count, *after))
    return wide.copy().reshape((*before[:-1], before[-1] * count, *after))


def tiled(x: Mat, times: Ints) -> Mat:
    """Return copies of `x` side by side, so many along each axis; missing leading numbers are 1."""
    ndim = max(x.ndim, len(times))
    times = (1,) * (ndim - len(times)) + times
    shape = (1,) * (ndim - x.ndim) + x.shape
    layout = x.layout[(*(None,) * (ndim - x.ndim), ...)]
    layout = layout[tuple(i for _ in shape for i in (None, slice(None)))]
    pairs = zip(times, shape, strict=True)
    wide = x.over(layout.broadcast_to(tuple(n for pair in pairs for n in pair)))
    return wide.copy().reshape(tuple(t * n for t, n in zip(times, shape, strict=True)))


def on_diagonal(x: Mat, k: int = 0) -> Mat:
    """Return a matrix of zeros with a vector on diagonal `k`, above the main one if positive."""
    n = x.size + abs(k)
    found = new_like(x, (n, n), x.dtype)
    found.fill_(0)
    if x.size:
        start = k if k > 0 else -k * n
        found.over(Layout((x.size,), (n + 1,), start)).assign_(x)
    return found


def triangle(x: Mat, k: int, upper: bool) -> Mat:
    """Return a copy with zeros above the diagonal `k` of the last axes, or below if `upper`."""
    rows, columns = (_counted(n, x) for n in x.shape[-2:])
    compare = greater_equal if upper else less_equal
    kept = compare(columns, add(rows, k).expand_dims(1))
    return where(kept, x, x.dtype.type(0).item())


def _counted(length: int, like: Mat) -> Mat:
    """Return the integers below `length`, on the device for operations on `like`."""
    found = arange(length)
    found.device_enabled = like.device_enabled
    return found


# Borders


def bordered(x: Mat, widths: Widths, fill: Fill, first: Number | None = None) -> Mat:
    """Return `x` with a border of these widths that `fill` overwrites, or with `first` there."""
    axes = list(zip(x.shape, widths, strict=True))
    shape = tuple([n + before + after for n, (before, after) in axes])
    found = (new_transposed(new_like(x, shape[::-1], x.dtype)) if only_by_columns(x.layout)
             else new_like(x, shape, x.dtype))  # as NumPy stores the result
    if first is not None:
        found[...] = first
    inside = tuple(slice(before, before + n) for n, (before, _) in axes)
    found.over(found.layout[inside]).assign_(x)
    fill(found, widths)
    return found


def fill_with_numbers(values: list[tuple[Number, Number]], first: Number) -> Fill:
    """Return a function that fills borders with numbers, unless all equal `first`."""
    def fill(target: Mat, widths: Widths) -> None:
        if all(v == first for pair in values for v in pair):
            return
        for axis, ((before, after), (low, high)) in enumerate(zip(widths, values, strict=True)):
            for part, value in ((slice(None, before), low),
                                (slice(target.shape[axis] - after, None), high)):
                side = along(target, axis, part)
                if side.size:
                    side.fill_(value)

    return fill


def fill_by_repetition(mode: Repetition) -> Fill:
    """Return a function that fills the border of each axis with elements of the inside.

    They are that next to the border ("edge"), those at the other end ("wrap"), or those mirrored at
    the last element ("reflect") or beyond it ("symmetric"). A mirror or the other end has enough
    elements for its border.
    """
    def fill(target: Mat, widths: Widths) -> None:
        for axis, (before, after) in enumerate(widths):
            end = target.shape[axis] - after
            first, last = _sources(mode, before, end, after)
            for width, part, source in ((before, slice(0, before), first),
                                        (after, slice(end, end + after), last)):
                if width:
                    along(target, axis, part)[...] = along(target, axis, source)

    return fill


def _sources(mode: Repetition, start: int, end: int, after: int) -> tuple[slice, slice]:
    """Return where the elements of the inside, from `start` to `end`, are taken from."""
    if mode == "edge":
        return slice(start, start + 1), slice(end - 1, end)
    if mode == "wrap":
        return slice(end - start, end), slice(start, start + after)
    off = mode == "reflect"
    return _reversed(start + off, start + off + start), _reversed(end - off - after, end - off)


def _reversed(start: int, end: int) -> slice:
    return slice(end - 1, start - 1 if start else None, -1)
