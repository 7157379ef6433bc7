"""Making arrays by the standard's functions: the dtypes that Python's numbers get, and on which
device a Mat is to be.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DTypeError, SettingError, ShapeError
from ..interop.numpy.operators import by_numpy, enabled_on
from ..layout.strided import as_shape, integer
from ..matrix.creation import adopted, from_numpy, interval
from ..matrix.mat import Mat
from ..support.dtypes import as_dtype, check_number
from .arguments import as_mat, complex_default, like, place, real_default
from .manipulation import broadcast_arrays

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like",
    "tril", "triu", "zeros", "zeros_like",
]


def _default_of(plain: np.dtype[Any]) -> np.dtype[Any]:
    """The default dtype of the kind that NumPy finds in Python's numbers."""
    if plain.kind == "f":
        return real_default()
    return complex_default() if plain.kind == "c" else plain


def _new(shape: Any, dtype: Any, fill: Any, device: Any) -> Mat:
    return place(Mat(shape, real_default() if dtype is None else dtype, fill=fill), device)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Any:
    """`obj`, a Mat, an array, a buffer, a number or nested sequences of them, as a Mat.

    With ``copy=None`` Mats and arrays share their memory if they can; True always copies, False
    never: `ShapeError` or `DTypeError` where that cannot be. Python's numbers become bool, int64,
    and float64 and complex128 or what the settings say.

    >>> from mat import array_api as xp
    >>> xp.asarray([[1, 2], [3, 4]])
    <Mat 2x2 int64 A [[1 2] [3 4]]>
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(obj, Mat):
        return _of_mat(obj, wanted, device, copy)
    if copy is False and not _has_memory(obj):
        raise ShapeError(f"{type(obj).__name__} becomes an array by a copy only; copy=None allows "
                         "it")
    plain = np.asarray(_without_mats(obj))
    if wanted is None:
        wanted = as_dtype(plain.dtype.newbyteorder("=") if _has_memory(obj)
                          else _default_of(plain.dtype))
    elif plain.dtype.kind == "c" and wanted.kind != "c":
        raise DTypeError(f"complex numbers do not fit into {wanted}")
    return place(_of_array(plain, wanted, copy, _has_memory(obj)), device)


def _of_mat(x: Mat, dtype: np.dtype[Any] | None, device: Any, copy: Any) -> Mat:
    moves = device is not None and enabled_on(device) != x.device_enabled
    converts = dtype is not None and dtype != x.dtype
    if copy is False and (moves or converts):
        raise DTypeError(f"{x.label()} becomes {dtype or x.dtype} on {device or x.device} by a "
                         "copy only; copy=None allows it")
    if converts:
        return like(x.astype(dtype), x, device)
    return like(x.copy(), x, device) if copy or moves else x


def _has_memory(obj: Any) -> bool:
    """Whether `obj` is more than Python's own numbers and sequences."""
    return not isinstance(obj, bool | int | float | complex | list | tuple
                          | range) or isinstance(obj, np.generic)


def _of_array(a: np.ndarray[Any, Any], dtype: np.dtype[Any], copy: Any, shared: bool) -> Mat:
    """A Mat of `a`, which is ours unless `shared`."""
    if not shared:
        if dtype.kind in "iu" and a.size:
            check_number(a.min(), dtype, "an element")
            check_number(a.max(), dtype, "an element")
        return adopted(np.array(a, dtype, order="C"))
    fits = a.dtype == dtype and a.flags.aligned and not any(s % a.itemsize for s in a.strides)
    if copy is False and not fits:
        raise DTypeError(f"an array of {a.dtype} with strides {a.strides} becomes a Mat of {dtype} "
                         "by a copy only")
    return from_numpy(a) if fits and not copy else adopted(np.array(a, dtype, order="C"))


