"""Calls that operations leave to NumPy: it computes them on the host, without warnings."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TypeVar

import numpy as np

from ...errors import DTypeError, ShapeError
from ...matrix.delegate import delegate
from ...matrix.mat import Mat
from ...support.dtypes import SUPPORTED
from ...support.types import Arguments, DType, Function, Keywords, Operand
from .loops import in_comparison

T = TypeVar("T")
_SEVERAL = (list, tuple)  # a union of types is made anew at each use
# called with the name of a function whose result keeps elements that Mats cannot have; if there
# are none, such a result is an error
KEPT: list[Callable[[str], object]] = []


# Floating-point specials without warnings: log 0 is -inf here, as on a device, whatever NumPy's
# error state is. `numpy.errstate` does this too, at three times the cost of a small operation.
# NumPy keeps its state in a context variable, which is found by public means; plans set it directly


def _find() -> tuple[ContextVar[object], object]:
    """Return NumPy's context variable of the error state, and its value for "ignore everything"."""
    before = copy_context()
    with np.errstate(all="ignore"):
        inside = copy_context()
    changed = [v for v in inside if inside[v] is not before.get(v)]
    if len(changed) == 1:
        return changed[0], inside[changed[0]]
    raise ImportError("this NumPy keeps its error state elsewhere; mat needs NumPy 2.0 or newer")


STATE, QUIET = _find()


class LeftToNumPy(Exception):
    """The signal of an implementation that NumPy is to compute."""


def leave_if(condition: object) -> None:
    """Leave the call to NumPy if `condition` is true."""
    if condition:
        raise LeftToNumPy


def or_leave(found: T | None) -> T:
    """Return the result; leave the call to NumPy if it is None."""
    if found is None:
        raise LeftToNumPy
    return found


def ufunc_by_numpy(ufunc: np.ufunc, method: str, operands: Arguments, kwargs: Keywords) -> Operand:
    """Call a method of `ufunc` with arrays for Mats, without warnings; return Mats for arrays."""
    if method == "__call__":
        operands = in_comparison(ufunc, operands)
    token = STATE.set(QUIET)
    try:
        return delegate(getattr(ufunc, method), operands, kwargs, name=ufunc.__name__)
    finally:
        STATE.reset(token)


def equal_by_numpy(rule: Function, x: Mat, other: object, refused: DTypeError) -> Operand:
    """Return `rule` of elements that Mats cannot have; raise `refused` if NumPy cannot compare."""
    try:
        return delegate(rule, (x, other))
    except TypeError:
        raise refused from None
    except ValueError as error:
        raise ShapeError(str(error)) from None


def call_by_numpy(ufunc: np.ufunc, operands: Arguments, kwargs: Keywords) -> Operand:
    """Call `ufunc` with keywords; refuse results of elements that Mats cannot have."""
    found = ufunc_by_numpy(ufunc, "__call__", operands, kwargs)
    outs = kwargs.get("out")
    refuse_other_elements(ufunc.__name__, found, outs if isinstance(outs, tuple) else (outs,))
    return found


def other_elements(name: str, dtype: DType) -> DTypeError:
    """Return the error of a result with elements that no Mat can have."""
    return DTypeError(f"{name} gives elements of {dtype}, which a Mat cannot have; use "
                      f"numpy.{name} and its array")


def refuse_other_elements(name: str, found: object, outs: tuple[object, ...] = ()) -> None:
    """Raise `DTypeError` for an array, not of the caller's `outs`, that no Mat can hold."""
    if type(found) is Mat:
        return
    if isinstance(found, np.ndarray):
        if found.dtype.name not in SUPPORTED and not any(found is a for a in outs):
            if KEPT:
                for notify in tuple(KEPT):
                    notify(name)
                return
            raise other_elements(name, found.dtype)
    elif isinstance(found, dict):
        refuse_other_elements(name, list(found.values()), outs)
    elif isinstance(found, _SEVERAL):
        for part in found:
            refuse_other_elements(name, part, outs)
