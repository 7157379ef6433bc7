"""NumPy's functions that take or put elements at indices, or choose them by conditions: on the
device in use, and where the host has kernels; and indices by shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...devices.in_use import computes_elsewhere
from ...errors import DTypeError, ShapeError
from ...layout.shapes import Ints, as_axis
from ...matrix.creation import adopted
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import LeftToNumPy, leave_if, or_leave
from ...ops.engine.operands import as_mat
from ...ops.indexing import taking
from ...ops.indexing.advanced import all_within
from ...ops.indexing.gathering import positions_of
from ...ops.indexing.selection import taken
from ...ops.primitives import elementwise, selecting, ufuncs
from ...ops.primitives.joining import stack
from ...ops.primitives.parts import complex_of, imaginary_part, real_part
from ...ops.tiles.overlap import apart_from
from ...support.dtypes import is_known_dtype, represents
from ...support.types import Array, DType, Function, Operand
from ..registry import NO_VALUE, Casting, Result, implements
from .there import as_dtype, is_there, mats_there

_WEAK = (bool, int, float, complex)
_ADAPTING = (int, float, complex)  # numbers that adapt to the dtype of arrays, in `select`
_FLOATS = ("float16", "float32", "float64")
_MOST_CHOICES, _MOST_AXES = 63, 32  # of NumPy's `choose`


def _mat(value: Operand) -> Mat:
    """Return an array-like as a Mat."""
    if isinstance(value, Mat):
        return value
    leave_if(isinstance(value, np.ndarray) and (type(value) is not np.ndarray
                                                or not is_known_dtype(value.dtype)))
    try:
        return as_mat(value, "an operand")
    except (DTypeError, ShapeError):
        raise LeftToNumPy from None


def _there(x: object) -> bool:
    return isinstance(x, Mat) and computes_elsewhere(x)


# Conditions


@implements("where", mats=0, of_many=True)
def numpy_where(condition: Operand, x: Operand = NO_VALUE, y: Operand = NO_VALUE, /) -> Result:
    if x is NO_VALUE and y is NO_VALUE:
        leave_if(not _there(condition))
        return numpy_nonzero(condition)
    if isinstance(condition, Mat) and (selecting.are_alike(x, y)
                                       or selecting.adapted_to(x, y) is not None):
        return selecting.where(condition, x, y)
    operands = [v if type(v) in _WEAK else _mat(v) for v in (x, y)]
    truth = _mat(condition)
    try:
        dtype = selecting.promoted_by(*operands)
    except (TypeError, OverflowError):
        raise LeftToNumPy from None
    leave_if(not is_known_dtype(dtype)
             or not all(isinstance(v, Mat) or represents(dtype, v) for v in operands))
    leave_if(any(isinstance(v, Mat) and v.dtype.kind == "c" for v in operands)
             and dtype.kind != "c")
    return selecting.where(truth, *operands)


@implements("select", mats=0)
def numpy_select(condlist: Sequence[Operand], choicelist: Sequence[Operand],
                 default: Operand = 0) -> Result:
    leave_if(not any(map(_there, (*condlist, *choicelist))))
    conditions = [c for c in map(_mat, condlist) if c.dtype.kind == "b"]
    choices = [c if type(c) in _ADAPTING else _mat(c) for c in choicelist]
    found = default if type(default) in _WEAK else _mat(default)
    leave_if(not len(conditions) == len(condlist) == len(choicelist))
    dtype = np.result_type(*(c.dtype if isinstance(c, Mat) else c for c in (*choices, found)))
    # NumPy casts some of them, and refuses others
    leave_if(any(type(c) in _WEAK and not represents(dtype, c) for c in (*choices, found)))
    found = _in(found, dtype)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        found = numpy_where(condition, _in(choice, dtype), found)
    return found


def _in(value: Operand, dtype: DType) -> Mat:
    """Return a Mat or a number as a Mat of this dtype."""
    return (value.astype(dtype, copy=False) if isinstance(value, Mat)
            else adopted(np.asarray(value, dtype)))


@implements("choose", on_device=1)
def numpy_choose(a: Operand, choices: Sequence[Operand], out: Operand = None,
                 mode: str = "raise") -> Result:
    leave_if(out is not None or not isinstance(choices, list | tuple))
    leave_if(len(choices) > _MOST_CHOICES or a.ndim > _MOST_AXES)  # NumPy's error
    leave_if(any(type(c) in _WEAK for c in choices))  # numbers adapt to the other choices
    return or_leave(taking.choose(a, [_mat(c) for c in choices], mode))


@implements("copyto")
def numpy_copyto(dst: Operand, src: Operand, casting: Casting = "same_kind",
                 where: Operand = True) -> Result:
    if where is not True:
        return _copy_where(dst, src, casting, where)
    if type(src) is float and dst.dtype.kind in "fc":
        dst.assign_(src)
        return None
    source = _source(dst, src, casting)
    leave_if(type(src) in _WEAK)
    while source.ndim > dst.ndim and source.shape[0] == 1:
        source = source[0]
    dst.assign_(source)
    return None


def _source(dst: Mat, src: Operand, casting: Casting) -> Mat:
    """Return the Mat to copy to `dst`, if that casting allows it."""
    if type(src) in _WEAK:
        leave_if(not represents(dst.dtype, src) or np.result_type(dst.dtype, src) != dst.dtype)
        return _mat(np.asarray(src, dst.dtype))
    leave_if(not isinstance(src, (Mat, np.ndarray)))
    source = _mat(apart_from(src, dst))
    leave_if(not np.can_cast(source.dtype, dst.dtype, casting)
             or (source.dtype.kind == "c" and dst.dtype.kind != "c"))
    return source


def _copy_where(dst: Mat, src: Operand, casting: Casting, where: Operand) -> Result:
    leave_if(not _there(dst))
    condition, source = _mat(where), _source(dst, src, casting)
    leave_if(condition.dtype.kind != "b")
    or_leave(taking.put_where(dst, condition, source))


@implements("putmask", on_device=1)
def numpy_putmask(a: Operand, /, mask: Operand, values: Operand) -> Result:
    return _masked(a, mask, values, True)


@implements("place", on_device=1)
def numpy_place(arr: Operand, mask: Operand, vals: Operand) -> Result:
    return _masked(arr, mask, vals, False)


def _masked(x: Operand, mask: Operand, values: Operand, by_place: bool) -> Result:
    """Overwrite the selection of a mask; with repeated values, from their own places if `by_place`
    is true, else one after another.
    """
    if type(values) in _WEAK and represents(x.dtype, values) and np.result_type(
            x.dtype, values) == x.dtype:
        values = np.asarray(values, x.dtype)
    condition, source = _mat(mask), _mat(values)
    leave_if(not np.can_cast(source.dtype, x.dtype, "safe"))  # NumPy's error
    leave_if(not x.size)
    if condition.shape == x.shape and (source.size == 1 or (by_place and source.size == x.size)):
        values = source.reshape(x.shape if source.size > 1 else ())
        taking.put_where(x, selecting.is_true(condition), values)
        return None
    leave_if(by_place)
    or_leave(taking.place(x, condition, source))


@implements("nan_to_num", on_device=1)
def numpy_nan_to_num(x: Operand, copy: bool = True, nan: Operand = 0.0, posinf: Operand = None,
                     neginf: Operand = None) -> Result:
    given = (nan, posinf, neginf)
    if x.dtype.char in "FD" and copy:
        parts = [numpy_nan_to_num(part(x), True, *given) for part in (real_part, imaginary_part)]
        return complex_of(*parts)
    leave_if(x.dtype.name not in _FLOATS or not copy
             or not all(type(v) in (int, float, type(None)) for v in given))
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
    leave_if((axis is not None and type(axis) is not int) or not a.ndim)
    if computes_elsewhere(a):
        return _written(_take_there(a, indices, axis, mode), out)
    leave_if(out is not None or mode != "raise")
    if axis is None:
        return or_leave(taken(a if a.ndim == 1 else a.reshape(-1), indices, 0))
    return or_leave(taken(a, indices, as_axis(axis, a.ndim)))


def _along(a: Mat, axis: int | None, take: Callable[[Mat, int], Mat | None]) -> Mat | None:
    """Call ``take(x, axis)`` with a vector of all elements if `axis` is None."""
    if axis is None:
        return take(a if a.ndim == 1 else a.reshape(-1), 0)
    return take(a, as_axis(axis, a.ndim))


def _take_there(a: Mat, indices: Operand, axis: int | None, mode: str) -> Mat | None:
    at = _integers(indices)
    return _along(a, axis, lambda x, k: taking.take(x, at, k, mode))


def _integers(indices: Operand) -> Mat:
    """Return integers as a Mat."""
    at = _mat(indices)
    if not at.size and isinstance(indices, list | tuple):
        return at.astype(np.int64)
    return at


def _written(found: Mat | None, out: Operand) -> Result:
    """Return the result, in `out` if that is given and takes it."""
    leave_if(found is None or (out is not None and not (
        isinstance(out, Mat) and out.shape == found.shape and out.dtype == found.dtype)))
    return found if out is None else out.assign_(found)


@implements("compress", on_device=2)
def numpy_compress(condition: Operand, a: Operand, axis: int | None = None,
                   out: Operand = None) -> Result:
    leave_if(not a.ndim)
    return _written(_along(a, axis, lambda x, k: taking.compress(condition, x, k)), out)


@implements("extract", on_device=2)
def numpy_extract(condition: Operand, arr: Operand) -> Result:
    leave_if(not arr.ndim)
    return or_leave(taking.compress(condition.reshape(-1), arr.reshape(-1), 0))


def _to_write(values: Operand, x: Mat) -> Mat:
    """Return the values to write to elements of `x`; Python's numbers are converted as NumPy does,
    which raises an error if they are out of range.
    """
    items = values if type(values) in (list, tuple) else (values,)
    return _mat(np.asarray(values, x.dtype) if all(type(v) in _WEAK for v in items) else values)


@implements("put", on_device=1)
def numpy_put(a: Operand, ind: Operand, v: Operand, mode: str = "raise") -> Result:
    at, values = _integers(ind), _to_write(v, a)
    leave_if(values.dtype.kind == "c" and a.dtype.kind != "c")
    or_leave(taking.put(a, at, values, mode))


@implements("take_along_axis", on_device=2)
def numpy_take_along_axis(arr: Operand, indices: Operand, axis: int | None = -1) -> Result:
    leave_if(not arr.ndim)
    return or_leave(_along(arr, axis, lambda x, k: taking.take_along(x, indices, k)))


@implements("put_along_axis", on_device=2)
def numpy_put_along_axis(arr: Operand, indices: Operand, values: Operand,
                         axis: int | None) -> Result:
    leave_if(axis is None or not arr.ndim)
    found = _to_write(values, arr)
    leave_if(found.dtype.kind == "c" and arr.dtype.kind != "c")
    or_leave(taking.put_along(arr, indices, found, as_axis(axis, arr.ndim)))


# Positions


@implements("nonzero", on_device=1, of_many=True)
def numpy_nonzero(a: Operand) -> Result:
    return or_leave(taking.nonzero(a))


@implements("flatnonzero", on_device=1)
def numpy_flatnonzero(a: Operand) -> Result:
    return positions_of(selecting.is_true(a))


@implements("argwhere", on_device=1)
def numpy_argwhere(a: Operand) -> Result:
    leave_if(not a.ndim)
    return stack(numpy_nonzero(a), 0).T


# Indices by shapes, and numbers of elements


_INDICES = np.dtype(np.int64)


def _by_shape(function: Callable[..., tuple[Array, ...]], arr: Operand, *others: int) -> Result:
    """Call NumPy's function with an array of the shape of a Mat, without memory."""
    found = function(np.broadcast_to(np.zeros((), arr.dtype), arr.shape), *others)
    return tuple(map(adopted, found))


