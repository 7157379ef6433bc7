"""Reductions over any axes: the NumPy-named ones, which give Mats, and MGL-MAT's accumulating
``sum_``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..errors import DTypeError, ShapeError
from ..layout.strided import Ints, as_axes, as_axis, integer, packed_strides
from ..matrix.mat import Mat, new_like
from ..matrix.methods import bind, method
from ..support.dtypes import (
    BY_CHAR,
    BY_NAME,
    DISTINCT,
    EVERY,
    INEXACT,
    INTEGERS,
    REAL_TYPES,
    as_dtype,
)
from ..support.native import compiled
from .declare_elementwise import _check_is_mat, as_operand
from .elementwise import accumulate, check_factors, same_dtype
from .operation import NO_KEYWORDS, Accumulated, Input, Op, Output, Scalar, named, op
from .overlap import check_disjoint


def reduced_shape(shape: Ints, axes: Ints, keepdims: bool) -> Ints:
    """`shape` without `axes`, or with length 1 there."""
    if keepdims:
        return tuple(1 if k in axes else n for k, n in enumerate(shape))
    return tuple(n for k, n in enumerate(shape) if k not in axes)


_INT_BOOL = (int, bool)


@cache
def _dtype_of(function: Callable[..., Any], dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that `function` gives for elements of `dtype`."""
    try:
        return np.asarray(function(np.ones(1, dtype))).dtype
    except TypeError:
        raise DTypeError(f"{function.__name__.strip('_')} is not defined for {dtype}; convert with "
                         "x.astype(dtype)") from None


RANK = 32  # axes that compiled kernels can walk over
LONG = BY_NAME["int64"].char
LETTERS = {char: char for char in REAL_TYPES} | {LONG: "l"}  # by which kernels are called
KERNELS = {"mean": "sum"}
DEVICE_RANK = 8  # the same of those of a device
ON_DEVICE = DISTINCT  # dtypes of which a device has kernels
COMPILED = (dict.fromkeys(("sum", "prod", "mean"), REAL_TYPES)
            | dict.fromkeys(("max", "min", "argmax", "argmin"), REAL_TYPES + LONG))


def reduced_by(cpu: Any, kernel: str, x: Mat, axes: Ints, strides: Ints, *, ordered: bool = False,
               **more: Any
               ) -> Callable[..., Any]:
    """A body by a compiled kernel; `strides` are those of the result along the axes that are
    kept.
    """
    form = _form(cpu, x, axes, strides, ordered)
    return _nothing if form is None else cpu.reduction(kernel, form, x.itemsize, **more)


def reduced_on_device(cuda: Any, name: str, x: Mat, out: Mat, axes: Ints, strides: Ints, *,
                      ordered: bool = False, **more: Any
                      ) -> Callable[..., Any]:
    """The same on a device, whose kernels are called by operation and dtype."""
    form = _form(cuda, x, axes, strides, ordered)
    return _nothing if form is None else cuda.reduction(name, x.dtype.char, form,
                                                        nbytes=out.itemsize, **more)


def _form(engine: Any, x: Mat, axes: Ints, strides: Ints, ordered: bool) -> Any:
    """The least axes to walk over; None for a result without elements."""
    others = iter(strides)
    every = [engine.ReductionAxis(n, s, 0 if k in axes else next(others)) for k, (n, s) in
             enumerate(zip(x.shape, x.strides, strict=True))]
    kept = [a for k, a in enumerate(every) if k not in axes]
    if 0 in (a.n for a in kept):
        return None
    return engine.form_of(kept, [a for k, a in enumerate(every) if k in axes], ordered)


def _nothing(*values: Any) -> None:
    """A reduction to a result without elements."""


GIVES = """A Mat, 0-d without `axis` (so nothing waits for a device), or written to `out`. With `dtype` the elements are
converted to that first."""
EXAMPLES = {  # doctests
    "sum": ">>> import mat\n>>> mat.sum(mat.ones(2, 3), axis=0)\n<Mat 3 F [2. 2. 2.]>",
    "prod": ">>> import mat\n>>> mat.prod(mat.array([2, 3, 4]))\n<Mat () F 24.>",
    "mean": ">>> import mat\n>>> mat.mean(mat.array([1, 2]))\n<Mat () F 1.5>",
    "max": ">>> import mat\n>>> mat.max(mat.array([1, 3, 2]))\n<Mat () F 3.>",
    "min": ">>> import mat\n>>> mat.min(mat.array([1, 3, 2]))\n<Mat () F 1.>",
    "argmax": ">>> import mat\n>>> mat.argmax(mat.array([1, 3, 2]))\n<Mat () int64 F 1>",
    "argmin": ">>> import mat\n>>> mat.argmin(mat.array([1, 3, 2]))\n<Mat () int64 F 0>",
}


