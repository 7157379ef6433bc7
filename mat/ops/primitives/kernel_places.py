"""Places in a user's kernel: indices and lengths, elements of other places, and tiles that know
where in the whole they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.source_line import line_of, user_line
from ...errors import KernelError, ShapeError
from ...layout.merged_axes import merged
from ...layout.shapes import Ints
from ...layout.sliding_window import WindowAxis
from ...layout.strided import Layout, packed_strides
from ...matrix.mat import Mat
from ...support.native import ffi
from ...support.types import Arguments, Engine, Function, Keywords
from ..tiles.signatures import Span, TileGrid
from ..tiles.tile import GridAxes
from .kernel_source import MOST_AXES, KernelSource

# of a tile: its first element, the shape of the whole, and of each operand with a window the first
# element of the part that is there
Where = tuple[Ints, Ints, tuple[Ints, ...]] | None


class PlaceGrid(TileGrid):
    """The grid of a kernel's call, whose last argument says where in the whole a tile is.

    `halos`: of operands with windows, how many elements to each side a tile reads, by axes.
    """

    def __init__(self, shape: Ints, operands: dict[int, GridAxes], halos: dict[int, Ints],
                 args: Arguments) -> None:
        super().__init__(shape, {k: axes for k, axes in operands.items() if k not in halos}, args)
        self.halos = halos
        self.axes = operands
        for k, radii in halos.items():
            seen = [WindowAxis(n, n, 2 * r + 1, 1, -r) for n, r in zip(shape, radii, strict=True)]
            self.spans.append(Span(args[k], operands[k], seen))

    def arguments(self, window: tuple[slice, ...]) -> Arguments:
        *found, where = super().arguments(window)
        none = (0,) * len(self.shape)
        first, shape, origins = where or (none, self.shape, (none,) * len(self.halos))
        starts = tuple(a + part.start for a, part in zip(first, window, strict=True))
        begun = []
        for (k, radii), origin in zip(self.halos.items(), origins, strict=True):
            index, begin = list[slice](), [*origin]
            for n, axis in zip(found[k].shape, self.axes[k], strict=True):
                if axis is None or n == 1:
                    index.append(slice(None))
                    continue
                low = starts[axis] - radii[axis] - origin[axis]
                high = low + window[axis].stop - window[axis].start + 2 * radii[axis]
                index.append(slice(max(low, 0), min(high, n)))
                begin[axis] += max(low, 0)
            found[k] = found[k].over(found[k].layout.part(tuple(index)))
            begun.append(tuple(begin))
        return *found, (starts, shape, tuple(begun))


def grid_of(kernel: Any, args: Arguments, kwargs: Keywords) -> TileGrid:
    """Return the grid of a call: raw operands are whole, windows have their neighbours."""
    shape: Ints = args[kernel.main_output].shape
    every = tuple(range(len(shape)))
    axes, halos = dict[int, GridAxes](), dict[int, Ints]()
    for k, declared in zip(kernel.operands, kernel.mats, strict=True):
        own = every[len(every) - args[k].ndim:]
        axes[k] = (None,) * args[k].ndim if declared.raw else own
        if declared.radii:
            radii = halos[k] = (0,) * (len(shape) - len(declared.radii)) + declared.radii
            axes[k] = tuple(None if declared.outside == "wrap" and radii[a] else a for a in own)
    return PlaceGrid(shape, axes, halos, args)


def check_places(name: str, source: KernelSource, mats: Sequence[Mat], shape: Ints) -> None:
    """Raise `ShapeError` for operands of fewer or more axes than the source says."""
    axes = [int(n[1:]) for n in source.names if len(n) > 1]
    if len(shape) > MOST_AXES:
        raise ShapeError(f"{name} uses indices, which have at most {MOST_AXES} axes, got {shape}")
    if axes and max(axes) >= len(shape):
        raise ShapeError(f"{name} uses the index i{max(axes)} or the length n{max(axes)}, but "
                         f"writes Mats of shape {shape}")
    for x, typed in zip(mats, source.mats, strict=True):
        raw, radii = typed.declared.raw, typed.declared.radii
        if raw > 1 and x.ndim != raw:
            raise ShapeError(f"{name} takes {raw} positions in {typed.name}, got {x.label()}")
        if radii and len(radii) > len(shape):
            raise ShapeError(f"{name} has a window along {len(radii)} axes of {typed.name}, but "
                             f"writes Mats of shape {shape}")


def places_of(engine: Any, source: KernelSource, mats: Sequence[Mat], shape: Ints,
              where: Where) -> Any:
    """Return the kernel's information about places, for Mats that are written in `shape`."""
    none = (0,) * len(shape)
    first, whole, origins = where or (none, shape, (none,) * len(mats))
    rest = iter(origins)
    facts = [prod(whole), *_padded(whole)]
    strides: list[Ints | None] = []
    for x, typed in zip(mats, source.mats, strict=True):
        if typed.declared.raw:
            strides.append((0,) * len(shape))
            facts += _raw_facts(x.layout, typed.declared.raw)
        elif typed.declared.radii:
            steps = _steps(x.layout, len(shape))
            strides.append(steps)
            last = len(shape) - len(typed.declared.radii)
            facts += [*whole[last:], *steps[last:], sum(
                (a - o) * s for a, o, s in zip(first, next(rest), steps, strict=True))]
        else:
            strides.append(None)
    counters = [_counter(n, first, whole) for n in source.counters]
    return engine.KernelPlaces(strides, counters, facts)


