"""Methods that NumPy's arrays have, for code that was written for these: each is NumPy's function
of that name. `clip` is a function of `mat`, too.
"""

from __future__ import annotations

import inspect

import numpy as np

from ..errors import SettingError
from ..layout.shapes import as_axes, as_axis
from ..matrix.mat import Mat
from ..matrix.methods import bind
from ..ops.engine.operands import as_mat, is_foreign, numpy_gives
from ..ops.engine.operation import named
from ..ops.engine.roles import method_like
from ..support.types import Function, Operand
from .array_function import call_numpy
from .registry import NO_VALUE

NAMES: list[str] = []  # of the methods that `bind_function` has bound


def bind_function(name: str, function: Function) -> None:
    """Bind NumPy's `function`, called with self as its first argument, as the method `name`."""
    def method(self: Mat, *args: Operand, **kwargs: Operand) -> Operand:
        try:
            return call_numpy(function, (self, *args), kwargs)
        except (TypeError, ValueError, OverflowError):
            # NumPy's own errors for an axis are of four classes
            axis = args[place] if 0 <= place < len(args) else kwargs.get("axis")
            if axis is not None:
                check(axis, self.ndim)
            raise

    others = _parameters(function)
    place = [p.name for p in others].index("axis") if any(p.name == "axis" for p in others) else -1
    check = as_axes if function in (np.all, np.any, np.std, np.var) else as_axis
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__dict__["__signature__"] = inspect.Signature([own, *others])
    NAMES.append(name)
    bind(name, named(method, name, _documentation(name, [p.name for p in others])))


def _parameters(function: Function) -> list[inspect.Parameter]:
    """Return the parameters of NumPy's `function` after its first."""
    try:
        _, *others = inspect.signature(function).parameters.values()
    except ValueError:  # of a ufunc, before NumPy 2.4
        return [inspect.Parameter("out", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)]
    return [p for p in others if p.kind is not inspect.Parameter.VAR_KEYWORD]


def _documentation(name: str, parameters: list[str]) -> str:
    arguments = f"Parameters\n----------\n{', '.join(parameters)}\n    As for ``numpy.{name}``.\n\n"
    return (f"Return ``numpy.{name}`` of self and the arguments, as Mats.\n\n"
            f"{arguments if parameters else ''}"
            f"Returns\n-------\nMat or tuple of Mat\n    As ``numpy.{name}`` returns arrays.")


bind_function("all", np.all)
bind_function("any", np.any)
bind_function("argsort", np.argsort)
bind_function("cumprod", np.cumprod)
bind_function("cumsum", np.cumsum)
bind_function("nonzero", np.nonzero)
bind_function("repeat", np.repeat)
bind_function("round", np.round)
bind_function("searchsorted", np.searchsorted)
bind_function("std", np.std)
bind_function("take", np.take)
bind_function("trace", np.trace)


# NumPy's parameters, and the places that the standard and the method have for `min` and `max`
def clip(a: Operand, min: Operand = None, max: Operand = None,
         out: Mat | None = None, *, a_min: Operand = None, a_max: Operand = None,
         **kwargs: Operand) -> Mat:
    """Return the elements, those beyond a bound being replaced by it.

    Parameters
    ----------
    a : Mat or array_like
        Of any shape.
    min, max : Mat, array_like or None
        The bounds, which broadcast; None is no bound.
    out : Mat, optional
        Is overwritten with the result.
    a_min, a_max : Mat, array_like or None
        The same, by the names that ``numpy.clip`` gives them.
    **kwargs
        ``dtype=``, ``where=`` and ``casting=``, as for ``numpy.clip``.

    Returns
    -------
    Mat
        `out`, or a new Mat.

    Notes
    -----
    Source: `numpy.clip`.

    Examples
    --------
    >>> import mat
    >>> mat.clip([1, 5, 9], 2, max=6)
    <Mat 3 int64 F [2 5 6]>
    """
    low, high = _bound("min", min, a_min), _bound("max", max, a_max)
    function: Function = np.clip
    if is_foreign(a) and not any(isinstance(v, Mat) for v in (low, high, out)):
        return numpy_gives(function, (a, low, high, out), kwargs)
    return call_numpy(function, (as_mat(a, "a"), low, high, out), kwargs)


def _bound(name: str, value: Operand, other: Operand) -> Operand:
    """Return the bound that is given, by one name or the other; None if there is none."""
    given = [v for v in (value, other) if v is not None and v is not NO_VALUE]
    if len(given) > 1:
        raise SettingError(f"two bounds, {name}={value!r} and a_{name}={other!r}; give one of them")
    return given[0] if given else None


# parameters and defaults of the method are not those of NumPy's function
def _clip(self: Mat, min: Operand = None, max: Operand = None,
          out: Mat | None = None, *, a_min: Operand = None, a_max: Operand = None,
          **kwargs: Operand) -> Mat:
    return clip(self, min, max, out, a_min=a_min, a_max=a_max, **kwargs)


NAMES.append("clip")
vars(_clip)["__signature__"] = inspect.Signature(
    [p for p in inspect.signature(_clip).parameters.values() if p.kind is not p.VAR_KEYWORD])
bind("clip", method_like(clip, _clip, "clip", "a"))
bind_function("var", np.var)
