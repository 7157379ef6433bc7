"""NumPy's functions for which there are operations of ours: each with NumPy's signature, for the
arguments that ours take.

Where NumPy would mean something else, or the arguments are more than ours know, a function here
gives `DELEGATED`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ...errors import ShapeError
from ...layout.strided import as_axis
from ...matrix.creation import adopted, from_numpy
from ...matrix.mat import Mat
from ...ops import blas_level1, joining, linalg, reduce, shape
from ...ops import elementwise as ew
from ...ops.overlap import overlap
from ...support.dtypes import BLAS_TYPES, REAL_TYPES, as_dtype
from .array_ufunc import can_hold_sums, is_known, is_ours

DELEGATED: Any = object()
NO_VALUE: Any = np._NoValue
IMPLEMENTATIONS: dict[Any, Callable[..., Any]] = {}  # NumPy's function -> ours
_FLOATS = "e" + REAL_TYPES  # of NumPy
_REAL = (int, float)


def numpys(name: str) -> Any:
    """NumPy's function of that name; None in versions that have none."""
    found: Any = np
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def implements(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Take the decorated function for NumPy's functions of these names."""
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        IMPLEMENTATIONS.update({f: function for f in map(numpys, names) if f is not None})
        return function
    return register


def _is_place(out: Any) -> bool:
    return out is None or isinstance(out, Mat)


def _mats(values: Any) -> list[Mat]:
    """The operands as Mats; none if one of them can be no Mat."""
    if not isinstance(values, list | tuple) or not all(map(is_ours, values)):
        return []
    return [x if isinstance(x, Mat) else from_numpy(x) if x.flags.aligned else adopted(x.copy())
            for x in values]


# Reductions


def _reducing(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduced(a: Any, axis: Any, out: Any, keepdims: Any, *others: Any) -> Any:
        if not is_ours(a) or not can_hold_sums(out) or any(x is not NO_VALUE and x is not None
                                                           for x in others):
            return DELEGATED
        return function(a, axis, False if keepdims is NO_VALUE else bool(keepdims), out)
    return reduced


_sum, _prod, _mean = map(_reducing, (reduce.sum, reduce.prod, reduce.mean))
_max, _min, _argmax, _argmin = map(_reducing,
                                   (reduce.max, reduce.min, reduce.argmax, reduce.argmin))


@implements("sum")
def _(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
      initial: Any = NO_VALUE,
      where: Any = NO_VALUE) -> Any:
    return _sum(a, axis, out, keepdims, dtype, initial, where)


@implements("prod")
def _(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
      initial: Any = NO_VALUE,
      where: Any = NO_VALUE) -> Any:
    return _prod(a, axis, out, keepdims, dtype, initial, where)


@implements("mean")
def _(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *,
      where: Any = NO_VALUE) -> Any:
    return _mean(a, axis, out, keepdims, dtype, where)


@implements("max", "amax")
def _(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
      where: Any = NO_VALUE) -> Any:
    return _max(a, axis, out, keepdims, initial, where)


@implements("min", "amin")
def _(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
      where: Any = NO_VALUE) -> Any:
    return _min(a, axis, out, keepdims, initial, where)


@implements("argmax")
def _(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
    return _argmax(a, axis, out, keepdims)


@implements("argmin")
def _(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
    return _argmin(a, axis, out, keepdims)


def _deviations(a: Any, axis: Any, dtype: Any, out: Any, ddof: Any, keepdims: Any,
                others: tuple[Any, ...]) -> Any:
    """The variance; as NumPy, the mean of the squared distances from the mean."""
    plain = dtype is None and _is_place(out) and all(x is NO_VALUE
                                                     for x in others) and type(ddof) in _REAL
    if not plain or not isinstance(a, Mat) or a.dtype.char not in REAL_TYPES or not a.size:
        return DELEGATED
    total = reduce.sum(ew.square(ew.subtract(a, reduce.mean(a, axis, True))), axis,
                       False if keepdims is NO_VALUE else bool(keepdims))
    count = a.size // total.size - ddof
    return ew.divide(total, float(count), out=out) if count > 0 else DELEGATED


@implements("var")
def _(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
      keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE,
      mean: Any = NO_VALUE, correction: Any = NO_VALUE) -> Any:
    return _deviations(a, axis, dtype, out, ddof, keepdims, (where, mean, correction))


@implements("std")
def _(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
      keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE,
      mean: Any = NO_VALUE, correction: Any = NO_VALUE) -> Any:
    found = _deviations(a, axis, dtype, out, ddof, keepdims, (where, mean, correction))
    return found if found is DELEGATED else found.sqrt_()


@implements("trace")
def _(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None,
      out: Any = None) -> Any:
    if not isinstance(a, Mat) or a.ndim < 2 or dtype is not None or not can_hold_sums(out):
        return DELEGATED
    return reduce.sum(a.diagonal(offset, axis1, axis2), -1, False, out)


@implements("linalg.trace")
def _(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Any:
    return DELEGATED if x.ndim < 2 or dtype is not None else reduce.sum(x.diagonal(offset, -2, -1), -1)


# Element by element


@implements("clip")
def _(a: Any, a_min: Any = NO_VALUE, a_max: Any = NO_VALUE, out: Any = None, *, min: Any = NO_VALUE,
      max: Any = NO_VALUE, **kwargs: Any
      ) -> Any:
    low, high = (min if a_min is NO_VALUE else a_min), (max if a_max is NO_VALUE else a_max)
    bounds = [b for b in (low, high) if b is not NO_VALUE and b is not None]
    plain = isinstance(a, Mat) and a.dtype.char in _FLOATS and _is_place(out) and not kwargs and bounds
    if not plain or not all(type(b) in _REAL or (isinstance(b, Mat) and b.dtype == a.dtype)
                            for b in bounds):
        return DELEGATED
    if len(bounds) == 1:
        return (ew.minimum if low is NO_VALUE or low is None else ew.maximum)(a, bounds[0], out=out)
    return ew.minimum(ew.maximum(a, low), high, out=out)


@implements("round", "around")
def _(a: Any, decimals: Any = 0, out: Any = None) -> Any:
    plain = isinstance(a, Mat) and type(decimals) is int and decimals == 0 and a.dtype.char in _FLOATS and _is_place(out)
    return ew.rint(a, out=out) if plain else DELEGATED


# Copies


@implements("copy")
def _(a: Any, order: Any = "K", subok: Any = False) -> Any:
    return DELEGATED if order == "F" else a.copy()


@implements("astype")
def _(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    wanted = np.dtype(dtype)
    if not is_known(wanted) or device not in (None, "cpu") or (x.dtype.kind == "c"
                                                               and wanted.kind != "c"):
        return DELEGATED
    return x if not copy and x.dtype == wanted else x.astype(wanted)


@implements("asarray", "asanyarray", "ascontiguousarray")
def _(a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None) -> Any:
    same = isinstance(a, Mat) and (dtype is None or np.dtype(dtype)
                                   == a.dtype) and order in (None, "K", "A") and not copy
    return a if same else DELEGATED


@implements("copyto")
def _(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> Any:
    if not isinstance(dst, Mat) or where is not True:
        return DELEGATED
    if type(src) is float and dst.dtype.kind in "fc":
        dst.assign_(src)
        return None
    if not is_ours(src) or not np.can_cast(src.dtype, dst.dtype,
                                           casting) or (src.dtype.kind == "c"
                                                        and dst.dtype.kind != "c"):
        return DELEGATED
    dst.assign_(*_mats([src]))
    return None


def _joined(arrays: Any, axis: Any, out: Any, dtype: Any, casting: Any,
            join: Callable[[list[Mat], int], Any]) -> Any:
    parts = _mats(arrays)
    plain = parts and dtype is None and casting == "same_kind" and type(axis) is int and _is_place(out)
    if not plain or (out is not None and not np.can_cast(np.result_type(*(m.dtype for m in parts)),
                                                         out.dtype, casting)):
        return DELEGATED
    return join(parts, axis)


@implements("concatenate")
def _(arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None,
      casting: Any = "same_kind") -> Any:
    return _joined(arrays, axis, out, dtype, casting, lambda parts,
                   axis: joining.concat(parts, axis, out))


@implements("stack")
def _(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None,
      casting: Any = "same_kind") -> Any:
    def join(parts: list[Mat], axis: int) -> Any:
        k = as_axis(axis, parts[0].ndim + 1)
        if any(m.shape != parts[0].shape for m in parts):
            raise ShapeError("stack wants equal shapes, got "
                             f"{', '.join(str(m.shape) for m in parts)}")
        return joining.concat([m.expand_dims(k) for m in parts], k, out)
    return _joined(arrays, axis, out, dtype, casting, join)


def _stacking(raised: Any, axis: Callable[[Mat], int]) -> Callable[..., Any]:
    """One of the functions that raise their operands to a rank and join them."""
    def joined(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
        def join(parts: list[Mat], _: int) -> Any:
            whole = [raised(m) for m in parts]
            return joining.concat(whole, axis(whole[0]))
        return _joined(tup, 0, None, dtype, casting, join)
    return joined


implements("vstack")(_stacking(np.atleast_2d, lambda m: 0))
implements("hstack")(_stacking(np.atleast_1d, lambda m: 0 if m.ndim == 1 else 1))


@implements("dstack")
def _(tup: Any) -> Any:
    return _stacking(np.atleast_3d, lambda m: 2)(tup)


@implements("column_stack")
def _(tup: Any) -> Any:
    return _stacking(lambda m: m if m.ndim > 1 else np.atleast_2d(m).T, lambda m: 1)(tup)


# Like another


def _like(fill: Any) -> Callable[..., Any]:
    def made(a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None, *,
             device: Any = None) -> Any:
        if not isinstance(a, Mat) or device not in (None,
                                                    "cpu") or (dtype is not None
                                                               and not is_known(np.dtype(dtype))):
            return DELEGATED
        found = Mat(a.shape if shape is None else shape,
                    a.dtype if dtype is None else as_dtype(dtype), fill=fill)
        found.device_enabled = a.device_enabled
        return found
    return made


implements("zeros_like")(_like(0))
implements("ones_like")(_like(1))
implements("empty_like")(_like(None))


@implements("full_like")
def _(a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: Any = True,
      shape: Any = None, *,
      device: Any = None) -> Any:
    kind = a.dtype if dtype is None and isinstance(a, Mat) else np.dtype(dtype)
    if type(fill_value) is not float or kind.kind != "f":
        return DELEGATED
    return _like(fill_value)(a, dtype, order, subok, shape, device=device)


# Products


@implements("dot")
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """``numpy.dot``"""
    found = _mats([a, b])
    if not found or not _is_place(out):
        return DELEGATED
    a, b = found
    if not a.ndim or not b.ndim:
        return ew.multiply(a, b, out=out)
    if b.ndim < 3:
        return linalg.matmul(a, b, out=out)
    return DELEGATED if out is not None else tensordot(a, b, (-1, -2))


@implements("inner")
def _(a: Any, b: Any, /) -> Any:
    found = _mats([a, b])
    if not found:
        return DELEGATED
    a, b = found
    return tensordot(a, b, (-1, -1)) if a.ndim and b.ndim else ew.multiply(a, b)


@implements("outer")
def _(a: Any, b: Any, out: Any = None) -> Any:
    found = _mats([a, b])
    if not found or not _is_place(out):
        return DELEGATED
    a, b = map(np.ravel, found)
    return ew.multiply(a.expand_dims(1), b, out=out)


@implements("linalg.outer")
def _(x1: Any, x2: Any, /) -> Any:
    return np.outer(x1, x2) if is_ours(x1) and is_ours(x2) and x1.ndim == x2.ndim == 1 else DELEGATED


@implements("vdot")
def _(a: Any, b: Any, /) -> Any:
    found = _mats([a, b])
    if not found or any(m.dtype.kind == "c" for m in found) or found[0].size != found[1].size:
        return DELEGATED
    a, b = map(np.ravel, found)
    return linalg.matmul(a, b)


@implements("linalg.tensordot")
def _(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    return tensordot(x1, x2, axes)


@implements("tensordot")
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """``numpy.tensordot``"""
    found = _mats([a, b])
    over = _contracted(axes, *found) if found else None
    if over is None:
        return DELEGATED
    (a, b), (of_a, of_b) = found, over
    kept_a, kept_b = ([k for k in range(m.ndim) if k not in used] for m,
                      used in ((a, of_a), (b, of_b)))
    length = prod(a.shape[k] for k in of_a)
    left, right = (a.shape[k] for k in kept_a), (b.shape[k] for k in kept_b)
    rows, columns = tuple(left), tuple(right)
    product = linalg.matmul(_matrix(a, (*kept_a, *of_a), (prod(rows), length)),
                            _matrix(b, (*of_b, *kept_b), (length, prod(columns))))
    return product.reshape(rows + columns)


def _contracted(axes: Any, a: Mat, b: Mat) -> tuple[list[int], list[int]] | None:
    """The axes of both to sum over, in pairs; None where NumPy should say what is wrong with
    them.
    """
    if isinstance(axes, int):
        pair: Any = range(-axes, 0), range(axes)
    else:
        pair = [x if isinstance(x, list | tuple) else (x,) for x in axes]
    try:
        one, other = ([as_axis(k, m.ndim) for k in used] for used,
                      m in zip(pair, (a, b), strict=True))
    except (TypeError, ValueError, IndexError):
        return None
    alike = [a.shape[k] for k in one] == [b.shape[k] for k in other]
    return (one,
            other) if alike and len(set(one)) == len(one) and len(set(other)) == len(other) else None


def _matrix(x: Mat, order: tuple[int, ...], shape: tuple[int, int]) -> Mat:
    """`x` with its axes in another order, as a matrix: a view where that can be."""
    found: Mat = np.reshape(x.permute(order), shape)  # type: ignore[assignment]  # it gives a Mat
    return found


@implements("linalg.matmul")
def _(x1: Any, x2: Any, /) -> Any:
    return linalg.matmul(x1, x2) if is_ours(x1) and is_ours(x2) else DELEGATED


@implements("linalg.multi_dot")
def _(arrays: Any, *, out: Any = None) -> Any:
    parts = _mats(arrays)
    if out is not None or len(parts) < 2 or any(m.ndim != 2 for m in parts):
        return DELEGATED
    return linalg.multi_dot(parts)


# Linear algebra


def _is_square(a: Any) -> bool:
    return isinstance(a, Mat) and a.dtype.char in BLAS_TYPES and a.ndim >= 2 and a.shape[-1] == a.shape[-2]


@implements("linalg.inv")
def _(a: Any) -> Any:
    return linalg.inv(a) if _is_square(a) else DELEGATED


@implements("linalg.solve")
def _(a: Any, b: Any) -> Any:
    plain = _is_square(a) and isinstance(b, Mat) and b.dtype.char in BLAS_TYPES and b.ndim
    return linalg.solve(a, b) if plain else DELEGATED


@implements("linalg.cholesky")
def _(a: Any, /, *, upper: Any = False) -> Any:
    return linalg.cholesky(a) if _is_square(a) and not upper else DELEGATED


@implements("linalg.norm")
# NumPy's name
def _(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    plain = isinstance(x, Mat) and x.dtype.char in REAL_TYPES and ord is None and axis is None and not keepdims and x.size
    return adopted(np.asarray(blas_level1.nrm2(x), x.dtype)) if plain else DELEGATED


# Comparing as a whole


@implements("array_equal")
def _(a1: Any, a2: Any, equal_nan: Any = False) -> Any:
    found = _mats([a1, a2])
    return DELEGATED if not found or equal_nan else found[0].equals(found[1])


@implements("allclose")
def _(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: Any = False) -> Any:
    found = _mats([a, b])
    plain = found and found[0].shape == found[1].shape and all(type(x) in _REAL and x >= 0
                                                               for x in (rtol, atol))
    return shape.allclose(found[0], found[1], rtol, atol, bool(equal_nan)) if plain else DELEGATED


@implements("shares_memory", "may_share_memory")
def _(a: Any, b: Any, /, max_work: Any = None) -> Any:
    return overlap(a, b) if isinstance(a, Mat) and isinstance(b, Mat) else DELEGATED


# Views that are not always Mats


@implements("broadcast_arrays")
def _(*args: Any, subok: Any = False) -> Any:
    """Among arrays, Mats are lent as arrays: NumPy's results are to be read, and who mixes them, as
    zarr does, goes on with methods of arrays.
    """
    if all(isinstance(x, Mat) for x in args):
        return DELEGATED
    return np.broadcast_arrays(*map(np.asarray, args), subok=subok)


@implements("real")
def _(val: Any) -> Any:
    return DELEGATED if val.dtype.kind == "c" else val.over(val.layout)
