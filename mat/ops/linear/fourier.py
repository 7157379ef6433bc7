"""Fourier transforms on devices: by cuFFT, or in the device's memory by NumPy, SciPy or ducc0.

Long transforms on the host are those of ducc0 where it is installed, in 0.2 to 1 times the time of
SciPy's. Either is loaded on demand.
"""

from __future__ import annotations

from functools import cache
from math import prod

import numpy as np

from ...layout.shapes import Ints
from ...matrix.mat import Mat
from ...support.dtypes import BLAS_TYPES
from ...support.plugins import imported
from ...support.types import Arguments, Array, Engine, Function, Keywords
from ..engine.operation import Input, Output, op
from ..tiles.signatures import TileGrid
from ..tiles.tile import GridAxes, over
from .matmul import DEVICE_AXES

# what ducc0 multiplies by: nothing, or one over the root of the length, or over the length
_NOTHING, _ROOT, _LENGTH = 0, 1, 2
# its functions, and whether they go forward, by the names of those along one axis
_BY_DUCC = {"fft": ("c2c", True), "ifft": ("c2c", False), "rfft": ("r2c", True)}


@cache
def transform(name: str) -> Function:
    """Return NumPy's function of that name: of an array, lengths, an axis or axes, and a norm."""
    scipys: Function = getattr(imported("scipy.fft"), name)
    found = _BY_DUCC.get(name.rstrip("2n"))
    try:
        ducc = imported("ducc0.fft")
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


SHORT = 1024  # elements along the transforms below which loading a library is not worth it
MOST = 3  # axes of one transform by cuFFT
_EXPONENTS = {"backward": (0, -1), "ortho": (-0.5, -0.5), "forward": (-1, 0)}


@op(method="", by_form=True)
def fourier(x: Input, out: Output, axes: Ints, forward: bool, norm: str) -> None:
    """Compute ``out <- the Fourier transform of x`` over up to three axes.

    Along the last of them, spectra of real numbers have the frequencies from 0 on.
    """


def _lines(args: Arguments, kwargs: Keywords) -> TileGrid:
    """Return the grid of lines along the transformed axes."""
    out, axes = args[1], args[2]
    batch = [k for k in range(out.ndim) if k not in axes]
    kept: GridAxes = tuple(batch.index(k) if k in batch else None for k in range(out.ndim))
    return TileGrid(tuple(out.shape[k] for k in batch), {0: kept, 1: kept}, args)


fourier.cut_by(over(fourier, _lines, "a transform is not cut, since each element of its result "
                                     "depends on all of its operand's", free=True))


def _fits_device(x: Mat, out: Mat) -> bool:
    """Return whether cuFFT has the types: those of `x` and `out` have the same precision."""
    return (out.size > 0 and out.ndim <= DEVICE_AXES
            and x.dtype.char.lower() == out.dtype.char.lower())


@fourier.prepare("cuda", dtypes=BLAS_TYPES, when=_fits_device, needs="cuFFT")
def fourier_cuda(cuda: Engine, x: Mat, out: Mat, axes: Ints, forward: bool, norm: str) -> Function:
    lengths = (max(x.shape[k], out.shape[k]) for k in axes)
    factor = prod(lengths) ** _EXPONENTS[norm][not forward]
    return cuda.prepare_fourier(x.dtype.char, x.layout, out.dtype.char, out.layout,
                                axes, forward, factor)


@fourier.on("array")
def fourier_numpy(np: Engine, x: Array, out: Array, axes: Ints, forward: bool, norm: str) -> None:
    real = "r" if x.dtype.kind + out.dtype.kind != "cc" else ""
    name = f"{'' if forward else 'i'}{real}fft{'n' if len(axes) > 1 else ''}"
    long = prod(x.shape[k] for k in axes) >= SHORT
    function: Function = transform(name) if long else getattr(np.fft, name)
    lengths = None if out.dtype.kind == "c" else tuple(out.shape[k] for k in axes)
    if len(axes) == 1:
        out[...] = function(x, lengths and lengths[0], axes[0], norm)
    else:
        out[...] = function(x, lengths, axes, norm)
