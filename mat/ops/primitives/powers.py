"""The operator ``**``: some powers have functions of their own, as in NumPy."""

from __future__ import annotations

from typing import Any

from ...matrix.mat import Mat
from ...matrix.methods import bind
from ...matrix.operators import OPERATORS
from ...support.types import Function
from .elementwise import reciprocal, sqrt, square

_FUNCTIONS: dict[float, Function] = {2: square, 0.5: sqrt, -1: reciprocal}
_power: Any = OPERATORS["__pow__"].function


def _power_by_its_function(self: Mat, other: object) -> object:
    """Return ``self ** other``."""
    if type(other) is int or type(other) is float:
        kind, function = self.element_type.kind, _FUNCTIONS.get(other)
        # a power of integers that is a float is one, too; the square of bools is of int8
        if function is not None and (kind in "fc" or (kind in "iub" and repr(other) == "2")):
            return function(self)
    return _power(self, other)


bind("__pow__", _power_by_its_function)
