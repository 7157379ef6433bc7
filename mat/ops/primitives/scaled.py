"""MGL-MAT's fused element-wise forms: a product or signs, scaled and accumulated; rows
or columns multiplied by one factor each.
"""

from __future__ import annotations

from ...errors import ShapeError
from ...matrix.mat import Mat, new_like
from ...matrix.methods import method
from ...support.dtypes import EVERY, REAL_TYPES
from ...support.native import compiled
from ...support.types import Array, Engine, Function, Number, Operand
from ...support.unbound import documented
from ..engine.operands import accumulate, check_factors, same_dtype, same_shape
from ..engine.operation import Accumulated, Input, Op, Output, Scalar, op
from ..tiles.overlap import apart, check_disjoint, one_by_one
from ..tiles.tile import by_elements, over

_FUSED = """Compute ``{result} <- {formula} + beta * {result}``, {each}, and return `{result}`.

Parameters
----------
alpha, beta : number
    Factors, converted to the dtype of the Mats; where `beta` is 0, `{result}` is not read.
{operands}
{result} : Mat
    Is overwritten.

Returns
-------
Mat
    `{result}`.

Raises
------
ShapeError
    If {differ}.
DTypeError
    If the dtypes differ, or a Mat of integers is scaled by other numbers.

Notes
-----
Source: MGL-MAT's ``{source}!``.

Examples
--------
>>> import mat
>>> mat.{example}
"""


@op(by_form=True)
@documented(_FUSED, formula="alpha * a * b", result="c", source="geem", each="element by element",
            operands="a, b : Mat\n    Operands, of the shape and dtype of `c`.",
            differ="the shapes differ", example="""\
geem(2, mat.full(3, 3.0), mat.full(3, 4.0), 1, mat.ones(3))
<Mat 3 F [25. 25. 25.]>""")
def geem(alpha: Scalar, a: Input, b: Input, beta: Scalar, c: Accumulated) -> None:
    same_shape(a, b, c)
    check_factors(c, alpha, beta)


geem.cut_by(by_elements(geem))
geem.prepare("foreign", dtypes=compiled(REAL_TYPES), when=one_by_one)(
    lambda cpu, a, b, c: cpu.prepare_elementwise("geem", a, b, c))
geem.prepare("cuda", dtypes=EVERY, when=apart)(
    lambda cuda, a, b, c: cuda.prepare_elementwise("geem", a, b, c))


@geem.on("array")
def geem_numpy(np: Engine, alpha: Number, a: Array, b: Array, beta: Number, c: Array) -> None:
    term = np.multiply(a, b)
    accumulate(np, term if alpha == 1 else np.multiply(term, alpha), beta, c)


@op(by_form=True)
@documented(_FUSED, formula="alpha * a * X", result="b", source="geerv", operands="""\
a : Mat
    Matrix, of the shape and dtype of `b`.
x : Mat
    Vector with as many elements as `a` has columns.""", each="every row of X being `x`",
            differ="`a` and `b` are not matrices of one shape, or `x` is not as long as their rows",
            example="""\
geerv(1, mat.ones(2, 3), mat.arange(3.0), 0, mat.empty(2, 3))
<Mat 2x3 F [[0. 1. 2.] [0. 1. 2.]]>""")
def geerv(alpha: Scalar, a: Input, x: Input, beta: Scalar, b: Accumulated) -> None:
    same_shape(a, b)
    same_dtype(a, x)
    if a.ndim != 2 or x.size != a.shape[1]:
        raise ShapeError(f"geerv requires matrices and a vector as long as their rows, got "
                         f"{a.shape} and {x.shape}")
    check_factors(b, alpha, beta)


geerv.cut_by(over(geerv, "ij,j,ij", free=True))
geerv.reads_once = True


@geerv.prepare("foreign", dtypes=compiled(REAL_TYPES), when=lambda a, x, b: (
    (x.layout.contiguous or x.layout.vector is not None) and one_by_one(a, x, b)))
@geerv.prepare("cuda", dtypes=EVERY, when=lambda a, x, b: (
    (x.ndim == 1 or x.layout.vector is not None) and apart(a, x, b)))
def geerv_kernel(engine: Engine, a: Mat, x: Mat, b: Mat) -> Function:
    """Return the kernel of `geem` for `x` as a row."""
    layouts = a.layout, x.layout.reshape((1, x.size)), b.layout
    return engine.prepare_elementwise("geem", a, x, b, layouts=layouts)


geerv.on("array")(lambda np, alpha, a, x, beta, b: accumulate(
    np, np.multiply(a, alpha * x.reshape(1, -1)), beta, b))


@op(by_form=True)
@documented(_FUSED, formula="alpha * sign(a)", result="b", source="add-sign",
            operands="a : Mat\n    Operand, of the shape and dtype of `b`.",
            each="element by element", differ="the shapes differ", example="""\
add_sign(2, mat.array([-3.0, 0, 5]), 1, mat.ones(3))
<Mat 3 F [-1. 1. 3.]>""")
def add_sign(alpha: Scalar, a: Input, beta: Scalar, b: Accumulated) -> None:
    same_shape(a, b)
    check_factors(b, alpha, beta)


