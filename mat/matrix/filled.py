"""Mats of one value, of the shape of another one, and unit matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..devices.device import DeviceLike
from ..devices.in_use import computes_elsewhere
from ..errors import DTypeError, ShapeError
from ..layout import orders
from ..layout.orders import columnwise, order_like
from ..layout.shapes import Ints, as_shape, integer
from ..support.dtypes import as_dtype, as_element, becomes_array, check_operand
from ..support.options import FLOAT64, current, default_float
from ..support.types import (
    Arguments,
    DType,
    DTypeLike,
    Function,
    Nested,
    Number,
    Operand,
    ShapeLike,
)
from ..support.unbound import documented
from .arrays import asarray
from .base import form_of_result
from .creation import adopted, filled, placed, zeros
from .joined import new_transposed
from .mat import Mat, check_bytes
from .nested import as_plain, inferred
from .storage import Storage

_SEQUENCES = (Mat, np.ndarray, list, tuple)


def full(shape: ShapeLike, fill_value: Number, dtype: DTypeLike = None, order: str = "C", *,
         device: DeviceLike = None, like: object = None) -> Mat:
    """Return a Mat whose elements are all `fill_value`.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of the axes.
    fill_value : number or array_like
        The value of the elements, which is converted to their dtype; an array, a Mat or nested
        sequences broadcast to the shape.
    dtype : dtype, str or type, optional
        The element type; by default that of `array` for the value: ``int64`` for integers,
        ``mat.settings.dtype`` for floats.
    order : {"C", "F"}
        Whether the elements are stored by rows or by columns.
    device : str or Device, optional
        ``"cpu"``, or the device in use (default).
    like : object, optional
        Has no effect: the result is a Mat.

    Returns
    -------
    Mat
        A new Mat.

    Examples
    --------
    >>> import mat
    >>> mat.full((2, 2), 7.0)
    <Mat 2x2 - [[7. 7.] [7. 7.]]>
    >>> mat.full(2, 7)
    <Mat 2 int64 - [7 7]>
    """
    if fill_value is None:
        raise DTypeError("full requires a number, got None; empty(shape) leaves elements arbitrary")
    if isinstance(fill_value, Mat):
        kind = fill_value.dtype if dtype is None else as_dtype(dtype)
        made = placed(Mat(shape, kind, fill=None, order=order), device)
        made[...] = fill_value
        return made
    if isinstance(fill_value, _SEQUENCES) or becomes_array(fill_value):
        return placed(_full_of_array(as_shape(shape), fill_value, dtype, order), device)
    if dtype is not None:
        dtype = as_dtype(dtype)
    elif type(fill_value) is float:
        dtype = default_float()
    else:
        check_operand(fill_value, FLOAT64, "fill_value")
        dtype = inferred(fill_value, as_plain(fill_value))
    if order == "C" and device is None:
        return filled((shape,), dtype, _stored(fill_value, dtype, "fill"))
    return placed(Mat(shape, dtype, fill=_stored(fill_value, dtype, "fill"), order=order), device)


def _stored(value: Number, dtype: DType, name: str) -> Number:
    """Return the element that NumPy stores for a number: NumPy's integers wrap around."""
    if type(value) in (bool, int) or (dtype.kind in "fc" and not isinstance(
            value, complex | np.complexfloating)):
        return as_element(value, dtype, name)
    return np.full((), value, dtype)[()]


def _full_of_array(shape: Ints, value: Nested, dtype: DTypeLike, order: str) -> Mat:
    plain = as_plain(value)
    kind = inferred(value, plain) if dtype is None else as_dtype(dtype)
    try:
        return adopted(np.full(shape, plain, kind, columnwise(order)))
    except ValueError:
        raise ShapeError(f"elements of shape {plain.shape} do not broadcast to {shape}") from None


