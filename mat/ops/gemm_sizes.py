"""The sizes of `gemm`: those that are given, m, n, k and leading dimensions, and those that shapes
imply.
"""

from __future__ import annotations

from typing import Any

from ..errors import ShapeError
from ..layout.strided import integer
from ..matrix.mat import Mat

Sizes = tuple[int, int, int]  # m, n, k


def _dimension(name: str, given: int | None, implied: int | None) -> int:
    """The length `given` explicitly, else the one that a shape implies."""
    if given is None:
        if implied is None:
            raise ShapeError("gemm of operands that are not matrices wants m, n, k, lda, ldb and "
                             f"ldc; {name} is missing")
        return implied
    if integer(given, name) < 0:
        raise ShapeError(f"{name} is a length, 0 or more, got {given}")
    return given


def _inner(x: Any, axis: int) -> int | None:
    return x.shape[axis] if len(x.shape) == 2 else None


def _check_explicit(name: str, x: Mat, rows: int, columns: int, ld: int | None) -> None:
    """`ShapeError` unless `x` holds `rows` x `columns` elements, rows `ld` apart."""
    layout = x.layout
    if ld is None:
        if layout.ndim != 2:
            raise ShapeError(f"{name} of shape {x.shape} is not a matrix: give its leading "
                             f"dimension, ld{name}")
        fits = rows <= layout.shape[0] and columns <= layout.shape[1]
        strided = layout.matrix is None and (rows, columns) != layout.shape
    else:
        _check_leading(name, ld, columns)
        fits = not rows or not columns or (rows
                                           - 1) * ld + columns <= layout.bounds[1] - layout.bounds[0]
        strided = not layout.contiguous and layout.matrix != (ld, False)
    if strided:
        raise ShapeError(f"{name} with strides {x.strides} cannot take these dimensions; "
                         f"{name}.contiguous() can")
    if not fits:
        raise ShapeError(f"{rows} rows of {columns}, ld{name} = {ld}, do not fit in {name} of "
                         f"shape {x.shape}")


def _check_leading(name: str, ld: int, columns: int) -> None:
    if not max(1, columns) <= integer(ld, f"ld{name}"):
        raise ShapeError(f"ld{name} = {ld} is less than {max(1, columns)}, the elements of a row "
                         f"of {name}")


def dimensions(a: Any, b: Any, c: Any, transpose_a: bool, transpose_b: bool, m: int | None,
               n: int | None,
                k: int | None) -> Sizes:
    return (_dimension("m", m, _inner(c, 0)), _dimension("n", n, _inner(c, 1)),
            _dimension("k", k, _inner(a, 0 if transpose_a else 1)))


def check_parts(a: Mat, b: Mat, c: Mat, transpose_a: bool, transpose_b: bool, sizes: Sizes,
                lda: int | None,
                 ldb: int | None, ldc: int | None) -> None:
    m, n, k = sizes
    _check_explicit("a", a, *((k, m) if transpose_a else (m, k)), lda)
    _check_explicit("b", b, *((n, k) if transpose_b else (k, n)), ldb)
    _check_explicit("c", c, m, n, ldc)
