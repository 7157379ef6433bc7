"""Ordinary functions of small and middling matrices beside NumPy: ninety functions of three shapes
and four element types, and statements on slices, items, rows and lists.

A statement has `x` and `y` of one shape, a mask `b`, indices `i` of rows, the column `v` of `x` in
ascending order, and a matrix `z` that it may write; `xp` is `mat` or NumPy.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from time import process_time
from timeit import Timer
from typing import Any

import numpy as np

import mat

from .row import Goal, Row
from .timing import Pace

SIDES, DTYPES = (8, 32, 256), ("float64", "float32", "int64", "uint8")
FUNCTIONS = (
    "abs(x)", "all(b)", "allclose(x, y)", "any(b, 0)", "argmax(x)", "argmax(x, 1)", "argmin(x, 0)",
    "argsort(x, 1)", "argwhere(b)", "array_equal(x, z)", "bincount(i)", "choose(i % 2, [i, i])",
    "clip(x, 1, 5)", "concatenate([x, y])", "concatenate([x, y], 1)", "convolve(v, v)",
    "correlate(v, v)", "count_nonzero(x)", "cumsum(x, 1)", "diag(v)", "diag(x)", "diff(x, axis=0)",
    "digitize(x, v)", "dot(x, y)", "einsum('ij,ij->i', x, y)", "einsum('ij,jk->ik', x, y)",
    "empty_like(x).shape", "expand_dims(x, 0)", "fft.fft(v)", "fft.rfft(x)", "flatnonzero(b)",
    "flip(x, 0)", "floor_divide(x, 3)", "full_like(x, 3)", "gradient(v)", "hstack([x, y])",
    "inner(v, v)", "interp(x, v, v)", "isclose(x, y)", "isin(x, v)", "linalg.det(x)",
    "linalg.eigh(x)", "linalg.qr(x)", "linalg.svd(x)", "logical_and(b, b)", "max(x)", "max(x, 1)",
    "maximum(x, y)", "mean(x)", "mean(x, 0)", "median(x, 0)", "min(x, 0)", "nan_to_num(x)",
    "nonzero(b)", "outer(v, v)", "pad(x, 1)", "prod(x, 1)", "ptp(x)", "ravel(x)",
    "ravel_multi_index((i, i), x.shape)", "repeat(x, 2, 0)", "roll(x, 1)", "roll(x, 1, 0)",
    "round(x)", "searchsorted(v, x)", "select([b], [x])", "sort(x, 1)", "split(x, 2)", "sqrt(x)",
    "stack([x, y])", "std(x, 0)", "sum(x)", "sum(x, 0)", "sum(x, 1)", "take(x, i, 0)",
    "tensordot(x, y, 1)", "tile(v, 2)", "tile(x, (2, 2))", "trace(x)", "transpose(x)",
    "trapezoid(x)", "tril(x)", "triu(x, 1)", "unique(x)", "unravel_index(i, x.shape)", "var(x)",
    "vdot(v, v)", "vstack([x, y])", "where(b)", "where(b, x, 0)", "where(b, x, y)", "zeros_like(x)")
STATEMENTS = (  # of which some write z
    "x[1:-1, 1:-1]", "x[i]", "x[b]", "z[1:] += z[:-1]", "z[:, 1:] = z[:, :-1]", "x[1:, 1:] + 1",
    "list(x)", "x.tolist()", "for row in x: pass", "z.fill(1)", "z[0, 0] = 1", "z[:, 0] = 1",
    "z.T[0] = 2", "z[1:, 1:] = 0", "xp.putmask(z, b, 1)", "xp.fill_diagonal(z, 0)", "z[0].sort()",
    "x.squeeze()", "xp.atleast_1d(x)", "x.swapaxes(0, 1)", "x.diagonal()", "x[None]", "x[:, ::2]",
    "xp.shape(x)", "xp.result_type(x, y)", "x.item(0)", "x.tobytes()", "b.argmax()",
    "xp.degrees(x)", "xp.add.accumulate(x)", "x[::-1]", "x[..., 0]", "x[1, ::2]", "x[:, None]",
    "x.ravel()", "x.flatten()", "x[0].take(i)", "x.real", "x.view('uint8')", "x.transpose(1, 0)",
    "x ** 3", "xp.power(x, 2)",
    "xp.fabs(x)", "xp.add.reduce(x)", "xp.add.reduceat(x, i[:3])", "xp.add.at(z, i, 1)",
    "xp.add.outer(x[0], y[0])", "xp.divmod(x, 3)", "b.clip(0, 1)", "xp.positive(x)",
    "xp.copyto(z, x)", "x.cumsum()", "x.argsort()", "v.searchsorted(x)", "x.nonzero()",
    "x.repeat(2)", "x.dot(x)", "v.dot(v)", "z.put(i, 1)", "x.compress(b[0], 0)", "x.take([1, 2])",
    "x[i, i]", "x[[1, 2]]", "x.argsort(0)", "x.argpartition(3)", "z.partition(3)", "xp.flip(x)",
    "xp.fliplr(x)", "xp.squeeze(x[None])", "x.reshape(-1)", "x.astype(x.dtype, copy=False)",
    "x.astype(int)", "x.round(1)")
CREATION = (  # without operands
    "arange(0, 1, 0.1)", "arange(8)", "array([1.0, 2.0, 3.0])", "empty((8, 8)).shape", "eye(8)",
    "full((8, 8), 2.0)", "identity(8)", "linspace(0, 1, 8)", "logspace(0, 1, 8)", "zeros((8, 8))")
LONG = {  # of vectors with 2,000 elements, or rows
    "for k in range(2000): x[k] += 1": "x = given", "for k in range(2000): x[k] = 1.0": "x = given",
    "for k in range(2000): float(x[k])": "x = given", "list(x)": "x = given",
    "xp.stack(rows)": "rows = list(given.reshape(-1, 10).repeat(10, 0))",
    "xp.vstack(rows)": "rows = list(given.reshape(-1, 10).repeat(10, 0))",
    "xp.concatenate(rows)": "rows = list(given.reshape(-1, 10).repeat(10, 0))",
    "np.array(rows)": "rows = list(given.reshape(-1, 10))",
    "np.save(io.BytesIO(), x)": "x = given"}
SETUP = "x, y, z, b, i, v = given"
LIMIT = 1.5
GOALS = (Goal("functions", "numpy", 1.0),)
# processor time, of one thread: with several that count together, polls would be measured
PACE = Pace(0.5e-3, 0, 1, process_time)


def rows() -> Iterator[Row]:
    """All functions and statements, of all shapes and element types, those that create small Mats,
    and those on long vectors.
    """
    threads = mat.settings.threads
    mat.configure(threads=1)
    try:
        for statement in (*(f"xp.{f}" for f in FUNCTIONS), *STATEMENTS):
            for side in SIDES:
                for dtype in DTYPES:
                    yield row(statement, side, dtype)
        yield from map(row_of_creation, CREATION)
        yield from map(long_row, LONG)
    finally:
        mat.configure(threads=threads)


def row(statement: str, side: int, dtype: str) -> Row:
    """Return a statement on square matrices."""
    name = statement.removeprefix("xp.")
    return _row(f"{name}, {side} x {side}, {dtype}", statement, SETUP, matrices(side, dtype))


def row_of_creation(function: str) -> Row:
    """Return a function without operands."""
    return _row(function, f"xp.{function}", "", [])


def long_row(statement: str) -> Row:
    """Return a statement on a vector of 2,000 elements, or as many rows."""
    return _row(f"{statement}, 2,000", statement, LONG[statement],
                np.random.default_rng(0).standard_normal(2000))


def matrices(side: int, dtype: str) -> list[Any]:
    """Return x, y, z, b, i and v as arrays."""
    rng = np.random.default_rng(0)
    x = (rng.random((side, side)) * 6).astype(dtype)
    return [x, x[::-1].copy(), x.copy(), x > 3, rng.integers(0, side, side), np.sort(x[:, 0])]


def _row(name: str, statement: str, setup: str, given: Any) -> Row:
    ours = mat.array(given) if isinstance(given, np.ndarray) else [mat.array(a) for a in given]
    return Row(name, {"mat": timer(statement, setup, ours, mat),
                      "numpy": timer(statement, setup, given, np)}, limit=LIMIT, group="functions",
               pace=PACE)


def timer(statement: str, setup: str, given: Any, xp: Any) -> Timer:
    """Return the timer of a statement with those operands, for `mat` or NumPy."""
    return Timer(statement, setup, globals={"given": given, "xp": xp, "np": np, "io": io})
