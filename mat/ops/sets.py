"""Vectors as sets, by sorting: membership and common elements. NumPy's functions use them while a
device is in use.
"""

from __future__ import annotations

import numpy as np

from ..matrix.creation import adopted
from ..matrix.filled import full
from ..matrix.mat import Mat
from . import elementwise
from .advanced import gathered_at
from .gathering import positions_of
from .joining import concat
from .parts import along
from .sorting import Different, argsort, searchsorted, sort
from .taking import take
from .ufuncs import logical_and


def different(x: Mat) -> Mat:
    """Return the different elements in ascending order, NaN once."""
    return Different(as_vector(x), True, False).values()


def as_vector(x: Mat) -> Mat:
    """Return the elements by rows."""
    return x if x.ndim == 1 else x.contiguous().reshape(-1)


def is_member(x: Mat, of: Mat, invert: bool) -> Mat:
    """Return whether each element of `x` is one of those of `of`; with `invert` whether it is none.

    NaN is none.
    """
    dtype = np.result_type(x.dtype, of.dtype)
    x, of = (v.astype(dtype, copy=False) for v in (x, as_vector(of)))
    if not of.size or not x.size:
        found = full(x.shape, invert, "bool")
        found.device_enabled = x.device_enabled
        return found
    members = sort(of)
    places = elementwise.minimum(searchsorted(members, x), of.size - 1)
    nearest = take(members, places, 0)
    compare = elementwise.not_equal if invert else elementwise.equal
    result: Mat = compare(nearest, x)
    return result


def union(x: Mat, y: Mat) -> Mat:
    """Return the different elements of both in ascending order."""
    return different(concat([as_vector(x), as_vector(y)]))


def common(x: Mat, y: Mat) -> Mat:
    """Return the elements that two vectors of different elements have in common, ascending."""
    first, second = _neighbours(sort(concat([x, y])))
    return _where(elementwise.equal(first, second), first)


def common_with_places(x: Mat, y: Mat, are_sets: bool) -> tuple[Mat, Mat, Mat]:
    """Return the elements that two vectors have in common, ascending, and where they are first in
    `x` and in `y`; `are_sets` if the elements of each are different.
    """
    if not are_sets:
        a, b = Different(x, True, True), Different(y, True, True)
        found, of_a, of_b = common_with_places(a.values(), b.values(), True)
        one = gathered_at(a.indices(), of_a, 0, (0,))
        return found, one, gathered_at(b.indices(), of_b, 0, (0,))
    both = concat([x, y])
    order = argsort(both)
    first, second = _neighbours(gathered_at(both, order, 0, (0,)))
    same = elementwise.equal(first, second)
    before, after = (_where(same, places) for places in _neighbours(order))
    return _where(same, first), before, elementwise.subtract(after, x.size)


def in_one_only(x: Mat, y: Mat) -> Mat:
    """Return the elements that only one of two vectors of different elements has, ascending."""
    both = concat([x, y])
    if not both.size:
        return both
    ordered = sort(both)
    end = adopted(np.ones(1, np.bool_))
    differs = concat([end, elementwise.not_equal(*_neighbours(ordered)), end])
    return _where(logical_and(*_neighbours(differs)), ordered)


def missing_in(x: Mat, y: Mat) -> Mat:
    """Return the elements of the vector `x` that are none of `y`, in their order."""
    return _where(is_member(x, y, True), x)


def _neighbours(x: Mat) -> tuple[Mat, Mat]:
    """Return views of a vector without its last, and without its first element."""
    return along(x, 0, slice(None, -1)), along(x, 0, slice(1, None))


def _where(mask: Mat, x: Mat) -> Mat:
    """Return the elements of a vector where a mask is true."""
    return gathered_at(x, positions_of(mask), 0, (0,))
