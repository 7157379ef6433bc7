"""What to measure of copies on a GPU: `cases()`, each with what it should reach. Nothing here has
been run on one yet.

The peers are the device's own copy of as many bytes, and torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from math import prod
from typing import NamedTuple

import numpy as np

import mat

from .timing import Thunk

with suppress(ImportError):
    import torch

LARGE = 1 << 28  # bytes of an operand that no cache holds


class Case(NamedTuple):
    """``out.assign_(x.permute(axes))`` for `x` of that shape and dtype, and a packed `out` of that
    dtype or of `to`.

    `of_copy`: the part of the device's copy rate that it should at least reach; `over_torch`: how
    many times torch's.
    """

    name: str
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    dtype: str
    to: str = ""
    of_copy: float | None = None
    over_torch: float | None = None

    @property
    def nbytes(self) -> int:
        """What is read and written."""
        return prod(self.shape) * (np.dtype(self.dtype).itemsize
                                   + np.dtype(self.to or self.dtype).itemsize)


SIZES = {"int8": 1, "float16": 2, "float32": 4, "float64": 8, "complex128": 16}
GOAL = {"float32": 0.85, "float64": 0.85}  # of large transposes


def cases() -> Iterator[Case]:
    """All of them: large ones first, then those of a network's sizes, then conversions."""
    for dtype, size in SIZES.items():
        yield from _transposes(dtype, size)
    for dtype in ("float16", "float32"):
        yield from _of_networks(dtype)
    for dtype, to in (("float32", "float64"), ("float64", "float32"), ("float32", "float16"),
                      ("float16", "float32"),
                      ("float32", "int8"), ("uint8", "float32"), ("int64", "int32")):
        n = LARGE // max(np.dtype(dtype).itemsize, np.dtype(to).itemsize)
        yield Case(f"{dtype} to {to}", (n,), (0,), dtype, to, of_copy=0.9)
        yield Case(f"{dtype} to {to}, transposed", (1 << 13, n >> 13), (1, 0), dtype, to)


def _transposes(dtype: str, size: int) -> Iterator[Case]:
    n = LARGE // size
    edge = 1 << (n.bit_length() // 2)
    goal, over = GOAL.get(dtype), 3.0 if dtype in GOAL else None
    yield Case(f"copy, {dtype}", (n,), (0,), dtype, of_copy=0.95)
    yield Case(f"square, {dtype}", (edge, n // edge), (1, 0), dtype, of_copy=goal, over_torch=over)
    yield Case(f"odd, {dtype}", (edge - 1, n // edge - 1), (1, 0), dtype, over_torch=over)
    yield Case(f"batched 256 x 512, {dtype}", (n >> 17, 256, 512), (0, 2, 1), dtype, of_copy=goal,
               over_torch=over)
    yield Case(f"batched 24 x 24, {dtype}", (n // 576, 24, 24), (0, 2, 1), dtype)
    yield Case(f"reversed rank 3, {dtype}", (n >> 16, 256, 256), (2, 1, 0), dtype)
    yield Case(f"reversed rank 4, {dtype}", (n >> 18, 64, 64, 64), (3, 2, 1, 0), dtype)
    yield Case(f"(3, 1, 2, 0), {dtype}", (n >> 18, 64, 64, 64), (3, 1, 2, 0), dtype)
    yield Case(f"reversed 10 x 6 and 50, {dtype}", (*(10,) * 6, max(1, n // 10**6)),
               (6, 5, 4, 3, 2, 1, 0), dtype)
    yield Case(f"keeps 64 of the last axis, {dtype}", (n >> 16, 32, 32, 64), (0, 2, 1, 3), dtype,
               of_copy=0.95)
    yield Case(f"keeps 67 of the last axis, {dtype}", (n // (67 << 10), 32, 32, 67), (0, 2, 1, 3),
               dtype)
    for channels in (2, 3, 4):
        places = n // channels // 4096 * 4096
        yield Case(f"{channels} channels to planes, {dtype}", (4096, places // 4096, channels),
                   (2, 0, 1), dtype)
        yield Case(f"{channels} planes to channels, {dtype}", (channels, 4096, places // 4096),
                   (1, 2, 0), dtype)


def _of_networks(dtype: str) -> Iterator[Case]:
    for name, shape, axes in (
            ("attention heads", (32, 2048, 16, 64), (0, 2, 1, 3)),
            ("attention keys", (32, 2048, 16, 64), (0, 2, 3, 1)),
            ("NHWC to NCHW", (128, 56, 56, 256), (0, 3, 1, 2)),
            ("NCHW to NHWC", (128, 256, 56, 56), (0, 2, 3, 1)),
            ("images to planes", (256, 224, 224, 3), (0, 3, 1, 2)),
            ("weights", (4096, 4096), (1, 0)),
            ("weights, small", (512, 768), (1, 0))):
        yield Case(f"{name}, {dtype}", shape, axes, dtype)


def thunk(case: Case) -> Thunk:
    """What does it once, on the device in use; operands are there already."""
    x = mat.zeros(case.shape, dtype=case.dtype)
    out = mat.zeros(tuple(case.shape[a] for a in case.axes), dtype=case.to or case.dtype)
    view = x.permute(*case.axes)

    def run() -> None:
        out.assign_(view)

    run()
    return run


def torch_thunk(case: Case) -> Thunk | None:
    """The same by torch, on the GPU; None where torch, its GPU, or the dtype is missing."""
    if "torch" not in globals() or not torch.cuda.is_available():
        return None
    x = torch.zeros(case.shape, dtype=getattr(torch, case.dtype), device="cuda")
    out = torch.zeros([case.shape[a] for a in case.axes],
                      dtype=getattr(torch, case.to or case.dtype), device="cuda")
    return lambda: out.copy_(x.permute(case.axes))
