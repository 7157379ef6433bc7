"""NumPy's ufuncs on Mats: ``Mat.__array_ufunc__``.

A ufunc that is an operation of `mat`, too, runs as that on the device in use; any other is
delegated to NumPy.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ..core.compiled import IN_USE, PackedMethod
from ..core.observers import OBSERVERS
from ..errors import DTypeError
from ..matrix.base import is_numpys
from ..matrix.brief_calls import NOT_BRIEF, call_briefly
from ..matrix.creation import small_copied
from ..matrix.exports import exported_array
from ..matrix.mat import Mat
from ..matrix.methods import bind
from ..ops.engine.by_numpy import QUIET, STATE, LeftToNumPy, leave_if, or_leave, ufunc_by_numpy
from ..ops.engine.calls import Calls
from ..ops.engine.functions import FunctionOfOne, FunctionOfTwo, masked
from ..ops.engine.loops import LOGIC, is_natural
from ..ops.engine.operands import has_its_own_way, has_priority
from ..ops.engine.operation import named
from ..ops.primitives import elementwise as ew
from ..ops.primitives import reduce, ufuncs
from ..ops.primitives.copying import converted
from ..ops.primitives.few_elements import same
from ..ops.primitives.few_indices import summed_between
from ..ops.primitives.reduce import ALL, ANY
from ..support.dtypes import ELEMENT_TYPES, EXTENSIONS, REAL_TYPES
from ..support.options import FLOAT32, FLOAT64
from ..support.plugins import at_first_use, plugin
from ..support.types import Arguments, Function, Keywords, Operand
from .array_function import call_implementation
from .operands import can_hold_sums, is_mat_or_array
from .short_calls import WAYS, ByPlan, Running, called_shortly, product, ranked_product
from .ufunc_at import at_briefly, at_places, composed

scan = at_first_use("ops.primitives.scan")


def _multiply_matrices(*args: Operand, **kwargs: Operand) -> Operand:
    """Compute a product of matrices, whose module is imported now, and this function replaced."""
    multiply: Any = implementation_of(np.matmul)
    return multiply(*args, **kwargs)


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
    np.matmul: _multiply_matrices, np.divmod: ufuncs.quotient_and_remainder,
    **{getattr(np, name): function for name, function in ufuncs.BY_NAME.items()},
}
REDUCTIONS: dict[np.ufunc, Function] = {
    np.add: reduce.sum, np.multiply: reduce.prod, np.maximum: reduce.max, np.minimum: reduce.min,
    np.fmax: lambda *args, **kwargs: reduce.extreme(*args, smallest=False, **kwargs),
    np.fmin: lambda *args, **kwargs: reduce.extreme(*args, smallest=True, **kwargs)}
# functions that reduce as a ufunc does
_SAME: dict[np.ufunc, Function] = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min,
    np.logical_and: np.all, np.logical_or: np.any}
# ufuncs of ``scipy.special``, by name: SciPy need not be imported
_SCIPY_SPECIAL: dict[str, Function] = {"erf": ew.erf, "expit": ew.logistic}
# operations that compute what these do of Mats and numbers, whose values need no check
_KERNELS: dict[np.ufunc, Calls] = {
    ufunc: function.kernel for ufunc, function in IMPLEMENTATIONS.items()
    if isinstance(function, FunctionOfOne | FunctionOfTwo) and function.kernel is not None}
_alike: dict[np.ufunc, Any] = {
    np.degrees: ufuncs.rad2deg, np.radians: ufuncs.deg2rad, np.fabs: ew.abs}
# operations that compute what these do of floats
_OF_FLOATS: dict[np.ufunc, Calls] = {ufunc: f.operation for ufunc, f in _alike.items()}
# of few elements, these are NumPy's: those without a kernel
_BY_NUMPY = {f for f in vars(np).values() if type(f) is np.ufunc and f not in IMPLEMENTATIONS}
# products, by the numbers of axes of their operands
_RANKS: dict[np.ufunc, tuple[int, int]] = {
    ufunc: ranks for name, ranks in (("vecdot", (1, 1)), ("matvec", (2, 1)), ("vecmat", (1, 2)))
    if (ufunc := getattr(np, name, None)) is not None}
# methods of one operand, and of indices or an axis, by operations or by NumPy
_OF_ONE = frozenset(("reduce", "accumulate", "reduceat"))
WAYS.update({ufunc.reduce: ByPlan(vars(reduction)["op"], 0)
             for ufunc, reduction in REDUCTIONS.items() if "op" in vars(reduction)})
WAYS.update({np.logical_and.reduce: ByPlan(ALL, 0), np.logical_or.reduce: ByPlan(ANY, 0)})
WAYS.update({ufunc.accumulate: Running(ufunc, 0)
             for ufunc in (np.add, np.multiply, np.maximum, np.minimum)})
# with types of C
_mat_type, _implementations, _in_use = Mat, IMPLEMENTATIONS, IN_USE
_matmul, _add, _float64, _float32 = np.matmul, np.add, FLOAT64, FLOAT32
_positive, _int64, _observers = np.positive, np.dtype(np.int64), OBSERVERS
_float16, _FEW = np.dtype(np.float16), 1 << 12
_FIRST = 3  # position of the first operand
_NO_KEYWORDS: Keywords = {}
_NUMBERS = {bool, int, float, complex,
            *(np.dtype(t.name).type for t in ELEMENT_TYPES if t.char not in EXTENSIONS)}


def implementation_of(ufunc: np.ufunc) -> Function | None:
    """Return the function of `mat` that computes a ufunc, None if there is none."""
    if ufunc is _matmul:
        IMPLEMENTATIONS[ufunc] = plugin("ops.linear.matmul").matmul
    return IMPLEMENTATIONS.get(ufunc)


def _are_operands(inputs: Arguments) -> bool:
    """Return whether all of these are Mats, arrays and numbers, but not only numbers."""
    several = False
    for x in inputs:
        if type(x) is _mat_type or is_mat_or_array(x):
            several = True
        elif type(x) not in _NUMBERS:
            return False
    return several


def _by_kernel(kernel: Calls, args: Arguments, kwargs: Keywords | None) -> Operand:
    """Call the operation if its operands are Mats or numbers, and ``out=`` a Mat; else None."""
    if not kwargs:
        found = kernel.of_operands(args, _FIRST, None)
        if found is None and len(args) == _FIRST + 2:  # an array is among them
            return kernel.of_operands((*args[:_FIRST], *map(small_copied, args[_FIRST:])), _FIRST,
                                      None)
        return found
    out = _only_out(kwargs)
    return None if out is None else kernel.of_operands(args, _FIRST, out)


def _matrix_product(args: Arguments, kwargs: Keywords | None) -> Operand:
    """Multiply two Mats, on the host, into a third one of another storage; else None."""
    out = _only_out(kwargs) if kwargs else None
    if type(out) is not _mat_type or _in_use or len(args) != _FIRST + 2:
        return None
    _, _, _, a, b = args
    if type(a) is not _mat_type or type(b) is not _mat_type:
        return None
    one, other, to = a, b, out
    if one.storage is to.storage or other.storage is to.storage:
        return None
    return product().carry_out((a, b, out), {})


def of_few_elements(ufunc: np.ufunc, inputs: Arguments) -> Operand:
    """Call a ufunc without a kernel by other operations, or of a few elements; else None."""
    if ufunc not in _BY_NUMPY:
        return _implemented(ufunc, inputs, _NO_KEYWORDS)
    if _in_use or type(inputs[0]) is not _mat_type:
        return _quietly(ufunc, inputs, {})
    alike, found, view = _OF_FLOATS.get(ufunc), None, inputs[0]
    if alike is not None:
        brief = view.element_size == 1 and view.layout.size <= _FEW and is_numpys(view.element_type)
        if view.element_type is _int64 and not _observers:
            view = converted(view, _float64)
        elif brief and not _observers:  # NumPy computes these as float32, too
            view = converted(view, _float32)
        if view.element_type is _float64 or view.element_type is _float32:
            found = alike.make((view, None))
            if brief and found is not None:
                found = converted(found, _float16)
    elif ufunc is _positive and not _observers:
        found = same(view)
    elif ufunc in _RANKS and len(inputs) == 2:
        found = ranked_product(inputs[0], inputs[1], _RANKS[ufunc])
    return _quietly(ufunc, inputs, {}) if found is None else found


def by_method(ufunc: np.ufunc, method: str, inputs: Arguments, kwargs: Keywords) -> Operand:
    """Call a method of a ufunc that has a short way, or is NumPy's, of few elements; else None."""
    if method == "outer" and not kwargs and ufunc in _KERNELS and len(inputs) == ufunc.nin == 2:
        a, b = inputs
        if type(a) is type(b) is _mat_type:
            return _by_kernel(_KERNELS[ufunc], (None, None, None, a[(..., *(None,) * b.ndim)], b),
                              None)
    if method == "reduceat" and ufunc is _add and not kwargs and len(inputs) == 2:
        found = summed_between(inputs[0], inputs[1])
        if found is not None:
            return found
    function = getattr(ufunc, method)
    if function in WAYS:
        return called_shortly(function, inputs, kwargs)
    if method not in _OF_ONE or len(inputs) > 2 or (kwargs and kwargs.keys() != {"axis"}) or (
            method == "reduce" and ufunc in REDUCTIONS):
        return None
    return _quietly(function, inputs, kwargs)


