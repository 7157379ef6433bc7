"""Arrays from elsewhere without a copy, by DLPack, as the standard has it."""

from __future__ import annotations

from typing import Any

from ..interop.dlpack import from_dlpack as _taken
from ..interop.numpy.operators import enabled_on
from ..matrix.mat import Mat
from .arguments import like, place

__all__ = ["from_dlpack"]


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Mat:
    """A Mat over the memory of the array `x` of whatever library; see ``mat.from_dlpack``.

    `device` says where operations on it compute; with "cpu", data of a GPU is copied to the host,
    if `copy` does not forbid it.
    """
    if isinstance(x, Mat):
        return like(_taken(x, copy=copy), x, device)
    home = "cpu" if device is not None and not enabled_on(device) else None
    return place(_taken(x, device=home, copy=copy), device)
