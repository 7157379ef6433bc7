"""NumPy's inverse, solver and Cholesky factor."""

from __future__ import annotations

from typing import TypeGuard

from ....matrix.mat import Mat
from ....ops import linalg
from ....support.dtypes import BLAS_TYPES
from ....support.types import Operand
from ..registry import Result, implements


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
