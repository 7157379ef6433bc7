"""NumPy's functions of complex numbers and of angles, on devices."""

from __future__ import annotations

import numpy as np

from ...layout.shapes import as_axis
from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import leave_if
from ...ops.primitives import elementwise, truth, ufuncs
from ...ops.primitives.complex_parts import imaginary_part, real_part
from ...ops.primitives.joining import concat
from ...ops.primitives.parts import along
from ...ops.primitives.scan import cumsum
from ...ops.primitives.selecting import where
from ...support.dtypes import BLAS_TYPES
from ...support.types import Function, Number, Operand
from ..registry import Result, implements
from .there import FLOATS, REAL, as_floats

_BOOL = np.dtype(np.bool_)
_TINY = 1e-20  # what `sinc` has for the complex number 0


@implements("angle", on_device=1)
def numpy_angle(z: Operand, deg: bool = False) -> Result:
    leave_if(not (z.dtype.char in BLAS_TYPES or z.dtype.kind in "biu"))
    found = ufuncs.arctan2(imaginary_part(z) if z.dtype.kind in "fc" else 0, real_part(z))
    return found * (180 / np.pi) if deg else found


@implements("isreal", on_device=1)
def numpy_isreal(x: Operand) -> Result:
    return _compared(elementwise.equal, True, x)


@implements("iscomplex", on_device=1)
def numpy_iscomplex(x: Operand) -> Result:
    return _compared(elementwise.not_equal, False, x)


def _compared(compare: Function, of_real: bool, x: Operand) -> Result:
    """Compare the imaginary parts with 0; `of_real` is the result for those of real numbers."""
    if x.dtype.char in "FD":
        return compare(imaginary_part(x), 0)
    leave_if(x.dtype.kind not in "biuf")
    return new_like(x, x.shape, _BOOL).fill_(of_real)


@implements("real_if_close", on_device=1)
def numpy_real_if_close(a: Operand, tol: Number = 100) -> Result:
    leave_if(type(tol) not in REAL)
    if a.dtype.char not in "FD":
        leave_if(a.dtype.kind == "c")
        return a
    most = float(np.finfo(a.dtype).eps) * tol if tol > 1 else tol
    near = elementwise.less(elementwise.abs(imaginary_part(a)), most)
    return real_part(a) if bool(truth.all_true(near)) else a


@implements("sinc", on_device=1)
def numpy_sinc(x: Operand) -> Result:
    leave_if(not (x.dtype.char in "efdFD" or x.dtype.kind in "biu"))
    angles = as_floats(x) * np.pi
    least = float(np.finfo(angles.dtype).eps) if angles.dtype.kind == "f" else _TINY
    angles = where(elementwise.not_equal(angles, 0), angles, least)
    return elementwise.divide(elementwise.sin(angles), angles)


@implements("unwrap", on_device=1)
def numpy_unwrap(p: Operand, discont: Number | None = None, axis: int = -1, *,
                 period: Number = 2 * np.pi) -> Result:
    leave_if(p.dtype.char not in FLOATS or not p.ndim or type(axis) is not int)
    leave_if(not -p.ndim <= axis < p.ndim or type(period) not in REAL
             or not (discont is None or type(discont) in REAL))
    k, half = as_axis(axis, p.ndim), period / 2
    steps = along(p, k, slice(1, None)) - along(p, k, slice(None, -1))
    turned = _wrapped(steps, half, period)
    change = where(elementwise.abs(steps) < (half if discont is None else discont), 0.0,
                   turned - steps)
    rest = along(p, k, slice(1, None)) + cumsum(change, k)
    return concat([along(p, k, slice(None, 1)), rest], k)


def _wrapped(steps: Mat, half: Number, period: Number) -> Mat:
    """Return the steps between -`half` and `half`; of half a period, with their own sign."""
    found = ufuncs.remainder(steps + half, period) - half
    return where(elementwise.equal(found, -half) & (steps > 0), half, found)


