"""NumPy's discrete Fourier transforms: of the device in use, or on the host, where long ones are
computed by another library, in 0.2 to 1 times the time and with the same dtypes.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from ...devices.device import DeviceLike
from ...layout.shapes import Ints, as_axis
from ...matrix.creation import placed
from ...matrix.delegate import delegate
from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import leave_if, or_leave
from ...ops.linear import fourier as library
from ...ops.linear.fourier import MOST, SHORT, fourier
from ...ops.primitives import ufuncs
from ...support.types import DType, DTypeLike, Function, Operand
from ..operands import as_dtype, is_there
from ..registry import ON_HOST, Result, implements, numpy_function
from ..short_calls import WAYS, OfFew
from .arranging import numpy_pad

# dtypes whose transforms have NumPy's dtypes
REAL, OF_REAL_OR_COMPLEX = "?bhilqBHILQfd", "?bhilqBHILQfdFD"
OF_REAL = ("rfft", "ihfft", "rfft2", "rfftn")
_TO_REAL = ("irfft", "hfft", "irfft2", "irfftn")
_INVERSE = ("hfft", "ifft", "irfft", "ifft2", "irfft2", "ifftn", "irfftn")
_SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


class TransformSteps(NamedTuple):
    """How a transform is computed on a device, for operands of one form."""

    kind: DType  # to which the operand is converted
    sizes: Ints  # to which it is cut off, or filled up with zeros
    before: list[tuple[Ints, Ints]]  # axes of the first transforms, and shapes of their results
    spectrum: DType  # of these
    axes: Ints  # of the last transform
    shape: Ints  # of its result
    dtype: DType
    forward: bool
    norm: str


def transform_there(name: str, a: Mat, lengths: Operand, axes: Operand, norm: str | None,
                    out: Operand) -> Mat:
    """Return NumPy's transform `name`, computed by the device in use; leave to NumPy calls that it
    refuses, and dtypes that devices have no transforms for.
    """
    leave_if(not isinstance(axes, list | tuple) or any(type(k) is not int for k in axes)
             or not (lengths is None or (isinstance(lengths, tuple)
                                         and all(type(n) is int for n in lengths)))
             or not (norm is None or isinstance(norm, str)))
    steps = or_leave(_steps(name, a.shape, a.dtype.char, lengths, tuple(axes), norm))
    target = _target(a, out, steps.shape, steps.dtype)
    x = _resized(as_dtype(a, steps.kind), steps.sizes)
    if name == "hfft":
        x = ufuncs.conjugate(x)
    for group, shape in steps.before:
        x = fourier(x, new_like(a, shape, steps.spectrum), group, steps.forward, steps.norm)
    fourier(x, target, steps.axes, steps.forward, steps.norm)
    if name == "ihfft":
        ufuncs.conjugate(target, out=target)
    return target if out is None or out is target else out.assign_(target)


@lru_cache(maxsize=256)
def _steps(name: str, shape: Ints, char: str, lengths: Ints | None, axes: Ints,
           norm: str | None) -> TransformSteps | None:
    """Return how a transform is computed; None if it is NumPy's."""
    of_real, to_real, ndim = name in OF_REAL, name in _TO_REAL, len(shape)
    over = tuple(k % ndim for k in axes if -ndim <= k < ndim) if ndim else ()
    if (norm not in _SWAPPED or char not in (REAL if of_real else OF_REAL_OR_COMPLEX)
            or 0 in shape or not over or len({*over}) < len(axes)):
        return None
    found = [shape[k] for k in over] if lengths is None else list(lengths)
    if lengths is None and to_real:
        found[-1] = 2 * (found[-1] - 1)
    if len(found) != len(over) or min(found) < 1:
        return None
    sizes = dict(zip(over, found, strict=True))
    half = sizes | {over[-1]: found[-1] // 2 + 1}
    real, spectrum = map(np.dtype, "fF" if char in "fF" else "dD")
    given, result = (tuple(own.get(k, n) for k, n in enumerate(shape))
                     for own in (half if to_real else sizes, half if of_real else sizes))
    groups = [*_groups(over[:-1]), over[-1:]] if to_real else _groups(over)
    before = [(group, result if of_real else given) for group in groups[:-1]]
    return TransformSteps(
        real if of_real else spectrum, given, before, spectrum, groups[-1], result,
        real if to_real else spectrum, name not in _INVERSE,
        (_SWAPPED[norm] if name in ("hfft", "ihfft") else norm) or "backward")


def _target(a: Mat, out: Operand, shape: Ints, dtype: DType) -> Mat:
    """Return the Mat to write: `out` itself, unless it may share elements with `a`."""
    if out is None:
        return new_like(a, shape, dtype)
    leave_if(not isinstance(out, Mat) or (out.shape, out.dtype) != (shape, dtype))
    return out if out.storage is not a.storage else new_like(a, shape, dtype)


def _resized(x: Mat, shape: Ints) -> Mat:
    """Return `x`, cut off or followed by zeros along axes."""
    if x.shape == shape:
        return x
    x = x[tuple(slice(n) for n in shape)]
    if x.shape == shape:
        return x
    return numpy_pad(x, [(0, n - m) for n, m in zip(shape, x.shape, strict=True)])


def _groups(axes: Ints) -> list[Ints]:
    """Return the axes of each transform; the last ones come first."""
    return [axes[max(k - MOST, 0):k] for k in range(len(axes), 0, -MOST)]


_NORMS = (None, "backward", "ortho", "forward")
_OF_ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_OF_TWO = ("fft2", "ifft2", "rfft2", "irfft2")
_OF_ALL = ("fftn", "ifftn", "rfftn", "irfftn")


def _along_one(name: str) -> Function:
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


implements("fft.fftfreq", mats=0)(lambda n, d=1.0, device=None, *, dtype=None: _frequencies(
    np.fft.fftfreq, n, d, device, dtype))
implements("fft.rfftfreq", mats=0)(lambda n, d=1.0, device=None, *, dtype=None: _frequencies(
    np.fft.rfftfreq, n, d, device, dtype))


def _frequencies(function: Function, n: int, d: Operand, device: DeviceLike,
                 dtype: DTypeLike) -> Mat:
    """Return the result of NumPy's `function`, in the standard's dtype and for its device."""
    found: Mat = delegate(function, (n, d))
    return placed(found if dtype is None else found.astype(dtype), device)


def _register() -> None:
    transforms = {name: _along_one(name) for name in _OF_ONE}
    transforms |= {name: _along_several(name, (-2, -1)) for name in _OF_TWO}
    transforms |= {name: _along_several(name, None) for name in _OF_ALL}
    for name, transform in transforms.items():
        transform.__name__ = f"numpy_{name}"
        implements(f"fft.{name}")(transform)
        numpys = getattr(np.fft, name)
        WAYS[numpys] = OfFew(numpys, SHORT, name in _OF_ONE)
    ON_HOST.update(numpy_function(f"fft.{name}") for name in ("fftfreq", "rfftfreq"))


_register()
