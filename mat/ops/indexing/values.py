"""The values that are assigned to a selection: converted to its dtype, and fitted to its shape.

This module does not know how elements are selected.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from ...errors import ShapeError
from ...layout.shapes import Ints, broadcast_shapes
from ...matrix.creation import adopted
from ...matrix.mat import Mat
from ...matrix.nested import as_array
from ...support.dtypes import as_element, becomes_array
from ...support.types import Array, DType, Operand
from ..engine.operands import as_operand, is_operand
from ..primitives.selecting import number_as_mat
from ..tiles.overlap import apart_from

V = TypeVar("V", Mat, Array)


def as_source(value: Operand, target: Mat) -> Operand:
    """Return the value to assign to elements of `target`: a Mat, or a number that fits."""
    value = apart_from(value, target)
    if isinstance(value, list | tuple) or becomes_array(value) or not is_operand(value):
        return adopted(as_array(value, target.dtype))
    if not isinstance(value, Mat | np.ndarray):
        value = as_element(value, target.dtype, "value")
    return as_operand(value, "value")


def as_mat_of(value: Operand, target: Mat) -> Mat:
    """Return the value to assign to elements of `target` as a Mat of its dtype."""
    source = as_source(value, target)
    if not isinstance(source, Mat):
        return number_as_mat(source, target.dtype, target)
    return source if source.dtype == target.dtype else source.astype(target.dtype)


def as_array_of(value: Operand, dtype: DType, shape: Ints) -> Array:
    """Return a source as an array that broadcasts to `shape`."""
    return fitted(as_array(value, dtype), shape)


def packed_for(source: Operand, dtype: DType, shape: Ints) -> Mat:
    """Return a source as a new packed Mat of that dtype and shape."""
    if type(source) is Mat and source.element_type is dtype:
        return fitted(source, shape).broadcast_to(shape).copy()
    plain = np.broadcast_to(as_array_of(source, dtype, shape), shape)
    return adopted(np.ascontiguousarray(plain).reshape(shape))


def fitted(value: V, shape: Ints) -> V:
    """Return a value without leading axes of length 1; `ShapeError` if it does not fit."""
    plain = value
    while plain.ndim > len(shape) and plain.shape[0] == 1:
        plain = plain.reshape(plain.shape[1:])
    if broadcast_shapes((plain.shape, shape)) != shape:
        raise ShapeError(f"a value of shape {value.shape} does not broadcast to the selected "
                         f"{shape}")
    return plain


def selects_as_array(item: object) -> bool:
    """Return whether an item of an index is an array of another library, or a sequence."""
    if isinstance(item, np.generic) or getattr(item, "shape", None) == ():
        return False
    return hasattr(type(item), "__array__") or becomes_array(item)
