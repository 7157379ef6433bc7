"""The method ``at`` of NumPy's ufuncs on Mats, such as ``numpy.add.at(x, index, value)``; and
ufuncs and methods that devices have no kernels of, made of operations while one is in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ..core.compiled import IN_USE
from ..core.direction import INPUT, IO
from ..devices.in_use import computes_elsewhere, note_fallback
from ..errors import DTypeError
from ..facets import ARRAY
from ..matrix.brief_calls import write_briefly
from ..matrix.delegate import delegate
from ..matrix.mat import Mat
from ..matrix.with_facets import with_facets
from ..ops.engine.by_numpy import QUIET, STATE, LeftToNumPy, leave_if, or_leave
from ..ops.primitives.few_indices import added_at
from ..support.plugins import at_first_use
from ..support.types import Arguments, Array, Function, Keywords, Operand
from .operands import as_mat_if_possible
from .registry import COMPOSED, Result, load_composed

accumulation = at_first_use("ops.indexing.accumulate_at")
_SILENT = frozenset((np.add, np.subtract, np.multiply, np.maximum, np.minimum))  # of integers


def at_places(ufunc: np.ufunc, inputs: Arguments, kwargs: Keywords) -> None:
    """Combine the elements of the first operand at an index with a value, in place."""
    x = inputs[0]
    if isinstance(x, Mat) and len(inputs) == 3 and _accumulated_there(ufunc, *inputs):
        return
    token = STATE.set(QUIET)
    try:
        if not isinstance(x, Mat) or kwargs or not _written(ufunc, x, inputs[1:]):
            delegate(partial(_combine, ufunc), inputs, kwargs, name=ufunc.__name__,
                     written=[x] if isinstance(x, Mat) else ())
    finally:
        STATE.reset(token)


def _accumulated_there(ufunc: np.ufunc, x: Mat, index: Operand, value: Operand) -> bool:
    """Do so on the device in use; return False, with nothing written, where that cannot be."""
    if not computes_elsewhere(x) or ufunc not in accumulation.RULES:
        return False
    x.allowed(IO)
    return accumulation.accumulated_at(ufunc, x, index, value)


_PLAIN = frozenset((Mat, np.ndarray, int, float, complex))  # which do not decide about a call


def at_briefly(ufunc: np.ufunc, inputs: Arguments) -> bool:
    """Do so with copies of a few elements, or on the device in use; return whether it was done."""
    x = inputs[0]
    if type(x) is not Mat:
        return False
    if IN_USE:
        return (len(inputs) == 3 and type(inputs[1]) is Mat and type(inputs[2]) in _PLAIN
                and _accumulated_there(ufunc, *inputs))
    if ufunc is np.add and len(inputs) == 3 and added_at(*inputs):
        return True
    function = ufunc.at if x.ndim > 1 else partial(_combine, ufunc)
    if x.element_type.kind in "iu" and ufunc in _SILENT:
        return write_briefly(function, inputs, {})
    token = STATE.set(QUIET)  # silent, as operations of `mat` are
    try:
        return write_briefly(function, inputs, {})
    finally:
        STATE.reset(token)


def _written(ufunc: np.ufunc, x: Mat, others: Arguments) -> bool:
    """Write the memory of `x` by NumPy, if no other operand shares it; return whether it was."""
    parts = [part for v in others for part in (v if type(v) is tuple else (v,))]
    mats = [v for v in parts if isinstance(v, Mat)]
    if any(m.storage is x.storage for m in mats) or any(
            type(v) is list and any(isinstance(i, Mat) for i in v) for v in parts):
        return False
    note_fallback(ufunc.__name__, x, *mats)
    if not mats:
        with x.facet(ARRAY, IO) as a:
            error = _error_of(ufunc, a, others)
    else:
        with with_facets((x, ARRAY, IO), *((m, ARRAY, INPUT) for m in mats)) as arrays:
            known = {id(m): a for m, a in zip(mats, arrays[1:], strict=True)}
            error = _error_of(ufunc, arrays[0], [_presented(v, known) for v in others])
    if error is not None:
        raise error
    return True


def _error_of(ufunc: np.ufunc, a: Array, others: Sequence[Operand]) -> Exception | None:
    """Call ``ufunc.at``, and return its error, so that the block around this does not fail: NumPy
    checks indices, shapes and dtypes before it writes anything.
    """
    try:
        _combine(ufunc, a, *others)
    except (ValueError, TypeError, IndexError) as error:
        return error
    return None


def _combine(ufunc: np.ufunc, a: Array, index: Operand, *value: Operand) -> None:
    """Call ``ufunc.at`` with a value that needs no broadcasting to an index of several axes: NumPy
    2.4 reads beyond its elements if `a` has one axis.
    """
    if isinstance(a, np.ndarray) and a.ndim == 1 and value and np.ndim(value[0]):
        only = index[0] if type(index) is tuple and len(index) == 1 else index
        if type(only) is list:
            index = only = np.asarray(only)
        if isinstance(only, np.ndarray) and only.ndim > 1:
            value = (np.broadcast_to(value[0], only.shape),)
    ufunc.at(a, index, *value)


def _presented(value: Operand, known: dict[int, Array]) -> Operand:
    """Return an index or a value with arrays for its Mats."""
    if type(value) is tuple:
        return tuple(known.get(id(v), v) for v in value)
    return known.get(id(value), value)


# Ufuncs and methods that devices have no kernels of


_WEAK = (bool, int, float, complex)


def composed(ufunc: np.ufunc, method: str, inputs: Arguments, kwargs: Keywords) -> Result:
    """Call a method of `ufunc` on the device in use; leave it to NumPy where there is none."""
    load_composed()
    implementation = or_leave(COMPOSED.get((ufunc, method)))
    outs = kwargs.get("out", ())
    others = {k: v for k, v in kwargs.items() if k != "out" and v is not None}
    if method != "__call__":
        if "axis" in kwargs:
            others["axis"] = kwargs["axis"]
        leave_if(not isinstance(inputs[0], Mat) or not computes_elsewhere(inputs[0]))
        return _composed_written(_called(implementation, (ufunc, *inputs), others), outs)
    operands = operands_there(inputs)
    leave_if(others or not operands)
    return _composed_written(_called(implementation, operands, {}), outs)


def _called(implementation: Function, args: Arguments, kwargs: Keywords) -> Result:
    """Return the result of an implementation; invalid calls are left to NumPy's errors."""
    try:
        return implementation(*args, **kwargs)
    except DTypeError:
        raise LeftToNumPy from None


def operands_there(inputs: Arguments) -> Arguments:
    """Return operands as Mats, but Python's numbers; none if they are left to NumPy."""
    found = tuple(x if type(x) in _WEAK else as_mat_if_possible(x) for x in inputs)
    mats = [x for x in found if isinstance(x, Mat)]
    known = all(type(x) in _WEAK or isinstance(x, Mat) for x in found)
    return found if known and mats and computes_elsewhere(*mats) else ()


def _composed_written(found: Result, outs: tuple[Operand, ...]) -> Result:
    """Return the results, in the Mats given as ``out=``, if they take them."""
    if all(out is None for out in outs):
        return found
    parts = found if isinstance(found, tuple) else (found,)
    for part, out in zip(parts, outs, strict=True):
        leave_if(out is not None and not (isinstance(out, Mat) and out.shape == part.shape
                                          and np.can_cast(part.dtype, out.dtype, "same_kind")))
    written = tuple(part if out is None else out.assign_(part)
                    for part, out in zip(parts, outs, strict=True))
    return written if isinstance(found, tuple) else written[0]
