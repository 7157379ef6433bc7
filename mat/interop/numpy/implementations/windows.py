"""NumPy's `sliding_window_view`."""

from __future__ import annotations

from ....layout.strided import Layout
from ....matrix.mat import Mat
from ....support.types import Operand
from ..registry import Result, implements


@implements("lib.stride_tricks.sliding_window_view")
def numpy_sliding_window_view(x: Operand, window_shape: Operand, axis: Operand = None, *,
                              subok: bool = False, writeable: bool = False) -> Result:
    sizes = window_shape if type(window_shape) is tuple else (window_shape,)
    if axis is None:
        axis = tuple(range(getattr(x, "ndim", -1)))
    axes = axis if type(axis) is tuple else (axis,)
    if not isinstance(x, Mat) or len(sizes) != len(axes):
        return NotImplemented
    lengths = list(x.shape)
    for size, k in zip(sizes, axes, strict=True):
        # what NumPy refuses, and what it counts from the end
        if type(size) is not int or type(k) is not int or not 0 <= k < len(lengths):
            return NotImplemented
        lengths[k] -= size - 1
        if size < 0 or lengths[k] <= 0:
            return NotImplemented
    layout = x.layout
    return x.over(Layout((*lengths, *sizes), (*layout.strides, *(layout.strides[k] for k in axes)),
                         layout.displacement))
