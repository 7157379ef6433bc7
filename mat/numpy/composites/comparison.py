"""NumPy's functions that compare two arrays, as a whole or element by element, and of bits."""

from __future__ import annotations

import numpy as np

from ...errors import ShapeError
from ...layout.shapes import broadcast_shapes
from ...matrix.creation import adopted
from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import leave_if
from ...ops.engine.calls import may_meet
from ...ops.primitives import elementwise, reduce, shape
from ...ops.primitives.joining import concat
from ...ops.primitives.selecting import is_true
from ...ops.tiles.overlap import overlap
from ...support.dtypes import BLAS_TYPES, REAL_TYPES
from ...support.plugins import at_first_use
from ...support.types import Number, Operand
from ..operands import REAL, as_dtype, as_floats, as_mats, is_there, one_axis, with_axis_moved
from ..registry import Result, composes, implements
from .in_tiles import in_blocks, in_tiles

ufuncs = at_first_use("ops.primitives.ufuncs")


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
