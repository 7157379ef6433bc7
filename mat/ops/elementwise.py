"""Element-wise operations: one declaration each, from which the function, the methods and the
operator come.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DTypeError, ShapeError
from ..layout.strided import broadcast_shapes
from ..matrix.creation import as_array
from ..matrix.mat import Mat
from ..matrix.methods import method
from ..support.dtypes import BLAS_TYPES, BOOL, EVERY, HALVES, INTEGERS, REAL_TYPES
from ..support.native import compiled
from .declare_elementwise import binary, special, unary
from .operation import Accumulated, Input, InputOrNumber, Output, Scalar, op
from .overlap import apart, large, one_by_one, overlap, walkable

MOST_AXES_THERE = 16  # of copies on a device, which for more would take too many launches

# One operand: name, reference, an example and what it gives, the formula

square = unary("square", np.square, "[0, 1]", "[0. 1.]", "``x * x``")
sqrt = unary("sqrt", np.sqrt, "[0, 2.25]", "[0. 1.5]", "The square root; NaN for real numbers "
                                                       "below 0.")
exp = unary("exp", np.exp, "[0, 1]", "[1. 2.71828183]", "e to the power of x.")
expm1 = unary("expm1", np.expm1, "[0, 1]", "[0. 1.71828183]", "``exp(x) - 1``, exact also near 0.")
log = unary("log", np.log, "[0, 1]", "[-inf 0.]", "The natural logarithm; -inf for 0, NaN for real "
                                                  "numbers below 0.")
log1p = unary("log1p", np.log1p, "[0, 1]", "[0. 0.69314718]", "``log(1 + x)``, exact also near 0.")
sin = unary("sin", np.sin, "[0, 1]", "[0. 0.84147098]", "The sine of x radians.")
cos = unary("cos", np.cos, "[0, 1]", "[1. 0.54030231]", "The cosine of x radians.")
tan = unary("tan", np.tan, "[0, 1]", "[0. 1.55740772]", "The tangent of x radians.")
sinh = unary("sinh", np.sinh, "[0, 1]", "[0. 1.17520119]", "The hyperbolic sine.")
cosh = unary("cosh", np.cosh, "[0, 1]", "[1. 1.54308063]", "The hyperbolic cosine.")
tanh = unary("tanh", np.tanh, "[0, 1]", "[0. 0.76159416]", "The hyperbolic tangent.")
abs = unary("abs", np.absolute, "[-2, 3]", "[2. 3.]", "The absolute value; the modulus of a "
                                                      "complex number.",
            operator="abs")
negative = unary("negative", np.negative, "[0, 1]", "[-0. -1.]", "``-x``", operator="neg")
sign = unary("sign", np.sign, "[-2, 0]", "[-1. 0.]", "-1, 0 or 1 as x is below, at or above 0; NaN "
                                                     "for NaN.")
floor = unary("floor", np.floor, "[-1.5, 1.5]", "[-2. 1.]", "The largest integer not above x.")
ceil = unary("ceil", np.ceil, "[-1.5, 1.5]", "[-1. 2.]", "The smallest integer not below x.")
rint = unary("rint", np.rint, "[0.5, 1.5]", "[0. 2.]", "The nearest integer; of two, the even one.")


def _reciprocal(np: Any, x: Any, out: Any) -> None:
    if x.dtype.kind in "iub":
        np.reciprocal(x, out=out)
    else:
        np.divide(1, x, out=out)


def _logistic(np: Any, x: Any, out: Any) -> None:
    special("expit")(x, out=out, casting="same_kind")


def _erf(np: Any, x: Any, out: Any) -> None:
    special("erf")(x, out=out, casting="same_kind")


reciprocal = unary("reciprocal", np.reciprocal, "[0, 4]", "[inf 0.25]",
                   "``1 / x``; inf for 0. Of integers the whole part, as in NumPy.",
                   implementation=_reciprocal)
# for their dtypes these follow functions that NumPy has for the same ones, real numbers
logistic = unary("logistic", np.cbrt, "[0, 1]", "[0.5 0.73105858]",
                 "``1 / (1 + exp(-x))``: torch's sigmoid, SciPy's expit.", implementation=_logistic)
erf = unary("erf", np.cbrt, "[0, 1]", "[0. 0.84270079]",
            "The error function, ``2 / sqrt(pi) * integral of exp(-t^2) from 0 to x``.",
            implementation=_erf)

# Two operands, which broadcast: name, reference, what it gives for (1, 4) and 2, the formula


def _check_integer_power(x: Any, p: Any) -> None:
    """NumPy refuses integers to negative integer powers, half-way through an array; we refuse
    before.
    """
    kinds = [v.dtype.kind if isinstance(v, Mat) else np.asarray(v).dtype.kind for v in (x, p)]
    if kinds[0] in "iub" and kinds[1] in "i":
        lowest = p if not isinstance(p, Mat) else (p.to_numpy().min() if p.size else 0)
        if lowest < 0:
            raise DTypeError(f"integers have no power {lowest}; use x.astype('float64') first")


add = binary("add", np.add, "[3. 6.]", "``x + y``", operator="add")
subtract = binary("subtract", np.subtract, "[-1. 2.]", "``x - y``", operator="sub")
multiply = binary("multiply", np.multiply, "[2. 8.]", "``x * y``, element by element.",
                  operator="mul")
divide = binary("divide", np.divide, "[0.5 2.]", "``x / y``; integers give floating point.",
                operator="truediv")
# NumPy's name
pow = binary("pow", np.power, "[1. 16.]", "``x ** y``; NaN outside the reals.",
             operator="pow",
             check_values=_check_integer_power)
maximum = binary("maximum", np.maximum, "[2. 4.]", "The larger of x and y; NaN if either is.")
minimum = binary("minimum", np.minimum, "[1. 2.]", "The smaller of x and y; NaN if either is.")
equal = binary("equal", np.equal, "[False False]", "``x == y``: bool, or 1 and 0 in place.",
               operator="eq", reflected="eq")
not_equal = binary("not_equal", np.not_equal, "[True True]",
                   "``x != y``: bool, or 1 and 0 in place.", operator="ne",
                   reflected="ne")
less = binary("less", np.less, "[True False]", "``x < y``: bool, or 1 and 0 in place.",
              operator="lt", reflected="lt")
less_equal = binary("less_equal", np.less_equal, "[True False]",
                    "``x <= y``: bool, or 1 and 0 in place.", operator="le",
                    reflected="le")
greater = binary("greater", np.greater, "[False True]", "``x > y``: bool, or 1 and 0 in place.",
                 operator="gt", reflected="gt")
greater_equal = binary("greater_equal", np.greater_equal, "[False True]",
                       "``x >= y``: bool, or 1 and 0 in place.",
                       operator="ge", reflected="ge")

# Writing


@op(by_form=True)
def fill(value: Scalar, x: Output) -> None:
    """``x <- value`` for every visible element.

    >>> import mat
    >>> mat.zeros(3).fill_(2)
    <Mat 3 F [2. 2. 2.]>
    """


fill.prepare("foreign", dtypes=compiled(BLAS_TYPES), when=walkable)(lambda cpu, x: cpu.prepare_fill(x))
fill.prepare("foreign", dtypes=compiled(BOOL + INTEGERS + HALVES), when=large)(
    lambda cpu, x: cpu.prepare_fill_bits(x))


fill.prepare("cuda", dtypes=EVERY, when=apart)(lambda cuda, x: cuda.prepare_fill(x))


@fill.on("array", bare=True)
def _(value: Any, x: Any) -> None:
    x[...] = value


@op(method="assign_", by_form=True)
def assign(x: InputOrNumber, out: Output) -> None:
    """``out <- x``, converted to out's dtype and broadcast, as ``out[...] = x`` does."""
    if not isinstance(x, Mat):
        return
    if x.shape != out.shape and broadcast_shapes((x.shape, out.shape)) != out.shape:
        raise ShapeError(f"shape {x.shape} does not broadcast to {out.shape}")
    if x.dtype.kind == "c" and out.dtype.kind != "c":
        raise DTypeError(f"{x.dtype} elements do not fit into {out.dtype}")


