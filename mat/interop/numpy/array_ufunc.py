"""NumPy's ufuncs on Mats: ``Mat.__array_ufunc__``.

A ufunc for which there is one runs as that, on whatever device; any other is delegated to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...cpu.errstate import QUIET, STATE
from ...matrix.mat import Mat
from ...matrix.methods import bind
from ...ops import elementwise as ew
from ...ops import linalg, reduce
from ...ops.declare_elementwise import as_operand, check_out, has_its_own_way
from ...ops.operation import named
from ...support.dtypes import REAL_TYPES, SUPPORTED
from . import operators
from .dispatch import delegate


def _invert(x: Any, out: Any = None) -> Any:
    """``~x``"""
    found = operators.invert(as_operand(x, "x"))
    if out is None:
        return found
    check_out(np.invert, out, found)
    return out.assign_(found)


IMPLEMENTATIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.square: ew.square, np.sqrt: ew.sqrt, np.exp: ew.exp, np.expm1: ew.expm1, np.log: ew.log,
    np.log1p: ew.log1p,
    np.sin: ew.sin, np.cos: ew.cos, np.tan: ew.tan, np.sinh: ew.sinh, np.cosh: ew.cosh,
    np.tanh: ew.tanh,
    np.absolute: ew.abs, np.negative: ew.negative, np.sign: ew.sign, np.floor: ew.floor,
    np.ceil: ew.ceil, np.rint: ew.rint,
    np.reciprocal: ew.reciprocal, np.add: ew.add, np.subtract: ew.subtract,
    np.multiply: ew.multiply, np.divide: ew.divide,
    np.power: ew.pow, np.maximum: ew.maximum, np.minimum: ew.minimum, np.equal: ew.equal,
    np.not_equal: ew.not_equal,
    np.less: ew.less, np.less_equal: ew.less_equal, np.greater: ew.greater,
    np.greater_equal: ew.greater_equal,
    np.matmul: linalg.matmul, np.bitwise_and: operators.bitwise_and,
    np.bitwise_or: operators.bitwise_or,
    np.bitwise_xor: operators.bitwise_xor, np.invert: _invert,
}
REDUCTIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: reduce.sum, np.multiply: reduce.prod, np.maximum: reduce.max, np.minimum: reduce.min}
_SPECIAL = {"erf": ew.erf, "expit": ew.logistic}  # of scipy.special, which need not be imported
_NUMBERS = {bool, int, float, complex, *(np.dtype(n).type for n in SUPPORTED if n != "bfloat16")}
_KNOWN: dict[np.dtype[Any], bool] = {}


def is_known(dtype: np.dtype[Any]) -> bool:
    """Whether a Mat can have that dtype."""
    found = _KNOWN.get(dtype)
    if found is None:
        found = _KNOWN[dtype] = dtype.name in SUPPORTED and dtype.isnative
    return found


def is_ours(value: Any) -> bool:
    """Whether our operations take `value` and mean by it what NumPy does: a Mat, or an array of a
    dtype that a Mat can have.
    """
    return isinstance(value, Mat) or (type(value) is np.ndarray and is_known(value.dtype))


def _fits(inputs: tuple[Any, ...]) -> bool:
    """Whether our operations take all of these, numbers too but not only."""
    several = False
    for x in inputs:
        if type(x) is Mat or is_ours(x):
            several = True
        elif type(x) not in _NUMBERS:
            return False
    return several


# NumPy's protocol
def _array_ufunc(self: Mat, ufunc: np.ufunc, method: str, *inputs: Any,
                 **kwargs: Any) -> Any:
    """What NumPy calls for a ufunc with a Mat among its operands, outputs or ``where``."""
    if method == "__call__":
        implements = IMPLEMENTATIONS.get(ufunc)
        if implements is not None and _fits(inputs):
            if not kwargs:
                return implements(*inputs)
            out = kwargs["out"][0] if len(kwargs) == 1 and "out" in kwargs else None
            if isinstance(out, Mat):
                return implements(*inputs, out=out)
    if any(map(has_its_own_way, (*inputs, *kwargs.get("out", ())))):
        return NotImplemented
    if method == "reduce":
        found = _reduced(ufunc, inputs[0], kwargs)
    elif method == "outer":
        return _outer(ufunc, inputs, kwargs)
    else:
        found = _of_scipy(ufunc, inputs) if method == "__call__" and not kwargs else None
    if found is not None:
        return found
    written = [inputs[0]] if method == "at" and isinstance(inputs[0], Mat) else ()
    # as operations of ours are: log10(0) is -inf without a warning, if log(0) is
    token = STATE.set(QUIET)
    try:
        return delegate(getattr(ufunc, method), inputs, kwargs, written=written,
                        name=ufunc.__name__)
    finally:
        STATE.reset(token)


def can_hold_sums(out: Any) -> bool:
    """Whether our reductions write to `out`, if there is one; NumPy computes in its dtype, which
    matters for bool.
    """
    return out is None or (isinstance(out, Mat) and out.dtype.kind != "b")


def _reduced(ufunc: np.ufunc, x: Any, kwargs: dict[str, Any]) -> Any:
    """A reduction of ours; None if there is none for these arguments."""
    implements = REDUCTIONS.get(ufunc)
    (out,) = kwargs.get("out", (None,))
    plain = kwargs.get("dtype") is None and not kwargs.keys() & {"initial", "where"}
    if implements is None or not plain or not can_hold_sums(out) or not is_ours(x) or x.ndim == 0:
        return None
    return implements(x, kwargs.get("axis", 0), bool(kwargs.get("keepdims", False)), out)


def _outer(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``ufunc.outer(a, b)``: the ufunc of a with as many axes after its own as b has, and b."""
    a, b = (x if isinstance(x, Mat) else np.asanyarray(x) for x in inputs)
    return ufunc(a[(..., *(None,) * b.ndim)], b, **kwargs)


def _of_scipy(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """What is in ``scipy.special`` and is an operation of ours too, for dtypes in which both
    compute; else None.
    """
    implements = _SPECIAL.get(ufunc.__name__)
    if implements is None or len(inputs) != 1 or not isinstance(inputs[0],
                                                                Mat) or inputs[0].dtype.char not in REAL_TYPES:
        return None
    return implements(inputs[0])


# Mat
bind("__array_ufunc__", named(_array_ufunc, "__array_ufunc__", _array_ufunc.__doc__ or ""))
