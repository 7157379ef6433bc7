"""NumPy's functions that take or put elements at indices, or choose them by conditions: on the
device in use, and where the host has kernels; and indices by shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...devices.in_use import computes_elsewhere
from ...errors import DTypeError, IndexOutOfRange, ShapeError
from ...layout.shapes import Ints, as_axis, broadcast_shapes
from ...matrix.creation import adopted
from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import LeftToNumPy, leave_if, or_leave
from ...ops.engine.operands import as_mat
from ...ops.indexing.selection import taken, written
from ...ops.primitives import elementwise, selecting
from ...ops.primitives.joining import stack
from ...ops.primitives.shape import complex_of, imaginary_part, real_part
from ...ops.tiles.overlap import DEVICE_AXES, apart_from, must_copy
from ...support.dtypes import is_known_dtype, represents
from ...support.plugins import at_first_use
from ...support.types import Array, DType, Function, Operand
from ..operands import as_dtype, is_there, mats_there
from ..registry import NO_VALUE, Casting, Result, implements
from .in_tiles import in_blocks, in_tiles

advanced = at_first_use("ops.indexing.advanced")
gathering = at_first_use("ops.indexing.gathering")
ufuncs = at_first_use("ops.primitives.ufuncs")
_KINDS = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}  # of dtypes that can take them
_WEAK = tuple(_KINDS)
_ADAPTING = (int, float, complex)  # numbers that adapt to the dtype of arrays, in `select`
_FLOATS = ("float16", "float32", "float64")
_MOST_CHOICES, _MOST_AXES = 63, 32  # of NumPy's `choose`
_MODES = ("raise", "wrap", "clip")


def _mat(value: Operand) -> Mat:
    if isinstance(value, Mat):
        return value
    leave_if(isinstance(value, np.ndarray) and (type(value) is not np.ndarray
                                                or not is_known_dtype(value.dtype)))
    try:
        return as_mat(value, "an operand")
    except (DTypeError, ShapeError):
        raise LeftToNumPy from None


def is_element(value: Operand, dtype: DType) -> bool:
    """Return whether a value is a number of Python that becomes an element of that dtype."""
    kinds = _KINDS.get(type(value))
    return kinds is not None and represents(dtype, value) and (
        dtype.kind in kinds or np.result_type(dtype, value) == dtype)


# Conditions


@implements("where", mats=0, of_many=True)
def numpy_where(condition: Operand, x: Operand = NO_VALUE, y: Operand = NO_VALUE, /) -> Result:
    if x is NO_VALUE and y is NO_VALUE:
        leave_if(not is_there(condition))
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


@implements("select", mats=0, of_many=True)
def numpy_select(condlist: Sequence[Operand], choicelist: Sequence[Operand],
                 default: Operand = 0) -> Result:
    leave_if(not any(isinstance(v, Mat) for v in (*condlist, *choicelist)))
    conditions = [c for c in map(_mat, condlist) if c.dtype.kind == "b"]
    choices = [c if type(c) in _ADAPTING else _mat(c) for c in choicelist]
    found = default if type(default) in _WEAK else _mat(default)
    leave_if(not len(conditions) == len(condlist) == len(choicelist))
    dtype = np.result_type(*(c.dtype if isinstance(c, Mat) else c for c in (*choices, found)))
    # NumPy casts some of them, and refuses others
    leave_if(any(type(c) in _WEAK and not represents(dtype, c) for c in (*choices, found)))
    pairs = zip(reversed(conditions), (_in(c, dtype) for c in reversed(choices)), strict=True)
    return _select(_in(found, dtype), *(value for pair in pairs for value in pair))


@in_tiles
@in_blocks
def _select(found: Mat, *pairs: Mat) -> Mat:
    for condition, choice in zip(pairs[::2], pairs[1::2], strict=True):
        found = numpy_where(condition, choice, found)
    return found


def _in(value: Operand, dtype: DType) -> Mat:
    """Return a Mat or a number as a Mat of this dtype."""
    return (value.astype(dtype, copy=False) if isinstance(value, Mat)
            else adopted(np.asarray(value, dtype)))


@implements("choose", of_many=True)
def numpy_choose(a: Operand, choices: Sequence[Operand], out: Operand = None,
                 mode: str = "raise") -> Result:
    leave_if(out is not None or not isinstance(choices, list | tuple))
    leave_if(len(choices) > _MOST_CHOICES or a.ndim > _MOST_AXES)  # NumPy's error
    leave_if(any(type(c) in _WEAK for c in choices))  # numbers adapt to the other choices
    return _chosen(a, mode, *map(_mat, choices))


@in_tiles
def _chosen(x: Mat, mode: str, *choices: Mat) -> Mat:
    """Return for each integer the element of the choice of that number."""
    n = len(choices)
    leave_if(not n or x.dtype.kind not in "biu" or mode not in _MODES)
    at = as_dtype(x, gathering.LONG)
    leave_if(mode == "raise" and not advanced.all_within(at, 0, n))  # NumPy's error
    shape = _together(x.shape, *(c.shape for c in choices))
    at = ufuncs.remainder(at, n) if mode == "wrap" else elementwise.clip(at, 0, n - 1)
    found = choices[0]
    for k, choice in enumerate(choices[1:], 1):
        found = selecting.where(elementwise.equal(at, k), choice, found)
    found = as_dtype(found, np.result_type(*(c.dtype for c in choices)))
    return found.broadcast_to(shape).copy() if n == 1 or found.shape != shape else found


@implements("copyto")
def numpy_copyto(dst: Operand, src: Operand, casting: Casting = "same_kind",
                 where: Operand = True) -> Result:
    if where is not True:
        condition, source = _mat(where), _source(dst, src, casting)
        leave_if(condition.dtype.kind != "b")
        _put_where(dst, condition, source)
        return None
    if type(src) in _WEAK:
        leave_if(not is_element(src, dst.dtype))
        dst[...] = src
        return None
    source = _source(dst, src, casting)
    while source.ndim > dst.ndim and source.shape[0] == 1:
        source = source[0]
    dst.assign_(source)
    return None


def _source(dst: Mat, src: Operand, casting: Casting) -> Mat:
    """Return the Mat to copy to `dst`, if that casting allows it."""
    if type(src) in _WEAK:
        leave_if(not is_element(src, dst.dtype))
        return _mat(np.asarray(src, dst.dtype))
    leave_if(not isinstance(src, (Mat, np.ndarray)))
    source = _mat(apart_from(src, dst))
    leave_if(not np.can_cast(source.dtype, dst.dtype, casting)
             or (source.dtype.kind == "c" and dst.dtype.kind != "c"))
    return source


def _put_where(x: Mat, condition: Mat, values: Mat) -> None:
    """Overwrite elements of `x` where a condition is true with `values`; both broadcast."""
    leave_if(_together(x.shape, condition.shape, values.shape) != x.shape)
    truth, source = (_apart(m.broadcast_to(x.shape), x)
                     for m in (selecting.is_true(condition), as_dtype(values, x.dtype)))
    selecting.select(truth, source, x, x)


def _apart(value: Mat, x: Mat) -> Mat:
    return value.copy() if must_copy(value, x) else value


def _together(*shapes: Ints) -> Ints:
    """Return the common broadcast shape; leave the call to NumPy if there is none."""
    try:
        return broadcast_shapes(shapes)
    except ShapeError:
        raise LeftToNumPy from None


implements("putmask")(lambda a, /, mask, values: _masked(a, mask, values, True))
implements("place")(lambda arr, mask, vals: _masked(arr, mask, vals, False))


def _masked(x: Mat, mask: Operand, values: Operand, by_place: bool) -> None:
    """Overwrite the selection of a mask; `by_place` with values from their own places."""
    if is_element(values, x.dtype):
        if not is_there(x) and isinstance(mask, Mat) and mask.shape == x.shape:
            or_leave(written(x, mask, values, True))
            return
        values = np.asarray(values, x.dtype)
    condition, source = _mat(mask), _mat(values)
    leave_if(not np.can_cast(source.dtype, x.dtype, "safe"))  # NumPy's error
    leave_if(not x.size)
    if condition.shape == x.shape and (source.size == 1 or (by_place and source.size == x.size)):
        values = source.reshape(x.shape if source.size > 1 else ())
        _put_where(x, condition, values)
        return
    leave_if(by_place or condition.size != x.size or not source.size or not is_there(x))
    _put(x, gathering.positions_of(selecting.is_true(condition)), source, "raise")


@implements("nan_to_num", of_many=True)
def numpy_nan_to_num(x: Operand, copy: bool = True, nan: Operand = 0.0, posinf: Operand = None,
                     neginf: Operand = None) -> Result:
    given = (nan, posinf, neginf)
    leave_if(not copy or not all(type(v) in (int, float, type(None)) for v in given))
    return x.copy("K") if x.dtype.kind in "biu" else _nan_to_num(x, *given)


@in_tiles
@in_blocks
def _nan_to_num(x: Mat, nan: Operand, posinf: Operand, neginf: Operand) -> Mat:
    if x.dtype.char in "FD":
        return complex_of(*(_nan_to_num(part(x), nan, posinf, neginf)
                            for part in (real_part, imaginary_part)))
    leave_if(x.dtype.name not in _FLOATS)
    most = float(np.finfo(x.dtype).max)
    found = selecting.where(elementwise.isnan(x), float(nan), x)
    for infinity, value in ((np.inf, most if posinf is None else float(posinf)),
                            (-np.inf, -most if neginf is None else float(neginf))):
        found = selecting.where(elementwise.equal(x, infinity), value, found)
    return found


# Indices


def in_range(indices: Mat, n: int, mode: str, x: Mat) -> Mat:
    """Return integers as positions among `n` of `x`, by the rule `mode`."""
    leave_if(indices.dtype.kind not in "iu" or indices.dtype == np.uint64 or mode not in _MODES
             or (not n and mode != "raise"))
    at = as_dtype(indices, gathering.LONG)
    if mode == "wrap":
        at = ufuncs.remainder(at, n)
    elif mode == "clip":
        at = elementwise.clip(at, 0, n - 1)
    elif not advanced.all_within(at, -n, n):
        raise IndexOutOfRange(f"{x.label()} has {n} elements there; indices reach from "
                              f"{indices.min().item()} to {indices.max().item()}")
    return at.contiguous()


def _few(*mats: Mat) -> bool:
    """Return whether a device can step along the axes of all of them together."""
    return sum(m.ndim for m in mats) <= DEVICE_AXES


def over_axis(a: Mat, axis: int | None) -> tuple[Mat, int]:
    """Return a Mat and an axis of it: for None, a vector of all elements."""
    if axis is None:
        return (a if a.ndim == 1 else a.reshape(-1)), 0
    return a, as_axis(axis, a.ndim)


@implements("take")
def numpy_take(a: Operand, indices: Operand, axis: int | None = None, out: Operand = None,
               mode: str = "raise") -> Result:
    leave_if((axis is not None and type(axis) is not int) or not a.ndim)
    x, k = over_axis(a, axis)
    if computes_elsewhere(a):
        return _written(take(x, _integers(indices), k, mode), out)
    leave_if(out is not None or mode != "raise")
    return or_leave(taken(x, indices, k))


def take(x: Mat, indices: Mat, axis: int, mode: str = "raise") -> Mat:
    """Return the items of `x` at integers along an axis."""
    leave_if(not x.ndim or not _few(x, indices))
    if 0 in x.shape[:axis] and x.shape[axis]:
        mode = "clip"  # as in NumPy, any integers give nothing of nothing
    return advanced.gathered_at(x, in_range(indices, x.shape[axis], mode, x), axis, (axis,))


def _integers(indices: Operand) -> Mat:
    at = _mat(indices)
    if not at.size and isinstance(indices, list | tuple):
        return at.astype(np.int64)
    return at


def _written(found: Mat, out: Operand) -> Result:
    """Return the result, in `out` if that is given and takes it."""
    leave_if(out is not None and not (
        isinstance(out, Mat) and out.shape == found.shape and out.dtype == found.dtype))
    return found if out is None else out.assign_(found)


@implements("compress", on_device=2)
def numpy_compress(condition: Operand, a: Operand, axis: int | None = None,
                   out: Operand = None) -> Result:
    leave_if(not a.ndim)
    return _written(compress(condition, *over_axis(a, axis)), out)


@implements("extract", on_device=2)
def numpy_extract(condition: Operand, arr: Operand) -> Result:
    leave_if(not arr.ndim)
    return compress(condition.reshape(-1), arr.reshape(-1), 0)


def compress(condition: Mat, x: Mat, axis: int) -> Mat:
    """Return the items of `x` along an axis where a vector is true."""
    leave_if(condition.ndim != 1 or not x.ndim)
    at = gathering.positions_of(selecting.is_true(condition))
    known = condition.size <= x.shape[axis] and _few(x, at)  # that they are in range
    return advanced.gathered_at(x, at, axis, (axis,)) if known else take(x, at, axis)


@implements("take_along_axis", on_device=2)
def numpy_take_along_axis(arr: Operand, indices: Operand, axis: int | None = -1) -> Result:
    leave_if(not arr.ndim)
    x, k = over_axis(arr, axis)
    return take_along(x, indices, k)


def take_along(x: Mat, indices: Mat, axis: int) -> Mat:
    """Return, of each line of `x` along an axis, the elements at the same line of `indices`."""
    shape = _shape_along(x, indices, axis)
    at = in_range(indices, x.shape[axis], "raise", x)
    out = new_like(x, shape, x.dtype)
    return gathering.gather_along(x, at, out, axis) if out.size else out


def _shape_along(x: Mat, indices: Mat, axis: int) -> Ints:
    """Return the shape of a selection by indices on the lines of `x`."""
    leave_if(x.ndim != indices.ndim or not 0 < x.ndim <= DEVICE_AXES)
    lines = (*x.shape[:axis], indices.shape[axis], *x.shape[axis + 1:])
    return _together(lines, indices.shape)


def _to_write(values: Operand, x: Mat) -> Mat:
    """Return the values to write to elements of `x`; NumPy raises errors for those out of range."""
    items = values if type(values) in (list, tuple) else (values,)
    found = _mat(np.asarray(values, x.dtype) if all(type(v) in _WEAK for v in items) else values)
    leave_if(found.dtype.kind == "c" and x.dtype.kind != "c")
    return found


@implements("put")
def numpy_put(a: Operand, ind: Operand, v: Operand, mode: str = "raise") -> None:
    if is_there(a):
        _put(a, _integers(ind), _to_write(v, a), mode)
        return
    same = isinstance(v, Mat) and v.dtype == a.dtype and v.shape == np.shape(ind)
    leave_if(mode != "raise" or not a.layout.contiguous or not (same or is_element(v, a.dtype)))
    or_leave(written(a.reshape(-1), ind, v, False))


def _put(x: Mat, indices: Mat, values: Mat, mode: str) -> None:
    """Overwrite the elements at row-major integers with repeated values."""
    leave_if(not 0 < x.ndim <= DEVICE_AXES or (not x.size and indices.size > 0))
    if not values.size:
        return
    at = in_range(indices, x.size, mode, x)
    if not at.size:
        return
    if x.ndim > 1 and mode == "raise":
        at = ufuncs.remainder(at, x.size)
    at = at.reshape(-1)
    _put_at(x, at, _repeated(values, at.size), values.size == 1)


def _repeated(values: Mat, n: int) -> Mat:
    """Return the values one after another until there are `n`."""
    flat = values.reshape(-1)
    if flat.size == 1:
        return flat.broadcast_to((n,))
    if flat.size >= n:
        return flat[:n]
    return advanced.gathered_at(flat, adopted(np.arange(n) % flat.size), 0, (0,))


@implements("put_along_axis", on_device=2)
def numpy_put_along_axis(arr: Operand, indices: Operand, values: Operand, axis: int | None) -> None:
    leave_if(axis is None or not arr.ndim)
    source, k = _to_write(values, arr), as_axis(axis, arr.ndim)
    shape = _shape_along(arr, indices, k)
    leave_if(_together(shape, source.shape) != shape)
    at = in_range(indices, arr.shape[k], "raise", arr)
    found: Mat | None = None
    for j, n in enumerate(arr.shape):
        ones = (1,) * (arr.ndim - 1 - j)
        own = at if j == k else adopted(np.arange(n).reshape(n, *ones))
        found = advanced.combined(found, own, (n,), False)
    assert found is not None
    _put_at(arr, found, source.broadcast_to(found.shape), False)


def _put_at(x: Mat, at: Mat, source: Mat, unique: bool) -> None:
    """Overwrite the elements at checked row-major positions."""
    source, at = (m.copy() if m.storage is x.storage else m
                  for m in (as_dtype(source, x.dtype), at.contiguous()))
    if at.size:
        gathering.scatter(at, source, x, 0, tuple(range(x.ndim)), unique)


# Positions


@implements("nonzero", of_many=True)
def numpy_nonzero(a: Operand) -> Result:
    leave_if(not a.ndim)
    at = gathering.positions_of(selecting.is_true(a))
    found: list[Mat] = []
    for n in a.shape[:0:-1]:
        found.append(ufuncs.remainder(at, n) if at.size else at.copy())
        at = ufuncs.floor_divide(at, n) if at.size else at
    return (at, *found[::-1])


implements("flatnonzero", of_many=True)(lambda a: gathering.positions_of(selecting.is_true(a)))


@implements("argwhere", of_many=True)
def numpy_argwhere(a: Operand) -> Result:
    leave_if(not a.ndim)
    return stack(numpy_nonzero(a), 0).T


# Indices by shapes, and numbers of elements


def _by_shape(function: Callable[..., tuple[Array, ...]], arr: Operand, *others: int) -> Result:
    """Call NumPy's function with an array of the shape of a Mat, without memory."""
    found = function(np.broadcast_to(np.zeros((), arr.dtype), arr.shape), *others)
    return tuple(map(adopted, found))


