"""Deciding from the layouts of two Mats whether they share elements: no memory is accessed.

Layouts say so of Mats of one storage. Arrays that are operands are compared by their addresses.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd

import numpy as np

from ...cpu.elementwise import converts
from ...errors import AliasError
from ...layout.merged_axes import loops
from ...layout.shapes import Ints
from ...layout.strided import Layout
from ...matrix.mat import Mat
from ...memories.host import HOST
from ...support.dtypes import EXACT
from ...support.types import Arguments, DType, Number, Operand

MOST_AXES, DEVICE_AXES = 64, 8  # that compiled kernels can step along
LARGE = 1 << 20  # bytes
_FAR = 1 << 40  # an address, so that those before it are addresses, too
_WORK: Number = 100_000  # how hard NumPy may try before the answer is "perhaps"


class _Address:
    """An array of bytes that is never accessed: NumPy's test needs addresses only."""

    def __init__(self, shape: Ints, strides: Ints, first: int) -> None:
        self.__array_interface__: dict[str, object] = {
            "version": 3, "typestr": "|V1", "shape": shape, "strides": strides,
            "data": (_FAR + first, True)}


def overlap(x: Mat, y: Mat) -> bool:
    """Return whether `x` and `y` have a common element, or deciding takes too long."""
    if x.storage is not y.storage or not x.size or not y.size:
        return False
    a, b = x.layout, y.layout
    if x.element_size != y.element_size:
        return _meet(*_in_bytes(x), *_in_bytes(y), b.displacement * y.element_size
                     - a.displacement * x.element_size)
    return a.displacement == b.displacement or _meet(
        a.shape, a.strides, b.shape, b.strides, b.displacement - a.displacement)


def _in_bytes(x: Mat) -> tuple[Ints, Ints]:
    size = x.element_size
    return (*x.layout.shape, size), (*(s * size for s in x.layout.strides), 1)


@lru_cache(1024)  # in a loop the same views meet again and again
def _meet(shape: Ints, strides: Ints, other_shape: Ints, other_strides: Ints,
          distance: int) -> bool:
    """Return whether two layouts, the second `distance` after the first, share an element."""
    (low, high), (start, end) = _bounds(shape, strides), _bounds(other_shape, other_strides)
    if high < distance + start or distance + end < low:
        return False
    # all elements of both are a multiple of `step` apart
    step = gcd(*_steps(shape, strides), *_steps(other_shape, other_strides))
    if distance % step if step else distance:
        return False
    try:
        return bool(np.shares_memory(np.asarray(_Address(shape, strides, 0)),
                                     np.asarray(_Address(other_shape, other_strides, distance)),
                                     max_work=_WORK))
    except np.exceptions.TooHardError:
        return True


def _bounds(shape: Ints, strides: Ints) -> tuple[int, int]:
    """Return the positions of the lowest and the highest element, relative to the first one."""
    reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    return sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)


def _steps(shape: Ints, strides: Ints) -> list[int]:
    return [s for n, s in zip(shape, strides, strict=True) if n != 1]


def same_elements(x: Mat, y: Mat) -> bool:
    """Return whether `x` and `y` have the same elements in the same row-major order."""
    if (x.storage is not y.storage or x.size != y.size or x.displacement != y.displacement
            or x.element_size != y.element_size):
        return False
    a, b = x.layout, y.layout
    return (a.contiguous and b.contiguous) or _axes(a) == _axes(b)


def _axes(layout: Layout) -> list[tuple[int, int]]:
    return [(n, s) for n, s in zip(layout.shape, layout.strides, strict=True) if n != 1]


def must_copy(x: Mat, out: Mat) -> bool:
    """Return whether `x` and `out` share elements, but not each its own counterpart."""
    return (x.storage is out.storage and x is not out and not same_elements(x, out)
            and overlap(x, out))


def is_shift(x: Mat, out: Mat) -> bool:
    """Return whether all elements move by one distance and follow each other at one step."""
    a, b = x.layout, out.layout
    return a.size == b.size and ((a.contiguous and b.contiguous) or (
        len(a.shape) == len(b.shape) == 1 and a.strides == b.strides))


