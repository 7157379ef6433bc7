"""Copies by integers: gathers and scatters, and the positions of true elements in a mask. Devices
have kernels for them.

A position counts the items of some axes, which are called chosen, by rows. Whoever calls these
operations has checked the positions (`within`). This module does not know how indices are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ...devices.in_use import computes_elsewhere
from ...layout.shapes import Ints
from ...matrix.creation import adopted
from ...matrix.mat import Mat, new_like
from ...matrix.reading import call_reading
from ...support.dtypes import EVERY
from ...support.plugins import at_first_use
from ...support.types import Arguments, Array, Engine, Keywords
from ..engine.operation import InOut, Input, Output, number_op, op
from ..primitives.elementwise import add
from ..tiles.overlap import DEVICE_AXES
from ..tiles.tile import GridAxes, Tile, TileTooLarge, made_later, or_by_host, over

signatures = at_first_use("ops.tiles.signatures")
TILE = 4096  # elements of a mask that are counted together
LONG = np.dtype(np.int64)


def _fits_device(*mats: Mat) -> bool:
    """Return whether a device can step along the axes of all Mats."""
    return all(m.layout.ndim <= DEVICE_AXES for m in mats)


def gathered_shape(x: Mat, at: Mat, place: int, chosen: Ints) -> Ints:
    """Return the shape of a selection: axes that are not chosen, those of `at` at `place`."""
    rest = [n for k, n in enumerate(x.layout.shape) if k not in chosen]
    return (*rest[:place], *at.layout.shape, *rest[place:])


def item_axes(ndim: int, chosen: Ints, place: int, count: int) -> GridAxes:
    """Return the axes of an operand in a grid of other axes and `count` of positions."""
    others = [k + count * (k >= place) for k in range(ndim - len(chosen))]
    return tuple(None if k in chosen else others.pop(0) for k in range(ndim))


# Gathers


@op(method="", by_form=True)
def gather(x: Input, at: Input, out: Output, place: int, chosen: Ints) -> None:
    """Copy the items of `x` at the positions `at` to `out`."""


def _grid_of_gather(args: Arguments, kwargs: Keywords) -> Any:
    x, at, out, place, chosen = args
    return signatures.TileGrid(out.shape, {0: item_axes(x.ndim, chosen, place, at.ndim),
                                1: tuple(range(place, place + at.ndim)),
                                2: tuple(range(out.ndim))}, args)


gather.result_of = lambda x, at, out, place, chosen: (
    gathered_shape(x, at, place, chosen), x.element_type)
gather.cut_by(over(gather, _grid_of_gather, or_by_host(gather)))
gather.prepare("cuda", dtypes=EVERY, when=_fits_device)(
    lambda cuda, x, at, out, place, chosen: cuda.prepare_gather(x, at, out, place, chosen))


@gather.on("array")
def gather_numpy(np: Engine, x: Array, at: Array, out: Array, place: int, chosen: Ints) -> None:
    items, positions = items_by_position(x, at, chosen)
    _positions_first(out, at.ndim, place)[...] = items[positions]


def items_by_position(x: Array, at: Array, chosen: Ints) -> tuple[Array, tuple[Array, ...]]:
    """Return a view of `x` with the chosen axes first, and the positions as an index of these."""
    rest = [k for k in range(x.ndim) if k not in chosen]
    lengths = tuple(x.shape[k] for k in chosen)
    wrapped = np.where(at < 0, at + prod(lengths), at)
    return x.transpose(*chosen, *rest), np.unravel_index(wrapped, lengths)


def _positions_first(a: Array, ndim: int, place: int) -> Array:
    return np.moveaxis(a, range(place, place + ndim), range(ndim))


@op(method="", by_form=True)
def gather_along(x: Input, at: Input, out: Output, axis: int) -> None:
    """Copy to `out` the element of `x` at each index of an axis; both are broadcast."""


def _grid_of_gather_along(args: Arguments, kwargs: Keywords) -> Any:
    x, at, out, axis = args
    every = tuple(range(out.ndim))
    items = tuple(None if k == axis else k for k in every[out.ndim - x.ndim:])
    return signatures.TileGrid(out.shape, {0: items, 1: every[out.ndim - at.ndim:], 2: every}, args)


gather_along.cut_by(over(gather_along, _grid_of_gather_along, or_by_host(gather_along)))
gather_along.prepare("cuda", dtypes=EVERY, when=_fits_device)(
    lambda cuda, x, at, out, axis: cuda.prepare_gather_along(x, at, out, axis))


gather_along.on("array")(
    lambda np, x, at, out, axis: np.copyto(out, np.take_along_axis(x, at, axis)))


# Scatters


@op(method="", by_form=True)
def scatter(at: Input, source: Input, x: InOut, place: int, chosen: Ints, unique: bool) -> None:
    """Overwrite the items of `x` at positions, with the last one of several unless `unique`."""


def _grid_of_scatter(args: Arguments, kwargs: Keywords) -> Any:
    """Return the grid of tiles; positions are cut along the first axis, to stay in order."""
    at, source, x, place, chosen, _ = args
    return signatures.TileGrid(source.shape, {0: tuple(range(place, place + at.ndim)),
                                   1: tuple(range(source.ndim)),
                                   2: item_axes(x.ndim, chosen, place, at.ndim)}, args,
                    whole=range(place + 1, place + at.ndim))


scatter.cut_by(over(scatter, _grid_of_scatter, or_by_host(scatter)))
scatter.prepare("cuda", dtypes=EVERY, when=lambda at, source, x: (
    at.layout.contiguous and _fits_device(at, source, x)))(
    lambda cuda, at, source, x, place, chosen, unique: cuda.prepare_scatter(
        at, source, x, place, chosen, unique))


# the parameters are those of the operation
@scatter.on("array")
def scatter_numpy(np: Engine, at: Array, source: Array, x: Array, place: int, chosen: Ints,
                  unique: bool) -> None:
    """Compute `scatter` on arrays, one position after another."""
    items, positions = items_by_position(x, at.reshape(-1), chosen)
    rest = items.shape[len(chosen):]
    items[positions] = _positions_first(source, at.ndim, place).reshape(at.size, *rest)


# Positions


@number_op(method="")
def within(at: Input, low: int, high: int) -> None:
    """Return whether all packed integers are at least `low` and below `high`."""


within.waits_for = "whether indices are in range"
within.reads_once = True
within.cut_by(made_later(lambda: signatures.by_pieces(within, signatures.all_of)))
within.prepare("cuda", dtypes=LONG.char)(
    lambda cuda, at, low, high: cuda.prepare_within(at, low, high))
within.on("array")(
    lambda np, at, low, high: not at.size or bool(at.min() >= low and at.max() < high))


@op(method="", by_form=True)
def mask_starts(mask: Input, starts: Output) -> None:
    """Count the true elements before each tile of a packed mask, and, at last, in all of it."""


mask_starts.result_of = lambda mask, starts: ((1 + -(-mask.size // TILE),), LONG)
mask_starts.prepare("cuda", dtypes=EVERY)(lambda cuda, mask, starts: cuda.prepare_mask_starts(mask))


@mask_starts.on("array")
def mask_starts_numpy(np: Engine, mask: Array, starts: Array) -> None:
    starts[0] = 0
    np.cumsum(np.add.reduceat(mask.reshape(-1), np.arange(0, mask.size, TILE), dtype=LONG),
              out=starts[1:])


@op(method="", by_form=True)
def mask_positions(mask: Input, starts: Input, out: Output) -> None:
    """Write the positions of true elements in a packed mask."""


mask_positions.prepare("cuda", dtypes=EVERY)(
    lambda cuda, mask, starts, out: cuda.prepare_mask_positions(mask))


mask_positions.on("array")(lambda np, mask, starts, out: np.copyto(out, np.flatnonzero(mask)))


def positions_of(mask: Mat) -> Mat:
    """Return the positions of true elements in `mask`, of bool, as a new vector of int64."""
    if not computes_elsewhere(mask):
        return call_reading(np.flatnonzero, (mask,), {}, "nonzero")
    # no other thread can change a copy after it was counted
    packed = mask.copy() if mask.layout.contiguous else mask.contiguous()
    if not packed.size:
        return new_like(mask, (0,), LONG)
    starts = mask_starts.new((packed, None))
    found = new_like(mask, (starts._size_at(-1),), LONG)
    return mask_positions.new_into(found, (packed, starts, None)) if found.size else found


# Items that masks select


@op(method="", by_form=True)
def pick(mask: Input, starts: Input, x: Input, out: Output) -> None:
    """Copy to `out` the items of `x` for which the packed `mask` of its first axes is true."""


pick.prepare("cuda", dtypes=EVERY, when=lambda mask, starts, x, out: (
    all(m.layout.contiguous for m in (mask, starts, out)) and _fits_device(mask, x)))(
    lambda cuda, mask, starts, x, out: cuda.prepare_pick(mask, x))


@pick.on("array")
def pick_numpy(np: Engine, mask: Array, starts: Array, x: Array, out: Array) -> None:
    found = x[mask]  # perhaps of other length, if another thread has changed the mask
    out[:len(found)] = found[:len(out)]


@pick.cut_by
def cut_pick(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Let gathers, with tiles of their own, copy the items at positions."""
    mask, _, x, out = args
    yield Tile(lambda: gather(x, positions_of(mask), out, 0, tuple(range(mask.ndim))))


