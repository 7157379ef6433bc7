"""Detect the use of data after the end of the block that was given it, for the direction check.

While a Mat is accessed under the check, its host memory is in pages of its own. After the block it
is moved elsewhere, and access to the old pages is noticed. Other objects that a block was given are
made to raise an error at any use.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, TypeAlias

import numpy as np

from ..core.access_record import AccessRecord
from ..core.export import ExportRecord
from ..core.registry import facets
from ..errors import DirectionError
from ..matrix.storage import Storage
from ..memories.host import HOST
from ..support.types import Array, DType, Presented
from .protected_pages import NO_ACCESS, READ_WRITE, Pages, empty, owner_of, pages_of
from .snapshot import poison, storage_of, view_of

_MEMBERS = (MemberDescriptorType, GetSetDescriptorType)
_MOST = 4096  # old pages that are kept so that their use is noticed
# what is called with the text of a fault that is noticed
Notify: TypeAlias = Callable[[str], None]


def give_revocable(record: AccessRecord) -> Presented:
    """Present a copy of the record's value that `revoke` can disable, and return it.

    Return None if the value is an array, which `Relocation` is for, or cannot be disabled.
    """
    value = record.value
    if isinstance(value, np.ndarray) or not hasattr(type(value), "handle"):
        return None
    kind = type(value)
    try:
        if kind not in _revocable_classes:
            members = {"__slots__": ("_revocation", "_original"), "__module__": kind.__module__,
                       "__getattribute__": _attribute, "__repr__": _described}
            _revocable_classes.setdefault(kind, type(kind.__name__, (kind,), members))
        own = _new(_revocable_classes[kind])
    except TypeError:  # of a class that makes its objects in a way of its own
        return None
    for name, attribute in _attributes(value):
        with suppress(AttributeError):  # of C's properties, which are no data
            object.__setattr__(own, name, attribute)
    object.__setattr__(own, "_revocation", None)
    object.__setattr__(own, "_original", value)
    record.value = own
    record.make_value = record.facet.lender(own)
    return own


def take_back(record: AccessRecord) -> None:
    """Present again the value that `give_revocable` replaced, if any."""
    if type(record.value) in _revocable_classes.values():
        record.value = object.__getattribute__(record.value, "_original")
        record.make_value = record.facet.lender(record.value)


def _new(kind: type) -> Presented:
    """Return an object of `kind` without attributes."""
    try:
        return object.__new__(kind)
    except TypeError:  # a subclass of a compiled class
        found: Presented = kind.__new__(kind)  # type: ignore[call-overload]
        return found


def _attributes(value: Presented) -> Iterator[tuple[str, object]]:
    """Yield the attributes of an object: those in its dictionary, in slots, and of C."""
    yield from getattr(value, "__dict__", {}).items()
    for kind in type(value).__mro__:
        for name, member in vars(kind).items():
            if isinstance(member, _MEMBERS) and not name.startswith("__") and hasattr(value, name):
                yield name, getattr(value, name)


def revoke(value: Presented, text: str, notify: Notify) -> None:
    """Make later uses of a revocable value a `DirectionError`, also reported by ``notify``."""
    value.handle = None  # releases the memory
    object.__setattr__(value, "_revocation", (text, notify))


# by class, a subclass whose objects raise an error at any use once they are revoked
_revocable_classes: dict[type, type] = {}


def _attribute(value: Any, name: str) -> object:
    """Return an attribute of a revocable object, or raise the error that it was revoked with."""
    kind = type(value)
    revocation = _revocation_of(value)
    if revocation is None or name == "__class__":
        return super(kind, value).__getattribute__(name)
    text, notify = revocation
    notify(text)
    raise DirectionError(text)


def _revocation_of(value: Any) -> tuple[str, Notify] | None:
    """Return the revocation of `value`; None also if a block made it, as ``type(p)(...)``."""
    try:
        found: tuple[str, Notify] | None = object.__getattribute__(value, "_revocation")
    except AttributeError:
        return None
    return found


def _described(value: Any) -> str:
    kind = type(value)
    if _revocation_of(value) is None:
        return str(super(kind, value).__repr__())
    return f"<revoked {kind.__name__}>"


class Relocation:
    """Moves the host memory of Mats between pages of its own and elsewhere, and keeps old pages.

    Whoever uses old pages gets poisoned elements, and the use is reported.
    """

    def __init__(self) -> None:
        self._old: deque[Pages] = deque(maxlen=_MOST)
        self._closed: weakref.WeakSet[Pages] = weakref.WeakSet()

    def move_into_pages(self, record: AccessRecord) -> None:
        """Move the Mat of `record`, its only access, into pages of its own and present these."""
        storage = storage_of(record)
        if (record.facet.memory is not HOST or pages_of(record.handle) is not None
                or not movable(storage)):
            return
        view, facet = view_of(record), record.facet
        writable = record.direction.value != "input"
        key = facet.writing if writable else facet.reading
        record.handle = _move(storage)
        record.value = facet.present(view, view._presentable(record.handle), writable)
        record.make_value = facet.lender(record.value)
        view.presented = {**(view.presented or {}), key: record}
        storage.viewers = [*(storage.viewers or ()), weakref.ref(view)]

    def move_export(self, record: ExportRecord) -> None:
        """Move the Mat of an export, its only access, into pages of its own and export these."""
        storage = storage_of(record)
        if record.facet.memory is HOST and pages_of(record.handle) is None and movable(storage):
            record.handle = _move(storage)
            view = view_of(record)
            record.value = record.facet.present(view, view._presentable(record.handle), False)

    def move_away(self, record: AccessRecord, text: str, notify: Notify) -> None:
        """Move the Mat of `record` elsewhere and report any use of its old pages by `notify`.

        The report begins with `text`, which says what was given to which block.
        """
        storage = storage_of(record)
        old = storage.handles.get(HOST)
        if record.facet.memory is not HOST or old is not record.handle or not movable(storage):
            return
        pages = pages_of(old)
        _move(storage)
        if pages is None:
            if old.flags.writeable:
                old[...] = poison(old.size, old.dtype)
            return
        pages.protect(NO_ACCESS)
        pages.discard()
        dtype = old.dtype

        def report(found: Pages) -> None:
            _poison_pages(found, dtype)
            notify(f"{text}, was used after its end, {found.touched}; what a block is given is "
                   "valid inside of it only")

        pages.notify = report
        self._old.append(pages)
        self._closed.add(pages)

    def release(self) -> None:
        """Allow access to all old pages again; they contain poison, and no use is reported."""
        self._old.clear()
        for pages in tuple(self._closed):
            if pages.allowed == NO_ACCESS:
                pages.protect(READ_WRITE)
                _poison_pages(pages, np.dtype(np.float64))
        self._closed.clear()


def movable(storage: Storage) -> bool:
    """Return whether the host memory of a storage belongs to `mat` and can be replaced."""
    handle = storage.handles.get(HOST)
    if storage.adopted is not None or storage.async_copies or type(handle) is not np.ndarray:
        return False
    if not handle.nbytes or not handle.flags.writeable:
        return False
    locked = facets.get("cuda_host")
    return (isinstance(owner_of(handle), np.ndarray | Pages)
            and not (locked and storage.seen & locked.bit))


def _move(storage: Storage) -> Array:
    """Return a new host handle with the same elements; what presented the old one is dropped."""
    old: Array = storage.handles[HOST]
    new = empty(old.size, old.dtype)
    new[...] = old
    storage.replace_host(new)
    views = storage.live_viewers()
    for view in views:
        view.presented = {k: record for k, record in (view.presented or {}).items()
                          if record.handle is not old}
    storage.viewers = [weakref.ref(view) for view in views if view.presented]
    return new


def _poison_pages(pages: Pages, dtype: DType) -> None:
    whole = np.asarray(pages)
    whole.view(dtype)[...] = poison(whole.nbytes // dtype.itemsize, dtype)
