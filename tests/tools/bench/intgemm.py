"""Products of integers and 16-bit floats: nobody's BLAS has them, so NumPy loops, and torch for
some types too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import ml_dtypes
import numpy as np

import mat

from .row import Row

with suppress(ImportError):
    import torch

FIFTIETH = 1 / 50  # the share of NumPy's time that products of large matrices may take
SHAPES = (((512, 512), (512, 512)), ((64, 64), (64, 64)), ((1, 512), (512, 512)),
          ((64, 32, 32), (32, 32)))
DTYPES: tuple[Any, ...] = ("int8", "int32", "int64", "float16", ml_dtypes.bfloat16)


def rows() -> Iterator[Row]:
    """``matmul(out=)`` for matrices, small matrices, a vector, and a stack."""
    for left, right in SHAPES:
        for dtype in DTYPES:
            yield _row(left, right, np.dtype(dtype))
    yield _into_int32()


def _operands(left: tuple[int, ...], right: tuple[int, ...], dtype: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.integers(-9, 10, left).astype(dtype), rng.integers(-9, 10, right).astype(dtype)


def _row(left: tuple[int, ...], right: tuple[int, ...], dtype: np.dtype[Any]) -> Row:
    a, b = _operands(left, right, dtype)
    x, y, c = mat.array(a), mat.array(b), np.matmul(a, b).astype(dtype)
    z = mat.array(c)
    competitors = {"mat": lambda: mat.matmul(x, y, out=z),
                   "numpy": lambda: np.matmul(a, b, out=c, casting="same_kind")}
    if "torch" in globals():
        kind = getattr(torch, dtype.name)
        s, t = (torch.tensor(v.astype(np.float32)).to(kind) for v in (a, b))
        u = torch.matmul(s, t)
        competitors["torch"] = lambda: torch.matmul(s, t, out=u)
    goal = FIFTIETH if left == (512, 512) and dtype.name in ("int8", "int32", "float16") else 1.0
    return Row(f"matmul, {' @ '.join('x'.join(map(str, n)) for n in (left, right))}, {dtype.name}",
               competitors, limit=goal)


def _into_int32() -> Row:
    """All of the sums of int8 products; NumPy has to widen the operands for that."""
    a, b = _operands((512, 512), (512, 512), "int8")
    x, y, z, c = mat.array(a), mat.array(b), mat.zeros(512, 512,
                                                       dtype="int32"), np.zeros((512, 512), "int32")
    competitors = {"mat": lambda: mat.matmul(x, y, out=z),
                   "numpy": lambda: np.matmul(a, b, out=c, dtype="int32")}
    if "torch" in globals():
        s, t = torch.tensor(a), torch.tensor(b)
        competitors["torch"] = lambda: torch._int_mm(s, t)
    return Row("matmul, 512x512 @ 512x512, int8 to int32", competitors, limit=FIFTIETH)
