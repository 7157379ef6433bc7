"""Cutting operations on sliding windows, pooling and convolution of one channel: into blocks of
windows, with the part of the input that these see.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...layout.shapes import Ints
from ...layout.sliding_window import Windows
from ...matrix.mat import Mat
from ...support.types import Arguments, Keywords
from .tile_grid import Gridded, Span, TileGrid, tile_of
from .tiling import Cutter, Tile


class WindowGrid(TileGrid):
    """The grid of the windows of a call.

    Parameters
    ----------
    axes : tuple of WindowAxis
        The axes; those of a batch have windows of one element.
    inputs, outputs : tuple of int
        The positions of operands that windows see, and of those that have an element for each
        window. The others stay whole.
    args : tuple
        The arguments.
    """

    def __init__(self, axes: Windows, inputs: Ints, outputs: Ints, args: Arguments) -> None:
        every = tuple(range(len(axes)))
        others = {k: (None,) * x.ndim for k, x in enumerate(args)
                  if isinstance(x, Mat) and k not in (*inputs, *outputs)}
        super().__init__(tuple(a.n for a in axes), {**dict.fromkeys(outputs, every), **others},
                         args)
        self.axes = axes
        self.inputs = inputs
        self.spans += [Span(args[k], every, axes) for k in inputs]

    def block(self, window: tuple[slice, ...]) -> tuple[Arguments, Windows]:
        """Return the arguments, with views of a block of windows and of the elements they cover,
        and the axes of the block.
        """
        found = list(self.arguments(window))
        parts = [a.part(part.start, part.stop) for a, part in zip(self.axes, window, strict=True)]
        for k in self.inputs:
            found[k] = self.args[k].over(self.args[k].layout.part(tuple(seen for seen, _ in parts)))
        return tuple(found), tuple(axis for _, axis in parts)


def by_windows(operation: Gridded, inputs: Ints, outputs: Ints) -> Cutter:
    """Return the cutter of an operation whose setting `axes` are those of its windows."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        axes: Windows = kwargs["axes"]
        if any(a.n == 0 or a.k == 0 for a in axes):  # nothing is written
            return
        grid = WindowGrid(axes, inputs, outputs, args)
        for window in grid.windows(grid.blocks(budget)):
            block, inner = grid.block(window)
            yield tile_of(operation, block, {"axes": inner})

    return cut
