"""What arguments of the standard's functions become: arrays Mats, dtypes NumPy's, devices a flag;
and how a name is bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import DTypeError
from ..interop.numpy.operators import enabled_on
from ..layout.strided import Ints, as_axes
from ..matrix.creation import adopted
from ..matrix.mat import Mat
from ..ops.declare_elementwise import as_operand
from ..support.dtypes import REAL_TYPES
from ..support.settings import current


def as_mat(x: Any) -> Mat:
    """`x` as a Mat: itself, or an array or a NumPy scalar, which is what indexing gives for a
    single element.
    """
    if isinstance(x, Mat):
        return x
    if isinstance(x, np.generic):
        return adopted(np.array(x))
    found = as_operand(x, "an array")
    if not isinstance(found, Mat):
        raise DTypeError(f"an array is wanted, got {x!r} ({type(x).__name__}); "
                         "mat.array_api.asarray(x) makes one")
    return found


def is_python_number(x: Any) -> bool:
    """Whether `x` is a number of Python's own, which adapts to arrays."""
    return type(x) in (bool, int, float, complex)


def as_value(x: Any) -> Any:
    """`x` as an operand: a Mat or an array as `as_mat` has it, a Python number as it is, since it
    adapts to the other one.
    """
    return x if is_python_number(x) else as_mat(x)


def as_pair(x1: Any, x2: Any) -> tuple[Any, Any]:
    """Two operands; a NumPy scalar beside a Mat is a number with a dtype of its own, and leaves it
    to the Mat where it is.
    """
    if isinstance(x1, Mat) or isinstance(x2, Mat):
        return x1, x2
    return as_value(x1), as_value(x2)


def place(mat: Mat, device: Any) -> Mat:
    """`mat`, which is new, for `device`; None is where things are by themselves."""
    if device is not None:
        mat.device_enabled = enabled_on(device)
    return mat


def like(mat: Mat, other: Mat, device: Any) -> Mat:
    """`mat`, which is new, for `device`, by default that of `other`."""
    mat.device_enabled = other.device_enabled if device is None else enabled_on(device)
    return mat


def real_default() -> np.dtype[Any]:
    """The dtype of real numbers that none is given for: that of the settings, if that is one."""
    own = current().dtype
    return own if own.char in REAL_TYPES else np.dtype(np.float64)


def complex_default() -> np.dtype[Any]:
    """The same of complex numbers."""
    return np.result_type(real_default(), np.complex64)


def axes_of(x: Mat, axis: Any) -> Ints:
    """The axes that `axis` names: one, several, or all if None."""
    return tuple(range(x.ndim)) if axis is None else as_axes(axis, x.ndim)


def public(name: str, function: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """`function` as the standard's one of that name."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = "mat.array_api"
    function.__doc__ = doc
    return function
