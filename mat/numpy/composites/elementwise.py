"""NumPy's element-wise functions that are no ufuncs, also of complex numbers and angles; functions
that compare two arrays, and of bits.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from ...errors import ShapeError
from ...layout.orders import of_result
from ...layout.shapes import broadcast_shapes
from ...matrix.base import form_of_layout
from ...matrix.creation import adopted
from ...matrix.delegate import delegate
from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import leave_if
from ...ops.engine.calls import may_meet
from ...ops.primitives import elementwise, reduce, shape
from ...ops.primitives.joining import concat
from ...ops.primitives.selecting import is_true, where
from ...ops.primitives.shape import complex_of, imaginary_part, real_part
from ...ops.tiles.overlap import overlap
from ...support.dtypes import BLAS_TYPES, INTEGERS, REAL_TYPES, represents
from ...support.plugins import at_first_use
from ...support.types import DType, Function, Number, Operand
from ..operands import (
    FLOATS,
    REAL,
    as_dtype,
    as_floats,
    as_mats,
    is_mat_or_none,
    is_there,
    one_axis,
    with_axis_moved,
)
from ..registry import NO_VALUE, Result, composes, implements
from .in_tiles import in_blocks, in_lines, in_tiles

scan, ufuncs = at_first_use("ops.primitives.scan"), at_first_use("ops.primitives.ufuncs")
_FLOATS = "e" + REAL_TYPES  # of NumPy
_CLIPPED = _FLOATS + INTEGERS


@implements("clip")
def numpy_clip(a: Operand, a_min: Operand = NO_VALUE, a_max: Operand = NO_VALUE,
               out: Operand = None, *, min: Operand = NO_VALUE, max: Operand = NO_VALUE,
               **kwargs: object) -> Result:
    given = a_min is not NO_VALUE or a_max is not NO_VALUE
    leave_if(given
             and (a_min is NO_VALUE or a_max is NO_VALUE or min is not NO_VALUE
             or max is not NO_VALUE))
    low, high = (a_min, a_max) if given else (min, max)
    low, high = None if low is NO_VALUE else low, None if high is NO_VALUE else high
    unbound = low is None and high is None
    leave_if(kwargs or unbound or not is_mat_or_none(out))
    leave_if(not _is_bound(low, a) or not _is_bound(high, a))
    if low is None:
        return elementwise.minimum(a, high, out=out)
    if high is None:
        return elementwise.maximum(a, low, out=out)
    return elementwise.clip(a, low, high, out)


@in_tiles
def _rounded_there(a: Operand, decimals: int) -> Result:
    """Return integers as they are, and complex numbers with both parts rounded."""
    leave_if(not is_there(a) or type(decimals) is not int)
    if a.dtype.kind in "iu":
        leave_if(decimals < 0)
        return a.copy("K")
    leave_if(a.dtype.char not in "FD")
    parts = [numpy_round(part(a), decimals) for part in (real_part, imaginary_part)]
    return complex_of(*parts)


def _is_infinity(x: Operand, infinity: float, out: Operand) -> Result:
    leave_if(x.dtype.char not in _FLOATS or not is_mat_or_none(out))
    return elementwise.equal(x, infinity, out=out)


implements("isposinf", of_many=True)(lambda x, out=None: _is_infinity(x, np.inf, out))
implements("isneginf", of_many=True)(lambda x, out=None: _is_infinity(x, -np.inf, out))


@implements("fix", on_device=1)
def numpy_fix(x: Operand, out: Operand = None) -> Result:
    leave_if(x.dtype.char not in _FLOATS or not is_mat_or_none(out))
    return ufuncs.trunc(x, out=out)


@implements("piecewise", mats=0)
def numpy_piecewise(x: Operand, condlist: Operand, funclist: Sequence[Operand], *args: Operand,
                    **kw: Operand) -> Result:
    if is_there(x) and isinstance(condlist, list | tuple):
        return _by_pieces(x, condlist, funclist, args, kw)
    leave_if(not isinstance(condlist, Mat) or condlist.ndim)
    # one condition without axes is for NumPy a number, not an array
    return delegate(np.piecewise, [x, bool(condlist), funclist, *args], kw)


def _by_pieces(x: Mat, conditions: Sequence[Operand], functions: Sequence[Operand],
               args: Sequence[Operand], keywords: dict[str, Operand]) -> Result:
    """Return what the function of each element's last true condition gives, or a last one."""
    masks = [c for c in conditions if isinstance(c, Mat) and c.shape == x.shape
             and c.dtype.kind == "b"]
    rest = len(functions) - len(masks)
    leave_if(not masks or len(masks) < len(conditions) or rest not in (0, 1)
             or x.dtype.kind not in "iuf")
    if not any(map(callable, functions)):
        return _by_values(x.dtype, len(masks), *masks, *functions)

    def place(found: Mat, condition: Mat, value: Operand) -> Mat:
        if callable(value):
            chosen = x[condition]
            value = value(chosen, *args, **keywords) if chosen.size else 0
            if isinstance(value, Mat) and value.ndim:
                found[condition] = value
                return found
        return where(condition, _value(value, x.dtype), found)

    return _placed(place, x.dtype, masks, functions)


