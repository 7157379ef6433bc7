"""What each optimisation of the permute kernel is worth:
``python -m tests.tools.bench.permute_ablation`` prints a table.

Each line turns one of them off (see `Switches`) and shows the time over that of the whole. One
thread, and the time that it got of the processor, so that other programs disturb little; the best
of several rounds in turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import thread_time

import numpy as np

from mat.cpu.permute import WIDTH, Switches, prepare_axes
from mat.layout.merged_axes import CopyAxis
from mat.support.native import ffi, lib

Case = tuple[str, tuple[int, ...], tuple[int, ...]]  # dtype, shape, axes
CASES: dict[str, Case] = {
    "float32 256 x 250": ("float32", (256, 250), (1, 0)),
    "float32 1024 x 1024": ("float32", (1024, 1024), (1, 0)),
    "float32 4096 x 4096": ("float32", (4096, 4096), (1, 0)),
    "float64 5000 x 3000": ("float64", (5000, 3000), (1, 0)),
    "float32 5000 x 3000": ("float32", (5000, 3000), (1, 0)),
    "int8 1000 x 1000": ("int8", (1000, 1000), (1, 0)),
    "float32 40 x 1 x 50 x 1 x 20, (4, 1, 2, 3, 0)": ("float32", (40, 1, 50, 1, 20),
                                                      (4, 1, 2, 3, 0)),
    "float32 60 x 500 x 3 x 2, (1, 2, 3, 0)": ("float32", (60, 500, 3, 2), (1, 2, 3, 0)),
    "float32 300 x 200 x 4, (1, 0, 2)": ("float32", (300, 200, 4), (1, 0, 2)),
    "int8 3 x 100 x 200, (1, 2, 0)": ("int8", (3, 100, 200), (1, 2, 0)),
    "float32 16 x 16 x 16 x 16 x 16, reversed": ("float32", (16,) * 5, (4, 3, 2, 1, 0)),
}
# what is turned off, and where it should show
WITHOUT: dict[str, tuple[Switches, tuple[str, ...]]] = {
    "drop axes of length 1": (Switches(drop=False, merge=False), ("float32 40 x 1 x 50 x 1 x 20, "
                                                                  "(4, 1, 2, 3, 0)",)),
    "merge axes": (Switches(merge=False), ("float32 60 x 500 x 3 x 2, (1, 2, 3, 0)",)),
    "runs as one unit": (Switches(widen=False), ("float32 300 x 200 x 4, (1, 0, 2)",)),
    "code for very short axes": (Switches(few=False), ("int8 3 x 100 x 200, (1, 2, 0)",)),
    "tiles in registers": (Switches(width=8),
                           ("float32 256 x 250", "float32 1024 x 1024", "int8 1000 x 1000")),
    "32-byte vectors (16 instead)": (Switches(width=16), ("float32 256 x 250", "int8 1000 x 1000")),
    "64-byte vectors (32 instead)": (Switches(width=min(WIDTH, 32)),
                                     ("float32 1024 x 1024", "float32 4096 x 4096")),
    "blocks for the caches": (Switches(edge=0), ("float32 1024 x 1024", "float32 5000 x 3000",
                                                 "float32 4096 x 4096")),
    "order of the loops": (Switches(order=False), ("float32 16 x 16 x 16 x 16 x 16, reversed",)),
    "non-temporal stores": (Switches(stream=False),
                                ("float32 4096 x 4096", "float64 5000 x 3000")),
    "prefetching the next block": (Switches(fetch=False), ("float32 5000 x 3000", "float64 5000 x "
                                                                               "3000")),
    "32-bit counts": (Switches(narrow=False), ("float32 256 x 250", "float32 16 x 16 x 16 x 16 x "
                                                                    "16, reversed")),
}


def kernels(case: Case, *ways: Switches) -> list[Callable[[], None]]:
    """The copy of a case in several ways, in one thread, all in the same memory: where pages lie
    decides on conflicts.
    """
    dtype, shape, axes = case
    a = np.ones(shape, dtype)
    b = np.ones(a.transpose(axes).shape, dtype)
    steps = list(zip(b.shape, b.strides, a.transpose(axes).strides, strict=True))
    operands = ffi.new("char *[]", [ffi.cast("char *", v.ctypes.data) for v in (a, b)])

    def of(switches: Switches) -> Callable[[], None]:
        plan = prepare_axes([CopyAxis(*step) for step in steps], b.itemsize, switches)
        keep = a, b, plan
        return lambda: lib.mat_permute(keep[2].frame, operands, ffi.NULL, ffi.NULL, 0, plan.count)

    return [of(switches) for switches in ways]


def best(thunks: list[Callable[[], None]], rounds: int) -> list[float]:
    """The least seconds of a call of each, in turns."""
    found = [float("inf")] * len(thunks)
    calls = [max(1, int(2e-3 / max(_once(f, 1), 1e-7))) for f in thunks]
    for _ in range(rounds):
        for k, f in enumerate(thunks):
            found[k] = min(found[k], _once(f, calls[k]) / calls[k])
    return found


def _once(thunk: Callable[[], None], calls: int) -> float:
    begin = thread_time()
    for _ in range(calls):
        thunk()
    return thread_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench.permute_ablation",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print("| without | case | GB/s with | without | slower by |\n|---|---|---|---|---|")
    for name, (switches, cases) in WITHOUT.items():
        for title in cases:
            dtype, shape, _ = CASES[title]
            nbytes = np.prod(shape) * np.dtype(dtype).itemsize
            whole, less = best(kernels(CASES[title], Switches(), switches), rounds)
            print(f"| {name} | {title} | {nbytes / whole / 1e9:.1f} | {nbytes / less / 1e9:.1f} | "
                  f"{less / whole:.2f} x |",
                  flush=True)


if __name__ == "__main__":
    main()
