"""Mats of nested sequences, numbers, arrays and Mats: `array`, `asarray` and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Never

import numpy as np

from ..core.compiled import IN_USE
from ..core.observers import OBSERVERS
from ..devices.device import DeviceLike, device_named, device_of
from ..errors import DTypeError, ShapeError
from ..facets import ARRAY
from ..layout import orders
from ..layout.orders import Order, order_like
from ..layout.shapes import Ints, integer
from ..support.dtypes import as_dtype
from ..support.native import core
from ..support.options import FLOAT64, current
from ..support.types import Array, ArraySource, DTypeLike, Nested
from ..support.unbound import documented, unbound
from .base import form_of_result
from .creation import adopted, copy_of_array, from_numpy, placed
from .foreign_storage import ForeignStorage
from .joined import new_transposed, packed_copy, stacked_rows
from .mat import Mat, new_like
from .nested import as_plain, converted, inferred, numbers_of
from .storage import Storage

# with types of C
_float64, _array_facet, _observers, _mat = FLOAT64, ARRAY, OBSERVERS, Mat
_OF_NUMBERS = (np.dtype(bool), np.dtype(np.int64), FLOAT64, np.dtype(complex))
_NESTS = (list, tuple)
_PLAIN = (int, float, complex, np.generic, list, tuple, range)  # without memory of their own


_shape_of_numbers: Callable[[Any, bool], tuple[Ints, int] | None] = (
    (lambda _, __: None) if core is None else core.shape_of_numbers)
_write_numbers: Any = core and core.write_numbers


# NumPy's parameters
@unbound
def array(object: ArraySource, dtype: DTypeLike = None, *more: Never, copy: bool | None = True,
          order: str | None = "K", subok: bool = False, ndmin: int = 0, ndmax: int = 0,
          like: object = None) -> Mat:
    """Return a new Mat with the elements of nested sequences, an array or a Mat.

    Parameters
    ----------
    object : array_like
        A number, an array, a Mat, or nested sequences with these as leaves.
    dtype : dtype, str or type, optional
        The element type; by default that of an array, a Mat or a NumPy scalar. Python's integers
        become ``int64``, booleans ``bool``, complex numbers ``complex128``, and floats have the
        default dtype, ``mat.settings.dtype``; of different ones, what NumPy promotes them to.
    *more
        An error, which says that a list was meant.
    copy : bool or None
        True: always copy. None: share the memory of Mats and arrays if possible. False: an error
        where a copy is needed.
    order : {"K", "A", "C", "F"}
        Whether the elements are stored by rows ("C"), by columns ("F"), or as those of an array or
        a Mat are; "A": by columns if these are, else by rows.
    subok : bool
        Mats have no subclasses: True is an error for an instance of a subclass of an array.
    ndmin : int
        The least number of axes: new ones of length 1 come first.
    ndmax : int
        The most axes; more are an error, since the elements would be sequences. 0: no limit.
    like : object, optional
        Has no effect: the result is a Mat.

    Returns
    -------
    Mat
        A new Mat.

    Raises
    ------
    ShapeError
        If the nesting is ragged, or `copy` is False and a copy is needed.
    DTypeError
        If leaves are no numbers, the dtype cannot represent them, or there are more than `ndmax`
        axes.

    Examples
    --------
    >>> import mat
    >>> mat.array([[1, 2.5], [3, 4]])
    <Mat 2x2 A [[1. 2.5] [3. 4.]]>
    >>> mat.array([1, 2])
    <Mat 2 int64 A [1 2]>
    """
    if more:
        raise DTypeError(f"array takes one object and a dtype, got {2 + len(more)} arguments; "
                         f"several numbers are one list: mat.array([{object!r}, {dtype!r}, ...])")
    if (type(object) in _NESTS and not (ndmin or ndmax) and order == "K"
            and copy is not False):
        numbers = of_sequence(object, dtype)
        if numbers is not None:
            return numbers
    elif dtype is None and copy and not ndmin and not ndmax:
        copied: Mat | None = None
        if type(object) is np.ndarray:
            copied = copy_of_array(object, order)
        elif type(object) is _mat and order == "K":
            copied = _copied(object, order)
        if copied is not None:
            return copied
    found = _made(object, dtype, copy, order_like(order), subok, ndmin)
    if ndmax and found.ndim > ndmax:
        raise DTypeError(f"this nesting has {found.ndim} axes, and ndmax={ndmax} allows {ndmax}: "
                         "elements of Mats are numbers, not sequences")
    return found


def of_sequence(values: Any, dtype: DTypeLike) -> Mat | None:
    """Return the Mat of a list or tuple of numbers, of such sequences of so many, or of small
    Mats; None of others.
    """
    if type(values) is not list and type(values) is not tuple:
        return None
    as_floats = dtype is _float64 or dtype is float
    if as_floats or (dtype is None and current().dtype is _float64):
        numbers = _of_numbers(values, as_floats)
        if numbers is not None:
            return numbers
    return stacked_rows(values) if dtype is None else None


def _of_numbers(numbers: Any, as_floats: bool) -> Mat | None:
    """Return the Mat of a list or tuple of numbers, or of such of so many; None of others."""
    found = None if _observers else _shape_of_numbers(numbers, as_floats)
    if found is None:
        return None
    shape, kind = found
    form = form_of_result(shape, _OF_NUMBERS[kind])
    made: Mat = form.new(current().device_enabled, None)
    storage = made.storage
    address = storage.ready(_array_facet.mask, _array_facet.bit, False, True)
    if not address or not _write_numbers(address, numbers, shape, kind):
        return None
    storage.fresh, storage.pristine = _array_facet.mask, False
    return made


_AS_MAT = """Return {result}.

