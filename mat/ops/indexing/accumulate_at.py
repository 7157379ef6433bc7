"""Items of a Mat combined with others at the positions that an index selects, one after another
where several are for one place: NumPy's ``add.at`` and its like, while a device is in use.

Their order is that of the index, on every device, so that the bits are NumPy's.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import prod

import numpy as np

from ...errors import DTypeError, ShapeError
from ...layout.shapes import Ints
from ...matrix.mat import Mat
from ...support.dtypes import EVERY, represents
from ...support.plugins import plugin
from ...support.types import Arguments, Array, DType, Engine, Index, Keywords, Number, Operand
from ..engine.operands import as_mat
from ..engine.operation import InOut, Input, op
from ..primitives.elementwise import fill
from ..primitives.selecting import number_as_mat
from ..tiles.overlap import DEVICE_AXES
from ..tiles.tile import Tile, TileTooLarge
from .advanced import Advanced, advanced, within_at_once
from .gathering import gathered_shape, item_axes, items_by_position
from .selection import fitted
from .sorting import argsort, count_weights

RULES: dict[np.ufunc, str] = {
    np.add: "add", np.subtract: "subtract", np.multiply: "multiply", np.maximum: "maximum",
    np.minimum: "minimum"}
_BY_NAME = {name: rule for rule, name in RULES.items()}


@op(method="", by_form=True)
def accumulate_at(at: Input, order: Input, source: Input, x: InOut, rule: str,
                  chosen: Ints) -> None:
    """Combine items of `x` at positions, sorted by `order`, with those along the first axis."""
    if at.ndim != 1 or order.layout.shape != at.layout.shape or source.dtype != x.dtype:
        raise ShapeError(f"accumulating requires a vector of positions, their order, and a source "
                         f"of the dtype of x, got {at.label()}, {order.label()}, {source.label()} "
                         f"and {x.label()}")


@accumulate_at.cut_by
def accumulation_tiles(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut positions in their order, each tile with its own `order`, and items."""
    at, _, source, x, _, chosen = args
    grids = plugin("ops.tiles.signatures")
    axes = {0: (0,), 2: tuple(range(source.ndim)), 3: item_axes(x.ndim, chosen, 0, 1)}
    grid = grids.TileGrid(source.shape, axes, args, besides=[(at, (0,))] * 2)
    try:
        lengths = grid.blocks(budget)
    except TileTooLarge:
        yield plugin("ops.tiles.signatures").by_host(accumulate_at, args, kwargs)
        return
    for window in grid.windows(lengths):
        part = grid.arguments(window)
        yield Tile(partial(_accumulate, part), (part[0], *part[2:4]), (part[3],))


def _accumulate(args: Arguments) -> None:
    accumulate_at(args[0], argsort(args[0]), *args[2:])


@count_weights.cut_by
def count_weights_tiles(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Let accumulations, with tiles of their own, add the weights in the same order."""
    x, order, weights, out = args
    yield Tile(lambda: fill(0, out))
    yield Tile(lambda: accumulate_at(x, order, weights, out, "add", (0,)))


accumulate_at.prepare("cuda", dtypes=EVERY, when=lambda at, order, source, x: (
    at.layout.contiguous and order.layout.contiguous and source.ndim <= DEVICE_AXES))(
    lambda cuda, at, order, source, x, rule, chosen: cuda.prepare_accumulate(
        at, source, x, rule, chosen))


# the parameters are those of the operation
@accumulate_at.on("array")
def accumulate_at_numpy(np: Engine, at: Array, order: Array, source: Array, x: Array, rule: str,
                        chosen: Ints) -> None:
    items, positions = items_by_position(x, at, chosen)
    _BY_NAME[rule].at(items, positions, source)


def accumulated_at(rule: np.ufunc, x: Mat, index: Index, value: Operand) -> bool:
    """Compute ``rule.at(x, index, value)``; return False, with nothing done, if impossible."""
    source = _of_dtype(rule, x, value)
    chosen = advanced(x, index) if source is not None and x.ndim else None
    if source is None or chosen is None:
        return False
    view = chosen.view
    at = _positions(chosen)
    shape = gathered_shape(view, at, chosen.place, chosen.chosen)
    if source.ndim:
        source = fitted(source, shape)
    source = _positions_first(source.broadcast_to(shape), at.ndim, chosen.place)
    if source.storage is view.storage:
        source = source.copy()
    if source.size:
        flat = at if at.ndim == 1 else at.reshape(-1)
        flat = flat.copy() if flat.storage is view.storage else flat
        accumulate_at(flat, argsort(flat), source, view, RULES[rule], chosen.chosen)
    return True


def _positions(chosen: Advanced) -> Mat:
    """Return the positions, made nonnegative."""
    at, _ = chosen.positions()
    count = prod(chosen.lengths())
    if (chosen.mask is not None or len(chosen.indices) > 1 or not at.size
            or within_at_once(at, 0, count)):
        return at
    return plugin("ops.primitives.ufuncs").remainder(at, count)


def _positions_first(source: Mat, ndim: int, place: int) -> Mat:
    """Return a Mat with the axes of positions, `ndim` from `place` on, as its first one."""
    if ndim == 1 and not place:
        return source
    axes = (*range(place, place + ndim), *range(place), *range(place + ndim, source.ndim))
    moved = source.permute(axes)
    return moved.reshape((prod(moved.shape[:ndim]), *moved.shape[ndim:]))


def _of_dtype(rule: np.ufunc, x: Mat, value: Operand) -> Mat | None:
    """Return the value in the dtype of `x`, if NumPy's results in that dtype are those of it."""
    dtype = x.dtype
    if dtype.char not in EVERY or (dtype.kind == "b" and rule is np.subtract):
        return None
    if type(value) in (bool, int, float, complex):
        return number_as_mat(value, dtype, x) if _is_element(value, dtype) else None
    try:
        found = as_mat(value, "a value")
    except (DTypeError, ShapeError):
        return None
    if not found.device_enabled or np.result_type(dtype, found.dtype) != dtype:
        return None
    return found.astype(dtype, copy=False)


def _is_element(value: Number, dtype: DType) -> bool:
    """Return whether NumPy computes with a Python number in that dtype, exactly."""
    if type(value) is float and dtype.char == "d":
        return True
    if type(value) is complex and dtype.kind != "c":
        return False
    if dtype == np.uint64 or not represents(dtype, value) or np.result_type(dtype, value) != dtype:
        return False
    return bool(dtype.type(value) == value or value != value)
