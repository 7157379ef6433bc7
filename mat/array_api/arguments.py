"""Conversion of the arguments of the standard's functions: arrays to Mats, dtypes to NumPy's, and
devices to a flag; and the docstrings of functions that factories make.
"""

from __future__ import annotations

import numpy as np

from ..devices.device import enabled_on
from ..errors import DTypeError
from ..layout.shapes import Ints, as_axes
from ..matrix.creation import adopted
from ..matrix.mat import Mat
from ..ops.operands import as_operand
from ..support.dtypes import REAL_TYPES
from ..support.options import current
from ..support.types import AxisLike, DType, Function, Operand


def mat_of(x: Operand) -> Mat:
    """Return `x` as a Mat.

    It may be a Mat, an array, or a NumPy scalar, which indexing returns for a single element.
    """
    if isinstance(x, Mat):
        return x
    if isinstance(x, np.generic):
        return adopted(np.array(x))
    found = x if isinstance(x, list | tuple) else as_operand(x, "an array")
    if not isinstance(found, Mat):
        raise DTypeError(f"an array is wanted, got {x!r} ({type(x).__name__}); "
                         "mat.array_api.asarray(x) makes one")
    return found


def is_python_number(x: object) -> bool:
    """Return whether `x` is a number of Python's own, which adapts to arrays."""
    return type(x) in (bool, int, float, complex)


def number_of(x: Operand) -> Operand:
    """Return `x`, or the number that a Mat without axes is."""
    return x.item() if isinstance(x, Mat) and not x.shape else x


def as_value(x: Operand) -> Operand:
    """Return `x` as an operand: a Mat, or a Python number, which adapts to the other operand."""
    return x if is_python_number(x) else mat_of(x)


def as_pair(x1: Operand, x2: Operand) -> tuple[Operand, Operand]:
    """Return two operands.

    A NumPy scalar beside a Mat remains a number with a dtype of its own, and the Mat decides the
    device.
    """
    if isinstance(x1, Mat) or isinstance(x2, Mat):
        return x1, x2
    return as_value(x1), as_value(x2)


def on_device(mat: Mat, device: object) -> Mat:
    """Return `mat`, which is new, for `device`; None stands for the device in use."""
    if device is not None:
        mat.device_enabled = enabled_on(device)
    return mat


def like(mat: Mat, other: Mat, device: object) -> Mat:
    """Return `mat`, which is new, for `device`, by default that of `other`."""
    mat.device_enabled = other.device_enabled if device is None else enabled_on(device)
    return mat


def real_default() -> DType:
    """Return the default dtype of real numbers: that of the settings, if it is such a dtype."""
    own = current().dtype
    return own if own.char in REAL_TYPES else np.dtype(np.float64)


def complex_default() -> DType:
    """Return the default dtype of complex numbers, whose parts are of the real default."""
    return np.result_type(real_default(), np.complex64)


def default_of(plain: DType) -> DType:
    """Return the default dtype of the kind that NumPy finds in Python's numbers."""
    if plain.kind == "f":
        return real_default()
    return complex_default() if plain.kind == "c" else plain


def axes_of(x: Mat, axis: AxisLike) -> Ints:
    """Return the axes that `axis` names: one, several, or all if None."""
    return tuple(range(x.ndim)) if axis is None else as_axes(axis, x.ndim)


def public(name: str, function: Function, summary: str, parameters: str,
           returned: str = "Of the shape of `x`.") -> Function:
    """Return `function` as the standard's one of that name.

    Its docstring consists of the `summary`, the lines of its `parameters`, and a sentence on the
    Mat that it returns.
    """
    function.__name__ = function.__qualname__ = name
    function.__module__ = "mat.array_api"
    function.__doc__ = (f"{summary}\n\nParameters\n----------\n{parameters}\n\n"
                        f"Returns\n-------\nMat\n    {returned}")
    return function
