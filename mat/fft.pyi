"""Types of `mat.fft`.

Written by ``python -m tests.types.stubs``, with NumPy 2.4.6: not to be edited.
"""

from collections.abc import Sequence
from typing import Literal


from .support.types import ArrayLike
from .support.types import DTypeLike
from .devices.device import Device
from .support.types import DeviceName
from .matrix.mat import Mat

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]

def fft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Literal['backward', 'ortho', 'forward'] | None = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.fft.fft`` returns, with Mats for arrays."""

def fft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: object = ...,
    norm: Literal['backward', 'ortho', 'forward'] | None = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.fft.fft2`` returns, with Mats for arrays."""

def fftfreq(
    n: object,
    d: ArrayLike = 1.0,
    device: DeviceName | Device | None = None,
    *,
    dtype: DTypeLike = None,
) -> Mat:
    """Return what ``numpy.fft.fftfreq`` returns, with Mats for arrays."""

def fftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: object = None,
    norm: Literal['backward', 'ortho', 'forward'] | None = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.fft.fftn`` returns, with Mats for arrays."""

def fftshift(x: ArrayLike, axes: object = None) -> Mat:
    """Return what ``numpy.fft.fftshift`` returns, with Mats for arrays."""

def hfft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Literal['backward', 'ortho', 'forward'] | None = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.fft.hfft`` returns, with Mats for arrays."""

def ifft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Literal['backward', 'ortho', 'forward'] | None = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.fft.ifft`` returns, with Mats for arrays."""

def ifft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: object = ...,
    norm: Literal['backward', 'ortho', 'forward'] | None = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.fft.ifft2`` returns, with Mats for arrays."""

def ifftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: object = None,
    norm: Literal['backward', 'ortho', 'forward'] | None = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.fft.ifftn`` returns, with Mats for arrays."""

def ifftshift(x: ArrayLike, axes: object = None) -> Mat:
    """Return what ``numpy.fft.ifftshift`` returns, with Mats for arrays."""

def ihfft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Literal['backward', 'ortho', 'forward'] | None = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.fft.ihfft`` returns, with Mats for arrays."""

def irfft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Literal['backward', 'ortho', 'forward'] | None = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.fft.irfft`` returns, with Mats for arrays."""

def irfft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: object = ...,
    norm: Literal['backward', 'ortho', 'forward'] | None = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.fft.irfft2`` returns, with Mats for arrays."""

def irfftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: object = None,
    norm: Literal['backward', 'ortho', 'forward'] | None = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.fft.irfftn`` returns, with Mats for arrays."""

def rfft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Literal['backward', 'ortho', 'forward'] | None = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.fft.rfft`` returns, with Mats for arrays."""

def rfft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: object = ...,
    norm: Literal['backward', 'ortho', 'forward'] | None = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.fft.rfft2`` returns, with Mats for arrays."""

def rfftfreq(
    n: object,
    d: ArrayLike = 1.0,
    device: DeviceName | Device | None = None,
    *,
    dtype: DTypeLike = None,
) -> Mat:
    """Return what ``numpy.fft.rfftfreq`` returns, with Mats for arrays."""

def rfftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: object = None,
    norm: Literal['backward', 'ortho', 'forward'] | None = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.fft.rfftn`` returns, with Mats for arrays."""

