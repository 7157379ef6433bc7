"""Element-wise operations out of one line each: the function, its method, its ``_`` method and its
operator.

``exp = unary(...)`` declares the operation (`x` read, `out` written) and returns the public
function; the dtype of the result is that of the NumPy ufunc that is also the reference
implementation.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np

from ...cpu.elementwise import complex_types_of, converts, kinds_of, most_halves
from ...cpu.kernel import CpuKernel
from ...errors import DTypeError, ShapeError
from ...layout.shapes import Ints, broadcast_shapes
from ...matrix.creation import small_copied
from ...matrix.mat import Mat
from ...matrix.methods import bind, bind_later
from ...matrix.operators import OPERATORS
from ...support.dtypes import (
    BOOL,
    BY_NAME,
    COMPLEX_TYPES,
    EVERY,
    FLOAT8,
    HALVES,
    INTEGERS,
    REAL_TYPES,
    STORED,
    check_operand,
    is_known_dtype,
    represents,
)
from ...support.native import compiled, lib
from ...support.plugins import imported
from ...support.types import Arguments, DType, Engine, Function, Operand
from ..tiles.overlap import apart, apart_from, converted, meets_read, of_one_dtype
from ..tiles.tile import by_elements
from .by_numpy import equal_by_numpy, other_elements
from .functions import CheckValues, FunctionOfOne, FunctionOfTwo, Shortcut, function_of_bounds
from .loops import LOGIC, as_booleans, as_floats, as_loop_numbers, beyond_integers, loop_dtypes
from .operands import (
    as_operand,
    has_priority,
    is_operand,
    is_sparse,
    keeps_its_class,
    of_arrays,
)
from .operation import Input, InputOrNumber, MatOp, Output, named, op
from .planning import Implementation

_TEMPLATE = """{summary}

Parameters
----------
{parameters}
Returns
-------
Mat
    {returns}

Raises
------
DTypeError
    If {name} is not defined for the {dtypes}, or {written} cannot take the result.
ShapeError
    If {operands} not broadcast to the shape of {written}.
AliasError
    If two elements of {written} are one, as after `broadcast_to`.
"""
_OTHERS = ("where, casting, order, dtype, subok, signature\n    As for NumPy's function, which "
           "computes on the host with them.\n")
_X = "x : Mat, array, sequence or number\n    Operand, of any shape.\n"
_X_AND_Y = "x, y : Mat, array, sequence or number\n    Operands, which broadcast.\n"
_Y = "y : Mat, array, sequence or number\n    Operand, which broadcasts to the shape of self.\n"
_OUT = "out : Mat, optional\n    Is overwritten with the result; it may be an operand.\n"
# of methods without operands
_NO_PARAMETERS = "Parameters\n----------\n\n"
_NO_SHAPES = "ShapeError\n    If `y` does not broadcast to the shape of self.\n"
_NEW = "`out`, or a new Mat of the dtype that NumPy gives."


def unary_doc(name: str, doc: str, example: str = "", *, method: bool = False) -> str:
    """Return the docstring of ``name(x, out=None)``, or of the method."""
    text = _TEMPLATE.format(
        summary=f"Return {doc}.", parameters=(_OUT if method else _X + _OUT + _others(name)),
        returns=_NEW, name=name, written="`out`",
        dtypes="dtype of self" if method else "dtype of `x`",
        operands="self does" if method else "`x` does")
    return _with_example(text, example)


def binary_doc(name: str, doc: str, example: str) -> str:
    """Return the docstring of ``name(x, y, out=None)``."""
    text = _TEMPLATE.format(
        summary=f"Return {doc}.", parameters=_X_AND_Y + _OUT + _others(name), returns=_NEW,
        name=name, written="`out`", dtypes="dtypes of the operands", operands="the operands do")
    return _with_example(text, example)


def in_place_doc(name: str, doc: str, *, binary: bool = False) -> str:
    """Return the docstring of ``x.name_()`` or ``x.name_(y)``."""
    more = "\n\nHere `x` is self." if binary else ""
    text = _TEMPLATE.format(
        summary=f"Overwrite self with {doc}.{more}", parameters=_Y if binary else "",
        returns="self.", name=name, written="self", operands="`y` does",
        dtypes="dtypes of self and `y`" if binary else "dtype of self")
    if binary:
        return text
    return text.replace(_NO_PARAMETERS, "").replace(_NO_SHAPES, "")


def _others(name: str) -> str:
    """Return the parameters of NumPy's functions beside operands and `out`."""
    return _OTHERS if hasattr(np, name) else ""


