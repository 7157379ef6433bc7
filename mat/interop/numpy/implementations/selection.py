"""NumPy's functions that take or put elements at indices, or choose them by conditions: on the
device in use, and where the host has kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ....devices.in_use import computes_elsewhere
from ....errors import DTypeError, ShapeError
from ....layout.shapes import as_axis
from ....matrix.creation import adopted
from ....matrix.mat import Mat
from ....ops import elementwise, selecting, taking
from ....ops.complex_parts import complex_of, imaginary_part, real_part
from ....ops.gathering import positions_of
from ....ops.joining import stack
from ....ops.operands import as_mat
from ....ops.overlap import apart_from
from ....ops.selection import taken
from ....support.dtypes import represents
from ....support.types import DType, Operand
from ..operands import is_known_dtype
from ..registry import Casting, Result, implements

_WEAK = (bool, int, float, complex)
_ADAPTING = (int, float, complex)  # numbers that adapt to the dtype of arrays, in `select`
_FLOATS = ("float16", "float32", "float64")
_MOST_CHOICES, _MOST_AXES = 63, 32  # of NumPy's `choose`


def _mat(value: Operand) -> Mat | None:
    """Return an array-like as a Mat; None if it cannot be one."""
    if isinstance(value, Mat):
        return value
    if isinstance(value, np.ndarray) and (type(value) is not np.ndarray
                                          or not is_known_dtype(value.dtype)):
        return None
    try:
        return as_mat(value, "an operand")
    except (DTypeError, ShapeError):
        return None


def _there(x: object) -> bool:
    return isinstance(x, Mat) and computes_elsewhere(x)


def _or_numpy(found: object) -> Result:
    return NotImplemented if found is None else found


# Conditions


@implements("where", of_many=True)
def numpy_where(condition: Operand, x: Operand = None, y: Operand = None, /) -> Result:
    if x is None and y is None:
        return _nonzero(condition)
    if isinstance(condition, Mat) and (selecting.are_alike(x, y)
                                       or selecting.adapted_to(x, y) is not None):
        return selecting.where(condition, x, y)
    operands = [v if type(v) in _WEAK else _mat(v) for v in (x, y)]
    truth = _mat(condition)
    if truth is None or any(v is None for v in operands):
        return NotImplemented
    try:
        dtype = selecting.promoted_by(*operands)
    except (TypeError, OverflowError):
        return NotImplemented
    if not is_known_dtype(dtype) or not all(isinstance(v, Mat) or represents(dtype, v)
                                            for v in operands):
        return NotImplemented
    if any(isinstance(v, Mat) and v.dtype.kind == "c" for v in operands) and dtype.kind != "c":
        return NotImplemented
    return selecting.where(truth, *operands)


@implements("select")
def numpy_select(condlist: Sequence[Operand], choicelist: Sequence[Operand],
                 default: Operand = 0) -> Result:
    conditions = [c for c in map(_mat, condlist) if c is not None and c.dtype.kind == "b"]
    choices = [c if type(c) in _ADAPTING else _mat(c) for c in choicelist]
    found = default if type(default) in _WEAK else _mat(default)
    if not any(map(_there, (*condlist, *choicelist))) or found is None or any(
            c is None for c in choices) or not len(conditions) == len(condlist) == len(choicelist):
        return NotImplemented
    dtype = np.result_type(*(c.dtype if isinstance(c, Mat) else c for c in (*choices, found)))
    if any(type(c) in _WEAK and not represents(dtype, c) for c in (*choices, found)):
        return NotImplemented  # NumPy casts some of them, and refuses others
    found = _in(found, dtype)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        found = numpy_where(condition, _in(choice, dtype), found)
        if found is NotImplemented:
            break
    return found


def _in(value: Operand, dtype: DType) -> Mat:
    """Return a Mat or a number as a Mat of this dtype."""
    return (value.astype(dtype, copy=False) if isinstance(value, Mat)
            else adopted(np.asarray(value, dtype)))


@implements("choose")
def numpy_choose(a: Operand, choices: Sequence[Operand], out: Operand = None,
                 mode: str = "raise") -> Result:
    if not _there(a) or out is not None or not isinstance(choices, list | tuple):
        return NotImplemented
    if len(choices) > _MOST_CHOICES or a.ndim > _MOST_AXES:
        return NotImplemented  # NumPy's error
    if any(type(c) in _WEAK for c in choices):
        return NotImplemented  # numbers adapt to the other choices
    mats = [_mat(c) for c in choices]
    given = [m for m in mats if m is not None]
    return _or_numpy(taking.choose(a, given, mode) if len(given) == len(mats) else None)


@implements("copyto")
def numpy_copyto(dst: Operand, src: Operand, casting: Casting = "same_kind",
                 where: Operand = True) -> Result:
    if not isinstance(dst, Mat):
        return NotImplemented
    if where is not True:
        return _copy_where(dst, src, casting, where)
    if type(src) is float and dst.dtype.kind in "fc":
        dst.assign_(src)
        return None
    source = _source(dst, src, casting)
    if source is None or type(src) in _WEAK:
        return NotImplemented
    while source.ndim > dst.ndim and source.shape[0] == 1:
        source = source[0]
    dst.assign_(source)
    return None


def _source(dst: Mat, src: Operand, casting: Casting) -> Mat | None:
    """Return the Mat to copy to `dst`, if that casting allows it."""
    if type(src) in _WEAK:
        if not represents(dst.dtype, src) or np.result_type(dst.dtype, src) != dst.dtype:
            return None
        return _mat(np.asarray(src, dst.dtype))
    source = _mat(apart_from(src, dst)) if isinstance(src, (Mat, np.ndarray)) else None
    if source is None or not np.can_cast(source.dtype, dst.dtype, casting) or (
            source.dtype.kind == "c" and dst.dtype.kind != "c"):
        return None
    return source


def _copy_where(dst: Mat, src: Operand, casting: Casting, where: Operand) -> Result:
    condition, source = _mat(where), _source(dst, src, casting)
    if not _there(dst) or condition is None or condition.dtype.kind != "b" or source is None:
        return NotImplemented
    found = taking.put_where(dst, condition, source)
    return NotImplemented if found is None else None


@implements("putmask")
def numpy_putmask(a: Operand, /, mask: Operand, values: Operand) -> Result:
    return _masked(a, mask, values, True)


@implements("place")
def numpy_place(arr: Operand, mask: Operand, vals: Operand) -> Result:
    return _masked(arr, mask, vals, False)


def _masked(x: Operand, mask: Operand, values: Operand, by_place: bool) -> Result:
    """Overwrite the selection of a mask; with repeated values, from their own places if `by_place`
    is true, else one after another.
    """
    if not _there(x):
        return NotImplemented
    if type(values) in _WEAK and represents(x.dtype, values) and np.result_type(
            x.dtype, values) == x.dtype:
        values = np.asarray(values, x.dtype)
    condition, source = _mat(mask), _mat(values)
    if condition is None or source is None or not np.can_cast(source.dtype, x.dtype, "safe"):
        return NotImplemented  # NumPy's error
    if not x.size:
        return NotImplemented
    if condition.shape == x.shape and (source.size == 1 or (by_place and source.size == x.size)):
        values = source.reshape(x.shape if source.size > 1 else ())
        taking.put_where(x, selecting.is_true(condition), values)
        return None
    found = None if by_place else taking.place(x, condition, source)
    return NotImplemented if found is None else None


@implements("nan_to_num")
def numpy_nan_to_num(x: Operand, copy: bool = True, nan: Operand = 0.0, posinf: Operand = None,
                     neginf: Operand = None) -> Result:
    given = (nan, posinf, neginf)
    if _there(x) and x.dtype.char in "FD" and copy:
        parts = [numpy_nan_to_num(part(x), True, *given) for part in (real_part, imaginary_part)]
        return NotImplemented if NotImplemented in parts else complex_of(*parts)
    if not _there(x) or x.dtype.name not in _FLOATS or not copy or not all(
            type(v) in (int, float, type(None)) for v in given):
        return NotImplemented
    most = float(np.finfo(x.dtype).max)
    found = selecting.where(elementwise.isnan(x), float(nan), x)
    for infinity, value in ((np.inf, most if posinf is None else float(posinf)),
                            (-np.inf, -most if neginf is None else float(neginf))):
        found = selecting.where(elementwise.equal(x, infinity), value, found)
    return found


# Indices


@implements("take")
def numpy_take(a: Operand, indices: Operand, axis: int | None = None, out: Operand = None,
               mode: str = "raise") -> Result:
    if not isinstance(a, Mat) or (axis is not None and type(axis) is not int) or not a.ndim:
        return NotImplemented
    if computes_elsewhere(a):
        return _written(_take_there(a, indices, axis, mode), out)
    if out is not None or mode != "raise":
        return NotImplemented
    if axis is None:
        return _or_numpy(taken(a if a.ndim == 1 else a.reshape(-1), indices, 0))
    return _or_numpy(taken(a, indices, as_axis(axis, a.ndim)))


def _along(a: Mat, axis: int | None, take: Callable[[Mat, int], Mat | None]) -> Mat | None:
    """Call ``take(x, axis)`` with a vector of all elements if `axis` is None."""
    if axis is None:
        return take(a if a.ndim == 1 else a.reshape(-1), 0)
    return take(a, as_axis(axis, a.ndim))


def _take_there(a: Mat, indices: Operand, axis: int | None, mode: str) -> Mat | None:
    at = _integers(indices)
    return None if at is None else _along(a, axis, lambda x, k: taking.take(x, at, k, mode))


def _integers(indices: Operand) -> Mat | None:
    """Return integers as a Mat; None if they are none."""
    at = _mat(indices)
    if at is not None and not at.size and isinstance(indices, list | tuple):
        return at.astype(np.int64)
    return at


def _written(found: Mat | None, out: Operand) -> Result:
    """Return the result, in `out` if that is given and takes it."""
    if found is None or not (out is None or (isinstance(out, Mat) and out.shape == found.shape
                                             and out.dtype == found.dtype)):
        return NotImplemented
    return found if out is None else out.assign_(found)


@implements("compress")
def numpy_compress(condition: Operand, a: Operand, axis: int | None = None,
                   out: Operand = None) -> Result:
    flags = _mat(condition)
    if not _there(a) or flags is None or not a.ndim:
        return NotImplemented
    return _written(_along(a, axis, lambda x, k: taking.compress(flags, x, k)), out)


@implements("extract")
def numpy_extract(condition: Operand, arr: Operand) -> Result:
    flags = _mat(condition)
    if not _there(arr) or flags is None or not arr.ndim:
        return NotImplemented
    return _or_numpy(taking.compress(flags.reshape(-1), arr.reshape(-1), 0))


@implements("put")
def numpy_put(a: Operand, ind: Operand, v: Operand, mode: str = "raise") -> Result:
    at, values = _integers(ind), _mat(v)
    if not _there(a) or at is None or values is None or (
            values.dtype.kind == "c" and a.dtype.kind != "c"):
        return NotImplemented
    found = taking.put(a, at, values, mode)
    return NotImplemented if found is None else None


@implements("take_along_axis")
def numpy_take_along_axis(arr: Operand, indices: Operand, axis: int | None = -1) -> Result:
    at = _mat(indices)
    if not _there(arr) or at is None or not arr.ndim:
        return NotImplemented
    return _or_numpy(_along(arr, axis, lambda x, k: taking.take_along(x, at, k)))


@implements("put_along_axis")
def numpy_put_along_axis(arr: Operand, indices: Operand, values: Operand,
                         axis: int | None) -> Result:
    at, source = _mat(indices), _mat(values)
    if not _there(arr) or at is None or source is None or axis is None or not arr.ndim or (
            source.dtype.kind == "c" and arr.dtype.kind != "c"):
        return NotImplemented
    found = taking.put_along(arr, at, source, as_axis(axis, arr.ndim))
    return NotImplemented if found is None else None


# Positions


def _nonzero(a: Operand) -> Result:
    return _or_numpy(taking.nonzero(a)) if _there(a) else NotImplemented


@implements("nonzero", of_many=True)
def numpy_nonzero(a: Operand) -> Result:
    return _nonzero(a)


@implements("flatnonzero")
def numpy_flatnonzero(a: Operand) -> Result:
    return positions_of(selecting.is_true(a)) if _there(a) else NotImplemented


@implements("argwhere")
def numpy_argwhere(a: Operand) -> Result:
    if not _there(a) or not a.ndim:
        return NotImplemented
    found = taking.nonzero(a)
    return NotImplemented if found is None else stack(found, 0).T