class Kind(NamedTuple):
    """One reduction: NumPy's function, and the ufunc method that it wraps, if any, to be called
    without the wrapper.
    """

    name: str
    function: Callable[..., Any]
    reduce: Callable[..., Any] | None
    one_axis: bool
    of_nothing: bool  # defined for empty axes

    def check(self, x: Mat, out: Mat, axis: Any, keepdims: Any) -> None:
        name, axes = self.name, _axes(x, axis, self.one_axis)
        if not self.of_nothing and any(x.layout.shape[k] == 0 for k in axes):
            raise ShapeError(f"{name} of no elements is undefined: shape {x.shape}, axis {axis}")
        wanted = reduced_shape(x.layout.shape, axes, keepdims)
        if out.layout.shape != wanted:
            raise ShapeError(f"{name} gives shape {wanted}, out has {out.shape}")
        if not np.can_cast(_dtype_of(self.function, x.dtype), out.dtype, "same_kind"):
            raise DTypeError(f"{name} gives {_dtype_of(self.function, x.dtype)}, which {out.dtype} "
                             "cannot take")
        check_disjoint(name, out, x)

    def operand(self, x: Any) -> Mat:
        found = as_operand(x, "x")
        if not isinstance(found, Mat):
            raise DTypeError(f"x of {self.name} must be a Mat or an array, got {type(x).__name__}")
        return found

    def place(self, x: Mat, axis: Any, keepdims: bool) -> Mat:
        """A new Mat for the result."""
        shape = reduced_shape(x.shape, _axes(x, axis, self.one_axis), keepdims)
        return new_like(x, shape, _dtype_of(self.function, x.dtype))

    def alike(self, x: Mat, out: Mat) -> bool:
        """Whether compiled kernels take these operands: they do not convert."""
        return out.dtype == (np.int64 if self.one_axis else x.dtype) and x.ndim <= RANK

    def on_device(self, x: Mat, out: Mat) -> bool:
        """Whether the kernels of a device take them."""
        return out.dtype == _dtype_of(self.function, x.dtype) and x.ndim <= DEVICE_RANK

    def prepare(self, cpu: Any, x: Mat, out: Mat, axis: Any, keepdims: bool) -> Callable[..., Any]:
        """A compiled body."""
        axes, strides = self._kept(x, out, axis, keepdims)
        kernel = f"mat_{KERNELS.get(self.name, self.name)}_{LETTERS[x.dtype.char]}"
        return reduced_by(cpu, kernel, x, axes, strides, ordered=self.one_axis,
                          mean=self.name == "mean")

    def prepare_device(self, cuda: Any, x: Mat, out: Mat, axis: Any,
                       keepdims: bool) -> Callable[..., Any]:
        """A body for a device."""
        axes, strides = self._kept(x, out, axis, keepdims)
        return reduced_on_device(cuda, self.name, x, out, axes, strides, ordered=self.one_axis,
                                 mean=self.name == "mean")

    def _kept(self, x: Mat, out: Mat, axis: Any, keepdims: bool) -> tuple[Ints, Ints]:
        """The axes to reduce, and the strides of the result along the others."""
        axes = _axes(x, axis, self.one_axis)
        return axes, tuple(s for k, s in enumerate(out.strides)
                           if k not in axes) if keepdims else out.strides

    def implementation(self) -> Callable[..., Any]:
        """What computes: ``implementation(x, out, axis, keepdims)``."""
        function, reduce = self.function, self.reduce
        if reduce is not None:
            return lambda x, out, axis, keepdims: reduce(x, axis, None, out, keepdims)
        return lambda x, out, axis, keepdims: function(x, axis=axis, keepdims=keepdims, out=out)


