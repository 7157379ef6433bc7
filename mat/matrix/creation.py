"""New Mats: of one value, of nested sequences, and of NumPy arrays, with and without copying."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.registry import Facet
from ..errors import DTypeError, ShapeError
from ..facets.array import ARRAY
from ..layout.shapes import MOST_ELEMENTS, Ints, as_shape, integer
from ..layout.strided import Layout, packed
from ..support.dtypes import SUPPORTED, as_dtype, check_number, is_integer
from ..support.native import core
from ..support.settings import FLOAT64, current
from ..support.types import Array, DType, DTypeLike, Nested, Number, ShapeLike
from .base import MAKER, Form, Storage, form_of_result
from .mat import Mat

# with types of C
_array, _float64, _maker = ARRAY, FLOAT64, MAKER
_FORMS: dict[object, Form] = {}  # of Mats that were made, by the arguments, which need no check
_DTYPES: set[DType] = set()  # of arrays that Mats were made of


def _filled(shape: tuple[ShapeLike, ...], dtype: DTypeLike, value: Number) -> Mat:
    """Return a Mat of zeros, ones or arbitrary elements."""
    options = current()
    lengths: Any = shape[0] if len(shape) == 1 else shape
    if type(lengths) is not int:  # True in a tuple would be found as 1
        return Mat(lengths, dtype, fill=value)
    key = lengths, options.dtype if dtype is None else dtype
    try:
        form = _FORMS.get(key)
    except TypeError:  # the dtype cannot be hashed: it is none
        form = None
    if form is None:
        return _remembered(key, Mat(lengths, dtype, fill=value))
    storage = Storage.__new__(Storage)
    storage.begin()
    storage.describe(form.size, form.dtype, form.itemsize, value)
    mat: Mat = _maker.make()
    mat._set_up(storage, form.layout, form, options.device_enabled)
    return mat


def _remembered(key: object, mat: Mat) -> Mat:
    """Remember the form of `mat` for calls with the arguments `key`; return `mat`."""
    if len(_FORMS) > 1000:
        _FORMS.clear()
    _FORMS[key] = mat.form
    return mat


def zeros(*shape: ShapeLike, dtype: DTypeLike = None) -> Mat:
    """Return a Mat of zeros; its memory is allocated at the first access.

    Parameters
    ----------
    *shape : int or sequence of int
        The lengths of the axes: ``zeros(3, 4)`` or ``zeros((3, 4))``.
    dtype : dtype, str or type, optional
        The element type; by default ``mat.settings.dtype``.

    Returns
    -------
    Mat
        A new Mat.

    Examples
    --------
    >>> import mat
    >>> mat.zeros(2, 3)
    <Mat 2x3 - [[0. 0. 0.] [0. 0. 0.]]>
    """
    return _filled(shape, dtype, 0)


def ones(*shape: ShapeLike, dtype: DTypeLike = None) -> Mat:
    """Return a Mat of ones.

    Parameters
    ----------
    *shape : int or sequence of int
        The lengths of the axes: ``zeros(3, 4)`` or ``zeros((3, 4))``.
    dtype : dtype, str or type, optional
        The element type; by default ``mat.settings.dtype``.

    Returns
    -------
    Mat
        A new Mat.

    Examples
    --------
    >>> import mat
    >>> mat.ones(3, dtype="int8")
    <Mat 3 int8 - [1 1 1]>
    """
    return _filled(shape, dtype, 1)


def full(shape: ShapeLike, value: Number, dtype: DTypeLike = None) -> Mat:
    """Return a Mat whose elements are all `value`.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of the axes.
    value : number or array_like
        The value of the elements, which the dtype must be able to represent; an array or a Mat
        broadcasts to the shape.
    dtype : dtype, str or type, optional
        The element type; by default ``mat.settings.dtype``.

    Returns
    -------
    Mat
        A new Mat.

    Examples
    --------
    >>> import mat
    >>> mat.full((2, 2), 7)
    <Mat 2x2 - [[7. 7.] [7. 7.]]>
    """
    if value is None:
        raise DTypeError("full wants a number, got None; empty(shape) leaves elements arbitrary")
    if isinstance(value, np.ndarray | Mat | list | tuple):
        return _full_of_array(as_shape(shape), np.asarray(_without_mats(value)), dtype)
    return Mat(shape, dtype, fill=value)


def _full_of_array(shape: Ints, value: Array, dtype: DTypeLike) -> Mat:
    try:
        elements = np.broadcast_to(value, shape)
    except ValueError:
        raise ShapeError(f"elements of shape {value.shape} do not broadcast to {shape}") from None
    return array(elements, dtype)


def empty(*shape: ShapeLike, dtype: DTypeLike = None) -> Mat:
    """Return a Mat whose elements are arbitrary until they are written.

    Parameters
    ----------
    *shape : int or sequence of int
        The lengths of the axes: ``zeros(3, 4)`` or ``zeros((3, 4))``.
    dtype : dtype, str or type, optional
        The element type; by default ``mat.settings.dtype``.

    Returns
    -------
    Mat
        A new Mat.

    Examples
    --------
    >>> import mat
    >>> mat.empty(2).fill_(3)
    <Mat 2 F [3. 3.]>
    """
    return _filled(shape, dtype, None)


def eye(n: int, m: int | None = None, k: int = 0, dtype: DTypeLike = None) -> Mat:
    """Return a matrix with ones on one diagonal and zeros elsewhere.

    Parameters
    ----------
    n : int
        The number of rows.
    m : int, optional
        The number of columns; by default `n`.
    k : int
        The number of the diagonal: 0 for the main one, positive above it.
    dtype : dtype, str or type, optional
        The element type; by default ``mat.settings.dtype``.

    Returns
    -------
    Mat
        A new Mat of shape (n, m).

    Examples
    --------
    >>> import mat
    >>> mat.eye(2)
    <Mat 2x2 A [[1. 0.] [0. 1.]]>
    """
    rows, columns = as_shape((n, n if m is None else m))
    return adopted(np.eye(rows, columns, integer(k, "k"), dtype=_dtype(dtype)))


def arange(start: float, stop: float | None = None, step: float = 1,
           dtype: DTypeLike = None) -> Mat:
    """Return evenly spaced numbers in a half-open interval.

    Parameters
    ----------
    start : number
        The first number. If it is the only argument, it is `stop`, and the first number is 0.
    stop : number, optional
        The end of the interval, which is not included.
    step : number
        The difference of consecutive numbers; it may be negative.
    dtype : dtype, str or type, optional
        The element type; by default ``mat.settings.dtype``, also for integers.

    Returns
    -------
    Mat
        A new vector.

    Raises
    ------
    ShapeError
        If `step` is 0, a number is not finite, or there are too many.

    Examples
    --------
    >>> import mat
    >>> mat.arange(4)
    <Mat 4 A [0. 1. 2. 3.]>
    >>> mat.arange(1, 7, 2, dtype="int64")
    <Mat 3 int64 A [1 3 5]>
    """
    return adopted(counted(*interval(start, stop, step), step, _dtype(dtype)))


def interval(start: Number, stop: Number, step: Number) -> tuple[Number, Number]:
    """Return where `arange` begins and ends, if it can count from there to there."""
    first, last = (0, start) if stop is None else (start, stop)
    for name, value in (("start", first), ("stop", last), ("step", step)):
        check_number(value, np.dtype(np.float64), name)
        if not math.isfinite(value):
            raise ShapeError(f"arange cannot count with {name} = {value!r}")
    if step == 0:
        raise ShapeError("arange cannot count in steps of 0")
    length = (float(last) - float(first)) / float(step)
    if length > MOST_ELEMENTS:
        raise ShapeError(f"arange from {first!r} to {last!r} in steps of {step!r} has more "
                         "elements than 64 bits can count the bytes of")
    return first, last


def counted(first: Number, last: Number, step: Number, dtype: DType) -> Array:
    """Return ``numpy.arange`` of numbers that `interval` has checked, converted to `dtype`."""
    for name, value in (("start", first), ("stop", last), ("step", step)):
        if dtype.kind in "iu" and not -(2**63) <= value < 2**64:
            raise DTypeError(f"{name} is {value!r}, too large for {dtype}")
    # of integers beyond int64, NumPy refuses ranges without elements
    nothing = first >= last if step > 0 else first <= last
    return np.empty(0, dtype) if nothing else np.arange(first, last, step).astype(dtype)


def _dtype(dtype: DTypeLike) -> DType:
    return current().dtype if dtype is None else as_dtype(dtype)


def array(obj: Nested, dtype: DTypeLike = None) -> Mat:
    """Return a new Mat with the elements of nested sequences, an array or a Mat.

    Parameters
    ----------
    obj : array_like
        A number, an array, a Mat, or nested sequences with these as leaves. It is always copied.
    dtype : dtype, str or type, optional
        The element type; by default that of an array, a Mat or a NumPy scalar, otherwise
        ``mat.settings.dtype``.

    Returns
    -------
    Mat
        A new Mat.

    Raises
    ------
    ShapeError
        If the nesting is ragged.
    DTypeError
        If leaves are no numbers, or the dtype cannot represent them.

    Examples
    --------
    >>> import mat
    >>> mat.array([[1, 2], [3, 4]])
    <Mat 2x2 A [[1. 2.] [3. 4.]]>
    """
    if type(obj) is list:
        kind = _dtype(dtype)
        floats = _array_of_floats(obj) if kind is _float64 else None
        if floats is not None:
            return _adopted(floats, floats, True)
        return adopted(as_array(obj, kind))
    own = obj.dtype if dtype is None and isinstance(obj, Mat | np.ndarray | np.generic) else dtype
    return adopted(as_array(obj, _dtype(own)))


def as_array(obj: Nested, dtype: DType) -> Array:
    """Return the elements of nested sequences as a new C-contiguous NumPy array of `dtype`."""
    try:
        plain = np.asarray(_without_mats(obj))
    except ValueError as error:
        raise ShapeError(f"ragged nesting: {error}") from None
    if plain.dtype.name not in SUPPORTED and plain.size:
        raise DTypeError(f"elements must be numbers, got {plain.dtype} from {type(obj).__name__}")
    if plain.dtype.kind == "c" and dtype.kind != "c":
        raise DTypeError(f"complex elements do not fit into {dtype}; give dtype='complex128'")
    if is_integer(dtype) and plain.size and not isinstance(obj, Mat | np.ndarray):
        check_number(plain.min(), dtype, "an element")
        check_number(plain.max(), dtype, "an element")
        if plain.dtype.kind == "f" and dtype.itemsize == 8:  # too few digits for 64 bits
            plain = _exact_integers(obj, dtype)
    new = isinstance(obj, list | tuple | range) and plain.dtype == dtype
    return plain if new else np.array(plain, dtype=dtype, order="C", copy=True)


def _exact_integers(obj: Nested, dtype: DType) -> Array:
    """Return the elements as integers that were no floating-point numbers in between."""
    try:
        return np.array(_without_mats(obj), dtype)
    except OverflowError as error:
        raise DTypeError(f"an element is out of the range of {dtype}: {error}") from None


def _without_mats(obj: Nested) -> Nested:
    """Return `obj` with the Mats in it replaced by arrays."""
    if isinstance(obj, Mat):
        return obj.to_numpy()
    if isinstance(obj, list | tuple | range):
        return [_without_mats(item) for item in obj]
    return obj


def adopted(a: Array, *, owned: bool = True) -> Mat:
    """Return a Mat whose host memory is the array `a` itself; `owned` if nobody else uses it."""
    return _adopted(a, _flat_array(a), owned)


def _adopted(a: Array, flat: Array | None, owned: bool) -> Mat:
    """Return a Mat whose host memory is that of `a`; `flat` has its elements in the same order in
    one axis, and they can be written, or is None.
    """
    form = None
    if flat is None:
        flat, layout = _flat(a)
        dtype, size, itemsize = a.dtype, flat.size, a.itemsize
    else:
        dtype = a.dtype
        form = form_of_result(a.shape, dtype)
        layout, size, itemsize = form.layout, form.size, form.itemsize
    storage = Storage.__new__(Storage)
    storage.begin()
    storage.describe(size, dtype, itemsize, 0)
    storage.adopt_host(flat, owned)
    storage.seen = _array.bit
    storage.writable = form is not None or bool(a.flags.writeable)
    mat: Mat = _maker.make()
    mat._set_up(storage, layout, form, current().device_enabled)
    return mat


def seeing(storage: Storage, layout: Layout, facet: Facet, *, writable: bool) -> Mat:
    """Return a Mat with a layout over a new storage, whose data can be accessed through `facet`."""
    mat = Mat.__new__(Mat)
    storage.seen = facet.bit
    storage.writable = writable
    mat._fill_in(storage, layout, current().device_enabled)
    return mat


def _no_array(_: object) -> None:
    """Return None: there is no short way."""


_flat_array: Callable[[Array], Array | None] = _no_array if core is None else core.flat_array
_array_of_floats: Callable[[list[Nested]], Array | None] = (
    _no_array if core is None else core.array_of_floats)


def _flat(a: Array) -> tuple[Array, Layout]:
    """Return the memory that `a` spans as a 1-d array, and the layout of `a` in it."""
    if a.flags.c_contiguous:
        return a.reshape(-1), packed(a.shape)
    strides = tuple(s // a.itemsize for s in a.strides)
    low, high = Layout(a.shape, strides, 0).bounds
    if low == high:
        return np.empty(0, a.dtype), packed(a.shape)
    first = a[tuple(slice(None, None, -1 if s < 0 else 1) for s in strides)]
    flat = np.lib.stride_tricks.as_strided(first, (high - low,), (a.itemsize,),
                                           writeable=bool(a.flags.writeable))
    return flat, Layout(a.shape, strides, -low)


def from_numpy(a: Array) -> Mat:
    """Return a Mat whose host memory is a NumPy array: no copy, and each sees the other's writes.

    Parameters
    ----------
    a : numpy.ndarray
        The array, which may be strided. Its memory remains the user's: it is never freed or
        evicted. A read-only array gives a read-only Mat.

    Returns
    -------
    Mat
        A new Mat of the same shape and dtype.

    Raises
    ------
    DTypeError
        If `a` is no array, or its dtype is not supported.
    ShapeError
        If its strides or its address are no multiple of the element's size.

    Examples
    --------
    >>> import numpy, mat
    >>> a = numpy.arange(6.0).reshape(2, 3)
    >>> mat.from_numpy(a).scal_(2)
    <Mat 2x3 AF [[0. 2. 4.] [6. 8. 10.]]>
    >>> a
    array([[ 0.,  2.,  4.],
           [ 6.,  8., 10.]])
    """
    flat = _flat_array(a)
    if flat is not None and a.dtype in _DTYPES:
        return _adopted(a, flat, False)
    if not isinstance(a, np.ndarray) or isinstance(a, np.ma.MaskedArray):
        raise DTypeError(f"from_numpy wants a numpy.ndarray, got {type(a).__name__}; "
                         "mat.array(obj) copies from anything")
    as_dtype(a.dtype)
    if not a.flags.aligned or any(s % a.itemsize for s in a.strides):
        raise ShapeError(f"strides {a.strides} (bytes) or address do not fit elements of "
                         f"{a.itemsize} bytes; mat.array(a) copies")
    _DTYPES.add(a.dtype)
    return adopted(np.asarray(a), owned=False)