Parameters
----------
a : array_like
    A number, an array, a Mat, or nested sequences with these as leaves.
dtype : dtype, str or type, optional
    The element type; by default as for `array`.
order : {{"K", "A", "C", "F"}}
    How the elements are stored, as for `array`.
device : str or Device, optional
    ``"cpu"``, or the device in use (default).
copy : bool, optional
    None: copy only if that is needed. True: always. False: never.
like : object, optional
    Has no effect: the result is a Mat.{more}

Returns
-------
Mat
    `a` itself, or a new Mat.

Raises
------
ShapeError, DTypeError
    As for `array`.

Examples
--------
>>> import mat
>>> {example}
"""


# NumPy's parameters, and more
@unbound
@documented(_AS_MAT, more="""
exclusive : bool
    True: nobody else writes the memory of `a` as long as a device has a copy of it, as for
    `from_numpy`.""", example="""\
x = mat.ones(2)
>>> mat.asarray(x) is x
True
>>> mat.asarray([1, 2], "float32")
<Mat 2 float32 A [1. 2.]>""",
            result="the elements as a Mat: a Mat itself, a Mat over an array's memory, or a copy")
def asarray(a: ArraySource, dtype: DTypeLike = None, order: str | None = None, *,
            device: DeviceLike = None, copy: bool | None = None, like: object = None,
            exclusive: bool = False) -> Mat:
    if order is None and device is None and not copy:
        if dtype is None and type(a) is Mat:
            return a
        numbers = of_sequence(a, dtype) if copy is None else None
        if numbers is not None:
            return numbers
    found = _placed(a, dtype, copy, order_like(order), False, device)
    storage = found.storage
    if exclusive and not isinstance(a, Mat) and isinstance(storage, ForeignStorage):
        storage.exclusive = True
    return found


@unbound
@documented(_AS_MAT, more="", example="mat.asanyarray([1.5, 2.5])\n<Mat 2 A [1.5 2.5]>",
            result="the result of `asarray`; an instance of a subclass of an array is an error")
def asanyarray(a: ArraySource, dtype: DTypeLike = None, order: str | None = None, *,
               device: DeviceLike = None, copy: bool | None = None, like: object = None) -> Mat:
    if order is None and device is None and not copy:
        if dtype is None and type(a) is Mat:
            return a
        numbers = of_sequence(a, dtype) if copy is None else None
        if numbers is not None:
            return numbers
    return _placed(a, dtype, copy, order_like(order), True, device)


_BY_LINES = """Return the elements as a Mat of at least one axis that stores them by {lines}.

Parameters
----------
a : array_like
    A number, an array, a Mat, or nested sequences with these as leaves.
dtype : dtype, str or type, optional
    The element type; by default as for `array`.
like : object, optional
    Has no effect: the result is a Mat.

Returns
-------
Mat
    `a` itself if possible, or a new Mat.

