"""What everybody writes: ``x + y``, ``x[3]``, ``x.T``, ``x.sum()`` ..., of ten elements unless a
name says otherwise.

Most statements are run by both: for NumPy, `mat` and `xp` stand for NumPy, and the operands are
arrays. `timeit` has the statement itself, not a function, whose call would take longer than some of
them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from timeit import Timer
from typing import Any
from unittest.mock import patch

import numpy as np

import mat
from mat.devices.device import device_named

from . import epoch
from .row import Row
from .timing import CALM, QUICK, Pace

TEN = {  # the limit, in NumPy's times
    "x + y": 1.0, "x * 2.0": 1.0, "x -= y": 1.0, "mat.exp(x)": 1.0, "x > 0": 1.0, "x.sum()": 1.0,
    "x.max()": None, "x.mean()": None, "x @ X": 1.0, "x[2:7]": 1.5, "X.T": 1.5, "X[1]": 1.5,
    "x.reshape(2, 5)": 1.5, "x[3]": 3.0, "x[3] = 1.0": 3.0, "float(x.sum())": 1.2,
    "mat.zeros(10)": 2.0, "mat.array(ten)": 1.5}
ABSOLUTE = (  # a name, ours, what NumPy does meanwhile, and the limit in seconds
    ("np.asarray(x)", "np.asarray(x)", "np.asarray(x)", 500e-9),
    ("mat.from_numpy(a)", "mat.from_numpy(a)", "a.view()", 500e-9),
    ("np.add(x, y)", "np.add(x, y)", "np.add(x, y)", 1.5e-6),
    ("np.exp(x)", "np.exp(x)", "np.exp(x)", 1.5e-6),
    ('with x.facet("array", "input")', 'with x.facet("array", "input"): pass', "a.view()", 200e-9),
    ("with_facets of two", "with mat.with_facets((x, 'array', 'input'), (y, 'array', 'input')):"
                           " pass", "a.view()", 600e-9))
THOUSAND = (  # at 1.5 times NumPy's time
    "x[x > 0]", "x[b]", "x[i]", "x[b] = 0.5", "x[i] = 0.5", "x[x > 0] = x[x > 0]", "x.take(i)",
    "x.clip(-0.5, 0.5)", "x.clip(y, z)", "xp.isnan(x)", "np.isnan(x)", "xp.isfinite(x)", "b.any()",
    "b.all()", "mat.concat([x, y])", "mat.stack([x, y])", "x.cumsum()", "x.cumprod()")
CHAIN = "1.5*x + 2.5*y - 0.5"
BLOCKS = QUICK._replace(repeats=5)
# a statement, what NumPy does meanwhile, and the limit in seconds
ON_DEVICE = (("x += y", "x += y", 2e-6), ("x + y", "x + y", 4e-6))
ON_CUDA = (*ON_DEVICE, ("x.exp_()", "np.exp(x, out=z)", 2e-6),
           ("mat.gemm(1.0, X, X, 0.0, P)", "np.matmul(X, X)", 3e-6),
           ("float(x.sum())", "float(x.sum())", 8e-6))
# the same of many elements: what NumPy does meanwhile, and the limit in seconds
MANY = 100_000
CALLS = {
    "x + y": ("x + y", 2.3e-6), "x += y": ("x += y", 2.3e-6), "x.copy()": ("x.copy()", 4e-6),
    "x.astype('f4')": ("x.astype('f4')", 4e-6), "x[::2].copy()": ("x[::2].copy()", 4e-6),
    "x.fill_(3.0)": ("x.fill(3.0)", 4e-6), "x.sum()": ("x.sum()", 4e-6),
    "x.max()": ("x.max()", 4e-6), "x.argmax()": ("x.argmax()", 4e-6),
    "x.mean()": ("x.mean()", 4e-6), "x.var()": ("x.var()", 4e-6), "b.any()": ("b.any()", 4e-6),
    "X @ X": ("X @ X", 4e-6), "xp.where(b, x, y)": ("xp.where(b, x, y)", 4e-6),
    "xp.where(b, x, 0.0)": ("xp.where(b, x, 0.0)", 4e-6),
    "xp.concatenate([x, y])": ("xp.concatenate([x, y])", 4e-6),
    "xp.stack([x, y])": ("xp.stack([x, y])", 4e-6), "xp.roll(x, 1)": ("xp.roll(x, 1)", 10e-6),
    "x[b]": ("x[b]", 4e-6), "x.take(i)": ("x.take(i)", 4e-6), "x[i]": ("x[i]", 4e-6),
    "x.cumsum()": ("x.cumsum()", 4e-6), "xp.sort(x)": ("xp.sort(x)", 10e-6),
    "xp.median(x)": ("xp.median(x)", 10e-6), "x.clip(0.0, 1.0)": ("x.clip(0.0, 1.0)", 4e-6),
    "with x.facet('cuda', 'input'): pass": ("x.copy()", 2.1e-6)}
SETUP = "x, y, z, X, b, i, a, ten = (each.copy() for each in given)"
TIMES = 500  # calls in one block that uses a device
WARM = f"""{SETUP}
with mat.use_device(device):
    x += y
    P = X + X
