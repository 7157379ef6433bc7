"""Arrays from elsewhere without a copy, by DLPack."""

from __future__ import annotations

from typing import Any

from ..interop.dlpack import from_dlpack as shared
from ..mat import Mat
from .arguments import like, place

__all__ = ["from_dlpack"]


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Mat:
    """A Mat of the array `x` of whatever library, sharing its memory if it can; `copy` and `device` as in `asarray`."""
    if isinstance(x, Mat):
        return like(x.copy() if copy else x.over(x.layout), x, device)
    return place(shared(x, device="cpu" if device == "cpu" else None, copy=copy), device)
