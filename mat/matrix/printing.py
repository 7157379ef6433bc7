"""The text of a Mat: its label, its contents at a prompt, and formats."""

from __future__ import annotations

from itertools import product
from typing import Protocol

import numpy as np

from ..core.registry import all_facets, host
from ..errors import DeviceError, DiskError
from ..facets.array import over
from ..layout.strided import Layout
from ..support import formatting
from ..support.options import current
from ..support.types import Array
from .exports import Exports


class _Printer(Protocol):
    def text(self, text: str) -> object: ...


class Printing(Exports):
    """The part of `Mat` that prints it. Nothing is accessed, copied between memories or marked."""

    __slots__ = ()

    def label(self) -> str:
        """Return a short name for messages, such as ``<Mat 2x3 int64>``.

        Returns
        -------
        str
            The visible extent within the storage, and the dtype unless it is the default.
        """
        if self._is_closed():
            return f"<{type(self).__name__} that is not initialised>"
        dtype = self.element_type
        suffix = "" if dtype == current().dtype else f" {dtype}"
        return f"<Mat {formatting.extent(self.layout, self._room())}{suffix}>"

    def _head(self) -> str:
        head = self.label()[1:-1]
        if current().print_facets:
            head += " " + formatting.letters(self._letters())
        return head

    def _letters(self) -> list[tuple[str, bool]]:
        """Return the letters of facets that were accessed, and whether their memory is fresh."""
        storage = self.storage
        return [(f.letter, storage.is_fresh(f.memory, self)) for f in all_facets()
                if storage.seen & f.bit]

    def _peek(self) -> Array | None:
        """Return the visible elements to print without an access, or None if there are none."""
        storage = self.storage
        if storage.torn_error(self) is not None:
            return None
        options = np.get_printoptions()
        spans = ([self.layout.bounds] if self.size <= options["threshold"]
                 else spans_shown(self.layout, options["edgeitems"]))
        try:
            with self._waits("printing"):
                handle = self._peeked(spans)
        except (DeviceError, DiskError):
            return None
        if handle is not None:
            return over(handle, self.layout)
        fill = storage.fill_value
        if fill is None:
            return None
        if self.element_type is not storage.dtype:
            filled = np.full(storage.size, fill, storage.dtype)
            return over(self._presentable(filled), self.layout)
        return np.broadcast_to(np.asarray(fill, storage.dtype), self.shape)

    def _absent(self) -> str:
        if self.storage.torn_error(self) is not None:
            return "torn"
        if self.storage.is_fresh(host(), self):
            return "in a file that was cut off"
        return "on a device that failed" if self.storage.fresh else "uninitialised"

    def __repr__(self) -> str:
        if self._is_closed():
            return self.label()
        if not current().print_contents:
            return f"<{self._head()}>"
        a = self._peek()
        return formatting.bracket(self._head(),
                                  self._absent() if a is None else formatting.contents(a))

    def __str__(self) -> str:
        a = None if self.layout.shape else self._peek()
        return repr(self) if a is None else str(a[()])

    def _repr_pretty_(self, printer: _Printer, cycle: bool) -> None:  # noqa: ARG002
        printer.text(repr(self))

    def __format__(self, spec: str) -> str:
        if spec:
            return formatting.formatted(self.to_numpy(), spec)
        a = None if self.layout.shape else self._peek()
        return repr(self) if a is None else format(a[()], "")


def spans_shown(layout: Layout, edge: int) -> list[tuple[int, int]]:
    """Return the storage ranges that a printer needs.

    It shows all items of short axes, and `edge` items at both ends of long ones.
    """
    chosen = [range(n) if n <= 4 * edge else (*range(edge), *range(n - edge, n))
              for n in layout.shape]
    steps = [[i * s for i in items] for items, s in zip(chosen, layout.strides, strict=True)]
    found: list[tuple[int, int]] = []
    for k in sorted({layout.displacement + sum(offsets) for offsets in product(*steps)}):
        if found and found[-1][1] == k:
            found[-1] = found[-1][0], k + 1
        else:
            found.append((k, k + 1))
    return found