def _moves(x: Any, out: Mat) -> bool:
    """Whether elements only move from `x` to `out`, and from place to place without meeting each
    other.

    In one storage that is asked at every call, which small copies are not worth.
    """
    if not isinstance(x, Mat) or x.storage.dtype != out.storage.dtype:
        return False
    return x.storage is not out.storage or (out.nbytes > 1 << 16 and not overlap(x, out))


@assign.prepare("foreign", dtypes=compiled(EVERY), when=_moves)
def _(cpu: Any, x: Mat, out: Mat) -> Any:
    return cpu.prepare_copy(x, out)


def _goes_there(x: Any, out: Mat) -> bool:
    """Whether a device can do that."""
    return isinstance(x, Mat) and out.ndim <= MOST_AXES_THERE


@assign.prepare("cuda", dtypes=EVERY, when=_goes_there)
def _(cuda: Any, x: Mat, out: Mat) -> Any:
    if x.storage.dtype == out.storage.dtype:
        return cuda.prepare_copy(x, out, through=overlap(x, out))
    return cuda.prepare_convert(x, out)


@assign.prepare("cuda", dtypes=EVERY, when=lambda x, out: not isinstance(x, Mat) and apart(out))
def _(cuda: Any, x: Any, out: Mat) -> Any:
    return cuda.prepare_fill(out, of=(1,), value=(0,))


