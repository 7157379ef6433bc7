"""``backing``: the whole storage as a 1-d NumPy array, invisible elements included."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.registry import Facet, ViewLike, register_facet
from ..memories.host import HOST
from ..support.types import Array


def protected_view(a: Array, writable: bool) -> Array:
    """Return a view of `a`, which is read-only unless `writable` is True."""
    view = a.view()
    if not writable:
        view.flags.writeable = False
    return view


class BackingFacet(Facet):
    """The whole storage as a 1-d NumPy array, whose index k is storage index k."""

    name, letter, memory, engine, quiet = "backing", "B", HOST, np, True

    def present(self, view: ViewLike, handle: Array, writable: bool) -> Array:
        return protected_view(handle, writable)

    def lender(self, value: Array) -> Callable[[], Array]:
        return value.view


BACKING = register_facet(BackingFacet())
