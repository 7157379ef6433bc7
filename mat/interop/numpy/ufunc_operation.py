"""`UfuncOperation`: an operation of two operands that NumPy computes on the host, without warnings.

The checks of operands are made once for each pair of element types; a call whose operands passed
them goes directly to the ufunc.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ...cpu.errstate import QUIET, STATE
from ...matrix.mat import Mat
from ...matrix.operators import Operation
from ...support.types import Arguments, DType, Keywords, Operand
from .reading import call_reading

Checked: TypeAlias = Callable[[Operand, Operand, Mat | None], Mat]
Kinds: TypeAlias = tuple[DType | type, DType | type]

_mat, _state, _quiet, _set, _reset = Mat, STATE, QUIET, STATE.set, STATE.reset  # types of C
_NO_KEYWORDS: Keywords = {}


class UfuncOperation(Operation):
    """``rule(x, y)`` for Mats and numbers.

    ``checked(x, y, out)`` checks and converts the operands, and computes. What it makes of booleans
    is not left to `rule` unless `of_bools`.
    """

    __slots__ = ("checked", "of_bools", "rule", "taken")

    def __init__(self, rule: np.ufunc, checked: Checked, of_bools: bool) -> None:
        self.rule: Any = rule
        self.checked: Checked = checked
        self.of_bools: bool = of_bools
        self.taken: set[Kinds] = set()  # of operands that passed the checks

    def make(self, args: Arguments) -> Operand:
        """Compute ``rule(x, y)`` as a new Mat; `args` has None in its place."""
        return self.apply(args[0], args[1])

    def carry_out(self, args: Arguments,
                  kwargs: Keywords) -> Operand:  # noqa: ARG002  # of every operation
        """Compute ``rule(x, y)`` into the third of `args`."""
        return self.checked(args[0], args[1], args[2])

    def apply(self, x: Operand, y: Operand) -> Operand:
        """Compute ``rule(x, y)``; return a new Mat."""
        kinds = _kinds(x, y)
        if kinds is None or kinds not in self.taken:
            found = self.checked(x, y, None)
            if kinds is not None and (self.of_bools or found.dtype.kind != "b"):
                self.taken.add(kinds)
            return found
        token = _set(_quiet)
        try:
            return call_reading(self.rule, (x, y), _NO_KEYWORDS)
        finally:
            _reset(token)


def _kinds(x: Operand, y: Operand) -> Kinds | None:
    """Return what decides whether a ufunc takes `x` and `y`, of which one has to be a Mat; None if
    the value of the other one does.
    """
    if type(x) is _mat:
        kind = y.dtype if type(y) is _mat else _kind_beside(x, y)
        return None if kind is None else (x.dtype, kind)
    kind = _kind_beside(y, x) if type(y) is _mat else None
    return None if kind is None else (kind, y.dtype)


def _kind_beside(mat: Mat, number: Operand) -> type | None:
    """Return the type of a number that every check takes beside `mat`; None for others."""
    kind = type(number)
    if kind is int:
        form = mat.form
        return int if form.lowest <= number <= form.highest else None
    return float if kind is float else None
