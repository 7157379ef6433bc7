"""Conjugate gradients with three operators that are applied in turn, and the training of
examples/digits.py, on a device with room for a third of them, beside the same with room for all.

``python -m tests.tools.bench.in_turn [--sizes N ...]`` measures both in turns, by the time of the
process and by the clock.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import mat

sys.path.insert(0, str(Path(__file__).parents[3] / "examples"))
import digits

STEPS, EPOCHS = 20, 3
LIMIT = 1.5  # times as long


def solve(operators: list[mat.Mat], b: mat.Mat) -> mat.Mat:
    """Take some steps towards the solution of a system with the sum of the operators."""
    x, r, p = mat.zeros(b.size, dtype=b.dtype), b.copy(), b.copy()
    square = mat.blas.dot(r, r)
    for _ in range(STEPS):
        q = operators[0] @ p
        for a in operators[1:]:
            q += a @ p
        step = square / mat.blas.dot(p, q)
        mat.axpy(step, p, x)
        mat.axpy(-step, q, r)
        before, square = square, mat.blas.dot(r, r)
        p *= square / before
        p += r
    return x


def system(n: int, dtype: str) -> tuple[list[mat.Mat], mat.Mat]:
    """Return three symmetric operators whose sum is positive definite, and a right side."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(3):
        a = rng.normal(size=(n, n)) / (4 * np.sqrt(n))
        found.append(mat.array((a + a.T + 3 * np.eye(n)).astype(dtype)))
    return found, mat.array(rng.normal(size=n).astype(dtype))


def train() -> Callable[[], None]:
    """Return what trains on batches of the digits."""
    parts = digits.batches(digits.load()[0])
    net, scratch = digits.new_network(64), digits.new_scratch()

    def run() -> None:
        for _ in range(EPOCHS):
            for x, t in parts:
                digits.train_batch_(x, t, net, scratch)

    return run


def timed(call: Callable[[], object], pool: int | None,
          operands: list[mat.Mat]) -> tuple[float, float, int]:
    """Return the seconds of the process and of the clock, and the bytes copied to the device."""
    for x in operands:
        x.drop("emulated")
    with mat.use_device("emulated", pool_bytes=pool) as device:
        before = device.transfers["h2d"]
        begin = time.process_time(), time.perf_counter()
        call()
        return (time.process_time() - begin[0], time.perf_counter() - begin[1],
                device.transfers["h2d"] - before)


def report(name: str, call: Callable[[], object], pool: int, operands: list[mat.Mat],
           rounds: int) -> None:
    """Print the times with that pool over those without one, at their best."""
    inside, outside = [], []
    for _ in range(rounds):
        inside.append(timed(call, None, operands))
        outside.append(timed(call, pool, operands))
    ratios = [min(t[k] for t in outside) / min(t[k] for t in inside) for k in (0, 1)]
    print(f"{name:42} {ratios[0]:5.2f} by the process, {ratios[1]:5.2f} by the clock; "
          f"{outside[0][2] / 1e6:7.1f} MB copied, {inside[0][2] / 1e6:7.1f} in memory", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 2000, 3000])
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args()
    print(f"times with a pool over those without one; at most {LIMIT} is wanted")
    run = train()
    report("digits, a third", run, 854_528 // 3, [], options.rounds)
    for n in options.sizes:
        for dtype in ("float32", "float64"):
            operators, b = system(n, dtype)
            for name, pool in (("a third and 1 %", operators[0].nbytes * 101 // 100),
                               ("one operator", operators[0].nbytes)):
                report(f"conjugate gradient, {n}, {dtype}, {name}",
                       lambda operators=operators, b=b: solve(operators, b),  # type: ignore[misc]
                       pool, operators, options.rounds)


if __name__ == "__main__":
    main()