@implements("tril_indices_from", on_device=1)
def numpy_tril_indices_from(arr: Operand, k: int = 0) -> Result:
    return _by_shape(np.tril_indices_from, arr, k)


@implements("triu_indices_from", on_device=1)
def numpy_triu_indices_from(arr: Operand, k: int = 0) -> Result:
    return _by_shape(np.triu_indices_from, arr, k)


@implements("diag_indices_from", on_device=1)
def numpy_diag_indices_from(arr: Operand) -> Result:
    return _by_shape(np.diag_indices_from, arr)


def _shape(value: Operand) -> Ints:
    """Return lengths as a tuple; an empty one if they are none."""
    found = tuple(value) if isinstance(value, list | tuple) else (value,)
    return found if all(type(n) is int and n > 0 for n in found) else ()


@implements("unravel_index", on_device=1)
def numpy_unravel_index(indices: Operand, shape: Operand, order: str = "C") -> Result:
    lengths = _shape(shape)
    leave_if(not lengths or order not in ("C", "F")
             or (indices.dtype.kind not in "iu" or indices.dtype == np.uint64))
    at = as_dtype(indices, _INDICES)
    leave_if(not all_within(at, 0, int(np.prod(lengths))))  # NumPy's error
    found: list[Mat] = []
    for n in lengths[::-1] if order == "C" else lengths:
        found.append(ufuncs.remainder(at, n))
        at = ufuncs.floor_divide(at, n)
    return tuple(found[::-1] if order == "C" else found)


