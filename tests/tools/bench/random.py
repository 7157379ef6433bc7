"""Random numbers: ten million, uniform and normal, by NumPy's fastest generator and by torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

import mat

from .row import BEST, Row
from .timing import Thunk

with suppress(ImportError):
    import torch

N = 10_000_000


def rows() -> Iterator[Row]:
    for dtype in ("float32", "float64"):
        x, a, rng = mat.empty(N, dtype=dtype), np.empty(N, dtype), np.random.default_rng(0)
        yield _row(f"uniform, 1e7, {dtype}", dtype, lambda x=x: x.uniform_(),
                   lambda a=a, rng=rng: rng.random(out=a, dtype=a.dtype), "uniform_")
        yield _row(f"normal, 1e7, {dtype}", dtype, lambda x=x: x.normal_(),
                   lambda a=a, rng=rng: rng.standard_normal(out=a, dtype=a.dtype), "normal_")


def _row(name: str, dtype: str, ours: Thunk, numpys: Thunk, method: str) -> Row:
    row = Row(name, {"mat": ours, "numpy": numpys}, against=BEST, limit=1 / 1.5, group="random")
    if "torch" not in globals():
        return row
    t = torch.empty(N, dtype=getattr(torch, dtype))
    return row._replace(competitors={**row.competitors, "torch": getattr(t, method)})
