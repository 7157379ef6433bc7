"""``backing``: the whole storage as a 1-d NumPy array, invisible elements included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.registry import Facet, register_facet
from ..memories.host import HOST


def protected_view(a: np.ndarray[Any, Any], writable: bool) -> np.ndarray[Any, Any]:
    """A view of `a` of its own, which is read-only unless it may be written."""
    view = a.view()
    if not writable:
        view.flags.writeable = False
    return view


class BackingFacet(Facet):
    """The whole storage, 1-d: element ``k`` is storage index ``k``, whatever the Mat's
    displacement.
    """

    name, letter, memory, engine, quiet = "backing", "B", HOST, np, True

    def present(self, view: Any, handle: Any, writable: bool) -> np.ndarray[Any, Any]:
        return protected_view(handle, writable)

    def lender(self, value: Any) -> Callable[[], Any]:
        view: Callable[[], Any] = value.view
        return view


BACKING = register_facet(BackingFacet())
