"""Orders of elements in new Mats: by rows ("C"), columns ("F"), or as in another ("A", "K")."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..errors import SettingError
from .shapes import Ints
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


def like_other(shape: Ints, layout: Layout, order: Order) -> Layout:
    """Return a layout of `shape` without gaps, whose axes have the order of those of `layout`."""
    if order == "C" or (order != "F" and layout.contiguous):
        return in_order(shape, "C")
    if order in "AF" or layout.is_by_columns():
        return in_order(shape, "F" if order == "F" or layout.is_by_columns() else "C")
    if layout.descends():
        return in_order(shape, "C")
    axes = sorted(range(len(shape)), key=lambda k: -abs(layout.strides[k]))
    strides = dict(zip(axes, packed_strides(tuple(shape[k] for k in axes)), strict=True))
    return Layout(shape, tuple(strides[k] for k in range(len(axes))), 0)


def only_by_columns(layout: Layout) -> bool:
    """Return whether elements are stored by columns without gaps, and not by rows, too."""
    return not layout.contiguous and layout.is_by_columns()


def has_order(layout: Layout, order: Order) -> bool:
    """Return whether elements with `layout` are stored in that order."""
    return layout.contiguous if order == "C" else order != "F" or layout.is_by_columns()
