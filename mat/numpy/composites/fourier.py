"""NumPy's discrete Fourier transforms: of the device in use, or on the host, where long ones are
computed by another library, in 0.2 to 1 times the time and with the same dtypes.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ...devices.device import DeviceLike
from ...layout.shapes import Ints, as_axis
from ...matrix.creation import placed
from ...matrix.delegate import delegate
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.linear import fourier_library as library
from ...ops.linear.fourier import SHORT
from ...support.types import DTypeLike, Function, Operand
from ..registry import ON_HOST, Result, implements, numpy_function
from .fourier_there import OF_REAL, OF_REAL_OR_COMPLEX, REAL, transform_there
from .there import is_there

_NORMS = (None, "backward", "ortho", "forward")
_OF_ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_OF_TWO = ("fft2", "ifft2", "rfft2", "irfft2")
_OF_ALL = ("fftn", "ifftn", "rfftn", "irfftn")


def _along_one(name: str) -> Function:
    """Return the implementation of a transform along one axis."""
    def transform(a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None,
                  out: Operand = None) -> Result:
        if type(axis) is int:
            as_axis(axis, a.ndim)
        if is_there(a):
            return transform_there(name, a, None if n is None else (n,), (axis,), norm, out)
        lengths = None if n is None else (n,)
        leave_if(out is not None or not _fits(name, a, lengths, (axis,), norm))
        return delegate(library.transform(name), (a, n, axis, norm), name=name)

    return transform


def _along_several(name: str, default: Ints | None) -> Function:
    """Return the implementation of a transform along axes, of all by default."""
    def transform(a: Operand, s: Operand = None, axes: Operand = default,
                  norm: str | None = None, out: Operand = None) -> Result:
        over = tuple(range(getattr(a, "ndim", 0))) if axes is None else axes
        lengths = tuple(s) if isinstance(s, list | tuple) else s
        if is_there(a):
            leave_if(s is not None and axes is None)
            return transform_there(name, a, lengths, over, norm, out)
        leave_if(out is not None or (s is not None and axes is None)
                 or not isinstance(over, list | tuple)
                 or not _fits(name, a, lengths, tuple(over), norm))
        if len(over) == 1:  # which takes less time before it begins
            n = None if lengths is None else lengths[0]
            return delegate(library.transform(name[:-1]), (a, n, over[0], norm), name=name)
        return delegate(library.transform(name), (a, lengths, tuple(over), norm), name=name)

    return transform


def _fits(name: str, a: Operand, lengths: Operand, axes: Ints, norm: str | None) -> bool:
    """Return whether the library supports NumPy's transform, and it is long."""
    if (lengths is None and a.size < SHORT) or norm not in _NORMS:
        return False
    if a.dtype.char not in (REAL if name in OF_REAL else OF_REAL_OR_COMPLEX) or not axes:
        return False
    ndim = a.ndim
    if not all(type(k) is int and -ndim <= k < ndim for k in axes):
        return False
    own = tuple(a.shape[k] for k in axes)
    if lengths is None:
        lengths = own
    elif not isinstance(lengths, tuple) or len(lengths) != len(axes) or not all(
            type(n) is int for n in lengths):
        return False
    different = len(axes) == 1 or len({as_axis(k, ndim) for k in axes}) == len(axes)
    return different and bool(a.size) and min(lengths) > 0 and prod(lengths) >= SHORT


@implements("fft.fftfreq", mats=0)
def numpy_fftfreq(n: int, d: Operand = 1.0, device: DeviceLike = None, *,
                  dtype: DTypeLike = None) -> Result:
    return _frequencies(np.fft.fftfreq, n, d, device, dtype)


@implements("fft.rfftfreq", mats=0)
def numpy_rfftfreq(n: int, d: Operand = 1.0, device: DeviceLike = None, *,
                   dtype: DTypeLike = None) -> Result:
    return _frequencies(np.fft.rfftfreq, n, d, device, dtype)


def _frequencies(function: Function, n: int, d: Operand, device: DeviceLike,
                 dtype: DTypeLike) -> Mat:
    """Return the result of NumPy's `function`, in the dtype and for the device that the array API
    standard adds to its arguments.
    """
    found: Mat = delegate(function, (n, d))
    return placed(found if dtype is None else found.astype(dtype), device)


def _register() -> None:
    transforms = {name: _along_one(name) for name in _OF_ONE}
    transforms |= {name: _along_several(name, (-2, -1)) for name in _OF_TWO}
    transforms |= {name: _along_several(name, None) for name in _OF_ALL}
    for name, transform in transforms.items():
        transform.__name__ = transform.__qualname__ = f"numpy_{name}"
        implements(f"fft.{name}")(transform)
    ON_HOST.update(numpy_function(f"fft.{name}") for name in ("fftfreq", "rfftfreq"))


_register()
