"""Cutting convolutions of images with channels: between images, between outputs, and where one of
each is too large into slabs along the first spatial axis, with the elements that their windows see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from ..layout.channel_window import Channels, SpacedAxis
from ..matrix.mat import new_like
from ..support.types import Arguments, Function, Keywords
from .elementwise import assign
from .staging import StagedResult, staged
from .tile_grid import GridAxes, Gridded, TileGrid, tiles_over
from .tiling import Cutter, Tile, TileTooLarge

SizesOf = Callable[[Arguments, Keywords], Channels]
_LEAST = 4  # slabs are at least so many windows high as long as outputs can be cut
# the axes of the grid: images, outputs
_AXES: dict[str, tuple[int | None, int | None]] = {
    "x": (0, None), "w": (1, None), "y": (0, 1)}


def by_images_and_outputs(operation: Gridded, roles: str, sizes_of: SizesOf,
                          by_slabs: Function | None = None) -> Cutter:
    """Return the cutter of a convolution, or of a derivative of one.

    Parameters
    ----------
    operation : Op
        The operation.
    roles : str
        What each operand is, or is the derivative by: "x", "w" or "y".
    sizes_of : callable
        Returns the sizes for arguments and keywords.
    by_slabs : callable, optional
        Yields the tiles of one image, for those arguments; without it outputs are cut.
    """
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        groups = sizes_of(args, kwargs).groups
        try:
            grid = _grid(args, roles, groups == 1 and by_slabs is None)
            yield from tiles_over(operation, grid, kwargs, budget, grid.blocks(budget))
            return
        except TileTooLarge:
            if groups == 1 and by_slabs is None:
                raise
        if groups > 1:
            inner = {name: value for name, value in kwargs.items() if name != "groups"}
            for group in range(groups):
                yield from cut(_of_group(args, roles, group, groups), inner, budget)
            return
        assert by_slabs is not None
        grid = _grid(args, roles, False)
        for window in grid.windows((1, grid.shape[1])):
            yield from by_slabs(grid.arguments(window), kwargs, budget)

    return cut


def _grid(args: Arguments, roles: str, outputs: bool) -> TileGrid:
    """Return the grid of images and, if they may be cut, outputs."""
    axes: dict[int, GridAxes] = {
        k: (*_AXES[role], *(None,) * (args[k].ndim - 2)) for k, role in enumerate(roles)}
    y = args[roles.index("y")]
    return TileGrid(y.shape[:2], axes, args, whole=() if outputs else (1,))


def _of_group(args: Arguments, roles: str, group: int, groups: int) -> Arguments:
    """Return the operands with the channels and outputs of one group."""
    found = []
    for x, role in zip(args, roles, strict=True):
        axis = 0 if role == "w" else 1
        length = x.shape[axis] // groups
        part = slice(group * length, (group + 1) * length)
        found.append(x.over(x.layout.part((part,) if axis == 0 else (slice(None), part))))
    return tuple(found)


# Slabs


class Slab(NamedTuple):
    """Points of an axis and what they see: the points ``first`` to ``last`` of the result, the
    part of the input, the padding, and how many points follow from these, of which the first
    `skipped` are not wanted, nor those after the wanted ones.
    """

    first: int
    last: int
    seen: slice
    padding: int
    skipped: int
    points: int


def slab(a: SpacedAxis, first: int, last: int) -> Slab:
    """Return how to compute some points of an axis: padding is the same at both ends, so that
    where it is needed at one of them there are points too many at the other.
    """
    start, stop = first * a.step + a.off, (last - 1) * a.step + a.off + a.dilation * (a.k - 1) + 1
    padding = -a.off if start < 0 or stop > a.nx else 0
    skipped = 0
    if start < 0:
        start, skipped = 0, first
    elif padding:
        skipped = min(first, -(-padding // a.step))
        start += padding - skipped * a.step
        while start >= a.nx and skipped < first:  # windows that see nothing but padding
            start, skipped = start - a.step, skipped + 1
        if start < 0:
            start, skipped = 0, first
    seen = slice(start, min(stop, a.nx))
    reach = seen.stop - seen.start + 2 * padding - a.dilation * (a.k - 1) - 1
    return Slab(first, last, seen, padding, skipped, reach // a.step + 1)


def slabs_of_points(operation: Function, axes_of: SizesOf, args: Arguments, kwargs: Keywords,
                    budget: int) -> Iterator[Tile]:
    """Yield the tiles of ``operation(x, w, y)`` of one image, by outputs and by slabs along the
    first spatial axis, which have as many outputs as there is room for.
    """
    x, w, y = args
    if not y.size:
        return
    axes = axes_of(args, kwargs).axes
    outputs, length = y.shape[1], y.shape[2]
    while (needed := _bytes(axes[0], args, outputs, length)) > budget:
        if length > _LEAST * axes[0].k or (outputs == 1 and length > 1):
            length = -(-length // 2)
        elif outputs > 1:
            outputs = -(-outputs // 2)
        else:
            raise TileTooLarge(needed)
    for first in range(0, y.shape[2], length):
        part = slab(axes[0], first, min(first + length, y.shape[2]))
        seen = staged(x[:, :, part.seen])
        paddings = (part.padding, *(-a.off for a in axes[1:]))
        for k in range(0, y.shape[1], outputs):
            result = StagedResult(y[:, k:k + outputs, part.first:part.last], y.dtype, False)
            mats = seen, w[k:k + outputs], result.target
            yield Tile(partial(_convolve_slab, operation, mats, part, result,
                               {**kwargs, "padding": paddings}), mats[:2], (result.target,))


def _bytes(a: SpacedAxis, args: Arguments, outputs: int, length: int) -> int:
    """Return the bytes that so many points need at most, with those that are too many."""
    x, w, y = args
    extra = 2 * -(-max(0, -a.off) // a.step) + 2
    rows = min(a.nx, (length + extra) * a.step + a.dilation * (a.k - 1))
    per_output: int = w.nbytes // len(w) + y.nbytes // y.shape[1] // a.n * (2 * length + extra)
    of_image: int = x.nbytes // max(a.nx, 1) * rows
    return outputs * per_output + of_image


# the parameters are the operands, with the points and the block of the result
def _convolve_slab(operation: Function, args: Arguments, part: Slab, result: StagedResult,
                   kwargs: Keywords) -> None:
    x, w, y = args
    if part.points == part.last - part.first:
        operation(x, w, y, **kwargs)
    else:
        found = new_like(y, (*y.shape[:2], part.points, *y.shape[3:]), y.dtype)
        operation(x, w, found, **kwargs)
        assign(found[:, :, part.skipped:part.skipped + part.last - part.first], y)
    result.finish()
