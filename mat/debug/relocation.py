"""Taking back what a block was given: its Mat's memory moves house, and objects refuse to answer.
For the direction check.
"""

from __future__ import annotations

import copy
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.cube import AccessRecord, facets
from ..errors import DirectionError
from ..memories.host import HOST
from .poison import poison
from .protected_pages import GONE, OPEN, Pages, empty, pages_of, root

_MOST = 4096  # houses that stand empty, of which somebody may have an address


def lend_own(record: AccessRecord) -> Any:
    """Have `record` present an object of its own; give what `revoke` wants, None if there is
    nothing to revoke.
    """
    if isinstance(record.value, np.ndarray) or not hasattr(type(record.value), "handle"):
        return None
    record.value = copy.copy(record.value)
    record.make_value = record.facet.lender(record.value)
    return record.value


def revoke(value: Any, text: str, noticed: Callable[[str], None]) -> None:
    """Whatever `value` is asked for from now on is a `DirectionError` of that text, which `noticed`
    is told, too.
    """
    kind = type(value)
    value.handle = text, noticed
    value.__class__ = _revoked.get(kind) or _revoked.setdefault(kind,
                                                                type(f"Revoked{kind.__name__}",
                                                                     (kind,), dict(_REFUSING)))


def _refuse(value: Any, name: str) -> Any:
    if name == "__class__":
        return type(value)
    text, noticed = object.__getattribute__(value, "handle")
    noticed(text)
    raise DirectionError(text)


_revoked: dict[type, type] = {}
_REFUSING = {"__slots__": (), "__getattribute__": _refuse,
             "__repr__": lambda value: f"<{type(value).__name__}>"}


class Relocation:
    """Where Mats live while they are watched, and lived before; `noticed` is told of who goes to an
    old house.
    """

    def __init__(self) -> None:
        self._old: deque[Any] = deque(maxlen=_MOST)
        self._gone: weakref.WeakSet[Pages] = weakref.WeakSet()

    def relocate(self, record: AccessRecord) -> None:
        """Have the Mat of `record`, the only one that looks at it, live in pages of its own, and
        `record` look at them.
        """
        storage: Any = record.view.storage  # type: ignore[union-attr]  # an open hold has its view
        if record.facet.memory is not HOST or pages_of(record.handle) is not None or not movable(storage):
            return
        view, facet = record.view, record.facet
        writable = record.direction.value != "input"
        key = facet.writing if writable else facet.reading
        record.handle = _move(storage)
        record.value = facet.present(view, record.handle, writable)
        record.make_value = facet.lender(record.value)
        view.presented[key] = record  # type: ignore[union-attr]  # views have it
        storage.viewers.append(weakref.ref(view))

    def restore_all(self, record: AccessRecord, text: str, noticed: Callable[[str], None]) -> None:
        """Have its Mat live elsewhere, and `noticed` told by whom the old house is used, as what
        `text` says.
        """
        storage: Any = record.view.storage  # type: ignore[union-attr]  # likewise
        old = storage.handles.get(HOST)
        if record.facet.memory is not HOST or old is not record.handle or not movable(storage):
            return
        pages = pages_of(old)
        _move(storage)
        if pages is None:
            _spoil(old)
            return
        pages.protect(GONE)
        pages.forget()
        dtype = old.dtype

        def tell(found: Pages) -> None:
            _fill(found, dtype)
            noticed(f"{text}, was used after its end, {found.touched}; what a block is given is "
                    "valid inside of it only")

        pages.tell = tell
        self._old.append(pages)
        self._gone.add(pages)

    def clear(self) -> None:
        """Whoever still has an old house may use it, to no effect."""
        self._old.clear()
        for pages in tuple(self._gone):
            if pages.allowed == GONE:
                pages.protect(OPEN)
                _fill(pages, np.dtype(np.float64))
        self._gone.clear()


def movable(storage: Any) -> bool:
    """Whether the host's memory of a storage is ours to take elsewhere."""
    handle = storage.handles.get(HOST)
    if storage.adopted is not None or storage.async_copies or type(handle) is not np.ndarray:
        return False
    if not handle.nbytes or not handle.flags.writeable:
        return False
    locked = facets.get("cuda_host")
    return isinstance(root(handle),
                      np.ndarray | Pages) and not (locked and storage.seen & locked.bit)


def _move(storage: Any) -> Any:
    """A new handle for the host with the same elements; nothing that was presented of the old one
    is used again.
    """
    old = storage.handles[HOST]
    new = empty(old.size, old.dtype)
    new[...] = old
    storage.handles[HOST] = new
    views = [view for view in (ref() for ref in storage.viewers) if view is not None]
    for view in views:
        view.presented = {k: record for k,
                          record in view.presented.items() if record.handle is not old}
    storage.viewers = [weakref.ref(view) for view in views if view.presented]
    return new


def _spoil(old: Any) -> None:
    if old.flags.writeable:
        old[...] = poison(old.size, old.dtype)


def _fill(pages: Pages, dtype: np.dtype[Any]) -> None:
    """Poison in all of them."""
    whole = np.asarray(pages)
    whole.view(dtype)[...] = poison(whole.nbytes // dtype.itemsize, dtype)
