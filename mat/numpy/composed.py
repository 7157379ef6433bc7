"""NumPy's ufuncs, and methods of them, that devices have no kernels of: while a device is in use,
they are made of operations that compute there.
"""

from __future__ import annotations

import numpy as np

from ..devices.in_use import computes_elsewhere
from ..errors import DTypeError
from ..matrix.mat import Mat
from ..ops.engine.by_numpy import LeftToNumPy, leave_if, or_leave
from ..support.types import Arguments, Function, Keywords, Operand
from .operands import as_mat_if_possible
from .registry import COMPOSED, Result

_WEAK = (bool, int, float, complex)


def composed(ufunc: np.ufunc, method: str, inputs: Arguments, kwargs: Keywords) -> Result:
    """Call a method of `ufunc` on the device in use; leave it to NumPy where there is none."""
    implementation = or_leave(COMPOSED.get((ufunc, method)))
    outs = kwargs.get("out", ())
    others = {k: v for k, v in kwargs.items() if k != "out" and v is not None}
    if method != "__call__":
        if "axis" in kwargs:
            others["axis"] = kwargs["axis"]
        leave_if(not isinstance(inputs[0], Mat) or not computes_elsewhere(inputs[0]))
        return _written(_called(implementation, (ufunc, *inputs), others), outs)
    operands = operands_there(inputs)
    leave_if(others or not operands)
    return _written(_called(implementation, operands, {}), outs)


def _called(implementation: Function, args: Arguments, kwargs: Keywords) -> Result:
    """Return the result of an implementation; invalid calls are left to NumPy's errors."""
    try:
        return implementation(*args, **kwargs)
    except DTypeError:
        raise LeftToNumPy from None


def operands_there(inputs: Arguments) -> Arguments:
    """Return operands as Mats, except Python's numbers, which adapt; an empty tuple if they are to
    be left to NumPy.
    """
    found = tuple(x if type(x) in _WEAK else as_mat_if_possible(x) for x in inputs)
    mats = [x for x in found if isinstance(x, Mat)]
    known = all(type(x) in _WEAK or isinstance(x, Mat) for x in found)
    return found if known and mats and computes_elsewhere(*mats) else ()


def _written(found: Result, outs: tuple[Operand, ...]) -> Result:
    """Return the results, in the Mats given as ``out=``, if they take them."""
    if all(out is None for out in outs):
        return found
    parts = found if isinstance(found, tuple) else (found,)
    for part, out in zip(parts, outs, strict=True):
        leave_if(out is not None and not (isinstance(out, Mat) and out.shape == part.shape
                                          and np.can_cast(part.dtype, out.dtype, "same_kind")))
    written = tuple(part if out is None else out.assign_(part)
                    for part, out in zip(parts, outs, strict=True))
    return written if isinstance(found, tuple) else written[0]
