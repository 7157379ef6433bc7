"""NumPy's functions that compare two arrays, as a whole or element by element."""

from __future__ import annotations

import numpy as np

from ...errors import ShapeError
from ...layout.shapes import broadcast_shapes
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.primitives import elementwise, shape, truth
from ...ops.tiles.overlap import overlap
from ...support.dtypes import BLAS_TYPES, REAL_TYPES
from ...support.types import Number, Operand
from ..operands import as_mats
from ..registry import Result, implements
from .there import as_floats, is_there

_REAL = (int, float)


@implements("array_equal", mats=0, of_many=True)
def numpy_array_equal(a1: Operand, a2: Operand, equal_nan: bool = False) -> Result:
    found = as_mats([a1, a2])
    leave_if(equal_nan and not all(map(is_there, found)))
    if not equal_nan or found[0].shape != found[1].shape:
        return found[0].equals(found[1])
    one, other = found
    same = (one == other) | ((one != one) & (other != other))  # of NaN only
    return bool(truth.all_true(same))


@implements("array_equiv", on_device=2)
def numpy_array_equiv(a1: Operand, a2: Operand) -> Result:
    try:
        broadcast_shapes([a1.shape, a2.shape])
    except ShapeError:
        return False
    return bool(truth.all_true(a1 == a2))


@implements("allclose", on_device=2)
def numpy_allclose(a: Operand, b: Operand, rtol: Number = 1e-5, atol: Number = 1e-8,
                   equal_nan: bool = False) -> Result:
    # on the host this operation is NumPy's function with longer checks
    leave_if(a.shape != b.shape or not all(type(x) in _REAL and x >= 0 for x in (rtol, atol)))
    return shape.allclose(a, b, rtol, atol, bool(equal_nan))


@implements("shares_memory")
def numpy_shares_memory(a: Operand, b: Operand, /, max_work: int | None = None) -> Result:
    leave_if(not isinstance(b, Mat))
    return overlap(a, b)


@implements("may_share_memory")
def numpy_may_share_memory(a: Operand, b: Operand, /, max_work: int | None = None) -> Result:
    """Return whether the bounds of both overlap, as NumPy does unless it is to work more."""
    leave_if(not isinstance(b, Mat))
    if max_work or a.storage is not b.storage or not a.size or not b.size:
        return overlap(a, b)
    (low, high), (start, stop) = (
        [k * x.itemsize for k in x.layout.bounds] for x in (a, b))
    return start < high and low < stop


@implements("isclose")
def numpy_isclose(a: Operand, b: Operand, rtol: Number = 1e-5, atol: Number = 1e-8,
                  equal_nan: bool = False) -> Result:
    leave_if(not all(type(v) in _REAL for v in (rtol, atol)) or not _has_distances(a)
             or not (_has_distances(b) or type(b) in _REAL))
    a, b = (as_floats(v) if isinstance(v, Mat) else v for v in (a, b))
    near = elementwise.less_equal(elementwise.abs(a - b), atol + rtol * elementwise.abs(b))
    finite = elementwise.isfinite(b) if isinstance(b, Mat) else bool(np.isfinite(b))
    found = (near & finite) | (a == b)
    if not equal_nan or not isinstance(b, Mat):
        return found
    return found | (elementwise.isnan(a) & elementwise.isnan(b))


def _has_distances(x: object) -> bool:
    """Return whether `x` is a Mat of real numbers, or on a device of any BLAS dtype or integers."""
    if not isinstance(x, Mat):
        return False
    return x.dtype.char in REAL_TYPES or (is_there(x) and (
        x.dtype.char in BLAS_TYPES or x.dtype.kind in "iu"))