def _quietly(function: Function, inputs: Arguments, kwargs: Keywords) -> Operand:
    """Call a function of NumPy's with copies of a few elements, without warnings; else None."""
    token = STATE.set(QUIET)
    try:
        found = call_briefly(function, inputs, kwargs, True)
    finally:
        STATE.reset(token)
    return None if found is NOT_BRIEF else found


def _only_out(kwargs: Keywords) -> Operand:
    """Return the first ``out=``, if there is no other keyword; else None."""
    given = kwargs.get("out") if len(kwargs) == 1 else None
    return None if given is None else given[0]


def _implemented(ufunc: np.ufunc, inputs: Arguments, kwargs: Keywords) -> Operand:
    """Call the function of `mat` that computes the ufunc and takes the arguments; else None."""
    implementation = _implementations.get(ufunc)
    if implementation is None or not _are_operands(inputs):
        return None
    if not kwargs or (len(kwargs) == 1 and "dtype" in kwargs
                      and is_natural(ufunc, inputs, kwargs["dtype"])):
        return (implementation(inputs[0], inputs[1]) if len(inputs) == 2  # without a tuple
                else implementation(*inputs))
    out = _only_out(kwargs)
    if isinstance(out, Mat) and ufunc.nout == 1:
        return implementation(*inputs, out=out)
    if kwargs.keys() == {"out", "where"} and isinstance(
            implementation, FunctionOfOne | FunctionOfTwo):
        return masked(implementation, inputs, kwargs["out"], kwargs["where"])
    return None


