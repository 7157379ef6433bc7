"""NumPy's discrete Fourier transforms of Mats on the device in use: conversions, lengths, and the
axes that are transformed at once.
"""

from __future__ import annotations

import numpy as np

from ...layout.shapes import Ints
from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import leave_if
from ...ops.linear.fourier import MOST, fourier
from ...ops.primitives import ufuncs
from ...support.types import DType, Operand
from .padding import numpy_pad
from .there import as_dtype, different_axes

# dtypes whose transforms have NumPy's dtypes
REAL, OF_REAL_OR_COMPLEX = "?bhilqBHILQfd", "?bhilqBHILQfdFD"
OF_REAL = ("rfft", "ihfft", "rfft2", "rfftn")
_TO_REAL = ("irfft", "hfft", "irfft2", "irfftn")
_INVERSE = ("hfft", "ifft", "irfft", "ifft2", "irfft2", "ifftn", "irfftn")
_SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def transform_there(name: str, a: Mat, lengths: Operand, axes: Operand, norm: str | None,
                    out: Operand) -> Mat:
    """Return NumPy's transform `name`, computed by the device in use; leave to NumPy calls that it
    refuses, and dtypes that devices have no transforms for.
    """
    of_real, to_real = name in OF_REAL, name in _TO_REAL
    leave_if(norm not in _SWAPPED or a.dtype.char not in (REAL if of_real else OF_REAL_OR_COMPLEX))
    leave_if(not a.size or not isinstance(axes, list | tuple) or not axes)
    over = different_axes(tuple(axes), a.ndim)
    sizes = _sizes(a, over, lengths, to_real)
    half = sizes | {over[-1]: sizes[over[-1]] // 2 + 1}
    real, spectrum = map(np.dtype, "fF" if a.dtype.char in "fF" else "dD")
    target = _target(a, out, _with_sizes(a.shape, half if of_real else sizes),
                     real if to_real else spectrum)
    x = _resized(as_dtype(a, real if of_real else spectrum), half if to_real else sizes)
    if name in ("hfft", "ihfft"):
        norm = _SWAPPED[norm]
    if name == "hfft":
        x = ufuncs.conjugate(x)
    groups = [*_groups(over[:-1]), over[-1:]] if to_real else _groups(over)
    forward, norm = name not in _INVERSE, norm or "backward"
    for group in groups[:-1]:
        shape = _with_sizes(x.shape, {over[-1]: half[over[-1]]}) if of_real else x.shape
        x = fourier(x, new_like(a, shape, spectrum), group, forward, norm)
    fourier(x, target, groups[-1], forward, norm)
    if name == "ihfft":
        ufuncs.conjugate(target, out=target)
    return target if out is None or out is target else out.assign_(target)


def _sizes(a: Mat, over: Ints, lengths: Operand, to_real: bool) -> dict[int, int]:
    """Return how many elements transforms have along each axis, in time."""
    if lengths is None:
        found = [a.shape[k] for k in over]
        if to_real:
            found[-1] = 2 * (found[-1] - 1)
    else:
        leave_if(not isinstance(lengths, tuple) or len(lengths) != len(over)
                 or any(type(n) is not int for n in lengths))
        found = list(lengths)
    leave_if(min(found) < 1)
    return dict(zip(over, found, strict=True))


def _with_sizes(shape: Ints, sizes: dict[int, int]) -> Ints:
    return tuple(sizes.get(k, n) for k, n in enumerate(shape))


def _target(a: Mat, out: Operand, shape: Ints, dtype: DType) -> Mat:
    """Return the Mat to write: `out` itself, unless it may share elements with `a`."""
    if out is None:
        return new_like(a, shape, dtype)
    leave_if(not isinstance(out, Mat) or (out.shape, out.dtype) != (shape, dtype))
    return out if out.storage is not a.storage else new_like(a, shape, dtype)


def _resized(x: Mat, sizes: dict[int, int]) -> Mat:
    """Return `x`, cut off or followed by zeros along axes."""
    wanted = _with_sizes(x.shape, sizes)
    x = x[tuple(slice(n) for n in wanted)]
    if x.shape == wanted:
        return x
    return numpy_pad(x, [(0, n - m) for n, m in zip(wanted, x.shape, strict=True)])


def _groups(axes: Ints) -> list[Ints]:
    """Return the axes of each transform; the last ones come first."""
    return [axes[max(k - MOST, 0):k] for k in range(len(axes), 0, -MOST)]
