"""Names for the types that signatures use most: arrays, element types, operands and others.

A type that a type checker cannot express (an array-like, a factor) has a name here, so that a
signature says what is expected rather than `Any`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
DType: TypeAlias = np.dtype[Any]
Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
DTypeLike: TypeAlias = Any  # a dtype, its name, or a scalar type: `as_dtype` decides
ShapeLike: TypeAlias = Any  # an integer or a sequence of integers: `as_shape` decides
AxisLike: TypeAlias = int | tuple[int, ...] | None
Index: TypeAlias = Any  # what may stand in brackets
Number: TypeAlias = Any  # a Python number or a NumPy scalar that an element type can hold
Operand: TypeAlias = Any  # a Mat, an array or a number
Nested: TypeAlias = Any  # nested sequences with numbers, arrays or Mats as leaves
File: TypeAlias = str | os.PathLike[str] | IO[bytes]
Capsule: TypeAlias = object  # a PyCapsule, for which `types` has a class from Python 3.13 on
CData: TypeAlias = Any  # an object of cffi, which has no types of its own
Engine: TypeAlias = Any  # the module or namespace that an implementation computes with
Presented: TypeAlias = Any  # what a facet presents of an operand: an array, a pointer, ...
Function: TypeAlias = Callable[..., Any]
Keyword: TypeAlias = Any  # the value of a keyword argument that is passed on
Keywords: TypeAlias = dict[str, Any]
Arguments: TypeAlias = tuple[Any, ...]