def _with_example(text: str, example: str) -> str:
    return f"{text}\nExamples\n--------\n{example}" if example else text


LONG = BY_NAME["int64"].char
FLOAT32 = np.dtype(np.float32)
_STORED = frozenset(STORED)
_TYPES = {"b": BOOL, "i": INTEGERS, "f": REAL_TYPES, "c": ""}  # that are compiled, by kind
_ADAPTING: dict[np.ufunc, Callable[[Arguments], Arguments]] = {
    np.divide: as_floats, **dict.fromkeys(LOGIC, as_booleans)}


def result_dtype(rule: np.ufunc, *operands: Operand) -> DType:
    """Return the dtype of the result of `rule`, to which Python's numbers adapt."""
    return loop_dtypes(rule, *operands)[-1]


_CASTS: dict[tuple[DType, DType], bool] = {}


def check_out(rule: np.ufunc, out: Mat, *operands: Operand, name: str = "") -> None:
    """Raise `ShapeError` or `DTypeError` unless `out` can take the result of `rule`."""
    for x in operands:
        if isinstance(x, Mat):
            shape, wanted_shape = x.layout.shape, out.layout.shape
            if shape != wanted_shape and broadcast_shapes((shape, wanted_shape)) != wanted_shape:
                raise ShapeError(f"an operand of shape {shape} does not broadcast to "
                                 f"{wanted_shape}, the shape of the result")
        elif type(x) is not float:
            check_operand(x, out.element_type, "an operand")
    got, wanted = result_dtype(rule, *operands), out.element_type
    if got is not wanted:
        if (got, wanted) not in _CASTS:
            _CASTS[got, wanted] = np.can_cast(got, wanted, "same_kind")
        if not _CASTS[got, wanted]:
            floats = ", or floats from the start, mat.array([1., 2.])" if got.kind == "f" else ""
            raise DTypeError(f"{name or rule.__name__} gives {got}, which {wanted} cannot take in "
                             f"place; use x.astype('{got}'){floats}, or leave out=")


def dtype_of_clip(x: Operand, low: Operand, high: Operand) -> DType:
    """Return the dtype of `x` between the bounds."""
    one, other = (result_dtype(np.maximum, x, bound) for bound in (low, high))
    return one if one is other else np.promote_types(one, other)


def special(name: str) -> np.ufunc:
    """Return the ufunc of that name in ``scipy.special``, loaded on demand."""
    return getattr(imported("scipy.special"), name)


def unary(name: str, rule: np.ufunc, sample: str, gives: str, doc: str, *,
          implementation: Function | None = None, operator: str = "", methods: bool = True,
          on_device: str = EVERY) -> Function:  # the parameters are an operation's facts
    """Declare ``name(x)``, ``name(x, out=)``, with `methods` also ``x.name()`` and ``x.name_()``;
    return the function.

    `doc` is what comes out, such as "the sine of each element", `sample` and `gives` become the
    doctest. `implementation` computes where `rule` itself does not. A device computes with the
    dtype characters `on_device`.
    """
    kernel = _of_one(name, rule, doc)
    kernel.meets_read = meets_read
    by_numpy = implementation or rule
    kernel.first_implementations = lambda: _implementations(
        name, rule, by_numpy, isinstance(by_numpy, np.ufunc), False, on_device)
    function = FunctionOfOne(kernel, rule)
    example = _example(f"mat.{name}(mat.array({sample}))", name, sample, gives)
    public = _public(function, kernel, unary_doc(name, doc, example))
    if methods:
        _bind_unary_methods(name, doc, kernel, function)
    if operator:
        bind(f"__{operator}__", function)
        OPERATORS[f"__{operator}__"].operation = kernel
    return public


