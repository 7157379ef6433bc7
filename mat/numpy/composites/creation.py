"""NumPy's functions that create an array like another one, copy or convert it, or have numbers at
equal distances or ratios between arrays.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ...devices.device import DeviceLike
from ...devices.in_use import computes_elsewhere
from ...errors import DTypeError
from ...matrix.creation import adopted, from_numpy
from ...matrix.filled import empty_like, full, full_like, ones_like, zeros_like
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.primitives import elementwise, reduce
from ...ops.primitives.arrangement import triangle
from ...support.dtypes import is_known_dtype, represents
from ...support.plugins import at_first_use
from ...support.types import DTypeLike, Function, Number, Operand, ShapeLike
from ..operands import REAL, as_dtype, as_floats, is_there, keeps_parts, mats_there, with_axis_moved
from ..registry import ON_HOST, Result, implements
from ..short_calls import real_parts

ufuncs = at_first_use("ops.primitives.ufuncs")
# The fields of records that argmax and argmin of dask.array make of the extremes of chunks, with
# places. Where this raises TypeError they use dicts instead, of Mats, which stay on a device.
_PLACES_OF_DASK = ("vals", "arg")


def _filled_like(function: Function) -> Function:
    """Return the function of Mats that are filled, of the form of another one."""
    def filled_like(a: Mat, dtype: DTypeLike = None, order: str = "K", subok: bool = True,
                    shape: ShapeLike | None = None, *, device: object = None) -> Result:
        if dtype is not None:
            kind = np.dtype(dtype)
            if function is empty_like and kind.names == _PLACES_OF_DASK:
                raise DTypeError(f"Mats have no fields {_PLACES_OF_DASK}; make a Mat for each")
            leave_if(not is_known_dtype(kind))
        leave_if(device not in (None, "cpu"))
        return function(a, dtype=dtype, order=order, shape=shape)

    return filled_like


implements("zeros_like")(_filled_like(zeros_like))
implements("ones_like")(_filled_like(ones_like))
numpy_empty_like = implements("empty_like")(_filled_like(empty_like))


@implements("full_like", of_many=True)  # NumPy's signature
def numpy_full_like(a: Operand, fill_value: Operand, dtype: DTypeLike = None, order: str = "K",
                    subok: bool = True, shape: ShapeLike | None = None, *,
                    device: object = None) -> Result:
    kind = a.dtype if dtype is None else np.dtype(dtype)
    if is_there(a) and isinstance(fill_value, Mat) and np.can_cast(fill_value.dtype, kind,
                                                                   "same_kind"):
        return numpy_empty_like(a, dtype, order, shape=shape, device=device).assign_(fill_value)
    plain = type(fill_value) is float and kind.kind == "f"
    leave_if(not plain
             and not (type(fill_value) is int and kind.kind in "iuf" and represents(kind,
             fill_value)))
    filled = _filled_like(partial(full_like, fill_value=fill_value))
    return filled(a, dtype, order, shape=shape, device=device)


@implements("frombuffer", mats=0)
def numpy_frombuffer(buffer: Operand, dtype: DTypeLike = float, count: int = -1, offset: int = 0,
                     *, like: object = None) -> Result:
    leave_if(isinstance(buffer, Mat))  # it could not be written as long as the result exists
    found = np.frombuffer(buffer, dtype, count, offset)
    leave_if(not is_known_dtype(found.dtype) or not found.flags.aligned)
    return from_numpy(found)


ON_HOST.add(np.frombuffer)


@implements("tri", mats=0)
def numpy_tri(N: int, M: int | None = None, k: int = 0,  # noqa: N803  # NumPy's names
              dtype: DTypeLike = float, *, like: object = None) -> Result:
    columns = N if M is None else M
    leave_if(not computes_elsewhere() or not all(type(n) is int for n in (N, columns, k)))
    leave_if(min(N, columns) < 0 or not is_known_dtype(np.dtype(dtype)))
    return triangle(full((N, columns), 1, np.dtype(dtype)), k, False)


implements("copy")(lambda a, order="K", subok=False: a.copy(order))


@implements("astype")
def numpy_astype(x: Mat, dtype: DTypeLike, /, *, copy: bool = True,
                 device: DeviceLike = None) -> Result:
    wanted = np.dtype(dtype)
    leave_if(not keeps_parts(x, wanted))
    x = x if device is None else x.to_device(device)
    return x if not copy and x.dtype == wanted else x.astype(wanted)


@implements("asarray", "asanyarray", "ascontiguousarray")
def numpy_asarray(a: Operand, dtype: DTypeLike = None, order: str | None = None, *,
                  device: object = None, copy: bool | None = None) -> Result:
    same = (dtype is None or np.dtype(dtype) == a.dtype) and order in (None, "K", "A") and not copy
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


implements("transpose", "permute_dims")(lambda a, axes=None: a.transpose(axes))


@implements("broadcast_arrays", mats=0)
def numpy_broadcast_arrays(*args: Operand, subok: bool = False) -> Result:
    """Present Mats among arrays as arrays.

    NumPy's results are to be read only, and callers that mix arrays and Mats, as zarr does, use
    methods of arrays on them.
    """
    leave_if(all(isinstance(x, Mat) for x in args))
    return np.broadcast_arrays(*map(np.asarray, args), subok=subok)


implements("real")(lambda val: real_parts(val))
implements("imag")(lambda val: val.imag)


# Numbers at equal distances


def spaced(start: Operand, stop: Operand, num: int, endpoint: bool) -> Mat:
    """Return so many numbers from `start` to `stop`, one of them a Mat, along a new first axis."""
    delta = elementwise.subtract(stop, start)
    count = num - 1 if endpoint else num
    steps = adopted(np.arange(num, dtype=delta.dtype).reshape(-1, *(1,) * delta.ndim))
    along = steps * delta if count <= 0 else steps * (delta / count)
    found: Mat = along + start
    if endpoint and num > 1:
        last = stop if isinstance(stop, Mat) else delta * 0 + stop
        found[-1] = as_dtype(last.broadcast_to(delta.shape), found.dtype)
    return found


def _ends(start: Operand, stop: Operand, *known: bool) -> list[Mat]:
    """Return both ends in one dtype of real numbers, if all is `known`."""
    leave_if(not all(known))
    mats = mats_there(start, stop)
    leave_if(any(m.dtype.kind not in "iuf" for m in mats))
    # Python's numbers adapt
    dtype = np.result_type(*(v if type(v) in REAL else m.dtype
                             for v, m in zip((start, stop), mats, strict=True)), 0.0)
    leave_if(dtype.char not in "fd")
    return [as_dtype(as_floats(m), dtype) for m in mats]


def _placed(found: Mat, axis: int, dtype: DTypeLike) -> Result:
    leave_if(dtype is not None and np.dtype(dtype).kind != "f")
    moved = with_axis_moved(found, 0, axis) if axis else found
    return moved if dtype is None else as_dtype(moved, np.dtype(dtype))


# the parameters are NumPy's
@implements("linspace", mats=0)
def numpy_linspace(start: Operand, stop: Operand, num: int = 50, endpoint: bool = True,
                   retstep: bool = False, dtype: DTypeLike = None, axis: int = 0, *,
                   device: object = None) -> Result:
    ends = _ends(start, stop, type(num) is int, not retstep, type(axis) is int)
    leave_if(num < 0 or device not in (None, "cpu"))
    return _placed(spaced(ends[0], ends[1], num, bool(endpoint)), axis, dtype)


# the parameters are NumPy's
@implements("logspace", mats=0)
def numpy_logspace(start: Operand, stop: Operand, num: int = 50, endpoint: bool = True,
                   base: Number = 10.0, dtype: DTypeLike = None, axis: int = 0) -> Result:
    leave_if(type(base) not in REAL)
    found = numpy_linspace(start, stop, num, endpoint, axis=axis)
    return _placed(elementwise.pow(base, found), 0, dtype)


@implements("geomspace", mats=0)
def numpy_geomspace(start: Operand, stop: Operand, num: int = 50, endpoint: bool = True,
                    dtype: DTypeLike = None, axis: int = 0) -> Result:
    ends = [as_dtype(m, np.dtype(np.float64))
            for m in _ends(start, stop, type(num) is int, type(axis) is int)]
    # also of zeros, which NumPy refuses
    leave_if(num < 0 or not all(bool(reduce.all_true(m)) for m in ends))
    sign = elementwise.sign(ends[0])
    first, last = (m / sign for m in ends)
    logs = spaced(ufuncs.log10(first), ufuncs.log10(last), num, bool(endpoint))
    inside: Mat = elementwise.pow(10.0, logs)
    first, last = (m.broadcast_to(inside.shape[1:]) for m in (first, last))
    if num:
        inside[0] = first
    if num > 1 and endpoint:
        inside[-1] = last
    return _placed(inside * sign, axis, dtype)
