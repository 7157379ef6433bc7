"""``fft`` of the standard: transforms by NumPy; shifts by copies on the device in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

import numpy as np

from ..devices.device import DeviceLike
from ..errors import SettingError, ShapeError
from ..interop.numpy.operators import by_numpy
from ..layout.shapes import Ints, as_axis, integer
from ..matrix.creation import adopted
from ..matrix.mat import Mat
from ..support.close_names import name_what_is_close as _name_what_is_close
from ..support.dtypes import as_dtype, check_number
from ..support.types import ArrayLike, AxisLike, DTypeLike, Function
from .arguments import axes_of, mat_of, on_device, public, real_default
from .manipulation import roll

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfftn", "rfft", "rfftfreq", "rfftn",
]
_NORMS = ("backward", "ortho", "forward")
_NORM = """norm : str
    ``"backward"`` divides inverse transforms by n, ``"ortho"`` all transforms by the square root
    of n, ``"forward"`` the others by n."""
_LINE = f"""x : array
    Of any shape.
n : int, optional
    The length of the transformed axis{{}}; elements are cut off or zeros appended.
axis : int
    The axis to transform.
{_NORM}"""
_LINES = f"""x : array
    Of any shape.
s : tuple of int, optional
    The lengths of the transformed axes{{}}; elements are cut off or zeros appended.
axes : tuple of int, optional
    The axes to transform; the last ``len(s)``, or all, if None.
{_NORM}"""
_RETURNED = "Of the shape of `x`, except along the transformed axes."


Norm: TypeAlias = Literal["backward", "ortho", "forward"]


class AlongAxis(Protocol):
    """A transform along one axis."""

    def __call__(self, x: ArrayLike, /, *, n: int | None = None, axis: int = -1,
                 norm: Norm = "backward") -> Mat:
        """Return the transform of `x`."""


class AlongAxes(Protocol):
    """A transform along several axes."""

    def __call__(self, x: ArrayLike, /, *, s: Ints | None = None, axes: Ints | None = None,
                 norm: Norm = "backward") -> Mat:
        """Return the transform of `x`."""


def _checked(x: ArrayLike, norm: str) -> Mat:
    if norm not in _NORMS:
        raise SettingError(f"norm is one of {', '.join(map(repr, _NORMS))}, got {norm!r}")
    return mat_of(x)


def _along_axis(name: str, rule: Function, summary: str, of_result: str = "") -> AlongAxis:
    """Return a transform along one axis."""
    def transform(x: ArrayLike, /, *, n: int | None = None, axis: int = -1,
                  norm: str = "backward") -> Mat:
        given = _checked(x, norm)
        return by_numpy(rule, given, n=n, axis=as_axis(axis, given.ndim), norm=norm)

    return public(name, transform, summary, _LINE.format(of_result), _RETURNED)


def _along_axes(name: str, rule: Function, summary: str, of_result: str = "") -> AlongAxes:
    """Return a transform along several axes."""
    def transform(x: ArrayLike, /, *, s: Ints | None = None, axes: Ints | None = None,
                  norm: str = "backward") -> Mat:
        x = _checked(x, norm)
        if s is not None and axes is None:
            axes = tuple(range(x.ndim - len(s), x.ndim))
        return by_numpy(rule, x, s=s, axes=axes, norm=norm)

    return public(name, transform, summary, _LINES.format(of_result), _RETURNED)


_IN_RESULT = " in the result"
fft: AlongAxis = _along_axis("fft", np.fft.fft,
                             "Return the discrete Fourier transform along `axis`.")
ifft: AlongAxis = _along_axis("ifft", np.fft.ifft, "Return the inverse of `fft`.")
rfft: AlongAxis = _along_axis("rfft", np.fft.rfft,
                              "Return the discrete Fourier transform of real numbers, without its "
                              "redundant half.")
irfft: AlongAxis = _along_axis("irfft", np.fft.irfft, "Return the inverse of `rfft`.", _IN_RESULT)
hfft: AlongAxis = _along_axis("hfft", np.fft.hfft,
                              "Return the transform of a Hermitian signal, which is given without "
                              "its redundant half.", _IN_RESULT)
ihfft: AlongAxis = _along_axis("ihfft", np.fft.ihfft, "Return the inverse of `hfft`.")
fftn: AlongAxes = _along_axes("fftn", np.fft.fftn,
                              "Return the discrete Fourier transform along `axes`.")
ifftn: AlongAxes = _along_axes("ifftn", np.fft.ifftn, "Return the inverse of `fftn`.")
rfftn: AlongAxes = _along_axes("rfftn", np.fft.rfftn,
                               "Return the discrete Fourier transform of real numbers along "
                               "`axes`, without its redundant half.")
irfftn: AlongAxes = _along_axes("irfftn", np.fft.irfftn,
                                "Return the inverse of `rfftn`.", _IN_RESULT)


def _frequencies(rule: Function, n: int, d: float, dtype: DTypeLike, device: object) -> Mat:
    count = integer(n, "n")
    check_number(d, np.dtype(np.float64), "d")
    if count < 1 or d == 0:
        raise ShapeError(f"frequencies are those of n samples at distance d, got n = {n} and d = "
                         f"{d}")
    wanted = real_default() if dtype is None else as_dtype(dtype)
    return on_device(adopted(rule(count, d).astype(wanted)), device)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike = None,
            device: DeviceLike = None) -> Mat:
    """Return the frequencies of the elements of `fft`.

    Parameters
    ----------
    n : int
        The number of samples.
    d : float
        The distance of samples.
    dtype : dtype, optional
        The default dtype of real numbers if None.
    device : str or Device, optional
        ``"cpu"``, or the device in use (default).

    Returns
    -------
    Mat
        Of length `n`, in cycles per unit of `d`.
    """
    return _frequencies(np.fft.fftfreq, n, d, dtype, device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike = None,
             device: DeviceLike = None) -> Mat:
    """Return the frequencies of the elements of `rfft`.

    Parameters
    ----------
    n : int
        The number of samples.
    d : float
        The distance of samples.
    dtype : dtype, optional
        The default dtype of real numbers if None.
    device : str or Device, optional
        ``"cpu"``, or the device in use (default).

    Returns
    -------
    Mat
        Of length ``n // 2 + 1``, in cycles per unit of `d`.
    """
    return _frequencies(np.fft.rfftfreq, n, d, dtype, device)


def _shifted(x: ArrayLike, axes: AxisLike, shift_of: Callable[[int], int]) -> Mat:
    x = mat_of(x)
    chosen = axes_of(x, axes)
    return roll(x, tuple(shift_of(x.shape[k]) for k in chosen), axis=chosen)


def fftshift(x: ArrayLike, /, *, axes: AxisLike = None) -> Mat:
    """Return `x` with the frequency 0 in the middle of `axes`.

    Parameters
    ----------
    x : array
        A spectrum.
    axes : int or tuple of int, optional
        The axes to shift; all if None.

    Returns
    -------
    Mat
        Of the shape of `x`.
    """
    return _shifted(x, axes, lambda n: n // 2)


def ifftshift(x: ArrayLike, /, *, axes: AxisLike = None) -> Mat:
    """Return the inverse of `fftshift`.

    Parameters
    ----------
    x : array
        A spectrum with the frequency 0 in the middle.
    axes : int or tuple of int, optional
        The axes to shift; all if None.

    Returns
    -------
    Mat
        Of the shape of `x`.
    """
    return _shifted(x, axes, lambda n: -(n // 2))


def __dir__() -> list[str]:
    return __all__


_name_what_is_close(__name__)
