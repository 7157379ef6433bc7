"""Deciding from the layouts of two Mats whether they share elements: no memory is accessed."""

from __future__ import annotations

import numpy as np

from ..errors import AliasError
from ..layout.merged_axes import loops
from ..matrix.mat import Mat
from ..support.types import Number, Operand

MOST_AXES, DEVICE_AXES = 64, 8  # that compiled kernels can step along
LARGE = 1 << 20  # bytes
_EXACT = 2**53  # integers up to here are floating-point numbers, too
_WORK: Number = 100_000  # how hard NumPy may try before the answer is "perhaps"


class _Address:
    """An array that is never accessed: NumPy's overlap test needs addresses only."""

    def __init__(self, mat: Mat) -> None:
        size = mat.itemsize
        self.__array_interface__: dict[str, object] = {
            "version": 3, "typestr": f"|V{size}", "shape": mat.shape,
            "strides": tuple(s * size for s in mat.strides),
            "data": ((1 << 40) + mat.displacement * size, True)}


def overlap(x: Mat, y: Mat) -> bool:
    """Return whether `x` and `y` have a common element; True also where deciding would take too
    long.
    """
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
    """Return whether `x` and `y` have the same elements in the same row-major order."""
    if x.storage is not y.storage or x.size != y.size:
        return False
    if x.layout.contiguous and y.layout.contiguous:
        return x.displacement == y.displacement
    return x.shape == y.shape and x.displacement == y.displacement and x.strides == y.strides


def check_disjoint(name: str, out: Mat, *inputs: Mat, same: bool = False) -> None:
    """Raise `AliasError` if `out` shares elements with an input; with `same`, only if not all, one
    by one, are shared.
    """
    for x in inputs:
        if x.storage is out.storage and not (same and same_elements(x, out)) and overlap(x, out):
            raise AliasError(f"{name} cannot write {out.label()}, which overlaps its input "
                             f"{x.label()} of the same "
                             f"storage; pass x.copy() as the input, or another Mat to write to")


def few_axes(out: Mat) -> bool:
    """Return whether `out` has no more axes than a compiled kernel can step along."""
    return out.layout.ndim <= MOST_AXES


def large(out: Mat) -> bool:
    """Return whether `out` is also so large that it pays to share it among threads."""
    return out.layout.size * out.storage.dtype.itemsize >= LARGE and few_axes(out)


def one_by_one(*operands: Operand) -> bool:
    """Return whether a compiled kernel can compute the operands element by element, writing the
    last one.

    They are Mats and Python's own real numbers, with no more axes than it can step along, and none
    overlaps what is written but as the very same elements.
    """
    out = operands[-1]
    if not few_axes(out):
        return False
    for x in operands[:-1]:
        if type(x) is Mat:
            if (x.storage is out.storage and x is not out and not same_elements(x, out)
                    and overlap(x, out)):
                return False
        elif type(x) is not float and (type(x) is not int or abs(x) > _EXACT):
            return False
    return True


def apart(*operands: Operand) -> bool:
    """Return whether a device's kernel can compute the operands element by element, writing the
    last one.

    They have no more axes than it can step along, once those that can be merged are one, and no Mat
    overlaps what is written but as the very same elements.
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


def of_one_dtype(*operands: Operand) -> bool:
    """Return whether a compiled kernel can do so, and all Mats are of one dtype."""
    dtype = operands[-1].storage.dtype
    return all(x.storage.dtype is dtype for x in operands
               if type(x) is Mat) and one_by_one(*operands)
