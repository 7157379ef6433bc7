"""Searching, sorting, sets and taking by the standard's functions. NumPy computes on the host what
has no kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..devices.in_use import computes_elsewhere
from ..errors import DTypeError, SettingError, ShapeError
from ..interop.numpy.implementations.selection import numpy_where
from ..interop.numpy.implementations.sets import numpy_isin
from ..interop.numpy.operators import by_numpy, several_by_numpy
from ..layout.shapes import as_axis
from ..matrix.mat import Mat
from ..ops import sorting
from ..ops.selection import taken
from ..ops.taking import nonzero as nonzero_there
from ..ops.taking import take as take_there
from ..ops.taking import take_along
from ..support.dtypes import check_operand
from ..support.types import ArrayLike
from .arguments import as_value, mat_of

__all__ = [
    "argsort", "isin", "nonzero", "searchsorted", "sort", "take", "take_along_axis", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "where",
]


def where(condition: ArrayLike, x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return `x1` where the condition is true, and `x2` elsewhere.

    Parameters
    ----------
    condition : array
        Of bool.
    x1, x2 : array or number
        Of shapes that broadcast with `condition`.

    Returns
    -------
    Mat
        Of the shape that all broadcast to.
    """
    condition, x1, x2 = mat_of(condition), as_value(x1), as_value(x2)
    for value, other in ((x1, x2), (x2, x1)):
        if not isinstance(value, Mat) and isinstance(other, Mat):
            check_operand(value, other.dtype, "a value")
    found = numpy_where(condition, x1, x2)
    return by_numpy(np.where, condition, x1, x2) if found is NotImplemented else found


def nonzero(x: ArrayLike, /) -> tuple[Mat, ...]:
    """Return the indices of the elements that are not 0, in row-major order.

    Parameters
    ----------
    x : array
        With at least one axis.

    Returns
    -------
    tuple of Mat
        A vector of int64 for each axis.
    """
    x = mat_of(x)
    if not x.ndim:
        raise ShapeError("nonzero wants at least one axis; bool(x) says whether a single element "
                         "is not 0")
    found = nonzero_there(x) if computes_elsewhere(x) else None
    return several_by_numpy(np.nonzero, x) if found is None else found


def searchsorted(x1: ArrayLike, x2: ArrayLike, /, *, side: str = "left",
                 sorter: ArrayLike | None = None) -> Mat:
    """Return the indices at which the elements of `x2` would be inserted into the sorted `x1`.

    Parameters
    ----------
    x1 : array
        A sorted vector, or one that `sorter` sorts.
    x2 : array or number
        Elements to insert.
    side : {"left", "right"}
        Whether before or after equal elements.
    sorter : array, optional
        Indices that sort `x1`.

    Returns
    -------
    Mat
        Of the shape of `x2` and int64.
    """
    if side not in ("left", "right"):
        raise SettingError(f"side is 'left' or 'right', got {side!r}")
    return by_numpy(np.searchsorted, mat_of(x1), as_value(x2), side=side, sorter=sorter)


# Sorting


