"""New Mats: of zeros, ones or arbitrary elements, and over the memory of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from typing import Any, SupportsIndex

import numpy as np

from ..core.compiled import BLOCKS, IN_USE
from ..core.direction import OUTPUT
from ..core.observers import OBSERVERS
from ..core.registry import Facet
from ..devices.device import DeviceLike, enabled_on
from ..errors import DTypeError, IntegerError, ShapeError
from ..facets import ARRAY, with_strides
from ..layout.shapes import Ints, integer
from ..layout.strided import Layout, packed
from ..memories.file_pages import spilled_copy
from ..support.dtypes import ELEMENT_TYPES, EXTENSIONS, NAMED, as_dtype, is_masked
from ..support.native import core
from ..support.options import FLOAT64, current
from ..support.types import Array, DType, DTypeLike, Number, ShapeLike
from ..support.unbound import documented, unbound
from .base import (
    FORMS_BY_NUMBER,
    FORMS_OF_NEW,
    MAKER,
    form_made_before,
    form_of_result,
    is_numpys,
)
from .brief_copies import none_else
from .foreign_storage import ForeignStorage
from .mat import Mat
from .methods import method
from .storage import Storage


def shape_dtype_order(given: tuple[Any, ...], dtype: DTypeLike, order: str,
                      ) -> tuple[ShapeLike, DTypeLike, str]:
    """Return the shape, the dtype and the order that positional and keyword arguments name."""
    count = _count_of_lengths(given)
    shape = given[0] if count == 1 else given[:count]
    rest = given[count:]
    if not count and given:
        raise IntegerError(f"a shape comes first, got {given[0]!r}; a dtype comes after it: "
                           f"(2, 3), dtype={given[0]!r}")
    if len(rest) == 1 and isinstance(rest[0], list | tuple) and rest[0] and all(
            isinstance(v, tuple) and len(v) > 1 and isinstance(v[0], str) for v in rest[0]):
        raise DTypeError(f"a Mat has one number for each element, no fields such as {rest[0]!r}; "
                         "make a Mat for each field")
    twice = rest and (_is_length(rest[0]) or isinstance(rest[0], list | tuple))
    if twice or len(rest) > 2:
        raise ShapeError(f"one shape is meant, got {', '.join(map(repr, given))}: (2, 3), or 2, 3, "
                         "and then perhaps a dtype and an order")
    if rest and dtype is not None:
        raise DTypeError(f"two dtypes, {rest[0]!r} and {dtype!r}")
    return shape, rest[0] if rest else dtype, rest[1] if len(rest) == 2 else order


def _count_of_lengths(given: tuple[Any, ...]) -> int:
    """Return how many of the arguments are the shape."""
    if given and isinstance(given[0], Iterable) and not isinstance(given[0], str):
        return 1
    return next((k for k, n in enumerate(given) if not _is_length(n)), len(given))


def _is_length(value: object) -> bool:
    return isinstance(value, SupportsIndex | float) and not isinstance(value, type)


# with types of C
_array, _blocks, _maker, _float64 = ARRAY, BLOCKS, MAKER, FLOAT64
_in_use = IN_USE
_observers, _int64 = OBSERVERS, np.dtype(np.int64)
_FAR = 1 << 60  # of integers whose differences C can represent
_EXACT = 2.0**53  # up to which floats represent all integers
COPIED = 1 << 13  # bytes of arrays that are copied in less time than they are shared
MOST_AT_ONCE = 1 << 16  # bytes of arrays that are copied while the GIL is kept
# by the arguments, which need no check
_FORMS, _TABLES, _named = FORMS_OF_NEW, FORMS_BY_NUMBER, NAMED
_MOST_FORMS = 10_000
# of arrays that Mats are made of; others join them when they were
KNOWN = _DTYPES = {np.dtype(t.name) for t in ELEMENT_TYPES if t.char not in EXTENSIONS}


def filled(lengths: tuple[ShapeLike | DTypeLike, ...], dtype: DTypeLike, value: Number) -> Mat:
    """Return a Mat of zeros, ones or arbitrary elements."""
    options = current()
    shape: Any = lengths[0] if len(lengths) == 1 else lengths
    kind: Any = dtype
    if len(lengths) == 2 and dtype is None and _names_dtype(lengths[1]):
        shape, kind = lengths[0], lengths[1]
    if type(shape) is not int:
        if type(shape) is not tuple:
            return _filled_by(lengths, dtype, value)
        for n in shape:
            if type(n) is not int:  # True would be found as 1
                return _filled_by(lengths, dtype, value)
    if kind is None:
        kind = options.dtype
    elif type(kind) is type or type(kind) is str:
        kind = _named.get(kind, kind)
    own = kind is _float64 or (isinstance(kind, np.dtype) and is_numpys(kind))
    try:
        form = form_made_before(shape, kind) if own else _FORMS.get((shape, kind))
    except TypeError:  # the dtype cannot be hashed: it is none
        form = None
    if form is None:
        made = Mat(shape, kind, fill=value)
        forms, key = (_TABLES[kind.num], shape) if own else (_FORMS, (shape, kind))
        if len(forms) < _MOST_FORMS:
            forms[key] = made.form
        return made
    return form.new(options.device_enabled, value)


def _all_lengths(shape: Any, more: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return all arguments by position, in less time than ``(shape, *more)``."""
    if len(more) < 2:
        return (shape, more[0]) if more else (shape,)
    return (shape, *more)


