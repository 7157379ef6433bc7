"""The dtypes in which NumPy's ufuncs compute with Mats, arrays and numbers."""

from __future__ import annotations

import numpy as np

from ...errors import DTypeError
from ...matrix.mat import Mat
from ...support.dtypes import FLOATING, INTEGERS
from ...support.types import Arguments, DType, DTypeLike, Operand

LOGIC = frozenset((np.logical_and, np.logical_or, np.logical_xor))
_BOOL, _TRUTHS = np.dtype(np.bool_), frozenset(INTEGERS + FLOATING)
_WEAK: dict[type, DType | type] = {bool: _BOOL, int: int, float: float,
                                   complex: complex}
_LOOPS: dict[tuple[object, ...], tuple[DType, ...]] = {}


def _kind(value: object) -> DType | type:
    """Return the promotion kind of a value: a dtype, or int, float or complex for a Python number
    that adapts.
    """
    if isinstance(value, Mat):
        return value.element_type
    return _WEAK.get(type(value)) or np.asarray(value).dtype


def loop_dtypes(rule: np.ufunc, *operands: Operand) -> tuple[DType, ...]:
    """Return the dtypes that `rule` converts such operands to, and that of its result; for logic
    these are bool, unless all Mats are of one dtype that kernels compare with 0.
    """
    if rule in LOGIC:
        of_mats = {x.element_type for x in operands if isinstance(x, Mat)}
        one = of_mats.pop() if len(of_mats) == 1 else _BOOL
        return (*(one if one.char in _TRUTHS else _BOOL,) * 2, _BOOL)
    key = (rule, *map(_kind, operands))
    found = _LOOPS.get(key)
    if found is None:
        try:
            found = _LOOPS[key] = rule.resolve_dtypes((*map(_kind, operands), None))
        except TypeError:
            kinds = " and ".join(str(getattr(k, "name", getattr(k, "__name__", k)))
                                 for k in key[1:])
            raise DTypeError(f"{rule.__name__} is not defined for {kinds}; convert with "
                             "astype") from None
    return found


def is_natural(ufunc: np.ufunc, inputs: Arguments, dtype: DTypeLike) -> bool:
    """Return whether ``dtype=`` requests the ufunc's own computation, in one dtype."""
    if dtype is None:
        return True
    if ufunc.nout != 1 or ufunc.signature is not None:
        return False
    try:
        found = loop_dtypes(ufunc, *inputs)
    except DTypeError:  # it is defined for other dtypes only, such as subtract, which has no bool
        return False
    wanted = np.dtype(dtype)
    return wanted == _BOOL if ufunc in LOGIC else all(d == wanted for d in found)