def _of_one(name: str, rule: np.ufunc, doc: str) -> MatOp:
    """Declare an operation of one operand."""
    def check(x: Input, out: Output) -> None:
        check_out(rule, out, x, name=name)

    kernel = _operation(check, name, f"Return {doc}.")
    kernel.result_of = lambda x, out: (x.shape, result_dtype(rule, x))
    return kernel


@cache
def _dtypes_of(name: str) -> str:
    """Return the dtype characters with compiled kernels of that function."""
    return "".join(_TYPES[kind] for kind in kinds_of(name)) + complex_types_of(name)


def _bind_unary_methods(name: str, doc: str, kernel: MatOp, function: Function) -> None:
    """Bind the methods of a function of one operand."""
    def made() -> Function:
        def method(self: Mat, out: Mat | None = None) -> Mat:
            return function(self, out)

        return named(method, name, unary_doc(name, doc, method=True))

    def made_in_place() -> Function:
        def in_place(self: Mat) -> Mat:
            return kernel(self, self)

        return named(in_place, name + "_", in_place_doc(name, doc))

    bind_later(name, made)
    bind_later(name + "_", made_in_place)


def binary(name: str, rule: np.ufunc, gives: str, doc: str, *, operator: str = "",
           implementation: Function | None = None, silent: bool = False,
           check_values: CheckValues | None = None, shortcut: Shortcut | None = None,
           sample: str = "[1.0, 4]", methods: bool = True,
           on_device: str = EVERY) -> Function:  # the parameters are an operation's facts
    """Declare ``name(x, y)``, ``name(x, y, out=)``, with `methods` ``x.name_(y)`` and the operators
    ``x . y``, ``y . x`` and ``x .= y``; return the function.

    `doc` is what comes out; `gives` is the result for `sample` and 2, for the doctest.
    `implementation` computes where `rule` itself does not. Of what is `silent` NumPy never warns,
    and neither does it of comparisons. `check_values` raises, at every call, for values that NumPy
    would refuse half-way through. Of some operands, a `shortcut` computes the same. A device
    computes with the dtype characters `on_device`.
    """
    compares = "bb->?" in rule.types

    def check(x: InputOrNumber, y: InputOrNumber, out: Output) -> None:
        check_out(rule, out, x, y)

    kernel = _operation(check, name, f"Return {doc}.")
    kernel.result_of = lambda x, y, out: _result_of(rule, x, y)
    kernel.adapt = _adapting(rule, compares)
    kernel.meets_read = meets_read
    kernel.first_implementations = lambda: _implementations(
        name, rule, implementation or rule, True, silent or compares, on_device)

    function = FunctionOfTwo(kernel, rule, check_values, shortcut)
    example = _example(f"mat.{name}(mat.array({sample}), 2)", name, sample, gives)
    public = _public(function, kernel, binary_doc(name, doc, example))
    in_place = _in_place(kernel, check_values, shortcut)
    if methods:
        bind_later(name + "_", lambda: named(in_place, name + "_",
                                             in_place_doc(name, doc, binary=True)))
    if operator:
        _bind_operators(kernel, operator, function, None if compares else in_place,
                        check_values is None)
    return public


def _adapting(rule: np.ufunc, compares: bool) -> Callable[[Arguments], Arguments] | None:
    """Return the conversion of numbers that `rule` takes beside any integers, or None."""
    gives_floats = not compares and "bb->b" not in rule.types
    return _ADAPTING.get(rule, beyond_integers if compares else
                         partial(as_loop_numbers, rule) if gives_floats else None)


