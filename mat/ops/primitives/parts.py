"""Parts of a Mat: a view along one axis, and copies of the parts of complex elements."""

from __future__ import annotations

import numpy as np

from ...matrix.mat import Mat, new_like


def along(x: Mat, axis: int, part: slice) -> Mat:
    """Return the view of a part of one axis, relative to its first index."""
    return x.over(x.layout[(*(slice(None),) * axis, part)])


def real_part(x: Mat) -> Mat:
    """Return a new Mat of the real parts of a complex one; `x` itself if it is real."""
    return x.real.copy() if x.dtype.kind == "c" else x


def imaginary_part(x: Mat) -> Mat:
    """Return a new Mat of the imaginary parts: zeros where elements are real."""
    if x.dtype.kind != "c":
        return new_like(x, x.shape, x.dtype).fill_(0)
    return x.imag.copy()


def complex_of(real: Mat, imaginary: Mat) -> Mat:
    """Return complex numbers of these parts, two Mats of one shape and dtype."""
    found = new_like(real, real.shape, np.result_type(real.dtype, np.complex64))
    found.real = real
    found.imag = imaginary
    return found
