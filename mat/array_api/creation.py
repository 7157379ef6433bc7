"""Creation of arrays by the standard's functions, in default dtypes and on the device in use."""

from __future__ import annotations

import numpy as np

from ..devices.device import DeviceLike
from ..errors import DTypeError, RangeError, SettingError, ShapeError
from ..layout.shapes import LARGEST, as_shape, integer
from ..matrix.creation import adopted
from ..matrix.filled import eye as matrix_eye
from ..matrix.mat import Mat
from ..matrix.ranges import interval
from ..ops.arrangement import triangle
from ..support.dtypes import as_dtype, check_number
from ..support.types import Array, ArrayLike, DType, DTypeLike, Number, Scalar, ShapeLike
from .arguments import (
    complex_default,
    default_of,
    like,
    mat_of,
    number_of,
    on_device,
    real_default,
)
from .manipulation import broadcast_arrays

__all__ = [
    "arange", "empty", "empty_like", "eye", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]


def _new(shape: ShapeLike, dtype: DTypeLike, fill: Number, device: object) -> Mat:
    return on_device(Mat(shape, real_default() if dtype is None else dtype, fill=fill), device)


def zeros(shape: ShapeLike, *, dtype: DTypeLike = None, device: DeviceLike = None) -> Mat:
    """Return a Mat of zeros.

    Parameters
    ----------
    shape : int or tuple of int
        Lengths of the axes.
    dtype : dtype, optional
        The default dtype of real numbers if None.
    device : str or Device, optional
        ``"cpu"``, or the device in use (default).

    Returns
    -------
    Mat
        Of that shape.
    """
    return _new(shape, dtype, 0, device)


def ones(shape: ShapeLike, *, dtype: DTypeLike = None, device: DeviceLike = None) -> Mat:
    """Return a Mat of ones.

    Parameters
    ----------
    shape : int or tuple of int
        Lengths of the axes.
    dtype : dtype, optional
        The default dtype of real numbers if None.
    device : str or Device, optional
        ``"cpu"``, or the device in use (default).

    Returns
    -------
    Mat
        Of that shape.
    """
    return _new(shape, dtype, 1, device)


def empty(shape: ShapeLike, *, dtype: DTypeLike = None, device: DeviceLike = None) -> Mat:
    """Return a Mat whose elements are arbitrary until they are written.

    Parameters
    ----------
    shape : int or tuple of int
        Lengths of the axes.
    dtype : dtype, optional
        The default dtype of real numbers if None.
    device : str or Device, optional
        ``"cpu"``, or the device in use (default).

    Returns
    -------
    Mat
        Of that shape.
    """
    return _new(shape, dtype, None, device)


def full(shape: ShapeLike, fill_value: Scalar, *, dtype: DTypeLike = None,
         device: DeviceLike = None) -> Mat:
    """Return a Mat whose elements are all `fill_value`.

    Parameters
    ----------
    shape : int or tuple of int
        Lengths of the axes.
    fill_value : number
        The value, also as an array without axes.
    dtype : dtype, optional
        The default dtype of the value's kind if None.
    device : str or Device, optional
        ``"cpu"``, or the device in use (default).

    Returns
    -------
    Mat
        Of that shape.
    """
    value = _as_number(fill_value)
    check_number(value, np.dtype(np.complex128), "fill_value")
    return _new(shape, default_of(np.asarray(value).dtype) if dtype is None else dtype, value,
                device)


def _as_number(value: ArrayLike) -> Number:
    """Return a number, which may also be given as an array or a Mat of one element."""
    return value.item() if isinstance(value, Mat | np.generic | np.ndarray) else value


def _filled_like(x: ArrayLike, dtype: DTypeLike, fill: Number, device: object) -> Mat:
    x = mat_of(x)
    return like(Mat(x.shape, x.dtype if dtype is None else dtype, fill=fill), x, device)