# NumPy's parameters
def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = None,  # noqa: N803
        order: str = "C", *, device: DeviceLike = None, like: object = None) -> Mat:
    """Return a matrix with ones on one diagonal and zeros elsewhere.

    Parameters
    ----------
    N : int
        The number of rows.
    M : int, optional
        The number of columns; by default `N`.
    k : int
        The number of the diagonal: 0 for the main one, positive above it.
    dtype : dtype, str or type, optional
        The element type; by default ``mat.settings.dtype``.
    order : {"C", "F"}
        Whether the elements are stored by rows or by columns.
    device : str or Device, optional
        ``"cpu"``, or the device in use (default).
    like : object, optional
        Has no effect: the result is a Mat.

    Returns
    -------
    Mat
        A new Mat of shape (N, M).

    Examples
    --------
    >>> import mat
    >>> mat.eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    offset = integer(k, "k")
    made = zeros((N, N if M is None else M), dtype=dtype, order=order, device=device)
    rows, columns = made.shape
    # NumPy need not write the zeros of a large one
    if not made._fill_quickly(0) and not computes_elsewhere(made):
        return placed(adopted(np.eye(rows, columns, offset, made.dtype, columnwise(order))), device)
    if -rows < offset < columns:
        made.diagonal(offset).fill_(1)
    return made


def identity(n: int, dtype: DTypeLike = None, *, like: object = None) -> Mat:
    """Return a square matrix with ones on the main diagonal and zeros elsewhere.

    Parameters
    ----------
    n : int
        The number of rows, and of columns.
    dtype : dtype, str or type, optional
        The element type; by default ``mat.settings.dtype``.
    like : object, optional
        Has no effect: the result is a Mat.

    Returns
    -------
    Mat
        A new Mat of shape (n, n).

    Examples
    --------
    >>> import mat
    >>> mat.identity(2, int).tolist()
    [[1, 0], [0, 1]]
    """
    return eye(n, dtype=dtype)


_LIKE = """Return {elements} in the shape of another Mat or array.

Parameters
----------
a : array_like
    A Mat, an array, a number or nested sequences.{value}
dtype : dtype, str or type, optional
    The element type; by default that of `a`.
order : {{"K", "A", "C", "F"}}
    Whether the elements are stored by rows ("C"), by columns ("F"), or as those of `a` ("K");
    "A": by columns if those of `a` are, else by rows.
subok : bool
    Has no effect on Mats, which have no subclasses.
shape : int or sequence of int, optional
    The lengths of the axes; by default those of `a`.
device : str or Device, optional
    ``"cpu"``, or the device in use; by default that of `a`.

Returns
-------
Mat
    A new Mat.

