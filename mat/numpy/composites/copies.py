"""NumPy's functions that copy or convert an array, or return views that are not always Mats."""

from __future__ import annotations

import numpy as np

from ...devices.device import DeviceLike
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...support.dtypes import is_known_dtype
from ...support.types import AxisLike, DTypeLike, Operand, ShapeLike
from ..registry import Result, implements


@implements("copy")
def numpy_copy(a: Mat, order: str = "K", subok: bool = False) -> Result:
    return a.copy(order)


@implements("astype")
def numpy_astype(x: Mat, dtype: DTypeLike, /, *, copy: bool = True,
                 device: DeviceLike = None) -> Result:
    wanted = np.dtype(dtype)
    leave_if(not is_known_dtype(wanted) or (x.dtype.kind == "c" and wanted.kind != "c"))
    x = x if device is None else x.to_device(device)
    return x if not copy and x.dtype == wanted else x.astype(wanted)


@implements("asarray", "asanyarray", "ascontiguousarray")
def numpy_asarray(a: Operand, dtype: DTypeLike = None, order: str | None = None, *,
                  device: object = None, copy: bool | None = None) -> Result:
    same = ((dtype is None or np.dtype(dtype) == a.dtype)
            and order in (None, "K", "A") and not copy)
    leave_if(not same)
    return a


# Views


@implements("reshape")
def numpy_reshape(a: Operand, /, shape: ShapeLike, order: str | None = "C", *,
                  copy: bool | None = None) -> Result:
    return a.reshape(shape, order=order, copy=copy)


@implements("ravel")
def numpy_ravel(a: Operand, order: str | None = "C") -> Result:
    if type(a) is Mat and order == "C" and a.layout.contiguous:
        return a.reshape(a.layout.size)
    return a.ravel(order)


@implements("transpose", "permute_dims")
def numpy_transpose(a: Operand, axes: AxisLike = None) -> Result:
    return a.transpose(axes)


@implements("broadcast_arrays", mats=0)
def numpy_broadcast_arrays(*args: Operand, subok: bool = False) -> Result:
    """Present Mats among arrays as arrays.

    NumPy's results are to be read only, and callers that mix arrays and Mats, as zarr does, use
    methods of arrays on them.
    """
    leave_if(all(isinstance(x, Mat) for x in args))
    return np.broadcast_arrays(*map(np.asarray, args), subok=subok)


@implements("real")
def numpy_real(val: Operand) -> Result:
    return val.real if val.dtype.kind == "c" else val.over(val.layout)


@implements("imag")
def numpy_imag(val: Operand) -> Result:
    return val.imag
