"""Parts of operands for tiles: as views, or packed where a view would take more room.

A copy of a view on a device spans everything from its lowest element to its highest: a block of
columns of a matrix by rows takes as much as all of these rows. Packed on the host before, it takes
no more than its elements.
"""

from __future__ import annotations

from ...devices.in_use import CPU, in_use, note_fallback
from ...matrix.base import form_of_result
from ...matrix.mat import Mat, new_like
from ...support.types import Arguments, DType, Function, Keywords
from .tile import Tile
from .tiling import note_origin


def is_there(x: Mat) -> bool:
    """Return whether a device is in use and has the elements of `x`, as they are now."""
    device = in_use()
    return device is not CPU and x.storage.is_fresh(device.memory, x)


def is_compact(view: Mat) -> bool:
    """Return whether the span of a view has nothing but the view's elements."""
    low, high = view.layout.bounds
    return high - low <= view.layout.size


def staged(view: Mat) -> Mat:
    """Return `view`, or a packed copy made on the host unless the device has the elements."""
    return view if is_there(view) else without_gaps(view)


def without_gaps(view: Mat) -> Mat:
    """Return `view`, or if it has gaps, a copy in the order of its axes, made on the host."""
    if is_compact(view):
        return view
    found: Mat = on_host(view).copy("K")
    found.device_enabled = True
    note_origin(found, view)
    return found


def on_host(view: Mat) -> Mat:
    """Return a view for operations on the host, whatever device is in use."""
    found = view.over(view.layout)
    found.device_enabled = False
    return found


def by_host(operation: Function, args: Arguments, kwargs: Keywords) -> Tile:
    """Return the tile in which the host carries out an operation."""
    def run() -> object:
        note_fallback(operation.__name__, *(x for x in args if isinstance(x, Mat)))
        return operation(*(on_host(x) if isinstance(x, Mat) else x for x in args), **kwargs)

    return Tile(run)


class StagedResult:
    """A part of a result: `target` is its view, where that is all of a Mat or is on the device
    already, or a Mat of `dtype` whose elements are copied there in the end, on the host. If it
    `reads`, `target` begins with the elements of the part.
    """

    def __init__(self, view: Mat, dtype: DType, reads: bool) -> None:
        self.view = view
        self.target = view
        if dtype != view.dtype or not (view.nbytes == view.storage.nbytes or is_there(view)):
            self.target = (on_host(view).astype(dtype, "K") if reads
                           else new_like(view, view.shape, dtype))
            self.target.device_enabled = True
            note_origin(self.target, view)

    def finish(self) -> None:
        """Copy the elements to the part unless they are there already, and make room."""
        if self.target is not self.view:
            on_host(self.view).assign_(self.target)
            self.make_room()

    def make_room(self) -> None:
        """Free the copy of `target` on the device."""
        if in_use() is not CPU:
            self.target.drop(in_use().memory)


class StagedSum(StagedResult):
    """An addition to a part of a result: `target` starts as a Mat of zeros and is added to the part
    at the end, on the host.
    """

    def __init__(self, view: Mat) -> None:
        self.view = view
        self.target: Mat = form_of_result(view.shape, view.dtype).new(True, 0)
        note_origin(self.target, view)

    def finish(self) -> None:
        on_host(self.view).add_(on_host(self.target))
        self.make_room()
