"""Element-wise functions into a given place, of ten million elements and of a thousand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.special

import mat

from .row import Goal, Row
from .timing import Thunk

with suppress(ImportError):
    import torch

GROUP = "functions"
GOALS = (Goal(GROUP, "torch", 1.0), Goal(GROUP, "numpy", 0.5))
NUMPY: dict[str, Any] = {"logistic": scipy.special.expit}  # the others are NumPy's own
TORCH = {"logistic": "sigmoid"}
NAMES = ("exp", "log", "logistic", "tanh", "sin", "sqrt", "square")


def large_functions() -> Iterator[Row]:
    """exp, log, logistic ... at 1e7: a goal for their geometric mean."""
    yield from (row._replace(group=GROUP) for row in _rows(10_000_000))


def small_functions() -> Iterator[Row]:
    """The same at 1e3."""
    yield from (row._replace(limit=1.0) for row in _rows(1000))


def _rows(n: int) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    for dtype in ("float32", "float64"):
        a = rng.uniform(0.1, 4, n).astype(dtype)
        for name in NAMES:
            yield Row(f"{name}, {n:.0e}, {dtype}".replace("e+0", "e"), _thunks(name, a))


def _thunks(name: str, a: Any) -> dict[str, Thunk]:
    b, x = np.empty_like(a), mat.from_numpy(a)
    y, ours = mat.from_numpy(np.empty_like(a)), getattr(mat, name)
    numpys = NUMPY.get(name) or getattr(np, name)
    found: dict[str, Thunk] = {"mat": lambda: ours(x, out=y), "numpy": lambda: numpys(a, out=b)}
    if "torch" in globals():
        s, t = torch.from_numpy(a), torch.empty(a.shape, dtype=torch.from_numpy(a).dtype)
        torchs = getattr(torch, TORCH.get(name, name))
        found["torch"] = lambda: torchs(s, out=t)
    return found