def sort(x: ArrayLike, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Mat:
    """Return the elements in ascending or descending order along `axis`.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int
        The axis to sort along.
    descending : bool
        Sort in descending order.
    stable : bool
        Preserve the order of equal elements.

    Returns
    -------
    Mat
        A copy of the shape of `x`.
    """
    x = mat_of(x)
    return sorting.sort(x, as_axis(axis, x.ndim), descending=bool(descending), stable=bool(stable))


def argsort(x: ArrayLike, /, *, axis: int = -1, descending: bool = False,
            stable: bool = True) -> Mat:
    """Return the indices that sort the elements along `axis`.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int
        The axis to sort along.
    descending : bool
        Sort in descending order.
    stable : bool
        Preserve the order of equal elements.

    Returns
    -------
    Mat
        Of the shape of `x` and int64.
    """
    x = mat_of(x)
    return sorting.argsort(x, as_axis(axis, x.ndim), descending=bool(descending),
                           stable=bool(stable))


# Sets


class UniqueAll(NamedTuple):
    """The result of `unique_all`.

    Attributes
    ----------
    values : Mat
        The different elements.
    indices : Mat
        Where each occurs first.
    inverse_indices : Mat
        Which of the values each element is, in the shape of the array.
    counts : Mat
        How often each occurs.
    """

    values: Mat
    indices: Mat
    inverse_indices: Mat
    counts: Mat


class UniqueCounts(NamedTuple):
    """The result of `unique_counts`.

    Attributes
    ----------
    values : Mat
        The different elements.
    counts : Mat
        How often each occurs.
    """

    values: Mat
    counts: Mat


class UniqueInverse(NamedTuple):
    """The result of `unique_inverse`.

    Attributes
    ----------
    values : Mat
        The different elements.
    inverse_indices : Mat
        Which of the values each element is, in the shape of the array.
    """

    values: Mat
    inverse_indices: Mat


def unique_all(x: ArrayLike, /) -> UniqueAll:
    """Return the different elements, their indices, and how often each occurs.

    Parameters
    ----------
    x : array
        Of any shape.

    Returns
    -------
    UniqueAll
        A named tuple: values, indices, inverse_indices, counts.
    """
    return UniqueAll(*several_by_numpy(np.unique_all, mat_of(x)))


def unique_counts(x: ArrayLike, /) -> UniqueCounts:
    """Return the different elements, and how often each occurs; each NaN counts as different.

    Parameters
    ----------
    x : array
        Of any shape.

    Returns
    -------
    UniqueCounts
        A named tuple: values, counts.
    """
    return UniqueCounts(*several_by_numpy(np.unique_counts, mat_of(x)))


def unique_inverse(x: ArrayLike, /) -> UniqueInverse:
    """Return the different elements, and which of them each element is.

    Parameters
    ----------
    x : array
        Of any shape.

    Returns
    -------
    UniqueInverse
        A named tuple: values, inverse_indices.
    """
    return UniqueInverse(*several_by_numpy(np.unique_inverse, mat_of(x)))


def unique_values(x: ArrayLike, /) -> Mat:
    """Return the different elements in ascending order; each NaN counts as different.

    Parameters
    ----------
    x : array
        Of any shape.

    Returns
    -------
    Mat
        A vector of the dtype of `x`.
    """
    return by_numpy(np.unique, mat_of(x), equal_nan=False)


def isin(x1: ArrayLike, x2: ArrayLike, /, *, invert: bool = False) -> Mat:
    """Return whether each element of `x1` is among those of `x2`.

    Parameters
    ----------
    x1, x2 : array or number
        Of any shapes.
    invert : bool
        Return whether it is not.

    Returns
    -------
    Mat
        Of the shape of `x1` and bool.
    """
    found: Mat = numpy_isin(as_value(x1), as_value(x2), invert=bool(invert))
    if found is NotImplemented:
        return by_numpy(np.isin, as_value(x1), as_value(x2), invert=bool(invert))
    return found


# Taking


def take(x: ArrayLike, indices: ArrayLike, /, *, axis: int | None = None) -> Mat:
    """Return the parts of `x` at the `indices` of `axis`.

    Parameters
    ----------
    x : array
        Of any shape.
    indices : array
        Integers.
    axis : int, optional
        The axis; may be omitted for a vector.

    Returns
    -------
    Mat
        Of the shape of `x`, with that of `indices` in place of `axis`.
    """
    x, indices = mat_of(x), mat_of(indices)
    if axis is None and x.ndim != 1:
        raise ShapeError(f"take needs an axis for shape {x.shape}")
    k = as_axis(0 if axis is None else axis, x.ndim)
    if computes_elsewhere(x):
        found = take_there(x, _positions(indices), k)
    else:
        found = taken(x, _positions(indices), k)
    return by_numpy(np.take, x, _positions(indices), axis=k) if found is None else found


def take_along_axis(x: ArrayLike, indices: ArrayLike, /, *, axis: int = -1) -> Mat:
    """Return, of each line of `x` along `axis`, the elements at the same line of `indices`.

    Parameters
    ----------
    x : array
        Of any shape.
    indices : array
        Integers, with as many axes as `x`.
    axis : int
        The axis of the lines.

    Returns
    -------
    Mat
        Of the shape of `indices`.
    """
    x, indices = mat_of(x), mat_of(indices)
    if x.ndim != indices.ndim:
        raise ShapeError(f"take_along_axis wants as many axes of both, got shapes {x.shape} and "
                         f"{indices.shape}")
    k, at = as_axis(axis, x.ndim), _positions(indices)
    found = take_along(x, at, k) if computes_elsewhere(x) else None
    return by_numpy(np.take_along_axis, x, at, axis=k) if found is None else found


def _positions(indices: Mat) -> Mat:
    if indices.dtype.kind not in "iu":
        raise DTypeError(f"indices are integers, got {indices.dtype}")
    return indices