@implements("ravel_multi_index", mats=0)
def numpy_ravel_multi_index(multi_index: Operand, dims: Operand, mode: str = "raise",
                            order: str = "C") -> Result:
    lengths = _shape(dims)
    leave_if(not isinstance(multi_index, list | tuple))
    mats = mats_there(*multi_index)
    leave_if(len(mats) != len(lengths) or mode != "raise" or order not in ("C", "F"))
    leave_if(any(m.dtype.kind not in "iu" or m.dtype == np.uint64 for m in mats))
    mats = [as_dtype(m, _INDICES) for m in mats]
    # NumPy's error
    leave_if(not all(all_within(m, 0, n) for m, n in zip(mats, lengths, strict=True)))
    steps = np.cumprod([1, *(lengths[:0:-1] if order == "C" else lengths[:-1])]).tolist()
    found: Mat | None = None
    for m, step in zip(mats, steps[::-1] if order == "C" else steps, strict=True):
        found = m * step if found is None else found + m * step
    return found


@implements("apply_over_axes", mats=0)
def numpy_apply_over_axes(func: Function, a: Operand, axes: Operand) -> Result:
    over = tuple(axes) if isinstance(axes, list | tuple) else (axes,)
    leave_if(not is_there(a) or not all(type(k) is int and -a.ndim <= k < a.ndim for k in over))
    found = a
    for k in over:
        axis = k % a.ndim
        part = func(found, axis)
        leave_if(not isinstance(part, Mat))
        found = part if part.ndim == a.ndim else part.expand_dims(axis)
        leave_if(found.ndim != a.ndim)
    return found
