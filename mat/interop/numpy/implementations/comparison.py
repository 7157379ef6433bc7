"""NumPy's functions that compare two whole arrays."""

from __future__ import annotations

from ....core.compiled import IN_USE
from ....matrix.mat import Mat
from ....ops import shape
from ....ops.overlap import overlap
from ....support.types import Number, Operand
from ..operands import as_mats
from ..registry import Result, implements

_REAL = (int, float)


@implements("array_equal")
def numpy_array_equal(a1: Operand, a2: Operand, equal_nan: bool = False) -> Result:
    found = as_mats([a1, a2])
    return NotImplemented if not found or equal_nan else found[0].equals(found[1])


@implements("allclose")
def numpy_allclose(a: Operand, b: Operand, rtol: Number = 1e-5, atol: Number = 1e-8,
                   equal_nan: bool = False) -> Result:
    if not IN_USE:
        return NotImplemented  # on the host this operation is NumPy's function with longer checks
    found = as_mats([a, b])
    if not found or found[0].shape != found[1].shape:
        return NotImplemented
    if not all(type(x) in _REAL and x >= 0 for x in (rtol, atol)):
        return NotImplemented
    return shape.allclose(found[0], found[1], rtol, atol, bool(equal_nan))


@implements("shares_memory", "may_share_memory")
def numpy_shares_memory(a: Operand, b: Operand, /, max_work: int | None = None) -> Result:
    return overlap(a, b) if isinstance(a, Mat) and isinstance(b, Mat) else NotImplemented
