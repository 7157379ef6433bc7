"""NumPy's orders of reading or storing elements: by rows "C", by columns "F", as stored "A" and
"K".
"""

from __future__ import annotations

from ...core.observers import OBSERVERS
from ...layout.orders import is_by_columns
from ...layout.shapes import Ints
from ...layout.strided import Layout
from ...matrix.mat import Mat, new_like
from ...support.types import DType


def only_by_columns(layout: Layout) -> bool:
    """Return whether elements are stored by columns without gaps, and not by rows, too."""
    return not layout.contiguous and is_by_columns(layout)


def axes_of_order(layout: Layout, order: str) -> Ints:
    """Return the axes, the slowest first, of `order`'s loop over the elements."""
    axes = range(len(layout.shape))
    if order == "F" or (order != "C" and only_by_columns(layout)):
        return tuple(reversed(axes))
    if order == "K" and not layout.contiguous:
        return tuple(sorted(axes, key=lambda k: -abs(layout.strides[k])))
    return tuple(axes)


def axes_of_loop(layout: Layout, order: str) -> Ints:
    """Return the axes, the slowest first, of NumPy's loop that copies elements to a vector by
    `order`.

    That differs from `axes_of_order` where steps are 0, which say nothing about the order.
    """
    if order != "K":
        return axes_of_order(layout, order)
    steps = [abs(s) if n != 1 else 0 for n, s in zip(layout.shape, layout.strides, strict=True)]
    fastest: list[int] = []
    for k in reversed(range(len(steps))):
        place = len(fastest)
        for i in reversed(range(len(fastest))):
            other = steps[fastest[i]]
            if steps[k] and other:
                if other <= steps[k]:
                    break
                place = i
        fastest.insert(place, k)
    return tuple(reversed(fastest))


def copied_in_order(x: Mat, order: str, dtype: DType) -> Mat:
    """Return a copy of `x` in another dtype whose elements are stored in that order."""
    axes = axes_of_order(x.layout, order)
    stored = new_like(x, tuple(x.shape[k] for k in axes), dtype)
    if axes != tuple(range(x.ndim)):
        stored = stored.permute(_inverse(axes))
        stored.is_view = False  # of a Mat that nobody else has
    return stored.assign_(x)


def _inverse(axes: Ints) -> Ints:
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def note_packed(view: Mat) -> None:
    """Notify observers that the elements of `view` are copied because of its strides."""
    for observer in tuple(OBSERVERS):
        observer.packed(view)
