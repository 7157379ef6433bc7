"""``array``: the visible elements as a NumPy array, in the Mat's shape and strides; no copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.registry import Facet, register_facet
from ..layout.strided import Layout
from ..memories.host import HOST
from .backing import protected_view


def over(handle: np.ndarray[Any, Any], layout: Layout) -> np.ndarray[Any, Any]:
    """The elements that `layout` sees of the 1-d array `handle`."""
    start = layout.displacement
    if layout.contiguous:
        return handle[start:start + layout.size].reshape(layout.shape)
    strides = tuple(s * handle.itemsize for s in layout.strides)
    return np.lib.stride_tricks.as_strided(handle[start:], layout.shape, strides)


class ArrayFacet(Facet):
    """The visible elements, n-d."""

    name, letter, memory, engine, quiet = "array", "A", HOST, np, True

    def present(self, view: Any, handle: Any, writable: bool) -> np.ndarray[Any, Any]:
        return protected_view(over(handle, view.layout), writable)

    def lender(self, value: Any) -> Callable[[], Any]:
        view: Callable[[], Any] = value.view
        return view


ARRAY = register_facet(ArrayFacet())
