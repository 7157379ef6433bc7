"""NumPy's functions that create an array like another one."""

from __future__ import annotations

from functools import partial

import numpy as np

from ....core.compiled import IN_USE
from ....errors import DTypeError
from ....matrix.filled import empty_like, full, full_like, ones_like, zeros_like
from ....matrix.mat import Mat
from ....ops.arrangement import triangle
from ....support.dtypes import represents
from ....support.types import DTypeLike, Function, Operand, ShapeLike
from ..operands import is_known_dtype
from ..registry import Result, implements
from .there import is_there

# The fields of records that argmax and argmin of dask.array make of the extremes of chunks, with
# places. Where this raises TypeError they use dicts instead, of Mats, which stay on a device.
_PLACES_OF_DASK = ("vals", "arg")


def _filled_like(function: Function, a: Operand, dtype: DTypeLike, order: str,
                 shape: ShapeLike | None, device: object) -> Result:
    if not isinstance(a, Mat) or device not in (None, "cpu"):
        return NotImplemented
    if dtype is not None and not is_known_dtype(np.dtype(dtype)):
        return NotImplemented
    return function(a, dtype=dtype, order=order, shape=shape)


@implements("zeros_like")
def numpy_zeros_like(a: Operand, dtype: DTypeLike = None, order: str = "K", subok: bool = True,
                     shape: ShapeLike | None = None, *, device: object = None) -> Result:
    return _filled_like(zeros_like, a, dtype, order, shape, device)


@implements("ones_like")
def numpy_ones_like(a: Operand, dtype: DTypeLike = None, order: str = "K", subok: bool = True,
                    shape: ShapeLike | None = None, *, device: object = None) -> Result:
    return _filled_like(ones_like, a, dtype, order, shape, device)


@implements("empty_like")
def numpy_empty_like(a: Operand, dtype: DTypeLike = None, order: str = "K", subok: bool = True,
                     shape: ShapeLike | None = None, *, device: object = None) -> Result:
    if dtype is not None and np.dtype(dtype).names == _PLACES_OF_DASK and isinstance(a, Mat):
        raise DTypeError(f"Mats have no fields {_PLACES_OF_DASK}; make a Mat for each")
    return _filled_like(empty_like, a, dtype, order, shape, device)


@implements("full_like", of_many=True)  # NumPy's signature
def numpy_full_like(a: Operand, fill_value: Operand, dtype: DTypeLike = None, order: str = "K",
                    subok: bool = True, shape: ShapeLike | None = None, *,
                    device: object = None) -> Result:
    kind = a.dtype if dtype is None and isinstance(a, Mat) else np.dtype(dtype)
    if is_there(a) and isinstance(fill_value, Mat) and np.can_cast(fill_value.dtype, kind,
                                                                   "same_kind"):
        found = _filled_like(empty_like, a, dtype, order, shape, device)
        return found if found is NotImplemented else found.assign_(fill_value)
    plain = type(fill_value) is float and kind.kind == "f"
    if not plain and not (type(fill_value) is int and kind.kind in "iuf"
                          and represents(kind, fill_value)):
        return NotImplemented
    return _filled_like(partial(full_like, fill_value=fill_value), a, dtype, order, shape, device)


@implements("tri")
def numpy_tri(N: int, M: int | None = None, k: int = 0,  # noqa: N803  # NumPy's names
              dtype: DTypeLike = float, *, like: object = None) -> Result:
    columns = N if M is None else M
    if not IN_USE or not all(type(n) is int for n in (N, columns, k)) or min(N, columns) < 0 or (
            not is_known_dtype(np.dtype(dtype))):
        return NotImplemented
    return triangle(full((N, columns), 1, np.dtype(dtype)), k, False)
