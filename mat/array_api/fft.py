"""``fft`` of the standard: NumPy's transforms; shifts by our own copies, on the device in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import SettingError, ShapeError
from ..interop.numpy.operators import by_numpy
from ..layout.strided import as_axes, integer
from ..matrix.creation import adopted
from ..matrix.mat import Mat
from ..support.dtypes import as_dtype, check_number
from .arguments import as_mat, place, public, real_default
from .manipulation import roll

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfftn", "rfft", "rfftfreq",
    "rfftn",
]
_NORMS = ("backward", "ortho", "forward")


def _checked(x: Any, norm: str) -> Mat:
    if norm not in _NORMS:
        raise SettingError(f"norm is one of {', '.join(map(repr, _NORMS))}, got {norm!r}")
    return as_mat(x)


def _line(name: str, rule: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """A transform along one axis."""
    def transform(x: Any, /, *, n: int | None = None, axis: int = -1,
                  norm: str = "backward") -> Any:
        return by_numpy(rule, _checked(x, norm), n=n, axis=axis, norm=norm)

    return public(name, transform, doc)


def _lines(name: str, rule: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """A transform along several axes."""
    def transform(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
        x = _checked(x, norm)
        if s is not None and axes is None:
            axes = tuple(range(x.ndim - len(s), x.ndim))
        return by_numpy(rule, x, s=s, axes=axes, norm=norm)

    return public(name, transform, doc)


fft = _line("fft", np.fft.fft, "The discrete Fourier transform along `axis`, cut or filled up with "
                               "zeros to `n`.")
ifft = _line("ifft", np.fft.ifft, "The inverse of `fft`.")
rfft = _line("rfft", np.fft.rfft, "The discrete Fourier transform of real numbers: the half that "
                                  "decides.")
irfft = _line("irfft", np.fft.irfft, "The inverse of `rfft`, with `n` elements.")
hfft = _line("hfft", np.fft.hfft, "The transform of what is Hermitian, of which the half that "
                                  "decides is given.")
ihfft = _line("ihfft", np.fft.ihfft, "The inverse of `hfft`.")
fftn = _lines("fftn", np.fft.fftn, "The discrete Fourier transform along `axes`, cut or filled up "
                                   "with zeros to `s`.")
ifftn = _lines("ifftn", np.fft.ifftn, "The inverse of `fftn`.")
rfftn = _lines("rfftn", np.fft.rfftn, "The discrete Fourier transform of real numbers along "
                                      "`axes`: the half that decides.")
irfftn = _lines("irfftn", np.fft.irfftn, "The inverse of `rfftn`.")


def _frequencies(rule: Callable[..., Any], n: int, d: float, dtype: Any, device: Any) -> Mat:
    count = integer(n, "n")
    check_number(d, np.dtype(np.float64), "d")
    if count < 1 or d == 0:
        raise ShapeError(f"frequencies are those of n samples at distance d, got n = {n} and d = "
                         f"{d}")
    return place(adopted(rule(count, d).astype(real_default() if dtype is None
                                               else as_dtype(dtype))), device)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Mat:
    """The frequencies that `fft` gives for `n` samples at distance `d`."""
    return _frequencies(np.fft.fftfreq, n, d, dtype, device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Mat:
    """The frequencies that `rfft` gives for `n` samples at distance `d`."""
    return _frequencies(np.fft.rfftfreq, n, d, dtype, device)


def _shifted(x: Any, axes: Any, way: Callable[[int], int]) -> Any:
    x = as_mat(x)
    chosen = tuple(range(x.ndim)) if axes is None else as_axes(axes, x.ndim)
    return roll(x, tuple(way(x.shape[k]) for k in chosen), axis=chosen)


def fftshift(x: Any, /, *, axes: Any = None) -> Any:
    """The frequency 0 moved to the middle of `axes`."""
    return _shifted(x, axes, lambda n: n // 2)


def ifftshift(x: Any, /, *, axes: Any = None) -> Any:
    """The inverse of `fftshift`."""
    return _shifted(x, axes, lambda n: -(n // 2))
