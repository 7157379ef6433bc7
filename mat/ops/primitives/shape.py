"""Packed copies, transposes, comparisons of whole Mats, and other shapes and orders of the same
elements: `reshape`, `ravel` and `flatten`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from ...errors import DTypeError, ShapeError
from ...layout.orders import as_order, axes_of_loop, of_result, only_by_columns
from ...layout.shapes import Ints, lengths_for
from ...layout.strided import Layout
from ...matrix.base import form_of_layout
from ...matrix.mat import Mat, new_like
from ...matrix.methods import method
from ...support.dtypes import DISTINCT, INEXACT
from ...support.plugins import at_first_use
from ...support.types import AxisLike, Number, Operand, ShapeLike
from ..engine.functions import check_is_mat
from ..engine.operands import as_mat, is_foreign, numpy_gives
from ..engine.operation import Input, note_packed, number_op
from ..tiles.overlap import check_disjoint
from ..tiles.tile import made_later
from .copying import axes_of_order, copy

signatures = at_first_use("ops.tiles.signatures")

# Parts: a view along one axis, and copies of the parts of complex elements


def along(x: Mat, axis: int, part: slice) -> Mat:
    """Return the view of a part of one axis, relative to its first index."""
    return x.over(x.layout[(*(slice(None),) * axis, part)])


def real_part(x: Mat) -> Mat:
    """Return a new Mat of the real parts of a complex one; `x` itself if it is real."""
    return x.real.copy("K") if x.dtype.kind == "c" else x


def imaginary_part(x: Mat) -> Mat:
    """Return a new Mat of the imaginary parts: zeros where elements are real."""
    if x.dtype.kind != "c":
        return new_like(x, x.shape, x.dtype).fill_(0)
    return x.imag.copy("K")


def complex_of(real: Mat, imaginary: Mat) -> Mat:
    """Return complex numbers of these parts, two Mats of one shape and dtype."""
    form = form_of_layout(of_result(real.shape, [real.layout]),
                          np.result_type(real.dtype, np.complex64))
    found: Mat = form.new(real.device_enabled, None)
    found.real = real
    found.imag = imaginary
    return found


DEVICE_RANK = 8  # axes that comparing kernels of a device can step along
_INTEGERS = frozenset((int,))


@method("contiguous")
def contiguous(self: Mat) -> Mat:
    """Return self if its elements are packed already, else a packed copy.

    Returns
    -------
    Mat
        self, or a new Mat of the same shape and dtype.
    """
    if self.is_contiguous:
        return self
    note_packed(self)
    return copy(self)


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
    if type(a) is Mat and axes is None and out is None:
        return a.T
    if is_foreign(a) and np.ndim(a) and out is None:
        return numpy_gives(np.transpose, (a,), {} if axes is None else {"axes": axes})
    a = as_mat(a, "a")._as_now()
    layout = a.layout
    order = tuple(range(a.ndim - 1, -1, -1)) if axes is None else axes
    if type(order) is tuple and _INTEGERS.issuperset(map(type, order)):
        view = a.over(_permuted(layout.shape, layout.strides, layout.displacement, order))
    else:
        view = a.permute(order)
    if out is None:
        return view
    if check_is_mat(out).shape != view.shape:
        raise ShapeError(f"transpose gives shape {view.shape}, out has {out.shape}")
    if out.storage is a.storage:
        check_disjoint("transpose", out, a)
    return out.assign_(view)


@lru_cache(256)
def _permuted(shape: Ints, strides: Ints, displacement: int, axes: Ints) -> Layout:
    """Return the layout with its axes in another order, remembered."""
    return Layout(shape, strides, displacement).permute(axes)


# Comparing as a whole


@number_op(name="equals", by_form=True)
def same(a: Input, b: Input) -> None:
    """Return whether all elements are equal."""


def _fits_device(a: Mat, b: Mat) -> bool:
    """Return whether a device can compare them: it converts nothing, and has so many axes."""
    return a.shape == b.shape and a.dtype == b.dtype and a.ndim <= DEVICE_RANK


same.reads_once = True
same.cut_by(made_later(lambda: signatures.all_true(same)))
same.prepare("cuda", dtypes=DISTINCT, when=_fits_device)(
    lambda cuda, a, b: cuda.prepare_comparison("equal", a, b))
same.on("array")(lambda np, a, b: bool(np.array_equal(a, b)))


@number_op(name="allclose")
def close(a: Input, b: Input, rtol: Number, atol: Number, equal_nan: bool) -> None:
    """Return whether all elements are nearly equal."""
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not isinstance(value, float | int | np.floating) or not value >= 0:
            raise ShapeError(f"{name} is a number not below 0, got {value!r}")


close.reads_once = True
close.cut_by(made_later(lambda: signatures.all_true(close)))
close.prepare("cuda", dtypes=INEXACT, when=_fits_device)(
    lambda cuda, a, b, *settings: cuda.prepare_comparison("near", a, b, *settings))
close.on("array")(lambda np, a, b, *settings: bool(np.allclose(a, b, *settings)))


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
    check_is_mat(other, "other")
    return self.shape == other.shape and bool(same(self, other))


@method("_reshape_any")
def reshape_any(self: Mat, shape: ShapeLike, order: str | None, copy: bool | None) -> Mat:
    """Return self in another shape, in any order, copied or not: the general case of `reshape`."""
    if copy is not None and not isinstance(copy, bool | np.bool_):
        raise DTypeError(f"copy is True, False or None, got {copy!r}")
    if type(shape) is int and shape == -1 and order == "C" and copy is None:
        layout = self.layout.viewed_as((self.layout.size,))
        return self.ravel() if layout is None else self.over(layout)
    letter = as_order(order, "reshape", "CFA")
    x = self._as_now()
    if letter == "A":
        letter = "F" if only_by_columns(x.layout) else "C"
    if letter == "C":
        return _by_rows(x, shape, copy)
    lengths = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    return _by_rows(x.T, lengths[::-1], copy).T


def _by_rows(x: Mat, shape: ShapeLike, copy: bool | None) -> Mat:
    lengths = lengths_for(shape, x.shape)
    layout = x.layout.viewed_as(lengths)
    if copy or (layout is None and copy is None):
        if not copy:
            note_packed(x)
        x = x.copy()
        layout = x.layout.viewed_as(lengths)
    if layout is None:
        raise ShapeError(f"shape {x.shape} with strides {x.strides} has no view as {lengths}, and "
                         f"copy=False forbids a copy; copy=None allows it")
    return x.over(layout)


def reshape(a: Operand, shape: ShapeLike, order: str | None = "C", *,
            copy: bool | None = None) -> Mat:
    """Return the elements of `a` in another shape of the same size.

    Parameters
    ----------
    a : Mat or array_like
        Operand, of any shape.
    shape : int or sequence of int
        The lengths of the axes; one of them may be -1, and is inferred.
    order : {"C", "F", "A"}
        How elements are counted, in `a` and in the result: by rows, by columns, or as they are
        stored.
    copy : bool, optional
        None: copy only if no view has that shape. True: always copy. False: never.

    Returns
    -------
    Mat
        A view where the strides of `a` allow one, else a packed copy.

    Raises
    ------
    ShapeError
        If the size differs, or a copy is needed and `copy` is False.

    Examples
    --------
    >>> import mat
    >>> mat.reshape([[1.0, 2.0], [3.0, 4.0]], -1, order="F")
    <Mat 4 F [1. 3. 2. 4.]>
    """
    if is_foreign(a) and np.ndim(a):
        return numpy_gives(np.reshape, (a, shape), {} if order == "C" else {"order": order})
    return as_mat(a, "a").reshape(shape, order=order, copy=copy)


@method("_ravel_any")
def ravel_any(self: Mat, order: str | None) -> Mat:
    """Return a vector with the elements in any order: the general case of `ravel`."""
    return contiguous(_counted(self, order, "ravel")).ravel()


def _counted(x: Mat, order: str | None, name: str) -> Mat:
    """Return the view whose rows have the elements in that order of the method `name`."""
    if order == "F":
        return x.T
    now = x._as_now()
    letter = as_order(order, name)
    return now.permute(axes_of_loop(now.ndim, [now.layout]) if letter == "K"
                       else axes_of_order(now.layout, letter))


@method("_flatten_any")
def flatten_any(self: Mat, order: str | None) -> Mat:
    """Return a vector with a copy of the elements in any order: the general case of `flatten`."""
    return _counted(self, order, "flatten").flatten()
