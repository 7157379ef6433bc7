"""Reductions: over rows, columns and both, of a million elements and of ten million."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

import mat

from .row import BEST, Row
from .timing import Thunk

with suppress(ImportError):
    import torch

NAMES = ("sum", "max", "mean")
SHAPES = ((1000, 1000), (10_000, 1000), (10_000_000,))


def reductions() -> Iterator[Row]:
    """Sums, maxima and means, each into a new result, as users write them."""
    rng = np.random.default_rng(0)
    for dtype in ("float32", "float64"):
        for shape in SHAPES:
            a = rng.standard_normal(shape).astype(dtype)
            for axis in (0, 1, None) if len(shape) == 2 else (None,):
                where = "all" if axis is None else f"axis {axis}"
                size = " x ".join(map(str, shape))
                for name in NAMES:
                    yield Row(f"{name}, {size}, {where}, {dtype}", _thunks(name, a, axis), BEST,
                              1.0)


def _thunks(name: str, a: Any, axis: int | None) -> dict[str, Thunk]:
    x, ours, numpys = mat.from_numpy(a), getattr(mat, name), getattr(np, name)
    found: dict[str, Thunk] = {"mat": lambda: ours(x, axis), "numpy": lambda: numpys(a, axis=axis)}
    if "torch" in globals():
        t = torch.from_numpy(a)
        theirs = getattr(torch, {"max": "amax"}.get(name, name))
        axes = tuple(range(a.ndim)) if axis is None else (axis,)
        whole = torch.max if name == "max" else theirs  # faster than amax where all is reduced
        found["torch"] = (lambda: whole(t)) if axis is None else (lambda: theirs(t, dim=axes))
    return found