def zeros_like(x: ArrayLike, /, *, dtype: DTypeLike = None, device: DeviceLike = None) -> Mat:
    """Return zeros in the shape of `x`.

    Parameters
    ----------
    x : array
        Of any shape.
    dtype : dtype, optional
        That of `x` by default.
    device : str or Device, optional
        ``"cpu"``, or the device in use; that of `x` by default.

    Returns
    -------
    Mat
        Of the shape of `x`.
    """
    return _filled_like(x, dtype, 0, device)


def ones_like(x: ArrayLike, /, *, dtype: DTypeLike = None, device: DeviceLike = None) -> Mat:
    """Return ones in the shape of `x`.

    Parameters
    ----------
    x : array
        Of any shape.
    dtype : dtype, optional
        That of `x` by default.
    device : str or Device, optional
        ``"cpu"``, or the device in use; that of `x` by default.

    Returns
    -------
    Mat
        Of the shape of `x`.
    """
    return _filled_like(x, dtype, 1, device)


def empty_like(x: ArrayLike, /, *, dtype: DTypeLike = None, device: DeviceLike = None) -> Mat:
    """Return arbitrary elements in the shape of `x`.

    Parameters
    ----------
    x : array
        Of any shape.
    dtype : dtype, optional
        That of `x` by default.
    device : str or Device, optional
        ``"cpu"``, or the device in use; that of `x` by default.

    Returns
    -------
    Mat
        Of the shape of `x`.
    """
    return _filled_like(x, dtype, None, device)


def full_like(x: ArrayLike, /, fill_value: Scalar, *, dtype: DTypeLike = None,
              device: DeviceLike = None) -> Mat:
    """Return a Mat in the shape of `x` whose elements are all `fill_value`.

    Parameters
    ----------
    x : array
        Of any shape.
    fill_value : number
        The value, also as an array without axes.
    dtype : dtype, optional
        That of `x` by default.
    device : str or Device, optional
        ``"cpu"``, or the device in use; that of `x` by default.

    Returns
    -------
    Mat
        Of the shape of `x`.
    """
    value = _as_number(fill_value)
    if value is None:
        raise DTypeError("fill_value must be a number, got None")
    return _filled_like(x, dtype, value, device)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DTypeLike = None,
        device: DeviceLike = None) -> Mat:
    """Return a matrix with ones on the diagonal `k` and zeros elsewhere.

    Parameters
    ----------
    n_rows, n_cols : int
        Its size; square if `n_cols` is None.
    k : int
        The diagonal: above the main one if positive, below if negative.
    dtype : dtype, optional
        The default dtype of real numbers if None.
    device : str or Device, optional
        ``"cpu"``, or the device in use (default).

    Returns
    -------
    Mat
        Of shape ``(n_rows, n_cols)``.
    """
    rows, columns = as_shape((n_rows, n_rows if n_cols is None else n_cols))
    wanted = real_default() if dtype is None else as_dtype(dtype)
    return matrix_eye(rows, columns, k, wanted, device=device)


def arange(start: Scalar, /, stop: Scalar | None = None, step: Scalar = 1, *,
           dtype: DTypeLike = None, device: DeviceLike = None) -> Mat:
    """Return the numbers from `start` up to, not including, `stop`, in steps of `step`.

    Parameters
    ----------
    start, stop : number
        The range; from 0 to `start` if `stop` is None.
    step : number
        The difference of neighbours, not 0.
    dtype : dtype, optional
        int64 if all are integers, else the default dtype of real numbers, if None.
    device : str or Device, optional
        ``"cpu"``, or the device in use (default).

    Returns
    -------
    Mat
        A vector.
    """
    first, last, step = map(number_of, (start, stop, step))
    first, last = interval(first, last, step)
    if dtype is None:
        whole = all(isinstance(v, int | np.integer) for v in (first, last, step))
        dtype = np.int64 if whole else real_default()
    return on_device(adopted(_counted(first, last, step, as_dtype(dtype))), device)


