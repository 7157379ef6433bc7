"""Cutting convolutions of images with channels: between images, between outputs, and where one of
each is too large into slabs along the first spatial axis, with the elements that their windows see.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from ...layout.sliding_window import Channels, WindowAxis
from ...matrix.mat import Mat
from ...support.types import Arguments, Function, Keywords
from ..primitives.elementwise import assign
from ..tiles.staging import StagedResult, StagedSum, staged
from ..tiles.tile_grid import GridAxes, Gridded, TileGrid, tile_of
from ..tiles.tiling import Cutter, Tile, TileTooLarge

_LEAST = 4  # slabs are at least so many windows high as long as outputs can be cut
# the axes of the grid: images, outputs
_AXES: dict[str, tuple[int | None, int | None]] = {
    "x": (0, None), "w": (1, None), "y": (0, 1)}


def by_images(operation: Gridded, roles: str) -> Cutter:
    """Return the cutter of a convolution, or of a derivative of one, whose setting `sizes` are its
    sizes. `roles`: what each operand is, or is the derivative by: "x", "w" or "y".
    """
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        sizes: Channels = kwargs["sizes"]
        grid = _grid(args, roles)
        lengths = None
        with suppress(TileTooLarge):
            lengths = grid.blocks(budget)
        if lengths is not None:
            for window in grid.windows(lengths):
                images = sizes._replace(n=window[0].stop - window[0].start)
                yield tile_of(operation, grid.arguments(window), {"sizes": images})
            return
        if sizes.groups > 1:
            for group in range(sizes.groups):
                yield from cut(_of_group(args, roles, group, sizes.groups),
                               {"sizes": sizes._replace(groups=1)}, budget)
            return
        for window in grid.windows((1, grid.shape[1])):
            yield from slab_tiles(operation, roles, sizes._replace(n=1), grid.arguments(window),
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


def slab_tiles(operation: Function, roles: str, sizes: Channels, args: Arguments,
               budget: int) -> Iterator[Tile]:
    """Yield the tiles of one image, by outputs and by slabs along the first spatial axis, with as
    many outputs as there is room for.
    """
    x, w, y = (args[roles.index(role)] for role in "xwy")
    if not y.size:
        return
    axis, *others = sizes.axes
    outputs, length = _lengths(axis, (x, w, y), budget)
    for first in range(0, axis.n, length):
        points = slice(first, min(first + length, axis.n))
        part, inner = axis.part(points.start, points.stop)
        seen = x[:, :, part]
        if roles[-1] != "x":
            seen = staged(seen)  # once, for all outputs
        for k in range(0, y.shape[1], outputs):
            some = slice(k, k + outputs)
            views = {"x": seen, "w": w[some], "y": y[:, some, points]}
            if seen.size:
                found = sizes._replace(outputs=len(views["w"]), axes=(inner, *others))
                yield _tile_of_slab(operation, [views[role] for role in roles], found,
                                    roles[-1] != "y")
            elif roles[-1] == "y":  # these windows see nothing but padding
                yield Tile(partial(assign, 0, views["y"]), (), (views["y"],))


def _lengths(a: WindowAxis, mats: Arguments, budget: int) -> tuple[int, int]:
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


def _bytes(a: WindowAxis, mats: Arguments, outputs: int, length: int) -> int:
    """Return the bytes that so many outputs of so many points need at most."""
    x, w, y = mats
    rows = min(a.nx, (length - 1) * a.step + a.length)
    per_output: int = w.nbytes // len(w) + y.nbytes // (y.shape[1] * a.n) * length
    of_image: int = x.nbytes // max(a.nx, 1) * rows
    return outputs * per_output + of_image


def _tile_of_slab(operation: Function, views: list[Mat], sizes: Channels, adds: bool) -> Tile:
    """Return the tile that writes to the last view, or adds to it."""
    view = views[-1]
    result = StagedSum(view) if adds else StagedResult(view, view.dtype, False)
    mats = *map(staged, views[:-1]), result.target

    def run() -> None:
        operation(*mats, sizes=sizes)
        result.finish()

    return Tile(run, mats[:-1], mats[-1:])
