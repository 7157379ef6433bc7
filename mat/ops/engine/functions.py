"""The public functions of element-wise operations: their treatment of operands and ``out=``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ...core.compiled import IN_USE, give_vectorcall
from ...errors import DTypeError
from ...matrix.called_methods import MatMethod
from ...matrix.mat import Mat
from ...support.options import FLOAT32, FLOAT64
from ...support.plugins import at_first_use, plugin
from ...support.types import Arguments, Function, Keywords, Operand
from ...support.unbound import DeferredSignature
from ..tiles.overlap import apart_from
from .by_numpy import call_by_numpy
from .calls import Calls, is_plain_number
from .declaration import readable
from .loops import is_natural
from .operands import as_mat, as_operand, decides, is_foreign, numpy_gives

F = TypeVar("F", bound=Function)
CheckValues = Callable[[Operand, Operand], None]
# returns an operation of one operand that computes the same of these two, and its operand
Shortcut = Callable[[Operand, Operand], tuple[Calls, Operand] | None]
# with types of C
_mat, _in_use, _float64, _float32 = Mat, IN_USE, FLOAT64, FLOAT32
_NO_KEYWORDS: Keywords = {}
_selecting = at_first_use("ops.primitives.selecting")
# keywords with which NumPy computes, and their defaults
OF_EVERY_UFUNC = {"casting": "same_kind", "order": "K", "dtype": None, "subok": True,
                  "signature": None}
OF_PRODUCTS = {"axes": np._NoValue, "axis": np._NoValue, "keepdims": False}  # of matrices


def check_is_mat(value: object, what: str = "out") -> Mat:
    """Return `value`; raise `DTypeError` unless it is a Mat."""
    if not isinstance(value, Mat):
        raise DTypeError(f"{what} must be a Mat, got {type(value).__name__}; mat.from_numpy(a) "
                         "wraps an array without copying, mat.array(obj) copies")
    return value


class Ufunc:  # compiled, `Callee` of the core is its base
    """A function of elements, with attributes as NumPy's ufuncs; in a class it is no method."""

    def __call__(self, *args: Operand, **kwargs: Operand) -> Operand:
        return self.call_fully(args, kwargs)

    def call_fully(self, args: Arguments, kwargs: Keywords) -> Operand:
        """Call the function with any arguments; the dictionary may be changed."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        """Return a method or a fact of a ufunc: all are added when one is first used."""
        if not name.startswith("_"):
            plugin("numpy_functions").add_own_methods(self)
        if name not in vars(self):
            raise AttributeError(f"{self!r} has no attribute {name!r}", name=name, obj=self)
        return vars(self)[name]

    def __dir__(self) -> list[str]:
        plugin("numpy_functions").add_own_methods(self)
        return [*object.__dir__(self)]

    def __repr__(self) -> str:
        facts = vars(self)
        return f"<ufunc {facts['__name__']}{facts.get('__signature__', '')} of mat>"

    def __reduce__(self) -> str:
        return vars(self)["__qualname__"]


class FunctionOfMatrices(Ufunc):
    """The product of two matrices: `function`, or at once `kernel`, as for ``x @ y``."""

    def __init__(self, kernel: Calls, function: Function) -> None:
        self.operation: Calls = kernel
        self.function: Function = function
        functools.update_wrapper(self, function)
        self.__signature__ = DeferredSignature(lambda: _with_keywords(function))

    def call_plainly(self, x: Operand, y: Operand, count: int) -> Operand:
        if count != 2 or type(x) is not _mat or type(y) is not _mat or _in_use:
            return None
        return self.operation.make((x, y, None))

    def call_fully(self, args: Arguments, kwargs: Keywords) -> Operand:
        return self.function(*args, **kwargs)


def of_matrices(kernel: Calls) -> Callable[[F], F]:
    """Return a decorator that makes a function a ufunc, with `kernel` for two Mats."""
    def decorate(function: F) -> F:
        made: Any = FunctionOfMatrices(kernel, function)  # which has its signature
        return made

    return decorate


class FunctionOfOne(Ufunc):
    """The function of one operand, into a new Mat or `out`."""

    def __init__(self, kernel: Calls, rule: np.ufunc) -> None:
        self.operation: Calls = kernel
        self.rule: np.ufunc = rule
        self.kernel: Calls | None = kernel
        self.__signature__ = DeferredSignature(lambda: _signature(("x",), kernel, rule))

    def call_plainly(self, x: Operand, y: Operand, count: int) -> Operand:
        return self.operation.make((x, None)) if count == 1 and type(x) is _mat else None

    def call_fully(self, args: Arguments, others: Keywords) -> Operand:
        x, out = _arguments(self.operation, ("x",), args, others)
        if others or type(out) is tuple or is_foreign(x):
            return _by_numpy(self, (x,), out, others)
        return _of_one(self.operation, x, out)


def _of_one(kernel: Calls, x: Operand, out: Operand) -> Operand:
    """Carry out the operation on an operand, into a new Mat or `out`."""
    if out is None:
        return kernel.make((x if type(x) is _mat else as_mat(as_operand(x, "x"), "x"), None))
    if type(x) is not _mat:
        x = as_mat(apart_from(x, check_is_mat(out)), "x")
    return kernel.carry_out((x, check_is_mat(out)), _NO_KEYWORDS)


class FunctionOfTwo(Ufunc):
    """The function of two operands, into a new Mat or `out`."""

    def __init__(self, kernel: Calls, rule: np.ufunc, check_values: CheckValues | None,
                 shortcut: Shortcut | None = None) -> None:
        self.operation: Calls = kernel
        self.rule: np.ufunc = rule
        self.check_values: CheckValues | None = check_values
        self.shortcut: Shortcut | None = shortcut
        # what `np.f(x, y)` may call without a check of values
        self.kernel: Calls | None = None if check_values else kernel
        self.operand: Function = _or_none if rule in (np.equal, np.not_equal) else as_operand
        self.__signature__ = DeferredSignature(lambda: _signature(("x", "y"), kernel, rule))

    def call_plainly(self, x: Operand, y: Operand, count: int) -> Operand:
        if count != 2 or not _need_no_conversion(x, y):
            return None
        if self.check_values is not None and not _need_no_check(x, y):
            return None
        found = self.shortcut(x, y) if self.shortcut is not None and type(y) is not _mat else None
        if found is not None:
            return _of_one(found[0], found[1], None)
        return self.operation.make((x, y, None))

    def call_fully(self, args: Arguments, others: Keywords) -> Operand:
        plain = self.check_values is None
        x, y, out = _arguments(self.operation, ("x", "y"), args, others)
        if plain and not others and _need_no_conversion(x, y) and type(out) is not tuple:
            return _of_mats(self.operation, x, y, out)
        if (others or type(out) is tuple or decides(x) or decides(y)
                or (is_foreign(x) and is_foreign(y))):
            return _by_numpy(self, (x, y), out, others)
        return self._converted(x, y, out)

    def _converted(self, x: Operand, y: Operand, out: Operand) -> Operand:
        """Carry out the operation on operands that need conversions or checks."""
        if out is not None:
            x, y = apart_from(x, check_is_mat(out)), apart_from(y, out)
        x, y = self.operand(x, "x"), self.operand(y, "y")
        if self.check_values is not None:
            self.check_values(x, y)
        found = None if self.shortcut is None else self.shortcut(x, y)
        if found is not None:
            shorter, x = found
            return _of_one(shorter, x, out)
        if not isinstance(x, Mat) and not isinstance(y, Mat):
            x, y = as_mat(x, "x"), as_mat(y, "y")
        return _of_mats(self.operation, x, y, out)


class ReducingMethod(MatMethod):
    """A method that reduces, by `operation`, or all elements by `shorter` if not None."""

    def __init__(self, operation: Calls, function: Function) -> None:
        MatMethod.__init__(self, function)
        self.operation: Calls = operation
        self.shorter: Function | None = None

    def call_plainly(self, x: Operand, y: Operand, count: int) -> Operand:
        if count == 1 and self.shorter is not None:
            found = self.shorter(x)
            if found is not None:
                return found
        axis = y if count == 2 else None
        if type(x) is not _mat or not (axis is None or type(axis) is int):
            return None
        return self.operation.make((x, None, axis, False))

    def call_fully(self, args: Arguments, kwargs: Keywords) -> Operand:
        if len(args) == 1 and len(kwargs) == 1 and "axis" in kwargs:
            found = self.call_plainly(args[0], kwargs["axis"], 2)
            if found is not None:
                return found
        return self.function(*args, **kwargs)


for _kind in (FunctionOfMatrices, FunctionOfOne, FunctionOfTwo, ReducingMethod):
    give_vectorcall(_kind)


def _need_no_conversion(x: Operand, y: Operand) -> bool:
    """Return whether both are Mats, or one of them is and the other a number."""
    if type(x) is _mat:
        return type(y) is _mat or is_plain_number(y)
    return type(y) is _mat and is_plain_number(x)


def _need_no_check(x: Operand, y: Operand) -> bool:
    """Return whether it is known that `y`, or Mats, are floats or not negative."""
    if type(x) is not _mat:
        return False
    if type(y) is not _mat:
        return type(y) is float or (type(y) is int and y >= 0)
    one, other = x, y
    dtype = other.element_type
    return dtype is one.element_type and (
        dtype is _float64 or dtype is _float32 or other._are_natural())


def _or_none(value: object, name: str) -> Operand:
    """Return `value` as an operand; for None NaN, as that is not equal to any element either."""
    return np.nan if value is None else as_operand(value, name)


def _of_mats(kernel: Calls, x: Operand, y: Operand, out: Operand) -> Operand:
    """Carry out the operation on two operands that need no conversion."""
    if out is None:
        return kernel.make((x, y, None))
    return kernel.carry_out((x, y, check_is_mat(out)), _NO_KEYWORDS)


def function_of_bounds(kernel: Calls) -> Function:
    """Return the function of an operand and two bounds, into a new Mat or `out`."""
    def function(x: Mat, low: Operand, high: Operand, out: Mat | None = None) -> Mat:
        return _of_three(kernel, x, low, high, out)

    return function


def _of_three(kernel: Calls, x: Operand, low: Operand, high: Operand, out: Operand) -> Mat:
    """Carry out the operation on three operands, into a new Mat or `out`."""
    if out is None:
        return kernel.make((x, low, high, None))
    return kernel.carry_out((x, low, high, check_is_mat(out)), _NO_KEYWORDS)


def _arguments(kernel: Calls, names: tuple[str, ...], args: Arguments,
               others: Keywords) -> Arguments:
    """Return the operands and `out`, taken from `args` and the keywords `others`."""
    count = len(args)
    if count > len(names):
        if count == len(names) + 1:
            return args
        raise DTypeError(f"{_call(kernel, names)} takes {len(names) + 1} arguments by position, "
                         f"got {count}")
    for name in names[count:]:
        if name not in others:
            raise DTypeError(f"{_call(kernel, names)} without {name}")
    more = [others.pop(name) for name in names[count:]]
    return (*args, *more, others.pop("out", None) if others else None)


def _call(kernel: Calls, names: tuple[str, ...]) -> str:
    """Return the function and its parameters in words."""
    operation: Operand = kernel
    return f"{operation.__name__}({', '.join(names)}, out=None)"


def _signature(operands: tuple[str, ...], kernel: Calls, rule: np.ufunc) -> inspect.Signature:
    parameter = inspect.Parameter
    others = {"where": True, **OF_EVERY_UFUNC} if _is_numpys(kernel, rule) else {}
    return inspect.Signature([
        *(parameter(n, parameter.POSITIONAL_OR_KEYWORD, annotation="ArrayLike") for n in operands),
        parameter("out", parameter.POSITIONAL_OR_KEYWORD, default=None,
                  annotation="Mat | None"),
        *(parameter(n, parameter.KEYWORD_ONLY, default=v) for n, v in others.items())])


def _with_keywords(function: Function) -> inspect.Signature:
    """Return the function's signature with the ``**others`` of NumPy's products of matrices."""
    found = readable(inspect.signature(function), {})
    *own, _ = found.parameters.values()
    return found.replace(parameters=[
        *own, *(inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=v)
                for n, v in {**OF_PRODUCTS, **OF_EVERY_UFUNC}.items())])


def _is_numpys(kernel: Calls, rule: np.ufunc) -> bool:
    """Return whether NumPy has the function, with a ufunc for operands beyond the operation's."""
    operation: Operand = kernel
    return getattr(np, operation.__name__, None) is rule


