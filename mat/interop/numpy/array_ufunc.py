"""NumPy's ufuncs on Mats: ``Mat.__array_ufunc__``.

A ufunc that is an operation of `mat`, too, runs as that on the device in use; any other is
delegated to NumPy.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ...core.compiled import IN_USE, PackedMethod
from ...cpu.errstate import QUIET, STATE
from ...errors import DTypeError
from ...matrix.exports import exported_array
from ...matrix.mat import Mat
from ...matrix.methods import bind
from ...ops import elementwise as ew
from ...ops import linalg, missing, reduce, scan, ufuncs
from ...ops.adapting import in_comparison
from ...ops.calls import Calls
from ...ops.declare_elementwise import LOGIC, loop_dtypes
from ...ops.matmul import product
from ...ops.operands import has_its_own_way, has_priority
from ...ops.operation import named
from ...support.dtypes import ELEMENT_TYPES, EXTENSIONS, REAL_TYPES
from ...support.types import Arguments, DTypeLike, Function, Keywords, Operand
from .composed import composed
from .dispatch import delegate
from .operands import can_hold_sums, is_mat_or_array
from .registry import IMPLEMENTATIONS as FUNCTIONS
from .ufunc_at import at_places

IMPLEMENTATIONS: dict[np.ufunc, Function] = {
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
    np.isnan: ew.isnan, np.isfinite: ew.isfinite, np.isinf: ew.isinf,
    np.matmul: linalg.matmul, np.divmod: ufuncs.quotient_and_remainder,
    **{getattr(np, name): function for name, function in ufuncs.BY_NAME.items()},
}
REDUCTIONS: dict[np.ufunc, Function] = {
    np.add: reduce.sum, np.multiply: reduce.prod, np.maximum: reduce.max, np.minimum: reduce.min,
    np.fmax: missing.largest, np.fmin: missing.smallest}
# functions that reduce as a ufunc does
_SAME: dict[np.ufunc, Function] = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min,
    np.logical_and: np.all, np.logical_or: np.any}
_SCIPY_SPECIAL = {"erf": ew.erf, "expit": ew.logistic}  # by name: SciPy need not be imported
# operations that compute what these do of Mats and numbers, whose values need no check
_KERNELS: dict[np.ufunc, Calls] = {
    ufunc: kernel for ufunc, function in IMPLEMENTATIONS.items()
    if (kernel := getattr(function, "kernel", None)) is not None}
# with types of C
_mat_type, _implementations, _in_use, _product = Mat, IMPLEMENTATIONS, IN_USE, product
_matmul = np.matmul
_FIRST = 3  # position of the first operand
_NUMBERS = {bool, int, float, complex,
            *(np.dtype(t.name).type for t in ELEMENT_TYPES if t.char not in EXTENSIONS)}


def _are_operands(inputs: Arguments) -> bool:
    """Return whether all of these are Mats, arrays and numbers, but not only numbers."""
    several = False
    for x in inputs:
        if type(x) is _mat_type or is_mat_or_array(x):
            several = True
        elif type(x) not in _NUMBERS:
            return False
    return several


def _is_natural(ufunc: np.ufunc, inputs: Arguments, dtype: DTypeLike) -> bool:
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
    return all(d == wanted for d in found)


def _at_once(kernel: Calls, args: Arguments, kwargs: Keywords | None) -> Operand:
    """Fast path: call the operation if its operands, from the third argument on, are Mats or
    numbers, and ``out=`` is a Mat; else return None, with nothing done.
    """
    if not kwargs:
        return kernel.at_once(args, _FIRST, None)
    out = _only_out(kwargs)
    return None if out is None else kernel.at_once(args, _FIRST, out)


def _product_at_once(args: Arguments, kwargs: Keywords | None) -> Operand:
    """Multiply two Mats, on the host, into a third one of another storage; return None, with
    nothing done, for other arguments.
    """
    out = _only_out(kwargs) if kwargs else None
    if type(out) is not _mat_type or _in_use or len(args) != _FIRST + 2:
        return None
    _, _, _, a, b = args
    if type(a) is not _mat_type or type(b) is not _mat_type:
        return None
    one, other, to = a, b, out
    if one.storage is to.storage or other.storage is to.storage:
        return None
    return _product.carry_out((a, b, out), {})


def _only_out(kwargs: Keywords) -> Operand:
    """Return the first ``out=``, if there is no other keyword; else None."""
    given = kwargs.get("out") if len(kwargs) == 1 else None
    return None if given is None else given[0]


def _implemented(ufunc: np.ufunc, inputs: Arguments, kwargs: Keywords) -> Operand:
    """Call the function of `mat` that computes the ufunc; return None, with nothing done, if there
    is none that takes the arguments.
    """
    implementation = _implementations.get(ufunc)
    if implementation is None or not _are_operands(inputs):
        return None
    if not kwargs or (len(kwargs) == 1 and "dtype" in kwargs
                      and _is_natural(ufunc, inputs, kwargs["dtype"])):
        return implementation(*inputs)
    out = _only_out(kwargs)
    if isinstance(out, Mat) and ufunc.nout == 1:
        return implementation(*inputs, out=out)
    return None


def call_ufunc(args: Arguments, kwargs: Keywords | None) -> Operand:
    """Call a ufunc that has a Mat among its operands, its outputs or in ``where``.

    Parameters
    ----------
    args : tuple
        The arguments of ``__array_ufunc__``: a Mat, the ufunc, the name of its method, operands.
    kwargs : dict or None
        Its keywords, which are not changed.

    Returns
    -------
    object
        What the method of the ufunc returns.
    """
    if len(args) < _FIRST:
        raise DTypeError("__array_ufunc__ requires a ufunc, the name of a method and operands")
    if args[2] == "__call__":
        kernel = _KERNELS.get(args[1])
        if kernel is not None:
            found = _at_once(kernel, args, kwargs)
        else:
            found = _product_at_once(args, kwargs) if args[1] is _matmul else None
        if found is not None:
            return found
    return _by_rules(args[1], args[2], args[_FIRST:], dict(kwargs) if kwargs else {})


# NumPy's protocol fixes the signature
def _shown(self: Mat, ufunc: np.ufunc, method: str, *inputs: Operand,
           **kwargs: Operand) -> Operand:
    """Call a ufunc that has a Mat among its operands, its outputs or in ``where``."""


def _by_rules(ufunc: np.ufunc, method: str, inputs: Arguments, kwargs: Keywords) -> Operand:
    """Call a ufunc, or a method of one, with arguments of any kind."""
    if method == "__call__":
        found = _implemented(ufunc, inputs, kwargs)
        if found is not None:
            return found
    if any(map(has_its_own_way, (*inputs, *kwargs.get("out", ())))):
        if not any(map(has_priority, inputs)):
            return NotImplemented
        # pandas asks the Mat, and has labels of which it alone knows
        return getattr(ufunc, method)(*(exported_array(x) if isinstance(x, Mat) else x
                                        for x in inputs), **kwargs)
    if method == "reduce":
        found = _reduce(ufunc, inputs[0], kwargs)
    elif method == "accumulate":
        found = _accumulate(ufunc, inputs, kwargs)
    elif method == "outer":
        return _outer(ufunc, inputs, kwargs)
    elif method == "at":
        return at_places(ufunc, inputs, kwargs)
    elif method == "__call__" and not kwargs:
        found = _scipy_special(ufunc, inputs)
    else:
        found = NotImplemented
    if found is NotImplemented and _in_use:
        found = composed(ufunc, method, inputs, kwargs)
    if found is not NotImplemented:
        return found
    if method == "__call__":
        inputs = in_comparison(ufunc, inputs)
    # silent as operations of `mat` are: log10(0) is -inf without a warning, since log(0) is
    token = STATE.set(QUIET)
    try:
        return delegate(getattr(ufunc, method), inputs, kwargs, name=ufunc.__name__)
    finally:
        STATE.reset(token)


def _reduce(ufunc: np.ufunc, x: Operand, kwargs: Keywords) -> Operand:
    """Compute ``ufunc.reduce`` by a reduction of `mat`, where there is one for the arguments."""
    if not is_mat_or_array(x) or x.ndim == 0:
        return NotImplemented
    reduction = REDUCTIONS.get(ufunc)
    (out,) = kwargs.get("out", (None,))
    plain = kwargs.get("dtype") is None and not kwargs.keys() & {"initial", "where"}
    if reduction is not None and plain and can_hold_sums(out):
        return reduction(x, kwargs.get("axis", 0), out=out, keepdims=bool(kwargs.get("keepdims")))
    implementation = FUNCTIONS.get(_SAME.get(ufunc))
    known = {"axis", "out", "keepdims", "initial", "where"}
    if ufunc in (np.add, np.multiply):
        known.add("dtype")
    given = {k: v for k, v in kwargs.items() if v is not None or k == "axis"}
    if implementation is None or given.keys() - known or (out is not None and not plain):
        return NotImplemented
    if ufunc in LOGIC and "initial" in given:
        return NotImplemented
    return implementation(x, **{"axis": 0, **given, "out": out})


def _accumulate(ufunc: np.ufunc, inputs: Arguments, kwargs: Keywords) -> Operand:
    """Compute ``ufunc.accumulate`` by a scan of `mat`, where there is one for the arguments."""
    running, x = scan.BY_UFUNC.get(ufunc), inputs[0]
    (out,) = kwargs.get("out", (None,))
    axis = inputs[1] if len(inputs) > 1 else kwargs.get("axis", 0)
    if running is None or len(inputs) > 2 or kwargs.get("dtype") is not None:
        return NotImplemented
    if type(x) is not Mat or not x.ndim or type(axis) is not int or not can_hold_sums(out):
        return NotImplemented
    return running(x, axis, None, out)


def _outer(ufunc: np.ufunc, inputs: Arguments, kwargs: Keywords) -> Operand:
    """Compute ``ufunc.outer(a, b)`` by broadcasting: `a` gets as many new axes as `b` has."""
    a, b = (x if isinstance(x, Mat) else np.asanyarray(x) for x in inputs)
    return ufunc(a[(..., *(None,) * b.ndim)], b, **kwargs)


def _scipy_special(ufunc: np.ufunc, inputs: Arguments) -> Operand:
    """Compute a ufunc of ``scipy.special`` that is an operation of `mat`, too."""
    implementation = _SCIPY_SPECIAL.get(ufunc.__name__)
    if implementation is None or len(inputs) != 1:
        return NotImplemented
    x = inputs[0]
    real = isinstance(x, Mat) and x.dtype.char in REAL_TYPES
    return implementation(x) if real else NotImplemented


_array_ufunc: Any = PackedMethod(call_ufunc)
_array_ufunc.__signature__ = inspect.signature(_shown)
bind("__array_ufunc__", named(_array_ufunc, "__array_ufunc__", _shown.__doc__ or ""))
