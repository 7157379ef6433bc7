"""To numbers of 8 bits with scales, back from them, and products that take the scales along."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...cpu.integer_matmul import NARROW, multiplies_float8
from ...devices.in_use import has_kernels
from ...errors import DTypeError, ShapeError
from ...layout.matrix_operand import MatmulForm, MatrixOperand
from ...layout.shapes import Ints, broadcast_shapes
from ...layout.strided import Layout, packed_strides
from ...matrix.creation import ones
from ...matrix.mat import Mat, new_like
from ...support.dtypes import BY_CHAR, FLOAT8, REAL_TYPES, as_dtype
from ...support.native import compiled
from ...support.types import Array, AxisLike, DType, DTypeLike, Engine, Function
from ..engine.functions import check_is_mat
from ..engine.operands import as_mat
from ..engine.operation import Input, Output, op
from ..linear.matmul import (
    DEVICE_AXES,
    LONGEST,
    SUMMED_EXACTLY,
    batch_steps,
    has_scaled_matmul,
    matmul,
    matmul_form,
    prepare_on_device,
    product_shape,
)
from ..primitives.declare_reduce import axes_of, plain_axis, reduced_shape
from ..primitives.elementwise import add, clip, divide, equal, maximum, negative
from ..primitives.reduce import max as largest_of
from ..primitives.reduce import min as least_of
from ..tiles.overlap import check_disjoint
from ..tiles.tile import over

FLOAT32, HALF = np.dtype(np.float32), np.dtype(np.float16)
INT32, INT64 = (np.dtype(t).char for t in (np.int32, np.int64))
SIZE64 = 8  # bytes
# the largest number that elements become: of integers as far as there is one of each sign
LARGEST = {"b": 127.0, "4": 448.0, "5": 57344.0}
WHOLE = SUMMED_EXACTLY
MULTIPLIED = WHOLE + NARROW
FOR_BLAS = 256  # sides of matrices from which on BLAS is faster, converted operands included


class Quantized(NamedTuple):
    """The result of `quantize`: ``values * scales`` approximates the original."""

    values: Mat
    scales: Mat


def quantize(x: Mat, dtype: DTypeLike, axis: AxisLike = None) -> Quantized:
    """Return the elements of `x`, divided by scales, as numbers of 8 bits, and the scales.

    The largest magnitude becomes the largest number of `dtype`: 127, 448 or 57344.

    Parameters
    ----------
    x : Mat or array_like
        Real numbers, of any shape.
    dtype : dtype
        ``"int8"``, ``"float8_e4m3fn"`` or ``"float8_e5m2"``.
    axis : int or tuple of int, optional
        The axes along which elements have one scale: ``-1`` gives each row its own, ``-2`` each
        column. Without it, there is one scale for all.

    Returns
    -------
    Quantized
        The pair ``values, scales``. The scales have length 1 along `axis`, so that they broadcast,
        and are of float32, or float64 if `x` is. Where all elements are 0, the scale is 1.

    Raises
    ------
    DTypeError
        If `x` is complex, or `dtype` is another one.
    ShapeError
        If there is no such axis.

    Notes
    -----
    Values are rounded to the nearest one, ties to even. If an element is not finite, neither is its
    scale, and what `dequantize` returns for that scale is not either.

    Examples
    --------
    >>> import mat
    >>> values, scales = mat.quantize(mat.array([[1.5, -2.0], [100.0, 40.0]]), "int8", axis=-1)
    >>> values.tolist(), scales.shape
    ([[95, -127], [127, 51]], (2, 1))
    >>> mat.dequantize(values, scales).round(2).tolist()
    [[1.5, -2.0], [100.0, 40.16]]
    """
    kind = as_dtype(dtype)
    if kind.char not in LARGEST:
        names = ", ".join(BY_CHAR[char].name for char in LARGEST)
        raise DTypeError(f"quantize makes elements of {names}, got {kind}; x.astype('{kind}') "
                         "converts without scales")
    x = as_mat(x, "x")
    if x.dtype.kind == "c":
        raise DTypeError(f"quantize is for real numbers, got {x.dtype}; quantize x.real and x.imag")
    if x.dtype.char not in REAL_TYPES:
        x = x.astype(FLOAT32)
    limit = LARGEST[kind.char]
    scales = _scales(x, plain_axis(axis), limit)
    divided: Mat = divide(x, scales)
    clip(divided, -limit, limit, out=divided)
    return Quantized((divided.rint_() if kind.kind == "i" else divided).astype(kind), scales)


def _scales(x: Mat, axis: AxisLike, limit: float) -> Mat:
    """Return divisors for the elements, so that none is beyond `limit`."""
    if not x.size:
        return ones(reduced_shape(x.shape, axes_of(x, axis), True), dtype=x.dtype)
    found = maximum(largest_of(x, axis, keepdims=axis is not None),
                    negative(least_of(x, axis, keepdims=axis is not None)))
    found.divide_(limit)
    return add(found, equal(found, 0.0), out=found)


def dequantize(values: Mat, scales: Mat) -> Mat:
    """Return ``values * scales``, in the dtype of the scales.

    Parameters
    ----------
    values : Mat
        What `quantize` returned first.
    scales : Mat
        What it returned second, or other numbers of float32 or float64, which broadcast to the
        shape of `values`.

    Returns
    -------
    Mat
        A new Mat of the shape of `values`.

    Raises
    ------
    DTypeError
        If one is no Mat, or the scales are not of float32 or float64.
    ShapeError
        If the scales do not broadcast to the shape of `values`.

    Examples
    --------
    >>> import mat
    >>> mat.dequantize(mat.array([2, -3], "int8"), mat.array(0.5))
    <Mat 2 F [1. -1.5]>
    """
    _check_scales("scales", check_is_mat(values, "values"), scales, values.shape)
    return values.astype(scales.dtype).multiply_(scales)


def _check_scales(name: str, x: Mat, scales: Mat, shape: Ints) -> None:
    dtype = check_is_mat(scales, name).dtype
    if dtype.char not in REAL_TYPES:
        raise DTypeError(f"{name} are of float32 or float64, got {dtype}; convert them with astype")
    if broadcast_shapes((scales.shape, shape)) != shape:
        raise ShapeError(f"{name} of shape {scales.shape} do not broadcast to {shape}")


# Products


@op(method="", by_form=True, name="scaled_matmul")
def scaled(a: Input, a_scales: Input, b: Input, b_scales: Input, out: Output) -> None:
    """Compute ``out <- (a b) * a_scales * b_scales`` for matrices and stacks of them."""
    check_disjoint("scaled_matmul", out, a, a_scales, b, b_scales)


scaled.cut_by(over(scaled, "...i_,...ij,..._j,...ij,...ij", free=True, packs=True))


@scaled.prepare("foreign", dtypes=compiled(MULTIPLIED + "f"), when=has_scaled_matmul)
def scaled_compiled(cpu: Engine, a: Mat, a_scales: Mat, b: Mat, b_scales: Mat,
                    out: Mat) -> Function:
    """Return the kernel that multiplies sums by their scales when it writes them."""
    steps = (a_scales.element_strides[-2] if a_scales.size > 1 else 0,
             b_scales.element_strides[-1] if b_scales.size > 1 else 0)
    return cpu.prepare_scaled_matmul(matmul_form(a, b, out), *steps)


@scaled.prepare("cuda", dtypes=MULTIPLIED + "f", when=lambda *mats: (
    mats[-1].layout.ndim <= DEVICE_AXES and mats[-1].layout.size > 0))
def scaled_cuda(cuda: Engine, a: Mat, a_scales: Mat, b: Mat, b_scales: Mat, out: Mat) -> Engine:
    """Return scaled sums, of 8-bit floats by cuBLASLt if it has such products."""
    form = matmul_form(a, b, out)
    char, floats8 = _sums_of(a), a.element_type.char in FLOAT8
    long = char not in ("f", INT32)
    sums = form._replace(c=_packed(form, char) if long else form.c._replace(char=char))
    scales = [_scale_steps(s, out) for s in (a_scales, b_scales)]
    times = cuda.prepare_scale_sums(sums, form.c, *scales)
    if not floats8:
        room = SIZE64 * out.size if long else 0
        return cuda.ScaledSums(prepare_on_device(cuda, sums), times, room)
    wider = _through_halves(cuda, a, b, out)
    unscaled = cuda.prepare_either(lambda: cuda.prepare_float8_product(form), wider)
    return cuda.prepare_either(
        lambda: cuda.ScalingProduct(cuda.prepare_float8_product(form, *scales)),
        cuda.ScaledSums(unscaled, times))


def _sums_of(a: Mat) -> str:
    """Return the dtype character in which sums are exact, or that of floats."""
    if a.element_type.char not in WHOLE:
        return "f"
    return INT32 if a.layout.shape[-1] <= LONGEST else INT64


def _packed(form: MatmulForm, char: str) -> MatrixOperand:
    """Return the packed result of a product."""
    *batch, row, column = packed_strides((*form.batch, *form.sizes[:2]))
    return MatrixOperand(char, row, column, tuple(batch))


def _scale_steps(scales: Mat, out: Mat) -> MatrixOperand:
    """Return the steps of scales along the axes of the result, 0 where they do not vary."""
    *batch, row, column = batch_steps(scales.layout, 0, out.shape)
    return MatrixOperand("f", row, column, tuple(batch))


class _Halves(NamedTuple):
    """The form of a packed copy of an operand, for conversions to it."""

    layout: Layout
    dtype: DType
    itemsize: int = 2


def _through_halves(cuda: Engine, a: Mat, b: Mat, out: Mat) -> Engine:
    """Return a product of 8-bit floats as float16, exact and on all tensor cores."""
    copies = [_Halves(Layout(x.shape, packed_strides(x.shape), 0), HALF) for x in (a, b)]
    kernels = [cuda.prepare_convert(x, to) for x, to in zip((a, b), copies, strict=True)]
    form = matmul_form(a, b, out)
    one, other = (MatrixOperand("e", to.layout.strides[-2], to.layout.strides[-1],
                                batch_steps(to.layout, 2, form.batch)) for to in copies)
    product = prepare_on_device(cuda, form._replace(a=one, b=other))
    return cuda.ThroughWider(kernels, [copy.itemsize * x.size for copy, x in zip(
        copies, (a, b), strict=True)], product)


@scaled.on("array")
def scaled_numpy(np: Engine, a: Array, a_scales: Array, b: Array, b_scales: Array,
                 out: Array) -> None:
    """Compute the product as the kernels do: sums of integers are exact, others in float32."""
    if a.dtype.char in WHOLE:
        sums = np.matmul(a, b, dtype=np.int64)
    else:
        sums = np.matmul(a.astype(np.float32), b.astype(np.float32))
    np.multiply(np.multiply(sums.astype(np.float32), a_scales), b_scales, out=out)


def scaled_matmul(a: Mat, a_scales: Mat, b: Mat, b_scales: Mat, out: Mat | None = None) -> Mat:
    """Return ``(a @ b) * a_scales * b_scales``: the product of two quantized Mats, dequantized.

    Sums of integers are exact; other ones are computed in float32, on a GPU as its instructions for
    8-bit floats do it.

    Parameters
    ----------
    a, b : Mat
        Matrices, or stacks of them: both of int8 or uint8, or both of 8-bit floats, or both of one
        dtype of 16-bit floats.
    a_scales : Mat
        Scales of float32: one for all, or one for each row of `a`, as
        ``quantize(a, dtype, axis=-1)`` returns them.
    b_scales : Mat
        The same for all of `b` or for its columns, as of ``quantize(b, dtype, axis=-2)``.
    out : Mat, optional
        Where to write the product, of float32.

    Returns
    -------
    Mat
        `out`, or a new Mat of float32.

    Raises
    ------
    ShapeError
        If the inner lengths differ, or scales are along the inner axis or do not broadcast.
    DTypeError
        If one is no Mat, or of another dtype.
    AliasError
        If `out` overlaps an operand.

    Examples
    --------
    >>> import mat
    >>> a = mat.quantize(mat.array([[2.0, -2.0], [4.0, 0.0]], "float32"), "int8", axis=-1)
    >>> b = mat.quantize(mat.eye(2, dtype="float32"), "int8", axis=-2)
    >>> mat.scaled_matmul(*a, *b).round(2).tolist()
    [[2.0, -2.0], [4.0, 0.0]]
    """
    shape = _check_product(a, a_scales, b, b_scales)
    if out is None:
        out = new_like(a, shape, FLOAT32)
    elif check_is_mat(out).dtype != FLOAT32:
        raise DTypeError(f"scaled_matmul gives float32, out is of {out.dtype}")
    elif out.shape != shape:
        raise ShapeError(f"scaled_matmul gives shape {shape}, out has {out.shape}")
    check_disjoint("scaled_matmul", out, a, a_scales, b, b_scales)
    wider = "" if has_kernels(out) else _wider(a, b)
    if wider:
        a, b = a.astype(wider), b.astype(wider)
    if wider == "float32":
        return matmul(a, b, out=out).multiply_(a_scales).multiply_(b_scales)
    return scaled(a, a_scales, b, b_scales, out)


def _wider(a: Mat, b: Mat) -> str:
    """Return the dtype in which the host multiplies narrow floats; "" for their own."""
    if a.dtype.char not in NARROW:
        return ""
    kept = a.dtype.char in FLOAT8 and a.dtype == b.dtype and multiplies_float8()
    if not kept and min(*a.shape[-2:], b.shape[-1]) >= FOR_BLAS:
        return "float32"
    return "float16" if a.dtype.char in FLOAT8 and a.dtype != b.dtype else ""


def _check_product(a: Mat, a_scales: Mat, b: Mat, b_scales: Mat) -> Ints:
    """Return the shape of the product; raise for operands and scales that have none."""
    kinds = [check_is_mat(x, name).dtype for name, x in (("a", a), ("b", b))]
    together = kinds[0] == kinds[1] or any(
        all(k.char in chars for k in kinds) for chars in (WHOLE, FLOAT8))
    if not together or kinds[0].char not in MULTIPLIED:
        raise DTypeError("scaled_matmul takes two operands of int8 and uint8, of 8-bit floats, or "
                         f"of one kind of 16-bit floats, got {kinds[0]} and {kinds[1]}; "
                         "mat.quantize(x, dtype) makes them")
    if a.ndim < 2 or b.ndim < 2:
        raise ShapeError(f"scaled_matmul requires matrices, got shapes {a.shape} and {b.shape}")
    shape = product_shape(a.shape, b.shape)
    for name, scales, axis in (("a_scales", a_scales, -1), ("b_scales", b_scales, -2)):
        _check_scales(name, a, scales, shape)
        if scales.dtype != FLOAT32:
            raise DTypeError(f"{name} are of float32, got {scales.dtype}; convert them with astype")
        if scales.ndim and (scales.ndim < 2 or scales.shape[axis] != 1):
            raise ShapeError(f"{name} are one number, or have length 1 along axis {axis}, as of "
                             f"mat.quantize(x, dtype, axis={axis}); got shape {scales.shape}")
    return shape
