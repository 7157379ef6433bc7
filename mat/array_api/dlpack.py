"""Arrays from elsewhere without a copy, by DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..create import adopted, from_numpy
from ..mat import Mat
from .arguments import like, place

__all__ = ["from_dlpack"]


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Mat:
    """A Mat of the array `x` of whatever library, sharing its memory if it can; `copy` and `device` as in `asarray`."""
    if isinstance(x, Mat):
        return like(x.copy() if copy else x.over(x.layout), x, device)
    a = np.from_dlpack(x, device="cpu", copy=copy) if copy is not None else np.from_dlpack(x)
    found = from_numpy(a) if not copy else adopted(a)
    return place(found, device)
