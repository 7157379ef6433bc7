"""Conversion of Python's objects and other libraries' arrays to Mats, which copy or share their
memory.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..core.compiled import IN_USE
from ..devices.device import DeviceLike, enabled_on
from ..errors import DTypeError, ShapeError
from ..interop.dlpack import from_dlpack as _from_dlpack
from ..matrix.creation import adopted, from_numpy
from ..matrix.mat import Mat
from ..support.dtypes import as_dtype, check_number
from ..support.types import Array, ArrayLike, ArraySource, DType, DTypeLike, Nested, Number
from .arguments import default_of, like, on_device

__all__ = ["asarray", "from_dlpack"]


def from_dlpack(x: ArrayLike, /, *, device: DeviceLike = None, copy: bool | None = None) -> Mat:
    """Return a Mat over the memory of the array `x` of another library; see ``mat.from_dlpack``.

    Parameters
    ----------
    x : object with ``__dlpack__``
        An array of any library.
    device : str or Device, optional
        Where operations on the Mat compute: ``"cpu"``, for which data of a GPU is copied to the
        host, or the device in use (default).
    copy : bool, optional
        None: copy only if necessary. True: always copy. False: never.

    Returns
    -------
    Mat
        Of the array's shape and dtype.
    """
    if isinstance(x, Mat):
        return like(_from_dlpack(x, copy=copy), x, device)
    target: Literal["cpu"] | None = "cpu" if device is not None and not enabled_on(device) else None
    return on_device(_from_dlpack(x, device=target, copy=copy), device)


def asarray(obj: ArraySource, /, *, dtype: DTypeLike = None, device: DeviceLike = None,
            copy: bool | None = None) -> Mat:
    """Return the elements of `obj` as a Mat.

    Parameters
    ----------
    obj : Mat, array, buffer, number, or nested sequences of them
        The elements.
    dtype : dtype, optional
        That of `obj` by default; Python's numbers become bool, int64, and the settings' dtypes or
        float64 and complex128.
    device : str or Device, optional
        ``"cpu"``, or the device in use (default).
    copy : bool, optional
        None: share the memory of Mats and arrays if possible. True: always copy. False: never.

    Returns
    -------
    Mat
        `obj` itself, a Mat that shares its memory, or a copy.

    Raises
    ------
    ShapeError, DTypeError
        If `copy` is False and a copy is needed, and for elements that are no numbers.

    Examples
    --------
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
    if IN_USE and not plain.ndim and not _has_memory(obj):
        return _of_number(plain.item(), wanted or as_dtype(default_of(plain.dtype)), device)
    if wanted is None:
        wanted = as_dtype(plain.dtype.newbyteorder("=") if _has_memory(obj)
                          else default_of(plain.dtype))
    elif plain.dtype.kind == "c" and wanted.kind not in "cb":
        raise DTypeError(f"complex numbers do not fit into {wanted}")
    return on_device(_of_array(plain, wanted, copy, _has_memory(obj)), device)


def _of_number(value: Number, dtype: DType, device: object) -> Mat:
    """Return a Mat without axes, which a device fills itself."""
    if dtype.kind in "iu" and not isinstance(value, complex):
        check_number(value, dtype, "an element")
        value = int(value)
    elif isinstance(value, complex) and dtype.kind not in "cb":
        raise DTypeError(f"complex numbers do not fit into {dtype}")
    elif dtype.kind == "b":
        value = bool(value)
    return on_device(Mat((), dtype, fill=value), device)


def _of_mat(x: Mat, dtype: DType | None, device: object, copy: bool | None) -> Mat:
    moves = device is not None and enabled_on(device) != x.device_enabled
    converts = dtype is not None and dtype != x.dtype
    if copy is False and (moves or converts):
        raise DTypeError(f"{x.label()} becomes {dtype or x.dtype} on {device or x.device} by a "
                         "copy only; copy=None allows it")
    if converts:
        return like(x.astype(dtype), x, device)
    return like(x.copy(), x, device) if copy or moves else x


def _has_memory(obj: Nested) -> bool:
    """Return whether `obj` is more than Python's own numbers and sequences."""
    plain = isinstance(obj, bool | int | float | complex | list | tuple | range)
    return not plain or isinstance(obj, np.generic)


def _of_array(a: Array, dtype: DType, copy: bool | None, shared: bool) -> Mat:
    """Return a Mat of `a`, whose memory belongs to the caller if `shared`."""
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


def _without_mats(obj: Nested) -> Nested:
    """Return `obj` with the Mats in it replaced by arrays."""
    if isinstance(obj, Mat):
        return obj.to_numpy()
    return [_without_mats(v) for v in obj] if isinstance(obj, list | tuple) else obj
