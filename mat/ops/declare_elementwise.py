"""Element-wise operations out of one line each: the function, its method, its ``_`` method and its
operator.

``exp = unary(...)`` declares the operation (`x` read, `out` written) and returns the public
function; what dtype comes out is asked of the NumPy ufunc that is also the reference body.
"""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.compiled import IN_USE
from ..errors import DTypeError, ShapeError
from ..layout.strided import Ints, broadcast_shapes
from ..matrix.creation import adopted, from_numpy
from ..matrix.mat import Mat, new_like
from ..matrix.methods import bind
from ..support.dtypes import BOOL, EVERY, REAL_TYPES, check_operand, represents
from ..support.native import compiled
from .operation import NO_KEYWORDS, Input, InputOrNumber, Op, Output, named, op
from .overlap import apart, of_one_dtype, one_by_one

_NUMBERS = (int, float, complex, np.number, np.bool_)
_WEAK = {bool: np.dtype(np.bool_), int: int, float: float, complex: complex}


def as_operand(value: Any, name: str) -> Any:
    """`value` as an operand: a Mat or a number as it is, an array wrapped without copying."""
    if isinstance(value, Mat):
        return value
    if isinstance(value, np.ndarray):
        return from_numpy(value) if value.flags.aligned else adopted(value.copy())
    check_operand(value, np.dtype(np.float64), name)
    return value


def is_operand(value: Any) -> bool:
    """Whether an operator can take `value`, or should leave it to the other side."""
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray or not (has_its_own_way(value)
                                                 or isinstance(value, np.ma.MaskedArray))
    return isinstance(value, (Mat, *_NUMBERS)) or (np.isscalar(value) and hasattr(value, "dtype"))


def has_its_own_way(value: Any) -> bool:
    """Whether `value` says itself what ufuncs do with it."""
    hook = getattr(type(value), "__array_ufunc__", np.ndarray.__array_ufunc__)
    return hook is not np.ndarray.__array_ufunc__ and not isinstance(value, Mat)


def _kind(value: Any) -> Any:
    """What decides promotion: a dtype, or int, float or complex for a Python number, which
    adapts.
    """
    if isinstance(value, Mat):
        return value.storage.dtype
    return _WEAK.get(type(value)) or np.asarray(value).dtype


_LOOPS: dict[tuple[Any, ...], tuple[np.dtype[Any], ...]] = {}


def result_dtype(rule: np.ufunc, *operands: Any) -> np.dtype[Any]:
    """The dtype that `rule` gives for the operands' dtypes; Python numbers adapt to the Mats."""
    return loop_dtypes(rule, *operands)[-1]


def loop_dtypes(rule: np.ufunc, *operands: Any) -> tuple[np.dtype[Any], ...]:
    """The dtypes that `rule` converts such operands to, and that of its result."""
    key = (rule, *map(_kind, operands))
    found = _LOOPS.get(key)
    if found is None:
        try:
            found = _LOOPS[key] = rule.resolve_dtypes((*key[1:], None))
        except TypeError:
            kinds = " and ".join(str(getattr(k, "name", getattr(k, "__name__", k)))
                                 for k in key[1:])
            raise DTypeError(f"{rule.__name__} is not defined for {kinds}; convert with astype") from None
    return found


_CASTS: dict[tuple[Any, Any], bool] = {}


def check_out(rule: np.ufunc, out: Mat, *operands: Any) -> None:
    """`ShapeError` or `DTypeError` unless `out` can take the result of `rule`."""
    for x in operands:
        if isinstance(x, Mat):
            if x.layout.shape != out.layout.shape:
                _check_broadcast(x.layout.shape, out.layout.shape)
        elif type(x) is not float:
            check_operand(x, out.storage.dtype, "an operand")
    got, wanted = result_dtype(rule, *operands), out.storage.dtype
    if got is not wanted:
        if (got, wanted) not in _CASTS:
            _CASTS[got, wanted] = np.can_cast(got, wanted, "same_kind")
        if not _CASTS[got, wanted]:
            raise DTypeError(f"{rule.__name__} gives {got}, which {wanted} cannot take in place; "
                             f"use x.astype('{got}'), or leave out=")


def _check_broadcast(shape: Ints, out: Ints) -> None:
    if broadcast_shapes((shape, out)) != out:
        raise ShapeError(f"an operand of shape {shape} does not broadcast to {out}, the shape of "
                         "the result's place")


def check_is_mat(out: Any) -> Mat:
    if not isinstance(out, Mat):
        raise DTypeError(f"out must be a Mat, got {type(out).__name__}; mat.from_numpy(a) wraps an "
                         "array")
    return out


def special(name: str) -> Any:
    """The ufunc of that name in ``scipy.special``, which is loaded when first needed."""
    return getattr(importlib.import_module("scipy.special"), name)


