"""NumPy's `einsum` of two operands, where it is a product of matrices."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ....support.dtypes import BLAS_TYPES
from ....support.types import Operand
from ..operands import as_mats
from ..registry import Result, implements
from .products import numpy_tensordot


class Contraction(NamedTuple):
    """How subscripts of two operands are a `tensordot`: with the operands exchanged or not, over
    which axes of both, and in which order the axes of the result are wanted.
    """

    exchanged: bool
    axes: tuple[list[int], list[int]]
    order: tuple[int, ...]


@implements("einsum")
def numpy_einsum(*operands: Operand, out: Operand = None, optimize: object = False,
                 **kwargs: object) -> Result:
    if len(operands) != 3 or not isinstance(operands[0], str) or out is not None or kwargs:
        return NotImplemented
    if not isinstance(optimize, bool):
        return NotImplemented
    subscripts, *given = operands
    mats = as_mats(given)
    if not mats or any(m.dtype != mats[0].dtype for m in mats) or (
            mats[0].dtype.char not in BLAS_TYPES):
        return NotImplemented
    found = contraction(subscripts, mats[0].ndim, mats[1].ndim)
    if found is None:
        return NotImplemented
    a, b = reversed(mats) if found.exchanged else mats
    if any(a.shape[j] != b.shape[k] for j, k in zip(*found.axes, strict=True)):
        return NotImplemented  # NumPy broadcasts axes of length 1, or refuses others
    result = numpy_tensordot(a, b, found.axes)
    in_order = found.order == tuple(range(result.ndim))
    return result if in_order else result.permute(found.order).copy()


@cache
def contraction(subscripts: str, of_a: int, of_b: int) -> Contraction | None:
    """Return how `subscripts` of operands with so many axes contract them; None if they do anything
    else than to sum over the axes that both have.
    """
    left, arrow, result = subscripts.replace(" ", "").partition("->")
    names = left.split(",")
    if len(names) != 2 or [len(n) for n in names] != [of_a, of_b]:
        return None
    if not (left.replace(",", "") + result).isalpha():
        return None
    common = set(names[0]) & set(names[1])
    kept = ["".join(k for k in n if k not in common) for n in names]
    if not arrow:
        result = "".join(sorted(kept[0] + kept[1]))
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