def picked(x: Mat, mask: Mat) -> Mat:
    """Return a new Mat with the items of `x`, not empty, where a mask of its first axes is true."""
    packed = mask.contiguous()
    starts = mask_starts.new((packed, None))
    out = new_like(x, (starts._size_at(-1), *x.layout.shape[mask.layout.ndim:]), x.element_type)
    return pick.new_into(out, (packed, starts, x, None)) if out.layout.size else out


# Tiles of masks


def _parts(mask: Mat, length: int) -> Iterator[slice]:
    """Yield parts of a mask of at most so many elements, or of whole tiles."""
    if length < 1:
        raise TileTooLarge(2 * LONG.itemsize)
    step = length // TILE * TILE or length
    for start in range(0, mask.size, max(step, TILE)):
        stop = min(start + max(step, TILE), mask.size)
        for k in range(start, stop, step):
            yield slice(k, min(k + step, stop))


@mask_starts.cut_by
def cut_mask_starts(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut the mask; the host adds up the counts."""
    mask, starts = args[0].reshape(-1), args[1]
    counts = np.zeros(starts.size, LONG)
    for part in _parts(mask, budget // 2):
        yield Tile(partial(_count, mask[part], counts[1 + part.start // TILE:]), (mask[part],))
    yield Tile(lambda: signatures.on_host(starts).assign_(adopted(np.cumsum(counts))))


def _count(part: Mat, counts: Array) -> None:
    found = np.diff(mask_starts.new((part, None)).to_numpy())
    counts[:len(found)] += found


@mask_positions.cut_by
def cut_mask_positions(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut the mask, each part of which is counted again."""
    mask, out = args[0].reshape(-1), args[2]
    done = [0]  # how many positions were written
    for part in _parts(mask, budget // (2 + LONG.itemsize)):
        yield Tile(partial(_write_positions, mask[part], part.start, out, done), (mask[part],))


def _write_positions(seen: Mat, start: int, out: Mat, done: list[int]) -> None:
    starts = mask_starts.new((seen, None))
    found = starts._size_at(-1)
    if found:
        to = out[done[0]:done[0] + found]
        mask_positions(seen, starts, to)
        add(to, start, to)
    done[0] += found
