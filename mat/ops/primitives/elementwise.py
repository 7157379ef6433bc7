"""Element-wise operations: one declaration each for the function, the methods and the operator.

What the compiled kernels and those of a device compute is in ``native/shared/elementwise.def``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...cpu.elementwise import converts
from ...errors import DTypeError, PowerError, ShapeError
from ...layout.shapes import broadcast_shapes
from ...matrix.mat import Mat
from ...matrix.operators import OPERATORS
from ...support.dtypes import BLAS_TYPES, BOOL, FLOAT8, HALVES, INTEGERS, STORED
from ...support.native import compiled
from ...support.types import Arguments, Array, Engine, Function, Number, Operand
from ..engine.calls import may_meet
from ..engine.declare_elementwise import binary, clipping, result_dtype, special, test, unary
from ..engine.operation import InputOrNumber, Op, Output, Scalar, op
from ..tiles.overlap import apart, few_axes, is_shift, large, must_copy
from ..tiles.tile import by_elements

MOST_AXES_THERE = 16  # of copies on a device, which for more would take too many launches
# bytes of copies within one storage: up to so many, NumPy is as fast, and up to so many also where
SMALL_IN_PLACE, LARGE_IN_PLACE = 1 << 16, 1 << 24  # elements are shared

# One operand: name, reference, an example and what it gives, what comes out

square = unary("square", np.square, "[0.0, 1]", "[0. 1.]", "the square of each element")
sqrt = unary("sqrt", np.sqrt, "[0.0, 2.25]", "[0. 1.5]",
             "the square root of each element; NaN for real numbers below 0")
exp = unary("exp", np.exp, "[0.0, 1]", "[1. 2.71828183]", "the exponential of each element")
expm1 = unary("expm1", np.expm1, "[0.0, 1]", "[0. 1.71828183]",
              "the exponential of each element minus 1, exact also near 0")
log = unary("log", np.log, "[0.0, 1]", "[-inf 0.]",
            "the natural logarithm of each element; -inf for 0, NaN for real numbers below 0")
log1p = unary("log1p", np.log1p, "[0.0, 1]", "[0. 0.69314718]",
              "the logarithm of 1 plus each element, exact also near 0")
sin = unary("sin", np.sin, "[0.0, 1]", "[0. 0.84147098]", "the sine of each element, in radians")
cos = unary("cos", np.cos, "[0.0, 1]", "[1. 0.54030231]", "the cosine of each element, in radians")
tan = unary("tan", np.tan, "[0.0, 1]", "[0. 1.55740772]", "the tangent of each element, in radians")
sinh = unary("sinh", np.sinh, "[0.0, 1]", "[0. 1.17520119]", "the hyperbolic sine of each element")
cosh = unary("cosh", np.cosh, "[0., 1]", "[1. 1.54308063]", "the hyperbolic cosine of each element")
tanh = unary("tanh", np.tanh, "[0.0, 1]", "[0. 0.76159416]",
             "the hyperbolic tangent of each element")
abs = unary("abs", np.absolute, "[-2.0, 3]", "[2. 3.]",
            "the absolute value of each element; the modulus of complex numbers", operator="abs")


def _negative(np: Engine, x: Array, out: Array) -> None:
    # NumPy 2.4 reads elements 4 or 8 apart as if they were adjacent, unless the result is packed
    if out.flags.c_contiguous:
        np.negative(x, out=out)
    else:
        np.copyto(out, np.negative(x), casting="same_kind")


negative = unary("negative", np.negative, "[0.0, 1]", "[-0. -1.]", "the negative of each element",
                 implementation=_negative, operator="neg")
sign = unary("sign", np.sign, "[-2.0, 0]", "[-1. 0.]",
             "the sign of each element: -1, 0 or 1; NaN for NaN")
floor = unary("floor", np.floor, "[-1.5, 1.5]", "[-2. 1.]",
              "the largest integer not above each element")
ceil = unary("ceil", np.ceil, "[-1.5, 1.5]", "[-1. 2.]",
             "the smallest integer not below each element")
rint = unary("rint", np.rint, "[0.5, 1.5]", "[0. 2.]",
             "the integer nearest to each element; of two, the even one")


reciprocal = unary("reciprocal", np.reciprocal, "[0.0, 4]", "[inf 0.25]",
                   "1 divided by each element; inf for 0, and of integers the whole part")
# for their dtypes these follow functions that NumPy has for the same ones, real numbers
logistic = unary("logistic", np.cbrt, "[0.0, 1]", "[0.5 0.73105858]",
                 "``1 / (1 + exp(-x))`` of each element: torch's sigmoid, SciPy's expit",
                 implementation=lambda np, x, out: special("expit")(
                     x, out=out, casting="same_kind"))
erf = unary("erf", np.cbrt, "[0.0, 1]", "[0. 0.84270079]",
            "the error function, ``2 / sqrt(pi) * integral of exp(-t^2) from 0 to x``",
            implementation=lambda np, x, out: special("erf")(x, out=out, casting="same_kind"))

# Two operands, which broadcast: name, reference, what it gives for (1, 4) and 2, what comes out


def _is_inexact(x: Operand) -> bool:
    return x.element_type.kind in "fc" if isinstance(x, Mat) else type(x) is float


def _check_integer_power(x: Operand, p: Operand) -> None:
    """Raise `PowerError` for negative powers of integers, before anything is written."""
    if _is_inexact(x) or _is_inexact(p) or (isinstance(x, Mat) and not x.size):  # quickly
        return
    alike = isinstance(x, Mat) and isinstance(p, Mat) and x.element_type is p.element_type
    if alike or result_dtype(np.power, x, p).kind in "iu":
        lowest = p
        if isinstance(p, Mat):  # the host waits for a device
            lowest = int(p.min()) if p.size and p.element_type.kind == "i" else 0
        if lowest < 0:
            raise PowerError(f"integers have no power {lowest}; use x.astype('float64') first")


_SQUARE: dict[Number, Any] = {2: vars(square)["op"]}
_POWERS: dict[Number, Any] = {**_SQUARE, 0.5: vars(sqrt)["op"], -1: vars(reciprocal)["op"]}


def _square_or_root(x: Operand, p: Operand) -> tuple[Op, Mat] | None:
    """Return the operation of ``x ** 2`` and its operand, as floats for 2.0; else None.

    ``numpy.power(x, 0.5)`` is a root, too, but of float32 and float64 only: -inf gives NaN.
    """
    if (type(p) is not int and type(p) is not float) or not isinstance(x, Mat):
        return None
    kind = x.element_type.kind
    if p == 0.5:
        return (_POWERS[p], x) if x.element_type.char in "fd" else None
    if p != 2:
        return None
    if kind in "iu" and type(p) is float:
        return _POWERS[p], x.astype(result_dtype(np.power, x, p))
    return (_POWERS[p], x) if kind in "iufc" else None


def _with_out_by_name(rule: np.ufunc) -> Function:
    """Return `rule` as a function of three operands, since NumPy deprecates calling it so."""
    return lambda x, y, out: rule(x, y, out=out)


add = binary("add", np.add, "[3. 6.]", "``x + y``, element by element", operator="add")
subtract = binary("subtract", np.subtract, "[-1. 2.]", "``x - y``, element by element",
                  operator="sub")
multiply = binary("multiply", np.multiply, "[2. 8.]", "``x * y``, element by element",
                  operator="mul")
divide = binary("divide", np.divide, "[0.5 2.]",
                "``x / y``, element by element; integers give floating point", operator="truediv")
pow = binary("pow", np.power, "[1. 16.]",  # NumPy's name
             "``x ** y``, element by element; NaN outside the reals", operator="pow",
             check_values=_check_integer_power, shortcut=_square_or_root)
maximum = binary("maximum", np.maximum, "[2. 4.]",
                 "the larger of the elements of x and y; NaN if either is",
                 implementation=_with_out_by_name(np.maximum), silent=True)
minimum = binary("minimum", np.minimum, "[1. 2.]",
                 "the smaller of the elements of x and y; NaN if either is",
                 implementation=_with_out_by_name(np.minimum), silent=True)
equal = binary("equal", np.equal, "[False False]", "``x == y``: bool, or 1 and 0 in place",
               operator="eq")
not_equal = binary("not_equal", np.not_equal, "[True True]",
                   "``x != y``: bool, or 1 and 0 in place", operator="ne")
less = binary("less", np.less, "[True False]", "``x < y``: bool, or 1 and 0 in place",
              operator="lt")
less_equal = binary("less_equal", np.less_equal, "[True False]",
                    "``x <= y``: bool, or 1 and 0 in place", operator="le")
greater = binary("greater", np.greater, "[False True]", "``x > y``: bool, or 1 and 0 in place",
                 operator="gt")
greater_equal = binary("greater_equal", np.greater_equal, "[False True]",
                       "``x >= y``: bool, or 1 and 0 in place", operator="ge")

isnan = test("isnan", np.isnan, "whether each element is NaN")
isfinite = test("isfinite", np.isfinite, "whether each element is neither infinite nor NaN")
isinf = test("isinf", np.isinf, "whether each element is infinite")
clip = clipping("clip", "each element, or the bound that it is beyond; NaN if a bound is")

# Writing


@op(by_form=True)
def fill(value: Scalar, x: Output) -> None:
    """Overwrite every visible element of `x` with a number.

    Parameters
    ----------
    value : number
        Is converted to the dtype of `x`, which must be able to represent it.

    Returns
    -------
    Mat
        `x`.

    Raises
    ------
    DTypeError
        If `value` is not a number, or the dtype of `x` cannot represent it.

    Examples
    --------
    >>> import mat
    >>> mat.zeros(3).fill_(2)
    <Mat 3 F [2. 2. 2.]>
    """


fill.cut_by(by_elements(fill))
fill.prepare("foreign", dtypes=compiled(BLAS_TYPES), when=few_axes)(
    lambda cpu, x: cpu.prepare_fill(x))
fill.prepare("foreign", dtypes=compiled(BOOL + INTEGERS + HALVES + FLOAT8), when=large)(
    lambda cpu, x: cpu.prepare_fill_bits(x))
fill.prepare("cuda", dtypes=STORED, when=apart)(lambda cuda, x: cuda.prepare_fill(x))


@fill.on("array", bare=True)
def fill_numpy(value: Number, x: Array) -> None:
    x[...] = value


@op(method="assign_", by_form=True)
def assign(x: InputOrNumber, out: Output) -> None:
    """Overwrite `out` with `x`, converted to its dtype and broadcast, as ``out[...] = x`` does.

    Parameters
    ----------
    x : Mat or number
        Operand, which broadcasts to the shape of `out`.

    Returns
    -------
    Mat
        `out`.

    Raises
    ------
    ShapeError
        If `x` does not broadcast to the shape of `out`.
    DTypeError
        If `x` is complex and `out` is neither complex nor bool.
    """
    if not isinstance(x, Mat):
        return
    if x.shape != out.shape and broadcast_shapes((x.shape, out.shape)) != out.shape:
        raise ShapeError(f"shape {x.shape} does not broadcast to {out.shape}")
    if x.dtype.kind == "c" and out.dtype.kind not in "cb":
        raise DTypeError(f"{x.dtype} elements do not fit into {out.dtype}; x.real has "
                         "their real parts")


def only_moves(x: Operand, out: Mat) -> bool:
    """Return whether elements are only moved from `x` to `out`, without conversion.

    In one storage that is decided at every call, which small copies are not worth, nor copies of up
    to some megabytes by way of a workspace.
    """
    if not isinstance(x, Mat) or x.element_type != out.element_type:
        return False
    if not may_meet(x, out):
        return True
    if out.nbytes <= SMALL_IN_PLACE:
        return False
    return not must_copy(x, out) or (out.nbytes >= LARGE_IN_PLACE and not is_shift(x, out))


def _source_apart(args: Arguments) -> Arguments:
    """Return the arguments of `assign`, with a copy of an overlapping source of another dtype."""
    x, out = args
    apart = (isinstance(x, Mat) and isinstance(out, Mat) and x.element_type != out.element_type
             and must_copy(x, out))
    return (x.copy(), out) if apart else args


assign.adapt = _source_apart
assign.cut_by(by_elements(assign))
assign.assigns = True


assign.prepare("foreign", dtypes=compiled(STORED), when=only_moves)(
    lambda cpu, x, out: cpu.prepare_copy(x, out, through=must_copy(x, out)))
assign.prepare("foreign", dtypes=compiled(STORED), when=lambda x, out: (
    isinstance(x, Mat) and not may_meet(x, out) and few_axes(out)
    and converts(x.element_type, out.element_type)))(
    lambda cpu, x, out: cpu.prepare_convert(x, out))


@assign.prepare("array", dtypes=STORED,
                when=lambda x, out: isinstance(x, Mat) and must_copy(x, out))
def assign_overlapping(np: Engine, x: Mat, out: Mat) -> Function:
    """Return a function that copies `x` first, which NumPy omits along one axis."""
    if is_shift(x, out):
        # from the right end, and without a copy of the source
        return lambda x, out: np.copyto(out.reshape(-1), x.reshape(-1))
    return lambda x, out: np.copyto(out, x.copy())


def _fits_device(x: Operand, out: Mat) -> bool:
    return (isinstance(x, Mat) and out.ndim <= MOST_AXES_THERE
            and not (x.element_type.char in FLOAT8 and out.element_type.kind in "iu")
            and not (x.element_type.kind == "c" and out.element_type.kind == "b"))


assign.prepare("cuda", dtypes=STORED, when=_fits_device)(
    lambda cuda, x, out: cuda.prepare_copy(x, out, through=must_copy(x, out))
    if x.element_type == out.element_type else cuda.prepare_convert(x, out))
assign.prepare("cuda", dtypes=STORED, when=lambda x, out: not isinstance(x, Mat) and apart(out))(
    lambda cuda, x, out: cuda.prepare_fill(out, assigned=True))
assign.on("array")(lambda np, x, out: np.copyto(out, x, casting="unsafe"))
OPERATORS["__pow__"].unchecked = OPERATORS["__rpow__"].unchecked = vars(pow)["op"]
OPERATORS["__pow__"].by_number = {**dict.fromkeys("fc", _POWERS), **dict.fromkeys("iub", _SQUARE)}
