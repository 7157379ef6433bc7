"""Cutting convolutions of images with channels: between images, between outputs, and where one of
each is too large into slabs along the first spatial axis, with the elements that their windows see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from ..layout.channel_window import Channels, SpacedAxis
from ..matrix.mat import Mat
from ..support.types import Arguments, Function, Keywords
from .elementwise import assign
from .staging import StagedResult, StagedSum, staged
from .tile_grid import GridAxes, Gridded, TileGrid, tiles_over
from .tiling import Cutter, Tile, TileTooLarge

SizesOf = Callable[[Arguments, Keywords], Channels]
_LEAST = 4  # slabs are at least so many windows high as long as outputs can be cut
# the axes of the grid: images, outputs
_AXES: dict[str, tuple[int | None, int | None]] = {
    "x": (0, None), "w": (1, None), "y": (0, 1)}


def by_images(operation: Gridded, roles: str, sizes_of: SizesOf) -> Cutter:
    """Return the cutter of a convolution, or of a derivative of one.

    Parameters
    ----------
    operation : Op
        The operation.
    roles : str
        What each operand is, or is the derivative by: "x", "w" or "y".
    sizes_of : callable
        Returns the sizes for arguments and keywords.
    """
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        found = sizes_of(args, kwargs)
        groups, grid = found.groups, _grid(args, roles)
        lengths = None
        with suppress(TileTooLarge):
            lengths = grid.blocks(budget)
        if lengths is not None:
            yield from tiles_over(operation, grid, kwargs, budget, lengths)
            return
        if groups > 1:
            inner = {name: value for name, value in kwargs.items() if name != "groups"}
            for group in range(groups):
                yield from cut(_of_group(args, roles, group, groups), inner, budget)
            return
        for window in grid.windows((1, grid.shape[1])):
            yield from slab_tiles(operation, roles, found.axes, grid.arguments(window), kwargs,
                                  budget)

    return cut


def _grid(args: Arguments, roles: str) -> TileGrid:
    """Return the grid of images; outputs are not cut."""
    axes: dict[int, GridAxes] = {
        k: (*_AXES[role], *(None,) * (args[k].ndim - 2)) for k, role in enumerate(roles)}
    y = args[roles.index("y")]
    return TileGrid(y.shape[:2], axes, args, whole=(1,))


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
    """Neighbouring points of an axis whose windows reach the input with the same taps, and the part
    of the input that they see; no taps if they see nothing but padding.
    """

    points: slice
    seen: slice
    taps: slice


def slabs(a: SpacedAxis, length: int) -> Iterator[Slab]:
    """Yield all points of an axis as slabs of at most so many."""
    first = 0
    while first < a.n:
        low, high = _taps(a, first)
        last = first + 1
        while last < min(a.n, first + length) and _taps(a, last) == (low, high):
            last += 1
        start = first * a.step + a.off + low * a.dilation
        stop = (last - 1) * a.step + a.off + (high - 1) * a.dilation + 1
        seen = slice(start, stop) if low < high else slice(0)
        yield Slab(slice(first, last), seen, slice(low, high) if low < high else slice(0))
        first = last


def _taps(a: SpacedAxis, point: int) -> tuple[int, int]:
    """Return the taps of a point's window within the input, as a half-open range."""
    at = point * a.step + a.off
    return max(0, -(at // a.dilation)), min(a.k, (a.nx - 1 - at) // a.dilation + 1)


# the parameters are those of a cutter, with what it is for
def slab_tiles(operation: Function, roles: str, axes: tuple[SpacedAxis, ...], args: Arguments,
               kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Yield the tiles of one image, by outputs and by slabs along the first spatial axis, with as
    many outputs as there is room for.
    """
    x, w, y = (args[roles.index(role)] for role in "xwy")
    if not y.size:
        return
    outputs, length = _lengths(axes[0], (x, w, y), budget)
    inner = {**kwargs, "padding": (0, *(-a.off for a in axes[1:]))}
    for slab in slabs(axes[0], length):
        seen = x[:, :, slab.seen]
        if roles[-1] != "x":
            seen = staged(seen)  # once, for all outputs
        for k in range(0, y.shape[1], outputs):
            some = slice(k, k + outputs)
            views = {"x": seen, "w": w[some, :, slab.taps], "y": y[:, some, slab.points]}
            if seen.size:
                yield _tile_of_slab(operation, [views[role] for role in roles], inner,
                                    roles[-1] != "y")
            elif roles[-1] == "y":  # these windows see nothing but padding
                yield Tile(partial(assign, 0, views["y"]), (), (views["y"],))


def _lengths(a: SpacedAxis, mats: Arguments, budget: int) -> tuple[int, int]:
    """Return how many outputs and points there are in a slab."""
    outputs, length = mats[2].shape[1:3]
    while (needed := _bytes(a, mats, outputs, length)) > budget:
        if length > _LEAST * a.k or (outputs == 1 and length > 1):
            length = -(-length // 2)
        elif outputs > 1:
            outputs = -(-outputs // 2)
        else:
            raise TileTooLarge(needed)
    return outputs, length


def _bytes(a: SpacedAxis, mats: Arguments, outputs: int, length: int) -> int:
    """Return the bytes that so many outputs of so many points need at most."""
    x, w, y = mats
    rows = min(a.nx, (length - 1) * a.step + a.dilation * (a.k - 1) + 1)
    per_output: int = w.nbytes // len(w) + y.nbytes // (y.shape[1] * a.n) * length
    of_image: int = x.nbytes // max(a.nx, 1) * rows
    return outputs * per_output + of_image


def _tile_of_slab(operation: Function, views: list[Mat], kwargs: Keywords, adds: bool) -> Tile:
    """Return the tile that writes to the last view, or adds to it."""
    view = views[-1]
    result = StagedSum(view) if adds else StagedResult(view, view.dtype, False)
    mats = *map(staged, views[:-1]), result.target

    def run() -> None:
        operation(*mats, **kwargs)
        result.finish()

    return Tile(run, mats[:-1], mats[-1:])
