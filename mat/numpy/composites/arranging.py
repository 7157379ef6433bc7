"""NumPy's functions that copy elements in another arrangement: moved, repeated, side by side."""

from __future__ import annotations

from math import prod

import numpy as np

from ...layout.shapes import Ints, as_axis
from ...layout.strided import Layout
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import LeftToNumPy, leave_if
from ...ops.primitives import arrangement, joining
from ...support.dtypes import EXTENSIONS, represents
from ...support.types import Operand
from ..operands import as_mat_if_possible, as_mats
from ..registry import Result, implements
from .inserting import repeated_each
from .plain_views import numpy_diagonal
from .there import is_there, mats_there


def _integers(value: object) -> Ints:
    """Return an integer, or a sequence of some, as a tuple."""
    items = tuple(value) if isinstance(value, list | tuple) else (value,)
    leave_if(not all(isinstance(i, int | np.integer) and not isinstance(i, bool) for i in items))
    return tuple(map(int, items))


@implements("roll", of_many=True)
def numpy_roll(a: Operand, shift: Operand, axis: Operand = None) -> Result:
    shifts, axes = _integers(shift), (0,) if axis is None else _integers(axis)
    if axis is None:
        return arrangement.rolled(a.reshape(-1), [(0, n) for n in shifts]).reshape(a.shape)
    count = max(len(shifts), len(axes))
    leave_if(any(len(v) not in (1, count) for v in (shifts, axes)))
    return arrangement.rolled(a, [(axes[k % len(axes)], shifts[k % len(shifts)])
                                  for k in range(count)])


@implements("repeat", of_many=True)
def numpy_repeat(a: Operand, repeats: Operand, axis: Operand = None) -> Result:
    if not a.ndim and axis in (0, -1):
        axis = None  # as NumPy takes it
    if is_there(a) and np.ndim(repeats):
        return repeated_each(a, np.asarray(repeats), axis)
    counts = _integers(repeats)
    leave_if(len(counts) != 1 or counts[0] < 0
             or (axis is not None and type(axis) is not int))
    if axis is None:
        a, axis = a.reshape(-1), 0
    return arrangement.repeated(a, counts[0], as_axis(axis, a.ndim))


@implements("tile", of_many=True)
def numpy_tile(A: Operand, reps: Operand) -> Result:  # noqa: N803  # NumPy's name
    times = _integers(reps)
    leave_if(any(n < 0 for n in times))
    return arrangement.tiled(A, times)


@implements("diag")
def numpy_diag(v: Operand, k: int = 0) -> Result:
    leave_if(not 0 < v.ndim < 3 or type(k) is not int)
    return arrangement.on_diagonal(v, k) if v.ndim == 1 else numpy_diagonal(v, k)


@implements("tril", of_many=True)
def numpy_tril(m: Operand, k: int = 0) -> Result:
    return _triangle(m, k, False)


@implements("triu", of_many=True)
def numpy_triu(m: Operand, k: int = 0) -> Result:
    return _triangle(m, k, True)


def _triangle(m: Operand, k: int, upper: bool) -> Result:
    leave_if(type(k) is not int or m.ndim < 2
             or m.dtype.char in EXTENSIONS)
    return arrangement.triangle(m, k, upper)


@implements("meshgrid", mats=0)
def numpy_meshgrid(*xi: Operand, copy: bool = True, sparse: bool = False,
                   indexing: str = "xy") -> Result:
    mats = as_mats(xi)
    leave_if(indexing not in ("xy", "ij"))
    order = list(range(len(mats)))
    if indexing == "xy" and len(mats) > 1:
        order[:2] = 1, 0
    lines = [m.reshape(tuple(m.size if k == at else 1 for k in range(len(mats))))
             for m, at in zip(mats, order, strict=True)]
    if not sparse:
        shape = tuple(mats[order.index(k)].size for k in range(len(mats)))
        lines = [m.broadcast_to(shape) for m in lines]
    return tuple(m.copy() if copy else m for m in lines)


@implements("diagflat", on_device=1)
def numpy_diagflat(v: Operand, k: int = 0) -> Result:
    leave_if(type(k) is not int)
    return arrangement.on_diagonal(v.contiguous().reshape(-1), k)


@implements("resize", on_device=1)
def numpy_resize(a: Operand, new_shape: Operand) -> Result:
    shape = _integers(new_shape)
    leave_if(not a.size or any(n < 0 for n in shape))
    size = prod(shape)
    times = -(-size // a.size)
    return arrangement.tiled(a.contiguous().reshape(-1), (times,))[:size].reshape(shape)


@implements("block", mats=0)
def numpy_block(arrays: Operand) -> Result:
    depth, mats = _blocks(arrays)
    known = {id(m): as_mat_if_possible(m) for m in mats if not isinstance(m, tuple)}
    leave_if(len(known) < len({*map(id, mats)}))
    mats_there(*known.values())
    ndim = max(depth, *(m.ndim for m in known.values()))
    found = _joined_blocks(arrays, known, ndim, ndim - depth)
    return found if depth else found.copy()


def _blocks(arrays: Operand) -> tuple[int, list[Operand]]:
    """Return how deep lists of arrays are nested, and the arrays; none where depths differ."""
    if not isinstance(arrays, list):
        return 0, [arrays]
    found = [_blocks(a) for a in arrays]
    if not found or any(depth != found[0][0] or not mats for depth, mats in found):
        return 0, []
    return found[0][0] + 1, [m for _, mats in found for m in mats]


def _joined_blocks(arrays: Operand, known: dict[int, Mat], ndim: int, axis: int) -> Mat:
    """Return nested lists of arrays joined, the outer list along `axis`; `known` has Mats by id."""
    if isinstance(arrays, list):
        return joining.concat([_joined_blocks(a, known, ndim, axis + 1) for a in arrays], axis)
    x = known[id(arrays)]
    return x.reshape((1,) * (ndim - x.ndim) + x.shape)


@implements("fill_diagonal", on_device=1)
def numpy_fill_diagonal(a: Operand, val: Operand, wrap: bool = False) -> Result:
    leave_if(wrap or a.ndim < 2 or (a.ndim > 2 and len(set(a.shape)) > 1))
    length = min(a.shape)
    line = a.over(Layout((length,), (sum(a.element_strides),), a.displacement))
    if isinstance(val, Mat) and val.shape in ((), (length,)) and np.can_cast(
            val.dtype, a.dtype, "same_kind"):
        line.assign_(val.copy() if val.storage is a.storage else val)
    elif isinstance(val, int | float) and represents(a.dtype, val):
        line.fill_(a.dtype.type(val).item())
    else:
        raise LeftToNumPy
    return None


@implements("fft.fftshift", on_device=1)
def numpy_fftshift(x: Operand, axes: Operand = None) -> Result:
    return _shifted(x, axes, 1)


@implements("fft.ifftshift", on_device=1)
def numpy_ifftshift(x: Operand, axes: Operand = None) -> Result:
    return _shifted(x, axes, -1)


def _shifted(x: Operand, axes: Operand, sign: int) -> Result:
    """Move the first half of each axis to its end, or back where `sign` is -1."""
    found = _integers(tuple(range(x.ndim)) if axes is None else axes)
    leave_if(not all(-x.ndim <= k < x.ndim for k in found))
    return arrangement.rolled(x, [(k, sign * (x.shape[k] // 2)) for k in found])
