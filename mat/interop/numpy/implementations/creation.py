"""NumPy's functions that create an array like another one."""

from __future__ import annotations

import numpy as np

from ....matrix.mat import Mat
from ....support.dtypes import as_dtype
from ....support.types import DTypeLike, Number, Operand, ShapeLike
from ..operands import is_known_dtype
from ..registry import Result, implements


def _filled_like(a: Operand, fill: Number, dtype: DTypeLike, shape: ShapeLike | None,
                 device: object) -> Result:
    if not isinstance(a, Mat) or device not in (None, "cpu"):
        return NotImplemented
    if dtype is not None and not is_known_dtype(np.dtype(dtype)):
        return NotImplemented
    found = Mat(a.shape if shape is None else shape, a.dtype if dtype is None else as_dtype(dtype),
                fill=fill)
    found.device_enabled = a.device_enabled
    return found


@implements("zeros_like")
def numpy_zeros_like(a: Operand, dtype: DTypeLike = None, order: str = "K", subok: bool = True,
                     shape: ShapeLike | None = None, *, device: object = None) -> Result:
    return _filled_like(a, 0, dtype, shape, device)


@implements("ones_like")
def numpy_ones_like(a: Operand, dtype: DTypeLike = None, order: str = "K", subok: bool = True,
                    shape: ShapeLike | None = None, *, device: object = None) -> Result:
    return _filled_like(a, 1, dtype, shape, device)


@implements("empty_like")
def numpy_empty_like(a: Operand, dtype: DTypeLike = None, order: str = "K", subok: bool = True,
                     shape: ShapeLike | None = None, *, device: object = None) -> Result:
    return _filled_like(a, None, dtype, shape, device)


@implements("full_like")  # NumPy's signature
def numpy_full_like(a: Operand, fill_value: Operand, dtype: DTypeLike = None, order: str = "K",
                    subok: bool = True, shape: ShapeLike | None = None, *,
                    device: object = None) -> Result:
    kind = a.dtype if dtype is None and isinstance(a, Mat) else np.dtype(dtype)
    if type(fill_value) is not float or kind.kind != "f":
        return NotImplemented
    return _filled_like(a, fill_value, dtype, shape, device)