@in_tiles
def _by_values(dtype: DType, count: int, *masks_and_values: Operand) -> Mat:
    """Return the value of the last of so many masks that is true for each element."""
    return _placed(lambda found, condition, value: where(condition, _value(value, dtype), found),
                   dtype, masks_and_values[:count], masks_and_values[count:])


def _placed(place: Function, dtype: DType, masks: Sequence[Mat], values: Sequence[Operand]) -> Mat:
    """Return zeros after `place` has put the value of each mask where it is true, in turns."""
    found: Mat = new_like(masks[0], masks[0].shape, dtype).fill_(0)
    if len(values) > len(masks):
        masks = (*masks, ufuncs.logical_not(functools.reduce(ufuncs.logical_or, masks)))
    for condition, value in zip(masks, values, strict=True):
        found = place(found, condition, value)
    return found


def _value(value: Operand, dtype: DType) -> Operand:
    """Return a Mat or a number that `where` takes for one of this dtype."""
    if isinstance(value, Mat):
        return as_dtype(value, dtype)
    leave_if(not np.isscalar(value) or not represents(dtype, value))
    return dtype.type(value).item()


def _is_bound(value: Operand, a: Mat) -> bool:
    """Return whether `value` is None, or a bound that leaves the result in the dtype of `a`."""
    dtype = a.element_type
    if value is None:
        return True
    if isinstance(value, Mat):
        return value.element_type == dtype and dtype.char in _CLIPPED
    if dtype.char in _FLOATS:
        return type(value) in REAL
    return type(value) is int and dtype.char in INTEGERS and represents(dtype, value)


@implements("round", "around", of_many=True)
def numpy_round(a: Operand, decimals: int = 0, out: Operand = None) -> Result:
    if a.dtype.kind in "iu" and out is None and type(decimals) is int and decimals >= 0:
        return a.copy("K")
    plain = (type(decimals) is int and abs(decimals) < 300
             and a.dtype.char in _FLOATS and is_mat_or_none(out))
    if not plain or (out is not None and out.dtype != a.dtype):
        leave_if(out is not None)
        return _rounded_there(a, decimals)
    if decimals == 0:
        return elementwise.rint(a, out=out)
    return _round(a, decimals) if out is None else _rounded_into(out, a, decimals)


@in_tiles
@in_blocks
def _round(a: Mat, decimals: int) -> Mat:
    return _rounded_into(None, a, decimals)


def _rounded_into(out: Mat | None, a: Mat, decimals: int) -> Mat:
    scaled, unscaled = elementwise.multiply, elementwise.divide
    if decimals < 0:
        scaled, unscaled = unscaled, scaled
    factor = 10.0 ** abs(decimals)
    found = scaled(a, factor)  # not in `out`, which would keep it if the rest failed
    return unscaled(elementwise.rint(found, out=found), factor, out=found if out is None else out)


# Complex numbers and angles


_BOOL = np.dtype(np.bool_)
_TINY = 1e-20  # what `sinc` has for the complex number 0


@implements("angle", of_many=True)
def numpy_angle(z: Operand, deg: bool = False) -> Result:
    leave_if(not (z.dtype.char in BLAS_TYPES or z.dtype.kind in "biu"))
    return _angle(z, deg)


@in_tiles
def _angle(z: Mat, deg: bool) -> Mat:
    found = ufuncs.arctan2(imaginary_part(z) if z.dtype.kind == "c" else 0, real_part(z))
    return found * (180 / np.pi) if deg else found


