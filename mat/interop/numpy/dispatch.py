"""Functions that take arrays, NumPy's above all, called with Mats: the one place where that is
done.

During the call each Mat is a read-only array; what the function writes goes to a buffer, which is
copied to the Mat when the call has succeeded. Arrays in the result become Mats that share memory
with nothing else. This module does not know what the function computes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.compiled import IN_USE
from ...core.direction import INPUT, IO, OUTPUT
from ...core.observers import OBSERVERS
from ...devices.device import CPU, in_use
from ...facets.array import ARRAY
from ...matrix.creation import adopted
from ...matrix.mat import Mat
from ...matrix.with_facets import with_facets
from ...support.types import Array, Function, Operand
from .operands import is_known_dtype

_NESTS = (list, tuple, dict)
_ALONE = 2  # what sys.getrefcount returns for an array that only one other object refers to
# types of arguments that contain no arrays
_PLAIN = frozenset((int, float, complex, bool, str, type(None), type, slice))
_NO_KEYWORDS: dict[str, object] = {}


# The signature is public
def delegate(function: Function, args: Sequence[object] = (),
             kwargs: Mapping[str, object] = _NO_KEYWORDS, *,
             written: Iterable[Mat] = (), in_place: bool = False, name: str = "") -> Any:
    """Call ``function(*args, **kwargs)`` with arrays for Mats, and return Mats for arrays.

    Mats are replaced in lists, tuples and dicts, too. In the result, arrays and NumPy scalars of
    supported dtypes become Mats, those without axes too, also in lists, tuples (named ones as well)
    and dicts, whose classes remain. Nothing is copied unless its memory belongs to something else.
    Everything else is returned as it is: Python numbers, arrays of other dtypes, an array given as
    ``out=``. NumPy warns as ``np.errstate`` says.

    Parameters
    ----------
    function : callable
        A function of arrays.
    args : sequence
        Its positional arguments.
    kwargs : mapping
        Its keyword arguments. Mats given as ``out=``, or in a tuple there, are written; where the
        function returns one of them, that very Mat is returned.
    written : iterable of Mat
        Operands that the function writes.
    in_place : bool
        Let the function write the memory of the Mats directly. By default it writes to buffers, so
        that the Mats are unchanged if it raises; a caller who knows that it raises before it writes
        anything saves that copy.
    name : str
        What observers call the function; its own name by default.

    Returns
    -------
    object
        The result of `function`, with Mats for arrays.

    Raises
    ------
    ConflictError, TornError
        As for access through facet "array".
    DirectionError, AliasError
        For Mats that cannot be written.

    Examples
    --------
    >>> import numpy, mat
    >>> delegate(numpy.median, [mat.arange(5.0)])
    <Mat () A 2.>
    """
    if not OBSERVERS and not written and "out" not in kwargs:
        operands = _only_operands(args, kwargs)
        if operands:
            return _call_reading(function, args, kwargs, operands)
    call = _Call(args, kwargs, written)
    call.notify(name or function.__name__)
    if in_place:
        return call.run_in_place(function, args, kwargs)
    return call.run_buffered(function, args, kwargs)


# Functions that read one or two Mats are called most


def _only_operands(args: Sequence[object], kwargs: Mapping[str, object]) -> list[Mat]:
    """Return the Mats of a call that has one or two, and otherwise numbers, names and the like; an
    empty list for other calls.
    """
    found: list[Mat] = []
    for value in (*args, *kwargs.values()) if kwargs else args:
        if type(value) is Mat:
            found.append(value)
        elif type(value) not in _PLAIN and not (
                type(value) is tuple and all(type(v) is int for v in value)):
            return []
    return found if len(found) == 1 or (len(found) == 2 and found[0] is not found[1]) else []


def _call_reading(function: Function, args: Sequence[object], kwargs: Mapping[str, object],
                  operands: list[Mat]) -> Operand:
    """Call `function` with arrays for the only Mats, which it reads."""
    if len(operands) == 1:
        with operands[0].facet(ARRAY, INPUT) as a:
            return _call_with(function, args, kwargs, operands, (a,))
    with with_facets(*((x, ARRAY, INPUT) for x in operands)) as arrays:
        return _call_with(function, args, kwargs, operands, arrays)


def _call_with(function: Function, args: Sequence[object], kwargs: Mapping[str, object],
               operands: list[Mat], arrays: Sequence[Array]) -> Operand:
    known = {id(x): a for x, a in zip(operands, arrays, strict=True)}
    value = function(*[known.get(id(v), v) for v in args],
                     **{k: known.get(id(v), v) for k, v in kwargs.items()} if kwargs else kwargs)
    if type(value) is np.ndarray and value.base is None and is_known_dtype(value.dtype):
        found = adopted(value)  # nothing else has its memory
        found.device_enabled = all(x.device_enabled for x in operands)
        return found
    call = _Call(args, kwargs, ())
    call.presented = known
    return call.with_mats(value, {})


class _Call:
    """The Mats and arrays of one call."""

    def __init__(self, args: Sequence[object], kwargs: Mapping[str, object],
                 written: Iterable[Mat]) -> None:
        self.read: dict[int, Mat] = {}
        self.arrays: list[Array] = []  # the user's, among the operands
        self.outs = _leaves(kwargs.get("out"))
        self.written = {id(x): x for x in (*written, *self.outs) if isinstance(x, Mat)}
        self.changed = {id(x) for x in written}  # of those written, the ones that are read as well
        for target in self.written.values():
            target.allowed(IO)
        self._collect(args)
        self._collect([v for k, v in kwargs.items() if k != "out"])
        if kwargs.get("where", True) is not True:
            self.changed |= self.written.keys()
        self.enabled = all(x.device_enabled for x in (*self.read.values(), *self.written.values()))
        self.presented: dict[int, Array] = {}  # for the id of a Mat that is read, its array

    def _collect(self, items: Iterable[object]) -> None:
        for item in items:
            if isinstance(item, Mat):
                if id(item) not in self.changed:
                    self.read[id(item)] = item
            elif isinstance(item, np.ndarray):
                self.arrays.append(item)
            elif isinstance(item, _NESTS):
                self._collect(item.values() if isinstance(item, dict) else item)

    def notify(self, name: str) -> None:
        """Notify observers that the host computes instead of the device in use."""
        if IN_USE and OBSERVERS and self.enabled and (device := in_use()) is not CPU:
            for observer in tuple(OBSERVERS):
                observer.fell_back(name, device.name)

    # Calling

    def run_in_place(self, function: Function, args: Sequence[object],
                     kwargs: Mapping[str, object]) -> Operand:
        """Call with the memory of the Mats that are written."""
        targets = [(x, "array", IO if key in self.changed else OUTPUT)
                   for key, x in self.written.items()]
        with with_facets(*((x, "array", INPUT) for x in self.read.values()), *targets) as found:
            self.presented = dict(zip(self.read, found, strict=False))
            buffers = dict(zip(self.written, found[len(self.read):], strict=True))
            return self._run(function, args, kwargs, buffers)

    def run_buffered(self, function: Function, args: Sequence[object],
                     kwargs: Mapping[str, object]) -> Operand:
        """Call with buffers for the Mats that are written, and copy these to the Mats."""
        if not self.written and len(self.read) == 1:
            ((key, x),) = self.read.items()
            with x.facet("array", INPUT) as a:
                self.presented = {key: a}
                return self._run(function, args, kwargs, {})
        accesses = self.read | {key: self.written[key] for key in self.changed}
        with with_facets(*((x, "array", INPUT) for x in accesses.values())) as found:
            arrays = dict(zip(accesses, found, strict=True))
            self.presented = {key: arrays[key] for key in self.read}
            buffers = {key: np.array(arrays[key]) if key in self.changed
                       else np.empty(x.shape, x.dtype)
                       for key, x in self.written.items()}
            result = self._run(function, args, kwargs, buffers)
        for key, target in self.written.items():
            with target.facet("array", OUTPUT) as a:
                a[...] = buffers[key]
        return result

    def _run(self, function: Function, args: Sequence[object], kwargs: Mapping[str, object],
             buffers: dict[int, Array]) -> Operand:
        outs, operands = self.presented | buffers, buffers | self.presented
        keywords = {k: self._with_arrays(v, outs if k == "out" else operands)
                    for k, v in kwargs.items()}
        return self.with_mats(function(*(self._with_arrays(v, operands) for v in args),
                                        **keywords), buffers)

    def _with_arrays(self, value: Operand, known: dict[int, Array]) -> Operand:
        """Return `value` with arrays for Mats."""
        if isinstance(value, Mat):
            return known[id(value)]
        if not isinstance(value, _NESTS):
            return value
        if isinstance(value, dict):
            return {k: self._with_arrays(v, known) for k, v in value.items()}
        return _rebuilt(value, [self._with_arrays(v, known) for v in value])

    # The result

    def with_mats(self, value: Operand, buffers: dict[int, Array]) -> Operand:
        """Return `value` with Mats for arrays."""
        if isinstance(value, np.ndarray | np.generic):
            return self._as_result(value, buffers)
        if isinstance(value, dict):
            return {k: self.with_mats(v, buffers) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return _rebuilt(value, [self.with_mats(v, buffers) for v in value])
        return value

    def _as_result(self, value: Array | np.generic, buffers: dict[int, Array]) -> Operand:
        """Return what the caller gets for an array or a NumPy scalar."""
        for key, buffer in buffers.items():
            if value is buffer or (isinstance(value, np.ndarray) and value.shape == buffer.shape
                                   and value.base is buffer):
                return self.written[key]
        if any(value is a for a in self.outs):
            return value
        if isinstance(value, np.generic):
            return self._adopted(np.asarray(value)) if is_known_dtype(value.dtype) else value
        # what owns its memory is no view of what was presented
        presented = () if value.base is None else self.presented.values()
        shared = any(np.may_share_memory(value, a)
                     for a in (*presented, *self.arrays, *buffers.values()))
        if not _can_become_mat(value):
            return value.copy() if shared else value
        return self._adopted(value if not shared and _is_alone(value) else value.copy())

    def _adopted(self, a: Array) -> Mat:
        result = adopted(a)
        result.device_enabled = self.enabled
        return result


def _leaves(out: object) -> tuple[object, ...]:
    return out if isinstance(out, tuple) else (out,)


def _can_become_mat(a: Array) -> bool:
    return (type(a) is np.ndarray and is_known_dtype(a.dtype) and a.flags.aligned
            and (a.flags.c_contiguous or not any(s % a.itemsize for s in a.strides)))


def _is_alone(a: Array) -> bool:
    """Return whether nothing else uses the memory of `a`.

    That memory is its own, or that of an array to which nothing else refers.
    """
    if not a.flags.writeable:
        return False
    return a.base is None or (type(a.base) is np.ndarray and a.base.base is None
                              and sys.getrefcount(a.base) <= _ALONE)


def _rebuilt(like: Operand, items: list[Operand]) -> Operand:
    """Return a list or tuple of the class of `like` with other items."""
    kind = type(like)
    return kind(*items) if hasattr(like, "_fields") else kind(items)
