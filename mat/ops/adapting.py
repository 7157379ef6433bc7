"""Operands that are converted before all are checked: Python's integers beyond the range of a Mat's
dtype, where NumPy takes them (in comparisons, and in division, whose result is of floating point),
and what is not bool for the logic of devices.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from ..core.compiled import IN_USE
from ..devices.device import in_use
from ..errors import RangeError
from ..matrix.mat import Mat
from ..support.dtypes import represents
from ..support.types import Arguments, DType, Number, Operand

_NUMBERS = (int, float, complex, np.number)


def as_booleans(args: Arguments) -> Arguments:
    """Return the arguments of logic with numbers as booleans, since kernels that compute with these
    would convert 0.5 to 0; on a device with kernels of its own, which converts to no lower kind,
    with Mats as booleans, too.
    """
    x, y, out = args
    mats = bool(IN_USE) and bool(in_use().implementations)
    return _truth(x, mats), _truth(y, mats), out


def _truth(value: Operand, mats: bool) -> Operand:
    if isinstance(value, _NUMBERS):
        return bool(value)
    return value != 0 if mats and isinstance(value, Mat) and value.dtype.kind != "b" else value


def beyond_integers(args: Arguments) -> Arguments:
    """Return the arguments of a comparison with an infinity for such an integer."""
    return _adapted(args, lambda value: math.inf if value > 0 else -math.inf)


def as_floats(args: Arguments) -> Arguments:
    """Return the arguments of a division with such an integer as a float."""
    return _adapted(args, _as_float)


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise RangeError(f"an integer of {value.bit_length()} bits is too large for "
                         "float64") from None


def _adapted(args: Arguments, change: Number) -> Arguments:
    x, y, out = args
    one, other = _dtype_of(x), _dtype_of(y)
    if type(x) is int and other is not None and not represents(other, x):
        return change(x), y, out
    if type(y) is int and one is not None and not represents(one, y):
        return x, change(y), out
    return args


def _dtype_of(value: object) -> DType | None:
    """Return the dtype of a Mat of integers."""
    if not isinstance(value, Mat):
        return None
    dtype = cast("np.dtype[np.generic]", value.storage.dtype)
    return dtype if dtype.kind in "iu" else None
