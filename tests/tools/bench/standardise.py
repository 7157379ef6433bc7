"""The columns of a file standardised into another file, and in place, in a `mat.fused` block,
beside a plain loop over blocks in NumPy that reads and writes as much, in turns.

``python -m tests.tools.bench.standardise FOLDER [GIGABYTES] [ROUNDS] [cold]`` makes two files in
the folder and removes them. With `cold`, files are read from the disk each time.
"""

import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import mat

from .bigger import forget, made, resident

ROWS = 1 << 10  # of a block of the plain loop: 4 MB, the fastest of 1 to 16
GOAL = 0.8


def by_mat(path, out):
    """Write (x - mean) / std to another file: two passes."""
    x, y = mat.open_memmap(path, "r"), mat.open_memmap(out, "r+")
    with mat.fused():
        mat.divide(x - x.mean(axis=0), x.std(axis=0), out=y)


def by_mat_in_place(path, out):
    """The same in place."""
    x = mat.open_memmap(out, "r+")
    with mat.fused():
        mean, deviation = x.mean(axis=0), x.std(axis=0)
        x -= mean
        x /= deviation


def moments(x):
    """Return the means and standard deviations of columns, by one pass over blocks."""
    count, mean, squares = 0, 0.0, 0.0
    for k in range(0, len(x), ROWS):
        block = x[k:k + ROWS]
        n, here = len(block), block.mean(axis=0)
        apart = here - mean
        squares = squares + np.square(block - here).sum(axis=0) + (
            np.square(apart) * (count * n / (count + n)))
        mean, count = mean + apart * (n / (count + n)), count + n
    return mean, np.sqrt(squares / count)


def by_numpy(path, out):
    """The plain loop: two passes over blocks."""
    x, y = np.load(path, mmap_mode="r"), np.load(out, mmap_mode="r+")
    mean, deviation = moments(x)
    for k in range(0, len(x), ROWS):
        block = x[k:k + ROWS] - mean
        np.divide(block, deviation, out=y[k:k + ROWS])


def by_numpy_in_place(path, out):
    """The same in place."""
    x = np.load(out, mmap_mode="r+")
    mean, deviation = moments(x)
    for k in range(0, len(x), ROWS):
        block = x[k:k + ROWS]
        block -= mean
        block /= deviation


PAIRS = {"to another file": (by_mat, by_numpy),
         "in place": (by_mat_in_place, by_numpy_in_place)}


def seconds(call, paths, cold):
    """Return the time of a call, until the system has what it writes."""
    for path in paths if cold else ():
        forget(path)
    begin = time.perf_counter()
    call(*paths)
    if cold:
        with open(paths[1], "rb") as file:
            os.fsync(file.fileno())
    return time.perf_counter() - begin


def compare(name, pair, paths, rounds, cold):
    """Print the medians of both, and the rate of ours as a part of the other's."""
    times = [[seconds(call, paths, cold) for call in pair] for _ in range(rounds)]
    ours, theirs = (statistics.median(column) for column in zip(*times, strict=True))
    ratios = sorted(b / a for a, b in times)
    print(f"{name:16} {'cold' if cold else 'warm'}: {ours:6.2f} s, plain loop {theirs:6.2f} s; "
          f"{theirs / ours:.2f} of its rate ({ratios[0]:.2f} to {ratios[-1]:.2f}), {GOAL} wanted; "
          f"{resident()[0]:.0f} MB resident", flush=True)


def main():
    folder = Path(sys.argv[1])
    gigabytes = float(sys.argv[2]) if len(sys.argv) > 2 else 4.0
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    paths = [folder / "standardise.npy", folder / "standardised.npy"]
    try:
        for path in paths:
            made(path, gigabytes)
        for name, pair in PAIRS.items():
            compare(name, pair, paths, rounds, "cold" in sys.argv)
    finally:
        for path in paths:
            path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
