"""Checks that the operations of BLAS share: dtypes, ranks, lengths and flags."""

from __future__ import annotations

import numpy as np

from ...errors import DTypeError, ShapeError
from ...matrix.mat import Mat
from ...support import blas_library
from ...support.dtypes import BLAS_TYPES, conversion


def blas_dtype(*mats: Mat) -> None:
    """Raise `DTypeError` unless all are of one dtype that BLAS knows."""
    first = mats[0].element_type
    if first.char not in BLAS_TYPES:
        raise DTypeError(f"BLAS knows float32, float64, complex64 and complex128, got {first}; "
                         f"{conversion(first)}")
    for other in mats[1:]:
        if other.element_type is not first and other.element_type != first:
            raise DTypeError(f"BLAS takes one dtype, got {first} and {other.dtype}; "
                             f"{conversion(other.dtype)}")


def check_matrices(name: str, *mats: Mat) -> None:
    """Raise `ShapeError` unless all are matrices, `DTypeError` unless of one dtype of BLAS."""
    blas_dtype(*mats)
    for a in mats:
        if len(a.layout.shape) != 2:
            raise ShapeError(f"{name} requires matrices, got shape {a.layout.shape}")


def check_vectors(name: str, *vectors: Mat) -> None:
    """Raise `ShapeError` for operands of more than one axis that are no vectors to BLAS."""
    for x in vectors:
        if x.layout.ndim > 1 and x.layout.vector is None:
            raise ShapeError(f"{name} requires vectors, got {x.label()}, whose elements are "
                             "unevenly spaced; contiguous() gives a copy")


def check_bool(**flags: object) -> None:
    """Raise `DTypeError` unless each is True or False."""
    for name, value in flags.items():
        if value is not True and value is not False and not isinstance(value, bool | np.bool_):
            raise DTypeError(f"{name} is True or False, got {value!r}")


def check_countable(*lengths: int) -> None:
    """Raise `ShapeError` unless BLAS can count that far, before anything is accessed."""
    if any(n > blas_library.LIMIT for n in lengths):
        raise ShapeError(f"lengths {lengths} are too much for a BLAS that counts to "
                         f"{blas_library.LIMIT}; work on parts of the matrix")