Examples
--------
>>> import mat
>>> mat.{example}
"""


@documented(_LIKE, elements="zeros", value="", example="zeros_like([1, 2])\n<Mat 2 int64 - [0 0]>")
def zeros_like(a: Operand, dtype: DTypeLike = None, order: str | None = "K", subok: bool = True,
               shape: ShapeLike | None = None, *, device: DeviceLike = None) -> Mat:
    if has_its_own_class(a):
        return _in_its_class(np.zeros_like, (a,), dtype, order, subok, shape)
    return _like(a, 0, dtype, order, shape, device)


@documented(_LIKE, elements="ones", value="", example="ones_like([1, 2])\n<Mat 2 int64 - [1 1]>")
def ones_like(a: Operand, dtype: DTypeLike = None, order: str | None = "K", subok: bool = True,
              shape: ShapeLike | None = None, *, device: DeviceLike = None) -> Mat:
    if has_its_own_class(a):
        return _in_its_class(np.ones_like, (a,), dtype, order, subok, shape)
    return _like(a, 1, dtype, order, shape, device)


@documented(_LIKE, elements="arbitrary elements", value="",
            example="empty_like([1.5, 2.5]).fill_(1)\n<Mat 2 F [1. 1.]>")
def empty_like(a: Operand, dtype: DTypeLike = None, order: str | None = "K", subok: bool = True,
               shape: ShapeLike | None = None, *, device: DeviceLike = None) -> Mat:
    if has_its_own_class(a):
        return _in_its_class(np.empty_like, (a,), dtype, order, subok, shape)
    return _like(a, None, dtype, order, shape, device)


# NumPy's parameters
@documented(_LIKE, elements="elements of one value", value="""
fill_value : number or array_like
    The value of the elements, which is converted to their dtype; an array, a Mat or nested
    sequences broadcast to the shape.""", example="full_like([1.5, 2.5], 3)\n<Mat 2 - [3. 3.]>")
def full_like(a: Operand, fill_value: Operand, dtype: DTypeLike = None,
              order: str | None = "K", subok: bool = True, shape: ShapeLike | None = None, *,
              device: DeviceLike = None) -> Mat:
    if has_its_own_class(a):
        return _in_its_class(np.full_like, (a, fill_value), dtype, order, subok, shape)
    if fill_value is None:
        raise DTypeError("full_like requires a number, got None; empty_like(a) leaves elements "
                         "arbitrary")
    x = a if isinstance(a, Mat) else asarray(a)
    if not (isinstance(fill_value, _SEQUENCES) or becomes_array(fill_value)):
        kind = x.element_type if dtype is None else as_dtype(dtype)
        fill = _stored(fill_value, kind, "fill_value")
        return _like(x, fill, dtype, order, shape, device)
    made = _like(x, None, dtype, order, shape, device)
    made[...] = fill_value if isinstance(fill_value, Mat) else as_plain(fill_value)
    return made


def has_its_own_class(a: object) -> bool:
    """Return whether NumPy makes arrays like `a` of its class: a masked array, one of dask."""
    kind, own = type(a), np.ndarray.__array_function__
    if kind is Mat or kind is np.ndarray or kind is np.memmap or isinstance(a, Mat | np.generic):
        return False
    return isinstance(a, np.ndarray) or getattr(kind, "__array_function__", own) is not own


def _in_its_class(function: Function, args: Arguments, dtype: DTypeLike, order: str | None,
                  subok: bool, shape: ShapeLike | None) -> Mat:
    """Return the result of NumPy's function, called with those parameters that are no defaults."""
    given = {"dtype": dtype, "order": None if order == "K" else order, "shape": shape,
             "subok": None if subok else False}
    made: Any = function(*args, **{n: v for n, v in given.items() if v is not None})
    return asarray(made) if type(made) is np.ndarray else made


def _like(a: Operand, fill: Number, dtype: DTypeLike, order: str | None, shape: ShapeLike | None,
          device: DeviceLike) -> Mat:
    """Return a Mat of one value, with properties of `a` unless they are given."""
    if type(a) is Mat and dtype is None and shape is None and device is None and (
            order == "K" or order == "C"):
        view: Any = a
        layout = view.layout
        if layout.contiguous or order == "C" or layout.descends():
            return form_of_result(layout.shape, view.element_type).new(view.device_enabled, fill)
        if layout.is_by_columns():
            return new_transposed(form_of_result(layout.shape[::-1], view.element_type).new(
                view.device_enabled, fill))
    x = a if isinstance(a, Mat) else asarray(a)
    kind = x.dtype if dtype is None else as_dtype(dtype)
    wanted = order_like(order)
    lengths = x.shape if shape is None else as_shape(shape)
    if len(lengths) == x.ndim:
        layout = orders.like_other(lengths, x.layout, wanted)
    else:  # NumPy's rule
        layout = orders.in_order(lengths, "F" if wanted == "F" else "C")
    made = Mat.__new__(Mat)
    check_bytes(layout.size, kind)
    made._fill_in(Storage(layout.size, kind, fill), layout,
                  x.device_enabled if isinstance(a, Mat) else current().device_enabled)
    return placed(made, device)
