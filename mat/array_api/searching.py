"""Searching, sorting, sets and taking by the standard's functions. NumPy does them: they have no
kernels of ours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import DTypeError, SettingError, ShapeError
from ..interop.numpy.operators import by_numpy
from ..layout.strided import as_axis
from ..matrix.mat import Mat
from ..support.dtypes import check_operand
from .arguments import as_mat, as_value

__all__ = [
    "argsort", "isin", "nonzero", "searchsorted", "sort", "take", "take_along_axis", "unique_all",
    "unique_counts",
    "unique_inverse", "unique_values", "where",
]


def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """x1 where the condition is true, x2 elsewhere."""
    condition, x1, x2 = as_mat(condition), as_value(x1), as_value(x2)
    for value, other in ((x1, x2), (x2, x1)):
        if not isinstance(value, Mat) and isinstance(other, Mat):
            check_operand(value, other.dtype, "a value")
    return by_numpy(np.where, condition, x1, x2)


def nonzero(x: Any, /) -> tuple[Mat, ...]:
    """The indices of what is not 0, in row-major order: an array for each axis."""
    x = as_mat(x)
    if not x.ndim:
        raise ShapeError("nonzero wants at least one axis; bool(x) is whether a single element is "
                         "not 0")
    return tuple(by_numpy(np.nonzero, x))


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """The indices at which x2 would go into the sorted x1, before what is equal to it, or behind if
    `side` is "right".
    """
    if side not in ("left", "right"):
        raise SettingError(f"side is 'left' or 'right', got {side!r}")
    return by_numpy(np.searchsorted, as_mat(x1), as_value(x2), side=side, sorter=sorter)


# Sorting


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The elements in ascending or descending order along `axis`."""
    x = as_mat(x)
    return by_numpy(_sorted, x, as_axis(axis, x.ndim), bool(descending), bool(stable), False)


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The indices that put the elements in order along `axis`; what is equal stays in its order if
    `stable`.
    """
    x = as_mat(x)
    return by_numpy(_sorted, x, as_axis(axis, x.ndim), bool(descending), bool(stable), True)


def _sorted(a: np.ndarray[Any, Any], axis: int, descending: bool, stable: bool,
            indices: bool) -> np.ndarray[Any, Any]:
    """`a` in order, or the indices for it. Descending is ascending of what is backwards, backwards,
    which keeps it stable.
    """
    kind: Any = "stable" if stable else None
    if not descending:
        return np.argsort(a, axis, kind) if indices else np.sort(a, axis, kind)
    turned = np.flip(a, axis)
    if not indices:
        return np.array(np.flip(np.sort(turned, axis, kind), axis))
    return np.array(np.flip(a.shape[axis] - 1 - np.argsort(turned, axis, kind), axis))


# Sets


class UniqueAll(NamedTuple):
    """What `unique_all` finds."""

    values: Mat
    indices: Mat
    inverse_indices: Mat
    counts: Mat


class UniqueCounts(NamedTuple):
    """What `unique_counts` finds."""

    values: Mat
    counts: Mat


class UniqueInverse(NamedTuple):
    """What `unique_inverse` finds."""

    values: Mat
    inverse_indices: Mat


def unique_all(x: Any, /) -> UniqueAll:
    """The different elements, where each is first, which of them each element is, and how often
    each is there.
    """
    values, indices, inverse, counts = by_numpy(np.unique_all, as_mat(x))
    return UniqueAll(values, indices, inverse, counts)


def unique_counts(x: Any, /) -> UniqueCounts:
    """The different elements, and how often each is there; NaN is different from itself."""
    values, counts = by_numpy(np.unique_counts, as_mat(x))
    return UniqueCounts(values, counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """The different elements, and which of them each element is."""
    values, inverse = by_numpy(np.unique_inverse, as_mat(x))
    return UniqueInverse(values, inverse)


def unique_values(x: Any, /) -> Any:
    """The different elements, in ascending order; NaN is different from itself."""
    return by_numpy(np.unique, as_mat(x), equal_nan=False)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Whether each element of x1 is among those of x2, or not, if `invert`."""
    return by_numpy(np.isin, as_value(x1), as_value(x2), invert=bool(invert))


# Taking


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """The parts of `x` at the `indices` of `axis`, which may be left out if there is one only."""
    x, indices = as_mat(x), as_mat(indices)
    if axis is None and x.ndim != 1:
        raise ShapeError(f"take needs an axis for shape {x.shape}")
    return by_numpy(np.take, x, _positions(indices),
                    axis=as_axis(0 if axis is None else axis, x.ndim))


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """Of each line of `x` along `axis` the elements that the same line of `indices` names."""
    x, indices = as_mat(x), as_mat(indices)
    if x.ndim != indices.ndim:
        raise ShapeError(f"take_along_axis wants as many axes of both, got shapes {x.shape} and "
                         f"{indices.shape}")
    return by_numpy(np.take_along_axis, x, _positions(indices), axis=as_axis(axis, x.ndim))


def _positions(indices: Mat) -> Mat:
    if indices.dtype.kind not in "iu":
        raise DTypeError(f"indices are integers, got {indices.dtype}")
    return indices