@assign.on("array")
def _(np: Any, x: Any, out: Any) -> None:
    np.copyto(out, x, casting="unsafe")


@method("replace_")
def replace_(self: Mat, nested: Any) -> Mat:
    """Overwrite self with the elements of nested sequences, an array or a Mat; the shape must be
    self's.

    >>> import mat
    >>> mat.zeros(2, 2).replace_([[1, 2], [3, 4]])
    <Mat 2x2 A [[1. 2.] [3. 4.]]>
    """
    elements = as_array(nested, self.dtype)
    if elements.shape != self.shape:
        raise ShapeError(f"replace_ wants shape {self.shape}, got {elements.shape}")
    with self.facet("array", "output") as a:
        a[...] = elements
    return self




# MGL-MAT's fused forms


def same_shape(*mats: Mat) -> None:
    """`ShapeError` or `DTypeError` unless all have one shape and one dtype."""
    first = mats[0]
    for other in mats[1:]:
        if other.layout.shape != first.layout.shape:
            raise ShapeError(f"shapes must agree, got {first.shape} and {other.shape}")
        same_dtype(first, other)


def same_dtype(*mats: Mat) -> None:
    for other in mats[1:]:
        if other.storage.dtype != mats[0].storage.dtype:
            raise DTypeError(f"dtypes must agree, got {mats[0].dtype} and {other.dtype}; convert "
                             "with x.astype(dtype)")


def check_factors(y: Mat, *factors: Any) -> None:
    """`DTypeError` unless a Mat of integers is scaled by integers, as NumPy's ``y *= factor``
    demands.
    """
    kind = y.storage.dtype.kind
    for factor in factors if kind in "iub" else ():
        if kind == "b" or not isinstance(factor, int | np.integer):
            raise DTypeError(f"{y.label()} cannot be scaled by {factor!r}; use x.astype('float64') "
                             "first")


def accumulate(np: Any, term: Any, beta: Any, y: Any) -> None:
    """``y <- term + beta * y``, without reading y where `beta` is 0."""
    if beta == 0:
        np.copyto(y, term, casting="same_kind")
        return
    if beta != 1:
        np.multiply(y, beta, out=y)
    np.add(y, term, out=y)


