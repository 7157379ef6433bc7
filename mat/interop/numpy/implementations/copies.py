"""NumPy's functions that copy or convert an array, or return views that are not always Mats."""

from __future__ import annotations

import numpy as np

from ....devices.device import DeviceLike
from ....matrix.mat import Mat
from ....support.types import AxisLike, DTypeLike, Operand, ShapeLike
from ..operands import is_known_dtype
from ..registry import Result, implements


@implements("copy")
def numpy_copy(a: Mat, order: str = "K", subok: bool = False) -> Result:
    return a.copy(order)


@implements("astype")
def numpy_astype(x: Mat, dtype: DTypeLike, /, *, copy: bool = True,
                 device: DeviceLike = None) -> Result:
    if not isinstance(x, Mat):
        return NotImplemented
    wanted = np.dtype(dtype)
    if not is_known_dtype(wanted) or (x.dtype.kind == "c" and wanted.kind != "c"):
        return NotImplemented
    x = x if device is None else x.to_device(device)
    return x if not copy and x.dtype == wanted else x.astype(wanted)


@implements("asarray", "asanyarray", "ascontiguousarray")
def numpy_asarray(a: Operand, dtype: DTypeLike = None, order: str | None = None, *,
                  device: object = None, copy: bool | None = None) -> Result:
    same = (isinstance(a, Mat) and (dtype is None or np.dtype(dtype) == a.dtype)
            and order in (None, "K", "A") and not copy)
    return a if same else NotImplemented


# Views


@implements("reshape")
def numpy_reshape(a: Operand, /, shape: ShapeLike, order: str | None = "C", *,
                  copy: bool | None = None) -> Result:
    return (a.reshape(shape, order=order, copy=copy) if isinstance(a, Mat)
            else NotImplemented)


@implements("ravel")
def numpy_ravel(a: Operand, order: str | None = "C") -> Result:
    if type(a) is Mat and order == "C" and a.layout.contiguous:
        return a.reshape(a.layout.size)
    return a.ravel(order) if isinstance(a, Mat) else NotImplemented


@implements("transpose", "permute_dims")
def numpy_transpose(a: Operand, axes: AxisLike = None) -> Result:
    return a.transpose(axes) if isinstance(a, Mat) else NotImplemented


@implements("broadcast_arrays")
def numpy_broadcast_arrays(*args: Operand, subok: bool = False) -> Result:
    """Present Mats among arrays as arrays.

    NumPy's results are to be read only, and callers that mix arrays and Mats, as zarr does, use
    methods of arrays on them.
    """
    if all(isinstance(x, Mat) for x in args):
        return NotImplemented
    return np.broadcast_arrays(*map(np.asarray, args), subok=subok)


@implements("real")
def numpy_real(val: Operand) -> Result:
    if not isinstance(val, Mat):
        return NotImplemented
    return val.real if val.dtype.kind == "c" else val.over(val.layout)


@implements("imag")
def numpy_imag(val: Operand) -> Result:
    return val.imag if isinstance(val, Mat) else NotImplemented
