"""NumPy's numbers at equal distances or ratios between arrays, on devices."""

from __future__ import annotations

import numpy as np

from ...matrix.creation import adopted
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.primitives import elementwise, truth, ufuncs
from ...support.types import DTypeLike, Number, Operand
from ..registry import Result, implements
from .there import REAL, as_dtype, as_floats, mats_there, with_axis_moved


def spaced(start: Operand, stop: Operand, num: int, endpoint: bool) -> Mat:
    """Return so many numbers from `start` to `stop`, along a new first axis; one is a Mat of
    floating-point numbers.
    """
    delta = elementwise.subtract(stop, start)
    count = num - 1 if endpoint else num
    steps = adopted(np.arange(num, dtype=delta.dtype).reshape(-1, *(1,) * delta.ndim))
    along = steps * delta if count <= 0 else steps * (delta / count)
    found: Mat = along + start
    if endpoint and num > 1:
        last = stop if isinstance(stop, Mat) else delta * 0 + stop
        found[-1] = as_dtype(last.broadcast_to(delta.shape), found.dtype)
    return found


def _ends(start: Operand, stop: Operand, *known: bool) -> list[Mat]:
    """Return both ends in one dtype of real numbers, if all is `known`."""
    leave_if(not all(known))
    mats = mats_there(start, stop)
    leave_if(any(m.dtype.kind not in "iuf" for m in mats))
    # Python's numbers adapt
    dtype = np.result_type(*(v if type(v) in REAL else m.dtype
                             for v, m in zip((start, stop), mats, strict=True)), 0.0)
    leave_if(dtype.char not in "fd")
    return [as_dtype(as_floats(m), dtype) for m in mats]


def _placed(found: Mat, axis: int, dtype: DTypeLike) -> Result:
    leave_if(dtype is not None and np.dtype(dtype).kind != "f")
    moved = with_axis_moved(found, 0, axis) if axis else found
    return moved if dtype is None else as_dtype(moved, np.dtype(dtype))


# the parameters are NumPy's
@implements("linspace", mats=0)
def numpy_linspace(start: Operand, stop: Operand, num: int = 50, endpoint: bool = True,
                   retstep: bool = False, dtype: DTypeLike = None, axis: int = 0, *,
                   device: object = None) -> Result:
    ends = _ends(start, stop, type(num) is int, not retstep, type(axis) is int)
    leave_if(num < 0 or device not in (None, "cpu"))
    return _placed(spaced(ends[0], ends[1], num, bool(endpoint)), axis, dtype)


# the parameters are NumPy's
@implements("logspace", mats=0)
def numpy_logspace(start: Operand, stop: Operand, num: int = 50, endpoint: bool = True,
                   base: Number = 10.0, dtype: DTypeLike = None, axis: int = 0) -> Result:
    leave_if(type(base) not in REAL)
    found = numpy_linspace(start, stop, num, endpoint, axis=axis)
    return _placed(elementwise.pow(base, found), 0, dtype)


# the parameters are NumPy's
@implements("geomspace", mats=0)
def numpy_geomspace(start: Operand, stop: Operand, num: int = 50, endpoint: bool = True,
                    dtype: DTypeLike = None, axis: int = 0) -> Result:
    ends = [as_dtype(m, np.dtype(np.float64))
            for m in _ends(start, stop, type(num) is int, type(axis) is int)]
    # also of zeros, which NumPy refuses
    leave_if(num < 0 or not all(bool(truth.all_true(m)) for m in ends))
    sign = elementwise.sign(ends[0])
    first, last = (m / sign for m in ends)
    logs = spaced(ufuncs.log10(first), ufuncs.log10(last), num, bool(endpoint))
    inside: Mat = elementwise.pow(10.0, logs)
    first, last = (m.broadcast_to(inside.shape[1:]) for m in (first, last))
    if num:
        inside[0] = first
    if num > 1 and endpoint:
        inside[-1] = last
    return _placed(inside * sign, axis, dtype)
