"""Index signatures: which axes of an operation's operands are cut together. Tiles follow from them.

In ``"i,j,ij"``, a block of i and j is a call with these parts of three operands. `_` is an axis
that stays whole, `...` are further axes, along which operands are broadcast; an operand of fewer
axes has the last ones, one with a single letter is a vector. One form alone is that of all. A grid
cuts the axes of an operation into blocks, and parts of its operands with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ...core.direction import INPUT, OUTPUT
from ...devices.in_use import CPU, in_use, note_fallback
from ...layout.shapes import Ints, as_axis
from ...layout.sliding_window import WindowAxis
from ...layout.strided import Layout
from ...matrix.base import form_of_result
from ...matrix.mat import Mat, new_like
from ...support.types import Arguments, DType, Function, Keywords, Number
from .overlap import must_copy
from .tile import (
    Cuttable,
    Cutter,
    GridAxes,
    GridOf,
    Tile,
    TileTooLarge,
    calls_of_their_own,
    nothing,
    span_bytes,
)
from .tiling import note_origin

FEWER = 4  # how many times as many views cost as much as packing


# Parts of operands for tiles, as views, or packed. A copy of a view on a device spans everything
# from its lowest element to its highest: a block of columns of a matrix by rows takes as much as
# all of these rows. Packed on the host before, it takes no more than its elements


def is_there(x: Mat) -> bool:
    """Return whether a device is in use and has the elements of `x`, as they are now."""
    device = in_use()
    return device is not CPU and x.storage.is_fresh(device.memory, x)


def is_compact(view: Mat) -> bool:
    """Return whether the span of a view has nothing but the view's elements."""
    low, high = view.layout.bounds
    return high - low <= view.layout.size


def staged(view: Mat) -> Mat:
    """Return `view`, or a packed copy made on the host unless the device has the elements."""
    return view if is_there(view) else without_gaps(view)


def without_gaps(view: Mat) -> Mat:
    """Return `view`, or if it has gaps, a copy in the order of its axes, made on the host."""
    if is_compact(view):
        return view
    found: Mat = on_host(view).copy("K")
    found.device_enabled = True
    note_origin(found, view)
    return found


def on_host(view: Mat) -> Mat:
    """Return a view for operations on the host, whatever device is in use."""
    found = view.over(view.layout)
    found.device_enabled = False
    return found


def by_host(operation: Function, args: Arguments, kwargs: Keywords) -> Tile:
    """Return the tile in which the host carries out an operation."""
    def run() -> object:
        note_fallback(operation.__name__, *(x for x in args if isinstance(x, Mat)))
        return operation(*(on_host(x) if isinstance(x, Mat) else x for x in args), **kwargs)

    return Tile(run)


class StagedResult:
    """A part of a result: `target` is its view, where that is all of a Mat or is on the device
    already, or a Mat of `dtype` whose elements are copied there in the end, on the host. If it
    `reads`, `target` begins with the elements of the part.
    """

    def __init__(self, view: Mat, dtype: DType, reads: bool) -> None:
        self.view = view
        self.target = view
        if dtype != view.dtype or not (view.nbytes == view.storage.nbytes or is_there(view)):
            self.target = (on_host(view).astype(dtype, "K") if reads
                           else new_like(view, view.shape, dtype))
            self.target.device_enabled = True
            note_origin(self.target, view)

    def finish(self) -> None:
        """Copy the elements to the part unless they are there already, and make room."""
        if self.target is not self.view:
            on_host(self.view).assign_(self.target)
            self.make_room()

    def make_room(self) -> None:
        """Free the copy of `target` on the device."""
        if in_use() is not CPU:
            self.target.drop(in_use().memory)


class StagedSum(StagedResult):
    """An addition to a part of a result: `target` starts as a Mat of zeros and is added to the part
    at the end, on the host.
    """

    def __init__(self, view: Mat) -> None:
        self.view = view
        self.target: Mat = form_of_result(view.shape, view.dtype).new(True, 0)
        note_origin(self.target, view)

    def finish(self) -> None:
        on_host(self.view).add_(on_host(self.target))
        self.make_room()


# Grids


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
            yield tuple(slice(at[k], min(at[k] + lengths[k], n)) for k, n in enumerate(self.shape))

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


# Tiles of an operation with a signature


