"""What operators and functions of Mats take besides Mats: arrays, sequences and numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import DTypeError, ShapeError
from ..matrix.creation import adopted, from_numpy
from ..matrix.joined import stacked_at_once
from ..matrix.mat import Mat
from ..support.dtypes import SUPPORTED, check_operand, is_masked
from ..support.types import Operand

_NUMBERS = (int, float, complex, np.number, np.bool_)


def as_operand(value: object, name: str) -> Operand:
    """Return `value` as an operand: a Mat or a number as it is, an array wrapped without copying,
    a sequence, or what has a method ``__array__``, as the Mat of what NumPy makes of it.
    """
    if isinstance(value, Mat):
        return value
    if isinstance(value, np.ndarray):
        return from_numpy(value) if value.flags.aligned else adopted(value.copy())
    if isinstance(value, list | tuple):
        return _of_sequence(value, name)
    if _becomes_array(value):
        return as_operand(np.asarray(value), name)
    check_operand(value, np.dtype(np.float64), name)
    return value


def _becomes_array(value: object) -> bool:
    """Return whether `value` can be converted to an array, as a column of a table can be, and says
    no other way in which NumPy's functions compute with it, as an array of dask does.
    """
    kind = type(value)
    return (hasattr(kind, "__array__") and not hasattr(kind, "__array_function__")
            and not isinstance(value, np.generic))


def as_mat(value: object, name: str) -> Mat:
    """Return `value` as `as_operand` does; a number as a Mat without axes."""
    found = as_operand(value, name)
    return found if isinstance(found, Mat) else from_numpy(np.asarray(found))


def _of_sequence(value: Sequence[object], name: str) -> Mat:
    stacked = stacked_at_once(value)
    if stacked is not None:
        return stacked
    try:
        a = np.asarray(value)
    except ValueError:
        raise ShapeError(f"{name} is a sequence of parts of different lengths: "
                         f"{shortened(value)}; make them of one length") from None
    if a.dtype.name not in SUPPORTED:
        raise DTypeError(f"{name} has elements that are not numbers: {shortened(value)}")
    return from_numpy(a)


def shortened(value: object) -> str:
    """Return the value in so many letters as a message can have."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_operand(value: object) -> bool:
    """Return whether an operator can take `value`, or should leave it to the other side."""
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray or not (has_its_own_way(value)
                                                 or is_masked(value))
    return (isinstance(value, (Mat, list, tuple, *_NUMBERS))
            or (np.isscalar(value) and hasattr(value, "dtype")))


def has_its_own_way(value: object) -> bool:
    """Return whether the class of `value` defines itself what ufuncs do with it."""
    hook = getattr(type(value), "__array_ufunc__", np.ndarray.__array_ufunc__)
    return hook is not np.ndarray.__array_ufunc__ and not isinstance(value, Mat)
