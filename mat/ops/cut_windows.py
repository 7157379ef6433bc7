"""Cutting operations on sliding windows, pooling and convolution of one channel: into blocks of
windows, with the part of the input that these see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..layout.shapes import Ints
from ..layout.sliding_window import WindowAxis
from ..matrix.mat import Mat
from ..support.types import Arguments, Keywords
from .tile_grid import Gridded, Span, TileGrid, tile_of
from .tiling import Cutter, Tile

WindowAxes = tuple[WindowAxis, ...]


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

    def __init__(self, axes: WindowAxes, inputs: Ints, outputs: Ints, args: Arguments) -> None:
        every = tuple(range(len(axes)))
        others = {k: (None,) * x.ndim for k, x in enumerate(args)
                  if isinstance(x, Mat) and k not in (*inputs, *outputs)}
        super().__init__(tuple(a.n for a in axes), {**dict.fromkeys(outputs, every), **others},
                         args)
        self.axes = axes
        self.inputs = inputs
        self.spans += [Span(args[k], every, axes) for k in inputs]

    def blocks(self, budget: int) -> Ints:
        """Return the lengths of blocks, as for every grid; but windows at the two ends of an axis
        that reach beyond both of them, by more than one has elements, are not in one block.
        """
        lengths = super().blocks(budget)
        return tuple(n - 1 if n == a.n > 1 and sum(beyond(a, 0, n)) >= a.k else n
                     for n, a in zip(lengths, self.axes, strict=True))

    def arguments(self, window: tuple[slice, ...]) -> Arguments:
        """Return the arguments with views of a block of windows, and of the elements they cover."""
        found = list(super().arguments(window))
        seen = tuple(slice(max(0, first(a, part.start)),
                           min(a.nx, first(a, part.stop - 1) + a.k) if part.stop else 0)
                     for a, part in zip(self.axes, window, strict=True))
        for k in self.inputs:
            found[k] = self.args[k].over(self.args[k].layout.part(seen))
        return tuple(found)

    def settings(self, window: tuple[slice, ...], batch: int) -> Keywords:
        """Return the settings of `mat.nn` for a block, without the first `batch` axes: the anchors
        are as far to the end of windows as the last of them allows, so that no other window is
        there.
        """
        starts, anchors = [], []
        for a, part in zip(self.axes[batch:], window[batch:], strict=True):
            before, after = beyond(a, part.start, part.stop)
            anchors.append(a.k - 1 - after)
            starts.append(anchors[-1] - before)
        return {"start": tuple(starts), "stride": tuple(a.step for a in self.axes[batch:]),
                "anchor": tuple(anchors)}


def first(a: WindowAxis, i: int) -> int:
    """Return the index in the input of the first element of window `i`, possibly outside of it."""
    return i * a.step + a.off


def beyond(a: WindowAxis, start: int, stop: int) -> tuple[int, int]:
    """Return how many elements of the first of some windows are before the input, and how many of
    the last are after it.
    """
    return max(0, -first(a, start)), max(0, first(a, stop - 1) + a.k - a.nx)


def sees_nothing(axes: WindowAxes) -> bool:
    """Return whether there are no windows, or none with elements: then nothing is written."""
    return any(a.n == 0 or a.k == 0 for a in axes)


def by_windows(operation: Gridded, inputs: Ints, outputs: Ints,
               axes_of: Callable[[Arguments, Keywords], WindowAxes]) -> Cutter:
    """Return the cutter of an operation with the settings of `mat.nn`."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        axes = axes_of(args, kwargs)
        if sees_nothing(axes):
            return
        grid = WindowGrid(axes, inputs, outputs, args)
        batch = int(bool(kwargs.get("batched")))
        for window in grid.windows(grid.blocks(budget)):
            yield tile_of(operation, grid.arguments(window),
                          {**kwargs, **grid.settings(window, batch)})

    return cut


def by_images(operation: Gridded, inputs: Ints, outputs: Ints,
              axes_of: Callable[[Arguments, Keywords], WindowAxes],
              of_one: Gridded, kept: Mapping[str, str]) -> Cutter:
    """Return the cutter of an operation on images with channels: by images and channels, and if
    those are too large by parts of one image, for `of_one`, the operation of `mat.nn`, with the
    settings `kept` under other names.
    """
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        axes = axes_of(args, kwargs)
        if sees_nothing(axes):
            return
        grid = WindowGrid(axes, inputs, outputs, args)
        lengths = grid.blocks(budget)
        if lengths[2:] == grid.shape[2:]:
            for window in grid.windows(lengths):
                yield tile_of(operation, grid.arguments(window), kwargs)
            return
        renamed = {kept[name]: value for name, value in kwargs.items() if name in kept}
        for window in grid.windows((1, *lengths[1:])):
            given = tuple(x[0] if k in (*inputs, *outputs) else x
                          for k, x in enumerate(grid.arguments(window)))
            yield tile_of(of_one, given, {**renamed, **grid.settings(window, 2), "batched": True})

    return cut
