"""Functions that take arrays, NumPy's above all, called with Mats: the one place where that is
done.

During the call each Mat is a read-only array; what is written goes to a place beside it and is
taken over when the call has ended well. Arrays in the result become Mats that share memory with
nobody. What the function computes is not known here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.compiled import IN_USE
from ...core.cube import INPUT, IO, OBSERVERS, OUTPUT
from ...devices.device import CPU, in_use
from ...matrix.creation import adopted
from ...matrix.mat import Mat
from ...matrix.with_facets import with_facets
from ...support.dtypes import SUPPORTED

_NESTS = (list, tuple, dict)
_ALONE = 2  # what sys.getrefcount says of an array that only one other refers to
_NO_KEYWORDS: dict[str, Any] = {}


def delegate(function: Callable[..., Any], args: Sequence[Any] = (),
             kwargs: Mapping[str, Any] = _NO_KEYWORDS, *,
             written: Iterable[Mat] = (), in_place: bool = False, name: str = "") -> Any:
    """``function(*args, **kwargs)``, where Mats, also in lists, tuples and dicts, are arrays for
    the function.

    Mats given as ``out=`` (or in a tuple there), and the operands in `written`, are written; where
    the function returns one of them, that very Mat is returned. If the function raises, they are
    unchanged: it writes to arrays beside them. A caller who knows that the function raises before
    it touches anything says `in_place`, and saves that pass.

    In the result, arrays and NumPy scalars of supported dtypes become Mats, those without axes too,
    in lists, tuples (named ones as well) and dicts of the same class. Nothing is copied, unless the
    memory is somebody else's. Everything else is returned as it is: Python numbers, arrays of other
    dtypes, an array given as ``out=``. NumPy warns as ``np.errstate`` says.

    `ConflictError`, `TornError` as for looks through facet "array"; `DirectionError`, `AliasError`
    for what cannot be written.

    >>> import numpy, mat
    >>> delegate(numpy.median, [mat.arange(5)])
    <Mat () A 2.>
    """
    call = _Call(args, kwargs, written)
    call.tell(name or function.__name__)
    if in_place:
        return call.straight(function, args, kwargs)
    return call.beside(function, args, kwargs)


class _Call:
    """The Mats and arrays of one call."""

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any],
                 written: Iterable[Mat]) -> None:
        self.read: dict[int, Mat] = {}
        self.arrays: list[np.ndarray[Any, Any]] = []  # the user's, among the operands
        self.given = _leaves(kwargs.get("out"))  # what is to be written by name
        self.written = {id(x): x for x in (*written, *self.given) if isinstance(x, Mat)}
        self.changed = {id(x) for x in written}  # of those, what is read as well
        for target in self.written.values():
            target.allowed(IO)
        self._collect(args)
        self._collect([v for k, v in kwargs.items() if k != "out"])
        if kwargs.get("where", True) is not True:
            self.changed |= self.written.keys()
        self.enabled = all(x.device_enabled for x in (*self.read.values(), *self.written.values()))
        self.seen: dict[int, Any] = {}  # id of a Mat -> the array that it is for the function

    def _collect(self, items: Iterable[Any]) -> None:
        for item in items:
            if isinstance(item, Mat):
                if id(item) not in self.changed:
                    self.read[id(item)] = item
            elif isinstance(item, np.ndarray):
                self.arrays.append(item)
            elif isinstance(item, _NESTS):
                self._collect(item.values() if isinstance(item, dict) else item)

    def tell(self, name: str) -> None:
        """Tell observers that the host does what the device in use was meant to."""
        if IN_USE and OBSERVERS and self.enabled and (device := in_use()) is not CPU:
            for observer in tuple(OBSERVERS):
                observer.fell_back(name, device.name)

    # Calling

    def straight(self, function: Callable[..., Any], args: Sequence[Any],
                 kwargs: Mapping[str, Any]) -> Any:
        """Call with the memory of what is written."""
        targets = [(x, "array", IO if key in self.changed else OUTPUT) for key,
                   x in self.written.items()]
        with with_facets(*((x, "array", INPUT) for x in self.read.values()), *targets) as found:
            self.seen = dict(zip(self.read, found, strict=False))
            places = dict(zip(self.written, found[len(self.read):], strict=True))
            return self._called(function, args, kwargs, places)

    def beside(self, function: Callable[..., Any], args: Sequence[Any],
               kwargs: Mapping[str, Any]) -> Any:
        """Call with arrays beside what is written, and take them over."""
        if not self.written and len(self.read) == 1:
            ((key, x),) = self.read.items()
            with x.facet("array", INPUT) as a:
                self.seen = {key: a}
                return self._called(function, args, kwargs, {})
        accesses = self.read | {key: self.written[key] for key in self.changed}
        with with_facets(*((x, "array", INPUT) for x in accesses.values())) as found:
            arrays = dict(zip(accesses, found, strict=True))
            self.seen = {key: arrays[key] for key in self.read}
            places = {key: np.array(arrays[key]) if key in self.changed
                      else np.empty(x.shape, x.dtype)
                      for key, x in self.written.items()}
            result = self._called(function, args, kwargs, places)
        for key, target in self.written.items():
            with target.facet("array", OUTPUT) as a:
                a[...] = places[key]
        return result

    def _called(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any],
                places: dict[int, Any]) -> Any:
        outs, operands = self.seen | places, places | self.seen
        keywords = {k: self._presented(v, outs if k == "out" else operands) for k,
                    v in kwargs.items()}
        return self._result(function(*(self._presented(v, operands) for v in args), **keywords),
                            places)

    def _presented(self, value: Any, known: dict[int, Any]) -> Any:
        """`value` with arrays for Mats."""
        if isinstance(value, Mat):
            return known[id(value)]
        if not isinstance(value, _NESTS):
            return value
        if isinstance(value, dict):
            return {k: self._presented(v, known) for k, v in value.items()}
        return _rebuilt(value, [self._presented(v, known) for v in value])

    # The result

    def _result(self, value: Any, places: dict[int, Any]) -> Any:
        """`value` with Mats for arrays."""
        if isinstance(value, np.ndarray | np.generic):
            return self._mat(value, places)
        if isinstance(value, dict):
            return {k: self._result(v, places) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return _rebuilt(value, [self._result(v, places) for v in value])
        return value

    def _mat(self, value: Any, places: dict[int, Any]) -> Any:
        """What is returned for an array or a NumPy scalar."""
        for key, place in places.items():
            if value is place or (isinstance(value, np.ndarray) and value.shape == place.shape
                                  and value.base is place):
                return self.written[key]
        if any(value is a for a in self.given):
            return value
        if isinstance(value, np.generic):
            return self._adopted(np.asarray(value)) if value.dtype.name in SUPPORTED else value
        taken = any(np.may_share_memory(value, a)
                    for a in (*self.seen.values(), *self.arrays, *places.values()))
        if not _suits(value):
            return value.copy() if taken else value
        return self._adopted(value if not taken and _is_alone(value) else value.copy())

    def _adopted(self, a: np.ndarray[Any, Any]) -> Mat:
        result = adopted(a)
        result.device_enabled = self.enabled
        return result


def _leaves(out: Any) -> tuple[Any, ...]:
    return out if isinstance(out, tuple) else (out,)


def _suits(a: np.ndarray[Any, Any]) -> bool:
    """Whether a Mat can be made of `a`."""
    return (type(a) is np.ndarray and a.dtype.name in SUPPORTED and a.dtype.isnative
            and a.flags.aligned
            and (a.flags.c_contiguous or not any(s % a.itemsize for s in a.strides)))


def _is_alone(a: np.ndarray[Any, Any]) -> bool:
    """Whether the memory of `a` is nobody else's: its own, or that of an array which nothing else
    refers to.
    """
    if not a.flags.writeable:
        return False
    return a.base is None or (type(a.base) is np.ndarray and a.base.base is None
                              and sys.getrefcount(a.base) <= _ALONE)


def _rebuilt(like: Any, items: list[Any]) -> Any:
    """A list or tuple of the class of `like` with other items."""
    kind = type(like)
    return kind(*items) if hasattr(like, "_fields") else kind(items)