def _counted(first: Number, last: Number, step: Number, dtype: DType) -> Array:
    """Return ``numpy.arange`` of numbers that `interval` has checked, converted to `dtype`."""
    for name, value in (("start", first), ("stop", last), ("step", step)):
        if dtype.kind in "iu" and not -(2**63) <= value < 2**64:
            raise RangeError(f"{name} is {value!r}, too large for {dtype}")
    # of integers beyond int64, NumPy refuses ranges without elements
    nothing = first >= last if step > 0 else first <= last
    return np.empty(0, dtype) if nothing else np.arange(first, last, step).astype(dtype)


def linspace(start: Scalar, stop: Scalar, /, num: int, *, dtype: DTypeLike = None,
             device: DeviceLike = None, endpoint: bool = True) -> Mat:
    """Return `num` numbers from `start` to `stop`, at equal distances.

    Parameters
    ----------
    start, stop : number
        The interval.
    num : int
        The number of elements.
    dtype : dtype, optional
        The default dtype of real or complex numbers if None.
    device : str or Device, optional
        ``"cpu"``, or the device in use (default).
    endpoint : bool
        Whether `stop` itself is the last element.

    Returns
    -------
    Mat
        A vector of length `num`.
    """
    start, stop = number_of(start), number_of(stop)
    for name, value in (("start", start), ("stop", stop)):
        check_number(value, np.dtype(np.complex128), name)
    if dtype is None:
        is_complex = isinstance(start, complex) or isinstance(stop, complex)
        dtype = complex_default() if is_complex else real_default()
    # NumPy computes with Python's integers where int64 cannot hold them
    start, stop = (float(v) if isinstance(v, int) and abs(v) > LARGEST else v
                   for v in (start, stop))
    (length,) = as_shape(num)
    with np.errstate(all="ignore"):
        a = np.linspace(start, stop, length, endpoint=bool(endpoint), dtype=as_dtype(dtype))
    return on_device(adopted(a), device)


def meshgrid(*arrays: ArrayLike, indexing: str = "xy") -> tuple[Mat, ...]:
    """Return the coordinates of a grid: for each vector, its elements along its axis of the grid.

    Parameters
    ----------
    *arrays : array
        Vectors of one dtype.
    indexing : {"xy", "ij"}
        ``"ij"``: axis k of the grid is that of vector k; ``"xy"``: the first two are exchanged.

    Returns
    -------
    tuple of Mat
        One for each vector, all of the shape of the grid.
    """
    if indexing not in ("xy", "ij"):
        raise SettingError(f"indexing is 'xy' or 'ij', got {indexing!r}")
    lines = [mat_of(a).reshape(-1) for a in arrays]
    if len({m.dtype for m in lines}) > 1:
        raise DTypeError("meshgrid wants arrays of one dtype, got "
                         f"{', '.join(str(m.dtype) for m in lines)}")
    count = len(lines)
    grid = [m.reshape((1,) * k + (-1,) + (1,) * (count - k - 1)) for k, m in enumerate(lines)]
    wide = broadcast_arrays(*grid)
    return tuple((m.swapaxes(0, 1) if indexing == "xy" and count > 1 else m).copy() for m in wide)


def tril(x: ArrayLike, /, *, k: int = 0) -> Mat:
    """Return `x` with zeros above the diagonal `k` of its last two axes.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).
    k : int
        The diagonal: above the main one if positive, below if negative.

    Returns
    -------
    Mat
        Of the shape of `x`.
    """
    return triangle(_as_matrices("tril", x), integer(k, "k"), upper=False)


def triu(x: ArrayLike, /, *, k: int = 0) -> Mat:
    """Return `x` with zeros below the diagonal `k` of its last two axes.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).
    k : int
        The diagonal: above the main one if positive, below if negative.

    Returns
    -------
    Mat
        Of the shape of `x`.
    """
    return triangle(_as_matrices("triu", x), integer(k, "k"), upper=True)


def _as_matrices(name: str, x: ArrayLike) -> Mat:
    mat = mat_of(x)
    if mat.ndim < 2:
        raise ShapeError(f"{name} wants at least two axes, got shape {mat.shape}")
    return mat
