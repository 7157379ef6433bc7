"""NumPy's integrals, slopes and differences, by element-wise operations and sums; polynomials by
their coefficients, the highest power first; interpolation, correlation and convolution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ...layout.shapes import as_axis
from ...matrix.creation import adopted
from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import LeftToNumPy, leave_if
from ...ops.indexing.advanced import gathered_at
from ...ops.indexing.gathering import positions_of
from ...ops.indexing.sorting import argsort, searchsorted
from ...ops.nn.nn import convolve
from ...ops.primitives import elementwise, joining, reduce
from ...ops.primitives.joining import concat
from ...ops.primitives.selecting import is_true, where
from ...ops.primitives.shape import along, complex_of, imaginary_part, real_part
from ...support.dtypes import BLAS_TYPES, INTEGERS, REAL_TYPES
from ...support.plugins import at_first_use
from ...support.types import Function, Number, Operand
from ..operands import REAL, as_dtype, as_floats, as_mat_if_possible, different_axes, is_there
from ..registry import Result, implements
from .in_tiles import in_one_pass, in_tiles

scan = at_first_use("ops.primitives.scan")
ufuncs = at_first_use("ops.primitives.ufuncs")


def _is_real(x: object) -> bool:
    return isinstance(x, Mat) and x.dtype.char in REAL_TYPES


def _differences(x: Mat) -> Mat:
    return x[1:] - x[:-1]


@implements("trapezoid", of_many=True)
def numpy_trapezoid(y: Operand, x: Operand = None, dx: Number = 1.0, axis: int = -1) -> Result:
    leave_if(not _is_real(y) or type(axis) is not int or not y.ndim)
    k = as_axis(axis, y.ndim)
    if x is None and type(dx) in REAL:
        widths: Operand = dx
    elif _is_real(x) and x.ndim == 1 and x.dtype == y.dtype:
        widths = _differences(x).reshape((-1,) + (1,) * (y.ndim - 1 - k))
    else:
        raise LeftToNumPy
    return _area(y, widths, k)


@in_one_pass
def _area(y: Mat, widths: Operand, axis: int) -> Mat:
    heights = along(y, axis, slice(1, None)) + along(y, axis, slice(None, -1))
    return reduce.sum(widths * heights / 2.0, axis)


@implements("ediff1d", on_device=1)
def numpy_ediff1d(ary: Operand, to_end: Operand = None, to_begin: Operand = None) -> Result:
    leave_if(ary.dtype.kind == "b")
    x = ary.contiguous().reshape(-1)
    parts = [_differences(x)]
    for others, at in ((to_begin, 0), (to_end, len(parts) + 1)):
        if others is None:
            continue
        more = as_mat_if_possible(others)
        leave_if(not isinstance(more, Mat) or not np.can_cast(more.dtype, x.dtype, "same_kind"))
        parts.insert(at, as_dtype(more.reshape(-1), x.dtype))
    return joining.concat(parts) if len(parts) > 1 else parts[0]


# Slopes


class Steps(NamedTuple):
    """The distances of neighbours along an axis: one for all of them, or a vector of them."""

    vector: Mat | None
    number: float = 0.0

    def at(self, k: int) -> Operand:
        """Return the k-th of them."""
        return self.number if self.vector is None else self.vector[k, ...]

    def pairs(self, axis: int, ndim: int) -> tuple[Mat, Mat]:
        """Return the distances before and after each inner element, to be broadcast."""
        assert self.vector is not None
        shape = (-1,) + (1,) * (ndim - 1 - axis)
        return (along(self.vector, 0, slice(None, -1)).reshape(shape),
                along(self.vector, 0, slice(1, None)).reshape(shape))


@implements("gradient", of_many=True)
def numpy_gradient(f: Operand, *varargs: Operand, axis: Operand = None,
                   edge_order: int = 1) -> Result:
    leave_if(not f.ndim or edge_order not in (1, 2))
    leave_if(f.dtype.char not in REAL_TYPES and not (
        is_there(f) and (f.dtype.char in BLAS_TYPES or f.dtype.kind in "iu")))
    axes = different_axes(axis, f.ndim)
    leave_if(any(f.shape[k] <= edge_order for k in axes))
    steps = _steps(f, varargs, axes)
    plain = edge_order == 1 and len(varargs) < 2 and all(s.vector is None for s in steps)
    leave_if(not steps or not (plain or is_there(f)))
    x = as_floats(f)
    found = tuple(as_dtype(_slopes(x, s, k, edge_order), x.dtype)
                  for s, k in zip(steps, axes, strict=True))
    return found[0] if len(found) == 1 else found


def _steps(f: Mat, given: tuple[Operand, ...], axes: tuple[int, ...]) -> list[Steps]:
    """Return the distances along each axis; none if NumPy has to raise the error."""
    given = given or (1.0,)
    if len(given) == 1 and not np.ndim(given[0]):
        given *= len(axes)
    if len(given) != len(axes):
        return []
    found = [_steps_of(v, f.shape[k]) for v, k in zip(given, axes, strict=True)]
    return [s for s in found if s is not None] if None not in found else []


def _steps_of(given: Operand, length: int) -> Steps | None:
    """Return the distances that are a number, or the differences of places."""
    if not np.ndim(given):
        number = given.item() if isinstance(given, Mat | np.generic | np.ndarray) else given
        return Steps(None, float(number)) if type(number) in REAL else None
    at = as_mat_if_possible(given)
    if not isinstance(at, Mat) or at.shape != (length,) or at.dtype.kind not in "iuf" or length < 2:
        return None
    at = as_floats(at)
    steps = _differences(at)
    first = steps[0, ...]
    common = where(reduce.all_true(steps == first), first, math.nan).item()  # one wait of a device
    return Steps(steps) if math.isnan(common) else Steps(None, common)


@in_one_pass
def _slopes(f: Mat, steps: Steps, axis: int, edge_order: int) -> Mat:
    """Return the central differences over their distance, and one-sided ones at the ends."""
    ends = _ends if edge_order == 1 else _curved_ends
    first, last = ends(f, steps, axis)
    return joining.concat([first, _inner(f, steps, axis), last], axis)


def _inner(f: Mat, steps: Steps, axis: int) -> Mat:
    before, after = along(f, axis, slice(None, -2)), along(f, axis, slice(2, None))
    if steps.vector is None:
        return (after - before) / (2.0 * steps.number)
    low, high = steps.pairs(axis, f.ndim)
    total = low + high
    return (-high / (low * total) * before + (high - low) / (low * high) * along(
        f, axis, slice(1, -1)) + low / (high * total) * after)


def _ends(f: Mat, steps: Steps, axis: int) -> tuple[Mat, Mat]:
    """Return the slopes between the first two elements and between the last two."""
    return ((along(f, axis, slice(1, 2)) - along(f, axis, slice(0, 1))) / steps.at(0),
            (along(f, axis, slice(-1, None)) - along(f, axis, slice(-2, -1))) / steps.at(-1))


def _curved_ends(f: Mat, steps: Steps, axis: int) -> tuple[Mat, Mat]:
    """Return the slopes at both ends of the parabolas through the three elements there."""
    first = _parabola([along(f, axis, slice(k, k + 1)) for k in range(3)], steps.at(0), steps.at(1))
    length = f.shape[axis]
    back = [along(f, axis, slice(k, k + 1)) for k in range(length - 1, length - 4, -1)]
    return first, -_parabola(back, steps.at(-1), steps.at(-2))


def _parabola(f: list[Mat], near: Operand, far: Operand) -> Mat:
    """Return the slope at the first of three elements, with their distances."""
    both = near + far
    return (-(near + both) / (near * both) * f[0] + both / (near * far) * f[1]
            - near / (far * both) * f[2])


# Polynomials


def _vectors(*operands: Mat) -> list[Mat]:
    leave_if(any(m.ndim > 1 or not m.size or m.dtype.kind not in "iufc" for m in operands))
    return [m.reshape(-1) for m in operands]


@implements("polyval", on_device=2)
def numpy_polyval(p: Mat, x: Mat) -> Result:
    leave_if(p.ndim != 1 or not p.size or any(m.dtype.kind not in "iufc" for m in (p, x)))
    return in_tiles(_polyval, tables=1)(x, p)


def _polyval(x: Mat, p: Mat) -> Mat:
    found: Mat = new_like(x, x.shape, np.result_type(p.dtype, x.dtype)).fill_(0)
    for k in range(p.size):
        found = found * x + p[k, ...]
    return found


def _combined(function: Function) -> Function:
    """Return the function of the coefficients of two polynomials, those of one after zeros."""
    def combined(a1: Operand, a2: Operand) -> Result:
        mats = _vectors(a1, a2)
        length = max(m.size for m in mats)
        return function(*(m if m.size == length else concat(
            [new_like(m, (length - m.size,), m.dtype).fill_(0), m]) for m in mats))

    return combined


implements("polyadd", on_device=2)(_combined(elementwise.add))
implements("polysub", on_device=2)(_combined(elementwise.subtract))


@implements("polymul", on_device=2)
def numpy_polymul(a1: Operand, a2: Operand) -> Result:
    one, other = map(_without_zeros, _vectors(a1, a2))
    return _windows(_convolved, one, other, "full")


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
    leave_if(x.ndim != 1 or type(count) is not int or count < 0 or (x.dtype.kind not in "iufc"))
    x = as_dtype(x, np.promote_types(x.dtype, int))
    first = new_like(x, (x.size, min(count, 1)), x.dtype).fill_(1)
    rest = x.expand_dims(1).broadcast_to((x.size, max(count - 1, 0)))
    found = concat([first, scan.cumprod(rest, 1)], 1) if count > 1 else first
    return found if increasing else found[:, ::-1].copy()


# Interpolation, correlation and convolution of vectors


_FLOAT = np.dtype(np.float64)
_CORRELATED = ("e", "f", "d", *INTEGERS)
_MODES = {"valid": "valid", "same": "same", "full": "full", 0: "valid", 1: "same", 2: "full"}
_Vectors = Callable[[Mat, Mat, str], Mat]


@implements("interp", on_device=3)
def numpy_interp(x: Operand, xp: Operand, fp: Operand, left: Operand = None,
                 right: Operand = None, period: Operand = None) -> Result:
    parts = [real_part(fp), imaginary_part(fp)] if fp.dtype.kind == "c" else [fp]
    leave_if(len(parts) > 1 and (left is not None or right is not None))
    leave_if(not (period is None or (type(period) in (int, float) and period)))
    leave_if(any(m.dtype.kind not in "iuf" for m in (x, xp, *parts)))
    points, *values = (m.astype(_FLOAT, copy=False) for m in (xp, *parts))
    leave_if(points.ndim != 1 or not points.size or points.shape != fp.shape)
    leave_if(not all(v is None or type(v) in (int, float) for v in (left, right)))
    if period is not None:
        points, values = _repeated(points, values, abs(period))
    beyond = [line[k, ...] if v is None or period is not None else float(v)
              for line in values for k, v in ((0, left), (-1, right))]

    def interp(x: Mat, points: Mat, *lines: Operand) -> Mat:
        at = as_dtype(x, _FLOAT)
        at = at if period is None else ufuncs.remainder(at, abs(period))
        values, beyond = lines[:len(parts)], lines[len(parts):]
        found = [_interpolated(at, points, line, *beyond[2 * k:2 * k + 2])
                 for k, line in enumerate(values)]
        return found[0] if len(found) == 1 else complex_of(*found)

    return in_tiles(interp, tables=1 + len(parts))(x, points, *values, *beyond)


def _repeated(points: Mat, lines: list[Mat], period: float) -> tuple[Mat, list[Mat]]:
    """Return the points within a period in ascending order, with the last one before these and the
    first one after them, and the values there of each line.
    """
    points = ufuncs.remainder(points, period)
    order = argsort(points)
    points, *lines = (gathered_at(m, order, 0, (0,)) for m in (points, *lines))
    points = concat([points[-1:] - period, points, points[:1] + period])
    return points, [concat([values[-1:], values, values[:1]]) for values in lines]


implements("correlate", on_device=2)(lambda a, v, mode="valid": _windows(_correlated, a, v, mode))
implements("convolve", on_device=2)(lambda a, v, mode="full": _windows(_convolved, a, v, mode))


def _windows(function: _Vectors, a: Mat, v: Mat, mode: str) -> Result:
    leave_if(type(mode) not in (int, str) or mode not in _MODES)
    leave_if(any(m.ndim != 1 or not m.size for m in (a, v)))
    if any(m.dtype.char in "FD" for m in (a, v)):
        return _complex_windows(function, a, v, mode)
    leave_if(any(m.dtype.char not in _CORRELATED for m in (a, v)))
    return function(a, v, _MODES[mode])


def _complex_windows(function: _Vectors, a: Mat, v: Mat, mode: str) -> Result:
    """Return products with windows, out of those of the real and the imaginary parts."""
    dtype = np.dtype(np.result_type(a.dtype, v.dtype).char.lower())
    (ar, ai), (vr, vi) = ([as_dtype(part(m), dtype) for part in (real_part, imaginary_part)]
                          for m in (a, v))
    sign = -1 if function is _correlated else 1  # that conjugates the second one
    product = partial(_windows, function, mode=mode)
    return complex_of(product(ar, vr) - sign * product(ai, vi),
                      product(ai, vr) + sign * product(ar, vi))


# By operations


def _interpolated(x: Mat, xp: Mat, fp: Mat, left: Operand, right: Operand) -> Mat:
    """Return the values at `x` of the lines through points, all float64; others beyond these."""
    found = fp[0, ...] if xp.size == 1 else _between_points(x, xp, fp)
    found = where(elementwise.greater(x, xp[-1, ...]), right, found)
    found = where(elementwise.less(x, xp[0, ...]), left, found)
    # in NumPy, NaN is not beyond a single point
    return found if xp.size == 1 else where(elementwise.isnan(x), x, found)


def _between_points(x: Mat, xp: Mat, fp: Mat) -> Mat:
    """Return the values of the lines through neighbouring points, those of the points there.

    Where a value is no number, the line is followed from its other end, as NumPy does.
    """
    k = elementwise.subtract(searchsorted(xp, x, right=True), 1)
    low = elementwise.clip(k, 0, xp.size - 2)
    high = elementwise.add(low, 1)
    x0, y0, x1, y1 = (gathered_at(v, at, 0, (0,)) for at in (low, high) for v in (xp, fp))
    slope = elementwise.divide(elementwise.subtract(y1, y0), elementwise.subtract(x1, x0))
    found, other = (elementwise.add(elementwise.multiply(slope, elementwise.subtract(x, at)), value)
                    for at, value in ((x0, y0), (x1, y1)))
    flat = ufuncs.logical_and(elementwise.isnan(other), elementwise.equal(y0, y1))
    found = where(elementwise.isnan(found), where(flat, y0, other), found)
    found = where(elementwise.equal(x, x0), y0, found)
    return where(elementwise.equal(k, xp.size - 1), fp[-1, ...], found)


def _windows_sum(x: Mat, taps: Mat, mode: str) -> Mat:
    """Return the sums of the products of `taps` with each window of `x`, two vectors of one dtype
    with `x` not the shorter one: for windows inside of it ("valid"), as many as it has elements
    ("same"), or for all that overlap it ("full").
    """
    n, size = taps.size, x.size
    start = n - 1 if mode == "valid" else 0
    more = n - 1 if mode == "full" else 0  # windows that begin in `x`, and end after it
    sums = new_like(x, (size - start + more,), x.dtype).fill_(0)
    convolve(x, taps, sums[:size - start], start=start, anchor=n // 2 if mode == "same" else n - 1)
    if more:  # no zeros after `x`: their products with NaN would be NaN
        convolve(x, taps, sums[size:], start=size - more, anchor=0)
    return sums


def _correlated(a: Mat, v: Mat, mode: str) -> Mat:
    """Return ``sum over n of a[n + k] * v[n]`` for each shift k, of two vectors of real numbers."""
    dtype = np.result_type(a.dtype, v.dtype)
    a, v = (m.astype(dtype, copy=False) for m in (a, v))
    if v.size <= a.size:
        return _windows_sum(a, v, mode)
    return _windows_sum(v, a, mode)[::-1].copy()


def _convolved(a: Mat, v: Mat, mode: str) -> Mat:
    """Return ``sum over n of a[n] * v[k - n]`` for each k, of two vectors of real numbers."""
    longer, shorter = (a, v) if v.size <= a.size else (v, a)
    return _correlated(longer, shorter[::-1].copy(), mode)