def _steps(layout: Layout, axes: int) -> Ints:
    """Return the strides of an operand along so many axes, 0 along those that it has not."""
    return (*(0,) * (axes - len(layout.shape)),
            *(0 if n == 1 else s for n, s in zip(layout.shape, layout.strides, strict=True)))


def _counter(name: str, first: Ints, whole: Ints) -> tuple[Ints, int]:
    """Return the steps of an index along the axes of a tile, and its value at the first element."""
    if name == "i":
        steps = packed_strides(whole)
        return steps, sum(a * s for a, s in zip(first, steps, strict=True))
    axis = int(name[1:]) if name[0] == "i" else len(whole) - int(name.removeprefix("mat_last"))
    return tuple(int(k == axis) for k in range(len(whole))), first[axis]


def _raw_facts(layout: Layout, positions: int) -> list[int]:
    axes: list[tuple[int, ...]] = list(zip(layout.shape, layout.strides, strict=True))
    if positions == 1:
        axes = merged(axes) or [(1, 0)]
    if len(axes) > MOST_AXES:
        raise ShapeError(f"elements by position are of arrays with at most {MOST_AXES} axes")
    return [layout.size, len(axes), *_padded([n for n, _ in axes]), *_padded([s for _, s in axes])]


def _padded(values: Sequence[int]) -> list[int]:
    return [*values, *(0 for _ in range(MOST_AXES - len(values)))]


def checked(prepare: Function, places: Any, name: str, source: KernelSource) -> Function:
    """Return the implementation that raises for places outside, made by `prepare`."""
    report = ffi.new("int64_t[5]")
    facts = [*places.facts, int(ffi.cast("intptr_t", report))]
    kernel = prepare(places._replace(facts=facts))

    class Checked:
        """The kernel, and its record of faults."""

        def bind(self, operands: Sequence[int], numbers: Sequence[int]) -> None:
            """Set the positions of operands and numbers."""
            kernel.bind(operands, numbers)

        def __call__(self, *values: Engine) -> None:
            report[0] = 0
            kernel(*values)
            if report[0]:
                raise KernelError(_outside(name, source, list(report)[1:]))

    return Checked()


def _outside(name: str, source: KernelSource, found: list[int]) -> str:
    operand, axis, place, length = found
    declared = source.mats[operand].declared
    where = f"{line_of(user_line())}: " if user_line() is not None else ""
    what = (f"the offset {place} along axis {axis} of the window, which declares {length}"
            if declared.radii else f"the position {place}, axis {axis}, of {length} elements")
    return f"{where}{name} reads {declared.name} outside: {what}"


