"""Grids: cutting the axes of an operation into blocks, and its operands with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from ...core.direction import INPUT, OUTPUT
from ...layout.shapes import Ints
from ...layout.sliding_window import WindowAxis
from ...matrix.mat import Mat
from ...support.types import Arguments, Keywords
from .tile import Cuttable, GridAxes, Tile, TileTooLarge, nothing


class TileGrid:
    """The axes of a call that can be cut, and how its operands are cut with them.

    A product has the grid (m, n, k), in which ``a`` has the axes (0, 2), ``b`` (2, 1) and ``c``
    (0, 1): these are the `operands`, by their positions among the arguments. Axes that are `whole`
    are not cut. `besides` has Mats and their axes, for views like which a device needs room.
    """

    def __init__(self, shape: Ints, operands: Mapping[int, GridAxes], args: Arguments,
                 whole: Collection[int] = (),
                 besides: Iterable[tuple[Mat, GridAxes]] = ()) -> None:
        self.shape = shape
        self.operands = {k: axes for k, axes in operands.items() if isinstance(args[k], Mat)}
        self.args = args
        self.whole = frozenset(whole)
        spans = [Span(args[k], axes) for k, axes in self.operands.items()]
        self.spans = list({span.key: span for span in spans}.values())
        self.besides = [Span(view, axes) for view, axes in besides]

    def nbytes(self, lengths: Ints) -> int:
        """Return the bytes that a device needs for blocks of these lengths."""
        return sum(span.nbytes(lengths) for span in (*self.spans, *self.besides))

    def blocks(self, budget: int) -> Ints:
        """Return the lengths of blocks in `budget` bytes, halved where that saves most bytes."""
        lengths = list(self.shape)
        while self.nbytes(tuple(lengths)) > budget:
            axes = [k for k, n in enumerate(lengths) if n > 1 and k not in self.whole]
            if not axes:
                raise TileTooLarge(self.nbytes(tuple(lengths)))
            best = min(axes, key=lambda k: (self.nbytes(_with(lengths, k, -(-lengths[k] // 2))),
                                            -lengths[k]))
            lengths[best] = -(-lengths[best] // 2)
        for k in self.order():
            lengths[k] = self._grown(lengths, k, budget)
        return tuple(lengths)

    def count(self, lengths: Ints) -> int:
        """Return how many blocks of these lengths there are."""
        return prod(-(-n // max(1, length)) for n, length in zip(self.shape, lengths, strict=True))

    def _grown(self, lengths: list[int], k: int, budget: int) -> int:
        """Return the largest length along axis `k` that fits, for blocks about equally long."""
        low, high = lengths[k], self.shape[k] + 1
        if k in self.whole or low >= high - 1:
            return low
        while high - low > 1:
            middle = (low + high) // 2
            fits = self.nbytes(_with(lengths, k, middle)) <= budget
            low, high = (middle, high) if fits else (low, middle)
        return -(-self.shape[k] // -(-self.shape[k] // low))

    def order(self) -> list[int]:
        """Return the axes, those with the largest strides first."""
        return sorted(range(len(self.shape)),
                      key=lambda k: -sum(span.steps.get(k, 0) for span in self.spans))

    def windows(self, lengths: Ints, last: Collection[int] = ()) -> Iterator[tuple[slice, ...]]:
        """Yield each block's slices; those that differ in the axes `last` follow each other."""
        order = sorted(self.order(), key=lambda k: k in last)
        starts = [range(0, max(1, self.shape[k]), max(1, lengths[k])) for k in order]
        for corner in product(*starts):
            at = dict(zip(order, corner, strict=True))
            yield tuple(slice(at[k], min(at[k] + lengths[k], n))
                        for k, n in enumerate(self.shape))

    def arguments(self, window: tuple[slice, ...]) -> Arguments:
        """Return the arguments with views of the elements in a window."""
        found, views = list(self.args), {}
        for k, axes in self.operands.items():
            view = self.args[k]
            key = id(view), axes
            if key not in views:
                views[key] = view_of(view, axes, window)
            found[k] = views[key]
        return tuple(found)

    def block(self, window: tuple[slice, ...], kwargs: Keywords) -> tuple[Arguments, Keywords]:
        """Return arguments and keywords of the call for a window."""
        return self.arguments(window), kwargs


class PackedGrid(TileGrid):
    """A grid with parts of operands packed if they take less room so."""

    def nbytes(self, lengths: Ints) -> int:
        return sum(min(span.nbytes(lengths), span.packed_nbytes(lengths)) for span in self.spans)


class Span:
    """The range of a storage that an operand takes for blocks of given lengths.

    With `windows`, the axes of the grid are those of sliding windows over the operand.
    """

    def __init__(self, view: Mat, axes: GridAxes, windows: Sequence[WindowAxis] = ()) -> None:
        self.key = id(view.storage), view.layout.displacement, view.element_strides, axes
        self.itemsize: int = view.element_size
        self.fixed = 1  # elements of the range that no cut makes smaller
        self.whole = 1  # elements along axes that are not cut
        self.axes = [axis for n, axis in zip(view.shape, axes, strict=True)
                     if axis is not None and n != 1]
        self.steps: dict[int, int] = {}  # bytes from one element of the block to the next
        for n, step, axis in zip(view.shape, view.element_strides, axes, strict=True):
            if axis is None or n == 1:
                self.fixed += (n - 1) * abs(step)
                self.whole *= n
                continue
            length, times = (windows[axis].length, windows[axis].step) if windows else (1, 1)
            self.fixed += (length - 1) * abs(step)
            self.steps[axis] = self.steps.get(axis, 0) + times * abs(step) * self.itemsize

    def nbytes(self, lengths: Ints) -> int:
        """Return its bytes."""
        return self.fixed * self.itemsize + sum(
            max(0, lengths[k] - 1) * step for k, step in self.steps.items())

    def packed_nbytes(self, lengths: Ints) -> int:
        """Return the bytes of its elements."""
        return self.whole * prod(lengths[k] for k in self.axes) * self.itemsize


def _with(lengths: list[int], k: int, n: int) -> Ints:
    return (*lengths[:k], n, *lengths[k + 1:])


def view_of(view: Mat, axes: GridAxes, window: tuple[slice, ...]) -> Mat:
    """Return the part of an operand in a window of the grid; an axis of length 1 is not cut."""
    index = tuple(slice(None) if axis is None or n == 1 else window[axis]
                  for n, axis in zip(view.shape, axes, strict=True))
    return view.over(view.layout.part(index))


def tile_of(operation: Cuttable, args: Arguments, kwargs: Keywords) -> Tile:
    """Return the tile that calls an operation with these arguments."""
    directions = [(args[k], operation.declared_direction(k, args)) for k in operation.operands
                  if isinstance(args[k], Mat)]
    reads = {id(x): x for x, direction in directions if direction is not OUTPUT}
    writes = {id(x): x for x, direction in directions if direction is not INPUT}
    return Tile(lambda: operation(*args, **kwargs), (*reads.values(),), (*writes.values(),),
                passed=nothing)


def tiles_over(operation: Cuttable, grid: TileGrid, kwargs: Keywords, budget: int,
               lengths: Ints | None = None, free: bool = False) -> Iterator[Tile]:
    """Yield a tile for each block of a grid, a call of the operation, `free` or not."""
    for window in grid.windows(grid.blocks(budget) if lengths is None else lengths):
        yield tile_of(operation, *grid.block(window, kwargs))._replace(free=free)