@op(by_form=True)
def geem(alpha: Scalar, a: Input, b: Input, beta: Scalar, c: Accumulated) -> None:
    """``c <- alpha * a * b + beta * c``, element by element; all of one shape and dtype.

    >>> import mat
    >>> mat.geem(2, mat.full(3, 3), mat.full(3, 4), 1, mat.ones(3))
    <Mat 3 F [25. 25. 25.]>
    """
    same_shape(a, b, c)
    check_factors(c, alpha, beta)


geem.prepare("foreign", dtypes=compiled(REAL_TYPES), when=one_by_one)(
    lambda cpu, a, b, c: cpu.prepare_elementwise("geem", a, b, c))


geem.prepare("cuda", dtypes=EVERY, when=apart)(lambda cuda, a, b,
                                               c: cuda.prepare_elementwise("geem", a, b, c))


@geem.on("array")
def _(np: Any, alpha: Any, a: Any, b: Any, beta: Any, c: Any) -> None:
    term = np.multiply(a, b)
    accumulate(np, term if alpha == 1 else np.multiply(term, alpha), beta, c)


@op(by_form=True)
def geerv(alpha: Scalar, a: Input, x: Input, beta: Scalar, b: Accumulated) -> None:
    """``b <- alpha * a * X + beta * b`` where every row of X is the vector `x`.

    `a` and `b` are matrices of one shape, `x` has as many elements as they have columns.

    >>> import mat
    >>> mat.geerv(1, mat.ones(2, 3), mat.arange(3), 0, mat.empty(2, 3))
    <Mat 2x3 F [[0. 1. 2.] [0. 1. 2.]]>
    """
    same_shape(a, b)
    same_dtype(a, x)
    if a.ndim != 2 or x.size != a.shape[1]:
        raise ShapeError(f"geerv wants matrices and a vector as long as their rows, got {a.shape} "
                         f"and {x.shape}")
    check_factors(b, alpha, beta)


def _rows_fit(a: Mat, x: Mat, b: Mat) -> bool:
    return (x.layout.contiguous or x.layout.vector is not None) and one_by_one(a, x, b)


@geerv.prepare("foreign", dtypes=compiled(REAL_TYPES), when=_rows_fit)
def _(cpu: Any, a: Mat, x: Mat, b: Mat) -> Any:
    return cpu.prepare_elementwise("geem", a, x, b,
                                   layouts=(a.layout, x.layout.reshape((1, x.size)), b.layout))


@geerv.prepare("cuda", dtypes=EVERY, when=lambda a, x,
               b: (x.ndim == 1 or x.layout.vector is not None) and apart(a, x, b))
def _(cuda: Any, a: Mat, x: Mat, b: Mat) -> Any:
    return cuda.prepare_elementwise("geem", a, x, b,
                                    layouts=(a.layout, x.layout.reshape((1, x.size)), b.layout))


@geerv.on("array")
def _(np: Any, alpha: Any, a: Any, x: Any, beta: Any, b: Any) -> None:
    accumulate(np, np.multiply(a, alpha * x.reshape(1, -1)), beta, b)


@op(by_form=True)
def add_sign(alpha: Scalar, a: Input, beta: Scalar, b: Accumulated) -> None:
    """``b <- alpha * sign(a) + beta * b``

    >>> import mat
    >>> mat.add_sign(2, mat.array([-3, 0, 5]), 1, mat.ones(3))
    <Mat 3 F [-1. 1. 3.]>
    """
    same_shape(a, b)
    check_factors(b, alpha, beta)


add_sign.prepare("foreign", dtypes=compiled(REAL_TYPES), when=one_by_one)(
    lambda cpu, a, b: cpu.prepare_elementwise("add_sign", a, b))


add_sign.prepare("cuda", dtypes=EVERY, when=apart)(lambda cuda, a,
                                                   b: cuda.prepare_elementwise("add_sign", a, b))


@add_sign.on("array")
def _(np: Any, alpha: Any, a: Any, beta: Any, b: Any) -> None:
    accumulate(np, np.multiply(np.sign(a), alpha), beta, b)
