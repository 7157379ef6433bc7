"""``python -m tests.tools.bench.tiling [--sizes N ...]``: what each level of tiling gives, the
tables of docs/matmul.md.

The variants are those of one kernel: other heights of tiles, other sizes of blocks, or no tiles at
all. All run in one thread, and it is that thread's own time that counts, so that neighbours on the
machine disturb little.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from time import thread_time
from typing import Any

import numpy as np

import mat
from mat.cpu.integer_matmul import IntegerMatmul
from mat.layout.matrix_operand import GemmSizes, MatmulForm, MatrixOperand
from mat.support.native import ffi

# blocks that are never full
WHOLE = {"block_m": 1 << 20, "block_k": 1 << 20, "units_m": 1, "units_n": 1}
SLOW = 512  # the largest size that loops are measured at
VARIANTS: tuple[tuple[str, dict[str, int]], ...] = (
    ("three loops", {"untiled": 1}),
    ("tiles of 1 x 32", {"height": 1, **WHOLE}),
    ("tiles of 1 x 32, in blocks", {"height": 1}),
    ("tiles of 4 x 32", {"height": 4, **WHOLE}),
    ("tiles of 4 x 32, in blocks", {"height": 4}),
    ("tiles of 12 x 32", WHOLE),
    ("tiles of 12 x 32, in blocks", {}),
)


class Pointed:
    """An array as the kernel looks at it."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array, self.pointer = array, ffi.cast("char *", array.ctypes.data)
        self.operand = MatrixOperand(array.dtype.char, array.strides[0] // array.itemsize,
                                     array.strides[1] // array.itemsize)


def competitors(n: int, dtype: str) -> dict[str, Callable[[], object]]:
    """An n x n product into int32 by each variant, checked; and by NumPy."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 10, (n, n)).astype(dtype) for _ in range(2))
    c = np.zeros((n, n), "int32")
    operands = [Pointed(x) for x in (a, b, c)]
    form = MatmulForm(GemmSizes(n, n, n), *(x.operand for x in operands))
    wanted = np.matmul(a.astype(np.float64), b.astype(np.float64))  # exact: the sums are small
    found: dict[str, Callable[[], object]] = {}
    for name, options in VARIANTS:
        if n <= SLOW or "untiled" not in options:
            found[name] = partial(IntegerMatmul(form, thin=-1, **options), *operands)
            c[...] = 0
            found[name]()
            np.testing.assert_array_equal(c, wanted, name)
    if n <= SLOW:
        found["NumPy"] = lambda: np.matmul(a, b, out=c, dtype="int32")
    return found


def rates(n: int, dtype: str, rounds: int) -> dict[str, float]:
    """Multiplications in a nanosecond by each variant, at its best; all of them in turns."""
    thunks = competitors(n, dtype)
    calls = max(1, 4 * 10**7 // n**3)
    best = dict.fromkeys(thunks, 1e9)
    for _ in range(rounds):
        for name, thunk in thunks.items():
            best[name] = min(best[name], _seconds(thunk, calls))
    return {name: n**3 / seconds / 1e9 for name, seconds in best.items()}


def _seconds(thunk: Callable[[], object], calls: int) -> float:
    """Seconds of a call, of this thread's own time."""
    begin = thread_time()
    for _ in range(calls):
        thunk()
    return (thread_time() - begin) / calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[128, 512, 2048])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with mat.settings(threads=1):
        for dtype in ("int32", "int8"):
            table = {n: rates(n, dtype, options.rounds) for n in options.sizes}
            print(f"\n| {dtype} to int32 | {' | '.join(map(str, table))} "
                  f"|\n|---|{'---:|' * len(table)}")
            for name in table[min(table)]:
                shown = (f"{found[name]:.2f}" if name in found else "" for found in table.values())
                print(f"| {name} | {' | '.join(shown)} |")


if __name__ == "__main__":
    main()
