"""NumPy's products of vectors, matrices and tensors, and `einsum`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from math import prod
from string import ascii_letters
from typing import Any, NamedTuple

import numpy as np
from numpy._core.multiarray import c_einsum

from ...core.compiled import IN_USE
from ...errors import ShapeError
from ...layout.shapes import Ints, as_axis
from ...layout.strided import Layout
from ...matrix.filled import eye
from ...matrix.mat import Mat, new_like
from ...matrix.reading import call_reading
from ...ops.engine.by_numpy import LeftToNumPy, leave_if, or_leave
from ...ops.primitives import elementwise, reduce
from ...ops.primitives.joining import check_are_mats, stack
from ...support.dtypes import BLAS_TYPES
from ...support.plugins import at_first_use
from ...support.types import Arguments, DTypeLike, Keywords, Operand
from ..operands import as_dtype, as_mats, is_mat_or_array, is_mat_or_none, is_there, mats_there
from ..registry import Result, implements
from ..short_calls import matrix_product, product_by_einsum

linalg = at_first_use("ops.linear.linalg")
products = at_first_use("ops.linear.matmul")
ufuncs = at_first_use("ops.primitives.ufuncs")
_LONG = np.dtype(np.int64)
_NO_KEYWORDS: Keywords = {}
_SMALL_MATRIX = 256  # elements, of which calls of BLAS take longer than NumPy's loop
_CASTINGS = {"no", "equiv", "safe", "same_kind", "unsafe"}  # all alike where nothing is cast
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


implements("linalg.tensordot", mats=0)(lambda x1, x2, /, *, axes=2: numpy_tensordot(x1, x2, axes))


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


implements("linalg.cross", on_device=2)(
    lambda x1, x2, /, *, axis=-1: numpy_cross(x1, x2, axis=axis))


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


# `einsum`, by views, sums, products of matrices and element-wise products. A repeated subscript of
# one operand is a diagonal, which is a view. Several operands are multiplied two at a time, from
# the left


class Contraction(NamedTuple):
    """The subscripts of two operands as a `tensordot`: whether the operands are exchanged, the axes
    of both to sum over, and the order of the result's axes.
    """

    exchanged: bool
    axes: tuple[list[int], list[int]]
    order: tuple[int, ...]


class Term(NamedTuple):
    """An operand, and the subscript of each of its axes."""

    mat: Mat
    names: str


@implements("einsum", mats=0, of_many=True)
def numpy_einsum(*operands: Operand, out: Operand = None, optimize: object = False,
                 **kwargs: Any) -> Result:
    if operands and out is None and not kwargs and type(optimize) is bool:
        found = _at_once(*operands)
        if found is not None:
            return found
    dtype: DTypeLike = kwargs.pop("dtype", None)
    order, casting = kwargs.pop("order", "K"), kwargs.pop("casting", "safe")
    plain = isinstance(optimize, bool) and order == "K" and casting in _CASTINGS
    leave_if(len(operands) < 2 or out is not None or kwargs or not plain)
    subscripts, given = (operands[0], operands[1:]) if isinstance(
        operands[0], str) else _as_text(operands)
    mats = as_mats(given)
    leave_if(not subscripts)
    view = None if len(mats) > 1 or dtype is not None else _view(subscripts, mats[0])
    if view is not None:
        return view
    leave_if(casting != "safe" and any(m.dtype != mats[0].dtype for m in mats))
    if any(is_there(m) for m in mats):
        subscripts = _without_dots(subscripts.replace(" ", ""), mats)
        common = np.result_type(*(m.dtype for m in mats))
        mats = [as_dtype(m, common) for m in mats]
    leave_if(dtype is not None and np.dtype(dtype) != mats[0].dtype)
    leave_if(any(m.dtype != mats[0].dtype for m in mats)
             or not (mats[0].dtype.char in BLAS_TYPES
                     or (is_there(mats[0]) and mats[0].dtype == _LONG)))
    names = or_leave(parsed(subscripts, tuple(m.ndim for m in mats)))
    leave_if(not _agree(mats, names))
    # by NumPy's loop, which takes 0.6 times as long as products do
    leave_if(_are_rows(names) and not any(is_there(m) for m in mats))
    found = contraction(subscripts, mats[0].ndim, mats[1].ndim) if len(mats) == 2 else None
    if found is not None:
        return _contracted(found, *mats)
    *of_operands, wanted = names
    return _result([_diagonal(m, n) for m, n in zip(mats, of_operands, strict=True)], wanted)


def _at_once(subscripts: Operand, *operands: Operand) -> Result:
    """Return a view, a sum, a product of matrices, or what NumPy's loop computes; else None."""
    if len(operands) == 1:
        view = viewed(subscripts, *operands)
        if view is not None:
            return view
        axes = _axes_of_sum(subscripts, *operands)
        return None if axes is None else reduce.sum(operands[0], axes)
    if len(operands) != 2:
        return None
    product = product_by_einsum(subscripts, *operands)
    # by NumPy's loop, which takes 0.6 times as long as products do
    if product is None and not IN_USE and type(subscripts) is str and (
            _is_of_rows(subscripts) or _is_in_small_batches(subscripts, *operands)):
        return call_reading(c_einsum, (subscripts, *operands), _NO_KEYWORDS, "einsum")
    return product