@in_tiles
def _compared(compare: Function, of_real: bool, x: Operand) -> Result:
    """Compare the imaginary parts with 0; `of_real` is the result for those of real numbers."""
    if x.dtype.char in "FD":
        return compare(imaginary_part(x), 0)
    leave_if(x.dtype.kind not in "biuf")
    return form_of_layout(of_result(x.shape, [x.layout]), _BOOL).new(x.device_enabled, of_real)


implements("isreal", of_many=True)(lambda x: _compared(elementwise.equal, True, x))
implements("iscomplex", of_many=True)(lambda x: _compared(elementwise.not_equal, False, x))


@implements("real_if_close")
def numpy_real_if_close(a: Operand, tol: Number = 100) -> Result:
    leave_if(type(tol) not in REAL)
    if a.dtype.char not in "FD":
        leave_if(a.dtype.kind == "c")
        return a
    most = float(np.finfo(a.dtype).eps) * tol if tol > 1 else tol
    near = elementwise.less(elementwise.abs(imaginary_part(a)), most)
    return a.real if bool(reduce.all_true(near)) else a


@implements("sinc", of_many=True)
def numpy_sinc(x: Operand) -> Result:
    leave_if(not (x.dtype.char in "efdFD" or x.dtype.kind in "biu"))
    return _sinc(x)


@in_tiles
@in_blocks
def _sinc(x: Mat) -> Mat:
    angles = as_floats(x) * np.pi
    least = float(np.finfo(angles.dtype).eps) if angles.dtype.kind == "f" else _TINY
    angles = where(elementwise.not_equal(angles, 0), angles, least)
    return elementwise.divide(elementwise.sin(angles), angles)


@implements("unwrap", of_many=True)
def numpy_unwrap(p: Operand, discont: Number | None = None, axis: int = -1, *,
                 period: Number = 2 * np.pi) -> Result:
    leave_if(p.dtype.char not in FLOATS or type(period) not in REAL
             or not (discont is None or type(discont) in REAL))
    k, half = one_axis(p, axis), period / 2
    most = half if discont is None else discont
    if k == p.ndim - 1:
        return _unwrapped(p, half, most, period)
    return _unwrapped(p.swapaxes(k, -1), half, most, period).swapaxes(k, -1).contiguous()


@in_lines
def _unwrapped(p: Mat, half: Number, most: Number, period: Number) -> Mat:
    steps = p[..., 1:] - p[..., :-1]
    change = where(elementwise.abs(steps) < most, 0.0, _wrapped(steps, half, period) - steps)
    return concat([p[..., :1], p[..., 1:] + scan.cumsum(change, p.ndim - 1)], p.ndim - 1)


def _wrapped(steps: Mat, half: Number, period: Number) -> Mat:
    """Return the steps between -`half` and `half`; of half a period, with their own sign."""
    found = ufuncs.remainder(steps + half, period) - half
    return where(elementwise.equal(found, -half) & (steps > 0), half, found)


# Comparisons of two arrays, as a whole or element by element


@implements("array_equal", mats=0, of_many=True)
def numpy_array_equal(a1: Operand, a2: Operand, equal_nan: bool = False) -> Result:
    found = as_mats([a1, a2])
    leave_if(equal_nan and not all(map(is_there, found)))
    if not equal_nan or found[0].shape != found[1].shape:
        return found[0].equals(found[1])
    one, other = found
    same = (one == other) | ((one != one) & (other != other))  # of NaN only
    return bool(reduce.all_true(same))


@implements("array_equiv", on_device=2)
def numpy_array_equiv(a1: Operand, a2: Operand) -> Result:
    try:
        broadcast_shapes([a1.shape, a2.shape])
    except ShapeError:
        return False
    return bool(reduce.all_true(a1 == a2))


@implements("allclose", on_device=2)
def numpy_allclose(a: Operand, b: Operand, rtol: Number = 1e-5, atol: Number = 1e-8,
                   equal_nan: bool = False) -> Result:
    # on the host this operation is NumPy's function with longer checks
    leave_if(a.shape != b.shape or not all(type(x) in REAL and x >= 0 for x in (rtol, atol)))
    return bool(shape.close(a, b, rtol, atol, bool(equal_nan)))


@implements("shares_memory")
def numpy_shares_memory(a: Operand, b: Operand, /, max_work: int | None = None) -> Result:
    leave_if(not isinstance(b, Mat))
    return overlap(a, b)


@implements("may_share_memory")
def numpy_may_share_memory(a: Operand, b: Operand, /, max_work: int | None = None) -> Result:
    """Return whether the bounds of both overlap, as NumPy does unless it is to work more."""
    leave_if(not isinstance(b, Mat))
    return overlap(a, b) if max_work else may_meet(a, b)