def _implementations(name: str, rule: np.ufunc, function: Function, bare: bool, silent: bool,
                     on_device: str = EVERY) -> Iterator[Implementation]:
    """Yield the kernels of the host, those of devices for the dtypes `on_device`, and `function`
    for arrays, `bare` and `silent` as in `Op.on`.
    """
    def on_host(cpu: Engine, *operands: Operand) -> CpuKernel:
        dtype, *_, result = _kernel_dtypes(rule, *operands[:-1])
        line = name if operands[-1].element_type == result else name + "_in"
        if dtype.char == "e" and name in ("maximum", "minimum"):
            line += "_first"
        return cpu.prepare_elementwise(line, *operands, dtype=dtype)

    def on_gpu(cuda: Engine, *operands: Operand) -> Function:
        found: Function = cuda.prepare_elementwise(
            name, *operands, dtype=_kernel_dtypes(rule, *operands[:-1])[0])
        return found

    if lib is not None:
        yield Implementation("foreign", on_host, None, _STORED, False, True, prepares=True,
                             when=_fits_host(rule, _dtypes_of(name), most_halves(name)))
    yield Implementation("cuda", on_gpu, None, _STORED, False, True, prepares=True,
                         when=_fits_device(rule, on_device))
    yield Implementation("array", function, None, None, False, bare, silent)


def _kernel_dtypes(rule: np.ufunc, *operands: Operand) -> tuple[DType, ...]:
    """Return `loop_dtypes`, with float32 for tests and comparisons of 8-bit floats."""
    found = loop_dtypes(rule, *operands)
    if found[0].char in FLOAT8 and found[-1].kind == "b" and all(
            isinstance(x, Mat) and x.element_type == found[0] for x in operands):
        return (*(FLOAT32,) * len(operands), found[-1])
    return found


def _fits_host(rule: np.ufunc, dtypes: str, halves: int) -> Callable[..., bool]:
    """Return a test whether the host's kernels for `dtypes` implement `rule`: it computes in one of
    these, and `out` has the dtype of the result, or for a comparison of BLAS types and int64 that
    of the operands. With up to `halves` 16-bit floats they compute as a device does: in float32,
    rounded at the end.
    """
    def fits(*operands: Operand) -> bool:
        *loop, result = _kernel_dtypes(rule, *operands[:-1])
        dtype, out = loop[0], operands[-1].element_type
        if dtype.char in HALVES:
            same = all(d == dtype for d in loop) and out == result
            known = result == dtype or result.kind == "b"
            return same and known and operands[-1].layout.size <= halves and _in_float32(*operands)
        in_place = len(loop) == 2 and result.kind == "b" and dtype.char in REAL_TYPES + LONG
        return (dtype.char in dtypes and all(d == dtype for d in loop)
                and (out == result or (in_place and out == dtype))
                and converted(dtype, *operands))

    return fits


def _in_float32(*operands: Operand) -> bool:
    """Return whether a kernel of float32 can compute with operands that are converted."""
    return converted(FLOAT32, *operands) and converts(FLOAT32, operands[-1].element_type)


def test(name: str, rule: np.ufunc, doc: str) -> Function:
    """Declare ``name(x, out=None)``, a test of each element, without methods; return it."""
    kernel = _of_one(name, rule, doc)
    kernel.first_implementations = lambda: _implementations(name, rule, rule, True, True)
    return _public(FunctionOfOne(kernel, rule), kernel, unary_doc(name, doc))


