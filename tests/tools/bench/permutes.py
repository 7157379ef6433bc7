"""Copies into another order of axes: ``mat.transpose(a, axes, out=b)``, ``np.copyto`` and torch's
``copy_``.

All of them read one array and write another, so that neither page faults decide nor whose memory is
in a cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

import mat

from .row import BEST, Goal, Row
from .timing import Thunk

with suppress(ImportError):
    import torch

CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {  # shape, axes
    "square 1000": ((1000, 1000), (1, 0)),
    "square 1024": ((1024, 1024), (1, 0)),
    "odd 1023 x 1025": ((1023, 1025), (1, 0)),
    "small 100 x 60": ((100, 60), (1, 0)),
    "tall 100000 x 17": ((100_000, 17), (1, 0)),
    "batched 64 x 128 x 100": ((64, 128, 100), (0, 2, 1)),
    "batched 1000 x 24 x 24": ((1000, 24, 24), (0, 2, 1)),
    "attention 8 x 256 x 8 x 64": ((8, 256, 8, 64), (0, 2, 1, 3)),
    "attention 4 x 512 x 12 x 32": ((4, 512, 12, 32), (0, 2, 1, 3)),
    "keys 8 x 256 x 8 x 64": ((8, 256, 8, 64), (0, 2, 3, 1)),
    "NCHW to NHWC, 32 x 64 x 28 x 28": ((32, 64, 28, 28), (0, 2, 3, 1)),
    "NHWC to NCHW, 32 x 28 x 28 x 64": ((32, 28, 28, 64), (0, 3, 1, 2)),
    "image to planes, 4 x 480 x 640 x 3": ((4, 480, 640, 3), (0, 3, 1, 2)),
    "planes to image, 4 x 3 x 480 x 640": ((4, 3, 480, 640), (0, 2, 3, 1)),
    "reversed 96 x 100 x 104": ((96, 100, 104), (2, 1, 0)),
    "reversed 128 x 128 x 64": ((128, 128, 64), (2, 1, 0)),
    "reversed 30 x 31 x 32 x 33": ((30, 31, 32, 33), (3, 2, 1, 0)),
    "reversed 16 x 5": ((16,) * 5, (4, 3, 2, 1, 0)),
    "reversed 10 x 6": ((10,) * 6, (5, 4, 3, 2, 1, 0)),
    "first to last, 50 x 140 x 150": ((50, 140, 150), (1, 2, 0)),
    "last to first, 140 x 150 x 50": ((140, 150, 50), (2, 0, 1)),
    "pairs 1000 x 600 x 2": ((1000, 600, 2), (1, 0, 2)),
    "triples 700 x 600 x 3": ((700, 600, 3), (1, 0, 2)),
    "last axis of 2, 600000 x 2": ((600_000, 2), (1, 0)),
    "last axis of 5, 200000 x 5": ((200_000, 5), (1, 0)),
    "last axis of 5 in between, 400 x 500 x 5": ((400, 500, 5), (1, 2, 0)),
}
DTYPES = ("float32", "float64", "complex128", "int8")
LARGE = ((4096, 4096), (5000, 3000))
WORST = 1 / 0.9  # a single case over the best of the others
GOALS = (Goal("permute", "torch", 1 / 3), Goal("permute", "numpy", 1 / 6))


def rows() -> Iterator[Row]:
    for name, (shape, axes) in CASES.items():
        for dtype in DTYPES:
            yield _row(f"{name}, {dtype}", shape, axes, dtype)
    for shape in LARGE:
        for dtype in DTYPES:
            row = _row(f"large {shape[0]} x {shape[1]}, {dtype}", shape, (1, 0), dtype)
            yield row
            yield _over_a_copy(row.name, row.competitors["mat"], shape, dtype)


def _row(name: str, shape: tuple[int, ...], axes: tuple[int, ...], dtype: str) -> Row:
    a = (np.arange(np.prod(shape)) % 100).astype(dtype).reshape(shape)
    b = np.ones(a.transpose(axes).shape, dtype)
    x, y = mat.from_numpy(a), mat.from_numpy(b)
    row = Row(name, {"mat": lambda: mat.transpose(x, axes, out=y),
                     "numpy": lambda: np.copyto(b, a.transpose(axes))},
              against=BEST, limit=WORST, group="permute")
    if "torch" not in globals():
        return row
    s, t = torch.from_numpy(a), torch.from_numpy(b)
    return row._replace(competitors={**row.competitors, "torch": lambda: t.copy_(s.permute(axes))})


def _over_a_copy(name: str, ours: Thunk, shape: tuple[int, ...], dtype: str) -> Row:
    """The same against a copy that transposes nothing."""
    a, b = np.ones(shape, dtype), np.ones(shape, dtype)
    thunks = {"mat": ours, "numpy": lambda: np.copyto(b, a)}
    return Row(f"{name} over a plain copy", thunks, limit=2, group="transpose over copy")
