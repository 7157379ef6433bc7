"""Index signatures: which axes of an operation's operands are cut together. Tiles follow from them.

In ``"i,j,ij"``, a block of i and j is a call with these parts of three operands. `_` is an axis
that stays whole, `...` are further axes, along which operands are broadcast; an operand of fewer
axes has the last ones, one with a single letter is a vector. One form alone is that of all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from ...core.direction import INPUT
from ...layout.shapes import as_axis
from ...layout.strided import Layout
from ...matrix.mat import Mat
from ...support.types import Arguments, DType, Keywords, Number
from .overlap import must_copy
from .staging import StagedResult, staged, without_gaps
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
from .tile_grid import PackedGrid, TileGrid, tile_of, tiles_over

FEWER = 4  # how many times as many views cost as much as packing


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
                yield Tile(partial(_put_back, view, of))  # which is cut itself
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


def _put_back(view: Mat, packed: Mat) -> None:
    view.assign_(packed.reshape(view.shape))


def _combined(operation: Cuttable, grid: TileGrid, combine: Combine,
              budget: int) -> Iterator[Tile]:
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