def apart_from(value: Operand, out: Mat) -> Operand:
    """Return a copy of an array in the host memory of `out`, or itself: its overlap is unknown."""
    if not isinstance(value, np.ndarray):
        return value
    memory = out.storage.handles.get(HOST)
    return value.copy() if memory is not None and np.may_share_memory(value, memory) else value


def check_disjoint(name: str, out: Mat, *inputs: Mat, same: bool = False) -> None:
    """Raise `AliasError` if `out` shares elements; with `same`, only if not all, one by one."""
    for x in inputs:
        if must_copy(x, out) if same else overlap(x, out):
            raise AliasError(f"{name} cannot write {out.label()}, which overlaps its input "
                             f"{x.label()} of the same "
                             f"storage; pass x.copy() as the input, or another Mat to write to")


def meets_read(args: Arguments, written: int = -1, same: bool = True) -> bool:
    """Return whether a written Mat overlaps one that is read, if `same` not one by one."""
    out = args[written]
    if not isinstance(out, Mat):
        return False
    at, meets = written % len(args), must_copy if same else overlap
    return any(k != at and isinstance(x, Mat) and x.storage is out.storage and meets(x, out)
               for k, x in enumerate(args))


def few_axes(out: Mat) -> bool:
    """Return whether `out` has no more axes than a compiled kernel can step along."""
    return out.layout.ndim <= MOST_AXES


def large(out: Mat) -> bool:
    """Return whether `out` is also so large that it pays to share it among threads."""
    return out.layout.size * out.element_type.itemsize >= LARGE and few_axes(out)


def one_by_one(*operands: Operand, dtype: DType | None = None) -> bool:
    """Return whether a kernel can take the operands, apart from the last or the same."""
    out = operands[-1]
    if not few_axes(out):
        return False
    for x in operands[:-1]:
        if type(x) is Mat:
            if must_copy(x, out):
                return False
        elif isinstance(x, complex):
            if dtype is None or dtype.kind != "c":
                return False
        elif not _adapts(x, dtype or next(v.element_type for v in operands if type(v) is Mat)):
            return False
    return True


def _adapts(x: Number, dtype: DType) -> bool:
    """Return whether compiled kernels for `dtype`, which receive the number as a double, agree with
    NumPy: one of its own scalars may promote elements to another dtype.
    """
    if isinstance(x, np.generic) and np.promote_types(x.dtype, dtype) != dtype:
        return False
    if isinstance(x, float | np.float16 | np.float32 | np.bool_):
        return True
    return isinstance(x, int | np.integer) and -EXACT <= int(x) <= EXACT


def apart(*operands: Operand) -> bool:
    """Return whether a device's kernel can take them, apart from the last or the same."""
    out = operands[-1]
    mats = [x for x in operands[:-1] if type(x) is Mat]
    if out.layout.ndim > DEVICE_AXES:
        shape = out.layout.shape
        strides = [x.layout.broadcast_to(shape).strides for x in mats]
        if len(loops(shape, [*strides, out.layout.strides])) > DEVICE_AXES:
            return False
    return not any(must_copy(x, out) for x in mats)


def converted(dtype: DType, *operands: Operand) -> bool:
    """Return whether a kernel can compute in `dtype` once other elements are converted."""
    # pieces for these have room for 8 bytes, or for the largest of what is read and written
    return one_by_one(*operands, dtype=dtype) and (dtype.itemsize <= 8 or any(
        x.element_type == dtype for x in operands if type(x) is Mat)) and all(
        x.element_type == dtype or converts(x.element_type, dtype)
        for x in operands[:-1] if type(x) is Mat)


def of_one_dtype(*operands: Operand) -> bool:
    """Return whether a compiled kernel can do so, and all Mats are of one dtype."""
    dtype = operands[-1].element_type
    return all(x.element_type is dtype for x in operands
               if type(x) is Mat) and one_by_one(*operands)