def _names_dtype(value: object) -> bool:
    """Return whether an argument is a dtype, or names one, and so is no length."""
    kind = type(value)
    return kind is type or kind is str or isinstance(value, np.dtype)


def _filled_by(lengths: tuple[ShapeLike | DTypeLike, ...], dtype: DTypeLike, value: Number,
               order: str = "C", device: DeviceLike = None) -> Mat:
    """Return the result of `filled`, for all ways to give the arguments."""
    given, dtype, order = shape_dtype_order(lengths, dtype, order)
    return placed(Mat(given, dtype, fill=value, order=order), device)


def placed(mat: Mat, device: DeviceLike) -> Mat:
    """Return `mat`, a new one, for `device`; None stands for the device in use."""
    if device is not None:
        mat.device_enabled = enabled_on(device)
    return mat


_DOC = """Return a Mat {of}.

Parameters
----------
shape : int or sequence of int
    The lengths of the axes.
*more
    Lengths of further axes: ``{name}(3, 4)`` is ``{name}((3, 4))``; then perhaps a dtype and an
    order: ``{name}((3, 4), "float32")``.
dtype : dtype, str or type, optional
    The element type; by default ``mat.settings.dtype``.
order : {{"C", "F"}}
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
>>> mat.{example}
"""


@unbound
@documented(_DOC, name="zeros", of="of zeros; its memory is allocated at the first access",
            example="zeros(2, 3)\n<Mat 2x3 - [[0. 0. 0.] [0. 0. 0.]]>")
def zeros(shape: ShapeLike = (), *more: ShapeLike | DTypeLike, dtype: DTypeLike = None,
          order: str = "C", device: DeviceLike = None, like: object = None) -> Mat:
    lengths = _all_lengths(shape, more)
    if order == "C" and device is None:
        return filled(lengths, dtype, 0)
    return _filled_by(lengths, dtype, 0, order, device)


@documented(_DOC, name="ones", of="of ones",
            example='ones(3, dtype="int8")\n<Mat 3 int8 - [1 1 1]>')
def ones(shape: ShapeLike = (), *more: ShapeLike | DTypeLike, dtype: DTypeLike = None,
         order: str = "C", device: DeviceLike = None, like: object = None) -> Mat:
    lengths = _all_lengths(shape, more)
    if order == "C" and device is None:
        return filled(lengths, dtype, 1)
    return _filled_by(lengths, dtype, 1, order, device)