def _view(subscripts: str, x: Mat) -> Mat | None:
    """Return the view of one operand, of any type, if none of its subscripts is summed over."""
    names = parsed(_without_dots(subscripts.replace(" ", ""), [x]), (x.ndim,))
    if names is None or set(names[0]) != set(names[1]) or not _agree([x], names):
        return None
    return _ordered(_diagonal(x, names[0]), names[1])


def viewed(subscripts: Operand, x: Operand) -> Mat | None:
    """Return the view of a Mat each of whose axes has a subscript of the result; else None."""
    if type(subscripts) is not str or type(x) is not Mat:
        return None
    order = _order_of(subscripts, len(x.layout.shape))
    if order is None:
        return None
    return x.permute(order) if order else _view(subscripts, x)


@cache
def _order_of(subscripts: str, ndim: int) -> Ints | None:
    """Return the order of so many axes, () if they have diagonals; None where axes are summed."""
    names, wanted = parsed(subscripts, (ndim,)) or ("", "")
    if not names or set(names) != set(wanted):
        return None
    return () if len(wanted) < len(names) else tuple(names.index(n) for n in wanted)


@cache
def means_product(subscripts: str, of_a: int, of_b: int) -> bool:
    """Return whether `subscripts` of at most two axes mean a product of matrices or vectors."""
    if not 0 < of_a < 3 or not 0 < of_b < 3:
        return False
    found = contraction(subscripts, of_a, of_b)
    return (found is not None and not found.exchanged
            and found.axes == ([of_a - 1], [of_b - 2 if of_b > 1 else 0])
            and list(found.order) == sorted(found.order))


def _axes_of_sum(subscripts: Operand, x: Operand) -> Ints | None:
    """Return the axes that one operand is summed over, if the others keep their order."""
    if type(subscripts) is not str or type(x) is not Mat or x.element_type.char not in BLAS_TYPES:
        return None
    return _axes_left_out(subscripts, len(x.layout.shape))


@cache
def _axes_left_out(subscripts: str, ndim: int) -> Ints | None:
    names, wanted = parsed(subscripts, (ndim,)) or ("", "")
    if len(set(names)) < len(names) or [n for n in names if n in wanted] != list(wanted):
        return None
    return tuple(k for k, n in enumerate(names) if n not in wanted) or None


def _are_rows(names: tuple[str, ...]) -> bool:
    """Return whether two operands are multiplied row by row: ``ij,ij->i``."""
    *operands, result = names or ("",)
    return (len(operands) == 2 and set(operands[0]) == set(operands[1])
            and 0 < len(result) < len(set(operands[0])))


@cache
def _is_of_rows(subscripts: str) -> bool:
    """Return whether subscripts of two operands multiply them row by row, as `_are_rows`."""
    names = subscripts.replace(",", "->").split("->")
    return len(names) == 3 and all(map(str.isalpha, names)) and _are_rows(
        parsed(subscripts, (len(names[0]), len(names[1]))) or ())


