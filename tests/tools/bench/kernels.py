"""The kernels of docs/from-cupy-kernels.md, of large operands, beside NumPy, and numba where it is
installed.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import mat

from . import numba_loops as loops
from .row import Row

N, SIDE = 1 << 20, 1024
LIMIT = 0.9999999  # that about one element in ten million exceeds
Thunk = Callable[[], Any]


def rows() -> Iterator[Row]:
    """All examples."""
    for name, competitors in examples().items():
        yield Row(f"kernel: {name}", competitors)


def examples() -> dict[str, dict[str, Thunk]]:
    """The calls of each example, by competitor, into the same kind of result."""
    given = operands()
    ours, numpys = by_kernels({n: mat.array(a) for n, a in given.items()}), by_numpy(given)
    found = {name: {"mat": call, "numpy": numpys[name]} for name, call in ours.items()}
    if importlib.util.find_spec("numba"):
        for name, call in by_numba(given).items():
            found[name]["numba"] = call
    return found


def operands() -> dict[str, Any]:
    """The arrays of all examples."""
    rng = np.random.default_rng(5)
    x, z = rng.random((2, N))
    u, v = (rng.random((2, N)) + 1j).astype("complex64")
    return {"x": x, "z": z, "y": np.empty(N), "s": rng.integers(-9, 9, N).astype("int16"),
            "f": x.astype("f"), "g": z.astype("f"), "h": np.empty(N, "f"),
            "table": rng.random(500), "c": rng.random(4), "u": u, "v": v, "w": np.empty_like(u),
            "a": rng.random((SIDE, SIDE)), "b": np.empty((SIDE, SIDE)), "norms": np.empty(SIDE)}


def by_kernels(m: dict[str, Any]) -> dict[str, Thunk]:
    """Return the calls of our kernels."""
    io = {"x": "input", "y": "output"}
    squares = mat.kernel("y = x * x", **io, reduce="sum")
    first = mat.kernel("k = x > limit ? i : n", x="input", limit="number", k="output int64",
                       reduce="min")
    products = mat.kernel("y = x * z + x", x="input", z="input", y="output", reduce="sum")

    def call(source: str, names: str, **declared: str) -> Thunk:
        return partial(mat.kernel(source, **declared), *(m[n] for n in names.split()))

    three = {"x": "input", "z": "input", "y": "output"}
    return {
        "1, squared difference, float32": call("T d = x - z; y = d * d", "f g h", **three),
        "2, squared difference": call("T d = x - z; y = d * d", "x z y", **three),
        "3, mixed types": call("y = s * s + z", "s z y", s="input", z="input", y="output"),
        "4, reversed": call("y = x + z(n - 1 - i)", "x z y", **{**three, "z": "input raw"}),
        "5, table": call("""
            T at = x * (size(table) - 1);
            int64_t k = at > size(table) - 2 ? size(table) - 2 : (int64_t)at;
            y = table(k) + (at - k) * (table(k + 1) - table(k));
        """, "table x y", table="input raw", **io),
        "6, norms of rows": lambda: mat.sqrt(squares(m["a"], axis=1), m["norms"]),
        "7, first above": partial(first, m["x"], LIMIT),
        "8, vector sum": call("y = x + z", "x z y", **three),
        "9, complex64": call("w = u * v + I", "u v w", u="input", v="input", w="output"),
        "10, polynomial": call(
            "y = 0; for (int64_t k = size(c) - 1; k >= 0; k--) y = y * x + c(k)", "c x y",
            c="input raw", **io),
        "11, Jacobi's step": call("y = (x(-1, 0) + x(1, 0) + x(0, -1) + x(0, 1)) / 4", "a b",
                                  x="input window(1, 1) nearest", y="output"),
        "12, sum of products": partial(products, m["x"], m["z"])}


def by_numpy(a: dict[str, Any]) -> dict[str, Thunk]:
    """Return the same by NumPy's functions."""
    x, z, y = a["x"], a["z"], a["y"]
    return {
        "1, squared difference, float32": lambda: np.square(a["f"] - a["g"], out=a["h"]),
        "2, squared difference": lambda: np.square(x - z, out=y),
        "3, mixed types": lambda: np.add(a["s"].astype(float)**2, z, out=y),
        "4, reversed": lambda: np.add(x, z[::-1], out=y),
        "5, table": lambda: np.interp(x, np.linspace(0, 1, 500), a["table"]),
        "6, norms of rows": lambda: np.sqrt((a["a"] * a["a"]).sum(axis=1), out=a["norms"]),
        "7, first above": lambda: np.flatnonzero(x > LIMIT)[:1],
        "8, vector sum": lambda: np.add(x, z, out=y),
        "9, complex64": lambda: np.add(a["u"] * a["v"], np.complex64(1j), out=a["w"]),
        "10, polynomial": lambda: np.polynomial.polynomial.polyval(x, a["c"]),
        "11, Jacobi's step": lambda: neighbours(np.pad(a["a"], 1, "edge")),
        "12, sum of products": lambda: np.sum(x * z + x)}


def neighbours(p: Any) -> Any:
    """The mean of the four neighbours of each element within a border."""
    return (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) / 4


def by_numba(a: dict[str, Any]) -> dict[str, Thunk]:
    """Return the same as loops that numba compiles."""
    def call(loop: Callable[..., Any], names: str, *numbers: float) -> Thunk:
        return partial(loops.compiled(loop), *(a[n] for n in names.split()), *numbers)

    return {
        "1, squared difference, float32": call(loops.squared_difference, "f g h"),
        "2, squared difference": call(loops.squared_difference, "x z y"),
        "3, mixed types": call(loops.mixed_types, "s z y"),
        "4, reversed": call(loops.reversed_sum, "x z y"),
        "5, table": call(loops.table, "x table y"),
        "6, norms of rows": call(loops.norms_of_rows, "a norms"),
        "7, first above": call(loops.first_above, "x", LIMIT),
        "8, vector sum": call(loops.vector_sum, "x z y"),
        "9, complex64": call(loops.complex_product, "u v w"),
        "10, polynomial": call(loops.polynomial, "c x y"),
        "11, Jacobi's step": call(loops.jacobi, "a b"),
        "12, sum of products": call(loops.sum_of_products, "x z")}
