"""Checks that the operations of BLAS share: dtypes, ranks, flags, lengths, leading dimensions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import DTypeError, ShapeError
from ...layout.matrix_operand import GemmSizes
from ...layout.shapes import integer
from ...matrix.mat import Mat
from ...support import blas_library
from ...support.dtypes import BLAS_TYPES, conversion
from ...support.types import Array

# keywords of a product; those that are False are left out, as in its key
TRANSPOSES: dict[tuple[bool, bool], dict[str, bool]] = {
    (False, False): {}, (True, False): {"transpose_a": True}, (False, True): {"transpose_b": True},
    (True, True): {"transpose_a": True, "transpose_b": True}}


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


class GemmParts(NamedTuple):
    """The lengths and leading dimensions given to `gemm`; None: those of the shapes."""

    m: int | None = None
    n: int | None = None
    k: int | None = None
    lda: int | None = None
    ldb: int | None = None
    ldc: int | None = None

    def sizes(self, a: Mat | Array, c: Mat | Array, transpose_a: bool) -> GemmSizes:
        """Return the lengths of the product; `ShapeError` if one is neither given nor implied."""
        return GemmSizes(_length("m", self.m, c, 0), _length("n", self.n, c, 1),
                         _length("k", self.k, a, 0 if transpose_a else 1))

    def check(self, a: Mat, b: Mat, c: Mat, transpose_a: bool, transpose_b: bool) -> None:
        """Raise `ShapeError` unless the operands have these parts."""
        m, n, k = self.sizes(a, c, transpose_a)
        _check_part("a", a, (k, m) if transpose_a else (m, k), self.lda)
        _check_part("b", b, (n, k) if transpose_b else (k, n), self.ldb)
        _check_part("c", c, (m, n), self.ldc)


def _length(name: str, given: int | None, x: Mat | Array, axis: int) -> int:
    """Return the length `given`, else that of an axis of `x`."""
    if given is None:
        if len(x.shape) != 2:
            raise ShapeError("gemm of operands that are not matrices requires m, n, k, lda, ldb "
                             f"and ldc; {name} is missing")
        return x.shape[axis]
    if integer(given, name) < 0:
        raise ShapeError(f"{name} is a length, 0 or more, got {given}")
    return given


def _check_part(name: str, x: Mat, shape: tuple[int, int], ld: int | None) -> None:
    """Raise `ShapeError` unless `x` has a part of that shape, with rows `ld` apart."""
    (rows, columns), layout = shape, x.layout
    if ld is None:
        if layout.ndim != 2:
            raise ShapeError(f"{name} of shape {x.shape} is not a matrix: give its leading "
                             f"dimension, ld{name}")
        fits = rows <= layout.shape[0] and columns <= layout.shape[1]
        strided = layout.matrix is None and shape != layout.shape
    else:
        if not max(1, columns) <= integer(ld, f"ld{name}"):
            raise ShapeError(f"ld{name} = {ld} is less than {max(1, columns)}, the elements of a "
                             f"row of {name}")
        reach = layout.bounds[1] - layout.bounds[0]
        fits = not rows or not columns or (rows - 1) * ld + columns <= reach
        strided = not layout.contiguous and layout.matrix != (ld, False)
    if strided:
        raise ShapeError(f"{name} with strides {x.strides} cannot take these dimensions; "
                         f"{name}.contiguous() can")
    if not fits:
        raise ShapeError(f"{rows} rows of {columns}, ld{name} = {ld}, do not fit in {name} of "
                         f"shape {x.shape}")
