"""NumPy's polynomials by their coefficients, the highest power first, on devices."""

from __future__ import annotations

import numpy as np

from ...matrix.creation import adopted
from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import leave_if
from ...ops.indexing.gathering import positions_of
from ...ops.primitives import elementwise, scan
from ...ops.primitives.joining import concat
from ...ops.primitives.selecting import is_true
from ...support.types import Function, Operand
from ..registry import Result, implements
from .interpolation import numpy_convolve
from .there import as_dtype


def _vectors(*operands: Mat) -> list[Mat]:
    """Return coefficients as vectors."""
    leave_if(any(m.ndim > 1 or not m.size or m.dtype.kind not in "iufc" for m in operands))
    return [m.reshape(-1) for m in operands]


@implements("polyval", on_device=2)
def numpy_polyval(p: Mat, x: Mat) -> Result:
    leave_if(p.ndim != 1 or not p.size or any(m.dtype.kind not in "iufc" for m in (p, x)))
    found: Mat = new_like(x, x.shape, np.result_type(p.dtype, x.dtype)).fill_(0)
    for k in range(p.size):
        found = found * x + p[k, ...]
    return found


@implements("polyadd", on_device=2)
def numpy_polyadd(a1: Operand, a2: Operand) -> Result:
    return _combined(elementwise.add, a1, a2)


@implements("polysub", on_device=2)
def numpy_polysub(a1: Operand, a2: Operand) -> Result:
    return _combined(elementwise.subtract, a1, a2)


def _combined(function: Function, *operands: Operand) -> Result:
    mats = _vectors(*operands)
    length = max(m.size for m in mats)
    return function(*(_lengthened(m, length) for m in mats))


def _lengthened(x: Mat, length: int) -> Mat:
    """Return a vector with zeros before it."""
    if x.size == length:
        return x
    return concat([new_like(x, (length - x.size,), x.dtype).fill_(0), x])


@implements("polymul", on_device=2)
def numpy_polymul(a1: Operand, a2: Operand) -> Result:
    one, other = map(_without_zeros, _vectors(a1, a2))
    return numpy_convolve(one, other)


def _without_zeros(x: Mat) -> Mat:
    """Return coefficients from the first one on that is not 0; the last one where there is none."""
    places = positions_of(is_true(x))
    return x[places._size_at(0) if places.size else -1:]


@implements("polyder", on_device=1)
def numpy_polyder(p: Operand, m: int = 1) -> Result:
    leave_if(type(m) is not int or m < 0)
    (found,) = _vectors(p)
    for _ in range(m):
        found = found[:-1] * _powers(found.size - 1)
    return found


def _powers(n: int) -> Mat:
    """Return the integers from `n` down to 1."""
    return adopted(np.arange(n, 0, -1))


@implements("polyint", on_device=1)
def numpy_polyint(p: Operand, m: int = 1, k: Operand = None) -> Result:
    leave_if(type(m) is not int or m < 0 or k is not None)
    (found,) = _vectors(p)
    for _ in range(m):
        found = found / _powers(found.size)
        found = concat([found, new_like(found, (1,), found.dtype).fill_(0)])
    return found


@implements("vander", on_device=1)
def numpy_vander(x: Operand, N: int | None = None,  # noqa: N803  # NumPy's name
                 increasing: bool = False) -> Result:
    count = x.size if N is None else N
    leave_if(x.ndim != 1 or type(count) is not int or count < 0
             or (x.dtype.kind not in "iufc"))
    x = as_dtype(x, np.promote_types(x.dtype, int))
    first = new_like(x, (x.size, min(count, 1)), x.dtype).fill_(1)
    rest = x.expand_dims(1).broadcast_to((x.size, max(count - 1, 0)))
    found = concat([first, scan.cumprod(rest, 1)], 1) if count > 1 else first
    return found if increasing else found[:, ::-1].copy()