@implements("isclose")
def numpy_isclose(a: Operand, b: Operand, rtol: Number = 1e-5, atol: Number = 1e-8,
                  equal_nan: bool = False) -> Result:
    leave_if(not all(type(v) in REAL for v in (rtol, atol)) or not _has_distances(a)
             or not (_has_distances(b) or type(b) in REAL))
    return _isclose(a, b, rtol, atol, equal_nan)


@in_tiles
@in_blocks
def _isclose(a: Mat, b: Operand, rtol: Number, atol: Number, equal_nan: bool) -> Mat:
    a, b = (as_floats(v) if isinstance(v, Mat) else v for v in (a, b))
    near = elementwise.less_equal(elementwise.abs(a - b), atol + rtol * elementwise.abs(b))
    finite = elementwise.isfinite(b) if isinstance(b, Mat) else bool(np.isfinite(b))
    found = (near & finite) | (a == b)
    if not equal_nan or not isinstance(b, Mat):
        return found
    return found | (elementwise.isnan(a) & elementwise.isnan(b))


def _has_distances(x: object) -> bool:
    """Return whether `x` is a Mat of real numbers, or on a device of complex ones."""
    if not isinstance(x, Mat):
        return False
    return x.dtype.char in REAL_TYPES or x.dtype.kind in "iu" or (
        x.dtype.char in BLAS_TYPES and is_there(x))


# Bits


_BYTE = np.dtype(np.uint8)
_PAIRS, _FOURS, _EIGHTS, _ONES = (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F,
                                  0x0101010101010101)


@composes("bitwise_count")
@in_tiles
def bitwise_count(x: Mat) -> Result:
    """Count the bits of the absolute values: of neighbours, of pairs of these, and so on."""
    leave_if(x.dtype.kind not in "iu")
    size = x.dtype.itemsize
    whole = (1 << 8 * size) - 1
    n = as_dtype(elementwise.abs(x) if x.dtype.kind == "i" else x, np.dtype(f"u{size}"))
    n = n - ((n >> 1) & (_PAIRS & whole))
    n = (n & (_FOURS & whole)) + ((n >> 2) & (_FOURS & whole))
    n = (n + (n >> 4)) & (_EIGHTS & whole)
    return as_dtype((n * (_ONES & whole)) >> (8 * size - 8) if size > 1 else n, _BYTE)


def _shifts(bitorder: str) -> Mat:
    """Return the place of each bit of a byte, beginning with the highest or the lowest one."""
    return adopted(np.arange(7, -1, -1, dtype=_BYTE) if bitorder == "big"
                   else np.arange(8, dtype=_BYTE))


@implements("packbits", on_device=1)
def numpy_packbits(a: Operand, /, axis: int | None = None, bitorder: str = "big") -> Result:
    leave_if(a.dtype.kind not in "biu" or bitorder not in ("big", "little"))
    if axis is None:
        a, axis = a.contiguous().reshape(-1), 0
    k = one_axis(a, axis)
    bits = is_true(a).astype(_BYTE)
    if missing := -a.shape[k] % 8:
        none = new_like(a, (*a.shape[:k], missing, *a.shape[k + 1:]), _BYTE).fill_(0)
        bits = concat([bits, none], k)
    groups = with_axis_moved(bits, k, -1).contiguous()
    groups = groups.reshape((*groups.shape[:-1], groups.shape[-1] // 8, 8))
    found = reduce.sum(groups << _shifts(bitorder), -1, _BYTE)
    return with_axis_moved(found, -1, k)


@implements("unpackbits", on_device=1)
def numpy_unpackbits(a: Operand, /, axis: int | None = None, count: int | None = None,
                     bitorder: str = "big") -> Result:
    leave_if(a.dtype != _BYTE or bitorder not in ("big", "little"))
    if axis is None:
        a, axis = a.contiguous().reshape(-1), 0
    k = one_axis(a, axis)
    most = 8 * a.shape[k]
    # more bits than there are, or NumPy's error
    leave_if(count is not None and (type(count) is not int or not -most <= count <= most))
    bytes_last = with_axis_moved(a, k, -1).expand_dims(-1)
    bits = ufuncs.bitwise_and(bytes_last >> _shifts(bitorder), 1)
    found = bits.reshape((*bits.shape[:-2], most))
    return with_axis_moved(found if count is None else found[..., :count], -1, k)