Examples
--------
>>> import mat
>>> mat.{example}
"""


@unbound
@documented(_BY_LINES, lines="rows",
            example="ascontiguousarray(mat.ones(2, 3).T).strides\n(16, 8)")
def ascontiguousarray(a: ArraySource, dtype: DTypeLike = None, *, like: object = None) -> Mat:
    return _stored(a, dtype, "C")


@unbound
@documented(_BY_LINES, lines="columns",
            example="asfortranarray(mat.ones(2, 3)).strides\n(8, 16)")
def asfortranarray(a: ArraySource, dtype: DTypeLike = None, *, like: object = None) -> Mat:
    return _stored(a, dtype, "F")


def _stored(a: ArraySource, dtype: DTypeLike, order: Order) -> Mat:
    """Return the Mat of `a` that is stored in that order: itself if it is one."""
    if type(a) is Mat and dtype is None:
        view: Any = a
        layout = view.layout
        if layout.shape and (layout.contiguous if order == "C" else layout.is_by_columns()):
            return a
    return _made(a, dtype, None, order, False, 1)


def _placed(obj: Nested, dtype: DTypeLike, copy: bool | None, order: Order, subok: bool,
            device: DeviceLike) -> Mat:
    """Return the Mat of `obj`, for operations on `device`; None: as by default."""
    if device is None or not isinstance(obj, Mat):
        return placed(_made(obj, dtype, copy, order, subok, 0), device)
    return _made(_moved(obj, device, copy), dtype, copy, order, subok, 0)


def _moved(x: Mat, device: DeviceLike, copy: bool | None) -> Mat:
    """Return `x`, or a copy of it if operations on it do not compute on `device` already."""
    if device_of(x) is device_named(device):
        return x
    if copy is False:
        raise _needs_copy(x)
    return placed(x.copy(), device)


def _made(obj: Nested, dtype: DTypeLike, copy: bool | None, order: Order, subok: bool,
          ndmin: int) -> Mat:
    """Return the Mat of `obj`, a new one if `copy`, and of at least `ndmin` axes."""
    if subok and isinstance(obj, np.ndarray) and type(obj) is not np.ndarray:
        raise DTypeError(f"Mats have no subclasses such as {type(obj).__name__}; mat.asarray(a) "
                         "and mat.array(a) take its elements")
    if isinstance(obj, Mat):
        found = _of_mat(obj, dtype, copy, order)
    elif isinstance(obj, np.ndarray) or not isinstance(obj, _PLAIN):
        found = _of_array(obj, as_plain(obj), dtype, copy, order)
    elif copy is False:
        raise _needs_copy(obj)
    else:
        found = _new(obj, as_plain(obj), dtype, order)
    missing = integer(ndmin, "ndmin") - found.ndim
    return found.reshape((1,) * missing + found.shape) if missing > 0 else found


def _of_mat(x: Mat, dtype: DTypeLike, copy: bool | None, order: Order) -> Mat:
    kind = x.dtype if dtype is None else as_dtype(dtype)
    if not copy and kind == x.dtype and orders.has_order(x.layout, order):
        return x
    if copy is False:
        raise _needs_copy(x)
    found = _copied(x, order) if kind is x.element_type and type(x) is Mat else None
    if found is not None:
        return found
    layout = orders.like(x.layout, order)
    if layout.contiguous:
        return new_like(x, x.shape, kind).assign_(x)
    made = Mat.__new__(Mat)
    made._fill_in(Storage(x.size, kind, None), layout, x.device_enabled)
    return made.assign_(x)


def _copied(x: Mat, order: str) -> Mat | None:
    """Return a copy of a small Mat, by rows or columns; None for others and other orders."""
    view: Any = x
    layout = view.layout
    by_columns = not layout.contiguous and layout.is_by_columns()
    if order == "F" or (by_columns and order != "C"):
        found = packed_copy(view.T)
        return None if found is None else new_transposed(found)
    return packed_copy(view) if order != "K" or layout.descends() or layout.contiguous else None


def _of_array(obj: Nested, a: Array, dtype: DTypeLike, copy: bool | None, order: Order) -> Mat:
    """Return the Mat of `obj` with the elements of `a`: over the same memory if possible."""
    if copy:
        return _new(obj, a, dtype, order)
    kind = inferred(obj, a) if dtype is None else as_dtype(dtype)
    fits = (kind == a.dtype and a.dtype.isnative and a.flags.aligned
            and not any(s % a.itemsize for s in a.strides)
            and (order != "C" or a.flags.c_contiguous) and (order != "F" or a.flags.f_contiguous))
    if fits:
        return from_numpy(np.asarray(a))
    if copy is False:
        raise _needs_copy(obj)
    return _new(obj, a, kind, order)


def _new(obj: Nested, plain: Array, dtype: DTypeLike, order: Order) -> Mat:
    """Return a new Mat of `obj`, converted by NumPy to `plain`."""
    if dtype is None:
        kind = inferred(obj, plain)
    else:
        kind = as_dtype(dtype)
        plain = numbers_of(obj, plain, kind)
    elements = converted(obj, plain, kind, order)
    if IN_USE and not elements.ndim:
        return Mat((), kind, fill=elements.item())  # which a device fills itself
    return adopted(elements)


def _needs_copy(obj: object) -> ShapeError:
    name = obj.label() if isinstance(obj, Mat) else type(obj).__name__
    return ShapeError(f"{name} becomes such a Mat by a copy only; copy=None allows it")
