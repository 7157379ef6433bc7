"""NumPy's inverse, solver, Cholesky factor, and on devices determinants."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from ....matrix.creation import adopted
from ....matrix.mat import Mat
from ....ops import linalg
from ....support.dtypes import BLAS_TYPES
from ....support.types import Function, Operand
from ..registry import Result, implements
from .there import is_there


def _is_square(a: object) -> TypeGuard[Mat]:
    """Return whether `a` is a square matrix of a BLAS dtype, or a stack of them."""
    return (isinstance(a, Mat) and a.dtype.char in BLAS_TYPES and a.ndim >= 2
            and a.shape[-1] == a.shape[-2])


@implements("linalg.inv")
def numpy_linalg_inv(a: Operand) -> Result:
    return linalg.inv(a) if _is_square(a) else NotImplemented


@implements("linalg.solve")
def numpy_linalg_solve(a: Operand, b: Operand) -> Result:
    plain = (_is_square(a) and isinstance(b, Mat) and b.dtype.char in BLAS_TYPES
             and b.ndim > 0)
    return linalg.solve(a, b) if plain else NotImplemented


@implements("linalg.cholesky")
def numpy_linalg_cholesky(a: Operand, /, *, upper: bool = False) -> Result:
    return linalg.cholesky(a) if _is_square(a) and not upper else NotImplemented


@implements("linalg.slogdet")
def numpy_linalg_slogdet(a: Operand) -> Result:
    if not _has_determinant(a):
        return NotImplemented
    sign, logarithm = linalg.slogdet(a)
    real = np.dtype(a.dtype.char.lower())
    named: Function = type(np.linalg.slogdet(np.ones((1, 1))))  # NumPy's tuple
    return named(adopted(np.asarray(sign, a.dtype)), adopted(np.asarray(logarithm, real)))


@implements("linalg.det")
def numpy_linalg_det(a: Operand) -> Result:
    if not _has_determinant(a):
        return NotImplemented
    sign, logarithm = linalg.slogdet(a)
    with np.errstate(over="ignore"):
        return adopted(np.asarray(sign * np.exp(logarithm), a.dtype))


def _has_determinant(a: Operand) -> bool:
    """Return whether `a` is one matrix on a device that computes the determinant."""
    return is_there(a) and _is_square(a) and a.ndim == 2 and a.size > 0
