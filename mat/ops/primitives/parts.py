"""Views of a part of a Mat: along one axis, or of the real or imaginary parts of its elements."""

from __future__ import annotations

import numpy as np

from ...errors import DTypeError
from ...matrix.mat import Mat, new_like
from ...support.types import DType


def along(x: Mat, axis: int, part: slice) -> Mat:
    """Return the view of a part of one axis, relative to its first index."""
    return x.over(x.layout[(*(slice(None),) * axis, part)])


_REAL_OF: dict[str, DType] = {"F": np.dtype(np.float32), "D": np.dtype(np.float64)}


def halves(x: Mat, first: int) -> Mat:
    """Return the view of every second half of complex elements, from the half `first` on."""
    kind = _REAL_OF.get(x.dtype.char)
    if kind is None:
        raise DTypeError(f"{x.label()} has elements of {x.dtype}, which are not complex")
    return x._halves(first, kind)


def real_part(x: Mat) -> Mat:
    """Return a new Mat of the real parts of a complex one; `x` itself if it is real."""
    if x.dtype.kind != "c":
        return x
    return halves(x, 0).copy()


def imaginary_part(x: Mat) -> Mat:
    """Return a new Mat of the imaginary parts: zeros where elements are real."""
    if x.dtype.kind != "c":
        return new_like(x, x.shape, x.dtype).fill_(0)
    return halves(x, 1).copy()


def complex_of(real: Mat, imaginary: Mat) -> Mat:
    """Return complex numbers of these parts, two Mats of one shape and dtype."""
    kind = next(of for of, part in _REAL_OF.items() if part == real.dtype)
    found = new_like(real, real.shape, np.dtype(kind))
    halves(found, 0)[...] = real
    halves(found, 1)[...] = imaginary
    return found
