"""The Mats that a function of arrays reads: each is presented as an array, also in lists, tuples
and dicts, as long as the function runs; arrays in its result become Mats.

`Reading` is one call of such a function. It opens the accesses itself, which takes a third of the
time of a ``with`` block for each Mat.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core.access_record import AccessRecord
from ..core.compiled import BLOCKS, IN_USE, THREADS
from ..core.direction import INPUT
from ..core.observers import OBSERVERS, HostCall
from ..core.source_line import SourceLine
from ..devices.in_use import foretold, note_fallback
from ..errors import ShapeError
from ..facets import ARRAY
from ..layout.shapes import MOST_AXES
from ..support.c_pointers import address_of
from ..support.dtypes import is_known_dtype
from ..support.types import Array, Function, Keywords, Operand
from .base import MatBase
from .creation import adopted, flat_array, over_memory

_ALONE = 2  # what sys.getrefcount returns for an array that only one other object refers to
# types of arguments that contain no arrays
_PLAIN: set[type] = {int, float, complex, bool, str, type(None), type, slice, np.dtype}
# functions of NumPy's that write no operand, and copy one that cannot be written
_COPYING = frozenset((np.interp, np.bincount, np.correlate, np.convolve))
# with types of C
_array, _input, _threads, _blocks = ARRAY, INPUT, THREADS, BLOCKS
_in_use, _observers = IN_USE, OBSERVERS
_ndarray, _generic, _getrefcount = np.ndarray, np.generic, sys.getrefcount
_flat_array: Function = flat_array


class Reading:
    """The Mats that one call reads, and the accesses to them, ended by `end`."""

    def __init__(self) -> None:
        self.records: list[AccessRecord] = []  # one for each Mat
        self.arrays: list[Array] = []  # what is presented of these
        self.others: list[Array] = []  # the user's arrays among the operands
        self.where: SourceLine | None = None
        self.writable: bool = False  # the arrays are presented as if they could be written

    # The operands

    def presented(self, value: Operand, depth: int) -> Operand:
        """Return `value`, at `depth` levels of containers, with arrays for Mats."""
        kind = type(value)
        if kind in _PLAIN:
            return value
        if isinstance(value, MatBase):
            return self.array_of(value)
        if isinstance(value, _ndarray):
            self.others.append(value)
        elif isinstance(value, (list, tuple)):
            return self.items_presented(value, depth + 1)
        elif isinstance(value, dict):
            return self.values_presented(value, depth + 1)
        return value

    def items_presented(self, values: Iterable[Operand], depth: int) -> Operand:
        """Return a list or tuple with arrays for Mats: itself, if there are none in it."""
        if depth > MOST_AXES:
            raise ShapeError(f"nested more than {MOST_AXES} deep; a Mat has no more axes")
        found = []
        changed = False
        for value in values:
            item = self.presented(value, depth)
            found.append(item)
            changed = changed or item is not value
        return rebuilt(values, found) if changed else values

    def values_presented(self, values: Keywords, depth: int) -> Keywords:
        """Return a dict with arrays for Mats: itself, if there are none in it."""
        if depth > MOST_AXES:
            raise ShapeError(f"nested more than {MOST_AXES} deep; a Mat has no more axes")
        found: dict[Any, Any] = {}
        changed = False
        for key, value in values.items():
            item = found[key] = self.presented(value, depth)
            changed = changed or item is not value
        return found if changed else values

    def array_of(self, mat: MatBase) -> Array:
        """Return the array of a Mat, in a new access unless one is open."""
        for k in range(len(self.records)):
            record = self.records[k]
            if record.view is mat:
                return self.arrays[k]
        if self.where is None:
            self.where = _threads.line()
        storage = mat.storage
        record = storage.open(mat, _array, _input, self.where)
        self.records.append(record)
        found: Array = record.lent()
        if self.writable:
            layout = mat.layout
            found = _blocks.array_at(address_of(found), layout.shape, layout.strides, found.dtype,
                                     True)
        self.arrays.append(found)
        return found

    def end(self, error: BaseException | None) -> None:
        """End the accesses of a call, after `error` or success."""
        fault = error
        while self.records:
            record = self.records.pop()
            mat: Any = record.view
            storage = mat.storage  # the same as before, since the access is open
            try:
                if error is not None:
                    record.note_read_only(error)
            finally:  # an interrupt may come before
                fault = _closed(storage, record, fault)
        if fault is not error and fault is not None:
            raise fault

    def notify(self, name: str) -> None:
        """Notify observers that the host computes instead of the device in use."""
        note_fallback(name, *[record.view for record in self.records])

    def enabled(self) -> bool:
        """Return whether operations on all of the Mats compute on the device in use."""
        for record in self.records:
            mat: Any = record.view
            if not mat.device_enabled:
                return False
        return True

    # The result

    def with_mats(self, value: Operand) -> Operand:
        """Return `value` with Mats for arrays and NumPy scalars."""
        if isinstance(value, _ndarray):
            return self.mat_of(value)
        if isinstance(value, _generic):
            return self.adopt(np.asarray(value)) if is_known_dtype(value.dtype) else value
        if isinstance(value, dict):
            return {k: self.with_mats(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return rebuilt(value, [self.with_mats(v) for v in value])
        return value

    def mat_of(self, value: Array) -> Operand:
        """Return the Mat of an array in the result: the Mat that it was presented for, as NumPy
        returns an operand itself; a copy, if other arrays share its memory.
        """
        if value.base is None and not self.others:  # as most results
            flat = _flat_array(value)
            if flat is not None and is_known_dtype(value.dtype):
                return self.as_enabled(over_memory(value, flat, True))
        # what owns its memory is no view of what was presented
        shared = False
        if value.base is not None:
            for k in range(len(self.arrays)):
                if self.arrays[k] is value:
                    return self.records[k].view
            shared = _shares(value, self.arrays)
        shared = shared or _shares(value, self.others)
        if not _can_become_mat(value):
            return value.copy() if shared else value
        return self.adopt(value if not shared and _is_alone(value) else value.copy())

    def adopt(self, a: Array) -> MatBase:
        """Return the Mat of an array that nothing else uses."""
        return self.as_enabled(adopted(a))

    def as_enabled(self, result: MatBase) -> MatBase:
        """Return a result that computes where all of the Mats do."""
        result.device_enabled = self.enabled()
        return result


def _closed(storage: Any, record: AccessRecord,
            fault: BaseException | None) -> BaseException | None:
    """End an access; return `fault`, or else the error that an observer raises."""
    try:
        storage.close(record, fault is not None)
    except BaseException as raised:
        return fault or raised
    return fault


def _shares(value: Array, others: list[Array]) -> bool:
    return bool(others) and any(np.may_share_memory(value, other) for other in others)


def _can_become_mat(a: Array) -> bool:
    if type(a) is not _ndarray or not is_known_dtype(a.dtype):
        return False
    flags = a.flags
    return flags.aligned and (flags.c_contiguous or _fits(a))


def _fits(a: Array) -> bool:
    """Return whether the strides are multiples of the element's size."""
    size = a.itemsize
    return all(not stride % size for stride in a.strides)


