"""``backing``: the whole storage as a 1-d NumPy array, invisible elements included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.registry import Engine, Facet, Memory, ViewLike, register_facet
from ..memories.host import HOST
from ..support.dtypes import EXTENSIONS
from ..support.types import Array


def protected_view(handle: Array, writable: bool) -> Array:
    """Return a new 1-d array over the memory of `handle`, read-only unless `writable` is True.

    A read-only one stays so: NumPy lets `flags.writeable` be set if what owns the memory can be
    written, and this one's memory belongs to a read-only `memoryview`.
    """
    if writable:
        return handle.view()
    # the types of ml_dtypes are none of the buffer protocol
    plain: Any = handle.view(np.uint8) if handle.dtype.char in EXTENSIONS else handle
    return np.frombuffer(memoryview(plain).toreadonly(), handle.dtype)


class BackingFacet(Facet):
    """The whole storage as a 1-d NumPy array, whose index k is storage index k."""

    name: str = "backing"
    letter: str = "B"
    memory: Memory = HOST
    engine: Engine = np
    quiet: bool = True
    of_storage: bool = True

    def present(self, view: ViewLike, handle: Array, writable: bool) -> Array:
        return protected_view(handle, writable)

    def lender(self, value: Array) -> Callable[[], Array]:
        return value.view


BACKING = register_facet(BackingFacet())