def reduction(name: str, function: Callable[..., Any], doc: str, *, one_axis: bool = False,
              of_nothing: bool = True,
              reduce: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Declare ``name(x, axis=None, keepdims=False, out=None, dtype=None)`` and the method; see
    `Kind` for the rest.
    """
    kind = Kind(name, function, reduce, one_axis, of_nothing)

    def check(x: Input, out: Output, axis: Any, keepdims: Any) -> None:
        kind.check(x, out, axis, keepdims)

    check.__name__, check.__doc__, check.__module__ = name, doc, __name__
    kernel: Op = op(check, method="", by_form=True)
    kernel.on("array", bare=True,
              silent=reduce in (np.maximum.reduce, np.minimum.reduce))(kind.implementation())
    kernel.prepare("foreign", dtypes=compiled(COMPILED[name]), when=kind.alike)(kind.prepare)
    kernel.prepare("cuda", dtypes=ON_DEVICE, when=kind.on_device)(kind.prepare_device)
    plans = kernel.plans
    # what results are like, by form, axis and keepdims
    places: dict[Any, tuple[Ints, np.dtype[Any]]] = {}

    def public(x: Any, axis: Any = None, keepdims: bool = False, out: Mat | None = None,
               dtype: Any = None) -> Any:
        if dtype is not None:
            return _converted(kind, public, x, axis, keepdims, out, as_dtype(dtype))
        if type(x) is Mat and type(out) is Mat and type(axis) is int and type(keepdims) is bool:
            # as Op._key gives it
            plan = plans.get(((out.form, x.form), ((axis, keepdims), _INT_BOOL)))
            if plan is not None and out.storage is not x.storage and out.form is not None:
                return plan.run((x, out, axis, keepdims), NO_KEYWORDS)
        elif out is None and type(x) is Mat and type(keepdims) is bool and (axis is None or type(axis) is int):
            key = x.form, axis, keepdims
            known = places.get(key)
            if known is None or x.form is None:
                made = kind.place(x, axis, keepdims)
                known = made.shape, made.dtype
                if x.form is not None and len(places) < 4096:
                    places[key] = known
            return kernel(x, new_like(x, *known), axis, keepdims)
        x, axis = kind.operand(x), _plain_axis(axis)
        out = kind.place(x, axis, bool(keepdims)) if out is None else _check_is_mat(out)
        return kernel(x, out, axis, bool(keepdims))

    def method(self: Mat, axis: Any = None, keepdims: bool = False, out: Mat | None = None,
               dtype: Any = None) -> Any:
        return public(self, axis, keepdims, out, dtype)

    text = f"{doc}\n\n{GIVES}\n\n{EXAMPLES[name]}"
    bind(name, named(method, name, text))
    result = named(public, name, text)
    result.__qualname__ = name
    result.op = kernel  # type: ignore[attr-defined]  # functions take attributes
    return result


def _converted(kind: Kind, function: Callable[..., Any], x: Any, axis: Any, keepdims: bool,
               out: Mat | None,
               dtype: np.dtype[Any]) -> Any:
    """The reduction of `x` converted to `dtype`, and given in it, unless it is of indices."""
    x = kind.operand(x)
    found = function(x if x.dtype == dtype else x.astype(dtype), axis, keepdims, out)
    return found if out is not None or kind.one_axis or found.dtype == dtype else found.astype(dtype)


def _axes(x: Mat, axis: Any, one_axis: bool) -> Ints:
    """The axes to reduce; None means all."""
    if axis is None:
        return tuple(range(x.ndim))
    if one_axis:
        return (as_axis(axis, x.ndim),)
    return as_axes(axis, x.ndim)


def _plain_axis(axis: Any) -> Any:
    """`axis` as NumPy takes it: None, an integer or a tuple of integers."""
    if axis is None or type(axis) is int:
        return axis
    if isinstance(axis, Iterable):
        return tuple(int(integer(a, "an axis")) for a in axis)
    return int(integer(axis, "an axis"))


def _mean(x: Any, axis: Any = None, keepdims: Any = False, out: Any = None) -> Any:
    """NumPy's mean, but of nothing it is NaN without a warning."""
    if x.size or out is None:
        return np.mean(x, axis=axis, keepdims=keepdims, out=out)
    out[...] = np.nan
    return out


def _assigning(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, which writes to `out` of one dtype only, for any."""
    def implementation(x: Any, axis: Any = None, keepdims: Any = False, out: Any = None) -> Any:
        found = function(x, axis=axis, keepdims=keepdims)
        if out is None:
            return found
        out[...] = found
        return out

    implementation.__name__ = function.__name__
    return implementation


# NumPy's name
sum = reduction("sum", np.sum, "The sum over `axis`: one, several, or all if None.",
                reduce=np.add.reduce)
prod = reduction("prod", np.prod, "The product over `axis`: one, several, or all if None.",
                 reduce=np.multiply.reduce)
mean = reduction("mean", _mean, "The mean over `axis`; NaN of no elements.")
max = reduction("max", np.max, "The largest element over `axis`; NaN if there is one.",
                of_nothing=False,
                reduce=np.maximum.reduce)
min = reduction("min", np.min, "The smallest element over `axis`; NaN if there is one.",
                of_nothing=False,
                reduce=np.minimum.reduce)
argmax = reduction("argmax", _assigning(np.argmax), one_axis=True, of_nothing=False,
                   doc="The index of the first largest element along `axis`, or in row-major "
                       "order.")
argmin = reduction("argmin", _assigning(np.argmin), one_axis=True, of_nothing=False,
                   doc="The index of the first smallest element along `axis`, or in row-major "
                       "order.")


@op(method="", by_form=True, name="sum_")
def sum_into(x: Input, axis: Any, alpha: Scalar, beta: Scalar, y: Accumulated) -> None:
    """``y <- alpha * sum(x, axis) + beta * y``"""
    same_dtype(x, y)
    check_factors(y, alpha, beta)
    axes = _axes(x, axis, False)
    wanted = reduced_shape(x.shape, axes, False)
    if y.size != np.prod(wanted, dtype=object):
        raise ShapeError(f"sum_ of shape {x.shape} over axis {axis} gives {wanted}, y has shape "
                         f"{y.shape}")
    check_disjoint("sum_", y, x)


def _as_vector(x: Mat, y: Mat) -> bool:
    return y.layout.vector is not None and x.ndim <= RANK


@sum_into.prepare("foreign", dtypes=compiled(REAL_TYPES), when=_as_vector)
def _(cpu: Any, x: Mat, y: Mat, axis: Any) -> Callable[..., Any]:
    axes = _axes(x, axis, False)
    return reduced_by(cpu, f"mat_sum_{x.dtype.char}", x, axes, _steps(x, y, axes), accumulate=True)


def _steps(x: Mat, y: Mat, axes: Ints) -> Ints:
    """The strides of `y`, a vector, in the shape of the sums."""
    step = y.layout.vector[1] if y.layout.vector else 1
    return tuple(step * s for s in packed_strides(reduced_shape(x.shape, axes, False)))


# all but the integers of 64 bits
SHORT = "".join(c for c in INTEGERS if BY_CHAR[c].size < 8) + INEXACT


def _for_device(x: Mat, y: Mat) -> bool:
    return y.layout.vector is not None and x.ndim <= DEVICE_RANK


# of larger integers, kernels do not get alpha exactly
@sum_into.prepare("cuda", dtypes=SHORT, when=_for_device)
def _(cuda: Any, x: Mat, y: Mat, axis: Any) -> Callable[..., Any]:
    axes = _axes(x, axis, False)
    return reduced_on_device(cuda, "sum", x, y, axes, _steps(x, y, axes), accumulate=True)


@sum_into.on("array")
def _(np: Any, x: Any, axis: Any, alpha: Any, beta: Any, y: Any) -> None:
    total = np.sum(x, axis=axis, dtype=x.dtype)
    accumulate(np, np.reshape(total if alpha == 1 else total * y.dtype.type(alpha), y.shape), beta,
               y)


@method("sum_")
def sum_(self: Mat, x: Mat, axis: Any = None, alpha: Any = 1, beta: Any = 0) -> Mat:
    """``self <- alpha * sum(x, axis) + beta * self``; self has exactly as many elements as there
    are sums.

    >>> import mat
    >>> mat.zeros(3).sum_(mat.ones(2, 3), 0)
    <Mat 3 F [2. 2. 2.]>
    """
    # it returns y
    return sum_into(x, _plain_axis(axis), alpha, beta, self)  # type: ignore[no-any-return]




# Rows and columns


def _check_scales(name: str, scales: Mat, a: Mat, out: Mat, axis: int) -> None:
    same_dtype(a, scales, out)
    if a.ndim != 2 or scales.size != a.shape[axis] or out.shape != a.shape:
        raise ShapeError(f"{name} wants {'rows' if axis == 0 else 'columns'} of a matrix as many "
                         "as scales, got scales "
                         f"{scales.shape}, a {a.shape} and out {out.shape}")


def _scales_fit(scales: Mat, a: Mat, out: Mat) -> bool:
    """Whether the kernel of products can see the scales as a vector; the check has seen to
    overlaps.
    """
    return scales.layout.contiguous or scales.layout.vector is not None


@op(method="", by_form=True, name="scale_rows")
def rows_scaled(scales: Input, a: Input, out: Output) -> None:
    """``out <- diag(scales) a``"""
    _check_scales("scale_rows", scales, a, out, 0)
    check_disjoint("scale_rows", out, scales)
    check_disjoint("scale_rows", out, a, same=True)


@rows_scaled.prepare("cuda", dtypes=EVERY, when=_scales_fit)
@rows_scaled.prepare("foreign", dtypes=compiled(REAL_TYPES), when=_scales_fit)
def _(engine: Any, scales: Mat, a: Mat, out: Mat) -> Any:
    layouts = scales.layout.reshape((scales.size, 1)), a.layout, out.layout
    return engine.prepare_elementwise("multiply", scales, a, out, layouts=layouts)


@rows_scaled.on("array")
def _(np: Any, scales: Any, a: Any, out: Any) -> None:
    np.multiply(a, scales.reshape(-1, 1), out=out)


@op(method="", by_form=True, name="scale_columns")
def columns_scaled(scales: Input, a: Input, out: Output) -> None:
    """``out <- a diag(scales)``"""
    _check_scales("scale_columns", scales, a, out, 1)
    check_disjoint("scale_columns", out, scales)
    check_disjoint("scale_columns", out, a, same=True)


@columns_scaled.prepare("cuda", dtypes=EVERY, when=_scales_fit)
@columns_scaled.prepare("foreign", dtypes=compiled(REAL_TYPES), when=_scales_fit)
def _(engine: Any, scales: Mat, a: Mat, out: Mat) -> Any:
    layouts = scales.layout.reshape((1, scales.size)), a.layout, out.layout
    return engine.prepare_elementwise("multiply", scales, a, out, layouts=layouts)


@columns_scaled.on("array")
def _(np: Any, scales: Any, a: Any, out: Any) -> None:
    np.multiply(a, scales.reshape(1, -1), out=out)


def _place(a: Any, out: Any) -> Any:
    if out is not None or not isinstance(a, Mat):
        return out
    return new_like(a, a.shape, a.dtype)


def scale_rows(scales: Mat, a: Mat, out: Mat | None = None) -> Any:
    """``diag(scales) a``: row i times ``scales[i]``. A new Mat, or written to `out`.

    As a method, in place.

    >>> import mat
    >>> mat.scale_rows(mat.array([1, 10]), mat.ones(2, 2))
    <Mat 2x2 F [[1. 1.] [10. 10.]]>
    """
    return rows_scaled(scales, a, _place(a, out))


def scale_columns(scales: Mat, a: Mat, out: Mat | None = None) -> Any:
    """``a diag(scales)``: column j times ``scales[j]``. A new Mat, or written to `out`; as a
    method, in place.

    >>> import mat
    >>> mat.scale_columns(mat.array([1, 10]), mat.ones(2, 2))
    <Mat 2x2 F [[1. 10.] [1. 10.]]>
    """
    return columns_scaled(scales, a, _place(a, out))


def _scale_rows_(self: Mat, scales: Mat) -> Any:
    return rows_scaled(scales, self, self)


def _scale_columns_(self: Mat, scales: Mat) -> Any:
    return columns_scaled(scales, self, self)


bind("scale_rows_", named(_scale_rows_, "scale_rows_", "``self <- diag(scales) self``"))
bind("scale_columns_", named(_scale_columns_, "scale_columns_", "``self <- self diag(scales)``"))
