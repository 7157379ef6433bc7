"""What goes at the speed of memory: BLAS level 1, fill, sums, products, fused forms and scaled
rows, at ten million elements.

Each peer does it in the fewest passes that it has, into a given place.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from scipy.linalg import blas as scipy_blas

import mat

from .row import BEST, Row
from .timing import Thunk

with suppress(ImportError):
    import torch

LIMIT = 1 / 0.95
ROWS, COLUMNS = 10_000, 1000


def long_vectors() -> Iterator[Row]:
    """axpy, scal, dot ... geerv: each against the best of all."""
    for dtype in ("float32", "float64"):
        rng = np.random.default_rng(0)
        arrays = [rng.uniform(0.5, 1.5, ROWS * COLUMNS).astype(dtype) for _ in range(3)]
        every = _ours(*arrays)
        numpys, scipys, torchs = _numpys(*arrays), _scipys(*arrays), _torchs(*arrays)
        for name, ours in every.items():
            found: dict[str, Thunk] = {"mat": ours, "numpy": numpys[name]}
            found |= {peer: thunks[name] for peer,
                      thunks in (("scipy", scipys), ("torch", torchs)) if name in thunks}
            yield Row(f"{name}, 1e7, {dtype}", found, BEST, LIMIT)


def _ours(a: Any, b: Any, c: Any) -> dict[str, Thunk]:
    x, y, z = map(mat.array, (a, b, c))
    xx, yy, zz = (v.reshape(ROWS, COLUMNS) for v in (x, y, z))
    down, across = x[:ROWS].copy(), x[:COLUMNS].copy()
    return {
        "axpy": lambda: mat.axpy(1e-9, x, z), "scal": lambda: mat.scal(1.0000001, z),
        "dot": lambda: mat.blas.dot(x, y),
        "nrm2": lambda: mat.nrm2(x), "asum": lambda: mat.asum(x), "fill": lambda: z.fill_(1.0),
        "add": lambda: mat.add(x, y, out=z), "multiply": lambda: mat.multiply(x, y, out=z),
        "geem": lambda: mat.geem(1.5, xx, yy, 0.5, zz),
        "geem, beta 0": lambda: mat.geem(1.0, xx, yy, 0, zz),
        "scale_rows": lambda: mat.scale_rows(down, xx, out=zz),
        "scale_columns": lambda: mat.scale_columns(across, xx, out=zz),
        "geerv": lambda: mat.geerv(1.5, xx, across, 0.5, zz),
        "geerv, beta 0": lambda: mat.geerv(1.5, xx, across, 0, zz),
    }


def _numpys(a: Any, b: Any, c: Any) -> dict[str, Thunk]:
    c, t = c.copy(), np.empty_like(c)
    aa, bb, cc, tt = (v.reshape(ROWS, COLUMNS) for v in (a, b, c, t))
    down, across = a[:ROWS, None].copy(), a[:COLUMNS].copy()

    def fused(term: Any, second: Any) -> None:
        np.multiply(term, second, out=tt)
        np.multiply(tt, 1.5, out=tt)
        np.multiply(cc, 0.5, out=cc)
        np.add(cc, tt, out=cc)

    return {
        "axpy": lambda: np.add(c, np.multiply(a, 1e-9, out=t), out=c),
        "scal": lambda: np.multiply(c, 1.0000001, out=c),
        "dot": lambda: np.dot(a, b), "nrm2": lambda: np.linalg.norm(a),
        "asum": lambda: np.abs(a, out=t).sum(),
        "fill": lambda: c.fill(1.0), "add": lambda: np.add(a, b, out=c),
        "multiply": lambda: np.multiply(a, b, out=c),
        "geem": lambda: fused(aa, bb), "geem, beta 0": lambda: np.multiply(aa, bb, out=cc),
        "scale_rows": lambda: np.multiply(aa, down, out=cc),
        "scale_columns": lambda: np.multiply(aa, across, out=cc),
        "geerv": lambda: fused(aa, across),
        "geerv, beta 0": lambda: np.multiply(aa, 1.5 * across, out=cc),
    }


def _scipys(a: Any, b: Any, c: Any) -> dict[str, Thunk]:
    c = c.copy()
    names = ("axpy", "scal", "dot", "nrm2", "asum")
    axpy, scal, dot, nrm2, asum = scipy_blas.get_blas_funcs(names, (a,))
    return {"axpy": lambda: axpy(a, c, a=1e-9), "scal": lambda: scal(1.0000001, c),
            "dot": lambda: dot(a, b),
            "nrm2": lambda: nrm2(a), "asum": lambda: asum(a)}


def _torchs(a: Any, b: Any, c: Any) -> dict[str, Thunk]:
    if "torch" not in globals():
        return {}
    s, t, u = (torch.from_numpy(v.copy()) for v in (a, b, c))
    ss, tt, uu = (v.reshape(ROWS, COLUMNS) for v in (s, t, u))
    down, across = s[:ROWS, None].clone(), s[:COLUMNS].clone()
    norm = torch.linalg.vector_norm
    return {
        "axpy": lambda: u.add_(s, alpha=1e-9), "scal": lambda: u.mul_(1.0000001),
        "dot": lambda: torch.dot(s, t).item(),
        "nrm2": lambda: norm(s).item(), "asum": lambda: norm(s, 1).item(),
        "fill": lambda: u.fill_(1.0),
        "add": lambda: torch.add(s, t, out=u), "multiply": lambda: torch.mul(s, t, out=u),
        "geem": lambda: uu.mul_(0.5).addcmul_(ss, tt, value=1.5),
        "geem, beta 0": lambda: torch.mul(ss, tt, out=uu),
        "scale_rows": lambda: torch.mul(ss, down, out=uu),
        "scale_columns": lambda: torch.mul(ss, across, out=uu),
        "geerv": lambda: uu.mul_(0.5).addcmul_(ss, across, value=1.5),
        "geerv, beta 0": lambda: torch.mul(ss, 1.5 * across, out=uu),
    }
