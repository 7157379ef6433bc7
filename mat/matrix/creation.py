"""Making Mats: of a value, of nested sequences, and of NumPy arrays, with and without copying."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.registry import Facet
from ..errors import DTypeError, ShapeError
from ..facets.array import ARRAY
from ..layout.strided import Layout, as_shape, integer, packed
from ..support.dtypes import SUPPORTED, as_dtype, check_number, is_integer
from ..support.settings import current
from .mat import Mat, Storage


def _shape_of(shape: tuple[Any, ...]) -> Any:
    return shape[0] if len(shape) == 1 else shape


def zeros(*shape: Any, dtype: Any = None) -> Mat:
    """A Mat of zeros; ``zeros(3, 4)`` or ``zeros((3, 4))``. No memory is taken before it is looked
    at.

    >>> import mat
    >>> mat.zeros(2, 3)
    <Mat 2x3 - [[0. 0. 0.] [0. 0. 0.]]>
    """
    return Mat(_shape_of(shape), dtype, fill=0)


def ones(*shape: Any, dtype: Any = None) -> Mat:
    """A Mat of ones.

    >>> import mat
    >>> mat.ones(3, dtype="int8")
    <Mat 3 int8 - [1 1 1]>
    """
    return Mat(_shape_of(shape), dtype, fill=1)


def full(shape: Any, value: Any, dtype: Any = None) -> Mat:
    """A Mat of `shape` whose elements are all `value`.

    >>> import mat
    >>> mat.full((2, 2), 7)
    <Mat 2x2 - [[7. 7.] [7. 7.]]>
    """
    if value is None:
        raise DTypeError("full wants a number, got None; empty(shape) leaves elements arbitrary")
    return Mat(shape, dtype, fill=value)


def empty(*shape: Any, dtype: Any = None) -> Mat:
    """A Mat whose elements are arbitrary until they are written.

    >>> import mat
    >>> mat.empty(2).fill_(3)
    <Mat 2 F [3. 3.]>
    """
    return Mat(_shape_of(shape), dtype, fill=None)


def eye(n: int, m: int | None = None, k: int = 0, dtype: Any = None) -> Mat:
    """The `n` x `m` matrix (default: square) with ones on diagonal `k` and zeros elsewhere.

    >>> import mat
    >>> mat.eye(2)
    <Mat 2x2 A [[1. 0.] [0. 1.]]>
    """
    rows, columns = as_shape((n, n if m is None else m))
    return adopted(np.eye(rows, columns, integer(k, "k"), dtype=_dtype(dtype)))


def arange(start: float, stop: float | None = None, step: float = 1, dtype: Any = None) -> Mat:
    """The numbers from `start` (0 if only one is given) up to, not including, `stop`, `step` apart.

    As every Mat, of the default dtype unless `dtype` says otherwise.

    >>> import mat
    >>> mat.arange(4)
    <Mat 4 A [0. 1. 2. 3.]>
    >>> mat.arange(1, 7, 2, dtype="int64")
    <Mat 3 int64 A [1 3 5]>
    """
    first, last = counted(start, stop, step)
    return adopted(np.arange(first, last, step).astype(_dtype(dtype)))


def counted(start: Any, stop: Any, step: Any) -> tuple[Any, Any]:
    """Where `arange` begins and ends, if it can count from there to there."""
    first, last = (0, start) if stop is None else (start, stop)
    for name, value in (("start", first), ("stop", last), ("step", step)):
        check_number(value, np.dtype(np.float64), name)
        if not np.isfinite(value):
            raise ShapeError(f"arange cannot count with {name} = {value!r}")
    if step == 0:
        raise ShapeError("arange cannot count in steps of 0")
    return first, last


def _dtype(dtype: Any) -> np.dtype[Any]:
    return current().dtype if dtype is None else as_dtype(dtype)


def array(obj: Any, dtype: Any = None) -> Mat:
    """A new Mat with the elements of `obj`: nested sequences, with numbers, arrays or Mats as
    leaves; always a copy.

    The dtype is that of an array, a Mat or a NumPy scalar, else the default. `ShapeError` for
    ragged nesting, `DTypeError` for what are no numbers.

    >>> import mat
    >>> mat.array([[1, 2], [3, 4]])
    <Mat 2x2 A [[1. 2.] [3. 4.]]>
    """
    own = obj.dtype if dtype is None and isinstance(obj, Mat | np.ndarray | np.generic) else dtype
    return adopted(as_array(obj, _dtype(own)))


def as_array(obj: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """`obj`, nested as it may be, as a new C-contiguous NumPy array of `dtype`."""
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
    return np.array(plain, dtype=dtype, order="C", copy=True)


def _without_mats(obj: Any) -> Any:
    """`obj` with the Mats in it replaced by arrays."""
    if isinstance(obj, Mat):
        return obj.to_numpy()
    if isinstance(obj, list | tuple | range):
        return [_without_mats(item) for item in obj]
    return obj


def adopted(a: np.ndarray[Any, Any], *, owned: bool = True) -> Mat:
    """A Mat whose host memory is `a` itself; `owned` if nobody else has it."""
    flat, layout = _flat(a)
    storage = Storage(flat.size, flat.dtype, 0)
    storage.adopt_host(flat, owned)
    return seeing(storage, layout, ARRAY, writable=bool(a.flags.writeable))


def seeing(storage: Storage, layout: Layout, facet: Facet, *, writable: bool) -> Mat:
    """A Mat that sees what `layout` says of a new `storage`, whose data can be looked at through
    `facet`.
    """
    mat = Mat.__new__(Mat)
    mat.layout = layout
    mat.storage = storage
    storage.seen = facet.bit
    storage.writable = writable
    mat.presented = {}
    mat.form = None
    mat.device_enabled = current().device_enabled
    return mat


def _flat(a: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], Layout]:
    """The memory that `a` spans as a 1-d array, and the layout that sees `a` in it."""
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


def from_numpy(a: np.ndarray[Any, Any]) -> Mat:
    """A Mat whose host memory is the array `a`: no copy, and each sees what the other writes.

    `a` may be strided. The memory stays the user's: it is never freed or evicted, and a read-only
    array gives a read-only Mat. `DTypeError` for what is no array or has an unsupported dtype,
    `ShapeError` for strides or an address that are no multiple of the element's size.

    >>> import numpy, mat
    >>> a = numpy.arange(6.0).reshape(2, 3)
    >>> mat.from_numpy(a).scal_(2)
    <Mat 2x3 AF [[0. 2. 4.] [6. 8. 10.]]>
    >>> a
    array([[ 0.,  2.,  4.],
           [ 6.,  8., 10.]])
    """
    if not isinstance(a, np.ndarray) or isinstance(a, np.ma.MaskedArray):
        raise DTypeError(f"from_numpy wants a numpy.ndarray, got {type(a).__name__}; "
                         "mat.array(obj) copies from anything")
    as_dtype(a.dtype)
    if not a.flags.aligned or any(s % a.itemsize for s in a.strides):
        raise ShapeError(f"strides {a.strides} (bytes) or address do not fit elements of "
                         f"{a.itemsize} bytes; "
                         f"mat.array(a) copies")
    return adopted(np.asarray(a), owned=False)
