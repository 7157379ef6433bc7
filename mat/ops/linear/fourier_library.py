"""The library for long Fourier transforms: ducc0 where it is installed, in 0.2 to 1 times the time
of SciPy, and otherwise SciPy. Either is loaded on demand.
"""

from __future__ import annotations

import importlib
from functools import cache

import numpy as np

from ...layout.shapes import Ints
from ...support.types import Array, Function

# what ducc0 multiplies by: nothing, or one over the root of the length, or over the length
_NOTHING, _ROOT, _LENGTH = 0, 1, 2
# its functions, and whether they go forward, by the names of those along one axis
_BY_DUCC = {"fft": ("c2c", True), "ifft": ("c2c", False), "rfft": ("r2c", True)}


@cache
def transform(name: str) -> Function:
    """Return NumPy's function of that name: of an array, lengths, an axis or axes, and a norm."""
    scipys: Function = getattr(importlib.import_module("scipy.fft"), name)
    found = _BY_DUCC.get(name.rstrip("2n"))
    try:
        ducc = importlib.import_module("ducc0.fft")
    except ImportError:
        return scipys
    if found is None:
        return scipys
    return _by_ducc(getattr(ducc, found[0]), scipys, found[1])


def _by_ducc(function: Function, scipys: Function, forward: bool) -> Function:
    """Return a transform by ducc0's `function`, or SciPy's for other lengths than the array's."""
    inorm = {None: _NOTHING, "ortho": _ROOT, "forward": _LENGTH}
    if not forward:
        inorm |= {None: _LENGTH, "forward": _NOTHING}
    inorm["backward"] = inorm[None]

    def by_ducc(a: Array, lengths: int | Ints | None, axes: int | Ints, norm: str | None) -> Array:
        if lengths is not None:
            return scipys(a, lengths, axes, norm)
        over = (axes,) if isinstance(axes, int) else axes
        values = a if a.dtype.char in "fdFD" else a.astype(np.float64)
        return function(values, over, forward, inorm[norm])

    return by_ducc
