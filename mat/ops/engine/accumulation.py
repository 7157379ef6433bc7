"""Operations that accumulate, ``y <- term + beta * y``: their checks of dtypes, shapes and factors,
and their last step on arrays.
"""

from __future__ import annotations

import numpy as np

from ...errors import DTypeError, ShapeError
from ...matrix.mat import Mat
from ...support.dtypes import conversion, is_integer
from ...support.types import Array, Engine, Number


def same_shape(*mats: Mat) -> None:
    """Raise `ShapeError` or `DTypeError` unless all have one shape and one dtype."""
    first = mats[0]
    for other in mats[1:]:
        if other.layout.shape != first.layout.shape:
            raise ShapeError(f"shapes must agree, got {first.shape} and {other.shape}")
        same_dtype(first, other)


def same_dtype(*mats: Mat) -> None:
    """Raise `DTypeError` unless all have one dtype."""
    first = mats[0].element_type
    for other in mats[1:]:
        found = other.element_type
        if found != first:
            mixed = is_integer(first) != is_integer(found)
            raise DTypeError(f"dtypes must agree, got {first} and {found}; "
                             f"{conversion(first, found) if mixed else conversion()}")


def check_factors(y: Mat, *factors: Number) -> None:
    """Raise `DTypeError` unless a Mat of integers is scaled by integers, as NumPy's ``y *= factor``
    demands.
    """
    kind = y.element_type.kind
    for factor in factors if kind in "iub" else ():
        if kind == "b" or not isinstance(factor, int | np.integer):
            raise DTypeError(f"{y.label()} cannot be scaled by {factor!r}; use x.astype('float64') "
                             "first")


def accumulate(np: Engine, term: Array, beta: Number, y: Array) -> None:
    """Compute ``y <- term + beta * y``, without reading y where `beta` is 0."""
    if beta == 0:
        np.copyto(y, term, casting="same_kind")
        return
    if beta != 1:
        np.multiply(y, beta, out=y)
    np.add(y, term, out=y)