@unbound
@documented(_DOC, name="empty", of="whose elements are arbitrary until they are written",
            example="empty(2).fill_(3)\n<Mat 2 F [3. 3.]>")
def empty(shape: ShapeLike = (), *more: ShapeLike | DTypeLike, dtype: DTypeLike = None,
          order: str = "C", device: DeviceLike = None, like: object = None) -> Mat:
    lengths = _all_lengths(shape, more)
    if order == "C" and device is None:
        return filled(lengths, dtype, None)
    return _filled_by(lengths, dtype, None, order, device)


def adopted(a: Array, *, owned: bool = True) -> Mat:
    """Return a Mat whose host memory is the array `a` itself; `owned` if nobody else uses it.

    An array of objects or texts is a `DTypeError`.
    """
    if a.dtype is not _float64 and a.dtype not in _DTYPES:
        as_dtype(a.dtype)
        _DTYPES.add(a.dtype)
    return over_memory(a, _flat_array(a), owned)


def over_memory(a: Array, flat: Array | None, owned: bool) -> Mat:
    """Return a Mat whose host memory is that of `a`; `flat` has its elements in the same order in
    one axis, and they can be written, or is None.
    """
    form = None
    if flat is None:
        flat, layout = flattened(a)
        dtype, size, itemsize = a.dtype, flat.size, a.itemsize
    else:
        dtype = a.dtype
        form = form_of_result(a.shape, dtype)
        layout, size, itemsize = form.layout, form.size, form.itemsize
    foreign = None if owned else ForeignStorage.__new__(ForeignStorage)
    storage = Storage.__new__(Storage) if foreign is None else foreign
    storage.begin()
    storage.describe(size, dtype, itemsize, 0)
    if owned and storage.nbytes > _blocks.largest:
        flat = spilled_copy(flat)
    storage.adopt_host(flat, owned)
    if foreign is not None:
        foreign.share()
    storage.seen = _array.bit
    storage.writable = form is not None or bool(a.flags.writeable)
    mat: Mat = _maker.make()
    mat._set_up(storage, layout, form, current().device_enabled)
    return mat


def copy_of_array(a: Array, order: object) -> Mat | None:
    """Return a Mat with a copy of a plain array of a known dtype; None for others."""
    if (order != "K" and order != "C") or _observers or not _blocks.enabled:
        return None
    dtype = _blocks.dtype_of(a)
    if not (is_numpys(dtype) or dtype in _DTYPES):
        return None
    form = form_of_result(_blocks.shape_of(a), dtype)
    nbytes = form.size * form.itemsize
    if nbytes > MOST_AT_ONCE and not a.flags.c_contiguous:
        return None
    made: Mat = form.new(current().device_enabled, 0)
    if nbytes > MOST_AT_ONCE:  # memory of ours is used again, and aligned
        with made.facet(_array, OUTPUT) as elements:
            elements[...] = a
        return made
    storage = made.storage
    address = storage.ready(_array.mask, _array.bit, False, True)
    if not address or not _blocks.copy_of_array(address, a, nbytes, order == "C"):
        return None
    storage.fresh, storage.pristine = _array.mask, False
    return made


def small_copied(value: Any) -> Any:
    """Return a Mat with a copy of a small array, which takes less time than to share its memory;
    anything else as it is, and all while a device is in use.
    """
    if type(value) is not np.ndarray or _in_use or not (
            _blocks.enabled and _blocks.nbytes_of(value) <= COPIED):
        return value
    found = copy_of_array(value, "K")
    return value if found is None else found


