"""Cutting element-wise operations: along any axes of the result, and the operands with them."""

from __future__ import annotations

from collections.abc import Iterator

from ..matrix.mat import Mat
from ..support.types import Arguments, Keywords
from .overlap import must_copy
from .tile_grid import GridAxes, Gridded, TileGrid, broadcast_axes, tiles_over
from .tiling import Cutter, Tile


def by_elements(operation: Gridded) -> Cutter:
    """Return the cutter of an operation that computes element by element.

    Parameters
    ----------
    operation : Op
        An operation each element of whose result depends on those elements of the operands,
        broadcast to its shape, that are at its position.

    Returns
    -------
    callable
        What `Op.cut_by` takes.
    """
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        args = with_copies(operation, args)
        out = args[operation.result]
        axes = {k: broadcast_axes(args[k], out.ndim) for k in operation.operands}
        return tiles_over(operation, TileGrid(out.shape, axes, args), kwargs, budget, free=True)

    return cut


def with_copies(operation: Gridded, args: Arguments) -> Arguments:
    """Return arguments in which operands that share elements with the result at other positions,
    which would be overwritten before they are read, are copies.
    """
    out = args[operation.result]
    copies = {id(x): x.copy() for k in operation.operands
              if isinstance(x := args[k], Mat) and must_copy(x, out)}
    return tuple(copies.get(id(x), x) for x in args)


def by_lines_of_factors(operation: Gridded, factors: int, axis: int) -> Cutter:
    """Return the cutter of an operation on matrices, element by element, but with operand number
    `factors` of any shape, which has a factor for each index of an axis.
    """
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        given = args[factors]
        flat = given.layout.viewed_as((given.size,))
        vector = given.copy().reshape(-1) if flat is None else given.over(flat)
        args = with_copies(operation, (*args[:factors], vector, *args[factors + 1:]))
        axes: dict[int, GridAxes] = dict.fromkeys(operation.operands, (0, 1))
        axes[factors] = (axis,)
        return tiles_over(operation, TileGrid(args[operation.result].shape, axes, args), kwargs,
                          budget, free=True)

    return cut