def _is_in_small_batches(subscripts: str, a: Operand, b: Operand) -> bool:
    """Return whether Mats are multiplied as vectors with as many small matrices."""
    matrices = _matrices_in_batches(subscripts)
    if matrices is None or type(a) is not Mat or type(b) is not Mat:
        return False
    shape = (a, b)[matrices[0]].layout.shape
    return (a.element_type is b.element_type and a.element_type.char in BLAS_TYPES
            and len(shape) > max(matrices[1])
            and prod(shape[k] for k in matrices[1]) <= _SMALL_MATRIX)


@cache
def _matrices_in_batches(subscripts: str) -> tuple[int, tuple[int, ...]] | None:
    """Return which of two operands are matrices that are multiplied with the vectors that the other
    one has for each, as in ``pd,pnd->pn``, and the axes of a matrix; else None.
    """
    names = subscripts.replace(",", "->").split("->")
    if len(names) != 3 or not all(map(str.isalpha, names)):
        return None
    *operands, result = parsed(subscripts, (len(names[0]), len(names[1]))) or ("", "", "")
    k = int(len(operands[1]) > len(operands[0]))
    vectors = set(operands[1 - k])
    axes = tuple(at for at, name in enumerate(operands[k])
                 if name not in vectors or name not in result)
    batched = vectors < set(operands[k]) and vectors & set(result) and vectors - set(result)
    return (k, axes) if batched else None


@cache
def parsed(subscripts: str, ndims: tuple[int, ...]) -> tuple[str, ...] | None:
    """Return the subscripts of each operand and the result; None if `einsum` is to refuse them."""
    left, arrow, result = subscripts.replace(" ", "").partition("->")
    names = left.split(",")
    if not arrow:
        result = "".join(sorted(n for n in set(left) - {","} if left.count(n) == 1))
    letters = left.replace(",", "")
    if tuple(map(len, names)) != ndims or not (letters + result).isascii():
        return None
    plain = (not letters or letters.isalpha()) and len(set(result)) == len(result)
    return (*names, result) if plain and set(result) <= set(letters) else None


def _agree(mats: list[Mat], names: tuple[str, ...]) -> bool:
    """Return whether axes of one subscript have one length; NumPy broadcasts those of length 1."""
    lengths: dict[str, int] = {}
    return all(lengths.setdefault(n, length) == length for m, own in zip(mats, names, strict=False)
               for n, length in zip(own, m.shape, strict=True))


def _contracted(found: Contraction, a: Mat, b: Mat) -> Result:
    if found.exchanged:
        a, b = b, a
    result = numpy_tensordot(a, b, found.axes)
    in_order = found.order == tuple(range(result.ndim))
    return result if in_order else result.permute(found.order).copy()


def _diagonal(x: Mat, names: str) -> Term:
    """Return the view along the diagonals of subscripts that are repeated."""
    unique = "".join(dict.fromkeys(names))
    if len(unique) == len(names):
        return Term(x, names)
    steps = list(zip(names, x.shape, x.element_strides, strict=True))
    return Term(x.over(Layout(tuple(x.shape[names.index(n)] for n in unique),
                              tuple(sum(s for k, _, s in steps if k == n) for n in unique),
                              x.displacement)), unique)


def _result(terms: list[Term], wanted: str) -> Mat:
    """Return the sums of products with the axes in the order `wanted`."""
    while len(terms) > 1:
        a, b, *rest = terms
        terms = [_product(a, b, set(wanted).union(*(t.names for t in rest))), *rest]
    found = _summed(terms[0], wanted)
    return found.mat if found.names == wanted else _ordered(found, wanted).copy()


def _ordered(term: Term, wanted: str) -> Mat:
    return term.mat.permute(tuple(term.names.index(n) for n in wanted))


def _summed(term: Term, kept: Iterable[str]) -> Term:
    """Return the sum over the axes that are not kept."""
    over = tuple(k for k, n in enumerate(term.names) if n not in kept)
    if not over:
        return term
    return Term(reduce.sum(term.mat, over), "".join(n for n in term.names if n in kept))


