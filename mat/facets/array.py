"""``array``: the visible elements as a NumPy array, without a copy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.registry import Facet, ViewLike, register_facet
from ..layout.strided import Layout
from ..memories.host import HOST
from ..support.native import core
from ..support.types import Array
from .backing import protected_view


def over(handle: Array, layout: Layout) -> Array:
    """Return the elements that `layout` sees of the 1-d array `handle`."""
    start = layout.displacement
    if layout.contiguous:
        return handle[start:start + layout.size].reshape(layout.shape)
    strides = tuple(s * handle.itemsize for s in layout.strides)
    return np.lib.stride_tricks.as_strided(handle[start:], layout.shape, strides)


class _Keeper:
    """An object of which `numpy.asarray` makes an array that keeps it, and with it, `owner`."""

    def __init__(self, owner: object, interface: dict[str, object]) -> None:
        self.owner = owner
        self.__array_interface__ = interface


def _array_kept_by(owner: object, value: Array, writable: bool) -> Array:
    """Return an array like `value` over the same memory, which keeps `owner`, and so does all that
    is made of it without copying.
    """
    char: str = value.dtype.char
    plain = char != "E"  # the interface has no code for bfloat16
    interface = (value if plain else value.view(_BITS)).__array_interface__
    address, _ = interface["data"]
    made = np.asarray(_Keeper(owner, {**interface, "data": (address, not writable)}))
    return made if plain else made.view(value.dtype)


_BITS = np.dtype(np.uint16)
array_kept_by: Callable[[object, Array, bool], Array] = (
    _array_kept_by if core is None else core.array_kept_by)


class ArrayFacet(Facet):
    """The visible elements as an n-d NumPy array."""

    name, letter, memory, engine, quiet = "array", "A", HOST, np, True

    def present(self, view: ViewLike, handle: Array, writable: bool) -> Array:
        whole, layout = protected_view(handle, writable), view.layout
        same = layout.contiguous and layout.shape == whole.shape
        return whole if same else over(whole, layout)

    def lender(self, value: Array) -> Callable[[], Array]:
        return value.view


ARRAY = register_facet(ArrayFacet())
