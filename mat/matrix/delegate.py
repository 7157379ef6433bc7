"""Functions that take arrays, NumPy's above all, called with Mats: the one place where that is
done.

During the call each Mat is a read-only array; what the function writes goes to a buffer, which is
copied to the Mat when the call has succeeded. Arrays in the result become Mats that share memory
with nothing else, unless they are what a Mat was presented as. This module does not know what the
function computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.direction import INPUT, IO, OUTPUT
from ..core.observers import OBSERVERS, HostCall
from ..devices.in_use import foretold
from ..errors import DTypeError, ShapeError
from ..facets import ARRAY
from ..support.types import Array, Function, Operand
from .mat import Mat
from .reading import Reading, call_reading, mapped
from .with_facets import with_facets

_NESTS = (list, tuple, dict)
_NO_KEYWORDS: dict[str, object] = {}


# The signature is public
def delegate(function: Function, args: Sequence[object] = (),
             kwargs: Mapping[str, object] = _NO_KEYWORDS, *,
             written: Iterable[Mat] = (), in_place: bool = False, name: str = "") -> Any:
    """Call ``function(*args, **kwargs)`` with arrays for Mats, and return Mats for arrays.

    Mats are replaced in lists, tuples and dicts, too. In the result, arrays and NumPy scalars of
    supported dtypes become Mats, those without axes too, also in lists, tuples (named ones as well)
    and dicts, whose classes remain; an operand that is returned is its Mat. Nothing is copied
    unless its memory belongs to something else. Everything else is returned as it is: Python
    numbers, arrays of other dtypes, an array given as ``out=``. NumPy warns as ``np.errstate``
    says.

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
    if not written and "out" not in kwargs:
        return call_reading(function, args, dict(kwargs) if kwargs else _NO_KEYWORDS, name)
    call = _Writing(args, kwargs, written)
    planned = foretold(function, args, kwargs, (*call.written.values(),), name)
    if planned is not NotImplemented:
        return planned
    run = call.run_in_place if in_place else call.run_buffered
    if not OBSERVERS:
        return run(function, args, kwargs)
    call.notify(name or function.__name__)
    with HostCall(name or function.__name__):
        return run(function, args, kwargs)


class _Writing(Reading):
    """The Mats and arrays of one call that writes some of its operands."""

    def __init__(self, args: Sequence[object], kwargs: Mapping[str, object],
                 written: Iterable[Mat]) -> None:
        super().__init__()
        self.read: dict[int, Mat] = {}
        given: Any = kwargs.get("out")
        self.outs: tuple[object, ...] = given if isinstance(given, tuple) else (given,)
        for out in self.outs:
            if isinstance(out, _NESTS):
                raise DTypeError(f"out must be a Mat or an array, got {type(out).__name__}")
        self.written = {id(x): x for x in (*written, *self.outs) if isinstance(x, Mat)}
        self.changed = {id(x) for x in written}  # of those written, the ones that are read as well
        for target in self.written.values():
            target.allowed(IO)
        try:
            self._collect([*args, *(v for k, v in kwargs.items() if k != "out")])
        except RecursionError:
            raise ShapeError("an argument is nested too deep") from None
        if kwargs.get("where", True) is not True:
            self.changed |= self.written.keys()
        self.buffers: dict[int, Array] = {}  # for the id of a Mat that is written

    def _collect(self, items: Iterable[object]) -> None:
        for item in items:
            if isinstance(item, Mat):
                if id(item) not in self.changed:
                    self.read[id(item)] = item
            elif isinstance(item, np.ndarray):
                self.others.append(item)
            elif isinstance(item, _NESTS):
                self._collect(item.values() if isinstance(item, dict) else item)

    def enabled(self) -> bool:
        """Return whether operations on all of the Mats compute on the device in use."""
        return all(x.device_enabled for x in (*self.read.values(), *self.written.values()))

    # Calling

    def run_in_place(self, function: Function, args: Sequence[object],
                     kwargs: Mapping[str, object]) -> Operand:
        """Call with the memory of the Mats that are written."""
        targets = [(x, ARRAY, IO if key in self.changed else OUTPUT)
                   for key, x in self.written.items()]
        with with_facets(*((x, ARRAY, INPUT) for x in self.read.values()), *targets) as found:
            presented = dict(zip(self.read, found, strict=False))
            self.buffers = dict(zip(self.written, found[len(self.read):], strict=True))
            try:
                return self._run(function, args, kwargs, presented)
            except Exception as error:  # nothing is torn
                refusal = error
        raise refusal

    def run_buffered(self, function: Function, args: Sequence[object],
                     kwargs: Mapping[str, object]) -> Operand:
        """Call with buffers for the Mats that are written, and copy these to the Mats."""
        accesses = self.read | {key: self.written[key] for key in self.changed}
        with with_facets(*((x, ARRAY, INPUT) for x in accesses.values())) as found:
            arrays = dict(zip(accesses, found, strict=True))
            self.buffers = {key: np.array(arrays[key]) if key in self.changed
                            else np.empty(x.shape, x.dtype)
                            for key, x in self.written.items()}
            presented = {key: arrays[key] for key in self.read}
            result = self._run(function, args, kwargs, presented)
        for key, target in self.written.items():
            with target.facet(ARRAY, OUTPUT) as a:
                a[...] = self.buffers[key]
        return result

    def _run(self, function: Function, args: Sequence[object], kwargs: Mapping[str, object],
             presented: dict[int, Array]) -> Operand:
        self.arrays.extend([*presented.values(), *self.buffers.values()])
        outs, operands = presented | self.buffers, self.buffers | presented
        keywords = {k: _with_arrays(v, outs if k == "out" else operands) for k, v in kwargs.items()}
        return self.with_mats(function(*(_with_arrays(v, operands) for v in args), **keywords))

    def mat_of(self, value: Array) -> Operand:
        """Return the Mat whose buffer `value` is, an array of the user as it is, or a new Mat."""
        for key, buffer in self.buffers.items():
            if value is buffer or (value.shape == buffer.shape and value.base is buffer):
                return self.written[key]
        if any(value is a for a in self.outs):
            return value
        return super().mat_of(value)


def _with_arrays(value: Operand, known: dict[int, Array]) -> Operand:
    """Return `value` with arrays for Mats."""
    if isinstance(value, Mat):
        return known[id(value)]
    return mapped(value, partial(_with_arrays, known=known))