def _without_mats(obj: Any) -> Any:
    """`obj` with the Mats in it replaced by arrays."""
    if isinstance(obj, Mat):
        return obj.to_numpy()
    return [_without_mats(v) for v in obj] if isinstance(obj, list | tuple) else obj


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Mat:
    """Zeros."""
    return _new(shape, dtype, 0, device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Mat:
    """Ones."""
    return _new(shape, dtype, 1, device)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Mat:
    """Elements that are arbitrary until they are written."""
    return _new(shape, dtype, None, device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Mat:
    """`fill_value` everywhere; its kind decides the dtype, if none is given."""
    value = fill_value.item() if isinstance(fill_value,
                                            Mat | np.generic | np.ndarray) else fill_value
    check_number(value, np.dtype(np.complex128), "fill_value")
    return _new(shape, _default_of(np.asarray(value).dtype) if dtype is None else dtype, value,
                device)


def _filled_like(x: Any, dtype: Any, fill: Any, device: Any) -> Mat:
    x = as_mat(x)
    return like(Mat(x.shape, x.dtype if dtype is None else dtype, fill=fill), x, device)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Mat:
    """Zeros in the shape of `x`, and its dtype if none is given."""
    return _filled_like(x, dtype, 0, device)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Mat:
    """Ones in the shape of `x`, and its dtype if none is given."""
    return _filled_like(x, dtype, 1, device)


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Mat:
    """Arbitrary elements in the shape of `x`, and its dtype if none is given."""
    return _filled_like(x, dtype, None, device)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Mat:
    """`fill_value` everywhere in the shape of `x`, and its dtype if none is given."""
    value = fill_value.item() if isinstance(fill_value,
                                            Mat | np.generic | np.ndarray) else fill_value
    if value is None:
        raise DTypeError("fill_value must be a number, got None")
    return _filled_like(x, dtype, value, device)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None,
        device: Any = None) -> Mat:
    """Ones on the diagonal `k`, zeros elsewhere."""
    rows, columns = as_shape((n_rows, n_rows if n_cols is None else n_cols))
    wanted = real_default() if dtype is None else as_dtype(dtype)
    return place(adopted(np.eye(rows, columns, integer(k, "k"), dtype=wanted)), device)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None,
           device: Any = None) -> Mat:
    """The numbers from `start` (0 if it alone is given) up to, not including, `stop`, `step` apart;
    of integers integers.
    """
    first, last = interval(start, stop, step)
    if dtype is None:
        dtype = np.int64 if all(isinstance(v, int | np.integer)
                                for v in (first, last, step)) else real_default()
    return place(adopted(np.arange(first, last, step, dtype=as_dtype(dtype))), device)


def linspace(start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None,
             endpoint: bool = True) -> Mat:
    """`num` numbers from `start` to `stop`, at equal distances; without `stop` itself unless
    `endpoint`.
    """
    for name, value in (("start", start), ("stop", stop)):
        check_number(value, np.dtype(np.complex128), name)
    if dtype is None:
        dtype = complex_default() if isinstance(start,
                                                complex) or isinstance(stop, complex) else real_default()
    (length,) = as_shape(num)
    with np.errstate(all="ignore"):
        return place(adopted(np.linspace(start, stop, length, endpoint=bool(endpoint),
                                         dtype=as_dtype(dtype))), device)


def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[Mat, ...]:
    """For each 1-d array one of the grid that all span, with its coordinates there; see
    ``numpy.meshgrid`` for `indexing`.
    """
    if indexing not in ("xy", "ij"):
        raise SettingError(f"indexing is 'xy' or 'ij', got {indexing!r}")
    lines = [as_mat(a).reshape(-1) for a in arrays]
    if len({m.dtype for m in lines}) > 1:
        raise DTypeError("meshgrid wants arrays of one dtype, got "
                         f"{', '.join(str(m.dtype) for m in lines)}")
    count = len(lines)
    grid = [m.reshape((1,) * k + (-1,) + (1,) * (count - k - 1)) for k, m in enumerate(lines)]
    wide = broadcast_arrays(*grid)
    return tuple((m.swapaxes(0, 1) if indexing == "xy" and count > 1 else m).copy() for m in wide)


def tril(x: Any, /, *, k: int = 0) -> Any:
    """`x` with zeros above the diagonal `k` of its last two axes."""
    return by_numpy(np.tril, _matrices("tril", x), integer(k, "k"))


def triu(x: Any, /, *, k: int = 0) -> Any:
    """`x` with zeros below the diagonal `k` of its last two axes."""
    return by_numpy(np.triu, _matrices("triu", x), integer(k, "k"))


def _matrices(name: str, x: Any) -> Any:
    x = as_mat(x)
    if x.ndim < 2:
        raise ShapeError(f"{name} wants at least two axes, got shape {x.shape}")
    return x