add_sign.cut_by(by_elements(add_sign))
add_sign.prepare("foreign", dtypes=compiled(REAL_TYPES), when=one_by_one)(
    lambda cpu, a, b: cpu.prepare_elementwise("add_sign", a, b))
add_sign.prepare("cuda", dtypes=EVERY, when=apart)(
    lambda cuda, a, b: cuda.prepare_elementwise("add_sign", a, b))


add_sign.on("array")(lambda np, alpha, a, beta, b: accumulate(
    np, np.multiply(np.sign(a), alpha), beta, b))


# Factors of rows or columns


def _scales_fit(scales: Mat, a: Mat, out: Mat) -> bool:
    """Return whether kernels can take the scales as a vector; overlaps are checked."""
    return scales.layout.contiguous or scales.layout.vector is not None


def _scaling(name: str, axis: int) -> Op:
    """Return the operation `name`: a product of a matrix and factors along an axis."""
    lines = "rows" if axis == 0 else "columns"
    spread = (-1, 1) if axis == 0 else (1, -1)  # the shape that broadcasts

    def check(scales: Input, a: Input, out: Output) -> None:
        """Compute `out`, the rows or columns of `a` times one of `scales` each."""
        same_dtype(a, scales, out)
        if a.ndim != 2 or scales.size != a.shape[axis] or out.shape != a.shape:
            raise ShapeError(f"{name} requires {lines} of a matrix as many as scales, got scales "
                             f"{scales.shape}, a {a.shape} and out {out.shape}")
        check_disjoint(name, out, scales)
        check_disjoint(name, out, a, same=True)

    check.__name__ = f"{lines}_scaled"
    scaled = op(check, method="", by_form=True, name=name)
    scaled.cut_by(over(scaled, "i,ij,ij" if axis == 0 else "j,ij,ij", free=True))
    scaled.reads_once = True

    @scaled.prepare("cuda", dtypes=EVERY, when=_scales_fit)
    @scaled.prepare("foreign", dtypes=compiled(REAL_TYPES), when=_scales_fit)
    def kernel(engine: Engine, scales: Mat, a: Mat, out: Mat) -> object:
        layouts = scales.layout.reshape(spread), a.layout, out.layout
        return engine.prepare_elementwise("multiply", scales, a, out, layouts=layouts)

    @scaled.on("array")
    def by_numpy(np: Engine, scales: Array, a: Array, out: Array) -> None:
        np.multiply(a, scales.reshape(spread), out=out)

    return scaled


rows_scaled = _scaling("scale_rows", 0)
columns_scaled = _scaling("scale_columns", 1)

def _new_or(out: Mat | None, a: Operand) -> Operand:
    if out is not None or not isinstance(a, Mat):
        return out
    return new_like(a, a.shape, a.dtype)


_SCALED = """Return ``{product}``: {each}.

Parameters
----------
scales : Mat
    A factor for each {line}, of the dtype of `a`.
a : Mat
    Matrix.
out : Mat, optional
    Is overwritten with the result; it may be `a`.

Returns
-------
Mat
    `out`, or a new Mat.

Raises
------
ShapeError
    If there are not as many factors as {line}s, or the shapes differ.
DTypeError
    If the dtypes differ.
AliasError
    If `out` overlaps `scales`, or a part of `a`.

Examples
--------
>>> import mat
>>> mat.scale_{line}s(mat.array([1.0, 10]), mat.ones(2, 2))
<Mat 2x2 F {gives}>
"""
_IN_PLACE = """Compute ``self <- {product}`` and return self.

Parameters
----------
scales : Mat
    A factor for each {line}, of the dtype of self.

Returns
-------
Mat
    self.

Raises
------
ShapeError
    If there are not as many factors as {line}s.
DTypeError
    If the dtypes differ.
AliasError
    If self overlaps `scales`.
"""


@documented(_SCALED, line="row", product="diag(scales) a", each="row i times ``scales[i]``",
            gives="[[1. 1.] [10. 10.]]")
def scale_rows(scales: Mat, a: Mat, out: Mat | None = None) -> Mat:
    return rows_scaled(scales, a, _new_or(out, a))


@documented(_SCALED, line="column", product="a diag(scales)", each="column j times ``scales[j]``",
            gives="[[1. 10.] [1. 10.]]")
def scale_columns(scales: Mat, a: Mat, out: Mat | None = None) -> Mat:
    return columns_scaled(scales, a, _new_or(out, a))


@method("scale_rows_")
@documented(_IN_PLACE, line="row", product="diag(scales) self")
def scale_rows_(self: Mat, scales: Mat) -> Mat:
    return rows_scaled(scales, self, self)


@method("scale_columns_")
@documented(_IN_PLACE, line="column", product="self diag(scales)")
def scale_columns_(self: Mat, scales: Mat) -> Mat:
    return columns_scaled(scales, self, self)
