"""Whether two Mats share elements, decided from their layouts alone: no memory is looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import AliasError
from ..layout.merged_axes import loops
from ..matrix.mat import Mat

MOST_AXES, DEVICE_AXES = 64, 8  # that compiled kernels can walk
LARGE = 1 << 20  # bytes
_EXACT = 2**53  # integers up to here are floating-point numbers, too
_WORK: Any = 100_000  # how hard NumPy may try before the answer is "perhaps"


class _Address:
    """An array that is never touched: NumPy's overlap test looks at addresses only."""

    def __init__(self, mat: Mat) -> None:
        size = mat.itemsize
        self.__array_interface__: dict[str, Any] = {
            "version": 3, "typestr": f"|V{size}", "shape": mat.shape,
            "strides": tuple(s * size for s in mat.strides),
            "data": ((1 << 40) + mat.displacement * size, True)}


def overlap(x: Mat, y: Mat) -> bool:
    """Whether `x` and `y` see a common element; True also where deciding would take too long."""
    if x.storage is not y.storage or not x.size or not y.size:
        return False
    (low, high), (start, end) = x.layout.bounds, y.layout.bounds
    if high <= start or end <= low:
        return False
    if x.layout.contiguous and y.layout.contiguous:
        return True
    try:
        return bool(np.shares_memory(np.asarray(_Address(x)), np.asarray(_Address(y)),
                                     max_work=_WORK))
    except np.exceptions.TooHardError:
        return True


def same_elements(x: Mat, y: Mat) -> bool:
    """Whether `x` and `y` see the same elements in the same row-major order."""
    if x.storage is not y.storage or x.size != y.size:
        return False
    if x.layout.contiguous and y.layout.contiguous:
        return x.displacement == y.displacement
    return x.shape == y.shape and x.displacement == y.displacement and x.strides == y.strides


def check_disjoint(name: str, out: Mat, *inputs: Mat, same: bool = False) -> None:
    """`AliasError` if `out` shares elements with an input; with `same`, only if not all, one by
    one, are shared.
    """
    for x in inputs:
        if x.storage is out.storage and not (same and same_elements(x, out)) and overlap(x, out):
            raise AliasError(f"{name} cannot write {out.label()}, which overlaps its input "
                             f"{x.label()} of the same "
                             f"storage; pass x.copy() as the input, or another Mat to write to")


def walkable(out: Mat) -> bool:
    """Whether `out` has no more axes than a compiled kernel can walk."""
    return out.layout.ndim <= MOST_AXES


def large(out: Mat) -> bool:
    """The same, where it also pays to look for a way that threads can go."""
    return out.layout.size * out.storage.dtype.itemsize >= LARGE and walkable(out)


def one_by_one(*operands: Any) -> bool:
    """Whether a compiled kernel can go over the operands element by element, writing the last one:
    Mats and Python's own real numbers, no more axes than it can walk, none that overlaps what is
    written but as the very same elements.
    """
    out = operands[-1]
    if not walkable(out):
        return False
    for x in operands[:-1]:
        if type(x) is Mat:
            if x.storage is out.storage and x is not out and not same_elements(x, out) and overlap(x, out):
                return False
        elif type(x) is not float and (type(x) is not int or abs(x) > _EXACT):
            return False
    return True


def apart(*operands: Any) -> bool:
    """Whether a device's kernel can go over the operands element by element, writing the last one:
    no more axes than it can walk, once those that go together are one, and no Mat that overlaps
    what is written but as the very same elements.
    """
    out = operands[-1]
    mats = [x for x in operands[:-1] if type(x) is Mat]
    if out.layout.ndim > DEVICE_AXES:
        shape = out.layout.shape
        strides = [x.layout.broadcast_to(shape).strides for x in mats]
        if len(loops(shape, [*strides, out.layout.strides])) > DEVICE_AXES:
            return False
    return not any(x.storage is out.storage and x is not out and not same_elements(x, out)
                   and overlap(x, out) for x in mats)


def of_one_dtype(*operands: Any) -> bool:
    """The same, where all Mats are of one dtype."""
    dtype = operands[-1].storage.dtype
    return all(x.storage.dtype is dtype for x in operands
               if type(x) is Mat) and one_by_one(*operands)
