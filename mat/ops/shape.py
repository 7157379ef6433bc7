"""Copies in another order or dtype, and comparisons of whole Mats."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..errors import DTypeError, ShapeError
from ..layout.orders import as_order
from ..layout.shapes import Ints
from ..layout.strided import Layout
from ..matrix.joined import joined_at_once
from ..matrix.mat import Mat, new_like
from ..matrix.methods import method
from ..support.dtypes import DISTINCT, INEXACT, as_dtype
from ..support.types import Array, AxisLike, DTypeLike, Engine, Function, Number, Operand
from .cut_vectors import all_true
from .functions import check_is_mat
from .operands import as_mat
from .operation import Input, op
from .orders import axes_of_order, copied_in_order, note_packed
from .overlap import check_disjoint

DEVICE_RANK = 8  # axes that comparing kernels of a device can step along
_INTEGERS = frozenset((int,))
_can_cast: Function = np.can_cast


@method("copy")
def copy(self: Mat, order: str | None = "C") -> Mat:
    """Return a new Mat with a copy of the visible elements.

    Parameters
    ----------
    order : {"C", "F", "A", "K"}
        How they are stored: by rows, by columns, by columns if those of self are, or with the axes
        in the order of their steps in self.

    Returns
    -------
    Mat
        Of the same shape and dtype, with a storage of its own.

    Raises
    ------
    ShapeError
        For other orders.

    Examples
    --------
    >>> import mat
    >>> mat.ones(2, 3).copy("F").strides
    (1, 2)
    """
    if order == "C":
        found = joined_at_once([self], self.layout.shape, 0)
        return new_like(self, self.shape, self.dtype).assign_(self) if found is None else found
    return copied_in_order(self, as_order(order, "copy"), self.dtype)


@method("__copy__")
def shallow_copy(self: Mat) -> Mat:
    """Return a copy: views share their elements, copies do not."""
    return copy(self)


@method("__deepcopy__")
def deep_copy(self: Mat, memo: object) -> Mat:
    """Return a copy: elements are numbers, so that it is deep."""
    return copy(self)


@method("contiguous")
def contiguous(self: Mat) -> Mat:
    """Return self if its elements are packed already, else a packed copy.

    Returns
    -------
    Mat
        self, or a new Mat of the same shape and dtype.
    """
    return self if self.is_contiguous else _pack(self)


def _pack(view: Mat) -> Mat:
    note_packed(view)
    return copy(view)


# the signature is NumPy's
@method("astype")
def astype(self: Mat, dtype: DTypeLike, order: str | None = "K", casting: str = "unsafe",
           subok: bool = True, copy: bool = True) -> Mat:
    """Return a new Mat with the elements converted to another dtype.

    Parameters
    ----------
    dtype : dtype
        Numbers are rounded towards zero for integers.
    order : {"C", "F", "A", "K"}
        As for `copy`.
    casting : {"no", "equiv", "safe", "same_kind", "unsafe"}
        Which conversions are allowed, as ``numpy.can_cast`` has it.
    subok : bool
        Is ignored.
    copy : bool
        Whether the result is a new Mat also if self is of that dtype and order.

    Returns
    -------
    Mat
        Of the same shape.

    Raises
    ------
    DTypeError
        If self is complex and `dtype` is not, or there is no such dtype, or `casting` forbids it.

    Examples
    --------
    >>> import mat
    >>> mat.array([1.5, 2.5]).astype("int32")
    <Mat 2 int32 F [1 2]>
    """
    kind = as_dtype(dtype)
    if casting != "unsafe" and not _can_cast(self.dtype, kind, casting):
        raise DTypeError(f"{self.dtype} does not become {kind} by casting={casting!r}; "
                         "casting='unsafe' allows it")
    if not copy and kind == self.dtype and _is_stored_in(self.layout, order):
        return self
    if order == "K" and self.is_contiguous:
        return new_like(self, self.shape, kind).assign_(self)
    return copied_in_order(self, as_order(order, "astype"), kind)


def _is_stored_in(layout: Layout, order: str | None) -> bool:
    letter = as_order(order, "astype")
    return letter == "K" or layout.permute(axes_of_order(layout, letter)).contiguous


def transpose(a: Operand, axes: AxisLike = None, out: Mat | None = None) -> Mat:
    """Return the view of `a` with its axes in another order, or write it to `out`, packed.

    Parameters
    ----------
    a : Mat or array_like
        Operand, of any shape.
    axes : sequence of int, optional
        Axis ``k`` of the result is axis ``axes[k]`` of `a`; without it, all are reversed.
    out : Mat, optional
        Is overwritten with the elements, by the kernel that permutes axes.

    Returns
    -------
    Mat
        `out`, or a view of `a`; ``a.T.copy()`` is a packed copy.

    Raises
    ------
    ShapeError
        If `axes` are not those of `a`, or `out` has another shape than the result.
    AliasError
        If `out` overlaps `a`.

    Examples
    --------
    >>> import mat
    >>> x = mat.array([[1.0, 2.0], [3.0, 4.0]])
    >>> mat.transpose(x, out=mat.empty(2, 2))
    <Mat 2x2 F [[1. 3.] [2. 4.]]>
    >>> mat.transpose(x).storage is x.storage
    True
    """
    a = as_mat(a, "a")._as_now()
    layout = a.layout
    order = tuple(range(a.ndim - 1, -1, -1)) if axes is None else axes
    if type(order) is tuple and _INTEGERS.issuperset(map(type, order)):
        view = a.over(_permuted(layout.shape, layout.strides, layout.displacement, order))
    else:
        view = a.permute(order)
    if out is None:
        found: Mat = view
        return found
    if check_is_mat(out).shape != view.shape:
        raise ShapeError(f"transpose gives shape {view.shape}, out has {out.shape}")
    if out.storage is a.storage:
        check_disjoint("transpose", out, a)
    return out.assign_(view)


@lru_cache(256)
def _permuted(shape: Ints, strides: Ints, displacement: int, axes: Ints) -> Layout:
    """Return the layout with its axes in another order; remembered, since it takes longer than to
    copy a small matrix.
    """
    return Layout(shape, strides, displacement).permute(axes)


def check_is_input(name: str, a: object) -> Mat:
    """Return `a`; raise `DTypeError` unless it is a Mat."""
    if not isinstance(a, Mat):
        raise DTypeError(f"{name} wants Mats, got {type(a).__name__}; mat.from_numpy(a) wraps an "
                         "array without copying")
    return a


# Comparing as a whole


@op(name="equals")
def same(a: Input, b: Input) -> None:
    """Return whether all elements are equal."""


def _fits_device(a: Mat, b: Mat) -> bool:
    """Return whether a device can compare them: it converts nothing, and has so many axes."""
    return a.shape == b.shape and a.dtype == b.dtype and a.ndim <= DEVICE_RANK


same.cut_by(all_true(same))
same.prepare("cuda", dtypes=DISTINCT, when=_fits_device)(
    lambda cuda, a, b: cuda.prepare_comparison("equal", a, b))


@same.on("array")
def equals_numpy(np: Engine, a: Array, b: Array) -> bool:
    """Return whether two arrays are equal."""
    return bool(np.array_equal(a, b))


@op(name="allclose")
def close(a: Input, b: Input, rtol: Number, atol: Number, equal_nan: bool) -> None:
    """Return whether all elements are nearly equal."""
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not isinstance(value, float | int | np.floating) or not value >= 0:
            raise ShapeError(f"{name} is a number not below 0, got {value!r}")


close.cut_by(all_true(close))


@close.prepare("cuda", dtypes=INEXACT, when=_fits_device)
def allclose_on_device(cuda: Engine, a: Mat, b: Mat, rtol: Number, atol: Number,
                       equal_nan: bool) -> Function:
    """Return the device's kernel that compares with tolerances."""
    kernel: Function = cuda.prepare_comparison("near", a, b, rtol, atol, equal_nan)
    return kernel


