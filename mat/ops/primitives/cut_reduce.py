"""Cutting reductions: along the axes that are kept, where the operation itself computes each part
of the result, or along those that are reduced, too, by a tree of the results of parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, Generic, TypeVar

import numpy as np

from ...devices.in_use import CPU, in_use
from ...layout.shapes import Ints
from ...matrix.mat import Mat
from ...memories.pooled import CLOCK
from ...support.dtypes import FLOAT8, HALVES, INEXACT
from ...support.types import Arguments, DType, Function, Keywords
from ..engine.operation import Op
from ..tiles.signatures import TileGrid, put_back
from ..tiles.tile import Cutter, Tile, over
from . import elementwise, ufuncs
from .selecting import select

Window = tuple[slice, ...]
P = TypeVar("P")  # what is known of a part


class Parts(Generic[P]):
    """How the result of a reduction is made of those of parts; axes that are reduced have length 1.

    Subclasses have `of`, the partial result of a part, `merged`, that of two parts, the second of
    which comes later, both unchanged, and `finish`, which writes the result of so many elements.
    """

    besides = 8  # blocks of the result that are needed besides
    numbers = 0
    of: Callable[[Mat, Ints, Window], P]
    merged: Callable[[P, P], P]
    finish: Callable[[P, Mat, int, Arguments], None]

    def wide(self, x: Mat) -> int:
        """Return how many bytes each byte of the operand needs besides itself."""
        return 0


def by_parts(operation: Op, parts: Parts[Any], axes_of: Function) -> Cutter:
    """Return the cutter of a reduction of ``x, out, axis, keepdims, ...`` over `axes_of`."""
    def grid_of(args: Arguments, kwargs: Keywords) -> TileGrid:
        x, _, axis, keepdims = args[:4]
        axes, every = axes_of(x, axis), tuple(range(x.ndim))
        kept = tuple(k for k in every if k not in axes or keepdims)
        return TileGrid(x.shape, {0: every, 1: kept}, args, whole=axes)

    operation.reads_once = operation.folds = True
    return over(operation, grid_of, lambda args, kwargs, budget: _in_parts(
        parts, args, axes_of(args[0], args[2]), budget), free=True)


def _in_parts(parts: Parts[Any], args: Arguments, axes: Ints, budget: int) -> Iterator[Tile]:
    """Yield the tiles of a reduction that cut the axes that are reduced."""
    x, out = args[0], with_axes(args[1], axes, args[3])
    every = tuple(range(x.ndim))
    grid = TileGrid(x.shape, {0: every, 1: every}, (x, out),
                    besides=[(x, every)] * parts.wide(x) + [(out, every)] * parts.besides)
    lengths = grid.blocks(budget)
    count = prod(x.shape[k] for k in axes)
    blocks = [-(-n // lengths[k]) for k, n in enumerate(x.shape) if k in axes and n]
    tree: Tree[Any] = Tree(parts, prod(blocks))
    for window in grid.windows(lengths, last=axes):
        part, target = grid.arguments(window)
        run = partial(tree.add, part, axes, window, target, (count, args[4:]))
        yield Tile(run, (part,), (target,) if tree.is_last() else (), numbers=parts.numbers,
                   passed=tree.pass_over)


class Tree(Generic[P]):
    """Results of parts, merged in pairs of equal counts, so that errors grow slowly."""

    def __init__(self, parts: Parts[P], count: int) -> None:
        self.parts = parts
        self.count = count  # parts of one block of the result
        self.asked = 0  # how many tiles were asked for
        self.waiting: list[tuple[int, P]] = []  # numbers of parts, and what is known of them
        self.added = 0

    def is_last(self) -> bool:
        """Return whether the next tile completes a block of the result."""
        self.asked += 1
        return self.asked % self.count == 0

    def pass_over(self) -> None:
        """Count a part that is not reduced; the next block has no part of this one."""
        self.added += 1
        if self.added % self.count == 0:
            self.waiting = []

    def add(self, x: Mat, axes: Ints, window: Window, out: Mat,
            more: tuple[int, Arguments]) -> None:
        """Reduce a part; the last one of a block completes and writes its result."""
        size, part, waiting = 1, self.parts.of(x, axes, window), [*self.waiting]
        while waiting and waiting[-1][0] == size:
            part = self.parts.merged(waiting.pop()[1], part)
            size *= 2
        waiting.append((size, part))
        if (self.added + 1) % self.count == 0:
            while len(waiting) > 1:
                (_, part), (_, before) = waiting.pop(), waiting.pop()
                waiting.append((0, self.parts.merged(before, part)))
            self.parts.finish(waiting.pop()[1], out, *more)
        # last, since a tile for which there was no room is carried out again
        self.waiting, self.added = waiting, self.added + 1
        _use_now([*(part for _, part in waiting), out])


def _use_now(parts: Iterable[Any]) -> None:
    """Mark partial results as used now: finished operands are evicted before them."""
    device = in_use()
    for part in parts if device is not CPU else ():
        for x in part if isinstance(part, tuple) else (part,):
            handle = x.storage.handles.get(device.memory) if isinstance(x, Mat) else None
            if handle is not None:
                handle.tick = next(CLOCK)


def with_axes(out: Mat, axes: Ints, keepdims: bool) -> Mat:
    """Return a view of a result with axes of length 1 where axes were reduced."""
    layout = out.layout
    for k in () if keepdims else sorted(axes):
        layout = layout.expand_dims(k)
    return out.over(layout)


@dataclass
class Merged(Parts[Mat]):
    """Parts whose results, by `operation`, are merged by a function of two operands.

    `accumulates`: 16-bit floats become float32 before, and `as_real` integers float64.
    """

    operation: Op
    merge: Function
    accumulates: bool = False
    as_real: bool = False
    besides = 3

    def _dtype(self, dtype: DType) -> DType:
        if self.accumulates and dtype.char in HALVES + FLOAT8:
            return np.dtype(np.float32)
        return np.dtype(np.float64) if self.as_real and dtype.char not in INEXACT else dtype

    def wide(self, x: Mat) -> int:
        dtype = self._dtype(x.dtype)
        return 0 if dtype == x.dtype else -(-dtype.itemsize // x.itemsize)

    def of(self, x: Mat, axes: Ints, window: Window) -> Mat:
        dtype = self._dtype(x.dtype)
        return self.operation.new((x if dtype == x.dtype else x.astype(dtype), None, axes, True))

    def merged(self, one: Mat, other: Mat) -> Mat:
        return self.merge(one, other)

    def finish(self, part: Mat, out: Mat, count: int, settings: Arguments) -> None:
        out.assign_(part)


class Averaged(Merged):
    """Sums of parts, divided by the number of elements at the end."""

    def finish(self, part: Mat, out: Mat, count: int, settings: Arguments) -> None:
        out.assign_(elementwise.divide(part, float(count), part))


@dataclass
class Moments(Parts[tuple[int, Mat, Mat]]):
    """Numbers of elements, means and sums of squares of the distances from these, of real numbers.

    They are merged as in Chan, Golub, LeVeque: "Algorithms for computing the sample variance"
    (1983). The settings are ``ddof`` and ``root``.
    """

    mean: Op
    variance: Op

    def of(self, x: Mat, axes: Ints, window: Window) -> tuple[int, Mat, Mat]:
        count = prod(x.shape[k] for k in axes)
        squares: Mat = self.variance.new((x, None, axes, True, 0, False))
        mean: Mat = self.mean.new((x, None, axes, True))
        return count, mean, elementwise.multiply(squares, float(count), squares)

    def merged(self, one: tuple[int, Mat, Mat],
               other: tuple[int, Mat, Mat]) -> tuple[int, Mat, Mat]:
        (n, mean, squares), (m, mean_other, squares_other) = one, other
        distance = elementwise.subtract(mean_other, mean)
        between = elementwise.square(distance)
        between = elementwise.multiply(between, n * m / (n + m), between)
        between = elementwise.add(between, elementwise.add(squares, squares_other), between)
        moved = elementwise.multiply(distance, m / (n + m), distance)
        return n + m, elementwise.add(mean, moved, moved), between

    def finish(self, part: tuple[int, Mat, Mat], out: Mat, count: int, settings: Arguments) -> None:
        ddof, root = settings
        found = elementwise.divide(part[2], float(max(count - ddof, 0)), part[2])
        out.assign_(elementwise.sqrt(found, found) if root else found)


class Places(Parts[Any]):
    """Extremes and their indices, the first of equal ones, and NaN before all."""

    def __init__(self, place: Op, extreme: Op, beyond: Function) -> None:
        self.place, self.extreme, self.beyond = place, extreme, beyond

    def of(self, x: Mat, axes: Ints, window: Window) -> tuple[Mat, Mat]:
        best: Mat = self.extreme.new((x, None, axes, True))
        at: Mat = self.place.new((x, None, axes[0], True))
        return best, elementwise.add(at, window[axes[0]].start, at)

    def merged(self, one: tuple[Mat, Mat], other: tuple[Mat, Mat]) -> tuple[Mat, Mat]:
        (best, at), (best_other, at_other) = one, other
        later = self.beyond(best_other, best)
        if best.dtype.char in INEXACT:
            missing = elementwise.greater(elementwise.isnan(best_other), elementwise.isnan(best))
            later = ufuncs.logical_or(later, missing, later)
        return select.new((later, best_other, best, None)), select.new((later, at_other, at, None))

    def finish(self, part: tuple[Mat, Mat], out: Mat, count: int, settings: Arguments) -> None:
        out.assign_(part[1])


class PlacesOfAll(Places):
    """The same in row-major order of all elements of a Mat: numbers, compared on the host."""

    besides = 2

    def __init__(self, place: Op, extreme: Op, choose: Function, whole: Mat) -> None:
        self.place, self.extreme, self.choose, self.shape = place, extreme, choose, whole.shape
        self.numbers = whole.element_size + np.dtype(np.int64).itemsize

    def of(self, x: Mat, axes: Ints, window: Window) -> Any:
        best: Mat = self.extreme.new((x, None, None, False))
        at: Mat = self.place.new((x, None, None, False))
        inside = np.unravel_index(int(at), x.shape)
        whole = [int(i) + part.start for i, part in zip(inside, window, strict=True)]
        index = int(np.ravel_multi_index(whole, self.shape)) if self.shape else 0
        return index, best.to_numpy()[()]

    def merged(self, one: Any, other: Any) -> Any:
        first, second = sorted((one, other), key=lambda found: found[0])
        return (first, second)[self.choose(np.array([first[1], second[1]]))]

    def finish(self, part: Any, out: Mat, count: int, settings: Arguments) -> None:
        out.fill_(part[0])


def by_places(place: Op, extreme: Op, beyond: Function, choose: Function,
              axes_of: Function) -> Cutter:
    """Return the cutter of a search for the first `extreme`, by `beyond` and NumPy's `choose`."""
    along = by_parts(place, Places(place, extreme, beyond), axes_of)

    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        x, _, axis = args[:3]
        if axis is not None and x.ndim:
            return along(args, kwargs, budget)
        of_all = PlacesOfAll(place, extreme, choose, x)
        return _in_parts(of_all, args, axes_of(x, axis), budget)

    return cut


def by_accumulated_parts(operation: Op, axes_of: Function) -> Cutter:
    """Return the cutter of ``y <- alpha * sum(x, axis) + beta * y``, by added parts."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        x, axis, alpha, beta, y = args
        axes = axes_of(x, axis)
        every = tuple(range(x.ndim))
        y, packed = _of_shape(y, tuple(1 if k in axes else n for k, n in enumerate(x.shape)))
        args = x, axis, alpha, beta, y
        grid = TileGrid(x.shape, {0: every, 4: every}, args)
        for window in grid.windows(grid.blocks(budget), last=axes):
            part, *_, target = grid.arguments(window)
            first = all(window[k].start == 0 for k in axes)
            yield Tile(partial(operation, part, axis, alpha, beta if first else 1, target),
                       (part,) if first and beta == 0 else (part, target), (target,))
        if packed is not None:
            yield Tile(partial(put_back, packed, y))  # which is cut itself

    return cut


def _of_shape(y: Mat, shape: Ints) -> tuple[Mat, Mat | None]:
    """Return a view of `y` of another shape, or a copy of it and itself where there is none."""
    layout = y.layout.viewed_as(shape)
    return (y.copy().reshape(shape), y) if layout is None else (y.over(layout), None)