def call_ufunc(args: Arguments, kwargs: Keywords | None) -> Operand:
    """Call a ufunc, with the arguments of ``__array_ufunc__``: a Mat, the ufunc, a method, ..."""
    if len(args) < _FIRST:
        raise DTypeError("__array_ufunc__ requires a ufunc, the name of a method and operands")
    if args[2] == "__call__":
        kernel = _KERNELS.get(args[1])
        if kernel is not None:
            found = _by_kernel(kernel, args, kwargs)
        elif args[1] is _matmul:
            found = _matrix_product(args, kwargs)
        else:
            found = None if kwargs else of_few_elements(args[1], args[_FIRST:])
        if found is None:
            found = _implemented(args[1], args[_FIRST:], kwargs or _NO_KEYWORDS)
    else:
        if args[2] == "at" and not kwargs and at_briefly(args[1], args[_FIRST:]):
            return None
        found = by_method(args[1], args[2], args[_FIRST:], kwargs or _NO_KEYWORDS)
    if found is not None:
        return found
    return _by_rules(args[1], args[2], args[_FIRST:], dict(kwargs) if kwargs else {})


# NumPy's protocol fixes the signature
def _shown(self: Mat, ufunc: np.ufunc, method: str, *inputs: Operand, **kwargs: Operand) -> Operand:
    """Call a ufunc that has a Mat among its operands, its outputs or in ``where``."""


