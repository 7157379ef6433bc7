"""Everyday statements beside NumPy and torch: arithmetic, comparisons, functions, reductions,
copies, conversions, indexing, slices, broadcasts, joins, scans.

A statement has `x`, `y` and `z` of one shape, masks `b` and `c`, integers `i`, and for squares
vectors `v` and `w`; torch's is written beside it where it differs.
"""

from __future__ import annotations

from collections.abc import Iterator
from timeit import Timer
from typing import Any

import numpy as np

import mat

from .peer_libraries import Libraries
from .row import BEST, Row

LIMIT = 1.2
STATEMENTS: dict[str, str] = {  # ours and NumPy's, and torch's, if it is another
    "x + y": "", "xp.add(x, y, out=z)": "", "x * 2.0": "", "xp.multiply(x, 2.0, out=z)": "",
    "x > y": "", "xp.greater(x, y, out=c)": "xp.gt(x, y, out=c)", "xp.exp(x)": "",
    "xp.exp(x, out=z)": "", "x.sum()": "", "x.max()": "", "x.copy()": "x.clone()",
    "z[...] = x": "z.copy_(x)", "x.astype('float16')": "x.half()", "x[i]": "", "x[b]": "",
    "x[b] = 0.5": "", "x[::2] + 1.0": "", "z[1:] = x[:-1]": "", "xp.concat([x, y])": "",
    "x.cumsum()": "x.cumsum(0)", "xp.where(b, x, y)": ""}
SQUARES = {"x + v": "", "xp.add(x, v, out=z)": "", "x.T.copy()": "x.T.contiguous()",
           "z[...] = x.T": "z.copy_(x.T)", "x.sum(0)": "", "x.sum(1)": "",
           "x[:, 1]": "", "x @ v": "", "xp.matmul(x, v, out=w)": ""}
SETUP = "x, y, z, b, c, i, v, w = given"


def rows(found: Libraries, n: int) -> Iterator[Row]:
    """The statements, for vectors up to ten times `n` elements, and for squares up to 16 times."""
    lengths = [m for m in (1000, n // 10, n, 10 * n) if m >= 10]
    for dtype in ("float32", "float64"):
        for m in lengths:
            given = _given((m,), dtype)
            for statement, torchs in STATEMENTS.items():
                yield _row(statement, torchs, given, f"{m:.0e}".replace("e+0", "e"), found)
        side = max(2, int(n ** 0.5))
        for m in (100, side, 4 * side):
            given = _given((m, m), dtype)
            for statement, torchs in SQUARES.items():
                yield _row(statement, torchs, given, f"{m} x {m}", found)


def _given(shape: tuple[int, ...], dtype: str) -> list[Any]:
    """Return x, y, z, b, c, i, v and w as arrays."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal(shape).astype(dtype)
    return [a, a[::-1].copy(), a.copy(), a > 0, a > 0,
            rng.integers(0, shape[0], shape[0]),
            *(a.reshape(-1)[:n].copy() for n in (shape[-1], shape[0]))]


def _row(statement: str, torchs: str, arrays: list[Any], size: str, found: Libraries) -> Row:
    ours = Timer(statement, SETUP, globals={"given": [mat.array(a) for a in arrays], "xp": np})
    numpys = Timer(statement, SETUP, globals={"given": [a.copy() for a in arrays], "xp": np})
    competitors = {"mat": ours, "numpy": numpys}
    if "torch" in found.found:
        torch = found.found["torch"]
        competitors["torch"] = Timer(torchs or statement, SETUP, globals={
            "given": [torch.from_numpy(a.copy()) for a in arrays], "xp": torch})
    return Row(f"{statement}, {size}, {arrays[0].dtype}", competitors, BEST, LIMIT)
