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

from .row import Row

N, SIDE = 1 << 20, 1024
LOOPS = {  # bodies of numba's loops over the elements k of y, for those that it is compared in
    "squared difference": "d = x[k] - z[k]; y[k] = d * d",
    "mixed types": "y[k] = s[k] * s[k] + z[k]",
    "reversed": "y[k] = x[k] + z[x.size - 1 - k]",
    "table": "t = x[k] * (table.size - 1); j = min(int(t), table.size - 2); "
             "y[k] = table[j] + (t - j) * (table[j + 1] - table[j])",
    "polynomial": "y[k] = ((c[3] * x[k] + c[2]) * x[k] + c[1]) * x[k] + c[0]",
    "complex product": "w[k] = u[k] * v[k] + 1j"}


def rows() -> Iterator[Row]:
    """All examples."""
    given = operands()
    for name, (ours, numpys) in examples({n: mat.array(a) for n, a in given.items()},
                                         given).items():
        competitors: dict[str, Any] = {"mat": ours, "numpy": numpys}
        if name in LOOPS and importlib.util.find_spec("numba"):
            competitors["numba"] = by_numba(LOOPS[name], given)
        yield Row(f"kernel: {name}", competitors)


def operands() -> dict[str, Any]:
    """The arrays of all examples."""
    rng = np.random.default_rng(5)
    x, z = rng.random((2, N))
    u, v = (rng.random((2, N)) + 1j).astype("complex64")
    return {"x": x, "z": z, "y": np.empty(N), "s": rng.integers(-9, 9, N).astype("int16"),
            "table": rng.random(500), "c": rng.random(4), "u": u, "v": v, "w": np.empty_like(u),
            "a": rng.random((SIDE, SIDE)), "b": np.empty((SIDE, SIDE))}


# the arguments are the operands of both
def examples(m: dict[str, Any], a: dict[str, Any]) -> dict[str, tuple[Callable[[], Any], ...]]:
    """The calls of each example, ours and NumPy's, into the same kind of result."""
    io = {"x": "input", "y": "output"}
    table = mat.kernel("""
        T at = x * (size(table) - 1);
        int64_t k = at > size(table) - 2 ? size(table) - 2 : (int64_t)at;
        y = table(k) + (at - k) * (table(k + 1) - table(k));
    """, table="input raw", **io)
    squares = mat.kernel("y = x * x", **io, reduce="sum")
    first = mat.kernel("k = x > limit ? i : n", x="input", limit="number", k="output int64",
                       reduce="min")
    jacobi = mat.kernel("y = (x(-1, 0) + x(1, 0) + x(0, -1) + x(0, 1)) / 4",
                        x="input window(1, 1) nearest", y="output")

    def call(source: str, names: str, **declared: str) -> Callable[[], Any]:
        return partial(mat.kernel(source, **declared), *(m[n] for n in names))

    return {
        "squared difference": (
            call("T d = x - z; y = d * d", "xzy", x="input", z="input", y="output"),
            lambda: np.square(a["x"] - a["z"], out=a["y"])),
        "mixed types": (
            call("y = s * s + z", "szy", s="input", z="input", y="output"),
            lambda: np.add(a["s"].astype(float)**2, a["z"], out=a["y"])),
        "reversed": (
            call("y = x + z(n - 1 - i)", "xzy", x="input", z="input raw", y="output"),
            lambda: np.add(a["x"], a["z"][::-1], out=a["y"])),
        "table": (partial(table, m["table"], m["x"], m["y"]),
                  lambda: np.interp(a["x"], np.linspace(0, 1, 500), a["table"])),
        "norms of rows": (lambda: mat.sqrt(squares(m["a"], axis=1)),
                          lambda: np.sqrt((a["a"] * a["a"]).sum(axis=1))),
        "sum of squares": (partial(squares, m["x"]), lambda: np.sum(a["x"] * a["x"])),
        "first above": (partial(first, m["x"], 0.9999999),
                        lambda: np.flatnonzero(a["x"] > 0.9999999)[:1]),
        "complex product": (
            call("w = u * v + I", "uvw", u="input", v="input", w="output"),
            lambda: np.add(a["u"] * a["v"], np.complex64(1j), out=a["w"])),
        "polynomial": (
            call("y = 0; for (int64_t k = size(c) - 1; k >= 0; k--) y = y * x + c(k)", "cxy",
                 c="input raw", x="input", y="output"),
            lambda: np.polynomial.polynomial.polyval(a["x"], a["c"])),
        "jacobi": (partial(jacobi, m["a"], m["b"]), lambda: neighbours(np.pad(a["a"], 1, "edge")))}


def neighbours(p: Any) -> Any:
    """The mean of the four neighbours of each element within a border."""
    return (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) / 4


def by_numba(body: str, given: dict[str, Any]) -> Callable[[], Any]:
    """Return the loop with that body over all elements, compiled by numba."""
    import numba

    space: dict[str, Any] = {}
    lines = "\n        ".join(part.strip() for part in body.split(";"))
    exec(f"def loop({', '.join(given)}):\n    for k in prange(x.size):\n        {lines}",
         {"prange": numba.prange}, space)
    compiled = numba.njit(parallel=True)(space["loop"])
    return partial(compiled, *given.values())
