"""Orders of elements in new Mats: by rows ("C"), columns ("F"), or as in another ("A", "K")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from ..errors import SettingError
from .shapes import Ints, check_extent
from .strided import Layout, packed, packed_strides

Order: TypeAlias = Literal["C", "F", "A", "K"]
_ORDERS: dict[object, Order] = {"C": "C", "F": "F", "A": "A", "K": "K"}


def as_order(order: object, name: str, allowed: str = "CFAK") -> Order:
    """Return the order given by NumPy's argument to the function `name`."""
    found = order.upper() if isinstance(order, str) else "C" if order is None else ""
    if found not in _ORDERS or found not in allowed:
        raise SettingError(f"the order of {name} is one of {', '.join(map(repr, allowed))}, got "
                           f"{order!r}")
    return _ORDERS[found]


def columnwise(order: object) -> Literal["C", "F"]:
    """Return the order of a new Mat: "F" if `order` says so, else "C"."""
    return "F" if as_order(order, "a new Mat", "CF") == "F" else "C"


def order_like(order: object) -> Order:
    """Return the order of a new Mat that is made from another one: its order, if none is given."""
    return "K" if order is None or order == "K" else as_order(order, "a new Mat")


def in_order(shape: Ints, order: Order) -> Layout:
    """Return the layout of `shape` without gaps by columns if `order` is "F", else by rows."""
    if order != "F" or len(shape) < 2:
        return packed(shape)
    return Layout(shape, packed_strides(shape[::-1])[::-1], 0)


def like(layout: Layout, order: Order) -> Layout:
    """Return the layout without gaps that a copy of elements with `layout` has in an order."""
    return like_other(layout.shape, layout, order)


def in_order_of_axes(shape: Ints, axes: Ints) -> Layout:
    """Return the layout of `shape` without gaps whose loop is slowest along the first of `axes`."""
    steps = dict(zip(axes, packed_strides(tuple([shape[k] for k in axes])), strict=True))
    return Layout(shape, tuple([steps[k] for k in range(len(shape))]), 0)


def axes_of_steps(layout: Layout) -> Ints:
    """Return the axes, those with the longest steps first."""
    return tuple(sorted(range(len(layout.shape)), key=lambda k: -abs(layout.strides[k])))


def is_gapless(layout: Layout) -> bool:
    """Return whether the elements are adjacent in memory, in whichever order of the axes."""
    found = in_order_of_axes(layout.shape, axes_of_steps(layout)).strides
    return all(n == 1 or s == wanted
               for n, s, wanted in zip(layout.shape, layout.strides, found, strict=True))


def with_axes(layout: Layout, axes: Ints) -> Layout:
    """Return the view with permuted axes of a layout that broadcasts to so many."""
    more = len(axes) - len(layout.shape)
    shape, strides = (1,) * more + layout.shape, (0,) * more + layout.strides
    return Layout(tuple([shape[k] for k in axes]), tuple([strides[k] for k in axes]),
                  layout.displacement)


def in_one_order(layouts: Sequence[Layout]) -> list[Layout] | None:
    """Return layouts of one shape without gaps by rows, with their axes in the order of memory;
    None for others, and for several orders.
    """
    axes = axes_of_steps(layouts[0])
    if any(x.shape != layouts[0].shape for x in layouts):
        return None
    found = [with_axes(x, axes) for x in layouts]
    return found if all(x.contiguous for x in found) else None


def of_result(shape: Ints, operands: Sequence[Layout]) -> Layout:
    """Return the layout without gaps of the result of operands that broadcast to `shape`: its
    elements are in memory in the order of theirs, or by rows where their orders differ.
    """
    check_extent(shape)
    if all(x.descends() for x in operands):
        return packed(shape)
    return in_order_of_axes(shape, axes_of_loop(len(shape), operands))


def axes_of_loop(count: int, operands: Sequence[Layout]) -> Ints:
    """Return the axes, the slowest first, of NumPy's loop over operands that broadcast to `count`
    axes. Steps of 0 and those along axes of one element do not count.
    """
    fastest: list[int] = []
    steps = [_steps(count, x) for x in operands]
    for k in reversed(range(count)):
        place = len(fastest)
        for i in reversed(range(place)):
            both = [(s[k], s[fastest[i]]) for s in steps if s[k] and s[fastest[i]]]
            if any(other <= step for step, other in both):
                break
            place = i if both else place
        fastest.insert(place, k)
    return tuple(reversed(fastest))


def _steps(count: int, layout: Layout) -> list[int]:
    """Return the lengths of the steps along `count` axes, 0 where that of the memory is none."""
    own = [abs(s) if n != 1 else 0 for n, s in zip(layout.shape, layout.strides, strict=True)]
    return [0] * (count - len(own)) + own


def like_other(shape: Ints, layout: Layout, order: Order) -> Layout:
    """Return a layout of `shape` without gaps, whose axes have the order of those of `layout`."""
    if order == "C" or (order != "F" and layout.contiguous):
        return in_order(shape, "C")
    if order in "AF" or layout.is_by_columns():
        return in_order(shape, "F" if order == "F" or layout.is_by_columns() else "C")
    if layout.descends():
        return in_order(shape, "C")
    return in_order_of_axes(shape, axes_of_steps(layout))


def only_by_columns(layout: Layout) -> bool:
    """Return whether elements are stored by columns without gaps, and not by rows, too."""
    return not layout.contiguous and layout.is_by_columns()


def has_order(layout: Layout, order: Order) -> bool:
    """Return whether elements with `layout` are stored in that order."""
    return layout.contiguous if order == "C" else order != "F" or layout.is_by_columns()
