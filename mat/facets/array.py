"""``array``: the visible elements as a NumPy array, without a copy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.registry import Facet, ViewLike, register_facet
from ..layout.strided import Layout
from ..memories.host import HOST
from ..support.types import Array
from .backing import protected_view


def over(handle: Array, layout: Layout) -> Array:
    """Return the elements that `layout` sees of the 1-d array `handle`."""
    start = layout.displacement
    if layout.contiguous:
        return handle[start:start + layout.size].reshape(layout.shape)
    strides = tuple(s * handle.itemsize for s in layout.strides)
    return np.lib.stride_tricks.as_strided(handle[start:], layout.shape, strides)


class ArrayFacet(Facet):
    """The visible elements as an n-d NumPy array."""

    name, letter, memory, engine, quiet = "array", "A", HOST, np, True

    def present(self, view: ViewLike, handle: Array, writable: bool) -> Array:
        return protected_view(over(handle, view.layout), writable)

    def lender(self, value: Array) -> Callable[[], Array]:
        return value.view


ARRAY = register_facet(ArrayFacet())