def _is_alone(a: Array) -> bool:
    """Return whether nothing else uses the memory of `a`.

    That memory is its own, or that of an array to which nothing else refers.
    """
    if not a.flags.writeable:
        return False
    if a.base is None:
        return True
    return type(a.base) is _ndarray and a.base.base is None and _getrefcount(a.base) <= _ALONE


def rebuilt(like: Operand, items: list[Operand]) -> Operand:
    """Return a list or tuple of the class of `like` with other items."""
    kind = type(like)
    if kind is list:
        return items
    if kind is tuple:
        return tuple(items)
    return kind(*items) if hasattr(like, "_fields") else kind(items)


def mapped(value: Operand, function: Function) -> Operand:
    """Return a list, tuple or dict with the results of `function` for its items; else the value."""
    if isinstance(value, dict):
        return {k: function(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return rebuilt(value, [function(v) for v in value])
    return value


def call_reading(function: Function, args: Sequence[object], kwargs: Keywords,
                 name: str = "") -> Operand:
    """Call `function`, with no operand written, with arrays for Mats; return Mats for arrays.

    Observers call it `name`, by default its own name.
    """
    if _in_use:
        planned = foretold(function, args, kwargs, (), name)
        if planned is not NotImplemented:
            return planned
    if not _observers:
        return _called(function, args, kwargs, name)
    with HostCall(name or function.__name__):
        return _called(function, args, kwargs, name)


def _called(function: Function, args: Sequence[object], kwargs: Keywords, name: str) -> Operand:
    reading = Reading()
    reading.writable = _blocks.enabled and not _observers and function in _COPYING
    try:
        arguments = [reading.presented(value, 0) for value in args]
        keywords = reading.values_presented(kwargs, 0) if kwargs else kwargs
        if _in_use:
            reading.notify(name or function.__name__)
        found = reading.with_mats(function(*arguments, **keywords))
    except BaseException as error:
        reading.end(error)
        raise
    reading.end(None)
    return found