def _product(a: Term, b: Term, kept: set[str]) -> Term:
    """Return the sums of products over the subscripts that are not kept."""
    a, b = _summed(a, kept.union(b.names)), _summed(b, kept.union(a.names))
    common = [n for n in a.names if n in b.names]
    batch, over = [n for n in common if n in kept], [n for n in common if n not in kept]
    rows, columns = ([n for n in t.names if n not in common] for t in (a, b))
    names = "".join(batch + rows + columns)
    if not over:
        return Term(elementwise.multiply(_spread(a, names), _spread(b, names)), names)
    product = products.matmul(_as_matrices(a, batch, rows, over),
                            _as_matrices(b, batch, over, columns))
    lengths = dict(zip(a.names + b.names, a.mat.shape + b.mat.shape, strict=True))
    return Term(product.reshape(tuple(lengths[n] for n in names)), names)


def _spread(term: Term, names: str) -> Mat:
    """Return the operand with its axes where `names` has them, and new ones of length 1."""
    own = [n for n in names if n in term.names]
    ordered = term.mat.permute(tuple(term.names.index(n) for n in own))
    return ordered.over(ordered.layout[tuple(slice(None) if n in own else None for n in names)])


def _as_matrices(term: Term, batch: list[str], rows: list[str], columns: list[str]) -> Mat:
    """Return a matrix for each index along the axes `batch`."""
    x = term.mat.permute(tuple(term.names.index(n) for n in batch + rows + columns))
    one, other = len(batch), len(batch) + len(rows)
    found: Operand = np.reshape(x, (*x.shape[:one], prod(x.shape[one:other]),
                                    prod(x.shape[other:])))
    assert isinstance(found, Mat)
    return found


@cache
def contraction(subscripts: str, of_a: int, of_b: int) -> Contraction | None:
    """Return how `subscripts` of two operands contract all axes that both have; else None."""
    *names, result = parsed(subscripts, (of_a, of_b)) or ("", "", "")
    common = set(names[0]) & set(names[1])
    kept = ["".join(k for k in n if k not in common) for n in names]
    if not common or any(len(set(n)) < len(n) for n in names) or (
            sorted(result) != sorted(kept[0] + kept[1])):
        return None
    exchanged = result == kept[1] + kept[0] != kept[0] + kept[1]
    if exchanged:
        names, kept = names[::-1], kept[::-1]
    over = [k for k in names[0] if k in common]
    return Contraction(exchanged, ([names[0].index(k) for k in over],
                                   [names[1].index(k) for k in over]),
                       tuple((kept[0] + kept[1]).index(k) for k in result))


# Other forms of the arguments


_DOTS = "..."


def _as_text(operands: Arguments) -> tuple[str, Arguments]:
    """Return the subscripts of operands and these, each given before its axes; "" for NumPy."""
    lists = [*operands[1::2], *(operands[-1:] if len(operands) % 2 else ())]
    found = [_letters(axes) for axes in lists]
    if None in found:
        return "", ()
    texts = [text for text in found if text is not None]
    if len(operands) % 2:
        return ",".join(texts[:-1]) + "->" + texts[-1], operands[:-1:2]
    return ",".join(texts), operands[::2]


def _letters(axes: Operand) -> str | None:
    if not isinstance(axes, list | tuple) or not all(
            axis is Ellipsis or (type(axis) is int and 0 <= axis < len(ascii_letters))
            for axis in axes):
        return None
    return "".join(_DOTS if axis is Ellipsis else sorted(ascii_letters)[axis] for axis in axes)


def _without_dots(subscripts: str, mats: list[Mat]) -> str:
    """Return subscripts with letters for the axes of ellipses, if all have equally many axes."""
    if _DOTS not in subscripts:
        return subscripts
    left, arrow, result = subscripts.partition("->")
    terms = left.split(",")
    counts = {m.ndim - len(term.replace(_DOTS, "")) for term, m in zip(terms, mats, strict=False)
              if _DOTS in term}
    free = [letter for letter in sorted(ascii_letters) if letter not in subscripts]
    if len(terms) != len(mats) or len(counts) != 1 or not 0 <= min(counts) <= len(free):
        return subscripts
    names = "".join(free[:min(counts)])
    if not arrow:
        letters = left.replace(",", "").replace(_DOTS, "")
        result = _DOTS + "".join(sorted(n for n in set(letters) if letters.count(n) == 1))
    return f"{left}->{result}".replace(_DOTS, names)
