"""NumPy's functions that create an array like another one."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...devices.in_use import computes_elsewhere
from ...errors import DTypeError
from ...matrix.filled import empty_like, full, full_like, ones_like, zeros_like
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.primitives.arrangement import triangle
from ...support.dtypes import is_known_dtype, represents
from ...support.types import DTypeLike, Function, Operand, ShapeLike
from ..registry import Result, implements
from .there import is_there

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


@implements("tri", mats=0)
def numpy_tri(N: int, M: int | None = None, k: int = 0,  # noqa: N803  # NumPy's names
              dtype: DTypeLike = float, *, like: object = None) -> Result:
    columns = N if M is None else M
    leave_if(not computes_elsewhere() or not all(type(n) is int for n in (N, columns, k)))
    leave_if(min(N, columns) < 0 or not is_known_dtype(np.dtype(dtype)))
    return triangle(full((N, columns), 1, np.dtype(dtype)), k, False)
