"""NumPy's functions of sets, on devices: by sorting."""

from __future__ import annotations

from ....devices.in_use import computes_elsewhere
from ....matrix.mat import Mat
from ....ops import sets
from ....support.types import Operand
from ..operands import as_mat_if_possible
from ..registry import Result, implements


def _there(*operands: Operand) -> list[Mat]:
    """Return operands as Mats; none if they are to be left to NumPy."""
    if not any(isinstance(x, Mat) and computes_elsewhere(x) for x in operands):
        return []
    mats = [x for x in map(as_mat_if_possible, operands) if isinstance(x, Mat)]
    return mats if len(mats) == len(operands) and computes_elsewhere(*mats) else []


# the parameters are NumPy's
@implements("isin", of_many=True)
def numpy_isin(element: Operand, test_elements: Operand, assume_unique: bool = False,
               invert: bool = False, *, kind: Operand = None) -> Result:
    mats = _there(element, test_elements)
    if not mats or kind not in (None, "sort"):
        return NotImplemented
    return sets.is_member(mats[0], mats[1], bool(invert))


@implements("in1d")
def numpy_in1d(ar1: Operand, ar2: Operand, assume_unique: bool = False, invert: bool = False,
               *, kind: Operand = None) -> Result:
    mats = _there(ar1, ar2)
    if not mats or kind not in (None, "sort"):
        return NotImplemented
    return sets.is_member(sets.as_vector(mats[0]), mats[1], bool(invert))


def _as_sets(mats: list[Mat], are_unique: bool) -> list[Mat]:
    return [sets.as_vector(x) if are_unique else sets.different(x) for x in mats]


@implements("intersect1d")
def numpy_intersect1d(ar1: Operand, ar2: Operand, assume_unique: bool = False,
                      return_indices: bool = False) -> Result:
    mats = _there(ar1, ar2)
    if not mats:
        return NotImplemented
    if return_indices:
        one, other = map(sets.as_vector, mats)
        return sets.common_with_places(one, other, bool(assume_unique))
    return sets.common(*_as_sets(mats, assume_unique))


@implements("union1d")
def numpy_union1d(ar1: Operand, ar2: Operand) -> Result:
    mats = _there(ar1, ar2)
    if not mats:
        return NotImplemented
    return sets.union(*mats)


@implements("setdiff1d")
def numpy_setdiff1d(ar1: Operand, ar2: Operand, assume_unique: bool = False) -> Result:
    mats = _there(ar1, ar2)
    if not mats:
        return NotImplemented
    return sets.missing_in(*_as_sets(mats, assume_unique))


@implements("setxor1d")
def numpy_setxor1d(ar1: Operand, ar2: Operand, assume_unique: bool = False) -> Result:
    mats = _there(ar1, ar2)
    if not mats:
        return NotImplemented
    return sets.in_one_only(*_as_sets(mats, assume_unique))
