"""Predicates on the operands of NumPy's functions and ufuncs, and their conversion to Mats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

import numpy as np

from ..errors import DTypeError, ShapeError
from ..matrix.creation import adopted, from_numpy
from ..matrix.mat import Mat
from ..ops.engine.by_numpy import LeftToNumPy, leave_if
from ..ops.engine.operands import as_mat
from ..ops.engine.operands import as_mats as mats_of
from ..support.dtypes import is_known_dtype
from ..support.types import Array, Operand

_SEQUENCES = (list, tuple)


def is_mat_or_array(value: object) -> TypeGuard[Mat | Array]:
    """Return whether `value` is a Mat, or an array of a dtype that a Mat can have."""
    return isinstance(value, Mat) or (type(value) is np.ndarray and is_known_dtype(value.dtype))


def is_mat_or_none(out: object) -> bool:
    """Return whether operations of `mat` accept `out` as their ``out=``."""
    return out is None or isinstance(out, Mat)


def can_hold_sums(out: object) -> bool:
    """Return whether reductions of `mat` write NumPy's results to `out`.

    NumPy computes in the dtype of `out`, which makes a difference for bool.
    """
    return out is None or (isinstance(out, Mat) and out.dtype.kind != "b")


def as_mats(values: object) -> list[Mat]:
    """Return the operands, of which there are some, as Mats; leave others to NumPy."""
    if not isinstance(values, _SEQUENCES) or not values:
        raise LeftToNumPy
    found: list[Mat] = []
    for x in values:
        if isinstance(x, Mat):
            found.append(x)
        else:
            leave_if(not is_mat_or_array(x))
            found.append(from_numpy(x) if x.flags.aligned else adopted(x.copy()))
    return found


def as_mat_if_possible(value: object) -> Operand:
    """Return an array-like as a Mat; as it is, for NumPy, if a Mat cannot have its elements."""
    if isinstance(value, Mat) or value is None or type(value) is str:
        return value
    try:
        return as_mat(value, "an operand")
    except (DTypeError, ShapeError):
        return value


def as_mats_if_possible(values: Iterable[object]) -> list[Operand]:
    """Return the values as Mats, numbers adapted, or all as they are if one cannot be."""
    try:
        return [*mats_of(values, "an operand")]
    except (DTypeError, ShapeError):
        return [*values]