"""
BLOCK = """
with mat.use_device(device):
    for _ in range(times):
        {}
"""


def rows() -> Iterator[Row]:
    """Calls, views, items, accesses, indexing, long operands, an epoch, and calls on devices."""
    for statement, limit in TEN.items():
        yield _same(statement, 10, limit)
    for name, statement, beside, most in ABSOLUTE:
        yield Row(name, {"mat": _ours(statement, 10), "numpy": _numpys(beside, 10)}, most=most,
                  pace=QUICK)
    for statement in THOUSAND:
        yield _same(statement, 1000, 1.5, ", 1e3")
    for power in (5, 6, 7):
        yield _new(10**power, f"x + y, new, 1e{power}")
    for power in (3, 5, 6, 7):
        yield _same(CHAIN, 10**power, 1.0, f", 1e{power}", CALM if power > 3 else QUICK)
    yield from epoch.rows()
    with _emulated_at_once():
        yield from _on_device("emulated", "emulated", ON_DEVICE)
    with _mock_driver([statement for statement, _, _ in ON_CUDA]) as absent:
        if absent:
            print(f"left out: calls on the mock CUDA driver ({absent})")
        else:
            yield from _on_device("cuda", "mock CUDA driver", ON_CUDA)


def _same(statement: str, n: int, limit: float | None, size: str = "", pace: Pace = QUICK) -> Row:
    return Row(statement.replace("ten", "list of 10") + size,
               {"mat": _ours(statement, n), "numpy": _numpys(statement, n)}, limit=limit, pace=pace)


def _new(n: int, name: str) -> Row:
    """A new result, against the same into a given place: what memory costs."""
    return Row(name, {"mat": _ours("x + y", n), "out=": _ours("mat.add(x, y, out=z)", n),
                      "numpy": _numpys("x + y", n)}, "out=", 1.1)


def _on_device(device: str, title: str, statements: Iterable[tuple[str, str, float]],
               n: int = 10) -> Iterator[Row]:
    """Calls that compute next to nothing, so that all time is our own."""
    for statement, beside, most in statements:
        ours = _ours(BLOCK.format(statement), n, WARM, device=device, times=TIMES)
        numpys = _numpys(f"for _ in range(times): {beside}", n, times=TIMES)
        yield Row(f"{statement}, on {title}", {"mat": ours, "numpy": numpys}, most=most,
                  times=TIMES, pace=BLOCKS)


@contextmanager
def _emulated_at_once() -> Iterator[None]:
    """Have launches and other work of the emulated device return at once, with nothing done."""
    device = device_named("emulated")
    with patch.object(device, "_compute", _nothing), patch.object(device, "enqueue", _nothing):
        yield


def _nothing(*_: object) -> None:
    pass


def cuda_calls() -> Iterator[Row]:
    """Calls of 100,000 elements on a CUDA device whose launches return at once: our own time."""
    with _mock_driver(CALLS, MANY) as absent:
        if absent:
            print(f"left out: calls on the mock CUDA driver ({absent})")
        else:
            yield from _on_device("cuda", "mock CUDA driver", [
                (ours, numpys, most) for ours, (numpys, most) in CALLS.items()], MANY)


@contextmanager
def _mock_driver(statements: Iterable[str], n: int = 10) -> Iterator[str]:
    """Have mock devices, whose launches return at once; or the reason why there are none."""
    try:
        from ..mock_driver.driver import cublas, missing
        from ..mock_driver.fixtures import mock_driver
    except ImportError as error:
        yield str(error)
        return
    if missing():
        yield missing()
        return
    with mock_driver() as driver, patch.dict(os.environ, MAT_CUBLAS=str(cublas())):
        with mat.use_device("cuda", required=True):  # compiled before launches do nothing
            for statement in statements:
                _ours(statement, n, f"{SETUP}; P = X + X").timeit(2)
        driver.at_once()
        yield ""


# Statements with operands


def _ours(statement: str, n: int, setup: str = SETUP, **names: Any) -> Timer:
    """A statement on Mats."""
    given = [mat.array(a) for a in _arrays(n)]
    return Timer(statement, setup, globals={"given": [*given, *_others(n)], "mat": mat, "np": np,
                                            "xp": mat, **names})


def _numpys(statement: str, n: int, **names: Any) -> Timer:
    """A statement on arrays."""
    return Timer(statement, SETUP, globals={"given": [*_arrays(n), *_others(n)], "mat": np,
                                            "np": np, "xp": np, **names})


def _arrays(n: int) -> list[np.ndarray[Any, Any]]:
    """x, y, z, X, b and i: vectors, a matrix, a mask, and indices. `y` is small, since it is
    subtracted from `x` some million times.
    """
    rng = np.random.default_rng(0)
    x, matrix = rng.standard_normal(n), rng.standard_normal((10, 10))
    return [x, 1e-9 * x, np.zeros(n), matrix, x > 0, rng.integers(0, n, min(n, 1000) // 3)]


def _others(n: int) -> list[Any]:
    """What is the same for both: an array `a`, and a list of ten."""
    return [np.ones(n), [float(k) for k in range(10)]]
