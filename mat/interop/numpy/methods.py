"""Methods that NumPy's arrays have, for code that was written for these: each is NumPy's function
of that name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...matrix.mat import Mat
from ...matrix.methods import bind, method
from ...ops.operation import named

NAMES = ("all", "any", "argsort", "clip", "conj", "cumprod", "cumsum", "nonzero", "ravel", "repeat",
         "round", "searchsorted",
         "std", "take", "trace", "var")


def _method(name: str) -> Callable[..., Any]:
    """``x.name(...)`` is ``np.name(x, ...)``, which comes back to us."""
    function = getattr(np, name)

    def method(self: Mat, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    try:
        _, *others = inspect.signature(function).parameters.values()
    except ValueError:  # of a ufunc, before NumPy 2.4
        others = [inspect.Parameter("out", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)]
    others = [p for p in others if p.kind is not inspect.Parameter.VAR_KEYWORD]
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    # functions take attributes
    method.__signature__ = inspect.Signature([own, *others])  # type: ignore[attr-defined]
    return named(method, name, f"``numpy.{name}`` of self and the arguments; gives Mats.")


@method("flatten")
def flatten(self: Mat) -> Mat:
    """A new Mat with the elements of self in row-major order, without axes but one.

    >>> import mat
    >>> mat.array([[1, 2], [3, 4]]).T.flatten()
    <Mat 4 F [1. 3. 2. 4.]>
    """
    return self.copy().reshape(-1)  # ops/ adds it


for _name in NAMES:
    bind(_name, _method(_name))
