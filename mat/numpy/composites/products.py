"""NumPy's products of vectors, matrices and tensors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import prod

import numpy as np

from ...errors import ShapeError
from ...layout.shapes import Ints, as_axis
from ...matrix.filled import eye
from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import LeftToNumPy, leave_if
from ...ops.primitives import elementwise
from ...ops.primitives.joining import check_are_mats, stack
from ...support.dtypes import BLAS_TYPES
from ...support.plugins import at_first_use
from ...support.types import Operand
from ..operands import as_mats, is_mat_or_array, is_mat_or_none, is_there, mats_there
from ..registry import Result, implements
from ..short_calls import matrix_product

linalg = at_first_use("ops.linear.linalg")
products = at_first_use("ops.linear.matmul")
ufuncs = at_first_use("ops.primitives.ufuncs")
Axes = list[int]
AxesLike = int | Iterable[int | Iterable[int]]  # a number of axes, or those of each operand


@implements("dot", mats=0)
def numpy_dot(a: Operand, b: Operand, out: Operand = None) -> Result:
    product = matrix_product(a, b) if out is None else None
    if product is not None:
        return product
    leave_if(not is_mat_or_none(out))
    a, b = as_mats([a, b])
    leave_if(out is not None and out.dtype != np.result_type(a.dtype, b.dtype))  # NumPy refuses it
    if not a.ndim or not b.ndim:
        return elementwise.multiply(a, b, out=out)
    if b.ndim < 3:
        return products.matmul(a, b, out=out)
    leave_if(out is not None)
    return numpy_tensordot(a, b, (-1, -2))


@implements("inner", mats=0)
def numpy_inner(a: Operand, b: Operand, /) -> Result:
    a, b = as_mats([a, b])
    if not a.ndim or not b.ndim:
        return elementwise.multiply(a, b)
    if b.ndim > 2:
        return numpy_tensordot(a, b, (-1, -1))
    leave_if(a.shape[-1] != b.shape[-1])
    return products.matmul(a, b.T)


@implements("outer", mats=0)
def numpy_outer(a: Operand, b: Operand, out: Operand = None) -> Result:
    leave_if(not is_mat_or_none(out))
    a, b = (m if m.ndim == 1 else np.ravel(m) for m in as_mats([a, b]))
    return elementwise.multiply(a.reshape(a.size, 1), b, out=out)


@implements("linalg.outer", mats=0)
def numpy_linalg_outer(x1: Operand, x2: Operand, /) -> Result:
    leave_if(not is_mat_or_array(x1) or not is_mat_or_array(x2) or not x1.ndim == x2.ndim == 1)
    return numpy_outer(x1, x2)


@implements("vdot", mats=0)
def numpy_vdot(a: Operand, b: Operand, /) -> Result:
    found = as_mats([a, b])
    leave_if(found[0].size != found[1].size)
    a, b = map(np.ravel, found)
    if a.dtype.kind == "c":
        leave_if(not is_there(a))
        a = ufuncs.conjugate(a)
    return products.matmul(a, b)


@implements("linalg.tensordot", mats=0)
def numpy_linalg_tensordot(x1: Operand, x2: Operand, /, *, axes: AxesLike = 2) -> Result:
    return numpy_tensordot(x1, x2, axes)


@implements("tensordot", mats=0)
def numpy_tensordot(a: Operand, b: Operand, axes: AxesLike = 2) -> Result:
    a, b = as_mats([a, b])
    of_a, of_b = _contracted_axes(axes, a, b)
    kept_a = [k for k in range(a.ndim) if k not in of_a]
    kept_b = [k for k in range(b.ndim) if k not in of_b]
    length = prod(a.shape[k] for k in of_a)
    rows, columns = tuple(a.shape[k] for k in kept_a), tuple(b.shape[k] for k in kept_b)
    if not rows and not columns and of_a:
        return products.matmul(a.permute(of_a).ravel(), b.permute(of_b).ravel())
    product = products.matmul(_as_matrix(a, (*kept_a, *of_a), (prod(rows), length)),
                            _as_matrix(b, (*of_b, *kept_b), (length, prod(columns))))
    return product.reshape(rows + columns)


def _contracted_axes(axes: AxesLike, a: Mat, b: Mat) -> tuple[Axes, Axes]:
    """Return the axes of both to sum over, in pairs; NumPy raises the errors."""
    try:
        pair: Iterable[Iterable[int]] = (
            [x if isinstance(x, list | tuple) else (x,) for x in axes]
            if isinstance(axes, Iterable) else (range(-axes, 0), range(axes)))
        one, other = ([as_axis(k, m.ndim) for k in used]
                      for used, m in zip(pair, (a, b), strict=True))
    except (TypeError, ValueError, IndexError):
        raise LeftToNumPy from None
    leave_if([a.shape[k] for k in one] != [b.shape[k] for k in other])
    leave_if(not (_are_unique(one) and _are_unique(other)))
    return one, other


def _are_unique(axes: Axes) -> bool:
    return len(set(axes)) == len(axes)


def _as_matrix(x: Mat, order: Ints, shape: tuple[int, int]) -> Mat:
    """Return `x` with its axes in another order as a matrix, a view where that is possible."""
    return x.permute(order).reshape(shape)


@implements("linalg.matmul", mats=0)
def numpy_linalg_matmul(x1: Operand, x2: Operand, /) -> Result:
    leave_if(not is_mat_or_array(x1) or not is_mat_or_array(x2))
    return products.matmul(x1, x2)


@implements("linalg.multi_dot", mats=0)
def numpy_linalg_multi_dot(arrays: Operand, *, out: Operand = None) -> Result:
    parts = as_mats(arrays)
    leave_if(out is not None or len(parts) < 2 or any(m.ndim != 2 for m in parts))
    return multi_dot(parts)


@implements("linalg.matrix_power", on_device=1)
def numpy_linalg_matrix_power(a: Operand, n: int) -> Result:
    leave_if(type(n) is not int or a.ndim < 2 or a.shape[-1] != a.shape[-2]
             or a.dtype.kind not in "iufc")
    leave_if(n < 0 and a.dtype.char not in BLAS_TYPES)
    if not n:
        return eye(a.shape[-1], dtype=a.dtype).broadcast_to(a.shape).copy()
    return _power(linalg.inv(a) if n < 0 else a, abs(n))


def _power(a: Mat, n: int) -> Mat:
    """Return the product of `n` equal matrices, by squaring; n is positive."""
    found: Mat | None = None
    square = a
    while True:
        if n & 1:
            found = square if found is None else products.matmul(found, square)
        n >>= 1
        if not n:
            assert found is not None
            return found.copy() if found is a else found
        square = products.matmul(square, square)


@implements("cross", on_device=2)
def numpy_cross(a: Operand, b: Operand, axisa: int = -1, axisb: int = -1, axisc: int = -1,
                axis: int | None = None) -> Result:
    places = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    leave_if(not all(type(k) is int for k in places))
    pairs = (a, places[0]), (b, places[1])
    leave_if(any(not -m.ndim <= k < m.ndim or m.shape[k] != 3 or m.dtype.kind == "b"
                 for m, k in pairs))
    x, y = ([part.squeeze(k) for part in np.split(m, 3, axis=k)] for m, k in pairs)
    parts = [x[i] * y[j] - x[j] * y[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    k = places[2]
    leave_if(not (-parts[0].ndim <= k + 1 and k <= parts[0].ndim))
    return stack(parts, k)


@implements("linalg.cross", on_device=2)
def numpy_linalg_cross(x1: Operand, x2: Operand, /, *, axis: int = -1) -> Result:
    return numpy_cross(x1, x2, axis=axis)


@implements("kron", mats=0)
def numpy_kron(a: Operand, b: Operand) -> Result:
    there = is_there(a) or is_there(b)
    mats = mats_there(a, b) if there else [m for m in (a, b) if isinstance(m, Mat)]
    leave_if(len(mats) < 2 or mats[0].dtype != mats[1].dtype or mats[0].dtype.kind == "b")
    leave_if(mats[0].ndim != mats[1].ndim and not there)
    ndim = max(m.ndim for m in mats)
    a, b = (m.reshape((1,) * (ndim - m.ndim) + m.shape) for m in mats)
    between = (slice(None), None) * ndim, (None, slice(None)) * ndim
    one, other = (m.over(m.layout[index]) for m, index in zip((a, b), between, strict=True))
    found = new_like(a, tuple(n for pair in zip(a.shape, b.shape, strict=True) for n in pair),
                     a.dtype)
    elementwise.multiply(one, other, out=found)
    return found.reshape(tuple(m * n for m, n in zip(a.shape, b.shape, strict=True)))


# Several matrices, in the order that takes the fewest multiplications


def multi_dot(mats: Sequence[Mat]) -> Mat:
    """Return the product of several matrices, bracketed for the fewest multiplications.

    Parameters
    ----------
    mats : sequence of Mat
        At least two matrices whose inner lengths are equal; the first may be a vector, a row, and
        the last, too, a column.

    Returns
    -------
    Mat
        The product; without the axis of an end that is a vector.

    Raises
    ------
    ShapeError
        If the lengths do not match.

    Notes
    -----
    Cormen et al., "Introduction to Algorithms": matrix-chain multiplication.

    Examples
    --------
    >>> import mat
    >>> mat.multi_dot([mat.ones(2, 3), mat.ones(3, 4), mat.ones(4, 1)])
    <Mat 2x1 F [[12.] [12.]]>
    """
    chain = check_are_mats("multi_dot", mats)
    if len(chain) < 2:
        raise ShapeError(f"multi_dot requires at least two matrices, got {len(chain)}")
    ends = {0, len(chain) - 1}
    if any(m.ndim != 2 and not (k in ends and m.ndim == 1) for k, m in enumerate(chain)):
        raise ShapeError("multi_dot requires matrices, vectors only at the ends, got "
                         f"{[m.shape for m in chain]}")
    first, last = chain[0].ndim == 1, chain[-1].ndim == 1
    chain[0] = chain[0].expand_dims(0) if first else chain[0]
    chain[-1] = chain[-1].expand_dims(1) if last else chain[-1]
    for left, right in pairwise(chain):
        products.product_shape(left.shape, right.shape)
    split = _best_splits([chain[0].shape[0], *(m.shape[1] for m in chain)])
    result = _in_order(chain, split, 0, len(chain) - 1)
    return result.squeeze(tuple(k for k, gone in ((0, first), (1, last)) if gone))


def _best_splits(lengths: list[int]) -> dict[tuple[int, int], int]:
    """Return where to split each part of a chain of matrices ``lengths[k]`` x ``lengths[k+1]``."""
    count = len(lengths) - 1
    cost = {(k, k): 0 for k in range(count)}
    split: dict[tuple[int, int], int] = {}
    for width in range(1, count):
        for i in range(count - width):
            j = i + width
            options = [(cost[i, k] + cost[k + 1, j] + lengths[i] * lengths[k + 1] * lengths[j + 1],
                        k) for k in range(i, j)]
            cost[i, j], split[i, j] = min(options)
    return split


def _in_order(chain: list[Mat], split: dict[tuple[int, int], int], i: int, j: int) -> Mat:
    if i == j:
        return chain[i]
    k = split[i, j]
    return products.matmul(_in_order(chain, split, i, k), _in_order(chain, split, k + 1, j))