def clipping(name: str, doc: str) -> Function:
    """Declare ``name(x, low, high, out=None)``, which limits elements; return the function."""
    def check(x: InputOrNumber, low: InputOrNumber, high: InputOrNumber, out: Output) -> None:
        for bound in (low, high):
            check_out(np.maximum, out, x, bound)

    kernel = _operation(check, name, f"Return {doc}.")
    kernel.meets_read = meets_read
    kernel.result_of = lambda x, low, high, out: (
        broadcast_shapes([v.layout.shape for v in (x, low, high) if isinstance(v, Mat)]),
        dtype_of_clip(x, low, high))
    kernel.prepare("foreign", dtypes=compiled(REAL_TYPES + INTEGERS), when=of_one_dtype)(
        lambda cpu, x, low, high, out: cpu.prepare_elementwise(name, x, low, high, out))
    kernel.prepare("foreign", dtypes=compiled(HALVES), when=_clips_halves)(
        lambda cpu, x, low, high, out: cpu.prepare_elementwise(
            name + "_first", x, low, high, out, dtype=out.element_type))
    kernel.prepare("cuda", dtypes=EVERY, when=_clips_on_device)(
        lambda cuda, x, low, high, out: cuda.prepare_elementwise(name, x, low, high, out))
    kernel.on("array", bare=True, silent=True)(
        lambda x, low, high, out: np.clip(x, low, high, out=out))

    return _public(function_of_bounds(kernel), kernel, f"Return {doc}.")


def _clips_halves(x: Operand, low: Operand, high: Operand, out: Mat) -> bool:
    """Return whether all are Mats of one 16-bit dtype, or numbers that become such."""
    dtype = out.element_type
    return (_in_float32(x, low, high, out) and dtype_of_clip(x, low, high) == dtype
            and all(v.element_type is dtype for v in (x, low, high) if isinstance(v, Mat)))


def _clips_on_device(x: Operand, low: Operand, high: Operand, out: Mat) -> bool:
    """Return whether a device can clip these: real numbers of one dtype."""
    dtype = out.element_type
    operands = (x, low, high)
    return (dtype.name in BY_NAME and BY_NAME[dtype.name].kind in "iuf" and apart(*operands, out)
            and all(v.element_type is dtype if isinstance(v, Mat) else represents(dtype, v)
                    for v in operands))


def _fits_device(rule: np.ufunc, chars: str) -> Callable[..., bool]:
    """Return a test whether a device computes `rule` in one of `chars` for the operands."""
    def fits(*operands: Operand) -> bool:
        *dtypes, _ = _kernel_dtypes(rule, *operands[:-1])
        return (all(d == dtypes[0] for d in dtypes) and dtypes[0].char in chars and apart(*operands)
                and all(x.element_type.kind == "b" or dtypes[0].kind != "b"
                        if isinstance(x, Mat) else represents(dtypes[0], x) for x in operands[:-1]))

    return fits


def _in_place(kernel: MatOp, check_values: CheckValues | None,
              shortcut: Shortcut | None) -> Function:
    """Return ``x.name_(y)``."""
    def in_place(self: Mat, y: Operand) -> Mat:
        if type(y) is not Mat and type(y) is not float:
            y = as_operand(apart_from(y, self), "y")
        if check_values is not None:
            check_values(self, y)
        shorter = None if shortcut is None else shortcut(self, y)
        return kernel(self, y, self) if shorter is None else shorter[0](shorter[1], self)

    return in_place


def _result_of(rule: np.ufunc, x: Operand, y: Operand) -> tuple[Ints, DType]:
    """Return shape and dtype of the result of `rule`."""
    shapes = [v.layout.shape for v in (x, y) if isinstance(v, Mat)]
    shape = shapes[0] if len(shapes) == 1 or shapes[0] == shapes[1] else broadcast_shapes(shapes)
    dtype = result_dtype(rule, x, y)
    if not is_known_dtype(dtype):
        raise other_elements(rule.__name__, dtype)
    return shape, dtype


# modules whose objects are compared with each element
_COMPARED = {"builtins", "decimal", "fractions", "datetime"}