@close.on("array")
def allclose_numpy(np: Engine, a: Array, b: Array, rtol: Number, atol: Number,
                   equal_nan: bool) -> bool:
    """Return whether two arrays are nearly equal."""
    return bool(np.allclose(a, b, rtol, atol, equal_nan))


@method("equals")
def equals(self: Mat, other: Mat) -> bool:
    """Return whether `other` has self's shape and all its elements; NaN equals nothing.

    Parameters
    ----------
    other : Mat
        Of any shape and dtype.

    Returns
    -------
    bool
        Whether they are equal as a whole.

    Examples
    --------
    >>> import mat
    >>> mat.zeros(2).equals(mat.zeros(2)), mat.zeros(2).equals(mat.zeros(3))
    (True, False)
    """
    check_is_input("equals", other)
    return self.shape == other.shape and bool(same(self, other))


def allclose(a: Mat, b: Mat, rtol: float = 1e-5, atol: float = 1e-8,
             equal_nan: bool = False) -> bool:
    """Return whether ``|a - b| <= atol + rtol * |b|`` for all elements.

    Parameters
    ----------
    a, b : Mat
        Operands; of different shapes they are not close.
    rtol, atol : float
        Relative and absolute tolerance, not below 0.
    equal_nan : bool
        Whether NaN is close to NaN.

    Returns
    -------
    bool
        Whether all elements are close.

    Raises
    ------
    ShapeError
        If a tolerance is not a number, or below 0.

    Notes
    -----
    Source: `numpy.allclose`.

    Examples
    --------
    >>> import mat
    >>> mat.allclose(mat.ones(2), mat.full(2, 1 + 1e-9))
    True
    """
    check_is_input("allclose", a)
    check_is_input("allclose", b)
    return a.shape == b.shape and bool(close(a, b, rtol, atol, equal_nan))