def unary(name: str, rule: np.ufunc, sample: str, gives: str, doc: str, *,
          implementation: Callable[..., Any] | None = None,
          operator: str = "") -> Callable[..., Any]:
    """Declare ``name(x)``, ``name(x, out=)``, ``x.name()`` and ``x.name_()``; `implementation`
    computes where `rule` itself does not.

    `sample` and `gives` become the doctest.
    """
    example = _example(f"mat.{name}(mat.array({sample}))", "float64", gives)

    def check(x: Input, out: Output) -> None:
        check_out(rule, out, x)

    kernel = _kernel(check, name, doc)
    kernel.prepare("foreign", dtypes=compiled(REAL_TYPES), when=of_one_dtype)(
        lambda cpu, x, out: cpu.prepare_elementwise(name, x, out))
    kernel.prepare("cuda", dtypes=EVERY, when=_for_device(rule))(
        lambda cuda, x, out: cuda.prepare_elementwise(name, x, out, dtype=loop_dtypes(rule, x)[0]))
    kernel.on("array")(implementation or rule)

    def function(x: Any, out: Mat | None = None) -> Any:
        x = as_operand(x, "x")
        if not isinstance(x, Mat):
            raise DTypeError(f"x of {name} must be a Mat or an array, got {type(x).__name__}; "
                             "mat.array([v]) makes one")
        return kernel(x, new_like(x, x.shape, result_dtype(rule, x)) if out is None
                      else check_is_mat(out))

    plans = kernel.plans

    def in_place(self: Mat) -> Any:
        plan = plans.get((self.form, 0)) if self.form is not None else None  # as Op._key gives it
        return kernel(self, self) if plan is None else plan.run((self, self), NO_KEYWORDS)

    public = _public(function, kernel, doc, example)
    _method(name, lambda self, out=None: function(self, out), doc)
    _method(name + "_", in_place, f"{doc} In place: self is written and returned.")
    if operator:
        _method(f"__{operator}__", lambda self: function(self), doc)
    return public


def binary(name: str, rule: np.ufunc, gives: str, doc: str, *, operator: str = "",
           reflected: str = "",
           check_values: Callable[[Any, Any], None] | None = None) -> Callable[..., Any]:
    """Declare ``name(x, y)``, ``name(x, y, out=)``, ``x.name_(y)`` and the operators ``x . y``, ``y
    . x`` and ``x .= y``.

    `reflected` names the operator for ``y . x`` where it is not ``r`` + `operator`; `check_values`
    looks, at every call, for values that NumPy would refuse half-way through. `gives` is the result
    for (1, 4) and 2, for the doctest.
    """
    kind = "bool" if "True" in gives or "False" in gives else "float64"
    example = _example(f"mat.{name}(mat.array([1, 4]), 2)", kind, gives)

    def check(x: InputOrNumber, y: InputOrNumber, out: Output) -> None:
        check_out(rule, out, x, y)

    kernel = _kernel(check, name, doc)
    if kind == "bool":
        kernel.prepare("foreign", dtypes=compiled(REAL_TYPES + BOOL), when=_comparable)(
            lambda cpu, x, y, out: cpu.prepare_elementwise(_into(name, out), x, y, out))
    else:
        kernel.prepare("foreign", dtypes=compiled(REAL_TYPES), when=of_one_dtype)(
            lambda cpu, x, y, out: cpu.prepare_elementwise(name, x, y, out))
    kernel.prepare("cuda", dtypes=EVERY, when=_for_device(rule))(
        lambda cuda, x, y,
        out: cuda.prepare_elementwise(name, x, y, out, dtype=loop_dtypes(rule, x, y)[0]))
    kernel.on("array", bare=True, silent=rule in _SILENT)(_body(rule))

    def function(x: Any, y: Any, out: Mat | None = None) -> Any:
        x = x if type(x) is Mat else as_operand(x, "x")
        y = y if type(y) is Mat else as_operand(y, "y")
        if check_values is not None:
            check_values(x, y)
        if out is None:
            return kernel(x, y, _place(rule, x, y))
        return kernel(x, y, check_is_mat(out))

    in_place = _in_place(kernel, check_values)
    public = _public(function, kernel, doc, example)
    _method(name + "_", in_place, f"{doc} In place: self is x, is written, and is returned.")
    if operator:
        _operators(operator, reflected, function, in_place, doc)
    return public


def _for_device(rule: np.ufunc) -> Callable[..., bool]:
    """Whether a device can do what `rule` does: where that computes in one dtype, which holds the
    numbers.
    """
    def fits(*operands: Any) -> bool:
        *dtypes, _ = loop_dtypes(rule, *operands[:-1])
        return (all(d == dtypes[0] for d in dtypes) and dtypes[0].char in EVERY and apart(*operands)
                and all(represents(dtypes[0], x) for x in operands if not isinstance(x, Mat)))

    return fits


def _comparable(x: Any, y: Any, out: Mat) -> bool:
    """Whether compiled comparisons are for these: Mats of one real dtype, into bool or that
    dtype.
    """
    dtypes = {v.storage.dtype.char for v in (x, y) if type(v) is Mat}
    return len(dtypes) == 1 and dtypes <= set(
        REAL_TYPES) and out.storage.dtype.char in dtypes | {BOOL} and one_by_one(x, y, out)