def _has_rule(other: object) -> bool:
    """Return whether a class other than Python's defines equality, or refuses ufuncs."""
    kind = type(other)
    owner = next(one for one in kind.__mro__ if "__eq__" in vars(one))
    return owner.__module__ not in _COMPARED or getattr(kind, "__array_ufunc__", kind) is None


def _bind_operators(kernel: MatOp, symbol: str, function: Function, in_place: Function | None,
                    plain: bool) -> None:
    """Bind the operators of a function of two operands; `plain`: without a check of values."""
    repeats, equates = symbol == "mul", symbol in ("eq", "ne")
    compares = equates or symbol in ("lt", "le", "gt", "ge")
    rule = getattr(operator, f"__{symbol}__")

    def operate(self: Mat, other: object) -> object:
        if repeats and isinstance(other, _SEQUENCES) and _is_count(self):
            return other * int(self)
        other = small_copied(other)
        if type(other) is Mat or has_priority(other):
            return function(self, other)
        if keeps_its_class(other):
            return of_arrays(rule, self, other, False)
        if is_operand(other) or (compares and isinstance(other, numbers.Number)) or (
                equates and not _has_rule(other)):
            try:
                return function(self, other)
            except DTypeError as error:
                if not compares or isinstance(other, Mat):
                    raise
                return equal_by_numpy(rule, self, other, error)
        return of_arrays(rule, self, other, False) if is_sparse(other) else NotImplemented

    def operate_reflected(self: Mat, other: object) -> object:
        if repeats and isinstance(other, _SEQUENCES) and _is_count(self):
            return other * int(self)
        if keeps_its_class(other) or is_sparse(other):
            return of_arrays(rule, self, other, True)
        return function(other, self) if is_operand(other) or has_priority(other) else NotImplemented

    def operate_in_place(self: Mat, other: object) -> object:
        if in_place is None or not (is_operand(other) or keeps_its_class(other)):
            return NotImplemented
        return in_place(self, other)

    found = {f"__{symbol}__": operate}
    if in_place is not None:
        found |= {f"__r{symbol}__": operate_reflected, f"__i{symbol}__": operate_in_place}
    _bind_all(found, kernel if plain else None)


def _bind_all(methods: dict[str, Function], operation: MatOp | None) -> None:
    """Bind operators by their names; `operation`, if given, is what they call of Mats at once."""
    for name, method in methods.items():
        bind(name, method)
        if operation is not None:
            OPERATORS[name].operation = operation


_SEQUENCES = (list, tuple, str, bytes)


def _is_count(x: Mat) -> bool:
    """Return whether `x` is an integer without axes, a repeat count for Python's sequences."""
    return not x.layout.shape and x.element_type.kind in "iu"


def _operation(check: Function, name: str, doc: str) -> MatOp:
    check.__name__ = name
    check.__doc__ = doc
    check.__module__ = "mat.ops.primitives.elementwise"
    found = op(check, method="", by_form=True)
    found.cut_by(by_elements(found))
    return found


def _example(call: str, name: str, sample: str, gives: str) -> str:
    """Return a doctest of a call of the function `name` for a `sample` of two elements."""
    of_elements = "" if "." in sample else " int64"
    dtype = " bool" if gives[1] in "TF" else of_elements
    real = set(_dtypes_of(name)) - set(COMPLEX_TYPES)
    facet = "F" if real or lib is None else "A"  # where NumPy computes it
    return f">>> import mat\n>>> {call}\n<Mat 2{dtype} {facet} {gives}>"


def _public(function: Function, kernel: MatOp, doc: str) -> Function:
    """Return the free function, with its docstring and its operation as the attribute `op`."""
    rule: np.ufunc | None = getattr(function, "rule", None)
    numpys = rule is not None and getattr(np, kernel.__name__, None) is rule
    # the ufunc of `abs` is called absolute
    public = named(function, rule.__name__ if rule and numpys else kernel.__name__, doc)
    public.__qualname__ = public.__name__
    vars(public)["op"] = kernel
    return public