def range_of_few(start: object, stop: object, step: object) -> Mat | None:
    """Return the result of ``numpy.arange`` for a few of Python's numbers; None for others."""
    if stop is None:
        start, stop = 0, start
    if type(start) is float or type(stop) is float or type(step) is float:
        return _range_of_floats(start, stop, 1 if step is None else step)
    if type(start) is not int or type(stop) is not int or (step is not None
                                                           and type(step) is not int):
        return None
    try:
        first, last, by = start, stop, 1 if step is None else step
    except OverflowError:  # of integers that C cannot represent
        return None
    if not -_FAR < first < _FAR or not -_FAR < last < _FAR or not 0 < by < _FAR:
        return None
    count = (last - first + by - 1) // by if last > first else 0
    if 8 * count > MOST_AT_ONCE or _observers or not _blocks.enabled:
        return None
    made = _written_vector(count, _int64)
    if made is not None:
        _blocks.count(made.storage.address, count, first, by)
    return made


def vector_of_integers(numbers: list[object]) -> Mat | None:
    """Return a vector of a few of Python's integers; None for lists with others, or none."""
    count = len(numbers)
    if not 0 < 8 * count <= MOST_AT_ONCE or not none_else():
        return None
    made = _written_vector(count, _int64)
    return made if made is not None and _blocks.copy_integers(made.storage.address,
                                                              numbers) else None


def _written_vector(count: int, dtype: DType) -> Any:
    """Return a new vector as one that has been written; None where it has no address."""
    made: Mat = form_of_result((count,), dtype).new(current().device_enabled, 0)
    storage = made.storage
    if not storage.ready(_array.mask, _array.bit, False, True):
        return None
    storage.fresh, storage.pristine = _array.mask, False
    return made


def _range_of_floats(start: object, stop: object, step: object) -> Mat | None:
    """Return the result of `range_of_few` for numbers among which there is a float."""
    numbers: Any = (start, stop, step)
    for n in numbers:
        if type(n) is not float and type(n) is not int:
            return None
    try:
        first, last, by = numbers
    except OverflowError:  # of integers that C cannot represent
        return None
    if not -_EXACT < first < _EXACT or not -_EXACT < last < _EXACT or not 0 < abs(by) < _EXACT or (
            _observers or not _blocks.enabled or current().dtype is not _float64):
        return None
    length = (last - first) / by
    if not 0 < length <= MOST_AT_ONCE // 8:
        return None
    count = int(length)
    count += count < length
    made = _written_vector(count, _float64)
    if made is not None:
        _blocks.count_in_floats(made.storage.address, count, first, by)
    return made


def seeing(storage: Storage, layout: Layout, facet: Facet, *, writable: bool) -> Mat:
    """Return a Mat with a layout over a new storage, whose data can be accessed through `facet`."""
    mat = Mat.__new__(Mat)
    storage.seen = facet.bit
    storage.writable = writable
    mat._fill_in(storage, layout, current().device_enabled)
    return mat


flat_array: Callable[[Array], Array | None] = (lambda _: None) if core is None else core.flat_array
_flat_array = flat_array


