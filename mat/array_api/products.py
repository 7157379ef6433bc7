"""Products of matrices by the standard's functions: all by `mat.matmul`, and so by BLAS, on the
device in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ..errors import ShapeError
from ..interop.numpy.operators import by_numpy
from ..layout.shapes import Ints, as_axes, as_axis, broadcast_shapes, integer
from ..matrix.mat import Mat
from ..ops.linalg import matmul as _matmul
from ..support.types import ArrayLike, AxisLike
from .arguments import mat_of
from .manipulation import moveaxis, reshape

__all__ = ["matmul", "tensordot", "vecdot"]

AxesPair = int | Sequence[AxisLike]  # a number of axes, or the axes of each operand


def matmul(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return the matrix product; vectors and stacks of matrices by NumPy's rules.

    Parameters
    ----------
    x1, x2 : array
        Of shapes (..., m, k) and (..., k, n), or (k,).

    Returns
    -------
    Mat
        Of shape (..., m, n), without the axis of a vector.
    """
    found: Mat = _matmul(mat_of(x1), mat_of(x2))
    return found


def einsum(subscripts: str, /, *operands: ArrayLike) -> Mat:
    """Return Einstein's sum, by NumPy on the host.

    It is not in the standard, and so not among the namespace's names: xarray looks for it there.

    Parameters
    ----------
    subscripts : str
        As for ``numpy.einsum``.
    *operands : array
        Of the shapes that the subscripts name.

    Returns
    -------
    Mat
        With the axes that the subscripts name.

    Examples
    --------
    >>> from mat import array_api as xp
    >>> xp.einsum("ij->i", xp.ones((2, 3)))
    <Mat 2 A [3. 3.]>
    """
    return by_numpy(np.einsum, subscripts, *map(mat_of, operands))


def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: AxesPair = 2) -> Mat:
    """Return the sum of products over `axes`.

    Parameters
    ----------
    x1, x2 : array
        Of any shapes.
    axes : int or pair of sequences
        The number of the last axes of `x1` and first of `x2`, or the axes of each.

    Returns
    -------
    Mat
        Its axes are the remaining ones of `x1` and `x2`.
    """
    x1, x2 = mat_of(x1), mat_of(x2)
    left, right = _contracted(x1, x2, axes)
    if [x1.shape[k] for k in left] != [x2.shape[k] for k in right]:
        raise ShapeError(f"tensordot: axes {left} of {x1.shape} and {right} of {x2.shape} differ "
                         "in length")
    rows = tuple(k for k in range(x1.ndim) if k not in left)
    columns = tuple(k for k in range(x2.ndim) if k not in right)
    inner = prod(x1.shape[k] for k in left)
    outer = tuple(x1.shape[k] for k in rows), tuple(x2.shape[k] for k in columns)
    a = reshape(x1.permute((*rows, *left)), (prod(outer[0]), inner))
    b = reshape(x2.permute((*right, *columns)), (inner, prod(outer[1])))
    product: Mat = _matmul(a, b)
    return product.reshape((*outer[0], *outer[1]))


def _contracted(x1: Mat, x2: Mat, axes: AxesPair) -> tuple[Ints, Ints]:
    """Return the axes of each operand that are summed over."""
    if isinstance(axes, tuple | list):
        if len(axes) != 2:
            raise ShapeError(f"axes is a number, or those of x1 and those of x2, got {axes}")
        left, right = as_axes(axes[0], x1.ndim), as_axes(axes[1], x2.ndim)
        if len(left) != len(right):
            raise ShapeError(f"tensordot wants as many axes of both, got {axes}")
        return left, right
    count = integer(axes, "axes")
    if not 0 <= count <= min(x1.ndim, x2.ndim):
        raise ShapeError(f"tensordot over {count} axes wants as many of both, got shapes "
                         f"{x1.shape} and {x2.shape}")
    return tuple(range(x1.ndim - count, x1.ndim)), tuple(range(count))


def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Mat:
    """Return the sum of products along `axis`, with `x1` conjugated.

    Parameters
    ----------
    x1, x2 : array
        Of shapes that broadcast, except along `axis`.
    axis : int
        The axis to sum over.

    Returns
    -------
    Mat
        Of the shape that the other axes broadcast to.
    """
    x1, x2 = mat_of(x1), mat_of(x2)
    k1, k2 = as_axis(axis, x1.ndim), as_axis(axis, x2.ndim)
    if x1.shape[k1] != x2.shape[k2]:
        raise ShapeError(f"vecdot: axis {axis} of {x1.shape} and {x2.shape} differs in length")
    x1, x2 = moveaxis(x1, k1, -1), moveaxis(x2, k2, -1)
    broadcast_shapes((x1.shape, x2.shape))
    left = by_numpy(np.conjugate, x1) if x1.dtype.kind == "c" else x1
    product: Mat = _matmul(left.expand_dims(-2), x2.expand_dims(-1))
    return product.squeeze((-2, -1))
