"""``mat.ndarray(shape, dtype, buffer, offset, strides, order)``: the parameters of NumPy's
constructor beyond a shape and a dtype.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..errors import DTypeError, ShapeError
from ..layout.shapes import Ints, integer
from ..layout.strided import Layout
from ..matrix.creation import from_numpy
from ..matrix.mat import Mat
from ..matrix.methods import method
from ..support.types import DType


@method("_over_buffer")
def over_buffer(self: Mat, shape: Ints, dtype: DType, given: tuple[Any, Any, Any, Any]) -> Mat:
    """Return a Mat over a buffer, or without one over new memory, with strides in bytes.

    `given` is what the constructor was given: buffer, offset, strides and order.
    """
    buffer, offset, strides, order = given
    if buffer is None:
        return _strided(shape, dtype, strides)
    if isinstance(buffer, Mat):
        if _is_part(buffer, dtype, offset, strides, order):
            start = buffer.displacement + offset // dtype.itemsize
            if prod(shape) <= buffer.size - offset // dtype.itemsize:
                return buffer.view(shape, start)
        buffer = np.asarray(buffer)
    if integer(offset, "an offset") < 0:  # NumPy would read what is before the buffer
        raise ShapeError("an offset is a number of bytes from the begin of the buffer on, got "
                         f"{offset}")
    try:
        if not isinstance(buffer, np.ndarray):  # NumPy would let its owner free it, or resize it
            buffer = np.frombuffer(buffer, np.uint8)
        return from_numpy(np.ndarray(shape, dtype, buffer, offset, strides, order))
    except ValueError as error:
        raise ShapeError(f"no Mat of shape {shape} and {dtype} is in that buffer at offset "
                         f"{offset!r} with strides {strides!r}: {error}") from None
    except TypeError as error:
        raise DTypeError(f"no Mat of shape {shape} and {dtype} is in that "
                         f"{type(buffer).__name__} at offset {offset!r}: {error}") from None


def _is_part(buffer: Mat, dtype: DType, offset: int, strides: Any, order: str | None) -> bool:
    """Return whether a Mat's elements can be seen as those of another one."""
    return (buffer.dtype == dtype and buffer.is_contiguous and strides is None
            and order in (None, "C") and offset >= 0 and offset % dtype.itemsize == 0)


def _strided(shape: Ints, dtype: DType, strides: Any) -> Mat:
    """Return a Mat over new memory for as many elements as the shape has."""
    steps = tuple(strides)
    if len(steps) != len(shape) or any(s % dtype.itemsize for s in steps):
        raise ShapeError(f"strides are one for each of the axes {shape}, in bytes and a multiple "
                         f"of {dtype.itemsize}, got {strides!r}")
    whole = Mat(shape, dtype, fill=None)
    layout = Layout(shape, tuple(s // dtype.itemsize for s in steps), 0)
    found = whole.over(layout.check_within(whole.size))
    found.is_view = False
    return found
