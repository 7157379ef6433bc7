"""The lengths and leading dimensions of `gemm`, given or implied by shapes."""

from __future__ import annotations

from typing import NamedTuple

from ...errors import ShapeError
from ...layout.matrix_operand import GemmSizes
from ...layout.shapes import integer
from ...matrix.mat import Mat
from ...support.types import Array


class GemmParts(NamedTuple):
    """The lengths and leading dimensions given to `gemm`; None: those of the shapes."""

    m: int | None = None
    n: int | None = None
    k: int | None = None
    lda: int | None = None
    ldb: int | None = None
    ldc: int | None = None

    @property
    def leading(self) -> tuple[int | None, int | None, int | None]:
        """The leading dimensions of A, B and C."""
        return self[3:]

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
        _check_leading(name, ld, columns)
        reach = layout.bounds[1] - layout.bounds[0]
        fits = not rows or not columns or (rows - 1) * ld + columns <= reach
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
