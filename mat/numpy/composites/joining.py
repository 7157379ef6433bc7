"""NumPy's functions that join arrays along an axis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...devices.in_use import computes_elsewhere
from ...errors import ShapeError
from ...layout.shapes import as_axis
from ...matrix.joined import joined_along, stacked_along
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.primitives import joining
from ...support.types import DTypeLike, Function, Operand
from ..operands import as_mats, is_mat_or_none
from ..registry import Casting, Result, implements


def _join(arrays: object, axis: Operand, out: Operand, dtype: DTypeLike, casting: Casting,
          join: Callable[[list[Mat], int], Mat]) -> Result:
    """Call ``join(parts, axis)`` with the arrays as Mats."""
    parts = as_mats(arrays)
    leave_if(dtype is not None or casting != "same_kind" or type(axis) is not int)
    leave_if(not is_mat_or_none(out)
             or (out is not None and not np.can_cast(np.result_type(*(m.dtype for m in parts)),
             out.dtype, casting)))
    return join(parts, axis)


@implements("concatenate", mats=0)
def numpy_concatenate(arrays: Operand, /, axis: int | None = 0, out: Operand = None, *,
                      dtype: DTypeLike = None, casting: Casting = "same_kind") -> Result:
    if out is None and dtype is None and casting == "same_kind":
        found = joined_along(arrays, axis)
        if found is not None:
            return found
        if axis is None:
            parts = as_mats(arrays)
            leave_if(not computes_elsewhere(*parts))
            return joining.concat(parts, None)
    return _join(arrays, axis, out, dtype, casting,
                 lambda parts, axis: joining.concat(parts, axis, out))


@implements("stack", mats=0)
def numpy_stack(arrays: Operand, axis: int = 0, out: Operand = None, *, dtype: DTypeLike = None,
                casting: Casting = "same_kind") -> Result:
    if out is None and dtype is None and casting == "same_kind":
        found = stacked_along(arrays, axis)
        if found is not None:
            return found

    def join(parts: list[Mat], axis: int) -> Result:
        k = as_axis(axis, parts[0].ndim + 1)
        if any(m.shape != parts[0].shape for m in parts):
            raise ShapeError("stack requires equal shapes, got "
                             f"{', '.join(str(m.shape) for m in parts)}")
        return joining.concat([m.expand_dims(k) for m in parts], k, out)
    return _join(arrays, axis, out, dtype, casting, join)


def _join_raised(tup: Operand, raised: Callable[[Mat], Mat], axis: int,
                 dtype: DTypeLike = None, casting: Casting = "same_kind") -> Result:
    """Give all arrays the rank of the result, and join them along that axis of it."""
    return _join(tup, axis, None, dtype, casting,
                 lambda parts, k: joining.concat(list(map(raised, parts)), k))


def _with_axis(m: Mat) -> Mat:
    """Return a Mat without axes as a row of one element, and others as they are."""
    return m if m.layout.shape else m.expand_dims(0)


def _as_rows(m: Mat) -> Mat:
    """Return a Mat of at most one axis as a matrix of one row, and others as they are."""
    if m.ndim > 1:
        return m
    return m.expand_dims(0) if m.ndim else m.reshape(1, 1)


def _as_columns(m: Mat) -> Mat:
    """Return a Mat of at most one axis as a matrix of one column, and others as they are."""
    if m.ndim > 1:
        return m
    return m.expand_dims(1) if m.ndim else m.reshape(1, 1)


@implements("vstack", mats=0)
def numpy_vstack(tup: Operand, *, dtype: DTypeLike = None,
                 casting: Casting = "same_kind") -> Result:
    if dtype is None and casting == "same_kind":
        found = joined_along(tup, 0) if _are_matrices(tup) else stacked_along(tup, 0)
        if found is not None and found.ndim > 1:
            return found
    return _join_raised(tup, _as_rows, 0, dtype, casting)


def _are_matrices(tup: Operand) -> bool:
    """Return whether the first of several Mats has two axes or more."""
    return type(tup) in _SEQUENCES and bool(tup) and type(tup[0]) is Mat and tup[0].ndim > 1


_SEQUENCES = frozenset((list, tuple))


@implements("hstack", mats=0)
def numpy_hstack(tup: Operand, *, dtype: DTypeLike = None,
                 casting: Casting = "same_kind") -> Result:
    if dtype is None and casting == "same_kind":
        found = joined_along(tup, 1 if _are_matrices(tup) else 0)
        if found is not None:
            return found
    return _join(tup, 0, None, dtype, casting, _joined_beside)


def _joined_beside(parts: list[Mat], _: int) -> Mat:
    """Join along the second axis; along the first one if there is no other."""
    whole = list(map(_with_axis, parts))
    return joining.concat(whole, 0 if whole[0].ndim == 1 else 1)


@implements("dstack", mats=0)
def numpy_dstack(tup: Operand) -> Result:
    raised: Function = np.atleast_3d
    return _join_raised(tup, raised, 2)


@implements("column_stack", mats=0)
def numpy_column_stack(tup: Operand) -> Result:
    found = joined_along(tup, 1) if _are_matrices(tup) else stacked_along(tup, 1)
    if found is not None and found.ndim == 2:
        return found
    return _join_raised(tup, _as_columns, 1)