def flattened(a: Array) -> tuple[Array, Layout]:
    """Return the memory that `a` spans as a 1-d array, and the layout of `a` in it."""
    if a.flags.c_contiguous:
        return a.reshape(-1), packed(a.shape)
    strides = tuple(s // a.itemsize for s in a.strides)
    low, high = Layout(a.shape, strides, 0).bounds
    if low == high:
        return np.empty(0, a.dtype), packed(a.shape)
    first = a[tuple(slice(None, None, -1 if s < 0 else 1) for s in strides)]
    flat = with_strides(first, (high - low,), (a.itemsize,), bool(a.flags.writeable))
    return flat, Layout(a.shape, strides, -low)


def from_numpy(a: Array, *, exclusive: bool = False) -> Mat:
    """Return a Mat whose host memory is a NumPy array: no copy, and each sees the other's writes.

    Parameters
    ----------
    a : numpy.ndarray
        The array, which may be strided. Its memory remains the user's: it is never freed or
        evicted. A read-only array gives a read-only Mat.
    exclusive : bool
        True: nobody else writes the memory as long as a device has a copy of it, or each write is
        announced by `Mat.changed`. Then uses of the copy need not find out whether it is outdated.

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

    Notes
    -----
    Whenever a device uses its copy of the memory, it is found out whether the array was written
    since: up to 1 MB by a digest, above by the system's record of written pages (from Linux 6.7
    on), or where there is none by a digest, with a `PerformanceWarning`. What a device has written
    is copied to the array when the host uses the Mat, at the end of the block, and when the Mat is
    freed; if the array was written meanwhile, that is a `ConflictError`.

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
    if flat is not None and (a.dtype is _float64 or a.dtype in _DTYPES):
        return _as_promised(over_memory(a, flat, False), exclusive)
    if not isinstance(a, np.ndarray) or is_masked(a):
        raise DTypeError(f"from_numpy requires a numpy.ndarray, got {type(a).__name__}; "
                         "mat.array(obj) copies from anything")
    as_dtype(a.dtype)
    if not a.flags.aligned or any(s % a.itemsize for s in a.strides):
        raise ShapeError(f"strides {a.strides} (bytes) or address do not fit elements of "
                         f"{a.itemsize} bytes; mat.array(a) copies")
    return _as_promised(adopted(np.asarray(a), owned=False), exclusive)


def _as_promised(mat: Mat, exclusive: bool) -> Mat:
    """Return `mat`, whose memory nobody else writes if `exclusive`."""
    if exclusive and isinstance(mat.storage, ForeignStorage):
        mat.storage.exclusive = True
    return mat


# The parameters of NumPy's constructor beyond a shape and a dtype


@method("_over_buffer")
def over_buffer(self: Mat, shape: Ints, dtype: DType, given: tuple[Any, Any, Any, Any]) -> Mat:
    """Return a Mat over a buffer, or without one over new memory, with strides in bytes.

    `given` is what the constructor was given: buffer, offset, strides and order.
    """
    buffer, offset, strides, order = given
    if buffer is None:
        return _strided(shape, dtype, strides)
    if isinstance(buffer, Mat):
        if (buffer.dtype == dtype and buffer.is_contiguous and strides is None
                and order in (None, "C") and offset >= 0 and offset % dtype.itemsize == 0):
            start = buffer.displacement + offset // dtype.itemsize
            if prod(shape) <= buffer.size - offset // dtype.itemsize:
                return buffer.view(shape, start)
        buffer = np.asarray(buffer)
    if integer(offset, "an offset") < 0:  # NumPy would read what is before the buffer
        raise ShapeError("an offset is a number of bytes from the begin of the buffer on, got "
                         f"{offset}")
    try:
        if not isinstance(buffer, np.ndarray):  # NumPy would let its owner free it, or resize it
            buffer = np.frombuffer(buffer, np.uint8)
        return from_numpy(np.ndarray(shape, dtype, buffer, offset, strides, order))
    except ValueError as error:
        raise ShapeError(f"no Mat of shape {shape} and {dtype} is in that buffer at offset "
                         f"{offset!r} with strides {strides!r}: {error}") from None
    except TypeError as error:
        raise DTypeError(f"no Mat of shape {shape} and {dtype} is in that "
                         f"{type(buffer).__name__} at offset {offset!r}: {error}") from None


def _strided(shape: Ints, dtype: DType, strides: Any) -> Mat:
    """Return a Mat over new memory for as many elements as the shape has."""
    steps = tuple(strides)
    if len(steps) != len(shape) or any(s % dtype.itemsize for s in steps):
        raise ShapeError(f"strides are one for each of the axes {shape}, in bytes and a multiple "
                         f"of {dtype.itemsize}, got {strides!r}")
    whole = Mat(shape, dtype, fill=None)
    layout = Layout(shape, tuple(s // dtype.itemsize for s in steps), 0)
    found = whole.over(layout.check_within(whole.size))
    found.is_view = False
    return found
