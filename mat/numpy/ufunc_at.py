"""The method ``at`` of NumPy's ufuncs on Mats, such as ``numpy.add.at(x, index, value)``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ..core.direction import INPUT, IO
from ..cpu.errstate import QUIET, STATE
from ..devices.in_use import computes_elsewhere, note_fallback
from ..facets.array import ARRAY
from ..matrix.delegate import delegate
from ..matrix.mat import Mat
from ..matrix.with_facets import with_facets
from ..ops.indexing.accumulate_at import RULES, accumulated_at
from ..support.types import Arguments, Array, Keywords, Operand


def at_places(ufunc: np.ufunc, inputs: Arguments, kwargs: Keywords) -> None:
    """Combine the elements of the first operand at an index with a value, in place."""
    x = inputs[0]
    if isinstance(x, Mat) and len(inputs) == 3 and ufunc in RULES and computes_elsewhere(x):
        x.allowed(IO)
        if accumulated_at(ufunc, x, inputs[1], inputs[2]):
            return
    # silent, as operations of `mat` are
    token = STATE.set(QUIET)
    try:
        if not isinstance(x, Mat) or kwargs or not _written(ufunc, x, inputs[1:]):
            delegate(partial(_combine, ufunc), inputs, kwargs, name=ufunc.__name__,
                     written=[x] if isinstance(x, Mat) else ())
    finally:
        STATE.reset(token)


def _written(ufunc: np.ufunc, x: Mat, others: Arguments) -> bool:
    """Write the memory of `x` by NumPy; return whether that is possible: whether no other operand
    shares it.
    """
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
    if a.ndim == 1 and value and np.ndim(value[0]):
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
