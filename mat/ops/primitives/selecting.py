"""Elements chosen by conditions, ``where(condition, a, b)``, and in place of NaN."""

from __future__ import annotations

import numpy as np

from ...core.compiled import IN_USE
from ...core.observers import OBSERVERS
from ...errors import DTypeError, ShapeError
from ...layout.shapes import broadcast_shapes
from ...matrix.base import form_of_result
from ...matrix.filled import full
from ...matrix.mat import Mat
from ...support.dtypes import EVERY, INEXACT, REAL_TYPES
from ...support.native import compiled
from ...support.options import FLOAT32, FLOAT64
from ...support.types import Array, DType, Engine, Number, Operand
from ..engine.declare_elementwise import check_out
from ..engine.operation import Input, InputOrNumber, Output, op
from ..tiles.overlap import apart, few_axes, must_copy, of_one_dtype
from ..tiles.tile import by_elements
from .elementwise import not_equal

BOOL = np.dtype(np.bool_)
_WIDE = (FLOAT64, FLOAT32)


@op(method="", by_form=True)
def select(condition: Input, a: Input, b: Input, out: Output) -> None:
    """Copy to `out` the element of `a` where `condition`, else that of `b`, all broadcast."""
    for x in (condition, a, b):
        if broadcast_shapes((x.layout.shape, out.layout.shape)) != out.layout.shape:
            raise ShapeError(f"an operand of shape {x.shape} does not broadcast to {out.shape}, "
                             "the shape of the result")
    if condition.dtype != BOOL or not a.dtype == b.dtype == out.dtype:
        raise DTypeError(f"select takes a condition of bool and operands of one dtype, got "
                         f"{condition.dtype}, {a.dtype}, {b.dtype} and {out.dtype}")


select.cut_by(by_elements(select))
select.prepare("foreign", dtypes=compiled(EVERY), when=lambda condition, a, b, out: (
    few_axes(out) and not any(must_copy(x, out) for x in (condition, a, b))))(
    lambda cpu, condition, a, b, out: cpu.prepare_select(condition, a, b, out))
select.prepare("cuda", dtypes=EVERY, when=apart)(
    lambda cuda, condition, a, b, out: cuda.prepare_select(condition, a, b, out))


@select.on("array", silent=True)
def select_numpy(np: Engine, condition: Array, a: Array, b: Array, out: Array) -> None:
    out[...] = np.where(condition, a, b)


select.result_of = lambda condition, a, b, out: (
    broadcast_shapes([x.layout.shape for x in (condition, a, b)]), a.element_type)


def is_true(x: Mat) -> Mat:
    """Return whether each element is not 0; `x` itself if it is of bool."""
    return x if x.element_type is BOOL else not_equal(x, 0)


def where(condition: Mat, a: Operand, b: Operand) -> Mat:
    """Return `a` where `condition` is not 0, else `b`; Python's numbers adapt to the other one."""
    if not are_alike(a, b):
        dtype = adapted_to(a, b) or promoted_by(a, b)
        a, b = (_as_mat(v, dtype, condition) for v in (a, b))
    return select.new((is_true(condition), a, b, None))


def are_alike(a: Operand, b: Operand) -> bool:
    """Return whether both are Mats of one dtype."""
    return isinstance(a, Mat) and isinstance(b, Mat) and a.element_type is b.element_type


def adapted_to(a: Operand, b: Operand) -> DType | None:
    """Return the dtype of the operand that is a Mat, if it represents the other; else None."""
    x, number = (b, a) if type(b) is Mat else (a, b)
    if type(x) is not Mat:
        return None
    dtype: DType = x.element_type
    kind = type(number)
    if kind is int:
        form = x.form
        return dtype if (dtype.kind in "iu" or dtype in _WIDE) and (
            form.lowest <= number <= form.highest) else None
    return dtype if kind is float and dtype in _WIDE else None


def promoted_by(a: Operand, b: Operand) -> DType:
    """Return the dtype that two operands have together, Mats or numbers of Python."""
    if are_alike(a, b):
        return a.element_type
    return np.result_type(*(v.element_type if isinstance(v, Mat) else v for v in (a, b)))


def _as_mat(value: Operand, dtype: DType, like: Mat) -> Mat:
    """Return an operand as a Mat of that dtype, a number as one without axes."""
    if isinstance(value, Mat):
        return value if value.element_type is dtype else value.astype(dtype)
    return number_as_mat(value, dtype, like)


_KEPT: dict[tuple[float | str, str], Mat] = {}  # numbers that were used in the memory of devices
_MOST_KEPT = 256


def _kept_number(value: Number, dtype: DType, like: Mat) -> Mat:
    """Return a number as `number_as_mat` does, with its copies of the time before."""
    known = (type(value) is float and value == value  # a NaN is equal to none
             and like.device_enabled and not OBSERVERS)
    key = value or str(value), dtype.char  # 0.0 is equal to -0.0
    found = _KEPT.get(key) if known else None
    if found is None:
        found = full((), value, dtype)
        found.device_enabled = like.device_enabled
        if known and len(_KEPT) < _MOST_KEPT:
            _KEPT[key] = found
    return found


def number_as_mat(value: Number, dtype: DType, like: Mat) -> Mat:
    """Return a number as a Mat without axes, filled by the device itself."""
    if IN_USE:
        return _kept_number(value, dtype, like)
    found = form_of_result((), dtype).new(like.device_enabled, None)
    found[()] = value
    return found


# Replaced elements


@op(method="", by_form=True)
def replace_nan(x: Input, y: InputOrNumber, out: Output) -> None:
    """Compute `out`, the elements of `x`, with those of `y` for NaN."""
    check_out(np.maximum, out, x, y)


replace_nan.cut_by(by_elements(replace_nan))
replace_nan.result_of = lambda x, y, out: (
    broadcast_shapes([v.layout.shape for v in (x, y) if isinstance(v, Mat)]), x.element_type)
replace_nan.prepare("foreign", dtypes=compiled(REAL_TYPES), when=of_one_dtype)(
    lambda cpu, x, y, out: cpu.prepare_elementwise("replace_nan", x, y, out))
replace_nan.prepare("cuda", dtypes=EVERY, when=lambda x, y, out: (
    out.element_type.char in INEXACT and apart(x, y, out)
    and all(v.element_type is out.element_type for v in (x, y) if isinstance(v, Mat))))(
    lambda cuda, x, y, out: cuda.prepare_elementwise("replace_nan", x, y, out))


@replace_nan.on("array")
def replace_nan_numpy(np: Engine, x: Array, y: Array, out: Array) -> None:
    out[...] = np.where(np.isnan(x), np.asarray(y, x.dtype), x)


def without_nan(x: Mat, value: Operand) -> Mat:
    """Return `x` with `value` for NaN, itself if there can be none."""
    if x.dtype.char not in INEXACT:
        return x
    return replace_nan.new((x, value, None))