def _into(name: str, out: Mat) -> str:
    """The kernel of the comparison `name` for where it writes to: bool, or 1 and 0 of the operands'
    dtype.
    """
    return name if out.storage.dtype.kind == "b" else name + "_in"


def _in_place(kernel: Op, check_values: Callable[[Any, Any], None] | None) -> Callable[..., Any]:
    """``x.name_(y)``"""
    plans = kernel.plans

    def in_place(self: Mat, y: Any) -> Any:
        plan = None
        # the plan straight away, with the key that Op._key gives
        if check_values is None and self.form is not None:
            if type(y) is Mat:
                if y.storage is not self.storage:
                    plan = plans.get(((self.form, 0), y.form))
            elif type(y) is float or (type(y) is int and -_EXACT < y < _EXACT
                                      and self.storage.dtype.char in _ELEMENTS):
                plan = plans.get(((self.form, 0), float))
                y = y if plan is None or plan.armed or IN_USE else _element(self, y)
        if plan is not None:
            return plan.run((self, y, self), NO_KEYWORDS)
        y = as_operand(y, "y")
        if check_values is not None:
            check_values(self, y)
        return kernel(self, y, self)

    return in_place


_EXACT = 2**53  # integers below this are floating-point numbers, too
_SILENT = {np.maximum, np.minimum, np.equal, np.not_equal, np.less, np.less_equal, np.greater,
           np.greater_equal}
_ELEMENTS: dict[str, dict[float, np.ndarray[Any, Any]]] = {char: {} for char in REAL_TYPES}


def _element(self: Mat, y: Any) -> Any:
    """The number `y` as an array without axes of self's dtype, which NumPy takes faster; or `y`
    itself.
    """
    known = _ELEMENTS.get(self.storage.dtype.char)
    # -0.0 is equal to 0.0, but not the same
    if known is None or not (y or type(y) is int or math.copysign(1.0, y) > 0):
        return y
    found = known.get(y)
    if found is None:
        if len(known) > 4096:
            known.clear()
        with np.errstate(all="ignore"):
            found = known[y] = np.array(y, self.storage.dtype)
    return found


def _body(rule: np.ufunc) -> Callable[..., Any]:
    """`rule` itself, unless it is one that NumPy wants to be given ``out`` by name."""
    return (lambda x, y, out: rule(x, y, out=out)) if rule in (np.maximum, np.minimum) else rule


def _place(rule: np.ufunc, x: Any, y: Any) -> Mat:
    """A new Mat for the result of `rule`."""
    if not isinstance(x, Mat) and not isinstance(y, Mat):
        raise DTypeError(f"{rule.__name__} wants at least one Mat or array, got {x!r} and {y!r}")
    like = x if isinstance(x, Mat) else y
    shapes = [v.layout.shape for v in (x, y) if isinstance(v, Mat)]
    shape = shapes[0] if len(shapes) == 1 or shapes[0] == shapes[1] else broadcast_shapes(shapes)
    return new_like(like, shape, result_dtype(rule, x, y))


def _operators(symbol: str, reflected: str, function: Callable[..., Any],
               in_place: Callable[..., Any], doc: str) -> None:
    def plain(self: Mat, other: Any) -> Any:
        return function(self, other) if is_operand(other) else NotImplemented

    def swapped(self: Mat, other: Any) -> Any:
        return function(other, self) if is_operand(other) else NotImplemented

    def augmented(self: Mat, other: Any) -> Any:
        return in_place(self, other) if is_operand(other) else NotImplemented

    _method(f"__{symbol}__", plain, doc)
    if reflected != symbol:
        _method(f"__{reflected or 'r' + symbol}__", swapped, doc)
    if not reflected:
        _method(f"__i{symbol}__", augmented, doc)


def _kernel(check: Callable[..., Any], name: str, doc: str) -> Op:
    check.__name__ = name
    check.__doc__ = doc
    check.__module__ = "mat.ops.elementwise"
    return op(check, method="", by_form=True)


def _example(call: str, dtype: str, gives: str) -> str:
    """A doctest of a call with two elements."""
    shown = "" if dtype == "float64" else f" {dtype}"
    return f">>> import mat\n>>> {call}\n<Mat 2{shown} F {gives}>"


def _public(function: Callable[..., Any], kernel: Op, doc: str, example: str) -> Callable[..., Any]:
    """The free function, with the docstring and a link to its operation."""
    public = named(function, kernel.__name__, f"{doc}\n\nA new Mat, or written to `out`, which is "
                                              f"returned.\n\n{example}")
    public.__qualname__ = kernel.__name__
    public.op = kernel  # type: ignore[attr-defined]  # functions take attributes
    return public


def _method(name: str, function: Callable[..., Any], doc: str) -> None:
    parameters = inspect.signature(function).parameters
    assert next(iter(parameters)) == "self"
    bind(name, named(function, name, doc))
