"""Matrices whose rows or columns are multiplied by one factor each."""

from __future__ import annotations

from ...errors import ShapeError
from ...matrix.mat import Mat, new_like
from ...matrix.methods import method
from ...support.dtypes import EVERY, REAL_TYPES
from ...support.native import compiled
from ...support.types import Array, Engine, Operand
from ..engine.accumulation import same_dtype
from ..engine.operation import Input, Output, op
from ..tiles.overlap import check_disjoint
from ..tiles.signatures import over


def _check_scales(name: str, scales: Mat, a: Mat, out: Mat, axis: int) -> None:
    same_dtype(a, scales, out)
    if a.ndim != 2 or scales.size != a.shape[axis] or out.shape != a.shape:
        raise ShapeError(f"{name} requires {'rows' if axis == 0 else 'columns'} of a matrix as "
                         "many as scales, got scales "
                         f"{scales.shape}, a {a.shape} and out {out.shape}")


def _scales_fit(scales: Mat, a: Mat, out: Mat) -> bool:
    """Return whether the kernel of products can take the scales as a vector; the check has seen to
    overlaps.
    """
    return scales.layout.contiguous or scales.layout.vector is not None


@op(method="", by_form=True, name="scale_rows")
def rows_scaled(scales: Input, a: Input, out: Output) -> None:
    """Compute ``out <- diag(scales) a``."""
    _check_scales("scale_rows", scales, a, out, 0)
    check_disjoint("scale_rows", out, scales)
    check_disjoint("scale_rows", out, a, same=True)


rows_scaled.cut_by(over(rows_scaled, "i,ij,ij", free=True))
rows_scaled.reads_once = True


@rows_scaled.prepare("cuda", dtypes=EVERY, when=_scales_fit)
@rows_scaled.prepare("foreign", dtypes=compiled(REAL_TYPES), when=_scales_fit)
def scale_rows_kernel(engine: Engine, scales: Mat, a: Mat, out: Mat) -> object:
    """Return the kernel of products, with the scales as a column."""
    layouts = scales.layout.reshape((scales.size, 1)), a.layout, out.layout
    return engine.prepare_elementwise("multiply", scales, a, out, layouts=layouts)


@rows_scaled.on("array")
def scale_rows_numpy(np: Engine, scales: Array, a: Array, out: Array) -> None:
    """Multiply by the scales, as a column."""
    np.multiply(a, scales.reshape(-1, 1), out=out)


@op(method="", by_form=True, name="scale_columns")
def columns_scaled(scales: Input, a: Input, out: Output) -> None:
    """Compute ``out <- a diag(scales)``."""
    _check_scales("scale_columns", scales, a, out, 1)
    check_disjoint("scale_columns", out, scales)
    check_disjoint("scale_columns", out, a, same=True)


columns_scaled.cut_by(over(columns_scaled, "j,ij,ij", free=True))
columns_scaled.reads_once = True


@columns_scaled.prepare("cuda", dtypes=EVERY, when=_scales_fit)
@columns_scaled.prepare("foreign", dtypes=compiled(REAL_TYPES), when=_scales_fit)
def scale_columns_kernel(engine: Engine, scales: Mat, a: Mat, out: Mat) -> object:
    """Return the kernel of products, with the scales as a row."""
    layouts = scales.layout.reshape((1, scales.size)), a.layout, out.layout
    return engine.prepare_elementwise("multiply", scales, a, out, layouts=layouts)


@columns_scaled.on("array")
def scale_columns_numpy(np: Engine, scales: Array, a: Array, out: Array) -> None:
    """Multiply by the scales, as a row."""
    np.multiply(a, scales.reshape(1, -1), out=out)


def _new_or(out: Mat | None, a: Operand) -> Operand:
    """Return `out`, or a new Mat like `a`."""
    if out is not None or not isinstance(a, Mat):
        return out
    return new_like(a, a.shape, a.dtype)


def scale_rows(scales: Mat, a: Mat, out: Mat | None = None) -> Mat:
    """Return ``diag(scales) a``: row i times ``scales[i]``.

    Parameters
    ----------
    scales : Mat
        A factor for each row, of the dtype of `a`.
    a : Mat
        Matrix.
    out : Mat, optional
        Is overwritten with the result; it may be `a`.

    Returns
    -------
    Mat
        `out`, or a new Mat.

    Raises
    ------
    ShapeError
        If there are not as many factors as rows, or the shapes differ.
    DTypeError
        If the dtypes differ.
    AliasError
        If `out` overlaps `scales`, or a part of `a`.

    Examples
    --------
    >>> import mat
    >>> mat.scale_rows(mat.array([1.0, 10]), mat.ones(2, 2))
    <Mat 2x2 F [[1. 1.] [10. 10.]]>
    """
    return rows_scaled(scales, a, _new_or(out, a))


def scale_columns(scales: Mat, a: Mat, out: Mat | None = None) -> Mat:
    """Return ``a diag(scales)``: column j times ``scales[j]``.

    Parameters
    ----------
    scales : Mat
        A factor for each column, of the dtype of `a`.
    a : Mat
        Matrix.
    out : Mat, optional
        Is overwritten with the result; it may be `a`.

    Returns
    -------
    Mat
        `out`, or a new Mat.

    Raises
    ------
    ShapeError
        If there are not as many factors as columns, or the shapes differ.
    DTypeError
        If the dtypes differ.
    AliasError
        If `out` overlaps `scales`, or a part of `a`.

    Examples
    --------
    >>> import mat
    >>> mat.scale_columns(mat.array([1.0, 10]), mat.ones(2, 2))
    <Mat 2x2 F [[1. 10.] [1. 10.]]>
    """
    return columns_scaled(scales, a, _new_or(out, a))


@method("scale_rows_")
def scale_rows_(self: Mat, scales: Mat) -> Mat:
    """Compute ``self <- diag(scales) self`` and return self.

    Parameters
    ----------
    scales : Mat
        A factor for each row, of the dtype of self.

    Returns
    -------
    Mat
        self.

    Raises
    ------
    ShapeError
        If there are not as many factors as rows.
    DTypeError
        If the dtypes differ.
    AliasError
        If self overlaps `scales`.
    """
    return rows_scaled(scales, self, self)


@method("scale_columns_")
def scale_columns_(self: Mat, scales: Mat) -> Mat:
    """Compute ``self <- self diag(scales)`` and return self.

    Parameters
    ----------
    scales : Mat
        A factor for each column, of the dtype of self.

    Returns
    -------
    Mat
        self.

    Raises
    ------
    ShapeError
        If there are not as many factors as columns.
    DTypeError
        If the dtypes differ.
    AliasError
        If self overlaps `scales`.
    """
    return columns_scaled(scales, self, self)
