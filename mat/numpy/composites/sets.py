"""NumPy's functions of sets, on devices: by sorting."""

from __future__ import annotations

import numpy as np

from ...matrix.creation import adopted
from ...matrix.filled import full
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.indexing.advanced import gathered_at
from ...ops.indexing.gathering import positions_of
from ...ops.indexing.sorting import Different, argsort, searchsorted, sort
from ...ops.indexing.taking import take
from ...ops.primitives import elementwise
from ...ops.primitives.joining import concat
from ...ops.primitives.parts import along
from ...ops.primitives.ufuncs import logical_and
from ...support.types import Operand
from ..registry import Result, implements


# the parameters are NumPy's
@implements("isin", on_device=2, of_many=True)
def numpy_isin(element: Mat, test_elements: Mat, assume_unique: bool = False,
               invert: bool = False, *, kind: Operand = None) -> Result:
    leave_if(kind not in (None, "sort"))
    return _is_member(element, test_elements, bool(invert))


@implements("in1d", on_device=2)
def numpy_in1d(ar1: Mat, ar2: Mat, assume_unique: bool = False, invert: bool = False,
               *, kind: Operand = None) -> Result:
    return numpy_isin(_as_vector(ar1), ar2, assume_unique, invert, kind=kind)


@implements("union1d", on_device=2)
def numpy_union1d(ar1: Mat, ar2: Mat) -> Result:
    return _different(concat([_as_vector(ar1), _as_vector(ar2)]))


@implements("setdiff1d", on_device=2)
def numpy_setdiff1d(ar1: Mat, ar2: Mat, assume_unique: bool = False) -> Result:
    x, y = _as_sets(ar1, ar2, assume_unique)
    return _where(_is_member(x, y, True), x)


@implements("setxor1d", on_device=2)
def numpy_setxor1d(ar1: Mat, ar2: Mat, assume_unique: bool = False) -> Result:
    both = concat(_as_sets(ar1, ar2, assume_unique))
    if not both.size:
        return both
    ordered = sort(both)
    end = adopted(np.ones(1, np.bool_))
    differs = concat([end, elementwise.not_equal(*_neighbours(ordered)), end])
    return _where(logical_and(*_neighbours(differs)), ordered)


@implements("intersect1d", on_device=2)
def numpy_intersect1d(ar1: Mat, ar2: Mat, assume_unique: bool = False,
                      return_indices: bool = False) -> Result:
    if return_indices:
        return _common_with_places(_as_vector(ar1), _as_vector(ar2), bool(assume_unique))
    first, second = _neighbours(sort(concat(_as_sets(ar1, ar2, assume_unique))))
    return _where(elementwise.equal(first, second), first)


def _as_sets(x: Mat, y: Mat, are_unique: bool) -> list[Mat]:
    """Return the elements of both as vectors of different ones."""
    return [_as_vector(m) if are_unique else _different(m) for m in (x, y)]


def _different(x: Mat) -> Mat:
    """Return the different elements in ascending order, NaN once."""
    return Different(_as_vector(x), True, False).values()


def _as_vector(x: Mat) -> Mat:
    """Return the elements by rows."""
    return x if x.ndim == 1 else x.contiguous().reshape(-1)


def _is_member(x: Mat, of: Mat, invert: bool) -> Mat:
    """Return whether each element of `x` is one of those of `of`; with `invert` whether it is none.

    NaN is none.
    """
    dtype = np.result_type(x.dtype, of.dtype)
    x, of = (v.astype(dtype, copy=False) for v in (x, _as_vector(of)))
    if not of.size or not x.size:
        found = full(x.shape, invert, "bool")
        found.device_enabled = x.device_enabled
        return found
    members = sort(of)
    places = elementwise.minimum(searchsorted(members, x), of.size - 1)
    nearest = take(members, places, 0)
    compare = elementwise.not_equal if invert else elementwise.equal
    return compare(nearest, x)


def _common_with_places(x: Mat, y: Mat, are_sets: bool) -> tuple[Mat, Mat, Mat]:
    """Return the elements that two vectors have in common, ascending, and where they are first in
    `x` and in `y`; `are_sets` if the elements of each are different.
    """
    if not are_sets:
        a, b = Different(x, True, True), Different(y, True, True)
        found, of_a, of_b = _common_with_places(a.values(), b.values(), True)
        one = gathered_at(a.indices(), of_a, 0, (0,))
        return found, one, gathered_at(b.indices(), of_b, 0, (0,))
    both = concat([x, y])
    order = argsort(both)
    first, second = _neighbours(gathered_at(both, order, 0, (0,)))
    same = elementwise.equal(first, second)
    before, after = (_where(same, places) for places in _neighbours(order))
    return _where(same, first), before, elementwise.subtract(after, x.size)


def _neighbours(x: Mat) -> tuple[Mat, Mat]:
    """Return views of a vector without its last, and without its first element."""
    return along(x, 0, slice(None, -1)), along(x, 0, slice(1, None))


def _where(mask: Mat, x: Mat) -> Mat:
    """Return the elements of a vector where a mask is true."""
    return gathered_at(x, positions_of(mask), 0, (0,))
