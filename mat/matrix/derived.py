"""Mats whose elements are a part of another Mat's bytes: the real or the imaginary parts, or all of
them taken as another dtype.

The elements of a storage have one dtype, so that such a Mat has a storage of its own. Its elements
are copied from the other Mat's, the origin's, when they are accessed and the origin has changed
since; what is written to them is written to the origin at the end of the access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from ..core.access_record import AccessRecord
from ..core.direction import Direction
from ..core.export import ExportRecord
from ..core.registry import Facet, Handle, Memory, Number
from ..core.source_line import SourceLine
from ..devices.in_use import computes_elsewhere
from ..errors import ConflictError, TornError
from ..facets.array import over
from ..layout.strided import packed
from ..memories.host import HOST
from ..support.types import Array, DType
from .mat import Mat
from .storage import Storage

_CHANGED = -1  # no version


class DevicePart(Protocol):
    """A part of the elements of a Mat, each a half of one, that devices take and put, too."""

    def dtype_of(self, origin: Mat) -> DType:
        """Return the dtype of the part."""

    def take(self, origin: Mat, part: Mat) -> None:
        """Write to `part` the elements that it has."""

    def put(self, part: Mat, origin: Mat) -> None:
        """Write the elements of `part` to the origin."""


def derived(origin: Mat, part: Callable[[Array], Array], there: DevicePart | None = None) -> Mat:
    """Return the Mat of what `part`, which returns a view of an array, returns for `origin`.

    Parameters
    ----------
    origin : Mat
        The Mat that has the elements.
    part : callable
        A function of an array with the layout of `origin`.
    there : DevicePart, optional
        The same part on devices. Without it, the host takes it.

    Returns
    -------
    Mat
        A packed Mat, which is written if `origin` can be written.
    """
    now = origin._as_now()
    if there is not None and computes_elsewhere(now):
        storage = DerivedStorage(now, part, now.shape, there.dtype_of(now), there)
    else:
        with now.facet("array", "input") as a:
            found = part(a)
            storage = DerivedStorage(now, part, found.shape, found.dtype, there)
    made: Mat = type(now).__new__(type(now))
    made._fill_in(storage, packed(storage.shape), now.device_enabled)
    made.is_view = True
    storage.follow()
    return made


class DerivedStorage(Storage):
    """The elements of a Mat made by `derived`."""

    __slots__ = ("following", "origin", "part", "shape", "there", "version_seen")
    # declared by base classes, and set here
    fresh: int
    version: int
    writable: bool
    torn: TornError | None

    def __init__(self, origin: Mat, part: Callable[[Array], Array], shape: tuple[int, ...],
                 dtype: DType, there: DevicePart | None = None) -> None:
        super().__init__(packed(shape).size, dtype, 0)
        self.there: DevicePart | None = there
        self.following: bool = False  # whether an operation on a device copies the elements now
        self.origin: Mat = origin
        self.part: Callable[[Array], Array] = part
        self.shape: tuple[int, ...] = shape
        self.version_seen: int = _CHANGED  # of the origin, when its elements were copied
        self.writable = bool(origin.storage.writable and origin.layout.injective)

    # Following the origin

    def is_outdated(self) -> bool:
        """Return whether the origin may have changed, or the elements here are not its own."""
        origin = self.origin.storage
        return (self.version_seen != origin.version or origin.writer is not None
                or self.torn is not None)  # by a thread that has ended

    def follow(self) -> None:
        """Have the elements of the origin, unless a block is accessing those here."""
        if not self.is_outdated():
            return
        with self.lock:
            self.end_abandoned()
            if self.following or any(r.thread and not isinstance(r, ExportRecord)
                                     for r in tuple(self.accesses)):
                return
            if self.there is not None and self._follows_there():
                self._follow_there(self.there)
                return
            with self.origin.facet("array", "input") as a:
                version = self.origin.storage.version
                elements = self._elements(a)
            for memory in tuple(self.handles):
                self.discard(memory)  # what exports have of it, they keep
            self.adopt_host(elements, owned=True)
            self.torn = None
            self.version += 1
            self.version_seen = version

    def _follows_there(self) -> bool:
        """Return whether the device in use can copy the elements: whether an operation can write
        them, and nothing else is writing the origin.
        """
        return (self.writable and not self.accesses and self.origin.storage.writer is None
                and computes_elsewhere(self.origin))

    def _follow_there(self, there: DevicePart) -> None:
        """Have the device in use copy the elements of the origin."""
        version = self.origin.storage.version
        self.torn, self.following = None, True
        try:
            there.take(self.origin, self._whole())
        finally:
            self.following = False
        self.version_seen = version

    def _whole(self) -> Mat:
        """Return a Mat of all elements."""
        found: Mat = Mat.__new__(Mat)
        found._fill_in(self, packed(self.shape), True)
        return found

    def _elements(self, a: Array) -> Array:
        return np.array(self.part(a), order="C", copy=True).reshape(-1)

    def write_back(self) -> None:
        """Write the elements to the origin."""
        storage = self.origin.storage
        if self.there is not None and not storage.accesses and computes_elsewhere(self.origin):
            version, alone = self._write_back_there(self.there)
        else:
            version, alone = self._write_back_here()
        # by this access, if by none that is around it
        self.version_seen = storage.version if storage.version - version in (0, 1) else _CHANGED
        if not alone:
            self.forget()
            raise ConflictError(f"{self.origin.label()} was changed while a part of it was being "
                                "written, and what was written is lost; end one block before the "
                                "other begins")

    def _write_back_here(self) -> tuple[int, bool]:
        """Write the elements to the origin on the host; return its version before, and whether
        nothing else has changed it.
        """
        origin = self.origin
        with self.lock:
            elements = self._refresh(HOST).reshape(self.shape)
        with origin.facet("array", "io") as a:
            version = origin.storage.version
            alone = version == self.version_seen
            if alone:
                self.part(a)[...] = elements
        return version, alone

    def _write_back_there(self, there: DevicePart) -> tuple[int, bool]:
        """Do what `_write_back_here` does on the device in use."""
        version = self.origin.storage.version
        alone = version == self.version_seen
        if alone:
            with self.lock:
                self.following = True
                try:
                    there.put(self._whole(), self.origin)
                finally:
                    self.following = False
        return version, alone

    # Accesses, each of which follows first

    def open(self, view: Any, facet: Facet, direction: Direction,
             where: SourceLine | None) -> AccessRecord:
        self.follow()
        return super().open(view, facet, direction, where)

    def open_unpresented(self, view: Any, facet: Facet, direction: Direction,
                         where: SourceLine | None) -> AccessRecord:
        self.follow()
        return super().open_unpresented(view, facet, direction, where)

    def export(self, view: Any, facet: Facet, where: SourceLine | None) -> ExportRecord:
        self.follow()
        return super().export(view, facet, where)

    def begin_copy(self, view: Any, memory: Memory, where: SourceLine) -> bool:
        self.follow()
        return super().begin_copy(view, memory, where)

    def close(self, record: AccessRecord, failed: bool) -> None:
        decides = self.writer is record
        try:
            super().close(record, failed)
        except BaseException:
            self.version_seen = _CHANGED
            raise
        if decides and self.writer is None:
            if failed or self.torn is not None:
                self.forget()
            elif not self.following:
                self.write_back()

    def forget(self) -> None:
        """Leave what a failed block wrote: the origin has the elements that there were before."""
        with self.lock:
            self.version_seen, self.torn, self.fresh = _CHANGED, None, 0

    # Nothing is done without an access

    def ready(self, *_: object) -> int:
        return 0

    def host_array(self, *_: object) -> Handle:
        return None

    def peek_element(self, _: int) -> Number | None:
        return None

    def poke(self, *_: object) -> bool:
        return False

    def peek(self, spans: Iterable[tuple[int, int]]) -> Handle:
        """Return the current elements and change no state, neither here nor at the origin."""
        if not self.is_outdated() or self.writer is not None:
            return super().peek(spans)
        layout = self.origin.layout
        found = self.origin.storage.peek([layout.bounds])
        return None if found is None else self._elements(over(found, layout))