def _by_rules(ufunc: np.ufunc, method: str, inputs: Arguments, kwargs: Keywords) -> Operand:
    """Call a ufunc, or a method of one, with arguments of any kind."""
    if any(map(has_its_own_way, (*inputs, *kwargs.get("out", ())))):
        if not any(map(has_priority, inputs)):
            return NotImplemented
        # pandas asks the Mat, and has labels of which it alone knows
        return getattr(ufunc, method)(*(exported_array(x) if isinstance(x, Mat) else x
                                        for x in inputs), **kwargs)
    if method in _METHODS:
        try:
            return _METHODS[method](ufunc, inputs, kwargs)
        except LeftToNumPy:
            pass
    elif ufunc.__name__ in _SCIPY_SPECIAL and not kwargs and _is_real(inputs):
        return _SCIPY_SPECIAL[ufunc.__name__](*inputs)
    if _in_use:
        try:
            return composed(ufunc, method, inputs, kwargs)
        except LeftToNumPy:
            pass
    return ufunc_by_numpy(ufunc, method, inputs, kwargs)


def _is_real(inputs: Arguments) -> bool:
    """Return whether the only operand is a Mat of real numbers."""
    return len(inputs) == 1 and isinstance(inputs[0], Mat) and inputs[0].dtype.char in REAL_TYPES


def _reduce(ufunc: np.ufunc, inputs: Arguments, kwargs: Keywords) -> Operand:
    """Compute ``ufunc.reduce`` by a reduction of `mat`, where there is one for the arguments."""
    x = inputs[0]
    leave_if(not is_mat_or_array(x) or x.ndim == 0)
    leave_if(kwargs.get("initial", 0) is None)  # an error where there are no elements
    reduction = REDUCTIONS.get(ufunc)
    (out,) = kwargs.get("out", (None,))
    plain = kwargs.get("dtype") is None and not kwargs.keys() & {"initial", "where"}
    if reduction is not None and plain and can_hold_sums(out, x.dtype):
        return reduction(x, kwargs.get("axis", 0), out=out, keepdims=bool(kwargs.get("keepdims")))
    function = or_leave(_SAME.get(ufunc))
    allowed = {"axis", "out", "keepdims", "initial", "where"}
    if ufunc in (np.add, np.multiply):
        allowed.add("dtype")
    given = {k: v for k, v in kwargs.items() if v is not None or k == "axis"}
    leave_if(given.keys() - allowed or (out is not None and not plain)
             or (ufunc in LOGIC and "initial" in given))
    return call_implementation(function, (x,), {"axis": 0, **given, "out": out})


def _accumulate(ufunc: np.ufunc, inputs: Arguments, kwargs: Keywords) -> Operand:
    """Compute ``ufunc.accumulate`` by a scan of `mat`, where there is one for the arguments."""
    running, x = scan.BY_UFUNC.get(ufunc), inputs[0]
    (out,) = kwargs.get("out", (None,))
    axis = inputs[1] if len(inputs) > 1 else kwargs.get("axis", 0)
    leave_if(len(inputs) > 2 or kwargs.get("dtype") is not None)
    leave_if(type(x) is not Mat or not x.ndim or type(axis) is not int)
    leave_if(not can_hold_sums(out, x.dtype))
    return or_leave(running)(x, axis, None, out)


def _outer(ufunc: np.ufunc, inputs: Arguments, kwargs: Keywords) -> Operand:
    """Compute ``ufunc.outer(a, b)`` by broadcasting: `a` gets as many new axes as `b` has."""
    leave_if(not len(inputs) == ufunc.nin == 2)
    a, b = (x if isinstance(x, Mat) else np.asanyarray(x) for x in inputs)
    return ufunc(a[(..., *(None,) * b.ndim)], b, **kwargs)


# by their names: the methods that operations may compute
_METHODS: dict[str, Function] = {"reduce": _reduce, "accumulate": _accumulate, "outer": _outer,
                                 "at": at_places}
_array_ufunc: Any = PackedMethod(call_ufunc)
_array_ufunc.__signature__ = inspect.signature(_shown)
bind("__array_ufunc__", named(_array_ufunc, "__array_ufunc__", _shown.__doc__ or ""))