# the parameters are those of `tile.over` and of a cutter
def tiles_by(operation: Cuttable, signature: str | GridOf, otherwise: Cutter | str, free: bool,
             packs: bool, args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Return the tiles of the cutter that `tile.over` returns."""
    given = with_copies(operation, args) if free else args
    grid: TileGrid = (grid_by(operation, signature, given) if isinstance(signature, str)
                      else signature(given, kwargs))
    try:
        if packs:
            return _tiles_or_packed(operation, grid, kwargs, budget)
        lengths = grid.blocks(budget)
    except TileTooLarge as error:
        if callable(otherwise):
            return otherwise(grid.args, kwargs, budget)
        raise TileTooLarge(error.needed, otherwise) from None
    return tiles_over(operation, grid, kwargs, budget, lengths, free)


# Grids of signatures


def grid_by(operation: Cuttable, signature: str, args: Arguments) -> TileGrid:
    """Return the grid of a call by an index signature: the axes `...`, then those of letters."""
    forms, letters = signature.split(","), sorted({*signature} - {*".,_"})
    found, axes, lengths = list(args), dict[int, GridAxes](), dict[int, int]()
    mats = {k: forms[i % len(forms)] for i, k in enumerate(operation.operands)
            if isinstance(args[k], Mat)}
    own = {k: form.removeprefix("...") for k, form in mats.items()}
    count = max(len(args[k].layout.shape) - len(own[k]) if form != own[k] else 0
                for k, form in mats.items())
    for k, form in mats.items():
        x = found[k] = args[k].reshape(-1) if form in letters else args[k]
        every = [*range(count)] if form != own[k] else []
        every += [None if name == "_" else count + letters.index(name) for name in own[k]]
        axes[k] = tuple(every[len(every) - x.ndim:])
        for axis, n in zip(axes[k], x.shape, strict=True):
            if axis is not None and lengths.setdefault(axis, n) == 1:
                lengths[axis] = n
    return TileGrid(tuple(lengths[k] for k in sorted(lengths)), axes, tuple(found))


def grid_of_stacks(operation: Cuttable, args: Arguments) -> TileGrid:
    """Return the grid of a call with matrices, or stacks of them, which stay whole."""
    vectors = any(args[k].ndim == 1 for k in operation.operands)
    return grid_by(operation, ",".join("..._" if vectors and k == operation.result else "...__"
                                       for k in operation.operands), args)


def lines_along(args: Arguments, kwargs: Keywords) -> TileGrid:
    """Return the grid of ``f(x, out, axis, ...)``, in which lines along the axis stay whole."""
    x, every = args[0], tuple(range(args[0].ndim))
    return TileGrid(x.shape, {0: every, 1: every}, args, whole=(as_axis(args[2], x.ndim),))


def with_copies(operation: Cuttable, args: Arguments) -> Arguments:
    """Return arguments with copies of operands that the result would overwrite unread."""
    out = args[operation.result]
    with calls_of_their_own():  # that are cut, too, if there is no room for them
        copies = {id(x): x.copy() for k in operation.operands
                  if isinstance(x := args[k], Mat) and must_copy(x, out)}
    return tuple(copies.get(id(x), x) for x in args)


# Packed operands


def _tiles_or_packed(operation: Cuttable, grid: TileGrid, kwargs: Keywords,
                     budget: int) -> Iterator[Tile]:
    """Return the tiles of a grid: of views, or of packed parts where these are far fewer."""
    packed = PackedGrid(grid.shape, grid.operands, grid.args, grid.whole)
    lengths = packed.blocks(budget)
    with suppress(TileTooLarge):
        direct = grid.blocks(budget)
        if grid.count(direct) <= FEWER * packed.count(lengths):
            return tiles_over(operation, grid, kwargs, budget, direct, free=True)
    return (_packed_tile(operation, packed.arguments(window), kwargs, budget)
            for window in packed.windows(lengths))


def _packed_tile(operation: Cuttable, args: Arguments, kwargs: Keywords, budget: int) -> Tile:
    """Return a tile of packed operands; those on the device only to fit into `budget`."""
    found = tile_of(operation, args, kwargs)
    read = {id(x) for x in found.reads}
    results = {id(x): StagedResult(x, x.dtype, id(x) in read) for x in found.writes}
    inputs = {id(x): staged(x) for x in found.reads if id(x) not in results}
    targets = {key: result.target for key, result in results.items()}
    if span_bytes(*(inputs | targets).values()) > budget:
        inputs = {key: without_gaps(x) for key, x in inputs.items()}
    parts = inputs | targets

    def run() -> None:
        operation(*(parts.get(id(x), x) for x in args), **kwargs)
        for result in results.values():
            result.finish()

    return Tile(run, tuple(parts[id(x)] for x in found.reads),
                tuple(parts[id(x)] for x in found.writes), passed=nothing)


# Operations on vectors, and those that return a number: numbers of pieces are combined

Combine = Callable[[list[Any], DType], Any]  # of the numbers of the pieces


def by_pieces(operation: Cuttable, combine: Combine | None = None) -> Cutter:
    """Return the cutter of an operation of BLAS level 1, whose numbers `combine` merges."""
    operation.reads_once = True

    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        packed: list[tuple[Mat, Mat]] = []
        if kwargs or _differ_in_shape(operation, args):
            args, packed = _as_vectors(operation, args, **kwargs)
        grid = grid_by(operation, "...", args)
        if combine is None:
            yield from tiles_over(operation, grid, {}, budget, free=not packed)
            for view, of in packed:
                yield Tile(partial(put_back, view, of))  # which is cut itself
        else:
            yield from _combined(operation, grid, combine, budget)

    return cut


def all_true(operation: Cuttable) -> Cutter:
    """Return the cutter of a test of all elements of operands of one shape."""
    operation.reads_once = True

    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        if _differ_in_shape(operation, args):
            raise TileTooLarge(sum(args[k].nbytes for k in operation.operands))
        return _combined(operation, grid_by(operation, "...", args), all_of, budget)

    return cut


def _differ_in_shape(operation: Cuttable, args: Arguments) -> bool:
    return len({x.shape for k in operation.operands if isinstance(x := args[k], Mat)}) > 1


def _as_vectors(operation: Cuttable, args: Arguments, n: int | None = None,
                **incs: int) -> tuple[Arguments, list[tuple[Mat, Mat]]]:
    """Return the arguments with vectors of used elements, and written ones with packed copies."""
    found, packed = list(args), []
    for k in operation.operands:
        view = args[k]
        flat = view.layout.viewed_as((view.size,))
        if flat is None:
            copy = view.copy()
            if operation.declared_direction(k, args) is not INPUT:
                packed.append((view, copy))
            view, flat = copy, copy.layout.reshape((view.size,))
        inc = incs.get("inc" + operation.positional[k], 1)
        found[k] = view.over(used_part(flat, n, inc))
    return tuple(found), packed


def used_part(vector: Layout, n: int | None, inc: int) -> Layout:
    """Return the layout of the elements of a vector that BLAS would use, in its order."""
    most = -(-vector.size // abs(inc))
    used = most if n is None else n
    stop = (used - 1) * abs(inc) + 1 if used else 0
    return vector.part((slice(0, stop, abs(inc)),)).part((slice(None, None, 1 if inc > 0 else -1),))


def put_back(view: Mat, packed: Mat) -> None:
    """Copy elements to a view of another shape."""
    view.assign_(packed.reshape(view.shape))


def _combined(operation: Cuttable, grid: TileGrid, combine: Combine, budget: int) -> Iterator[Tile]:
    """Yield the tiles of a grid; the last one combines their numbers."""
    found: list[object] = []
    for tile in tiles_over(operation, grid, {}, budget):
        yield tile._replace(run=partial(_note, found, tile.run), passed=partial(found.append, 1))
    dtype = next(v.dtype for v in grid.args if isinstance(v, Mat))
    yield Tile(lambda: combine(found, dtype))


def _note(found: list[object], run: Callable[[], object]) -> None:
    if not (found and found[-1] is False):  # a condition does not hold for all elements
        found.append(run())


def by_first_of_largest(operation: Cuttable, size_of: Callable[[Mat], float]) -> Cutter:
    """Return the cutter of a search for the first element of the largest size in a vector."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        (x, *_), _ = _as_vectors(operation, args, **kwargs)
        grid = TileGrid(x.shape, {0: (0,)}, (x,))
        found: list[tuple[float, int]] = []
        for window in grid.windows(grid.blocks(budget)):
            (part,) = grid.arguments(window)
            yield Tile(partial(_note_largest, found, operation, size_of, part, window[0].start),
                       (part,))
        yield Tile(lambda: found[int(np.argmax([size for size, _ in found]))][1])

    return cut


def _note_largest(found: list[tuple[float, int]], operation: Cuttable,
                  size_of: Callable[[Mat], float], part: Mat, start: int) -> None:
    at: Any = operation(part)
    found.append((size_of(part[at:at + 1]), start + at))


# What the numbers of pieces become


def added(found: list[Number], dtype: DType) -> Number:
    """Return the sum, rounded to the dtype; that of complex numbers may be real."""
    total = sum(found)
    kind = dtype if isinstance(total, complex) else dtype.type(0).real.dtype
    return kind.type(total).item()


def as_norm(found: list[float], dtype: DType) -> float:
    """Return the Euclidean norm of the norms of pieces."""
    total = math.nan if any(map(math.isnan, found)) else math.hypot(*found)
    return float(dtype.type(0).real.dtype.type(total))


def all_of(found: list[bool], dtype: DType) -> bool:
    """Return whether a condition holds for all pieces."""
    return all(found)
