"""What is measured: each row is one task, ours first, then the same by the peers; with the ratio it
should stay under.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np
from scipy.linalg import blas as scipy_blas

import mat

from . import (
    eager,
    elementwise,
    files,
    functions,
    fused,
    intgemm,
    kernels,
    level1,
    nn,
    peers,
    permutes,
    programs,
    random,
    reduce,
)
from .row import Goal, Row
from .timing import Thunk

with suppress(ImportError):
    import torch


def have_torch() -> bool:
    return "torch" in globals()


def _with_torch(row: Row, **thunks: Thunk) -> Row:
    return row._replace(competitors={**row.competitors, **thunks}) if have_torch() else row


def small() -> Iterator[Row]:
    """Operations in place on ten elements: the cost of a call."""
    x, y, a, b = mat.ones(10), mat.ones(10), np.ones(10), np.ones(10)
    row = Row("axpy, 10",
              {"mat": lambda: mat.axpy(1e-9, x, y), "numpy": lambda: np.add(b, 1e-9 * a, out=b),
               "scipy": lambda: scipy_blas.daxpy(a, b, a=1e-9)}, limit=1.5)
    scal = Row("scal, 10",
               {"mat": lambda: mat.scal(1.0, x), "numpy": lambda: np.multiply(a, 1.0, out=a),
                "scipy": lambda: scipy_blas.dscal(1.0, a)})
    dot = Row("dot, 10", {"mat": lambda: mat.blas.dot(x, y), "numpy": lambda: np.dot(a, b),
                          "scipy": lambda: scipy_blas.ddot(a, b)})
    fill = Row("fill_, 10", {"mat": lambda: x.fill_(0.5), "numpy": lambda: a.fill(0.5)})
    z, c = mat.zeros(10), np.zeros(10)
    exp = Row("exp_, 10", {"mat": lambda: z.fill_(0.5).exp_(),
                           "numpy": lambda: (c.fill(0.5), np.exp(c, out=c))})
    if have_torch():
        s, t = torch.ones(10, dtype=torch.float64), torch.ones(10, dtype=torch.float64)
        u = torch.ones(10, dtype=torch.float64)
        row = _with_torch(row, torch=lambda: t.add_(s, alpha=1e-9))
        scal = _with_torch(scal, torch=lambda: s.mul_(1.0))
        dot = _with_torch(dot, torch=lambda: torch.dot(s, t))
        fill = _with_torch(fill, torch=lambda: s.fill_(0.5))
        exp = _with_torch(exp, torch=lambda: u.fill_(0.5).exp_())
    yield from (row, scal, dot, fill, exp, _after_a_trace())


def _after_a_trace() -> Row:
    """The first row again, when a trace has been and gone: a ledger that is off must not be
    felt.
    """
    x, y, a, b = mat.ones(10), mat.ones(10), np.ones(10), np.ones(10)
    with mat.debug.trace():
        mat.axpy(1e-9, x, y)
    return Row("axpy, 10, after mat.debug.trace()", {"mat": lambda: mat.axpy(1e-9, x, y),
                                                     "numpy": lambda: np.add(b, 1e-9 * a, out=b)},
               limit=1.5)


def products() -> Iterator[Row]:
    """Matrix products into a given place."""
    rng = np.random.default_rng(0)
    for dtype in ("float32", "float64"):
        for n in (8, 32, 256, 1024):
            yield _product(n, *(rng.standard_normal((n, n)).astype(dtype) for _ in range(3)))


def _product(n: int, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Row:
    x, y, z = mat.array(a), mat.array(b), mat.array(c)
    products = {"mat": lambda: mat.matmul(x, y, out=z), "numpy": lambda: np.matmul(a, b, out=c)}
    row = Row(f"matmul(out=), {n}, {a.dtype}", products, limit=1.03 if n >= 256 else 1.3)
    if not have_torch():
        return row
    s, t, u = torch.tensor(a), torch.tensor(b), torch.tensor(c)
    return _with_torch(row, torch=lambda: torch.matmul(s, t, out=u))


def imports() -> Iterator[Row]:
    """A fresh interpreter that imports."""
    yield Row("import mat", {"mat": _importing("mat"), "numpy": _importing("numpy")}, limit=1.6)


def _importing(what: str) -> Thunk:
    return lambda: subprocess.run([sys.executable, "-c", f"import {what}"], check=True)


GROUPS: tuple[Callable[[], Iterator[Row]], ...] = (  # each yields rows
    eager.rows, small, products, random.rows, elementwise.large_functions,
    elementwise.small_functions, level1.long_vectors, reduce.reductions, intgemm.rows,
    functions.rows, fused.rows, permutes.rows, nn.rows, kernels.rows, files.files, imports,
    programs.rows, peers.rows, eager.cuda_calls)
# what whole groups should reach
GOALS: tuple[Goal, ...] = (*permutes.GOALS, *elementwise.GOALS, *programs.GOALS, *functions.GOALS)


def _title(group: Callable[[], Iterator[Row]]) -> str:
    """What a report calls the rows of a function: its name, or where it has none of its own, its
    module's.
    """
    return group.__name__ if group.__name__ != "rows" else group.__module__.rpartition(".")[2]


SECTIONS = {_title(group): group for group in GROUPS}