implements("tril_indices_from", on_device=1)(
    lambda arr, k=0: _by_shape(np.tril_indices_from, arr, k))
implements("triu_indices_from", on_device=1)(
    lambda arr, k=0: _by_shape(np.triu_indices_from, arr, k))
implements("diag_indices_from", on_device=1)(lambda arr: _by_shape(np.diag_indices_from, arr))


def _shape(value: Operand) -> Ints:
    """Return lengths as a tuple; an empty one if they are none."""
    found = tuple(value) if isinstance(value, list | tuple) else (value,)
    return found if all(type(n) is int and n > 0 for n in found) else ()


@implements("unravel_index", on_device=1)
def numpy_unravel_index(indices: Operand, shape: Operand, order: str = "C") -> Result:
    lengths = _shape(shape)
    leave_if(not lengths or order not in ("C", "F")
             or (indices.dtype.kind not in "iu" or indices.dtype == np.uint64))
    at = as_dtype(indices, gathering.LONG)
    leave_if(not advanced.all_within(at, 0, int(np.prod(lengths))))  # NumPy's error
    found: list[Mat] = []
    for n in lengths[::-1] if order == "C" else lengths:
        found.append(ufuncs.remainder(at, n))
        at = ufuncs.floor_divide(at, n)
    return tuple(found[::-1] if order == "C" else found)


@implements("ravel_multi_index", mats=0, of_many=True)
def numpy_ravel_multi_index(multi_index: Operand, dims: Operand, mode: str = "raise",
                            order: str = "C") -> Result:
    lengths = _shape(dims)
    leave_if(not isinstance(multi_index, list | tuple))
    mats = mats_there(*multi_index)
    leave_if(len(mats) != len(lengths) or mode != "raise" or order not in ("C", "F"))
    leave_if(any(m.dtype.kind not in "iu" or m.dtype == np.uint64 for m in mats))
    mats = [as_dtype(m, gathering.LONG) for m in mats]
    # NumPy's error
    leave_if(not all(advanced.all_within(m, 0, n) for m, n in zip(mats, lengths, strict=True)))
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
