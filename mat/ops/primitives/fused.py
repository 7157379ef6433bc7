"""MGL-MAT's fused element-wise forms: a product or signs, scaled and accumulated."""

from __future__ import annotations

from ...errors import ShapeError
from ...matrix.mat import Mat
from ...support.dtypes import EVERY, REAL_TYPES
from ...support.native import compiled
from ...support.types import Array, Engine, Function, Number
from ..engine.accumulation import accumulate, check_factors, same_dtype, same_shape
from ..engine.operation import Accumulated, Input, Scalar, op
from ..tiles.overlap import apart, one_by_one
from ..tiles.signatures import by_elements, over


@op(by_form=True)
def geem(alpha: Scalar, a: Input, b: Input, beta: Scalar, c: Accumulated) -> None:
    """Compute ``c <- alpha * a * b + beta * c``, element by element, and return `c`.

    Parameters
    ----------
    alpha, beta : number
        Factors, converted to the dtype of the Mats; where `beta` is 0, `c` is not read.
    a, b : Mat
        Operands, of the shape and dtype of `c`.
    c : Mat
        Is overwritten.

    Returns
    -------
    Mat
        `c`.

    Raises
    ------
    ShapeError
        If the shapes differ.
    DTypeError
        If the dtypes differ, or a Mat of integers is scaled by other numbers.

    Notes
    -----
    Source: MGL-MAT's ``geem!``.

    Examples
    --------
    >>> import mat
    >>> mat.geem(2, mat.full(3, 3.0), mat.full(3, 4.0), 1, mat.ones(3))
    <Mat 3 F [25. 25. 25.]>
    """
    same_shape(a, b, c)
    check_factors(c, alpha, beta)


geem.cut_by(by_elements(geem))
geem.prepare("foreign", dtypes=compiled(REAL_TYPES), when=one_by_one)(
    lambda cpu, a, b, c: cpu.prepare_elementwise("geem", a, b, c))
geem.prepare("cuda", dtypes=EVERY, when=apart)(
    lambda cuda, a, b, c: cuda.prepare_elementwise("geem", a, b, c))


@geem.on("array")
def geem_numpy(np: Engine, alpha: Number, a: Array, b: Array, beta: Number, c: Array) -> None:
    """Accumulate NumPy's product."""
    term = np.multiply(a, b)
    accumulate(np, term if alpha == 1 else np.multiply(term, alpha), beta, c)


@op(by_form=True)
def geerv(alpha: Scalar, a: Input, x: Input, beta: Scalar, b: Accumulated) -> None:
    """Compute ``b <- alpha * a * X + beta * b``, every row of X being `x`, and return `b`.

    Parameters
    ----------
    alpha, beta : number
        Factors, converted to the dtype of the Mats; where `beta` is 0, `b` is not read.
    a : Mat
        Matrix, of the shape and dtype of `b`.
    x : Mat
        Vector with as many elements as `a` has columns.
    b : Mat
        Is overwritten.

    Returns
    -------
    Mat
        `b`.

    Raises
    ------
    ShapeError
        If `a` and `b` are not matrices of one shape, or `x` is not as long as their rows.
    DTypeError
        If the dtypes differ, or a Mat of integers is scaled by other numbers.

    Notes
    -----
    Source: MGL-MAT's ``geerv!``.

    Examples
    --------
    >>> import mat
    >>> mat.geerv(1, mat.ones(2, 3), mat.arange(3.0), 0, mat.empty(2, 3))
    <Mat 2x3 F [[0. 1. 2.] [0. 1. 2.]]>
    """
    same_shape(a, b)
    same_dtype(a, x)
    if a.ndim != 2 or x.size != a.shape[1]:
        raise ShapeError(f"geerv requires matrices and a vector as long as their rows, got "
                         f"{a.shape} and {x.shape}")
    check_factors(b, alpha, beta)


def _row_fits_compiled(a: Mat, x: Mat, b: Mat) -> bool:
    return (x.layout.contiguous or x.layout.vector is not None) and one_by_one(a, x, b)


def _row_fits_device(a: Mat, x: Mat, b: Mat) -> bool:
    return (x.ndim == 1 or x.layout.vector is not None) and apart(a, x, b)


geerv.cut_by(over(geerv, "ij,j,ij", free=True))
geerv.reads_once = True


@geerv.prepare("foreign", dtypes=compiled(REAL_TYPES), when=_row_fits_compiled)
@geerv.prepare("cuda", dtypes=EVERY, when=_row_fits_device)
def geerv_kernel(engine: Engine, a: Mat, x: Mat, b: Mat) -> Function:
    """Return the kernel of `geem` for `x` as a row."""
    layouts = a.layout, x.layout.reshape((1, x.size)), b.layout
    return engine.prepare_elementwise("geem", a, x, b, layouts=layouts)


@geerv.on("array")
def geerv_numpy(np: Engine, alpha: Number, a: Array, x: Array, beta: Number, b: Array) -> None:
    """Accumulate NumPy's product with a row."""
    accumulate(np, np.multiply(a, alpha * x.reshape(1, -1)), beta, b)


@op(by_form=True)
def add_sign(alpha: Scalar, a: Input, beta: Scalar, b: Accumulated) -> None:
    """Compute ``b <- alpha * sign(a) + beta * b``, element by element, and return `b`.

    Parameters
    ----------
    alpha, beta : number
        Factors, converted to the dtype of the Mats; where `beta` is 0, `b` is not read.
    a : Mat
        Operand, of the shape and dtype of `b`.
    b : Mat
        Is overwritten.

    Returns
    -------
    Mat
        `b`.

    Raises
    ------
    ShapeError
        If the shapes differ.
    DTypeError
        If the dtypes differ, or a Mat of integers is scaled by other numbers.

    Notes
    -----
    Source: MGL-MAT's ``add-sign!``.

    Examples
    --------
    >>> import mat
    >>> mat.add_sign(2, mat.array([-3.0, 0, 5]), 1, mat.ones(3))
    <Mat 3 F [-1. 1. 3.]>
    """
    same_shape(a, b)
    check_factors(b, alpha, beta)


add_sign.cut_by(by_elements(add_sign))
add_sign.prepare("foreign", dtypes=compiled(REAL_TYPES), when=one_by_one)(
    lambda cpu, a, b: cpu.prepare_elementwise("add_sign", a, b))
add_sign.prepare("cuda", dtypes=EVERY, when=apart)(
    lambda cuda, a, b: cuda.prepare_elementwise("add_sign", a, b))


@add_sign.on("array")
def add_sign_numpy(np: Engine, alpha: Number, a: Array, beta: Number, b: Array) -> None:
    """Accumulate NumPy's signs."""
    accumulate(np, np.multiply(np.sign(a), alpha), beta, b)