def _by_numpy(function: FunctionOfOne | FunctionOfTwo, operands: Arguments, out: Operand,
              others: Keywords) -> Operand:
    """Compute by NumPy's ufunc for arguments that operations of `mat` do not know."""
    rule, kernel = function.rule, function.operation
    if not _is_numpys(kernel, rule):
        operation: Operand = kernel
        for other in others:
            raise DTypeError(f"{operation.__name__}() has no argument {other!r}")
        if not any(map(decides, operands)):
            values = [as_mat(x, "x") for x in operands]
            return (_of_one(kernel, values[0], out) if len(values) == 1 else
                    _of_mats(kernel, values[0], values[1], out))
    if out is not None and others.keys() == {"where"}:
        written = masked(function, operands, out, others["where"])
        if written is not None:
            return written
    given = others if out is None else {**others, "out": out}
    if all(map(is_foreign, operands)):
        return numpy_gives(rule, operands, given)
    if any(map(decides, operands)):
        return rule(*operands, **given)
    only = out[0] if type(out) is tuple and len(out) == 1 else out
    if _is_known(rule, operands, only, others):
        return function(*operands) if only is None else function(*operands, only)
    return call_by_numpy(rule, operands, given)


def masked(function: FunctionOfOne | FunctionOfTwo, operands: Arguments, out: Operand,
           mask: Operand) -> Operand:
    """Write the results where `mask` is true to `out`, if these are of one shape; else None."""
    to: Any = out[0] if type(out) is tuple and len(out) == 1 else out
    kernel = function.kernel
    if kernel is None or type(to) is not _mat or type(mask) is not _mat or not (
            type(operands[0]) is _mat if len(operands) == 1
            else _need_no_conversion(operands[0], operands[1])):
        return None
    where: Any = mask
    if where.element_type.kind != "b" or where.layout.shape != to.layout.shape:
        return None
    found: Any = kernel.make((*operands, None))
    if found.element_type is not to.element_type or found.layout.shape != to.layout.shape:
        return None
    written: Operand = _selecting.select(mask, found, to, to)
    return written


def _is_known(rule: np.ufunc, operands: Arguments, out: Operand, others: Keywords) -> bool:
    """Return whether the operation computes that itself, by ``out=`` or a natural ``dtype=``."""
    if not others:
        return out is None or isinstance(out, Mat)
    return out is None and others.keys() == {"dtype"} and is_natural(
        rule, operands, others["dtype"])
