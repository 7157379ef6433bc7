"""NumPy's functions of bits, on devices."""

from __future__ import annotations

import numpy as np

from ...layout.shapes import as_axis
from ...matrix.creation import adopted
from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import leave_if
from ...ops.primitives import elementwise, reduce, ufuncs
from ...ops.primitives.joining import concat
from ...ops.primitives.selecting import is_true
from ...support.types import Operand
from ..registry import Result, composes, implements
from .there import as_dtype, with_axis_moved

_BYTE = np.dtype(np.uint8)
_PAIRS, _FOURS, _EIGHTS, _ONES = (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F,
                                  0x0101010101010101)


@composes("bitwise_count")
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
    leave_if(type(axis) is not int or not -a.ndim <= axis < a.ndim)
    k = as_axis(axis, a.ndim)
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
    leave_if(type(axis) is not int or not -a.ndim <= axis < a.ndim
             or not (count is None or type(count) is int))
    k = as_axis(axis, a.ndim)
    most = 8 * a.shape[k]
    # more bits than there are, or NumPy's error
    leave_if(count is not None and not -most <= count <= most)
    bytes_last = with_axis_moved(a, k, -1).expand_dims(-1)
    bits = ufuncs.bitwise_and(bytes_last >> _shifts(bitorder), 1)
    found = bits.reshape((*bits.shape[:-2], most))
    return with_axis_moved(found if count is None else found[..., :count], -1, k)
